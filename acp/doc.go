// Package acp implements an agent of the Agent Client Protocol, version 1, so that editors that
// support it can take part in conversations. [Serve] is the entry point; it speaks the protocol on
// the standard streams.
//
// # Framing
//
// JSON-RPC 2.0, one message per line. An invalid line causes an error response and has no other
// effect; the connection ends with the input. The message of an error is one sentence for the user;
// data.kind has its kind, as in docs/protocol.md.
//
// # Sessions
//
// A session of the protocol is one of our session files, and its id is the id in the file's
// header. Each open session has an [agent.Manager] of its own over the same storage, so that a
// client can have several conversations in one folder. A session can be open only once: loading it
// again replays it.
//
// # Trust
//
// No session is restricted as with the option restricted of the language server. The protocol does
// not transmit whether the user trusts a workspace, and a restricted agent could not answer any
// prompt: an editor with restricted workspaces does not start an agent in one.
//
// # Order
//
// Requests about one session are processed in the order of arrival, each when the previous one has
// been answered or, for a prompt, accepted. Requests about different sessions run concurrently.
// Notifications are processed immediately, before any later message. The updates of a turn are
// written before its response, replayed entries before the response to session/load.
//
// # A client that does not read
//
// Messages to the client are queued. Pieces of one text are merged, and of a running tool's output
// only the newest state is kept. While more than 16 MiB are queued, further requests are held, up to
// 8 MiB of them, and turns wait before their next request to the model. session/cancel and
// $/cancel_request take effect immediately, also for held requests.
//
// # A client that does not answer
//
// A client has 30 s to read or write a file. Requests for permission have no time limit.
package acp
