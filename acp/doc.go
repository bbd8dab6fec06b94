// Package acp lets editors that speak the Agent Client Protocol, version 1, take part in
// conversations: it is the agent at the other end of their standard streams. [Serve] is the
// way in.
//
// # Framing
//
// JSON-RPC 2.0, one message per line. A line that is no message costs an error answer and
// nothing else; the connection ends with the input. What is said of an error is one sentence
// for the person, with the kind of docs/protocol.md in data.kind.
//
// # Sessions
//
// A session of the protocol is a session file of ours, and its id is the id in the file's
// header. Each open one has an [agent.Manager] of its own over the same storage, so that a
// client can have several conversations in one folder. A session that is open here is open
// once: loading it again shows it again.
//
// # Order
//
// Requests about one session are carried out in the order they came, each when the one before
// it is answered or, for a prompt, accepted. Requests about different sessions run beside each
// other. Notifications are obeyed at once, before anything that came later. What is told of a
// turn is written before the turn's answer, what is replayed before the answer of session/load.
//
// # A client that does not read
//
// Nothing here waits for it but its own requests. What it is told queues up; pieces of one text
// become one piece, and what a running tool has put out so far is kept once.
package acp
