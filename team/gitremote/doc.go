// Package gitremote finds the repository that a folder belongs to, and the address of its remote, by
// reading the files of git. It runs no program and writes nothing.
//
// [Find] follows the rules of git: a .git that is a file (worktrees, submodules), a common directory,
// the configuration of the system, of the user, of the repository and of the worktree, include and
// includeIf, and url.*.insteadOf. Every file may come from anywhere, so each is read only if it is
// regular, and their number, their sizes and the depth of includes are limited.
package gitremote
