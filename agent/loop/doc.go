// Package loop runs a model until it has nothing left to do: ask, run the tools it calls,
// ask again. It knows neither files nor editors; a [Host] records and shows what happens.
//
// What may be relied on:
//
//  1. One goroutine owns a run. [Queue.Push] says whether a run took a message; one that
//     was taken is answered or given back, never lost.
//  2. A message is recorded before it is shown and before anything depends on it.
//  3. Every tool call of a recorded answer gets exactly one result, recorded in the order
//     of the calls, whatever happens: unknown tool, bad arguments, refusal, panic, abort.
//  4. Tools that only read run beside each other, at most four; one that changes something
//     runs alone, after everything before it. Only those ask for permission.
//  5. Steering messages come in after the running tool calls, follow-ups when the run
//     would end. Taking a message and going idle exclude each other.
//  6. [Run] returns when nothing of the run goes on any more.
//  7. Retries are shown, can be cancelled, and heed what the service asks for; one that
//     would wait longer than the limit is a failure that says so.
//  8. Failed answers are recorded and never sent again.
//  9. A conversation too long for the model is compacted once and asked again once.
//  10. Tool calls of an answer that did not end properly are not run.
package loop
