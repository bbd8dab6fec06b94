// Package approval decides whether a tool may change something, and asks the user if that is the
// user's decision.
//
// A [Gate] checks the tool calls of one session. Calls that its [Mode] and the rules allow are
// permitted; everything else becomes a prompt. Prompts wait in order of arrival, and one is shown
// at a time: a new one never replaces the one on the screen, so that no answer applies to another
// question than the user has read. Each has an id and is answered once. A prompt without an asker
// waits for the next one that attaches.
//
// # Commands
//
// Shell text is never trusted by itself. A command that only reads, as the table programs.txt
// describes it, runs without approval in a read-only sandbox; without a sandbox it requires
// approval like all others. A [Rule] is about an entry of the table, exactly these words or exactly
// this line, and its text names it. Anything that the parser is not sure of needs a prompt.
//
// # Files
//
// Files that other programs obey, see package protected, and executable files always require
// approval, unless the mode is [Yolo].
package approval
