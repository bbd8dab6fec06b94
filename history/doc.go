// Package history stores the user's prompts, so that they can be found again: in history.db, an
// SQLite file that other programs read and write at the same time.
//
// # The database
//
// It belongs to the terminal programs as much as to us, so it is made with exactly their schema and
// never changed to another one. Both forms are recognised by the content of the file: rows in the
// order of the prompts, and rows without duplicates that count how often they were used.
//
// A [Store] has one connection, which one goroutine at a time uses. No prompt waits for it:
// [Store.Add] queues, and prompts that cannot be written now, because another program holds the
// lock, are written later. A search does not wait for a blocked writer.
//
// An error affects only the history: it is reported once, and later prompts can be found for as long
// as the process lives.
//
// # Prompts without an answer
//
// A session has no file before its first answer, and a queued prompt is in no session. So that a
// prompt survives the end of the process until then, [Store.Keep] writes it to a small file of its
// own, the journal, before the prompt is reported as accepted. [Mark.Answered] removes the file. The
// prompts of a dead process are offered again, see [Store.Offer].
package history
