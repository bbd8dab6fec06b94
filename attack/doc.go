// Package attack plays the adversaries of SECURITY.md against the built program. It has tests
// only, one file per adversary:
//
//	model_*_test.go       a model that asks for hostile tool calls
//	repository_*_test.go  a cloned folder with hostile files
//	session_*_test.go     a session file from another user
//	terminal_*_test.go    text on its way to a terminal, a hover or a Markdown view
//	peer_*_test.go        a client or a signal that behaves badly
//	share_*_test.go       a recipient of an exported page
//
// The tests use only the program's command line, its protocols and the files that it leaves, not its
// packages, so that they also build against older revisions: each test must fail without the
// boundary that it covers.
package attack
