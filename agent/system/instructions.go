package system

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/agent/sensitive"
	"github.com/xcsh-ls/xcsh-ls/session/intake"
)

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
	Cut     bool // it is longer than the part that is used
}

// Files returns the instructions that hold in cwd: those for every project first, then from the
// root of the file system down to cwd, so that the nearest takes precedence.
//
// A file counts only in the directory that it is in: a symbolic link must lead to a Markdown file
// of the same directory or below it. One above cwd must also belong to the user, because anyone can
// put a file into a directory such as /tmp. Credentials are never used, under any name. Every file
// that is left out is reported.
//
// Differs: xcsh, pi and omp follow every link and do not check the owner.
func (b Builder) Files(cwd string) []File {
	cwd = filepath.Clean(cwd)
	var dirs []string
	for dir := cwd; ; dir = filepath.Dir(dir) {
		dirs = append(dirs, dir)
		if dir == filepath.Dir(dir) {
			break
		}
	}
	slices.Reverse(dirs)
	r := reader{b, cwd, b.Private.Resolve(b.Fs)}
	var files []File
	if b.Usable == nil || b.Usable(b.AgentDir) {
		if f, ok := r.first(b.AgentDir, r.own); ok {
			files = append(files, f)
		}
	}
	for _, dir := range dirs {
		if dir == filepath.Clean(b.AgentDir) {
			continue
		}
		if f, ok := r.first(dir, r.below); ok {
			files = append(files, f)
		}
	}
	return files
}

// reader reads the instructions for one directory.
type reader struct {
	Builder
	cwd     string
	private *sensitive.View
}

// first returns the instructions of one directory: those of its first file that can be used.
func (r reader) first(dir string, read func(dir, name string) (intake.File, error)) (File, bool) {
	for _, name := range names {
		path := filepath.Join(dir, name)
		in, err := read(dir, name)
		if err == nil && (r.private.Denies(path) || r.private.DeniesInfo(in.Info)) {
			err = &intake.Refused{Path: path, Why: "it is a credentials file"}
		}
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			if r.Report != nil {
				r.Report(path, err)
			}
		default:
			f := File{Path: path, Content: strings.ToValidUTF8(string(in.Content), "\uFFFD")}
			if in.Cut || len(f.Content) > maxFile {
				f.Content, f.Cut = strings.ToValidUTF8(string(in.Content[:min(len(in.Content), maxFile)]), ""), true
			}
			return f, strings.TrimSpace(f.Content) != ""
		}
	}
	return File{}, false
}

// own reads a file of the agent directory, which is the user's own and may be a link.
func (r reader) own(dir, name string) (intake.File, error) {
	return intake.Read(r.Fs, filepath.Join(dir, name), maxFile)
}

// below reads a file of the working directory or of one above it.
func (r reader) below(dir, name string) (intake.File, error) {
	f, err := intake.ReadBelow(r.Fs, dir, name, maxFile)
	if err != nil {
		return f, err
	}
	path := filepath.Join(dir, name)
	if to := sensitive.Resolve(r.Fs, path); filepath.Base(to) != name && !isMarkdown(to) {
		return f, &intake.Refused{Path: path, Why: fmt.Sprintf("it is a symbolic link to %s, which is not a Markdown file", to)}
	}
	if intake.Planted(r.Fs, r.cwd, dir, f.Info) {
		return f, &intake.Refused{Path: path, Why: "another user owns it or can write to it"}
	}
	return f, nil
}

func isMarkdown(path string) bool {
	return slices.Contains([]string{".md", ".mdc", ".markdown"}, strings.ToLower(filepath.Ext(path)))
}
