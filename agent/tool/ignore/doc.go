// Package ignore tells which files git would ignore.
//
// [Load] gives the rules that hold in a directory, [Rules.Enter] those of a directory
// below it, [Rules.Ignored] asks about a name in it. The questions must follow the tree
// from its root: nothing below an ignored directory can be taken back, so that nobody
// asks about it.
//
// The patterns are matched byte by byte as git matches them. What a person configures for
// all of their repositories (core.excludesFile) and core.ignoreCase are left out, so that
// an answer depends on the tree alone.
package ignore
