package acp

import (
	"context"
	"errors"
	"slices"
	"unicode/utf8"

	"go.uber.org/zap"

	"github.com/xcsh-ls/xcsh-ls/agent/change"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

// clientDocuments are the documents of the client for a rewind. The protocol does not report open documents, so a document is open if
// its text differs from the file, that is, if it has unsaved changes. Other files are changed on disk, and the client reloads them.
type clientDocuments struct{ clientFiles }

var _ change.Documents = clientDocuments{}

// Document returns a document with unsaved changes. It sends a request to the client.
func (d clientDocuments) Document(path string) (change.Document, bool) {
	file, err := d.ReadFile(d.c.s.ctx, path)
	if err != nil || !file.Dirty {
		return change.Document{}, false
	}
	return change.Document{Path: path, Text: string(file.Content), Dirty: true}, true
}

// Edit writes the texts one by one, because the protocol can't edit several files at once. If a write fails, Edit restores the texts that
// it has already written.
func (d clientDocuments) Edit(ctx context.Context, _ string, edits []change.DocumentEdit) error {
	edits = slices.DeleteFunc(slices.Clone(edits), func(e change.DocumentEdit) bool { return e.Text == e.Was })
	for _, e := range edits {
		switch now, open := d.Document(e.Path); {
		case !open || now.Text != e.Was:
			return fault.New(fault.Stale, "%s was changed or closed in the editor in the meantime. Try again.", e.Path).With("path", e.Path)
		case !d.c.s.client.writeFile:
			return fault.New(fault.Denied, "%s has unsaved changes, and the editor does not support writing files. Save it first.", e.Path).With("path", e.Path)
		case !utf8.ValidString(e.Text):
			return fault.New(fault.Denied, "%s has unsaved changes in the editor, and its new content is not text. Save it first.", e.Path).With("path", e.Path)
		}
	}
	if err := ctx.Err(); err != nil {
		return fault.New(fault.Cancelled, "Changing files in the editor was cancelled.")
	}
	// A write is not cancelled, because its result would be unknown. It has a time limit.
	ctx = context.WithoutCancel(ctx)
	for i, e := range edits {
		why := d.put(ctx, e.Path, e.Text)
		if why == nil {
			continue
		}
		d.c.log.Info("the client did not change a file", zap.String("path", e.Path), zap.Error(why))
		for _, back := range slices.Backward(edits[:i+1]) {
			if !d.has(ctx, back.Path, back.Was) && d.put(ctx, back.Path, back.Was) != nil {
				return unknownText(back.Path)
			}
		}
		return fault.New(fault.Denied, "The editor did not change %s: %s", e.Path, fault.OneLine(why.Error())).With("path", e.Path)
	}
	return nil
}

// errNotWritten is returned if the client reports a write as done, but has another text.
var errNotWritten = errors.New("it has another text")

// put writes a text, and checks that the client has it.
func (d clientDocuments) put(ctx context.Context, path, text string) error {
	var none struct{}
	err := d.c.s.conn.call(ctx, methodWriteFile, writeFileParams{SessionID: d.c.id, Path: path, Content: text}, &none)
	if err != nil {
		return err
	}
	if !d.has(ctx, path, text) {
		return errNotWritten
	}
	return nil
}

// has reports whether a file has a text in the client.
func (d clientDocuments) has(ctx context.Context, path, text string) bool {
	now, err := d.read(ctx, path)
	return err == nil && sameText(now, text)
}

func unknownText(path string) error {
	err := fault.New(fault.IO, "%w: %s", change.ErrUnknown, path)
	err.Message = fault.New(fault.IO, "The editor did not report whether it changed %s.", path).Message
	return err.With("path", path)
}

// Open fails: the protocol has no such request.
func (clientDocuments) Open(_ context.Context, path string) (change.Document, error) {
	return change.Document{}, fault.New(fault.Denied, "The editor does not support opening %s.", path).With("path", path)
}

// Save returns the files that are still unsaved. Most clients save the files that they write.
func (d clientDocuments) Save(ctx context.Context, paths []string) (unsaved []string) {
	for _, path := range paths {
		if file, err := d.ReadFile(ctx, path); ctx.Err() != nil || err == nil && file.Dirty {
			unsaved = append(unsaved, path)
		}
	}
	return unsaved
}
