// Package system makes the system prompt: what a model is told before the conversation.
//
// Its parts come in an order that never changes and say nothing of the time of day, because
// services keep what requests have in common, and charge less for it.
package system

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/afero"

	"github.com/xcsh-ls/xcsh-ls/agent/tool"
)

// Builder makes system prompts. Fs, AgentDir and Tools must be set; it is safe for
// concurrent use.
type Builder struct {
	Fs       afero.Fs
	AgentDir string // has instructions for every project
	Tools    []tool.Tool
	OS       string
	Report   func(path string, err error) // told of a file that cannot be read; may be nil
}

// names are the files that hold instructions, in the order of preference within one
// directory.
var names = []string{"AGENTS.md", "CLAUDE.md"}

// maxFile bounds one file of instructions, in bytes: more of it would crowd out the
// conversation.
const maxFile = 64 << 10

// File is a file with instructions.
type File struct {
	Path    string
	Content string
	Cut     bool // it is longer than what is used of it
}

// Files returns the instructions that hold in cwd: those for every project first, then from
// the root of the file system down to cwd, so that the nearest has the last word.
func (b Builder) Files(cwd string) []File {
	var dirs []string
	for dir := filepath.Clean(cwd); ; dir = filepath.Dir(dir) {
		dirs = append(dirs, dir)
		if dir == filepath.Dir(dir) {
			break
		}
	}
	slices.Reverse(dirs)
	var files []File
	seen := map[string]bool{}
	for _, dir := range append([]string{b.AgentDir}, dirs...) {
		if f, ok := b.in(dir); ok && !seen[f.Path] {
			seen[f.Path] = true
			files = append(files, f)
		}
	}
	return files
}

// in returns the instructions of one directory.
func (b Builder) in(dir string) (File, bool) {
	for _, name := range names {
		path := filepath.Join(dir, name)
		content, err := afero.ReadFile(b.Fs, path)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) && b.Report == nil {
			continue
		}
		if err != nil {
			if b.Report != nil {
				b.Report(path, err)
			}
			continue
		}
		f := File{Path: path, Content: strings.ToValidUTF8(string(content), "\uFFFD")}
		if len(f.Content) > maxFile {
			f.Content, f.Cut = strings.ToValidUTF8(f.Content[:maxFile], ""), true
		}
		return f, strings.TrimSpace(f.Content) != ""
	}
	return File{}, false
}

const preamble = `You are a coding assistant that works in a person's editor. You help by reading files, running commands and editing code with your tools.`

const guidelines = `Guidelines:
- Look before you act: read the files that a change touches, and what calls them.
- Prefer edit for changes to a file and write for new files. Files that are open in the editor are changed there and can be undone by the person.
- Keep to the style of the code around. Change what was asked for, and nothing else.
- Be brief. Name files by their paths.
- When a tool call is not allowed, do not look for a way around it; say what you would have done.`

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
		out.WriteString("\n<project_context>\nInstructions of this project and person; the later ones have the last word.\n")
		for _, f := range files {
			fmt.Fprintf(&out, "\n<file path=%q>\n%s\n", f.Path, strings.TrimRight(f.Content, "\n"))
			if f.Cut {
				out.WriteString("[cut here; read the file for the rest]\n")
			}
			out.WriteString("</file>\n")
		}
		out.WriteString("</project_context>\n")
	}
	fmt.Fprintf(&out, "\nOperating system: %s\nWorking directory: %s\n", b.OS, cwd)
	return out.String()
}
