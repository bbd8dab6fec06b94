// Package system makes the system prompt, which a model gets before the conversation.
//
// Its parts come in an order that never changes and do not contain the time of day, because
// services cache the common beginning of requests, and charge less for it.
package system

import (
	"fmt"
	"strings"

	"github.com/spf13/afero"

	"github.com/xcsh-ls/xcsh-ls/agent/sensitive"
	"github.com/xcsh-ls/xcsh-ls/agent/tool"
)

// Builder makes system prompts. Fs, AgentDir and Tools must be set; it is safe for
// concurrent use.
type Builder struct {
	Fs       afero.Fs
	AgentDir string // has instructions for every project
	Tools    []tool.Tool
	OS       string

	// Usable reports whether the agent directory may be read now; nil means that it may.
	Usable func(agentDir string) bool

	Private *sensitive.Set               // files that are never sent; nil: none
	Report  func(path string, err error) // called with each file that is left out, and why; may be nil
}

const preamble = `You are a coding assistant that works in the user's editor. You help by reading files, running commands and editing code with your tools.`

const guidelines = `Guidelines:
- Read before you edit: the files that a change affects, and their callers.
- Prefer edit for changes to a file and write for new files. Changes to files that are open in the editor are made there, and the user can undo them.
- Match the style of the surrounding code. Make only the requested change.
- Read files with read rather than cat, and continue large files with offset. Make independent reads in one answer.
- Before you report success, run the tests or the build that covers the change, and name what you ran.
- Do not commit, push or delete anything unless the user asks for it.
- Be brief. Name files by their paths.
- If a tool call is denied, do not try to work around it; describe what it would have done.`

// Prompt returns the system prompt for work in cwd.
func (b Builder) Prompt(cwd string) string {
	var out strings.Builder
	out.WriteString(preamble + "\n\n")
	if len(b.Tools) > 0 {
		out.WriteString("Tools:\n")
		for _, t := range b.Tools {
			line, _, _ := strings.Cut(t.Description, "\n")
			fmt.Fprintf(&out, "- %s: %s\n", t.Name, line)
		}
		out.WriteString("\n")
	}
	out.WriteString(guidelines + "\n")
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
	fmt.Fprintf(&out, "\nOperating system: %s\nWorking directory: %s\n", b.OS, cwd)
	return out.String()
}
