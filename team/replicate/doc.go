// Package replicate joins the parts of the team's store into one object per process, the [Replicator]: the connection, the user's consent,
// the background sending, the leases of turns, pulling and following.
//
// Nothing happens before it is needed. Without a consent in team.json a Replicator has no goroutine and no connection. A plan of a consent
// sends the login and nothing else. Sessions are sent only to the store that the user agreed to: another one under the same address
// receives nothing until the user agrees again.
//
// Several processes of a machine may replicate. One of them, which has the lock push.lock, looks for session files that changed; the
// others send only the sessions in which they have turns. The lock saves work, and nothing depends on it.
package replicate
