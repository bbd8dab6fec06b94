package library

import (
	"path/filepath"

	"github.com/xcsh-ls/xcsh-ls/session/internal/rows"
)

// The cache of lists holds the results of earlier listings in one file of [rows]. It is
// disposable. The set of sessions never comes from it but from their directories; a
// row describes the content of a file and is valid only as long as the file has its
// stamp. A cache that is missing, damaged, of another version or unwritable only makes a
// listing slower.
const cacheName = "sessions.cache"

func (f Finder) cachePath() string { return filepath.Join(f.CacheDir, cacheName) }

// CachedDirs returns the directories whose sessions are in the cache of lists.
func (f Finder) CachedDirs() []string {
	if f.CacheDir == "" {
		return nil
	}
	cache := rows.Open(f.Fs, f.cachePath())
	defer cache.Close()
	return cache.Dirs()
}

// StaleCache reports whether the file at path is a cache of lists that is no longer read:
// one of an older version, or one that was not finished. A cache of a newer version is left
// to that version.
func (f Finder) StaleCache(path string) bool {
	dir, name := filepath.Split(path)
	if f.CacheDir == "" || filepath.Clean(dir) != filepath.Clean(f.CacheDir) {
		return false
	}
	if name != cacheName {
		return rows.IsUnfinished(cacheName, name)
	}
	return rows.Outdated(f.Fs, path)
}
