// Package history keeps what people say to models, so that they can find it again: in
// history.db, an SQLite file that other programs read and write at the same time.
//
// # The database
//
// It belongs to the terminal programs as much as to us, so it is made with exactly their
// schema and never changed to another one. Both forms are known by what the file holds:
// rows as they were said, and rows without duplicates that count how often they were used.
//
// A [Store] has one connection, which one goroutine at a time uses. Nothing that is said
// waits for it: [Store.Add] queues, and what cannot be written now, because another program
// holds the lock, is written later. A search does not wait for a writer that waits.
//
// Whatever goes wrong costs the history and nothing else: it is told once, and what is said
// from then on can be found again for as long as the process lives.
//
// # Prompts without an answer
//
// A session has no file before its first answer. So that a prompt survives the end of the
// process until then, [Store.Say] puts it into a small file of its own before the model is
// asked, and [Mark.Answered] removes it. What a dead process left behind is offered again,
// see [Store.Offer].
package history
