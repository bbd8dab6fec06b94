package acp

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"go.uber.org/zap"

	"github.com/xcsh-ls/xcsh-ls/agent/tool"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

// maxAsked bounds the files that are requested from the client, in bytes: no editor has larger files
// with unsaved changes worth the transfer.
const maxAsked = 8 << 20

// maxShownFile bounds the old and new text of a change that is shown completely, in bytes.
const maxShownFile = 256 << 10

// clientFiles is the workspace of the agent's tools. If the client supports it, text files are read and
// written through the client, so that unsaved changes are seen and kept. All other access goes to disk.
type clientFiles struct {
	c    *conversation
	disk tool.Workspace
}

var _ tool.Workspace = clientFiles{}

// ReadFile returns the text as the client has it. A file that the client does not return is read from disk.
//
// The client is not asked for a missing file that is about to be created: it would report each new file as an error. So a new
// buffer that the user has not saved yet is replaced by a write to its path, which the editor can undo.
func (f clientFiles) ReadFile(ctx context.Context, path string) (tool.File, error) {
	saved, err := f.disk.ReadFile(ctx, path)
	missing := errors.Is(err, fs.ErrNotExist) || fault.Is(err, fault.NotFound)
	if !f.c.s.client.readFile || missing && tool.Creating(ctx) || ctx.Err() != nil || err != nil && !missing || err == nil && !isText(saved.Content) {
		return saved, err
	}
	text, asked := f.read(ctx, path)
	switch {
	case ctx.Err() != nil:
		return tool.File{}, ctx.Err()
	case missing && (asked != nil || text == ""): // some clients return an empty text for a missing file
		return saved, err
	case asked != nil:
		f.c.log.Debug("the client did not return a file", zap.String("path", path), zap.Error(asked))
		return saved, nil
	case err == nil && sameText(text, string(saved.Content)):
		saved.Open = true // return the content on disk, with its line endings
		return saved, nil
	}
	return tool.File{Content: []byte(text), Exists: true, Open: true, Dirty: true}, nil
}

func isText(content []byte) bool {
	return len(content) <= maxAsked && utf8.Valid(content) && bytes.IndexByte(content, 0) < 0
}

// sameText reports whether a client's text equals the file's. Some clients change the line endings or
// omit the last one.
func sameText(client, disk string) bool {
	if client == disk {
		return true
	}
	plain := func(s string) string {
		return strings.TrimSuffix(strings.ReplaceAll(strings.TrimPrefix(s, "\uFEFF"), "\r\n", "\n"), "\n")
	}
	return plain(client) == plain(disk)
}

// read requests a file from the client.
func (f clientFiles) read(ctx context.Context, path string) (string, error) {
	var r readFileResult
	err := f.c.s.conn.call(ctx, methodReadFile, readFileParams{SessionID: f.c.id, Path: path}, &r)
	return r.Content, err
}

// WriteFile writes a file through the client if the client returned it, or if the file is new and in the
// folder. Any other file is written to disk.
func (f clientFiles) WriteFile(ctx context.Context, label, path string, was tool.File, content []byte) (tool.Saved, error) {
	saved, err := f.write(ctx, label, path, was, content)
	if err == nil {
		f.c.shown.wrote(writtenFile{path: path, was: was, now: content})
	}
	return saved, err
}

func (f clientFiles) write(ctx context.Context, label, path string, was tool.File, content []byte) (tool.Saved, error) {
	client := f.c.s.client
	if was.Dirty && !client.writeFile {
		return tool.Saved{}, fault.New(fault.Denied, "%s has unsaved changes in the editor, which does not support writing files. Save it first.", path).With("path", path)
	}
	if !client.writeFile || !utf8.Valid(content) || !was.Open && (was.Exists || !below(f.c.cwd, path)) {
		return f.disk.WriteFile(ctx, label, path, was, content)
	}
	if err := f.unchanged(ctx, path, was); err != nil {
		return tool.Saved{}, err
	}
	var none struct{}
	err := f.c.s.conn.call(ctx, methodWriteFile, writeFileParams{SessionID: f.c.id, Path: path, Content: string(content)}, &none)
	switch {
	case err == nil:
		return tool.Saved{}, nil
	case ctx.Err() != nil:
		return tool.Saved{}, ctx.Err()
	case errors.Is(err, errGone):
		return tool.Saved{}, fault.New(fault.Cancelled, "The editor disconnected; %s was not written.", path)
	case !was.Exists:
		f.c.log.Info("the client did not create a file, so it is created on disk", zap.String("path", path), zap.Error(err))
		return f.disk.WriteFile(ctx, label, path, was, content)
	}
	return tool.Saved{}, fault.New(fault.IO, "The editor did not change %s: %s", path, err.Error()).With("path", path)
}

// unchanged returns a Stale error if the file was changed after it was read.
func (f clientFiles) unchanged(ctx context.Context, path string, was tool.File) error {
	files := tool.Workspace(f)
	if !was.Exists {
		files = f.disk
	}
	now, err := files.ReadFile(ctx, path)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case !was.Exists && err != nil:
		return nil
	case err == nil && was.Exists && bytes.Equal(now.Content, was.Content):
		return nil
	}
	return fault.New(fault.Stale, "%s was changed since it was read; nothing was written.", path).With("path", path)
}

// below reports whether path is in the directory dir.
func below(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}

// writtenFile is a file before and after a tool wrote it.
type writtenFile struct {
	path string
	was  tool.File
	now  []byte
}

// content returns the change as content of the protocol. It returns false if the change is too large to
// be shown completely, or not text.
func (w writtenFile) content() ([]toolContent, bool) {
	if len(w.was.Content)+len(w.now) > maxShownFile || !utf8.Valid(w.was.Content) || !utf8.Valid(w.now) {
		return nil, false
	}
	d := diff(w.path, nil, string(w.now))
	if w.was.Exists {
		old := string(w.was.Content)
		d.OldText = &old
	}
	return []toolContent{d}, true
}
