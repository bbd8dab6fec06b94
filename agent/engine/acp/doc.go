// Package acp is an engine that answers through a program that speaks the Agent Client Protocol. It is the client of the
// protocol; package acp is the agent. Both use acp/wire.
//
// The program is a child process. Two kinds are known: oh-my-pi writes the session file of the terminal programs itself, so it is a
// native engine. All others, such as claude-agent-acp, are foreign: the host writes the session file from the messages that
// this package makes of their updates, and the program keeps a record of its own, whose id is [engine.Opened.Session].
//
// The program's files go through the host: a text that it reads is that of the editor, and a text that it writes is shown to
// the user first. A program that does not use these methods reads and writes the disk itself. It asks for permission
// as its own settings say; see [engine.Can].
//
// Everything that the program sends is bounded in size, count and time. A message that cannot be understood is logged
// and skipped.
package acp
