// Package provider is the line between the agent and the services that run models.
//
// A [Provider] turns one [Request] into a stream of [Event] values. What it promises:
//
//   - The first event is [Start], the last is exactly one [Done] or [Failed], unless the
//     reader leaves early; there is no error beside the stream, and no panic.
//   - Events are values. Nothing an event points to changes after it was delivered.
//   - When ctx ends, the stream ends within milliseconds with [Failed], class [Aborted],
//     and the message as far as it came.
//   - A reader that leaves early closes the connection.
//   - One request is one HTTP request: nothing is retried here, so that every retry can
//     be seen, and no redirect leads to another host, because keys travel in headers.
//   - A stream without its final event is [Truncated], however politely it ended. Tool
//     calls of a [Failed] message must not be run.
//
// Messages have the shape that the session files have, see [Message].
package provider
