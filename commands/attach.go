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
	"github.com/xcsh-ls/xcsh-ls/session/fault"
)

// maxAttachment bounds what one attachment adds to a prompt, in bytes. A model can read
// the rest of a file by itself.
const maxAttachment = 256 << 10

// Attachment is a file, or a part of one, that goes with a prompt.
type Attachment struct {
	URI   string `json:"uri" jsonschema:"A file: URI or a path, relative to cwd."`
	Range *Range `json:"range,omitempty" jsonschema:"Whole lines from start to end. Absent: the whole file."`
}

// Range is a range of an LSP document; only its lines count.
type Range struct {
	Start Position `json:"start"`
	End   Position `json:"end"`
}

// Position is a place in an LSP document, counted from 0.
type Position struct {
	Line      int `json:"line"`
	Character int `json:"character"`
}

// attach returns the attached files as text before a prompt. Unsaved buffers win over the
// disk.
func (env *Env) attach(ctx context.Context, cwd string, attachments []Attachment) (string, error) {
	if len(attachments) > 0 && env.Workspace == nil {
		return "", fault.New(fault.InvalidArgument, "Nothing can be attached here.").With("field", "attachments")
	}
	var b strings.Builder
	for i, a := range attachments {
		field := fmt.Sprintf("attachments.%d", i)
		path, text, err := env.attached(ctx, cwd, a, field+".uri")
		if err != nil {
			return "", err
		}
		part, lines, ok := a.Range.cut(text)
		if !ok {
			return "", fault.New(fault.InvalidArgument, "%s cannot be attached: it has no lines %d to %d.", path, a.Range.Start.Line+1, a.Range.End.Line+1).
				With("field", field+".range")
		}
		if len(part) > maxAttachment {
			return "", fault.New(fault.InvalidArgument, "%s cannot be attached: %d bytes are too many; name the file, or attach a part of it.", path, len(part)).
				With("field", field+".uri")
		}
		b.WriteString(convert.File(path, lines, part) + "\n\n")
	}
	return b.String(), nil
}

// attached reads a file that is to be attached.
func (env *Env) attached(ctx context.Context, cwd string, a Attachment, field string) (path, text string, err error) {
	if path, err = env.absolute(cwd, a.URI, field); err != nil {
		return "", "", err
	}
	if a.URI == "" || strings.Contains(a.URI, "://") && path == filepath.Join(cwd, a.URI) {
		return "", "", fault.New(fault.InvalidArgument, "%q is not a path or a file: URI of this machine.", a.URI).With("field", field)
	}
	file, err := env.Workspace.ReadFile(ctx, path)
	switch {
	case fault.Is(err, fault.NotFound), errors.Is(err, fs.ErrNotExist):
		return "", "", fault.New(fault.NotFound, "File not found: %s", path).With("field", field).With("path", path)
	case err != nil:
		return "", "", fault.New(fault.KindOf(err), "%s cannot be attached: %w", path, err).With("field", field).With("path", path)
	case !utf8.Valid(file.Content) || bytes.IndexByte(file.Content, 0) >= 0:
		return "", "", fault.New(fault.InvalidArgument, "%s cannot be attached: it is not text.", path).With("field", field)
	}
	return path, string(file.Content), nil
}

// cut returns the lines of the range, and an attribute that names them. It reports false
// for a range that is not in the text. No range is all of the text.
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
		to-- // nothing comes behind the last line's end
	}
	return strings.Join(lines[from:to], ""), fmt.Sprintf(" lines=\"%d-%d\"", from+1, to), true
}
