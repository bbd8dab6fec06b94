package commands

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/xcsh-ls/xcsh-ls/agent/convert"
	"github.com/xcsh-ls/xcsh-ls/agent/tool"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

// maxAttachment is the largest attachment, in bytes. A model can read the rest of a file with
// its tools.
const maxAttachment = 256 << 10

// Attachment is a file, or a part of one, that is sent with a prompt.
type Attachment struct {
	URI   string `json:"uri" jsonschema:"A file: URI or a path, relative to cwd."`
	Range *Range `json:"range,omitempty" jsonschema:"The lines from start to end. Default: the whole file."`
}

// Range is a range of an LSP document; only its lines count.
type Range struct {
	Start Position `json:"start"`
	End   Position `json:"end"`
}

// Position is a zero-based position in an LSP document.
type Position struct {
	Line      int `json:"line"`
	Character int `json:"character"`
}

// attacher reads the files that are sent with a prompt.
type attacher struct {
	workspace tool.Workspace // nil if attachments are not supported
	paths     resolver
}

func newAttacher(env *Env) attacher { return attacher{workspace: env.Workspace, paths: env.resolver()} }

// text returns the attached files as text to put before a prompt. Unsaved buffers take
// precedence over files.
func (at attacher) text(ctx context.Context, cwd string, attachments []Attachment) (string, error) {
	if len(attachments) > 0 && at.workspace == nil {
		return "", fault.New(fault.InvalidArgument, "Attachments are not supported here.").With("field", "attachments")
	}
	var b strings.Builder
	for i, a := range attachments {
		field := fmt.Sprintf("attachments.%d", i)
		path, text, err := at.read(ctx, cwd, a, field+".uri")
		if err != nil {
			return "", err
		}
		part, lines, ok := a.Range.cut(text)
		if !ok {
			return "", fault.New(fault.InvalidArgument, "Cannot attach %s: it has no lines %d to %d.", path, a.Range.Start.Line+1, a.Range.End.Line+1).
				With("field", field+".range")
		}
		if len(part) > maxAttachment {
			return "", fault.New(fault.InvalidArgument, "Cannot attach %s: %d bytes are too many. Mention the file by name, or attach a part of it.", path, len(part)).
				With("field", field+".uri")
		}
		b.WriteString(convert.File(path, lines, part) + "\n\n")
	}
	return b.String(), nil
}

// read reads a file to attach.
func (at attacher) read(ctx context.Context, cwd string, a Attachment, field string) (path, text string, err error) {
	if path, err = at.paths.absolute(cwd, a.URI, field); err != nil {
		return "", "", err
	}
	if a.URI == "" || strings.Contains(a.URI, "://") && path == filepath.Join(cwd, a.URI) {
		return "", "", fault.New(fault.InvalidArgument, "%q is not a path or a file: URI on this machine.", a.URI).With("field", field)
	}
	file, err := at.workspace.ReadFile(ctx, path)
	switch {
	case fault.Is(err, fault.NotFound), errors.Is(err, fs.ErrNotExist):
		return "", "", fault.New(fault.NotFound, "File not found: %s", path).With("field", field).With("path", path)
	case err != nil:
		return "", "", fault.New(fault.KindOf(err), "Cannot attach %s: %w", path, err).With("field", field).With("path", path)
	case !utf8.Valid(file.Content) || bytes.IndexByte(file.Content, 0) >= 0:
		return "", "", fault.New(fault.InvalidArgument, "Cannot attach %s: it is not text.", path).With("field", field)
	}
	return path, string(file.Content), nil
}

// cut returns the lines of the range and an attribute with their numbers. ok is false for a
// range outside the text. A nil range is the whole text.
func (r *Range) cut(text string) (part, attribute string, ok bool) {
	if r == nil {
		return text, "", true
	}
	lines := strings.SplitAfter(text, "\n")
	from, to := r.Start.Line, r.End.Line+1
	if r.End.Character == 0 && r.End.Line > from {
		to-- // the range ends before the first character of its last line
	}
	if from < 0 || from >= len(lines) || to <= from {
		return "", "", false
	}
	to = min(to, len(lines))
	if to > from+1 && lines[to-1] == "" {
		to-- // the text ends with a line end
	}
	return strings.Join(lines[from:to], ""), fmt.Sprintf(" lines=\"%d-%d\"", from+1, to), true
}
