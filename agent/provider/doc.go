// Package provider is the line between the agent and the services that run models.
//
// A [Provider] turns one [Request] into a stream of [Event] values. Its guarantees:
//
//   - The first event is [Start], the last is exactly one [Done] or [Failed], unless the
//     reader leaves early; there is no error beside the stream, and no panic.
//   - Events are values. Nothing an event points to changes after it was delivered.
//   - When ctx ends, the stream ends within milliseconds with [Failed], class [Aborted],
//     and the message received so far.
//   - A reader that leaves early closes the connection.
//   - One request is one HTTP request: nothing is retried here, so that every retry can
//     be seen, and no redirect leads to another host, because keys travel in headers.
//   - A stream without its final event is [Truncated], even if it ended cleanly. Tool
//     calls of a [Failed] message must not be run.
//
// Messages have the same shape as in the session files, see [Message].
package provider
