// Package lsp carries the Language Server Protocol between an editor and the
// commands and sessions of xcsh-ls. It makes no other decisions. [Serve] is the
// entry point: it speaks the protocol over a pair of streams until the client
// exits.
//
// The connection is in lsp/conn, the requests about session files shown as documents
// in lsp/sessiondoc, positions and URIs in lsp/textdoc.
//
// # Order
//
// Messages take effect in the order in which the client sent them, except that
// requests overlap. A notification is handled completely before the next message,
// so every request sees all notifications sent before it. Two running requests have
// no order; a client that needs one waits for the answer to the first. initialize
// is answered before any other message is handled, so a client may send everything
// at once.
//
// Notifications about the work of a request (xcsh/sessionChanged, $/progress,
// window/showMessage) are written before the answer to that request, and before any
// request that the server sends while it works.
//
// Commands of the client wait for the start-up work ([Options.Started]), so that the
// first one finds the session that the user configured. They do not wait for the user.
//
// # Errors
//
// Every error answer has one sentence for the user as its message and
// {"kind": ...} in its data; lsp/conn has the table of codes. A notification is never
// answered: its errors are logged. No message of a client ends the connection, except a
// header that does not give the length of the message, because everything after it is
// unreadable.
//
// # Cancellation
//
// $/cancelRequest, window/workDoneProgress/cancel, shutdown and the end of the
// input cancel a running command. A cancelled command still answers: with
// RequestCancelled (-32800) if it stopped, with its result if it had already
// finished. A $/cancelRequest for an unknown or malformed id does nothing.
// Every progress that was begun is ended.
//
// # Time limits
//
// A request of the server has a time limit: 2 s for a progress or the
// configuration, 10 s for showing a document, 30 s for an edit, 10 minutes for a hook. A
// question to the user has none and ends with its command. After three consecutive
// unanswered window/workDoneProgress/create requests the server sends no more of them.
//
// # A client that does not read
//
// At most 16 MiB wait to be read, in addition to the answers to requests that were already
// taken and 32 MiB of notifications. Above it the server takes no further messages, holds up
// to 8 MiB of them, then stops reading; turns wait before the next request to a model. When
// the client reads again, everything continues in order and every request is answered. Abort
// (xcsh.abort, xcsh/abort), $/cancelRequest, shutdown, exit and answers to the server overtake
// the held messages. Abort also has a limit separate from [Options.MaxInFlight], so that it does
// not fail with busy, and exit ends a server that is too busy to handle it.
//
// # Life
//
// Requests before initialize answer ServerNotInitialized (-32002), requests after
// shutdown and a second initialize answer InvalidRequest (-32600). shutdown, the
// end of the input and the end of the client's process stop the server in the same
// way: commands get a moment to finish ([Options.Drain]), are then cancelled and
// waited for ([Options.Grace]), sessions are closed, logs are flushed.
package lsp
