// Package lsp carries the Language Server Protocol between an editor and the
// commands and sessions of xcsh-ls, and decides nothing else. [Serve] is the
// entry point: it speaks the protocol over a pair of streams until the client
// leaves.
//
// # Order
//
// Messages take effect in the order the client sent them, with one exception:
// requests overlap. A notification is handled completely before the next message
// is looked at, so any request sees every notification sent before it. Two
// requests in flight have no order; a client that needs one waits for the answer
// of the first. initialize is the exception to the exception: nothing else is
// looked at before it has been answered, so a client may send everything at once.
//
// What the server sends about the work of a request (xcsh/sessionChanged,
// $/progress, window/showMessage) is written before the answer of that request,
// and before any question the server asks while it works.
//
// Commands of the client wait for the start-up work ([Options.Started]), so that the
// first one finds the session the person asked for. They do not wait for a person.
//
// # Errors
//
// Every error answer has one sentence for a person as its message and
// {"kind": ...} in its data; see errors.go for the table. A notification is never
// answered: what is wrong with it is written to the log. Nothing a client sends
// ends the connection, except a header from which the length of the message
// cannot be told, because everything after it is unreadable.
//
// # Cancellation
//
// $/cancelRequest, window/workDoneProgress/cancel, shutdown and the end of the
// input cancel a running command. A cancelled command still answers: with
// RequestCancelled (-32800) when it stopped, with its result when it had already
// finished. A $/cancelRequest for an unknown or malformed id does nothing.
// Progress that was begun is always ended.
//
// # Life
//
// Requests before initialize answer ServerNotInitialized (-32002), requests after
// shutdown and a second initialize answer InvalidRequest (-32600). shutdown, the
// end of the input and the end of the client's process stop the server alike:
// commands get a moment to finish ([Options.Drain]), are then cancelled and waited
// for ([Options.Grace]), sessions are closed, logs are flushed.
package lsp
