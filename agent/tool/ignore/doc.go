// Package ignore reports which files git would ignore.
//
// [Load] gives the rules that hold in a directory, [Rules.Enter] those of a directory below it,
// [Rules.Ignored] checks a name in it. The calls must follow the tree from its root: nothing below
// an ignored directory can be included again, so callers skip such directories.
//
// The patterns are matched byte by byte as git matches them. A user's settings for all repositories
// (core.excludesFile) and core.ignoreCase are left out, so that an answer depends on the tree
// alone.
package ignore
