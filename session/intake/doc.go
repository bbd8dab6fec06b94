// Package intake opens files that the program did not write itself: those of a workspace, which
// come with a clone, and those of the user's own directories.
//
// Both kinds must be regular files. They are opened without waiting for a peer, checked after
// they are open, and read up to a limit, so that a pipe cannot hang the program and a device or
// a very large file cannot use up its memory. A file of a workspace must also lie below its
// folder: [ReadBelow] follows no symbolic link that leaves it. The user's own files may be links
// to anywhere; many users keep them in a repository of dotfiles.
package intake
