// Package session is the durable record of a conversation: it finds session files, reads
// them, appends to them and rebuilds the context that is sent to a model. It handles bytes
// and entries, and knows no agent, editor or model.
//
// Start with [library.Finder] to find sessions, [Store] to open or create one, [Log] to
// append, [Document] to inspect one, [BuildContext] for the conversation itself.
//
// # The file
//
// A session is one file, UTF-8, one JSON value per line, each line ended by LF:
//
//	{"type":"session","version":3,"id":…,"timestamp":…,"cwd":…}          the header, line 1
//	{"type":"message","id":…,"parentId":null,"timestamp":…,"message":…}   an entry
//	{"type":"message","id":…,"parentId":…,"timestamp":…,"message":…}      its child
//
// Newer files of omp begin with a title slot of exactly 256 bytes before the header,
// which a rename overwrites in place. Files are named TIME_ID.jsonl and live in one
// directory per working directory; [library.DirNames] lists how that directory may be called.
//
// Entries form a tree through parentId. The leaf is the last entry of the file; it is never
// stored. Appending a child to an earlier entry starts a branch. Entries are only ever
// added.
//
//	header field   type              meaning
//	version        number            absent: 1; [CurrentVersion] is written; a higher one is read, not written
//	id             string            16 hex digits (xcsh) or a UUID (pi, omp); opaque
//	title          string, optional  display name
//	titleSource    string, optional  auto or user; a user's title is not replaced by an automatic one
//	timestamp      string            ISO 8601, UTC, milliseconds
//	cwd            string            working directory of the session, whatever directory the file is in
//	parentSession  string, optional  id or path of the session this one was made from
//	dialect        string, optional  only in copies made by this package: the dialect of the conversation
//
// The entry types are the Type… constants. Entries of unknown types are kept, may be
// parents and leaves, and add nothing to the context.
//
// # Versions
//
// Version 1 has no ids: they are assigned in file order, and a compaction refers to its
// first kept entry by index. Version 2 calls the role custom hookMessage. Older files are
// presented in the current form and stay unchanged until a resumed session is first
// appended to or renamed; then the file is replaced once, atomically.
//
// # Damage
//
// Reading never fails on content after the header. A line that is not JSON is lost, with
// every value on it; an incomplete line affects no other line; several values on a line are
// all read; a value may span lines. Missing parents and cycles of parents end the walk.
// Each finding is a [Problem] with its line. A file without a readable header is a Damaged
// error and is never written to; [Store.Salvage] saves its entries into a new file.
//
// # Durability
//
// An append is one write call of whole lines. Before it, the file must be the one in
// memory, by identity and size; lines that other programs appended are adopted, and a last
// line without newline is ended first, never cut off. If a write fails in the middle, its
// own bytes are removed again where possible. Whole-file changes go to a temporary file,
// which is synced and renamed over the old one only if that did not change. fsync happens
// in [Log.Flush] and [Log.Close], and for the directory after a rename.
//
// A new session has no file before a model's first answer, because the terminal programs
// list every file they find.
//
// # Other programs
//
// A program that answers in a session writes the file itself: [Log.Lend] gives it away, and until [Lent.Return] nothing is written
// here. A program that cannot continue in a file, see [Document.Unreadable], gets a copy in its own form from [Store.ForkInto].
package session
