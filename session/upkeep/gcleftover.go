package upkeep

import (
	"fmt"
	"path/filepath"
	"regexp"
)

// Patterns of unfinished files' names: a hidden name with an id of ours, or the random
// part of an image's or a breadcrumb's, before its end.
var (
	unfinishedName  = regexp.MustCompile(`^\..+\.([0-9a-f]{16}|[A-Z2-7]{26})\.tmp$`)
	unfinishedCrumb = regexp.MustCompile(`^\..+\.[0-9]+\.tmp$`)
)

// isUnfinished reports whether path has the name of a file that a writer of this package
// would have renamed when it was complete. After a crash it may be the only copy of its
// content, so it goes to the trash. Of the cache of lists, see [library.Finder.StaleCache].
func (l *gcLook) isUnfinished(path string) bool {
	dir, name := filepath.Split(path)
	dir = filepath.Clean(dir)
	if dir == filepath.Clean(l.f.CacheDir) {
		return false
	}
	for _, r := range l.f.Roots {
		if r.Own && dir == filepath.Clean(r.Terminals) && unfinishedCrumb.MatchString(name) {
			return true
		}
	}
	return unfinishedName.MatchString(name)
}

// gcMove is one line of the record of the files moved to the trash.
type gcMove struct {
	From string `json:"from"`
	To   string `json:"to"`
}

// gcTarget is the path of an item within the directory of the collection. The name is kept
// to be recognised; the number distinguishes two of one name.
func gcTarget(kind string, i int, path string) string {
	if kind == "blobs" {
		return filepath.Join(kind, filepath.Base(path))
	}
	return filepath.Join(kind, fmt.Sprintf("%d-%s", i+1, filepath.Base(path)))
}
