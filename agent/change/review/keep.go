package review

import (
	"slices"

	"github.com/xcsh-ls/xcsh-ls/agent/change"
	"github.com/xcsh-ls/xcsh-ls/agent/change/wire"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

// Kept is the content of a review entry.
type Kept struct {
	Pairs []change.Kept // with absolute paths
	Hunks int           // kept hunks
	Left  int           // remaining pending hunks of the session
}

// Keep returns the pairs from which the pending changes start after the given hunks and paths are kept. put stores the contents of the
// pairs. The error has the kind stale, with "path", if a hunk has changed, notFound for a path that the session did not change, or
// invalidArgument.
func Keep(in *Input, args wire.KeepArgs, put func([]byte) (string, error)) (k Kept, err error) {
	chosen, err := in.choose(args.Hunks, args.Paths, args.All)
	if err != nil {
		return k, err
	}
	total, err := in.Pending()
	if err != nil {
		return k, err
	}
	for _, c := range chosen {
		pairs, n, err := in.keep(c, put)
		if err != nil {
			return k, err
		}
		k.Pairs = append(k.Pairs, pairs...)
		k.Hunks += n
	}
	k.Left = total - k.Hunks
	return k, nil
}

// choice is the selected hunks of a path; nil hunks select all.
type choice struct {
	view  *view
	hunks []string
}

func (c choice) has(h hunk) bool { return c.hunks == nil || slices.Contains(c.hunks, h.id) }

// choose finds the pending changes of a selection. Each path occurs once, sorted.
func (in *Input) choose(hunks []wire.HunkRef, paths []string, all bool) (chosen []choice, err error) {
	some := map[string][]string{}
	for _, h := range hunks {
		some[h.Path] = append(some[h.Path], h.Hunk)
	}
	whole := slices.Clone(paths)
	if all {
		whole = append(whole, in.Book.AllPaths(nil)...)
	}
	if len(some) == 0 && len(whole) == 0 && !all {
		return nil, fault.New(fault.InvalidArgument, "Specify hunks or paths, or set all.").With("field", "hunks")
	}
	names := slices.Clone(whole)
	for p := range some {
		names = append(names, p)
	}
	slices.Sort(names)
	for _, p := range slices.Compact(names) {
		v, err := in.named(p)
		if err != nil {
			return nil, err
		}
		c := choice{view: v, hunks: some[p]}
		if slices.Contains(whole, p) {
			c.hunks = nil
		}
		if slices.ContainsFunc(chosen, func(o choice) bool { return o.view == v }) {
			continue // the old name of a rename
		}
		for _, id := range c.hunks {
			if !v.offers(id) {
				return nil, fault.New(fault.Stale, "The change in %s is out of date. Refresh the changes and try again.", p).With("path", p)
			}
		}
		if v.open() > 0 {
			chosen = append(chosen, c)
		}
	}
	return chosen, nil
}

// offers reports whether an id is that of a pending hunk. A change that is not text has the id "".
func (v *view) offers(id string) bool {
	pending := v.pending()
	if id == "" {
		return len(pending) == 0 && v.open() > 0
	}
	return slices.ContainsFunc(pending, func(h hunk) bool { return h.id == id })
}

// named returns the pending changes of a path. The old path of a rename stands for the new one.
func (in *Input) named(abs string) (*view, error) {
	if len(in.Book.Chain(abs, nil)) == 0 && len(in.Book.Pending(abs)) == 0 {
		return nil, fault.New(fault.NotFound, "This session has no changes in %s.", abs).With("path", abs)
	}
	if err := in.findMoves(); err != nil {
		return nil, err
	}
	if to := in.gone[abs]; to != "" {
		abs = to
	}
	return in.pendingView(abs)
}

// Pending returns the number of pending hunks of the session.
func (in *Input) Pending() (n int, err error) {
	for _, p := range in.Book.AllPaths(nil) {
		v, err := in.pendingView(p)
		if err != nil {
			return 0, err
		}
		n += v.open()
	}
	return n, nil
}

// keep returns the pairs of one choice.
func (in *Input) keep(c choice, put func([]byte) (string, error)) (pairs []change.Kept, n int, err error) {
	v := c.view
	pending := v.pending()
	for _, h := range pending {
		if c.has(h) {
			n++
		}
	}
	now := v.now.State
	pair := change.Kept{Path: v.path, Before: now, After: now}
	if n < len(pending) {
		state, content := v.state(v.with(func(h hunk) bool { return h.committed || c.has(h) }), v.target.State)
		if _, err := put(content); err != nil {
			return nil, 0, err
		}
		if _, err := put(v.now.Content); err != nil {
			return nil, 0, err
		}
		pair.Before = state
	} else if n = v.open(); v.now.Unknown {
		return nil, 0, fault.New(fault.IO, "%s: %s", v.path, v.now.Why).With("path", v.path)
	}
	pairs = append(pairs, pair)
	if v.from != "" {
		gone := change.State{Kind: change.Absent}
		pairs = append(pairs, change.Kept{Path: v.from, Before: gone, After: gone})
	}
	return pairs, n, nil
}
