// Package textdoc holds text documents as the protocol sees them: positions in the client's
// encoding and paths of file: URIs. It does no I/O.
package textdoc
