// Package patched derives changes of files from the results of edits, for turns of terminal programs, which have no records. The results
// don't cover commands, or the content of a file before it was written.
//
// A call becomes a record whose states are only computed for a plan: [Derive] undoes the calls of a path in its present text, newest
// first. A call is only undone if the text contains each of its replacements exactly once, and redoing them gives the same text again;
// otherwise the path is a conflict.
package patched
