// Package change describes the file changes of a session: its records, and which of them are active.
//
// A record is a custom entry of type [Type] in the session file. It names the paths that a tool call, a command or a rewind changed,
// with the state of each before and after. The contents of these states are files beside the session, named by their hash (package
// contents). Records are in file order, regardless of their branch: the conversation is a tree, but files have a linear history.
//
// A rewind is itself a record. It names the records that it undid, and a redo names the rewind that it undid. Records are never
// removed: [Book] works out which records are active at each path.
//
// The package does no I/O. Its types are the format of the entries, so their JSON names are fixed.
package change
