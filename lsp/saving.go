package lsp

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"go.uber.org/zap"

	"github.com/xcsh-ls/xcsh-ls/agent/tool"
	"github.com/xcsh-ls/xcsh-ls/commands"
	"github.com/xcsh-ls/xcsh-ls/lsp/conn"
)

// The values of [Settings.SaveEdits].
const (
	saveAuto = "auto" // save the agent's edits; ask if the user has changed the document, too
	saveAsk  = "ask"  // ask about each
	saveOff  = "off"  // leave it to the user
)

// agentEdit is a document after the agent's last edit.
type agentEdit struct {
	text     string
	disk     string // the file at that time
	alone    bool   // the document had no other unsaved changes
	declined string // the text that the user did not want to have saved, "" if none
}

// edited records an edit of the agent. was is the document before it, and disk the file then.
func (d *Documents) edited(path string, was tool.File, text, disk string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	before, again := d.edits[path]
	alone := !was.Dirty || again && before.alone && sameLines(before.text, string(was.Content))
	d.edits[path] = agentEdit{text: text, disk: disk, alone: alone}
}

// edit returns the last edit of the agent in an open document.
func (d *Documents) edit(path string) (agentEdit, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	e, ok := d.edits[path]
	return e, ok
}

// decline records that the user did not want to have a text saved, so that the question is not repeated.
func (d *Documents) decline(doc Document) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if e, ok := d.edits[doc.Path]; ok {
		e.declined = doc.Text
		d.edits[doc.Path] = e
	}
}

// SaveEdits implements [tool.Saver]. Only one call at a time saves, so that parallel tools ask once.
func (w workspace) SaveEdits(ctx context.Context, dir string, ask bool) (unsaved []string, err error) {
	select {
	case w.s.saving <- struct{}{}:
		defer func() { <-w.s.saving }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	supported, policy := w.s.config.saving()
	if supported && policy != saveOff {
		own, mixed := w.agentEdits(ctx, policy == saveAsk)
		for _, doc := range own {
			w.save(ctx, doc)
		}
		if ask && len(mixed) > 0 {
			if err := w.saveMixed(ctx, mixed); err != nil {
				return nil, err
			}
		}
	}
	for _, path := range w.s.documents.paths() {
		rel, err := filepath.Rel(dir, path)
		if err == nil && filepath.IsLocal(rel) && w.unsaved(ctx, path) {
			unsaved = append(unsaved, path)
		}
	}
	return unsaved, ctx.Err()
}

// agentEdits returns the unsaved documents that the agent has changed, those with changes of the user apart. With askAll, all
// count as such.
func (w workspace) agentEdits(ctx context.Context, askAll bool) (own, mixed []Document) {
	for _, path := range w.s.documents.paths() {
		if _, ok := w.s.documents.edit(path); !ok {
			continue
		}
		w.s.documents.settled(ctx, path, reportTimeout)
		e, _ := w.s.documents.edit(path)
		doc, open := w.s.documents.Lookup(path)
		disk, err := w.onDisk(ctx, path)
		switch {
		case !open || err != nil || sameText(disk, doc.Text):
		case disk != e.disk: // another program has changed the file, and the editor would overwrite that
		case e.alone && !askAll && sameLines(e.text, doc.Text):
			own = append(own, doc)
		case e.declined != doc.Text:
			mixed = append(mixed, doc)
		}
	}
	return own, mixed
}

// unsaved reports whether an open document differs from the file on disk.
func (w workspace) unsaved(ctx context.Context, path string) bool {
	doc, open := w.s.documents.Lookup(path)
	return open && w.differs(ctx, doc)
}

// differs is unsaved for a document. It notes one that is on disk.
func (w workspace) differs(ctx context.Context, doc Document) bool {
	disk, err := w.onDisk(ctx, doc.Path)
	if err != nil || !sameText(disk, doc.Text) {
		return true
	}
	w.s.documents.setClean(doc)
	return false
}

// onDisk returns the content of a file, "" if there is none.
func (w workspace) onDisk(ctx context.Context, path string) (string, error) {
	f, err := w.disk.ReadFile(ctx, path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return string(f.Content), err
}

// sameText reports whether a file and a document are equal except for line ends and a byte order mark, which editors do not
// report as they are on disk.
func sameText(file, document string) bool {
	const mark = "\ufeff"
	return sameLines(strings.TrimPrefix(file, mark), strings.TrimPrefix(document, mark))
}

// saveMixed asks the user about documents with unsaved changes of both.
func (w workspace) saveMixed(ctx context.Context, docs []Document) error {
	i, err := clientUI{w.s}.Ask(ctx, commands.Question{Text: saveQuestion(docs), Choices: []string{"Save", "Don't Save"}})
	if ctx.Err() != nil {
		return ctx.Err()
	}
	for _, doc := range docs {
		if err == nil && i == 0 {
			w.save(ctx, doc)
		} else {
			w.s.documents.decline(doc)
		}
	}
	return nil
}

// maxAsked bounds the files that the question names.
const maxAsked = 5

func saveQuestion(docs []Document) string {
	var names []string
	for _, doc := range docs[:min(len(docs), maxAsked)] {
		names = append(names, conn.Printable(filepath.Base(doc.Path)))
	}
	if len(docs) == 1 {
		return fmt.Sprintf("Save %s before the agent's command runs? It has unsaved changes.", names[0])
	}
	more := ""
	if len(docs) > maxAsked {
		more = ", …"
	}
	return fmt.Sprintf("Save %d files before the agent's command runs? They have unsaved changes: %s%s.", len(docs), strings.Join(names, ", "), more)
}

// save asks the client to save a document as it is known here. A document that it does not save remains unsaved, and is
// reported as such. answered is false if the client did not answer at all.
func (w workspace) save(ctx context.Context, doc Document) (answered bool) {
	raw, err := conn.EncodeJSON(SaveParams{URI: doc.URI, Version: doc.Version})
	if err != nil {
		return true
	}
	w.s.documents.askedToSave(doc.Path, 1)
	var result *SaveResult
	err = w.s.ask(ctx, MethodSave, raw, &result)
	if err == nil && result != nil && result.Saved {
		return true
	}
	w.s.documents.askedToSave(doc.Path, -1)
	reason := ""
	if result != nil {
		reason = conn.Printable(result.FailureReason)
	}
	w.s.log.Info("the client did not save a document", zap.String("path", doc.Path), zap.String("reason", reason), zap.Error(err))
	return ctx.Err() == nil && !errors.Is(err, errUnanswered)
}
