// Package tamper detects changes that a command made to protected files of a folder, and undoes
// them.
//
// A command in the sandbox may write everywhere in its folder, also to files that other programs
// obey later and outside of any sandbox: hooks of git, settings of an editor. Landlock cannot
// exclude single files of a directory, so [Look] records them before a command and
// [Snapshot.Changes] compares afterwards. A process that a command leaves behind
// can still change them later.
package tamper
