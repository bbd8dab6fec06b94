package agent

import "context"

// Shared is notified of turns in sessions that other people and machines may write to as well. Its methods are safe for
// concurrent use.
type Shared interface {
	// Begin is called before the first line of a turn is written to the session file at path, "" for a session without a
	// file. It waits 300 ms at most: without an answer of the network the turn begins all the same. The caller calls end when
	// the turn is over. The only error is a Busy error with the data owner, device and leftMs: another user is writing the
	// session at the moment.
	Begin(ctx context.Context, path string) (end func(), err error)
	// Wrote is called when the session file at path may have changed, by this program or another one. It never blocks.
	Wrote(path string)
}
