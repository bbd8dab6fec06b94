package session

import (
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// What an unfinished file is called: a hidden name with an id of ours, or the random part
// of an image's or a breadcrumb's, before its end.
var (
	unfinishedName  = regexp.MustCompile(`^\..+\.([0-9a-f]{16}|[A-Z2-7]{26})\.tmp$`)
	unfinishedCrumb = regexp.MustCompile(`^\..+\.[0-9]+\.tmp$`)
)

// isUnfinished reports whether path has the name of a file that a writer of ours would
// have renamed when it was complete. After a crash it may be the only copy of what was
// written, so that it goes to the trash.
func (l *gcLook) isUnfinished(path string) bool {
	dir, name := filepath.Split(path)
	dir = filepath.Clean(dir)
	if dir == filepath.Clean(l.f.CacheDir) {
		temp, _ := filepath.Match(cacheName+".*.tmp", name)
		return temp
	}
	for _, r := range l.f.Roots {
		if r.Own && dir == filepath.Clean(r.Terminals) && unfinishedCrumb.MatchString(name) {
			return true
		}
	}
	return unfinishedName.MatchString(name)
}

// isOldCache reports whether the file at path is a cache of lists that an older version
// wrote and nobody reads any more. One of a newer version is that one's.
func (l *gcLook) isOldCache(path string) bool {
	if l.f.CacheDir == "" || path != filepath.Join(l.f.CacheDir, cacheName) {
		return false
	}
	f, err := l.s.Fs.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, len(cacheMagic)+8)
	n, _ := io.ReadFull(f, head) // a shorter one is no cache
	there, ok := cacheVersion(string(head[:n]))
	current, _ := cacheVersion(cacheMagic)
	return ok && there < current
}

// cacheVersion reads the version off the beginning of a cache.
func cacheVersion(head string) (version int, ok bool) {
	line, _, ok := strings.Cut(head, "\n")
	number, named := strings.CutPrefix(line, "xcsh-ls list ")
	version, err := strconv.Atoi(number)
	return version, ok && named && err == nil
}

// lockAt returns the lock that the file at path is by its name and place: one of the
// sessions that are open, one that is held for a write, or what who takes one over holds
// meanwhile.
func (l *gcLook) lockAt(path string) (lock lockFile, ok bool) {
	dir, name := filepath.Split(path)
	env := l.s.locks.env
	lock = lockFile{fs: l.s.Fs, path: path, of: path, env: env, judge: env.judgePublish}
	whose := name
	for strings.HasSuffix(whose, ".claim") {
		whose = strings.TrimSuffix(whose, ".claim")
		lock.depth++
	}
	if l.s.LockDir != "" && filepath.Clean(dir) == filepath.Clean(l.s.LockDir) {
		if lock.depth == 0 {
			lock.judge = env.judgeSession
		}
		return lock, strings.HasSuffix(whose, ".lock")
	}
	return lock, strings.HasPrefix(whose, ".") && strings.HasSuffix(whose, ".jsonl.lock")
}

// gcMove is one line of the record of what went to the trash.
type gcMove struct {
	From string `json:"from"`
	To   string `json:"to"`
}

// gcTarget is where an item goes below the directory of what was collected. The name
// stays to be recognised; the number keeps two of one name apart.
func gcTarget(kind string, i int, path string) string {
	if kind == "blobs" {
		return filepath.Join(kind, filepath.Base(path))
	}
	return filepath.Join(kind, fmt.Sprintf("%d-%s", i+1, filepath.Base(path)))
}
