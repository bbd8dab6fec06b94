// Package lsptest tests a language server the way an editor uses it.
//
// # Editor
//
// [Start] runs a server in this process and returns an [Editor] connected to it.
// Its methods read like what a person does, wait for what must happen and fail the
// test when it does not:
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
// At the end of the test the editor fails it when the server sent a request that no
// step waited for. It shares no code with the server but the table of commands in
// the options: framing, encoding and matching of answers are its own.
//
// # Conversations
//
// [RunConversation] plays a file in txtar format against a server and compares
// every message it sends. The text above the first file says what the conversation
// is about. The files are, in this order:
//
//	-- fs/PATH --        a file at /PATH before the start, as many as needed
//	-- client --         messages to send, one JSON object a line
//	-- server --         the messages the server sends then, one a line
//	-- client --         and so on
//	-- fs.after --       the paths of all files at the end, sorted, one a line
//	-- fs.after/PATH --  the contents of the file /PATH at the end
//
// The server works on a file system in memory; PATH has no leading slash.
//
// Blank lines and lines starting with # are skipped among messages. "jsonrpc" may
// be left out of them.
//
// A section of the server is complete when every request of the client has been
// answered or the server waits for an answer itself; then the next section of the
// client is sent. The server's requests are numbered from 1, so the answers can be
// written down. Two requests in one section are answered in any order; put them in
// two. After the last section the input is closed, and the server must end.
//
// In the server's lines the string "<any>" stands for any one value. Objects are
// compared without regard to the order of their fields.
//
// With -update the server's sections and fs.after are rewritten; lines that match
// already, with "<any>" in them, are kept.
package lsptest
