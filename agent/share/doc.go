// Package share hands the page of a session to somebody else: to a handler of the
// person's own when there is one, else to GitHub as a secret gist.
//
// The handler is the first of share.ts, share.js and share.mjs in the agent directory, a
// module whose default export takes the path of the page, or else an executable called
// share there, which gets that path as its argument. A handler that fails is the end of
// the matter: what a person wanted to keep in one place must not go to another.
//
// Every program is run without input, without a terminal and in a process group of its
// own, which is ended when the context is, or when no answer came in time. What it prints
// is read to a limit and never holds it up.
//
// Differs: the originals load the module into their own process, where it can neither be
// ended nor kept from ending them, and they let gh go on behind the back of a person who
// has cancelled.
//
// The page and what a handler is run with lie in a directory of that share alone, see
// [Folders], which is removed whatever happens.
package share
