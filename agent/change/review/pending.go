package review

import (
	"bytes"
	"slices"

	"github.com/xcsh-ls/xcsh-ls/agent/change"
	"github.com/xcsh-ls/xcsh-ls/agent/change/merge"
)

// pendingView returns the pending changes of a path. Its hunks and their ids are the same for every query. The old path of a rename has
// no view of its own: it is part of the view of the new path.
func (in *Input) pendingView(abs string) (*view, error) {
	if v, ok := in.views[abs]; ok {
		return v, nil
	}
	if err := in.findMoves(); err != nil {
		return nil, err
	}
	var from *view
	if old := in.moves[abs]; old != "" {
		var err error
		if from, err = in.viewOf(old, in.Book.Pending(old), nil); err != nil {
			return nil, err
		}
	}
	steps := in.Book.Pending(abs)
	if in.gone[abs] != "" {
		steps = nil
	}
	v, err := in.viewOf(abs, steps, from)
	if err != nil {
		return nil, err
	}
	in.commit(v)
	if in.views == nil {
		in.views = map[string]*view{}
	}
	in.views[abs] = v
	return v, nil
}

// findMoves finds the pending renames.
func (in *Input) findMoves() error {
	if in.moves != nil {
		return nil
	}
	var err error
	in.moves, in.gone, err = in.renames(in.Book.AllPaths(nil), in.Book.Pending)
	return err
}

// renames finds files that a record removed and created again at another path, by their chains.
func (in *Input) renames(paths []string, chain func(string) []change.Step) (moves, gone map[string]string, err error) {
	moves, gone = map[string]string{}, map[string]string{}
	removed := map[*change.Record]map[string][]string{}
	for _, p := range paths {
		steps := chain(p)
		if len(steps) == 0 {
			continue
		}
		first := steps[0]
		if first.Record == nil || first.Change.Before.Kind != change.Absent || first.Change.After == nil || !movable(*first.Change.After) {
			continue
		}
		if removed[first.Record] == nil {
			removed[first.Record] = removals(in.Book, first.Record)
		}
		for _, old := range removed[first.Record][first.Change.After.SHA256] {
			if old == p || gone[old] != "" {
				continue
			}
			ok, err := in.left(old, first.Record, chain)
			if err != nil {
				return nil, nil, err
			}
			if ok {
				moves[p], gone[old] = old, p
				break
			}
		}
	}
	for p := range moves {
		if now, err := in.now(p); err != nil {
			return nil, nil, err
		} else if now.State.Kind != change.Regular {
			delete(gone, moves[p])
			delete(moves, p)
		}
	}
	return moves, gone, nil
}

func movable(s change.State) bool { return s.Kind == change.Regular && s.Size > 0 }

// removals returns the paths that a record removed, by their earlier content.
func removals(b *change.Book, r *change.Record) map[string][]string {
	bySum := map[string][]string{}
	for _, p := range b.ActivePaths(r) {
		if c, _ := r.Change(p); c.After != nil && c.After.Kind == change.Absent && movable(c.Before) {
			bySum[c.Before.SHA256] = append(bySum[c.Before.SHA256], p)
		}
	}
	return bySum
}

// left reports whether the chain of a path ends with its removal by a record, and the path is still missing.
func (in *Input) left(old string, by *change.Record, chain func(string) []change.Step) (bool, error) {
	steps := chain(old)
	if len(steps) == 0 || steps[len(steps)-1].Record != by {
		return false, nil
	}
	now, err := in.now(old)
	return err == nil && now.State.Kind == change.Absent && now.Parent == "", err
}

// commit marks hunks that the user has committed as kept. A change that made a file equal to HEAD without a commit does not count.
func (in *Input) commit(v *view) {
	if in.AtHead == nil || len(v.hunks) == 0 && !v.whole || v.target.Reason != "" {
		return
	}
	moved, known := in.headMoved(v.steps)
	gone := v.now.State.Kind == change.Absent
	if known && !moved || gone && !known {
		return
	}
	head, ok := in.AtHead(v.path)
	if !ok || head == nil != gone {
		return
	}
	if v.whole || v.from != "" {
		v.committed = bytes.Equal(head, v.now.Content) && in.notAtHead(v.from)
		return
	}
	diff := merge.Diff(head, v.now.Content)
	for i := range v.hunks {
		at := merge.Range{Start: v.hunks[i].NewStart, Lines: v.hunks[i].NewLines}
		v.hunks[i].committed = !slices.ContainsFunc(diff, func(d merge.Hunk) bool {
			return touches(at, merge.Range{Start: d.NewStart, Lines: d.NewLines})
		})
	}
}

// notAtHead reports whether the old path of a rename is missing in the commit at HEAD.
func (in *Input) notAtHead(from string) bool {
	if from == "" {
		return true
	}
	content, ok := in.AtHead(from)
	return ok && content == nil
}

// headMoved reports whether HEAD has moved since the newest of the records, if that is known. Edits don't record HEAD: for them it is
// the HEAD after the last command before them, or before the first command after them.
func (in *Input) headMoved(steps []change.Step) (moved, known bool) {
	if in.Plan.Head == "" || len(steps) == 0 || steps[len(steps)-1].Record == nil {
		return false, false
	}
	newest := steps[len(steps)-1].Record.Seq
	then := ""
	for _, r := range in.Book.Records {
		switch {
		case r.Git == nil || r.Git.HeadAfter == "":
		case r.Seq <= newest:
			then = r.Git.HeadAfter
		case then == "":
			then = r.Git.Head
		}
	}
	return then != in.Plan.Head, then != ""
}
