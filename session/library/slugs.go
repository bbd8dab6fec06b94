package library

import (
	"cmp"
	"context"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/session/internal/rows"
)

// numberSlugs gives each of the shown sessions of a complete listing its slug. If several in one
// folder would have the same, the one created first keeps it and the others get -2, -3 and so on,
// in the order of their creation.
func (l *listing) numberSlugs(ctx context.Context, shown []int) {
	if !l.anyShared(shown) {
		return
	}
	taken, shared := map[slugKey]int{}, map[folderSlug][]*Info{}
	folder := l.folderNumbers()
	for i := range l.found {
		if l.found[i].err == nil {
			taken[slugKey{folder(i), l.found[i].key}]++
		}
	}
	w := l.newWorker(ctx)
	for i := range l.found {
		o := &l.found[i]
		if o.err != nil || taken[slugKey{folder(i), o.key}] < 2 {
			continue
		}
		if w.fill(i); o.err == nil {
			at := folderSlug{folder(i), o.info.Slug}
			shared[at] = append(shared[at], o.info)
		}
	}
	for _, at := range sortedSlugs(shared) {
		same := shared[at]
		slices.SortFunc(same, func(a, b *Info) int { return cmp.Or(strings.Compare(a.Created, b.Created), ByName(a.Path, b.Path)) })
		n := 2
		for _, i := range same[1:] {
			for ; taken[at.numbered(n).key()] > 0; n++ {
			}
			i.Slug = numbered(at.slug, n)
			taken[at.numbered(n).key()]++
		}
	}
}

// anyShared reports whether one of the shown sessions may have to share its slug. It decodes
// nothing, and most lists end here.
func (l *listing) anyShared(shown []int) bool {
	keys := make(map[uint64]int, len(shown))
	for _, i := range shown {
		keys[l.found[i].key] = 0
	}
	several := false
	for i := range l.found {
		if n, ok := keys[l.found[i].key]; ok && l.found[i].err == nil {
			keys[l.found[i].key] = n + 1
			several = several || n > 0
		}
	}
	if !several {
		return false
	}
	folder, taken := l.folderNumbers(), map[slugKey]bool{}
	for i := range l.found {
		if l.found[i].err != nil || keys[l.found[i].key] < 2 {
			continue
		}
		at := slugKey{folder(i), l.found[i].key}
		if taken[at] {
			return true
		}
		taken[at] = true
	}
	return false
}

// folderSlug must be unique among sessions.
type folderSlug struct {
	folder int
	slug   string
}

// slugKey stands for a folderSlug: different ones hardly ever have the same.
type slugKey struct {
	folder int
	hash   uint64
}

func (s folderSlug) key() slugKey { return slugKey{s.folder, rows.Hash(s.slug)} }

func (s folderSlug) numbered(n int) folderSlug { return folderSlug{s.folder, numbered(s.slug, n)} }

func sortedSlugs(m map[folderSlug][]*Info) []folderSlug {
	keys := make([]folderSlug, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b folderSlug) int {
		return cmp.Or(cmp.Compare(a.folder, b.folder), strings.Compare(a.slug, b.slug))
	})
	return keys
}

// numbered is a slug with a number appended, not longer than the maximum.
func numbered(slug string, n int) string {
	end := "-" + strconv.Itoa(n)
	return strings.TrimRight(slug[:min(len(slug), maxSlug-len(end))], "-.") + end
}

// folderNumbers returns a function that gives the number of the folder of file i: always zero if the
// listing is of one folder.
func (l *listing) folderNumbers() func(i int) int {
	if !l.everywhere {
		return func(int) int { return 0 }
	}
	byDir, byKey := map[string]int{}, map[string]int{} // resolving links once per session would take longer than the listing
	return func(i int) int {
		dir := cmp.Or(l.found[i].cwd(), filepath.Dir(l.files[i].path()))
		n, ok := byDir[dir]
		if !ok {
			key := foldPath(realOr(l.f.RealPath, cleanPath(dir)))
			if n, ok = byKey[key]; !ok {
				n = len(byKey)
				byKey[key] = n
			}
			byDir[dir] = n
		}
		return n
	}
}

// cwd returns the working directory of a session that is wanted.
func (o *found) cwd() string {
	if o.info != nil {
		return o.info.Cwd
	}
	return o.row.Group()
}
