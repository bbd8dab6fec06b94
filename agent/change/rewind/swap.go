package rewind

import (
	"errors"
	"path/filepath"
	"slices"

	"github.com/xcsh-ls/xcsh-ls/agent/change"
	"github.com/xcsh-ls/xcsh-ls/agent/change/disk"
	"github.com/xcsh-ls/xcsh-ls/internal/durable"
)

// errForeign is returned for a path with neither the old nor the new state: another program has changed it.
var errForeign = errors.New("the file was changed in the meantime")

// turn is one step in one direction.
type turn struct {
	*Step
	from, to change.State
}

// turns returns the steps on disk in execution order: removals first, and deepest first, so that a file can replace a directory and a
// directory can replace a file.
func turns(steps []Step, back bool) (order []turn) {
	all := make([]turn, 0, len(steps))
	for i := range steps {
		s := &steps[i]
		switch {
		case s.Document:
		case back:
			all = append(all, turn{s, s.New, s.Old})
		default:
			all = append(all, turn{s, s.Old, s.New})
		}
	}
	for _, t := range slices.Backward(all) {
		if t.to.Kind == change.Absent {
			order = append(order, t)
		}
	}
	for _, t := range all {
		if t.to.Kind != change.Absent {
			order = append(order, t)
		}
	}
	return order
}

// swapAll gives every path on disk its new state.
func (r *Runner) swapAll(j *journal) error {
	for _, t := range turns(j.Steps, false) {
		if t.to.Kind != change.Absent {
			if err := r.makeDirs(j, filepath.Dir(t.Path)); err != nil {
				return at(err, t.Step)
			}
		}
		if t.from.Kind == change.Special {
			r.removeGone(below(t.Path, j.Gone))
		}
		if err := r.swap(j, t); err != nil {
			return at(err, t.Step)
		}
	}
	r.sync(j)
	return nil
}

// makeDirs creates the directories of the journal down to dir: the missing ones, or those that were removed if the rewind is undone.
func (r *Runner) makeDirs(j *journal, dir string) error {
	for _, d := range slices.Concat(j.Dirs, reversed(j.Gone)) {
		if rel, err := filepath.Rel(d, dir); err != nil || !filepath.IsLocal(rel) {
			continue
		}
		if info, err := disk.Lstat(r.Fs, d); err == nil && info.IsDir() {
			continue
		}
		r.step("mkdir")
		if err := r.Fs.Mkdir(d, 0o777); err != nil {
			return err
		}
	}
	return nil
}

// swap changes one path to its new state. It does nothing if the path already has it.
func (r *Runner) swap(j *journal, t turn) error {
	if throughLink(r.Fs, t.Path) {
		return errForeign
	}
	now, err := observe(r.Fs, t.Path)
	if now.Kind == change.Special && t.to.Kind == change.Absent && slices.Contains(j.Dirs, t.Path) {
		now.Kind = change.Absent // the file is already removed, and a directory was created in its place
	}
	switch {
	case err != nil:
		return err
	case is(now, t.to):
		return nil
	case now.Kind == change.Absent && (t.from.Kind == change.Special || t.to.Kind == change.Special):
		t.from = now // the step was interrupted
	case !is(now, t.from):
		return errForeign
	}
	if err := r.ready(t.Temp, t.from, t.to); err != nil {
		return err
	}
	r.step("swap")
	return r.replace(t)
}

// replace replaces the old state by the staged file.
func (r *Runner) replace(t turn) error {
	if t.from.Kind == change.Special {
		if !empty(r.Fs, t.Path) {
			return errForeign
		}
		if err := r.Fs.Remove(t.Path); err != nil {
			return errForeign // another program put a file into it
		}
		r.step("directory removed")
		t.from = change.State{Kind: change.Absent}
	}
	if t.to.Kind == change.Absent || t.to.Kind == change.Special {
		if t.from.Kind != change.Absent {
			if err := r.remove(t); err != nil {
				return err
			}
		}
		if t.to.Kind == change.Special {
			r.step("directory")
			return r.Fs.Mkdir(t.Path, 0o777)
		}
		return nil
	}
	if t.from.Kind == change.Absent {
		return moveNew(r.Fs, t.Temp, t.Path)
	}
	exchanged, err := exchange(r.Fs, t.Temp, t.Path)
	if err != nil {
		return err
	}
	if !exchanged {
		return durable.Rename(r.Fs, t.Temp, t.Path)
	}
	r.step("exchanged")
	if displaced, err := observe(r.Fs, t.Temp); err != nil || !is(displaced, t.from) {
		_, back := exchange(r.Fs, t.Temp, t.Path)
		return errors.Join(errForeign, err, back)
	}
	return r.Fs.Remove(t.Temp)
}

// remove moves a file aside, and removes it if it is the expected one.
func (r *Runner) remove(t turn) error {
	if err := durable.Rename(r.Fs, t.Path, t.Temp); err != nil {
		return err
	}
	r.step("moved aside")
	if aside, err := observe(r.Fs, t.Temp); err != nil || !is(aside, t.from) {
		return errors.Join(errForeign, err, moveNew(r.Fs, t.Temp, t.Path))
	}
	return r.Fs.Remove(t.Temp)
}

// below returns the directories at and below a path.
func below(path string, dirs []string) (inside []string) {
	for _, dir := range dirs {
		if rel, err := filepath.Rel(path, dir); err == nil && filepath.IsLocal(rel) {
			inside = append(inside, dir)
		}
	}
	return inside
}

// removeGone removes directories that are empty now, deepest first. A directory with files of other programs stays.
func (r *Runner) removeGone(dirs []string) {
	for _, dir := range dirs {
		if info, err := disk.Lstat(r.Fs, dir); err != nil || !info.IsDir() || !empty(r.Fs, dir) {
			continue
		}
		r.step("rmdir")
		_ = r.Fs.Remove(dir) // best effort: no file is lost with a directory that stays
	}
}
