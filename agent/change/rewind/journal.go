package rewind

import (
	"encoding/json"
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/spf13/afero"

	"github.com/xcsh-ls/xcsh-ls/agent/change"
	"github.com/xcsh-ls/xcsh-ls/agent/change/disk"
	"github.com/xcsh-ls/xcsh-ls/internal/durable"
)

// The names of the journal in its three states.
const (
	planned = "rewind.json"
	decided = "rewind.commit.json"
	goBack  = "rewind.back.json"
)

// journal is a rewind on disk. Its content never changes; its name is its state.
type journal struct {
	V       int             `json:"v"`
	Key     string          `json:"key"`
	Session string          `json:"session"` // the session file
	Label   string          `json:"label,omitempty"`
	Steps   []Step          `json:"steps"`
	Dirs    []string        `json:"dirs,omitempty"` // directories to create, outermost first
	Gone    []string        `json:"gone,omitempty"`
	Entry   json.RawMessage `json:"entry,omitempty"`

	name string // its state
}

// pointer is the location and the checksum of a journal.
type pointer struct {
	Dir     string `json:"dir"`     // of the journal
	Session string `json:"session"` // the session file
	SHA256  string `json:"sha256"`  // of the journal
}

// Pending is a session with a rewind that was interrupted.
type Pending struct{ Dir, Session string }

// Pointers lists the sessions with an unfinished rewind.
func Pointers(fsys afero.Fs, pointers string) (all []Pending) {
	names, err := afero.Glob(fsys, filepath.Join(pointers, "*.json"))
	if err != nil {
		return nil
	}
	for _, name := range names {
		if p, err := readPointer(fsys, name); err == nil {
			all = append(all, Pending{p.Dir, p.Session})
		}
	}
	return all
}

func readPointer(fsys afero.Fs, name string) (p pointer, err error) {
	raw, err := afero.ReadFile(fsys, name)
	if err == nil {
		err = json.Unmarshal(raw, &p)
	}
	return p, err
}

// pointerFile returns the path of the session's pointer.
func (r *Runner) pointerFile() string {
	return filepath.Join(r.Pointers, change.Sum([]byte(filepath.Clean(r.Dir)))[:32]+".json")
}

// begin writes the pointer, then the journal. A pointer without a journal is removed later, and a journal without a pointer is ignored.
func (r *Runner) begin(j *journal) error {
	raw, err := json.Marshal(j)
	if err != nil {
		return err
	}
	p, err := json.Marshal(pointer{Dir: r.Dir, Session: r.Session, SHA256: change.Sum(raw)})
	if err != nil {
		return err
	}
	r.sweep()
	r.step("point")
	if err := durable.WriteFile(r.Fs, r.pointerFile(), p, 0o600); err != nil {
		return err
	}
	r.step("journal")
	j.name = planned
	return durable.WriteFile(r.Fs, filepath.Join(r.Dir, planned), raw, 0o600)
}

// sweep removes pointers and journals that an earlier process did not write completely.
func (r *Runner) sweep() {
	for _, path := range []string{r.pointerFile(), filepath.Join(r.Dir, planned)} {
		left, err := afero.Glob(r.Fs, path+".*.tmp")
		if err != nil {
			continue
		}
		for _, temp := range left {
			_ = r.Fs.Remove(temp) // best effort: it is small and never read
		}
	}
}

// become changes the state of the journal.
func (r *Runner) become(j *journal, name string) error {
	r.step(name)
	if err := durable.Rename(r.Fs, filepath.Join(r.Dir, j.name), filepath.Join(r.Dir, name)); err != nil {
		return err
	}
	durable.SyncDir(r.Fs, r.Dir)
	j.name = name
	return nil
}

// end removes the journal, then the pointer.
func (r *Runner) end(j *journal) error {
	r.step("end")
	if err := r.Fs.Remove(filepath.Join(r.Dir, j.name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	durable.SyncDir(r.Fs, r.Dir)
	r.step("forget")
	if err := r.Fs.Remove(r.pointerFile()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// open returns the journal of the last process, nil if there is none with a valid pointer.
func (r *Runner) open() (*journal, error) {
	p, err := readPointer(r.Fs, r.pointerFile())
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	}
	for _, name := range []string{decided, goBack, planned} {
		raw, err := afero.ReadFile(r.Fs, filepath.Join(r.Dir, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		var j journal
		if change.Sum(raw) != p.SHA256 || json.Unmarshal(raw, &j) != nil || j.V != 1 {
			continue // forged, or incomplete, so nothing was staged
		}
		j.name = name
		return &j, nil
	}
	if err := r.Fs.Remove(r.pointerFile()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return nil, nil
}

// Interrupted reports whether a rewind of the session was interrupted and is unfinished.
func (r *Runner) Interrupted() bool {
	_, err := disk.Lstat(r.Fs, r.pointerFile())
	return err == nil
}
