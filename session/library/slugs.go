package library

import (
	"cmp"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// numberSlugs gives each session of a complete listing its slug. If several in one folder
// would have the same, the one created first keeps it and the others get -2, -3 and so on,
// in the order of their creation.
func (l *listing) numberSlugs() {
	taken, shared := map[folderSlug]int{}, map[folderSlug][]*Info{}
	key := l.folderKey()
	for i := range l.results {
		if r := &l.results[i]; r.err == nil {
			taken[folderSlug{key(&r.info), r.info.Slug}]++
		}
	}
	if len(taken) == len(l.results) {
		return
	}
	for i := range l.results {
		r := &l.results[i]
		if at := (folderSlug{key(&r.info), r.info.Slug}); r.err == nil && taken[at] > 1 {
			shared[at] = append(shared[at], &r.info)
		}
	}
	for _, at := range sortedSlugs(shared) {
		same := shared[at]
		slices.SortFunc(same, func(a, b *Info) int { return cmp.Or(strings.Compare(a.Created, b.Created), ByName(a.Path, b.Path)) })
		n := 2
		for _, i := range same[1:] {
			for ; taken[folderSlug{at.folder, numbered(at.slug, n)}] > 0; n++ {
			}
			i.Slug = numbered(at.slug, n)
			taken[folderSlug{at.folder, i.Slug}]++
		}
	}
}

// folderSlug must be unique among sessions.
type folderSlug struct{ folder, slug string }

func sortedSlugs(m map[folderSlug][]*Info) []folderSlug {
	keys := make([]folderSlug, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b folderSlug) int {
		return cmp.Or(strings.Compare(a.folder, b.folder), strings.Compare(a.slug, b.slug))
	})
	return keys
}

// numbered is a slug with a number appended, not longer than the maximum.
func numbered(slug string, n int) string {
	end := "-" + strconv.Itoa(n)
	return strings.TrimRight(slug[:min(len(slug), maxSlug-len(end))], "-.") + end
}

// folderKey returns a function that gives the key of an Info's folder: always the empty
// key if the listing is of one folder.
func (l *listing) folderKey() func(*Info) string {
	if !l.everywhere {
		return func(*Info) string { return "" }
	}
	known := map[string]string{} // resolving links once per session would take longer than the listing
	return func(i *Info) string {
		dir := cmp.Or(i.Cwd, filepath.Dir(i.Path))
		key, ok := known[dir]
		if !ok {
			key = foldPath(realOr(l.f.RealPath, cleanPath(dir)))
			known[dir] = key
		}
		return key
	}
}
