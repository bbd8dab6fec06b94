// Package team keeps session files and a store that a team shares alike.
//
// The local file stays the file that the terminal programs read and write. Its complete lines are
// copied to a [Store], and a session of the store is pulled into a file of another machine.
//
// # Bytes
//
// A session file is a head and a body. The head is the title slot, if there is one, and the header
// line. The body is every byte behind it. The store appends to a body and never changes it: a body
// that a program rewrote becomes the next generation of the session. Offsets and lengths count bytes
// of the body, and a [Sum] is the SHA-256 of the body from its start.
//
// # Writers
//
// An append names the generation, length and sum that the caller expects, so that it takes effect
// once and only behind known bytes. A lease says which device writes, and its fence, a number that
// only grows, excludes a device that lost the lease without noticing. If two devices wrote different
// lines, the second one gets a session of its own: a variant, made by [Store.Fork].
package team
