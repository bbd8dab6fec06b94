package lsp

import (
	"context"
	"path/filepath"
	"strings"
	"time"

	"go.lsp.dev/protocol"
	"go.uber.org/zap"

	"github.com/xcsh-ls/xcsh-ls/agent/tool"
	"github.com/xcsh-ls/xcsh-ls/session/fault"
)

// workspace is what the agent's tools may do to files: a document that is open in the
// editor is read from its unsaved text and changed by the editor, so that the change is on
// the person's undo stack; any other file is the disk's.
type workspace struct {
	s    *server
	disk tool.Workspace
}

var _ tool.Workspace = workspace{}

// editPatience is how long an edit waits for the client to tell of the one before it.
const editPatience = 2 * time.Second

// ReadFile returns the text of an open document, else the file on disk.
func (w workspace) ReadFile(ctx context.Context, path string) (tool.File, error) {
	doc, open := w.lookup(path)
	if !open {
		return w.disk.ReadFile(ctx, path)
	}
	file := tool.File{Content: []byte(doc.Text), Exists: true, Open: true, Version: doc.Version}
	saved, err := w.disk.ReadFile(ctx, path)
	file.Dirty = err != nil || string(saved.Content) != doc.Text
	return file, nil
}

// lookup returns the open document at path, or at the path that it leads to: a document that
// is open under its own name must not be changed behind the editor's back through a link.
func (w workspace) lookup(path string) (Document, bool) {
	if doc, open := w.s.documents.Lookup(path); open {
		return doc, true
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil || real == path {
		return Document{}, false
	}
	return w.s.documents.Lookup(real)
}

// WriteFile changes an open document through the editor, any other file on disk. A document
// that was opened, closed or changed since it was read is kind stale.
func (w workspace) WriteFile(ctx context.Context, label, path string, was tool.File, content []byte) (tool.Saved, error) {
	if doc, open := w.lookup(path); open {
		w.s.documents.settled(ctx, doc.Path, editPatience)
	}
	if err := ctx.Err(); err != nil {
		return tool.Saved{}, err
	}
	doc, open := w.lookup(path)
	switch {
	case open != was.Open, open && doc.Text != string(was.Content):
		return tool.Saved{}, staleFile(path)
	case open && doc.Text == string(content):
		return tool.Saved{Buffer: true}, nil // of no change no client tells
	case !open:
		return w.disk.WriteFile(ctx, label, path, was, content)
	case !w.s.client.applyEdit:
		return tool.Saved{}, fault.New(fault.Denied, "%s is open in the editor, which cannot be asked to change it; close it first.", path).With("path", path)
	}
	return tool.Saved{Buffer: true}, w.applyEdit(ctx, label, doc, string(content))
}

func staleFile(path string) error {
	return fault.New(fault.Stale, "%s was changed since it was read; nothing was written.", path).With("path", path)
}

// applyEdit lets the editor replace what differs between the document and text.
func (w workspace) applyEdit(ctx context.Context, label string, doc Document, text string) error {
	start, end, inserted := difference(doc.Text, text)
	enc := w.s.documents.encoding()
	edit := textEdit{Range: textRange{positionAt(doc.Text, start, enc), positionAt(doc.Text, end, enc)}, NewText: inserted}
	params := applyEditParams{Label: label, Edit: w.s.client.workspaceEdit(label, doc, edit)}

	// The editor tells of its change in a notification that may come after the answer.
	coming := w.s.documents.expect(doc, text)
	if coming == nil {
		return staleFile(doc.Path)
	}
	var result struct {
		Applied       bool   `json:"applied"`
		FailureReason string `json:"failureReason"`
	}
	err := w.s.ask(ctx, protocol.MethodWorkspaceApplyEdit, params, &result)
	surpassed := w.s.documents.surpassed(coming)
	switch {
	case err == nil && result.Applied && surpassed:
		// Some clients answer that they made an edit which they dropped, because the person
		// was faster.
		return fault.New(fault.Stale, "%s was changed while the editor was asked to change it; read it again.", doc.Path).With("path", doc.Path)
	case err == nil && result.Applied:
		return nil
	}
	w.s.documents.unexpect(coming)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return fault.New(fault.IO, "The editor did not change %s: %v.", doc.Path, err).With("path", doc.Path)
	case surpassed:
		return staleFile(doc.Path)
	}
	w.s.log.Debug("the client refused an edit", zap.String("path", doc.Path), zap.String("reason", result.FailureReason))
	return fault.New(fault.Denied, "The editor refused to change %s. %s", doc.Path, result.FailureReason).With("path", doc.Path)
}

// difference returns the one stretch of old, as byte offsets, that inserted replaces to make
// it new: whole lines, and as few as it takes, so that the editor keeps its marks, folds and
// cursors elsewhere.
func difference(old, new string) (start, end int, inserted string) {
	was, is := strings.SplitAfter(old, "\n"), strings.SplitAfter(new, "\n")
	first := 0
	for first < len(was) && first < len(is) && was[first] == is[first] {
		start += len(was[first])
		first++
	}
	tail := 0
	for i, j := len(was)-1, len(is)-1; i >= first && j >= first && was[i] == is[j]; i, j = i-1, j-1 {
		tail += len(was[i])
	}
	return start, len(old) - tail, new[start : len(new)-tail]
}

// The parameters of workspace/applyEdit, as far as they are used.
type (
	applyEditParams struct {
		Label string        `json:"label"`
		Edit  workspaceEdit `json:"edit"`
	}
	workspaceEdit struct {
		Changes           map[string][]textEdit       `json:"changes,omitempty"`
		DocumentChanges   []documentEdit              `json:"documentChanges,omitempty"`
		ChangeAnnotations map[string]changeAnnotation `json:"changeAnnotations,omitempty"`
	}
	documentEdit struct {
		TextDocument struct {
			URI     string `json:"uri"`
			Version int64  `json:"version"`
		} `json:"textDocument"`
		Edits []textEdit `json:"edits"`
	}
	textEdit struct {
		Range        textRange `json:"range"`
		NewText      string    `json:"newText"`
		AnnotationID string    `json:"annotationId,omitempty"`
	}
	changeAnnotation struct {
		Label string `json:"label"`
	}
)

// workspaceEdit words an edit as the client understands it: with the version it is for, so
// that a client whose text moved on refuses it, and with a name, where it can.
func (c clientInfo) workspaceEdit(label string, doc Document, edit textEdit) workspaceEdit {
	if !c.documentChanges {
		return workspaceEdit{Changes: map[string][]textEdit{doc.URI: {edit}}}
	}
	var w workspaceEdit
	if c.changeAnnotations {
		edit.AnnotationID = "xcsh"
		w.ChangeAnnotations = map[string]changeAnnotation{"xcsh": {Label: label}}
	}
	d := documentEdit{Edits: []textEdit{edit}}
	d.TextDocument.URI, d.TextDocument.Version = doc.URI, doc.Version
	w.DocumentChanges = []documentEdit{d}
	return w
}
