// Package session is the durable record of a conversation: it finds session files,
// reads them, appends to them and rebuilds what a model is shown. It knows bytes and
// entries, and no agent, editor or model.
//
// Begin with [Finder] to find sessions, [Store] to open or make one, [Log] to append,
// [Document] to look at one, [BuildContext] for the conversation itself.
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
// directory per working directory; [DirNames] lists how that directory may be called.
//
// Entries form a tree through parentId. The leaf is the last entry of the file; it is
// never stored. A branch is begun by appending a child to an earlier entry. Entries
// are only ever added.
//
//	header field   type              meaning
//	version        number            absent: 1; [CurrentVersion] is written; a higher one is read, not written
//	id             string            16 hex digits (xcsh) or a UUID (pi, omp); opaque
//	title          string, optional  display name
//	titleSource    string, optional  auto or user; a user's title is not replaced by an automatic one
//	timestamp      string            ISO 8601, UTC, milliseconds
//	cwd            string            whose session this is, whatever directory it lies in
//	parentSession  string, optional  id or path of the session this one was made from
//	dialect        string, optional  ours: by whose rules a fork's conversation is read
//
// The entry types are the Type… constants. Types nobody knows are kept, are legal
// parents and leaves, and say nothing to a model.
//
// # Versions
//
// Version 1 has no ids: they are given in file order, and a compaction names its first
// kept entry by its place. Version 2 calls the role custom hookMessage. Older files
// are shown in the current form and stay as they are until a resumed session is first
// appended to or renamed; then the file is replaced once, atomically.
//
// # Damage
//
// Reading never fails on content behind the header. A line that is not JSON costs
// that line, whatever is on it; a line that stops in the middle costs nothing but
// itself; several values on a line are all read; a value may span lines. Parents that
// are missing or lead in a circle end the walk. Each finding is a [Problem] with its
// line. A file without a readable header is kind damaged and is never written to;
// [Store.Salvage] saves its entries into a new file.
//
// # Durability
//
// An append is one write call of whole lines. Before it, the file must be the one in
// memory, by identity and size; what others appended is adopted, and a last line
// without newline is ended first, never cut off. A write that fails in the middle is
// taken back as far as it was ours. Whole-file changes go to a temporary file, which
// is synced and renamed over the old one only if that did not change. fsync happens
// in [Log.Flush] and [Log.Close], and of the directory after a rename.
//
// A new session has no file before a model's first answer, because the terminal
// programs list every file they find.
package session
