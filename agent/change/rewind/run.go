package rewind

import (
	"context"
	"errors"
	"path/filepath"

	"go.uber.org/zap"

	"github.com/xcsh-ls/xcsh-ls/agent/change"
	"github.com/xcsh-ls/xcsh-ls/agent/change/disk"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

// Run carries out a rewind. If it fails, all files are as before, and the error has a kind: stale with "path" (a path does not have the
// job's old state), denied (by the editor), noSpace, readOnly, io, or busy (an earlier rewind was interrupted, see [Runner.Recover]).
// After the commit, Run ignores ctx.
func (r *Runner) Run(ctx context.Context, job Job) (Done, error) {
	if r.Interrupted() {
		return Done{}, fault.New(fault.Busy, "An earlier rewind was interrupted and is not completed yet. Try again in a moment.")
	}
	j := r.plan(job)
	if err := r.check(j); err != nil {
		return Done{}, kindOf(err)
	}
	if err := r.prepare(ctx, j); err != nil {
		return Done{}, undone(err, r.drop(j))
	}
	ctx = context.WithoutCancel(ctx)
	id, err := r.forward(ctx, j)
	if err != nil {
		return Done{}, undone(err, r.back(ctx, j))
	}
	done := Done{ID: id, Unsaved: r.save(ctx, j)}
	if err := r.finish(j); err != nil {
		// The rewind is recorded. The next recovery finds the record and removes the journal.
		r.Log.Warn("could not remove the journal of a completed rewind", zap.Error(err))
	}
	return done, nil
}

// check compares every path with its old state, and checks that the contents for undoing the rewind are stored.
func (r *Runner) check(j *journal) error {
	for i := range j.Steps {
		s := &j.Steps[i]
		for _, state := range []change.State{s.Old, s.New} {
			if state.SHA256 != "" && !r.Contents.Has(state.SHA256) {
				return fault.New(fault.IO, "The content of %s could not be stored, so no file was changed.", s.name()).With("path", s.name())
			}
		}
		if s.Document {
			doc, open := r.Documents.Document(s.Path)
			if !open || !r.hasText(doc, s.Old) || s.Version != 0 && doc.Version != s.Version {
				return at(errForeign, s)
			}
			continue
		}
		if throughLink(r.Fs, s.Path) {
			return at(errForeign, s)
		}
		now, err := observe(r.Fs, s.Path)
		if err != nil {
			return at(err, s)
		}
		if !is(now, s.Old) {
			return at(errForeign, s)
		}
	}
	return nil
}

// prepare stages the contents and commits the rewind.
func (r *Runner) prepare(ctx context.Context, j *journal) error {
	if err := r.begin(j); err != nil {
		return err
	}
	if err := r.stageAll(j); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return r.become(j, decided)
}

// drop ends a rewind that was not committed.
func (r *Runner) drop(j *journal) error {
	if j.name == "" {
		j.name = planned // not written, or incomplete
	}
	return errors.Join(r.unstage(j), r.end(j))
}

// forward makes the changes and appends the record.
func (r *Runner) forward(ctx context.Context, j *journal) (id string, err error) {
	if err := r.editAll(ctx, j); err != nil {
		return "", err
	}
	if err := r.swapAll(j); err != nil {
		return "", err
	}
	r.step("record")
	return r.Commit(ctx, j.Key, j.Entry)
}

// finish ends a rewind whose record was appended.
func (r *Runner) finish(j *journal) error {
	r.step("finish")
	if err := r.unstage(j); err != nil {
		r.Log.Warn("could not remove a temporary file of a rewind", zap.Error(err))
	}
	r.removeGone(j.Gone)
	return r.end(j)
}

// back undoes the rewind. Paths that have neither state were changed by another program, and stay. After an error the journal stays,
// and the next recovery continues.
func (r *Runner) back(ctx context.Context, j *journal) error {
	if j.name == decided {
		if err := r.become(j, goBack); err != nil {
			return err
		}
	}
	failed := r.editBack(ctx, j)
	made := reversed(j.Dirs)
	for _, t := range turns(j.Steps, true) {
		if t.to.Kind != change.Absent {
			r.removeGone(below(t.Path, made)) // the old state was a file
			if err := r.makeDirs(j, filepath.Dir(t.Path)); err != nil && !disk.NotThere(err) {
				failed = errors.Join(failed, at(err, t.Step))
				continue
			}
		}
		if err := r.swap(j, t); err != nil && !errors.Is(err, errForeign) {
			failed = errors.Join(failed, at(err, t.Step))
		}
	}
	if failed != nil {
		r.Log.Error("could not undo a failed rewind; trying again", zap.Error(failed))
		return failed
	}
	r.withdraw(j)
	r.sync(j)
	if err := r.unstage(j); err != nil {
		return err
	}
	r.removeGone(made)
	return r.end(j)
}
