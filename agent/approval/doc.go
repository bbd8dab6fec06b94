// Package approval decides whether a tool may change something, and asks the person where
// that is theirs to say.
//
// A [Gate] stands before the tools of one session. What its [Mode] and [Rules] allow goes
// through; everything else becomes a prompt. Prompts wait in the order they came, and one
// is shown at a time: a new one never takes the place of the one on the screen, so that
// no answer meets another question than the person has read. Each has an id and is
// answered once. A prompt without anybody to show it to waits; whoever attaches gets it.
//
// Rules are about words. A rule about the first words of a command does not cover arguments
// that are known to run other programs or to write files, such as git diff --output=FILE;
// such a line is asked about. That is a list, which cannot be complete: what a sandbox
// prevents, rules do not.
package approval
