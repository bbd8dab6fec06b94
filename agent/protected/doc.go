// Package protected names the files of a workspace that other programs obey: configuration of
// editors, shells, git hooks, continuous integration, dev containers, agents and build wrappers. A
// program that can write one of them can run a command later, without approval. [Path] reports
// whether a path is one; it checks names only.
package protected
