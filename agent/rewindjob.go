package agent

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"slices"

	"github.com/xcsh-ls/xcsh-ls/agent/change"
	changeplan "github.com/xcsh-ls/xcsh-ls/agent/change/plan"
	"github.com/xcsh-ls/xcsh-ls/agent/change/rewind"
	"github.com/xcsh-ls/xcsh-ls/agent/change/wire"
	"github.com/xcsh-ls/xcsh-ls/agent/sensitive"
)

// rewindEntry is the data of a journal for the session: the record, and the new leaf.
type rewindEntry struct {
	Record  change.Record `json:"record"`
	Move    bool          `json:"move,omitempty"`
	Target  string        `json:"target,omitempty"` // of the leaf; "" is before the first entry
	Summary string        `json:"summary,omitempty"`
	Tell    bool          `json:"tell,omitempty"` // notify the model at once
}

// rewindJob creates the job of a plan. It stores the contents of both sides, so that each step and the whole rewind can be undone.
func (s *Session) rewindJob(p *rewindPlan, a wire.RewindArgs, summary string) (job rewind.Job, err error) {
	r := change.Record{
		V: change.Version, Tool: "rewind", Root: change.RootURI(s.cwd), Undoes: p.Records, Redoes: p.Redoes, Hunks: p.Hunks,
	}
	for _, path := range p.Except {
		r.Except = append(r.Except, change.RelativePath(s.cwd, path))
	}
	real := sensitive.Resolver(s.m.disk())
	for _, x := range p.Changes() {
		step, c, err := s.rewindStep(p, x, real)
		if err != nil {
			return job, err
		}
		job.Steps = append(job.Steps, step)
		r.Changes = append(r.Changes, c)
		if x.Want.Kind == change.Absent && !step.Document {
			job.Gone = append(job.Gone, s.parents(step.Path, real)...)
		}
	}
	slices.Sort(job.Gone)
	job.Gone = slices.Compact(job.Gone)
	job.Label = "xcsh: rewind"
	job.Entry, err = json.Marshal(rewindEntry{
		Record: r, Move: a.Conversation, Target: p.target, Summary: summary, Tell: !a.Conversation && len(p.Hunks) == 0,
	})
	return job, err
}

// rewindStep returns the step of one path, and its change for the record.
func (s *Session) rewindStep(p *rewindPlan, x changeplan.Path, real func(string) string) (step rewind.Step, c change.Change, err error) {
	put := p.known.store.Put
	if x.Now.Content != nil && x.Now.State.SHA256 != "" {
		if _, err = put(x.Now.Content); err != nil {
			return step, c, err
		}
	}
	content := x.Content
	if content == nil && x.Want.SHA256 != "" {
		if content, err = p.known.store.Get(x.Want.SHA256); err != nil {
			return step, c, err
		}
	} else if content != nil {
		if _, err = put(content); err != nil {
			return step, c, err
		}
	}
	want := x.Want
	c = change.Change{Path: change.RelativePath(s.cwd, x.Path), Before: x.Now.State, After: &want}
	step = rewind.Step{Path: filepath.Join(real(filepath.Dir(x.Path)), filepath.Base(x.Path)), Name: x.Path, Old: x.Now.State, New: x.Want}
	if x.Now.Dir {
		c.Before = change.State{Kind: change.Absent} // the files in the directory have their own changes
	}
	onlyMode := !x.Now.Dirty && x.Want.SHA256 == x.Now.State.SHA256 // an editor can't change modes
	if !x.Now.Document || x.Want.Kind != change.Regular || onlyMode {
		return step, c, nil
	}
	c.Via = change.ViaBuffer
	step.Path, step.Document, step.Version = x.Path, true, x.Now.Version
	text := bytes.TrimPrefix(content, []byte("\xef\xbb\xbf"))
	for state, text := range map[*change.State]string{&step.Old: x.Now.Text, &step.New: string(text)} {
		sha, err := put([]byte(text))
		if err != nil {
			return step, c, err
		}
		*state = change.State{Kind: change.Regular, SHA256: sha, Size: int64(len(text)), Mode: state.Mode}
	}
	return step, c, nil
}

// parents returns the directories between a path and the folder, which may become empty without the file.
func (s *Session) parents(path string, real func(string) string) (dirs []string) {
	folder := real(s.cwd)
	for dir := filepath.Dir(path); dir != folder; dir = filepath.Dir(dir) {
		if rel, err := filepath.Rel(folder, dir); err != nil || !filepath.IsLocal(rel) {
			return nil // outside of the folder, directories stay
		}
		dirs = append(dirs, dir)
	}
	return dirs
}
