// Package lsptest tests a language server the way an editor uses it.
//
// # Editor
//
// [Start] runs a server in this process and returns an [Editor] connected to it.
// Its methods read like the steps of a user. They wait for the expected message and
// fail the test if it does not arrive:
//
//	ed := lsptest.Start(t, options)
//	ed.Initialize(nil)
//	ed.Open("/w/a.go", "package a\n")
//	exec := ed.BeginExec("xcsh.resume", nil)
//	ed.AnswerQuestion("Fork into current directory?", "Yes")
//	result, err := exec.Wait()
//	ed.Shutdown()
//	ed.Exit()
//
// At the end of the test the editor fails it if no step waited for one of the server's
// requests. It shares no code with the server except the table of commands in the
// options: framing, encoding and matching of answers are its own.
//
// # Conversations
//
// [RunConversation] plays a file in txtar format against a server and compares
// every message it sends. The text above the first file describes the conversation.
// The files are, in this order:
//
//	-- fs/PATH --        a file at /PATH before the start, as many as needed
//	-- client --         messages to send, one JSON object per line
//	-- server --         the messages the server then sends, one per line
//	-- client --         and so on
//	-- fs.after --       the paths of all files at the end, sorted, one per line
//	-- fs.after/PATH --  the contents of the file /PATH at the end
//
// The server works on a file system in memory; PATH has no leading slash.
//
// Blank lines and lines starting with # are skipped among messages. "jsonrpc" may
// be omitted from them.
//
// A server section is complete when every request of the client has been answered
// or the server waits for an answer itself; then the next client section is sent.
// The server's requests are numbered from 1, so the answers can be written in
// advance. Two requests in one section are answered in any order; put them in two
// sections. After the last section the input is closed, and the server must end.
//
// In the server's lines, parts of a string that differ from run to run are written
// <digits>, <hex>, <path> or <time>; "<number>" is any number. {"$file":"NAME"} is the
// value in NAME.json in the directory of the conversation, for long values that many
// conversations share. Objects are compared without regard to the order of their fields.
//
// The events that stream a turn (agent_*, turn_* and message_*) are left out of server
// sections, unless a section has the line
//
//	# with streamed events
//
// All events are checked for gaps in their sequence numbers, so a conversation that
// lists any event of a turn also fails if the turn streams more or fewer events before it.
//
// With -update the server sections and fs.after are rewritten; lines that already
// match, with such parts in them, are kept, and so are these parts of NAME.json.
package lsptest
