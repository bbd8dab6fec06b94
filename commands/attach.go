package commands

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/xcsh-ls/xcsh-ls/agent/convert"
	"github.com/xcsh-ls/xcsh-ls/agent/imaging"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/agent/tool"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

// maxAttachment is the longest text of an attachment, in bytes. A model can read the rest of a file
// with its tools.
const maxAttachment = 256 << 10

// maxImage is the largest image file that is attached, in bytes. It is scaled before it is sent.
const maxImage = 20 << 20

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
	pdf       PDFReader // nil if PDF files are not supported
}

// PDFReader returns the text of a PDF file; name is that of the file in messages. ok is false for another file.
type PDFReader = func(ctx context.Context, cwd, name string, content []byte) (text string, ok bool, err error)

func newAttacher(env *Env) attacher {
	return attacher{workspace: env.Workspace, paths: env.resolver(), pdf: env.PDF}
}

// attachedFiles are files in the form for a model.
type attachedFiles struct {
	text   string // to put before a prompt
	images []provider.Block
}

// Attach reads files to send with a prompt in the directory cwd. It returns the text to put before the
// prompt, and the images.
func Attach(ctx context.Context, env *Env, cwd string, attachments []Attachment) (text string, images []provider.Block, err error) {
	all, err := newAttacher(env).all(ctx, cwd, attachments)
	return all.text, all.images, err
}

// all returns the attached files. Unsaved buffers take precedence over files.
func (at attacher) all(ctx context.Context, cwd string, attachments []Attachment) (attachedFiles, error) {
	if len(attachments) > 0 && at.workspace == nil {
		return attachedFiles{}, fault.New(fault.InvalidArgument, "Attachments are not supported here.").With("field", "attachments")
	}
	var text strings.Builder
	var images []provider.Block
	for i, a := range attachments {
		field := fmt.Sprintf("attachments.%d", i)
		path, content, err := at.read(ctx, cwd, a, field+".uri")
		if err != nil {
			return attachedFiles{}, err
		}
		if a.Range == nil && at.pdf != nil {
			if content, err = at.pdfText(ctx, cwd, path, content); err != nil {
				return attachedFiles{}, fault.New(fault.KindOf(err), "Cannot attach %s: %w", path, err).With("field", field+".uri")
			}
		}
		shown, image, err := a.shown(path, content, field)
		if err != nil {
			return attachedFiles{}, err
		}
		text.WriteString(shown + "\n\n")
		images = append(images, image...)
	}
	return attachedFiles{text.String(), images}, nil
}

// pdfText returns the text of a PDF file, and the content of any other file unchanged.
func (at attacher) pdfText(ctx context.Context, cwd, path string, content []byte) ([]byte, error) {
	text, isPDF, err := at.pdf(ctx, cwd, path, content)
	if !isPDF {
		return content, nil
	}
	return []byte(text), err
}

// shown returns a file in the form for a model. Of an image, the text is only its name.
func (a Attachment) shown(path string, content []byte, field string) (text string, image []provider.Block, err error) {
	if mime := imaging.TypeOf(content); mime != "" && a.Range == nil {
		b, err := imageBlock(content, mime)
		if err != nil {
			return "", nil, fault.New(fault.InvalidArgument, "Cannot attach %s: %w.", path, err).With("field", field+".uri")
		}
		return convert.File(path, " type="+strconv.Quote(mime), ""), []provider.Block{b}, nil
	}
	if !utf8.Valid(content) || bytes.IndexByte(content, 0) >= 0 {
		return "", nil, fault.New(fault.InvalidArgument, "Cannot attach %s: it is neither text nor an image.", path).With("field", field+".uri")
	}
	part, lines, ok := a.Range.cut(string(content))
	if !ok {
		return "", nil, fault.New(fault.InvalidArgument, "Cannot attach %s: it has no lines %d to %d.", path, a.Range.Start.Line+1, a.Range.End.Line+1).
			With("field", field+".range")
	}
	if len(part) > maxAttachment {
		return "", nil, fault.New(fault.InvalidArgument, "Cannot attach %s: %d bytes are too many. Mention the file by name, or attach a part of it.", path, len(part)).
			With("field", field+".uri")
	}
	return convert.File(path, lines, part), nil, nil
}

func imageBlock(content []byte, mime string) (provider.Block, error) {
	if len(content) > maxImage {
		return provider.Block{}, fmt.Errorf("it is an image of more than %d MB", maxImage>>20)
	}
	return imaging.Scaled(provider.Block{Type: provider.TypeImage, Data: base64.StdEncoding.EncodeToString(content), MimeType: mime})
}

// read reads a file to attach.
func (at attacher) read(ctx context.Context, cwd string, a Attachment, field string) (path string, content []byte, err error) {
	if path, err = at.paths.absolute(cwd, a.URI, field); err != nil {
		return "", nil, err
	}
	if a.URI == "" || strings.Contains(a.URI, "://") && path == filepath.Join(cwd, a.URI) {
		return "", nil, fault.New(fault.InvalidArgument, "%q is not a path or a file: URI on this machine.", a.URI).With("field", field)
	}
	file, err := at.workspace.ReadFile(ctx, path)
	switch {
	case fault.Is(err, fault.NotFound), errors.Is(err, fs.ErrNotExist):
		return "", nil, fault.New(fault.NotFound, "File not found: %s", path).With("field", field).With("path", path)
	case err != nil:
		return "", nil, fault.New(fault.KindOf(err), "Cannot attach %s: %w", path, err).With("field", field).With("path", path)
	}
	return path, file.Content, nil
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
