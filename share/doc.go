// Package share publishes the page of a session: through a handler of the user if there
// is one, else to GitHub as a secret gist.
//
// The handler is the first of share.ts, share.js and share.mjs in an agent directory, a
// module whose default export takes the path of the page, or else an executable called
// share there, which gets that path as its argument. The agent directories of all programs
// are searched in order. If a handler fails, sharing fails: a page meant for one service
// must not go to another.
//
// Every program is run without input, without a terminal and in a process group of its
// own, which is terminated when the context ends, or when there is no answer in time. Its
// output is read up to a limit and never blocks it.
//
// Differs: the originals load the module into their own process, where they can neither
// terminate it nor prevent it from terminating them, and they let gh continue after the
// user has cancelled.
//
// Differs: each of the originals looks only into its own agent directory.
//
// The page and the files for running a handler are in a directory of that share alone, see
// [Folders], which is always removed.
package share
