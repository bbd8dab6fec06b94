// Package system makes the system prompt, which a model gets before the conversation.
//
// Its parts come in an order that never changes and do not contain the time of day, because
// services cache the common beginning of requests, and charge less for it.
package system

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/agent/setup"
)

// Builder makes system prompts. It is safe for concurrent use.
type Builder struct {
	OS    string
	Shell string // that runs the commands; "": not known
}

const preamble = `You are a coding assistant in the user's editor. Use your tools to read files, run commands and edit code.
`

const guidelines = `
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

// lasting are the guidelines that hold beside a system prompt of the user's.
const lasting = `
These rules take precedence:
- The user decides about tool calls. If a call is denied, do not work around it; describe what it would have done.
- Do not commit, push or delete anything unless the user asks for it.
- Only the tools of this request exist, even if the instructions name others.
- Open files change in the user's editor, where the user can undo it.
- Paths are absolute or relative to the working directory. Name files by their paths.
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

// Prompt returns the system prompt for work with a set-up and the tools of the conversation. It is the same
// while both are. found may be nil.
func (b Builder) Prompt(found *setup.Resolved, tools []provider.Tool) string {
	if found == nil {
		found = &setup.Resolved{}
	}
	var out strings.Builder
	if found.System != nil {
		out.WriteString(text(*found.System))
		out.WriteString(lasting)
	} else {
		out.WriteString(preamble)
		out.WriteString(guidelines)
	}
	if found.Append != nil {
		fmt.Fprintf(&out, "\n<addendum>\n%s</addendum>\n", text(*found.Append))
	}
	canRead := slices.ContainsFunc(tools, func(t provider.Tool) bool { return t.Name == "read" || t.Name == "bash" })
	rules(&out, found.Rules, canRead)
	context(&out, found.Context)
	if canRead {
		skills(&out, found.Skills)
	}
	b.place(&out, found.Folder)
	return out.String()
}

// text returns the text of a file with one line ending at its end.
func text(f setup.File) string {
	t := strings.TrimSpace(f.Text) + "\n"
	if f.Cut {
		t += truncated
	}
	return t
}

const truncated = "[truncated; read the file for the rest]\n"

// context adds the files with instructions.
func context(out *strings.Builder, files []setup.File) {
	if len(files) == 0 {
		return
	}
	out.WriteString("\n<project_context>\nInstructions from the project and the user; later ones take precedence.\n")
	for _, f := range files {
		fmt.Fprintf(out, "\n<file path=%q>\n%s\n", f.Path, strings.TrimRight(f.Text, "\n"))
		if f.Cut {
			out.WriteString(truncated)
		}
		out.WriteString("</file>\n")
	}
	out.WriteString("</project_context>\n")
}

// rules adds the rules that always hold, and the list of those for some files. Stream rules are not part of
// the prompt: they stop an answer.
func rules(out *strings.Builder, list []setup.Rule, canRead bool) {
	var always, domain []string
	for _, r := range list {
		switch r.Use {
		case setup.AlwaysRule:
			always = append(always, r.Body)
		case setup.DomainRule:
			globs := ""
			if len(r.Globs) > 0 {
				globs = " (" + strings.Join(r.Globs, ", ") + ")"
			}
			domain = append(domain, "- "+r.Name+globs+": "+strings.Join(strings.Fields(r.Description), " "))
		case setup.StreamRule:
		}
	}
	if len(always) > 0 {
		fmt.Fprintf(out, "\n<generic-rules>\n%s\n</generic-rules>\n", strings.Join(always, "\n\n"))
	}
	if len(domain) > 0 && canRead {
		fmt.Fprintf(out, "\nBefore you work on something that one of these rules is about, read the rule: read rule://NAME.\n<domain-rules>\n%s\n</domain-rules>\n", strings.Join(domain, "\n"))
	}
}

// skills adds the skills that models see, in the words of pi.
func skills(out *strings.Builder, list []setup.Skill) {
	list = slices.DeleteFunc(slices.Clone(list), func(s setup.Skill) bool { return s.Hidden })
	if len(list) == 0 {
		return
	}
	out.WriteString(`
<skills>
The following skills provide specialized instructions for specific tasks.
Use the read tool to load a skill's file when the task matches its description.
Resolve relative paths against the skill's directory (parent of SKILL.md). Use absolute paths in tool calls.

<available_skills>
`)
	for _, s := range list {
		fmt.Fprintf(out, "  <skill>\n    <name>%s</name>\n    <description>%s</description>\n    <location>%s</location>\n  </skill>\n",
			escaped.Replace(s.Name), escaped.Replace(s.Description), escaped.Replace(s.Path))
	}
	out.WriteString("</available_skills>\n</skills>\n")
}

// escaped escapes a text for an element.
var escaped = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "'", "&apos;")
