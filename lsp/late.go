package lsp

import (
	"context"
	"time"

	"go.uber.org/zap"

	"github.com/xcsh-ls/xcsh-ls/agent/change"
	"github.com/xcsh-ls/xcsh-ls/agent/change/merge"
	"github.com/xcsh-ls/xcsh-ls/commands"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

const (
	// lateLimit is how long an edit that was given up is still expected. An editor that hangs for longer has no plugin of ours running.
	lateLimit = time.Minute

	// lateTries is how often a late edit is undone again because the user typed meanwhile.
	lateTries = 5
)

// lateEdit is an edit that was given up, because the client has not reported it.
type lateEdit struct {
	text  string // that the document gets if the client makes it
	clock Clock
	undo  func() // must not block
	begun bool   // a report has come; guarded by the lock of the documents
}

// Withdraw implements [change.Withdrawer].
func (e editorDocs) Withdraw(label string, edits []change.DocumentEdit) {
	for _, edit := range edits {
		doc, open := e.lookup(edit.Path)
		if !open || sameLines(edit.Was, edit.Text) {
			continue
		}
		undo := func() {
			e.s.background("undoing a late edit", func(ctx context.Context) { e.undoLate(ctx, label, edit) })
		}
		e.s.documents.expectLate(doc.Path, edit.Was, &lateEdit{text: edit.Text, clock: e.s.opts.Clock, undo: undo})
	}
}

// expectLate calls l.undo when the client makes an edit of a document that has the text was. A document with another text is not waited
// for: its user is typing, and the edit is for a version that it does not have any more.
func (d *Documents) expectLate(path, was string, l *lateEdit) {
	d.mu.Lock()
	defer d.mu.Unlock()
	doc, open := d.byPath[path]
	switch {
	case !open:
	case sameLines(doc.Text, l.text): // reported since it was given up
		l.undo()
	case sameLines(doc.Text, was):
		d.late[path] = l
		d.forgetLater(path, l, lateLimit)
	}
}

// forgetLater ends the wait for a late edit after a time.
func (d *Documents) forgetLater(path string, l *lateEdit, after time.Duration) {
	l.clock.AfterFunc(after, func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		if d.late[path] == l {
			delete(d.late, path)
		}
	})
}

// lateLocked looks at a report about a document. The edit may be reported in several steps; whatever else is the user's.
func (d *Documents) lateLocked(path string, doc Document, open bool) {
	l := d.late[path]
	switch {
	case l == nil:
	case !open:
		delete(d.late, path)
	case sameLines(doc.Text, l.text):
		delete(d.late, path)
		l.undo()
	case !l.begun:
		l.begun = true
		d.forgetLater(path, l, reportQuiet)
	}
}

// undoLate takes a late edit back. What the user typed since stays.
func (e editorDocs) undoLate(ctx context.Context, label string, edit change.DocumentEdit) {
	var err error
	for range lateTries {
		doc, open := e.Document(edit.Path)
		if !open {
			return
		}
		text := edit.Was
		if !sameLines(doc.Text, edit.Text) {
			merged, _, ok := merge.Merge([]byte(edit.Text), []byte(doc.Text), []byte(edit.Was))
			if !ok {
				break
			}
			text = string(merged)
		}
		err = e.Edit(ctx, label, []change.DocumentEdit{{Path: edit.Path, Version: doc.Version, Was: doc.Text, Text: text}})
		if err == nil || ctx.Err() != nil {
			return
		}
		if !fault.Is(err, fault.Stale) {
			break
		}
	}
	e.s.log.Warn("a late edit could not be undone", zap.String("path", edit.Path), zap.Error(err))
	e.s.showMessage(commands.LevelWarning, "The editor changed "+fault.OneLine(edit.Path)+" for a rewind that was given up before, and the change "+
		"could not be undone. Undo it in the editor.")
}
