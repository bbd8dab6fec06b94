// Package agent keeps one live session per working directory: the conversation of an editor's
// folder, and the sessions it switches to, forks and branches into.
//
// # Order
//
// Operations on one [Session] (switch, new, fork, branch) are exclusive: each waits its turn and
// can be cancelled while it waits. An operation is a list of steps, each with its undo; if one
// fails, the completed steps are undone backwards and the previous session is active again, its
// leaf included.
//
// # Events
//
// [Manager.Subscribe] delivers events in order per session, after the change is on disk.
// Subscribers are called one after the other on the goroutine that caused the event and must not
// block or call back. Seq counts a session's events without gaps, so that a client notices a lost
// one.
//
// # Locks
//
// Two, always taken in this order: the session's turn (ops), held through a whole operation, and
// mu, held only to read or set fields, never across a hook, a file or a subscriber.
package agent
