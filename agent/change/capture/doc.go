// Package capture creates the records of changes, and stores those that can't be appended to their session yet.
//
// A record is written ahead of the change: [Ahead] stores the contents, appends the record, and only then makes the change. A second
// record voids that of a change that failed. So every change has a record, whenever the process dies.
//
// While another program holds the session file, records are stored in a separate file, see [Waiting]. A running command has a journal,
// see [Journal], so that its changes can be found if the process dies before the command ends.
package capture
