// Package lock implements the lock files of sessions: one that is held during a write, and one
// that is held while a program has the session open. It depends on paths and processes, but on
// no file format.
package lock
