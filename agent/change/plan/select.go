package plan

import (
	"slices"

	"github.com/xcsh-ls/xcsh-ls/agent/change"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

// Of selects the active changes of the records for which keep is true. A nil keep selects all.
func Of(b *change.Book, keep func(*change.Record) bool) (s Selection) {
	seen := map[string]bool{}
	for _, r := range b.Records {
		if keep != nil && !keep(r) {
			continue
		}
		if r.Unreadable {
			s.Newer = append(s.Newer, r)
			continue
		}
		paths := b.ActivePaths(r)
		if len(paths) > 0 {
			s.Records = append(s.Records, r)
		}
		for _, p := range paths {
			if !seen[p] {
				seen[p] = true
				s.Chains = append(s.Chains, Chain{Path: p, Steps: b.Chain(p, keep)})
				s.later(b, p, r.Seq, keep)
			}
		}
	}
	return s
}

// later notes whether a path has a later active change that is not undone. seq is a position in the session file.
func (s *Selection) later(b *change.Book, path string, seq int, taken func(*change.Record) bool) {
	if taken == nil || len(b.Chain(path, func(r *change.Record) bool { return r.Seq > seq && !taken(r) })) == 0 {
		return
	}
	if s.Later == nil {
		s.Later = map[string]bool{}
	}
	s.Later[path] = true
}

// Behind selects all active changes after a position in the session file.
func Behind(b *change.Book, seq int) Selection {
	return Of(b, func(r *change.Record) bool { return r.Seq > seq })
}

// Exactly selects records by their ids. A single rewind is undone as by [Redo]. The error has the kind notFound, also if no change of
// the records is left to undo, or newerVersion.
func Exactly(b *change.Book, ids []string) (Selection, error) {
	for _, id := range ids {
		switch r := b.Record(id); {
		case r == nil:
			return Selection{}, fault.New(fault.NotFound, "This session has no record %s.", fault.OneLine(id))
		case r.Unreadable:
			return Selection{}, fault.New(fault.NewerVersion, "The record %s can't be read, so it can't be undone. It is of a newer version, or its content is missing.", r.ID)
		case len(ids) == 1 && r.IsRewind() && len(r.Hunks) == 0:
			return Redo(b, id)
		}
	}
	s := Of(b, func(r *change.Record) bool { return slices.Contains(ids, r.ID) })
	if len(s.Chains) == 0 {
		return s, takenBack()
	}
	return s, nil
}

// OfCall selects the records of a tool call. The errors are those of [Exactly].
func OfCall(b *change.Book, toolCallID string) (Selection, error) {
	var ids []string
	for _, r := range b.Records {
		if toolCallID != "" && r.ToolCallID == toolCallID && b.Record(r.ID) != nil {
			ids = append(ids, r.ID)
		}
	}
	if len(ids) == 0 {
		return Selection{}, fault.New(fault.NotFound, "The tool call %s has no record of changed files.", fault.OneLine(toolCallID))
	}
	return Exactly(b, ids)
}

func takenBack() error {
	return fault.New(fault.NotFound, "These changes are already undone.")
}

// Redo selects the changes of a rewind. If id is "", it is the newest rewind that is still active. The error has the kind notFound or
// newerVersion.
func Redo(b *change.Book, id string) (Selection, error) {
	rewinds, redoable := b.Rewinds()
	for _, r := range rewinds {
		switch {
		case id == "" && !redoable(r), id != "" && r.ID != id:
			continue
		case r.Unreadable:
			return Selection{}, fault.New(fault.NewerVersion, "The rewind %s can't be read, so it can't be redone. It is of a newer version, or its content is missing.", r.ID)
		case !redoable(r):
			return Selection{}, fault.New(fault.NotFound, "The rewind %s is already redone.", r.ID)
		}
		s := Selection{Records: []*change.Record{r}, Redoes: r.ID}
		for _, p := range r.Paths() {
			c, _ := r.Change(p)
			if p != "" && b.Redoable(r, p) && !slices.ContainsFunc(s.Chains, func(c Chain) bool { return c.Path == p }) {
				s.Chains = append(s.Chains, Chain{Path: p, Steps: []change.Step{{Record: r, Change: c}}})
				s.later(b, p, r.Seq, func(o *change.Record) bool { return o == r })
			}
		}
		return s, nil
	}
	if id == "" {
		return Selection{}, fault.New(fault.NotFound, "There is no rewind to redo.")
	}
	return Selection{}, fault.New(fault.NotFound, "This session has no rewind %s.", fault.OneLine(id))
}
