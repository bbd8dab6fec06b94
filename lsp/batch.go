package lsp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"

	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/protocol"
	"go.uber.org/zap"

	"github.com/xcsh-ls/xcsh-ls/agent/change"
	"github.com/xcsh-ls/xcsh-ls/agent/tool"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/lsp/conn"
)

// Edit changes all documents with one workspace/applyEdit, and waits until the client has reported the new texts. The reports decide, not
// the response: some clients report success for an edit that they dropped, and a response may be lost.
func (e editorDocs) Edit(ctx context.Context, label string, edits []change.DocumentEdit) error {
	docs, err := e.replacements(ctx, edits)
	if err != nil || len(docs) == 0 {
		return err
	}
	params := applyEditParams{Label: label, Edit: e.batchEdit(label, docs)}
	before := e.before(ctx, docs)
	r, stale := e.s.documents.report(docs)
	if r == nil {
		return staleDocument(stale)
	}
	defer r.end()
	answer := e.askToEdit(ctx, params)
	if err := e.outcome(ctx, r, answer); err != nil {
		e.s.log.Info("the client did not change documents", zap.Int("documents", len(docs)), zap.Error(err))
		return err
	}
	for i, d := range docs {
		e.s.documents.edited(d.doc.Path, before[i].file, d.text, before[i].disk)
	}
	return nil
}

// replacements checks the edits and returns those that change a text.
func (e editorDocs) replacements(ctx context.Context, edits []change.DocumentEdit) (docs []replaced, err error) {
	seen := map[string]bool{}
	for _, edit := range edits {
		if doc, open := e.lookup(edit.Path); open {
			e.s.documents.settled(ctx, doc.Path, reportTimeout)
		}
		if ctx.Err() != nil {
			return nil, fault.New(fault.Cancelled, "Changing %s in the editor was cancelled.", edit.Path).With("path", edit.Path)
		}
		doc, open := e.lookup(edit.Path)
		switch {
		case !open || doc.Text != edit.Was || seen[doc.Path]:
			return nil, staleDocument(edit.Path)
		case edit.Text == edit.Was:
			continue
		case !e.s.client.applyEdit:
			return nil, fault.New(fault.Denied, "%s is open in the editor, which does not support changing it. Close it first.", edit.Path).With("path", edit.Path)
		case !utf8.ValidString(edit.Text):
			return nil, fault.New(fault.Denied, "%s is open in the editor, and its new content is not text. Close it first.", edit.Path).With("path", edit.Path)
		}
		seen[doc.Path] = true
		docs = append(docs, replaced{path: edit.Path, doc: doc, text: edit.Text})
	}
	return docs, nil
}

func staleDocument(path string) error {
	return fault.New(fault.Stale, "%s was changed or closed in the editor in the meantime. Try again.", path).With("path", path)
}

// batchEdit returns the edit of several documents in the form that the client supports.
func (e editorDocs) batchEdit(label string, docs []replaced) workspaceEdit {
	enc, c := e.s.documents.encoding(), e.s.client
	var w workspaceEdit
	if !c.documentChanges {
		w.Changes = map[string][]textEdit{}
	} else if c.changeAnnotations {
		w.ChangeAnnotations = map[string]changeAnnotation{"xcsh": {Label: label}}
	}
	for _, d := range docs {
		edits := lineEdits(d.doc.Text, d.text, enc)
		if w.Changes != nil {
			w.Changes[d.doc.URI] = edits
			continue
		}
		for i := range edits {
			if c.changeAnnotations {
				edits[i].AnnotationID = "xcsh"
			}
		}
		one := documentEdit{Edits: edits}
		one.TextDocument.URI, one.TextDocument.Version = d.doc.URI, d.doc.Version
		w.DocumentChanges = append(w.DocumentChanges, one)
	}
	return w
}

// fileBefore is a document before an edit, for [Documents.edited].
type fileBefore struct {
	file tool.File
	disk string
}

func (e editorDocs) before(ctx context.Context, docs []replaced) []fileBefore {
	files := make([]fileBefore, len(docs))
	for i, d := range docs {
		files[i].disk, _ = e.onDisk(ctx, d.doc.Path) // a document whose file can't be read is not saved
		files[i].file = tool.File{Content: []byte(d.doc.Text), Exists: true, Open: true, Dirty: e.dirty(ctx, d.doc)}
	}
	return files
}

// editAnswer is the client's answer to workspace/applyEdit.
type editAnswer struct {
	applied bool
	refused string // why it was not applied; "" if unknown
	err     error  // the result of the edit is unknown
}

// askToEdit sends the edit. An invalid response counts as an unknown result.
func (e editorDocs) askToEdit(ctx context.Context, params applyEditParams) editAnswer {
	var raw json.RawMessage
	err := e.s.ask(ctx, protocol.MethodWorkspaceApplyEdit, params, &raw)
	var wire *jsonrpc2.Error
	switch {
	case ctx.Err() != nil:
		return editAnswer{err: context.Cause(ctx)}
	case errors.As(err, &wire):
		return editAnswer{refused: conn.Printable(wire.Message)}
	case err != nil:
		return editAnswer{err: err}
	}
	var result *struct {
		Applied       *bool           `json:"applied"`
		FailureReason json.RawMessage `json:"failureReason"`
	}
	if err := json.Unmarshal(raw, &result); err != nil && len(raw) > 0 {
		return editAnswer{err: err}
	}
	if result == nil || result.Applied == nil {
		return editAnswer{}
	}
	return editAnswer{applied: *result.Applied, refused: conn.Printable(valueAt[string](result.FailureReason))}
}

// outcome waits for the reports, and returns nil if all documents have their texts.
func (e editorDocs) outcome(ctx context.Context, r *reports, a editAnswer) error {
	limit := reportLimit
	if a.err == nil && !a.applied {
		limit = reportQuiet // it may have changed some of them anyway
	}
	s := r.wait(ctx, e.s.opts.Clock, limit)
	switch {
	case s.all:
		return nil
	case s.other != "":
		return staleDocument(s.other)
	case a.err == nil && !a.applied && !s.some && ctx.Err() == nil:
		err := fault.New(fault.Denied, "The editor refused to change %s. %s", s.left, a.refused)
		return err.With("path", s.left)
	}
	err := fault.New(fault.IO, "%w: %s.", change.ErrUnknown, s.left)
	err.Message = fmt.Sprintf("The editor did not report in time whether it changed %s.", fault.OneLine(s.left))
	return err.With("path", s.left)
}
