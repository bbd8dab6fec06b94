package look

import (
	"context"
	"io/fs"
	"maps"
	"path/filepath"

	"github.com/xcsh-ls/xcsh-ls/agent/change"
	"github.com/xcsh-ls/xcsh-ls/agent/change/disk"
)

// after returns the changes since before.
func (r *root) after(ctx context.Context, l *Look) ([]change.Change, error) {
	if _, err := disk.Lstat(r.fs, r.top); err != nil {
		r.git = r.apart() // the work tree is gone
	}
	if _, err := disk.Lstat(r.fs, r.own.Objects); err != nil { // without objects git can't even list dirty files
		r.own.Objects = filepath.Join(r.own.Dir, "objects")
		if err := r.fs.MkdirAll(r.own.Objects, 0o700); err != nil {
			return nil, err
		}
	}
	var dirty, others []string
	var now ignored
	err := together(func() (err error) {
		dirty, err = r.dirty(ctx, l.o.maxPaths())
		return err
	}, func() (err error) {
		others, err = r.others(ctx)
		return err
	}, func() (err error) {
		now, err = l.o.Memory.ignoredOf(ctx, r)
		return err
	})
	if err != nil {
		return nil, err
	}
	if now.More {
		l.limit(change.LimitIgnored)
	}
	created := r.created(l, others, now)
	var clean []string // tracked and clean before, so their contents are in the index
	for _, rel := range dirty {
		if abs, ok := r.inside(rel); ok && !r.isKept(abs) && !created[abs] {
			clean = append(clean, rel)
		}
	}
	if len(clean)+len(created) > l.o.maxPaths() {
		l.limit(change.LimitLarge)
		return nil, nil // git can restore them
	}
	return r.compare(ctx, l, clean, created)
}

// created returns the untracked paths that did not exist before. Files that are no longer ignored are not new: the rules changed.
func (r *root) created(l *Look, others []string, now ignored) map[string]bool {
	files, nested := r.files(others)
	for _, dir := range nested {
		if !r.isNested(dir) {
			l.limit(change.LimitSubmodule) // a new one
		}
	}
	if more, limited := r.ignored.added(now); len(more) > 0 || limited {
		files = append(files, more...)
		if limited {
			l.limit(change.LimitIgnored)
		}
	}
	created := map[string]bool{}
	for _, rel := range files {
		abs, ok := r.inside(rel)
		switch {
		case !ok || r.isKept(abs) || r.isNested(abs): // an earlier nested repository has its own root
		case r.ignored.covers(rel):
			l.limit(change.LimitIgnored)
		default:
			created[abs] = true
		}
	}
	return created
}

// compare compares the states before and after.
func (r *root) compare(ctx context.Context, l *Look, clean []string, created map[string]bool) (changes []change.Change, err error) {
	for abs := range created {
		if info, err := disk.Lstat(r.fs, abs); err == nil && info.Mode()&fs.ModeSymlink != 0 {
			clean = append(clean, r.rel(abs)) // git does not list the files that were below the link if it is a loop
		}
	}
	before, err := r.blobs(ctx, l, clean)
	if err != nil {
		return nil, err
	}
	for abs := range created {
		before[abs] = change.State{Kind: change.Absent}
	}
	maps.Copy(before, r.kept)
	for abs, id := range r.over {
		if info, err := disk.Lstat(r.fs, abs); err != nil || identity(info) != id {
			before[abs] = change.State{Kind: change.Large}
		}
	}
	paths := make([]string, 0, len(before))
	for abs := range before {
		paths = append(paths, abs)
	}
	after, err := l.states(ctx, paths)
	if err != nil {
		return nil, err
	}
	for i, abs := range paths {
		if c, ok := l.changed(abs, before[abs], after[i]); ok {
			changes = append(changes, c)
		}
	}
	return changes, nil
}

func (r *root) isKept(abs string) bool {
	_, kept := r.kept[abs]
	_, over := r.over[abs]
	return kept || over
}

// isNested reports whether a path is in an earlier nested repository.
func (r *root) isNested(abs string) bool { return below(abs, r.nested) }
