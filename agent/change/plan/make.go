package plan

import (
	"cmp"
	"path/filepath"
	"slices"

	"github.com/xcsh-ls/xcsh-ls/agent/change"
	"github.com/xcsh-ls/xcsh-ls/agent/change/merge"
	"github.com/xcsh-ls/xcsh-ls/agent/change/wire"
)

// Make makes a plan. It only returns errors of Present. Paths that can't be undone are conflicts of the plan.
func Make(in Input) (*Plan, error) {
	p := &Plan{Redoes: in.Redoes, Hunks: in.Hunks, Except: slices.Clone(in.Except)}
	for _, r := range in.Records {
		if in.Redoes == "" && len(in.Hunks) == 0 {
			p.Records = append(p.Records, r.ID)
		}
	}
	p.Limits = Limits(append(slices.Clone(in.Records), in.Newer...))
	chains, nows, err := distinct(&in)
	if err != nil {
		return nil, err
	}
	for i, c := range chains {
		p.Paths = append(p.Paths, onePath(&in, c, nows[i]))
	}
	slices.SortFunc(p.Paths, func(a, b Path) int { return cmp.Compare(a.Path, b.Path) })
	directories(&in, p.Paths)
	p.head(&in)
	for _, x := range p.Paths {
		if x.hidden {
			p.Except = append(p.Except, x.Path) // it stays active: it would reappear when the change that hides it is undone
		}
	}
	for i := range p.Paths {
		if x := &p.Paths[i]; x.Action == wire.Conflict {
			p.Conflicts++
			x.Want, x.Content, x.Added, x.Removed = x.Now.State, nil, 0, 0
		}
	}
	return p, nil
}

// distinct returns the chains that are not left out, with the present states. It joins the chains of two names of one file.
func distinct(in *Input) (chains []Chain, nows []Now, err error) {
	names := map[string]int{}
	for _, c := range in.Chains {
		if slices.Contains(in.Except, c.Path) || len(c.Steps) == 0 {
			continue
		}
		now, err := in.Present(c.Path)
		if err != nil {
			return nil, nil, err
		}
		if i, ok := names[now.Same]; ok && now.Same != "" {
			merged := append(slices.Clone(chains[i].Steps), c.Steps...)
			slices.SortStableFunc(merged, func(a, b change.Step) int { return cmp.Compare(place0(a), place0(b)) })
			chains[i].Steps = merged
			continue
		}
		if now.Same != "" {
			names[now.Same] = len(chains)
		}
		chains, nows = append(chains, c), append(nows, now)
	}
	return chains, nows, nil
}

// place0 is the position of a step in the session file. Kept changes come first.
func place0(s change.Step) int {
	if s.Record == nil {
		return -1
	}
	return s.Record.Seq
}

func onePath(in *Input, c Chain, now Now) Path {
	p := Path{Path: c.Path, Now: now, By: recordsOf(c)}
	w := walk{in: in, now: now, cur: now.State, content: now.Content, loaded: now.Content != nil}
	derived, isDerived := in.Derived[c.Path]
	switch {
	case now.Unknown:
		w.refuse(now.Block, "%s", now.Why)
	case derived.Reason != "":
		w.refuse(derived.Reason, "%s", derived.Text)
	}
	w.merged = isDerived
	if want, ok := in.Wants[c.Path]; ok && w.stop == nil {
		w.cur, w.content, w.loaded, w.merged = want.State, want.Content, want.State.Kind == change.Regular, want.State.Kind == change.Regular
	} else {
		w.run(c.Steps)
	}
	p.Want, p.merged = w.cur, w.merged
	if w.stop == nil && w.hidden && in.Later[c.Path] {
		if p.hidden = same(w.cur, now.State); !p.hidden {
			w.refuse(wire.Overlaps, "A later change of the session already undid a part of this change. Undo the later change, too.")
		}
	}
	if w.stop == nil && !same(w.cur, now.State) {
		p.finish(&w)
		p.possible(in, c, &w)
	}
	p.Action = action(now.State, p.Want, w.merged)
	if w.stop != nil {
		p.Action, p.Reason, p.Text = wire.Conflict, w.stop.reason, w.stop.text
		p.Places = inNow(w.stop.places, now.Content)
		if now.State.Kind == change.Absent && in.Find != nil {
			p.hint(in, c)
		}
		return p
	}
	if w.merged && p.Action == wire.Merge {
		if last := c.Steps[len(c.Steps)-1].Change.After; last != nil {
			if after, stop := load(in, *last); stop == nil {
				p.Yours = inNow(changedIn(after, now.Content), now.Content)
			}
		}
	}
	return p
}

func recordsOf(c Chain) (ids []string) {
	for _, s := range c.Steps {
		if s.Record != nil && !slices.Contains(ids, s.Record.ID) {
			ids = append(ids, s.Record.ID)
		}
	}
	return ids
}

func action(now, want change.State, merged bool) string {
	switch {
	case same(now, want):
		return wire.None
	case want.Kind == change.Absent:
		return wire.Remove
	case now.Kind == change.Absent:
		return wire.Create
	case merged:
		return wire.Merge
	}
	return wire.Restore
}

// finish loads the wanted content, and counts lines.
func (p *Path) finish(w *walk) {
	if p.Want.Kind == change.Special {
		return // see directories
	}
	var content []byte
	if p.Want.Kind != change.Absent {
		content = w.text()
		if w.stop != nil {
			return
		}
		if p.Want.Mode &= 0o777; p.Want.Kind == change.Regular && p.Want.Mode == 0 { // records are not trusted
			p.Want.Mode = 0o644
		}
	}
	if w.merged {
		p.Content = content
	}
	if now := p.Now.Content; IsText(now) && IsText(content) {
		p.Added, p.Removed = Count(merge.Diff(now, content))
	}
}

// Count returns the lines that hunks add and remove.
func Count(hunks []merge.Hunk) (added, removed int) {
	for _, h := range hunks {
		added, removed = added+h.NewLines, removed+h.OldLines
	}
	return added, removed
}

// possible refuses a path that can't be written.
func (p *Path) possible(in *Input, c Chain, w *walk) {
	now := &p.Now
	switch {
	case w.stop != nil:
	case now.Real != "" && now.Real != p.Path:
		w.refuse(wire.Kind, "A directory of the path is now a link to %s.", now.Real)
	case now.Block != "":
		w.refuse(now.Block, "%s", now.Why)
	case readOnly(now.State) && !wasReadOnly(c):
		w.refuse(wire.ReadOnly, "The file has become read-only since the change.")
	case now.Document && now.Dirty && p.Want.Kind != change.Regular:
		w.refuse(wire.Overlaps, "The file is open with unsaved changes. Save or close it and try again.")
		w.stop.places = wholeOf(now.Content)
	case now.Document && p.Want.Kind == change.Regular && !IsText(w.text()):
		w.refuse(wire.Encoding, "The file is open in the editor, and its earlier content is not UTF-8. Close the file and try again.")
	default:
		p.doubtful(in, c, w)
	}
}

// readOnly reports whether a file has no write permission.
func readOnly(s change.State) bool {
	return (s.Kind == change.Regular || s.Kind == change.Large) && s.Mode != 0 && s.Mode&0o222 == 0
}

// wasReadOnly reports whether the newest change left a read-only file.
func wasReadOnly(c Chain) bool {
	after := c.Steps[len(c.Steps)-1].Change.After
	return after != nil && readOnly(*after)
}

// doubtful refuses a file that the editor saved while a command ran.
func (p *Path) doubtful(in *Input, c Chain, w *walk) {
	for _, s := range c.Steps {
		if s.Record == nil || named(in, nil, p.Path) {
			continue
		}
		if slices.ContainsFunc(s.Record.AlsoEditor, func(also string) bool { return change.AbsolutePath(s.Record.Root, also) == p.Path }) {
			w.refuse(wire.AlsoEditor, "The editor saved the file while the command ran, so the change may be yours. To undo it anyway, name the path.")
			return
		}
	}
}

// named reports whether the user named a path. The path is relative to the root of the record r, if there is one.
func named(in *Input, r *change.Record, path string) bool {
	if r != nil {
		path = change.AbsolutePath(r.Root, path)
	}
	return slices.Contains(in.Named, path)
}

// hint looks for the file under another name.
func (p *Path) hint(in *Input, c Chain) {
	last := c.Steps[len(c.Steps)-1].Change.After
	if last == nil || last.Kind != change.Regular || last.Size == 0 {
		return
	}
	if found := in.Find(*last, p.Path); found != "" && found != p.Path {
		p.Hint = found
		p.Text = "The file was removed or renamed since the change. " + filepath.Base(found) + " has its content."
	}
}

// head collects commits, and refuses changes since which HEAD moved.
func (p *Plan) head(in *Input) {
	moved := map[string]string{}
	for _, r := range in.Records {
		g := r.Git
		if g == nil {
			continue
		}
		switch {
		case g.HeadAfter != "" && g.HeadAfter != g.Head:
			moved[r.ID] = "The command also moved HEAD. Undoing its changes keeps the commit, and the files then differ from it."
			if !slices.Contains(p.Commits, g.HeadAfter) {
				p.Commits = append(p.Commits, g.HeadAfter)
			}
		case in.Branch != "" && g.Branch != "" && g.Branch != in.Branch:
			moved[r.ID] = "The change was made on another branch than the one that is checked out."
		}
	}
	for i := range p.Paths {
		x := &p.Paths[i]
		if x.Action == wire.None {
			continue
		}
		for _, id := range x.By {
			text, ok := moved[id]
			if !ok {
				continue
			}
			p.HeadMoved = true
			if !in.AcrossHead && x.Action != wire.Conflict {
				x.Action, x.Reason, x.Text = wire.Conflict, wire.HeadMoved, text
			}
		}
	}
}
