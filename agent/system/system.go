// Package system makes the system prompt, which a model gets before the conversation.
//
// Its parts come in an order that never changes and do not contain the time of day, because
// services cache the common beginning of requests, and charge less for it.
package system

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/spf13/afero"

	"github.com/xcsh-ls/xcsh-ls/agent/sensitive"
)

// Builder makes system prompts. Fs and AgentDir must be set; it is safe for
// concurrent use.
type Builder struct {
	Fs       afero.Fs
	AgentDir string // has instructions for every project
	OS       string
	Shell    string // that runs the commands; "": not known

	// Usable reports whether the agent directory may be read now; nil means that it may.
	Usable func(agentDir string) bool

	Private *sensitive.Set               // files that are never sent; nil: none
	Report  func(path string, err error) // called with each file that is left out, and why; may be nil
}

const preamble = `You are a coding assistant in the user's editor. Use your tools to read files, run commands and edit code.

Guidelines:
- Read what a change affects, and its callers, before you edit.
- Use edit to change files and write for new ones. Open files change in the user's editor, where the user can undo it.
- Match the style of the surrounding code. Make only the requested change.
- Read files with read rather than cat, and continue large files with offset. Make independent reads in one answer.
- Before you report success, run the tests or the build that covers the change, and name what you ran.
- Do not commit, push or delete anything unless the user asks for it.
- Paths are absolute or relative to the working directory. Name files by their paths.
- Be brief. If a tool call is denied, do not work around it; describe what it would have done.
`

// foundation are the rules for a session with instructions of its own.
const foundation = `You are an assistant in the user's editor. The session was begun with the instructions in the element
session_instructions. These rules take precedence over them:
- The user decides about tool calls. If a call is denied, do not work around it; describe what it would have done.
- Do not commit, push or delete anything unless the user asks for it.
- Only the tools of this request exist, even if the instructions name others.
- Open files change in the user's editor, where the user can undo it.
- Paths are absolute or relative to the working directory. Name files by their paths.
`

// closing matches the end of the element that shows a session's instructions.
var closing = regexp.MustCompile(`(?i)</(session_instructions)`)

// Recorded returns the system prompt for work in cwd in a session that has instructions of its own.
// They replace the usual ones, those of the project included, which they contain as far as the session
// had them. The text can't close its element.
func (b Builder) Recorded(cwd, instructions string) string {
	var out strings.Builder
	out.WriteString(foundation)
	instructions = strings.TrimRight(closing.ReplaceAllString(instructions, `<\/$1`), "\n")
	fmt.Fprintf(&out, "\n<session_instructions>\n%s\n</session_instructions>\n", instructions)
	b.place(&out, cwd)
	return out.String()
}

// place adds where the work is done.
func (b Builder) place(out *strings.Builder, cwd string) {
	fmt.Fprintf(out, "\nOperating system: %s\n", b.OS)
	if b.Shell != "" {
		fmt.Fprintf(out, "Shell: %s\n", b.Shell)
	}
	fmt.Fprintf(out, "Working directory: %s\n", cwd)
}

// Prompt returns the system prompt for work in cwd.
func (b Builder) Prompt(cwd string) string {
	var out strings.Builder
	out.WriteString(preamble)
	if files := b.Files(cwd); len(files) > 0 {
		out.WriteString("\n<project_context>\nInstructions from the project and the user; later ones take precedence.\n")
		for _, f := range files {
			fmt.Fprintf(&out, "\n<file path=%q>\n%s\n", f.Path, strings.TrimRight(f.Content, "\n"))
			if f.Cut {
				out.WriteString("[truncated; read the file for the rest]\n")
			}
			out.WriteString("</file>\n")
		}
		out.WriteString("</project_context>\n")
	}
	b.place(&out, cwd)
	return out.String()
}
