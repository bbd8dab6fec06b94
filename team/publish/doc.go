// Package publish sends session files to the team's store.
//
// The session file is the queue: nothing else records what has to be sent. A [Publisher] compares the body of a file with the
// store's, and appends the whole lines that the store lacks. It reads the file and never writes it. What was
// last agreed with the store is in memory and in a state file of package shipping; without either, the file is summed again.
//
// Every call of the store compares before it changes, so that a call whose answer was lost can be repeated, and a line is
// in the store once. A file that is no continuation of the store's body is one of three cases:
//
//   - It is a beginning of it. The machine is behind, and there is nothing to send.
//   - The store has exactly what this machine agreed on last. The file was rewritten here, and its body becomes the next generation.
//   - Otherwise two machines wrote different lines. The session becomes a fork that shares the common beginning.
//
// Nothing is sent for a project or session without the user's consent, which is checked before each batch. All lines leave through
// [shipping.Outgoing].
package publish
