package lsp

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"time"

	"go.lsp.dev/protocol"
	"go.uber.org/zap"

	"github.com/xcsh-ls/xcsh-ls/agent/engine"
	"github.com/xcsh-ls/xcsh-ls/agent/tool"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/lsp/textdoc"
)

// workspace is the file access of the agent's tools. A document that is open in the editor is read from
// its unsaved text and changed by the editor, so that the change is on the user's undo stack. Any
// other file is read and written on disk.
type workspace struct {
	s    *server
	disk tool.Workspace
}

var (
	_ tool.Workspace = workspace{}
	_ tool.Saver     = workspace{}
	_ engine.Desk    = workspace{}
)

// reportTimeout is how long an edit waits until the client has reported the previous one.
const reportTimeout = 2 * time.Second

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

// Unsaved implements [engine.Desk].
func (w workspace) Unsaved(ctx context.Context) (paths []string) {
	for _, path := range w.s.documents.paths() {
		if f, err := w.ReadFile(ctx, path); err == nil && f.Open && f.Dirty {
			paths = append(paths, path)
		}
	}
	return paths
}

// lookup returns the open document at path or, with links resolved, at its target, because a file that is
// open in the editor must not be changed on disk through a link.
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

// WriteFile changes an open document through the editor, any other file on disk. It fails with stale if
// the document was opened, closed or changed since it was read.
func (w workspace) WriteFile(ctx context.Context, label, path string, was tool.File, content []byte) (tool.Saved, error) {
	if doc, open := w.lookup(path); open {
		w.s.documents.settled(ctx, doc.Path, reportTimeout)
	}
	if err := ctx.Err(); err != nil {
		return tool.Saved{}, err
	}
	doc, open := w.lookup(path)
	switch {
	case open != was.Open, open && doc.Text != string(was.Content):
		return tool.Saved{}, staleFile(path)
	case open && doc.Text == string(content):
		return tool.Saved{Buffer: true}, nil // clients do not report an edit without a change
	case !open:
		return w.disk.WriteFile(ctx, label, path, was, content)
	case !w.s.client.applyEdit:
		return tool.Saved{}, fault.New(fault.Denied, "%s is open in the editor, which does not support changing it. Close it first.", path).With("path", path)
	}
	disk, _ := w.onDisk(ctx, doc.Path) // a document whose file cannot be read is not saved
	if err := w.applyEdit(ctx, label, doc, string(content)); err != nil {
		return tool.Saved{Buffer: true}, err
	}
	w.s.documents.edited(doc.Path, was, string(content), disk)
	return tool.Saved{Buffer: true}, nil
}

func staleFile(path string) error {
	return fault.New(fault.Stale, "%s was changed since it was read; nothing was written.", path).With("path", path)
}

// applyEdit asks the editor to replace the differing lines of the document.
func (w workspace) applyEdit(ctx context.Context, label string, doc Document, text string) error {
	start, end, inserted := difference(doc.Text, text)
	enc := w.s.documents.encoding()
	edit := textEdit{Range: textdoc.Range{Start: textdoc.PositionAt(doc.Text, start, enc), End: textdoc.PositionAt(doc.Text, end, enc)}, NewText: inserted}
	params := applyEditParams{Label: label, Edit: w.s.client.workspaceEdit(label, doc, edit)}

	// The notification about the change may arrive after the answer.
	pending := w.s.documents.expect(doc, text)
	if pending == nil {
		return staleFile(doc.Path)
	}
	var result struct {
		Applied       bool   `json:"applied"`
		FailureReason string `json:"failureReason"`
	}
	err := w.s.ask(ctx, protocol.MethodWorkspaceApplyEdit, params, &result)
	surpassed := w.s.documents.surpassed(pending)
	switch {
	case err == nil && result.Applied && surpassed:
		// Some clients report success although they dropped the edit, because the user typed first.
		return fault.New(fault.Stale, "%s was changed while the editor was asked to change it; read it again.", doc.Path).With("path", doc.Path)
	case err == nil && result.Applied:
		return nil
	}
	w.s.documents.unexpect(pending)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, errUnanswered):
		return fault.New(fault.IO, "The editor did not answer in time whether it changed %s; read it again.", doc.Path).With("path", doc.Path)
	case err != nil:
		return fault.New(fault.IO, "The editor did not change %s: %v.", doc.Path, err).With("path", doc.Path)
	case surpassed:
		return staleFile(doc.Path)
	}
	w.s.log.Debug("the client refused an edit", zap.String("path", doc.Path), zap.String("reason", result.FailureReason))
	return fault.New(fault.Denied, "The editor refused to change %s. %s", doc.Path, result.FailureReason).With("path", doc.Path)
}

// difference returns the range of old, in bytes, that inserted replaces to make it new. The range has as
// few whole lines as possible, so that the editor keeps marks, folds and cursors elsewhere.
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

// The parameters of workspace/applyEdit.
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
		Range        textdoc.Range `json:"range"`
		NewText      string        `json:"newText"`
		AnnotationID string        `json:"annotationId,omitempty"`
	}
	changeAnnotation struct {
		Label string `json:"label"`
	}
)

// workspaceEdit returns an edit in the form that the client supports: with the document's version, so that
// the client refuses it if its text has changed, and with a label.
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
