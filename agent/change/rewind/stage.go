package rewind

import (
	"cmp"
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/afero"

	"github.com/xcsh-ls/xcsh-ls/agent/change"
	"github.com/xcsh-ls/xcsh-ls/agent/change/disk"
	"github.com/xcsh-ls/xcsh-ls/internal/durable"
)

// plan creates the journal of a job: the order of its steps, their staged files, and the missing directories.
func (r *Runner) plan(job Job) *journal {
	j := &journal{V: 1, Key: rand.Text(), Session: r.Session, Label: job.Label, Steps: slices.Clone(job.Steps), Gone: job.Gone, Entry: job.Entry}
	slices.SortFunc(j.Steps, func(a, b Step) int { return cmp.Compare(a.Path, b.Path) })
	for i := range j.Steps {
		s := &j.Steps[i]
		dir, missing := nearest(r.Fs, filepath.Dir(s.Path))
		s.Temp = filepath.Join(dir, ".xcsh-"+rand.Text()[:8]+".tmp")
		if s.New.Kind == change.Absent || s.Document {
			continue
		}
		for _, d := range missing {
			if !slices.Contains(j.Dirs, d) {
				j.Dirs = append(j.Dirs, d)
			}
		}
	}
	slices.Sort(j.Dirs) // a directory sorts before its files
	for i, dir := range j.Gone {
		j.Gone[i] = filepath.Clean(dir)
	}
	slices.Sort(j.Gone)
	slices.Reverse(j.Gone)
	return j
}

// stageAll writes the new contents next to their targets.
func (r *Runner) stageAll(j *journal) error {
	for i := range j.Steps {
		if s := &j.Steps[i]; !s.Document {
			r.step("stage")
			if err := r.stage(s.Temp, s.New); err != nil {
				return at(err, s)
			}
		}
	}
	return nil
}

// stage creates a state at a temporary path.
func (r *Runner) stage(temp string, s change.State) error {
	switch s.Kind {
	case change.Regular:
		content, err := r.Contents.Get(s.SHA256)
		if err != nil {
			return err
		}
		return r.write(temp, content, fs.FileMode(s.Mode).Perm())
	case change.Link:
		target, err := r.Contents.Get(s.SHA256)
		if err != nil {
			return err
		}
		l, ok := r.Fs.(afero.Linker)
		if !ok {
			return errors.ErrUnsupported
		}
		return l.SymlinkIfPossible(string(target), temp)
	case change.Absent, change.Special:
		return nil
	case change.Large:
	}
	return errors.ErrUnsupported // no plan has such a state
}

func (r *Runner) write(path string, content []byte, mode fs.FileMode) error {
	f, err := r.Fs.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return r.Fs.Chmod(path, mode) // the umask must not change the recorded mode
}

// ready ensures that a state is staged for a swap from another one. The staged file may be from before a crash.
func (r *Runner) ready(temp string, from, to change.State) error {
	is1, err := observe(r.Fs, temp)
	switch {
	case err != nil:
		return err
	case is1.Kind == change.Absent:
	case to.Kind != change.Absent && is(is1, to):
		return nil
	case is(is1, from):
		if err := r.Fs.Remove(temp); err != nil {
			return err
		}
	default:
		return errForeign
	}
	return r.stage(temp, to)
}

// unstage removes the staged files. After the commit, a file that has neither the old nor the new state is from another program, and
// stays.
func (r *Runner) unstage(j *journal) error {
	for i := range j.Steps {
		s := &j.Steps[i]
		now, err := observe(r.Fs, s.Temp)
		if err != nil || !ours(s.Temp) || now.Kind == change.Absent || j.name != planned && !is(now, s.Old) && !is(now, s.New) {
			continue
		}
		r.step("unstage")
		if err := r.Fs.Remove(s.Temp); err != nil && !disk.NotThere(err) {
			return at(err, s)
		}
	}
	return nil
}

// ours reports whether a path has the form of a staged file.
func ours(temp string) bool {
	name := filepath.Base(temp)
	return strings.HasPrefix(name, ".xcsh-") && strings.HasSuffix(name, ".tmp")
}

// sync syncs the directories of the steps.
func (r *Runner) sync(j *journal) {
	var dirs []string
	for _, s := range j.Steps {
		if !s.Document {
			dirs = append(dirs, filepath.Dir(s.Path))
		}
	}
	slices.Sort(dirs)
	for _, dir := range slices.Compact(dirs) {
		durable.SyncDir(r.Fs, dir)
	}
}
