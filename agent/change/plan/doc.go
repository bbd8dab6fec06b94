// Package plan plans how to undo records: the new state of each file.
//
// [Make] undoes the changes of each path, newest first, starting from its present state. A text that has changed since is merged by
// lines with package merge, so that the user's lines stay. A change that can't be undone without losing other changes is a conflict
// with a reason and a message. A plan writes nothing: package rewind carries it out.
//
// The package only reads through the functions of its [Input].
package plan
