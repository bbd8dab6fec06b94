package rewind

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/agent/change"
)

// errClosed is returned for a document that is not open any more.
var errClosed = errors.New("the document is not open")

// edits returns the edits from the old to the new texts of the journal's documents, or the reverse if back is true. Documents that
// already have the wanted text need no edit.
func (r *Runner) edits(j *journal, back bool) (edits []change.DocumentEdit, err error) {
	for i := range j.Steps {
		s := &j.Steps[i]
		if !s.Document {
			continue
		}
		from, to := s.Old, s.New
		if back {
			from, to = to, from
		}
		doc, open := r.Documents.Document(s.Path)
		if !open {
			return nil, at(errClosed, s)
		}
		switch {
		case r.hasText(doc, to):
		case r.hasText(doc, from):
			text, err := r.Contents.Get(to.SHA256)
			if err != nil {
				return nil, at(err, s)
			}
			edits = append(edits, change.DocumentEdit{Path: s.Path, Version: doc.Version, Was: doc.Text, Text: string(text)})
		default:
			return nil, at(errForeign, s)
		}
	}
	return edits, nil
}

// hasText reports whether a document has the text of a state. Line ends are ignored, because the editor chooses them.
func (r *Runner) hasText(doc change.Document, s change.State) bool {
	if change.Sum([]byte(doc.Text)) == s.SHA256 {
		return true
	}
	text, err := r.Contents.Get(s.SHA256)
	return err == nil && lineFeeds(doc.Text) == lineFeeds(string(text))
}

func lineFeeds(text string) string { return strings.ReplaceAll(text, "\r\n", "\n") }

// editAll changes all documents of the journal in one edit.
func (r *Runner) editAll(ctx context.Context, j *journal) error {
	edits, err := r.edits(j, false)
	if err != nil || len(edits) == 0 {
		return err
	}
	r.step("documents")
	if err = r.apply(ctx, j, edits); errors.Is(err, change.ErrUnknown) {
		r.late = edits
	}
	r.step("documents edited")
	return err
}

// apply makes edits. It also succeeds if the editor did not answer, but the documents have the texts.
func (r *Runner) apply(ctx context.Context, j *journal, edits []change.DocumentEdit) error {
	err := r.Documents.Edit(ctx, j.Label, edits)
	if errors.Is(err, change.ErrUnknown) && !slices.ContainsFunc(edits, func(e change.DocumentEdit) bool {
		doc, open := r.Documents.Document(e.Path)
		return !open || lineFeeds(doc.Text) != lineFeeds(e.Text)
	}) {
		return nil // only the answer was lost
	}
	return err
}

// editBack restores the old texts of documents that have their new texts. A document with any other text was changed by the user and
// stays.
func (r *Runner) editBack(ctx context.Context, j *journal) error {
	var edits []change.DocumentEdit
	for i := range j.Steps {
		if s := &j.Steps[i]; s.Document {
			one, err := r.edits(&journal{Steps: j.Steps[i : i+1]}, true)
			switch {
			case err == nil:
				edits = append(edits, one...)
			case errors.Is(err, errClosed):
				if err := r.fileOf(j, s, true); err != nil && !errors.Is(err, errForeign) {
					return at(err, s)
				}
			case !errors.Is(err, errForeign):
				return err
			}
		}
	}
	if len(edits) == 0 {
		return nil
	}
	r.step("documents back")
	return r.apply(ctx, j, edits)
}

// withdraw reports that edits without an answer are no longer wanted, after everything else is undone.
func (r *Runner) withdraw(j *journal) {
	if w, ok := r.Documents.(change.Withdrawer); ok && len(r.late) > 0 {
		w.Withdraw(j.Label, r.late)
	}
	r.late = nil
}

// fileOf changes the file of a document that is not open any more. The error is [errForeign] if the file has neither text, because
// the editor may still open it with unsaved changes.
func (r *Runner) fileOf(j *journal, s *Step, back bool) error {
	t := turn{s, s.Old, s.New}
	if back {
		t.from, t.to = t.to, t.from
	}
	now, err := observe(r.Fs, s.Path)
	if err != nil {
		return err
	}
	// The states of a document describe its text.
	t.from.Kind, t.to.Kind = change.Regular, change.Regular
	t.from.Mode, t.to.Mode = now.Mode, now.Mode
	return r.swap(j, t)
}

// save saves the open documents, and returns those that are still unsaved.
func (r *Runner) save(ctx context.Context, j *journal) (unsaved []string) {
	var paths []string
	for _, s := range j.Steps {
		if _, open := r.Documents.Document(s.Path); s.Document && open {
			paths = append(paths, s.Path)
		}
	}
	if len(paths) == 0 {
		return nil
	}
	return r.Documents.Save(ctx, paths)
}
