package rewind

import (
	"context"
	"errors"
	"slices"

	"github.com/xcsh-ls/xcsh-ls/agent/change"
	"github.com/xcsh-ls/xcsh-ls/internal/durable"
)

// Outcome is the outcome of an interrupted rewind.
type Outcome int

// The outcomes of a recovery.
const (
	Nothing   Outcome = iota // there was no interrupted rewind
	TakenBack                // it was undone: all files are as before it
	Completed                // it was completed
	Waiting                  // the text of a document is unknown until the editor opens it
)

// Recovered is the result of a recovery.
type Recovered struct {
	Outcome Outcome
	ID      string // of the record, if it was completed
	Unsaved []string
}

// Recover completes or undoes an interrupted rewind. If a document is not open and its file has neither text, Recover returns Waiting
// if wait is true, and undoes the rewind otherwise. It may be called again after an error.
func (r *Runner) Recover(ctx context.Context, wait bool) (Recovered, error) {
	j, err := r.open()
	if err != nil || j == nil {
		return Recovered{}, kindOf(err)
	}
	if j.name == planned {
		return Recovered{Outcome: TakenBack}, kindOf(r.drop(j))
	}
	if id := r.recorded(j); id != "" {
		return r.complete(ctx, j, id)
	}
	rescued := r.rescue(j)
	closed, err := r.closed(j)
	switch {
	case rescued != nil && !errors.Is(rescued, errForeign):
		return Recovered{}, kindOf(rescued)
	case errors.Is(err, errForeign) && wait:
		return Recovered{Outcome: Waiting}, nil
	case j.name == decided && rescued == nil && err == nil:
		id, err := r.again(ctx, j, closed)
		if err == nil {
			return Recovered{Outcome: Completed, ID: id, Unsaved: r.save(ctx, j)}, kindOf(r.finish(j))
		}
		if !errors.Is(err, errForeign) && !refused(err) {
			return Recovered{}, kindOf(err)
		}
	}
	if err := r.back(ctx, j); err != nil {
		return Recovered{}, kindOf(err)
	}
	return Recovered{Outcome: TakenBack}, nil
}

// recorded returns the id of the record of a completed rewind, "" for any other.
func (r *Runner) recorded(j *journal) (id string) {
	if j.name == decided && r.Recorded != nil {
		id = r.Recorded(j.Key)
	}
	return id
}

// complete ends a rewind that was recorded. All files have their new states or were changed since, so it must not be undone. A document
// may have lost its new text when the editor died.
func (r *Runner) complete(ctx context.Context, j *journal, id string) (Recovered, error) {
	for i := range j.Steps {
		s := &j.Steps[i]
		if !s.Document {
			continue
		}
		edits, err := r.edits(&journal{Steps: j.Steps[i : i+1]}, false)
		if errors.Is(err, errClosed) {
			err = r.fileOf(j, s, false)
		} else if err == nil && len(edits) > 0 {
			err = r.apply(ctx, j, edits)
		}
		if err != nil && !errors.Is(err, errForeign) && !refused(err) {
			return Recovered{}, kindOf(at(err, s))
		}
	}
	return Recovered{Outcome: Completed, ID: id, Unsaved: r.save(ctx, j)}, kindOf(r.finish(j))
}

// again carries out the rewind again. The files of closed documents are changed on disk.
func (r *Runner) again(ctx context.Context, j *journal, closed []*Step) (id string, err error) {
	open := *j
	open.Steps = slices.DeleteFunc(slices.Clone(j.Steps), func(s Step) bool {
		return slices.ContainsFunc(closed, func(c *Step) bool { return c.Path == s.Path })
	})
	for _, s := range closed {
		if err := r.fileOf(j, s, false); err != nil {
			return "", at(err, s)
		}
	}
	return r.forward(ctx, &open)
}

// closed returns the documents that are not open now. The error is [errForeign] if the text of one is unknown: its file has neither text.
func (r *Runner) closed(j *journal) (closed []*Step, err error) {
	for i := range j.Steps {
		s := &j.Steps[i]
		if !s.Document {
			continue
		}
		if _, open := r.Documents.Document(s.Path); open {
			continue
		}
		closed = append(closed, s)
		if now, lookErr := observe(r.Fs, s.Path); lookErr != nil || now.SHA256 != s.Old.SHA256 && now.SHA256 != s.New.SHA256 {
			err = at(errForeign, s)
		}
	}
	return closed, err
}

// rescue restores an unexpected file that a swap displaced, because the process died before it could swap back.
func (r *Runner) rescue(j *journal) error {
	var found error
	for i := range j.Steps {
		s := &j.Steps[i]
		aside, err := observe(r.Fs, s.Temp)
		if err != nil || !ours(s.Temp) || aside.Kind == change.Absent || is(aside, s.Old) || is(aside, s.New) || s.Document {
			continue
		}
		now, err := observe(r.Fs, s.Path)
		if err != nil {
			return at(err, s)
		}
		switch {
		case now.Kind == change.Absent:
			err = moveNew(r.Fs, s.Temp, s.Path)
		case is(now, s.New) || is(now, s.Old):
			err = durable.Rename(r.Fs, s.Temp, s.Path)
		}
		if err != nil && !errors.Is(err, errForeign) {
			return at(err, s)
		}
		found = at(errForeign, s)
	}
	return found
}
