// Package find finds the programs of this machine that can be engines, and remembers the user's choice. It implements
// [engine.Catalog].
//
// # Places
//
// A program is searched in the PATH of the server and then, because an editor that was started from a desktop has a
// poor one, in the directories in which package managers install programs. If that finds nothing, the user's
// login shell is asked for its PATH, once per process.
//
// # Safety
//
// To list a program is to run it: it is asked for its version. So a program is never run if another user could have
// put it there, or the author of a workspace: see [Machine] and trace. This holds for all links on the way
// to it, and for the interpreter of a script.
//
// # Arguments
//
// [engine.Program.Args] holds the arguments that make a program speak its protocol if that differs from program to program:
// "--acp" of gemini, "acp" of opencode and omp. The arguments that belong to a protocol, such as "--mode rpc", are added
// by the engine that speaks it.
package find
