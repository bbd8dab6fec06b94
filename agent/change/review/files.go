package review

import (
	"cmp"
	"net/url"
	"path/filepath"
	"slices"

	"github.com/xcsh-ls/xcsh-ls/agent/change"
	"github.com/xcsh-ls/xcsh-ls/agent/change/merge"
	"github.com/xcsh-ls/xcsh-ls/agent/change/patch"
	"github.com/xcsh-ls/xcsh-ls/agent/change/plan"
	"github.com/xcsh-ls/xcsh-ls/agent/change/wire"
)

// Scope selects files.
type Scope struct {
	Keep    func(*change.Record) bool // nil: all records
	Path    string                    // an absolute path, "" for all
	Pending bool                      // only pending changes
	Hunks   bool
	Sums    bool // of a file only its path and numbers, without asking what a rewind would do; contents of one file are in memory at a time
}

// Files returns the files that the records of a scope changed, sorted, with their totals. It omits files that would be the same without
// these records. The errors are those of Present.
func Files(in *Input, q Scope) (files []wire.File, totals wire.Totals, err error) {
	selection := plan.Of(in.Book, q.Keep)
	c, err := in.changed(selection)
	if err != nil {
		return nil, totals, err
	}
	reasons := map[string]plan.Path{}
	if !q.Sums {
		plans, err := plan.Make(in.planInput(selection))
		if err != nil {
			return nil, totals, err
		}
		for _, p := range plans.Paths {
			reasons[p.Path] = p
		}
	}
	files = []wire.File{}
	for _, p := range c.paths {
		if q.Path != "" && q.Path != p && q.Path != c.moves[p] {
			continue
		}
		f, ok, err := in.file(q, p, c.chains, c.moves[p], reasons)
		if err != nil {
			return nil, totals, err
		}
		if q.Sums {
			in.forget(p)
		}
		if ok {
			files = append(files, f)
			totals.Files++
			totals.Added += f.Added
			totals.Removed += f.Removed
			totals.Pending += f.Pending
		}
	}
	return files, totals, nil
}

// Sum returns how many files the records of a scope changed, and how many lines. It computes neither pending changes
// nor plans, and does not run git. The errors are those of Present.
func Sum(in *Input, keep func(*change.Record) bool) (totals wire.Totals, err error) {
	c, err := in.changed(plan.Of(in.Book, keep))
	if err != nil {
		return totals, err
	}
	for _, p := range c.paths {
		all, err := in.wholeView(p, c.chains, c.moves[p])
		if err != nil {
			return totals, err
		}
		in.forget(p)
		if len(all.hunks) > 0 || all.whole {
			added, removed := count(all.hunks)
			totals.Files, totals.Added, totals.Removed = totals.Files+1, totals.Added+added, totals.Removed+removed
		}
	}
	return totals, nil
}

// changed is the paths of a selection.
type changed struct {
	paths  []string // sorted, without the old ones of renames
	chains map[string][]change.Step
	moves  map[string]string // from the new path of a rename to the old one
}

// changed returns the paths of a selection. The errors are those of Present.
func (in *Input) changed(s plan.Selection) (c changed, err error) {
	c.chains = map[string][]change.Step{}
	for _, chain := range s.Chains {
		c.chains[chain.Path] = chain.Steps
		c.paths = append(c.paths, chain.Path)
	}
	slices.Sort(c.paths)
	moves, gone, err := in.renames(c.paths, func(p string) []change.Step { return c.chains[p] })
	c.moves = moves
	c.paths = slices.DeleteFunc(c.paths, func(p string) bool { return gone[p] != "" })
	return c, err
}

// wholeView returns what the records of a scope changed at a path, which may be the new one of a rename.
func (in *Input) wholeView(path string, chains map[string][]change.Step, old string) (*view, error) {
	var from *view
	if old != "" {
		var err error
		if from, err = in.viewOf(old, chains[old], nil); err != nil {
			return nil, err
		}
	}
	return in.viewOf(path, chains[path], from)
}

// file describes one file. ok is false if it has no changes to show.
func (in *Input) file(q Scope, path string, chains map[string][]change.Step, old string, reasons map[string]plan.Path) (f wire.File, ok bool, err error) {
	pending, err := in.pendingView(path)
	if err != nil {
		return f, false, err
	}
	all := pending
	if pending.from != "" || old != "" || !slices.Equal(pending.steps, chains[path]) {
		if all, err = in.wholeView(path, chains, old); err != nil {
			return f, false, err
		}
	}
	open := inScope(pending, all)
	left := len(open)
	if left == 0 && pending.open() > 0 && len(pending.pending()) == 0 {
		left = 1
	}
	if len(all.hunks) == 0 && !all.whole || q.Pending && left == 0 {
		return f, false, nil
	}
	f = wire.File{
		Path: path, From: all.from, Status: all.status(), Binary: all.binary, Pending: left, Records: recordIDs(chains[path], chains[old]),
		Rewindable: true, Buffer: all.now.Document && all.now.Dirty, Base: in.address(pending),
	}
	kept := all.keptHunks(pending, open)
	f.Kept = len(kept)
	if all.whole && left == 0 {
		f.Kept = 1
	}
	shown := open
	if q.Pending {
		f.Added, f.Removed = count(open)
	} else {
		f.Added, f.Removed = count(all.hunks)
		shown = merged(open, kept)
	}
	for _, p := range []string{path, old} {
		if r, ok := reasons[p]; ok && r.Action == wire.Conflict && f.Rewindable {
			f.Rewindable, f.Reason, f.Text = false, r.Reason, r.Text
		}
	}
	if q.Hunks {
		f.Hunks = in.hunksOf(all, pending, shown, kept)
	}
	return f, true, nil
}

// inScope returns the pending hunks that touch a change of a scope.
func inScope(pending, all *view) (hunks []hunk) {
	for _, h := range pending.pending() {
		if slices.ContainsFunc(all.hunks, func(a hunk) bool { return touches(newRange(a), newRange(h)) }) {
			hunks = append(hunks, h)
		}
	}
	return hunks
}

func newRange(h hunk) merge.Range { return merge.Range{Start: h.NewStart, Lines: h.NewLines} }

// keptHunks returns the hunks of a scope that no pending hunk touches.
func (v *view) keptHunks(pending *view, open []hunk) (kept []hunk) {
	if pending.whole && pending.open() > 0 {
		return nil
	}
	for _, h := range v.hunks {
		if !slices.ContainsFunc(open, func(o hunk) bool { return touches(newRange(o), newRange(h)) }) {
			kept = append(kept, h)
		}
	}
	return kept
}

func count(hunks []hunk) (added, removed int) {
	for _, h := range hunks {
		added, removed = added+h.NewLines, removed+h.OldLines
	}
	return added, removed
}

func merged(a, b []hunk) []hunk {
	return slices.SortedStableFunc(slices.Values(slices.Concat(a, b)), func(x, y hunk) int { return cmp.Compare(x.NewStart, y.NewStart) })
}

// status returns the status of the file.
func (v *view) status() string {
	old, now := v.target.State, v.now.State
	switch {
	case v.from != "":
		return wire.Renamed
	case v.target.Reason != "":
		return wire.Modified
	case old.Kind == change.Absent:
		return wire.Added
	case now.Kind == change.Absent:
		return wire.Deleted
	case old.Kind == change.Link || now.Kind == change.Link:
		return wire.Link
	case old.SHA256 == now.SHA256 && old.Kind == now.Kind:
		return wire.Mode
	}
	return wire.Modified
}

func recordIDs(chains ...[]change.Step) []string {
	ids := []string{}
	for _, steps := range chains {
		for _, s := range steps {
			if s.Record != nil && !slices.Contains(ids, s.Record.ID) {
				ids = append(ids, s.Record.ID)
			}
		}
	}
	return ids
}

// Scheme is the URI scheme of texts without the pending changes.
const Scheme = "xcsh-change"

// address returns the URI of the text without the pending changes.
func (in *Input) address(v *view) string {
	if v.target.Reason != "" {
		return ""
	}
	state, _ := v.base()
	slash := filepath.ToSlash(v.path)
	if len(slash) > 0 && slash[0] != '/' {
		slash = "/" + slash
	}
	u := url.URL{Scheme: Scheme, Path: slash, OmitHost: true, RawQuery: "session=" + url.QueryEscape(in.Session) + "&base=" + state.SHA256}
	return u.String()
}

// hunksOf converts hunks for clients.
func (in *Input) hunksOf(all, pending *view, shown, kept []hunk) []wire.Hunk {
	hunks := []wire.Hunk{}
	for _, h := range shown {
		w := wire.Hunk{
			Hunk: h.id, OldStart: h.OldStart, OldLines: h.OldLines, NewStart: h.NewStart, NewLines: h.NewLines, Text: patch.Hunk(h.Hunk),
			Mixed: h.mixed, State: "pending",
		}
		v := pending
		if slices.ContainsFunc(kept, func(k hunk) bool { return k.id == h.id && k.NewStart == h.NewStart }) {
			w.State, v = "kept", all
		}
		if r := in.author(v, h); r != nil {
			w.Record, w.ToolCallID = r.ID, r.ToolCallID
		}
		hunks = append(hunks, w)
	}
	return hunks
}
