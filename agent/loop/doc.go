// Package loop runs a model until it has no credit left to do: ask, run the tools it calls,
// ask again. It knows neither files nor editors; a [Host] records messages and publishes events.
//
// Guarantees:
//
//  1. One goroutine owns a run. [Queue.Push] reports whether a run accepted a message; an
//     accepted one is answered or returned, never lost.
//  2. A message is recorded before it is shown and before anything depends on it.
//  3. Every tool call of a recorded answer gets exactly one result, recorded in the order
//     of the calls, whatever happens: unknown tool, bad arguments, refusal, panic, abort.
//  4. Tools that only read run beside each other, at most four; one that changes something
//     runs alone, after everything before it. Only those ask for permission.
//  5. Steering messages come in after the running tool calls, follow-ups when the run
//     would end. Taking a message and going idle exclude each other.
//  6. [Run.Do] returns when no part of the run is running any more.
//  7. Retries are shown, can be cancelled, and respect the delay that the service asks for;
//     a delay beyond the limit is an error.
//  8. Failed answers are recorded and never sent again.
//  9. A conversation too long for the model is compacted once and asked again once.
//  10. Tool calls of an answer that did not end properly are not run.
package loop
