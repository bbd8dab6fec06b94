// Package composer reads what a user types as a prompt: the words that name files of the folder or things in the
// editor, and the slash command at its beginning. It reads no contents and changes nothing, so that every client has
// the same rules: the chat panels, LSP clients with a prompt of their own, ACP clients and the command line.
//
// A reference begins with "@" at the beginning of the text or after a space or "(":
//
//	@src/main.go              a file
//	@src/main.go:10-20        lines of it; also :10, #L10 and #L10-L20
//	@"my notes.txt"           a path with spaces
//	@src/                     a folder, of which the names are sent
//	@problems @buffer @selection @terminal @symbol:NAME
//
// The last ones are asked of the editor; "@diagnostics" is "@problems", and "#selection" is "@selection". What names
// nothing stays text, as do words in fenced code, which is usually pasted.
//
// The text may have been pasted from anywhere. So a reference never sends a file with secrets, and a relative one
// never leaves the folder, not by "..", nor by a symbolic link of a cloned repository.
package composer
