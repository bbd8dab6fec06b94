package library

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/spf13/afero"

	"github.com/xcsh-ls/xcsh-ls/session/internal/disk"
)

// listCache holds the results of earlier listings in one file:
//
//	magic with a version, CRC-32C of the rest (4 bytes, little-endian), then per
//	directory its path and its records, each record with its length before it
//
// It is disposable. The set of sessions never comes from it but from their directories; a
// record describes the content of a file and is valid only as long as the file has its
// stamp. A cache that is missing, damaged, of another version or unwritable only makes a
// listing slower. If several servers write it, the last one wins.
type listCache struct {
	fs      afero.Fs
	path    string
	folders map[string]*cachedFolder
}

// cachedFolder holds the records of one directory.
type cachedFolder struct {
	raw    string
	once   sync.Once
	byName map[string]string // raw records by the name of the file; set by once
}

// The name of the file in which the cache is stored, and the beginning of its content.
const (
	cacheName  = "sessions.cache"
	cacheMagic = "xcsh-ls list 2\n"
	cacheHead  = len(cacheMagic) + 4

	// maxCache is the largest cache read or written, in bytes: some hundred thousand
	// sessions.
	maxCache = 128 << 20
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// openListCache reads the cache in dir. An unusable cache is empty.
func openListCache(fsys afero.Fs, dir string) *listCache {
	c := &listCache{fs: fsys, path: filepath.Join(dir, cacheName)}
	body, ok := c.read()
	if ok {
		c.folders, ok = parseListCache(body)
	}
	if !ok {
		c.folders = map[string]*cachedFolder{}
	}
	return c
}

// CachedDirs returns the directories whose sessions are in the cache of lists.
func (f Finder) CachedDirs() []string {
	if f.CacheDir == "" {
		return nil
	}
	return slices.Collect(maps.Keys(openListCache(f.Fs, f.CacheDir).folders))
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
		return isUnfinishedCache(name)
	}
	file, err := f.Fs.Open(path)
	if err != nil {
		return false
	}
	defer file.Close()
	head := make([]byte, len(cacheMagic)+8)
	n, _ := io.ReadFull(file, head) // a shorter one is no cache
	version, ok := cacheVersion(string(head[:n]))
	current, _ := cacheVersion(cacheMagic)
	return ok && version < current
}

func isUnfinishedCache(name string) bool {
	temp, _ := filepath.Match(cacheName+".*.tmp", name)
	return temp
}

// cacheVersion reads the version off the beginning of a cache.
func cacheVersion(head string) (version int, ok bool) {
	line, _, ok := strings.Cut(head, "\n")
	number, named := strings.CutPrefix(line, "xcsh-ls list ")
	version, err := strconv.Atoi(number)
	return version, ok && named && err == nil
}

// read returns the cache after its checksum, which is correct. It is one string, so that
// the parts read from it share its memory.
func (c *listCache) read() (body string, ok bool) {
	info, err := c.fs.Stat(c.path) // first: opening a pipe might block forever
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxCache {
		return "", false
	}
	f, err := c.fs.Open(c.path)
	if err != nil {
		return "", false
	}
	defer f.Close()
	head := make([]byte, cacheHead)
	if _, err := io.ReadFull(f, head); err != nil || string(head[:len(cacheMagic)]) != cacheMagic {
		return "", false
	}
	var text strings.Builder
	text.Grow(max(0, int(info.Size())-cacheHead))
	sum := crc32.New(castagnoli)
	if _, err := io.Copy(io.MultiWriter(&text, sum), io.LimitReader(f, maxCache)); err != nil {
		return "", false
	}
	return text.String(), sum.Sum32() == binary.LittleEndian.Uint32(head[len(cacheMagic):])
}

func parseListCache(body string) (map[string]*cachedFolder, bool) {
	folders := map[string]*cachedFolder{}
	for r := (recordReader{rest: body}); r.rest != ""; {
		dir, raw := r.text(), r.text()
		if r.bad {
			return nil, false
		}
		folders[dir] = &cachedFolder{raw: raw}
	}
	return folders, true
}

// find returns the raw record of the file at path.
func (c *listCache) find(path string) (raw string, ok bool) {
	folder := c.folders[filepath.Dir(path)]
	if folder == nil {
		return "", false
	}
	folder.once.Do(folder.index)
	raw, ok = folder.byName[filepath.Base(path)]
	return raw, ok
}

func (d *cachedFolder) index() {
	d.byName = map[string]string{}
	for r := (recordReader{rest: d.raw}); r.rest != ""; {
		raw := r.text()
		name := (&recordReader{rest: raw}).text()
		d.byName[name] = raw
	}
}

// save writes a cache in which all of the folders is new and the rest unchanged; raw are
// the records of files, "" for a file without one. A failure is ignored.
func (c *listCache) save(folders []folder, files []sessionFile, raw []string, now time.Time) {
	sections := make(map[string][]byte, len(folders))
	for _, d := range folders {
		sections[filepath.Clean(d.path)] = nil
	}
	for i, file := range files {
		if dir := filepath.Dir(file.Path); raw[i] != "" {
			sections[dir] = appendText(sections[dir], raw[i])
		}
	}
	for dir, old := range c.folders {
		if _, listed := sections[dir]; !listed && c.isThere(dir) {
			sections[dir] = []byte(old.raw)
		}
	}
	var body []byte
	for _, dir := range slices.Sorted(maps.Keys(sections)) {
		if section := sections[dir]; len(section) > 0 {
			body = appendText(body, dir)
			body = appendText(body, string(section))
		}
	}
	if len(body) <= maxCache-cacheHead {
		_ = c.write(sealListCache(body), now) // best effort; a later list writes it
	}
}

func sealListCache(body []byte) []byte {
	content := append(make([]byte, 0, cacheHead+len(body)), cacheMagic...)
	content = binary.LittleEndian.AppendUint32(content, crc32.Checksum(body, castagnoli))
	return append(content, body...)
}

// isThere reports whether a directory exists, or may exist.
func (c *listCache) isThere(dir string) bool {
	_, err := c.fs.Stat(dir)
	return !errors.Is(err, fs.ErrNotExist)
}

// write replaces the cache as a whole. Only its owner may read it, as TempFile makes it:
// it holds first messages. It is not synced: the checksum reveals a file damaged by a
// crash.
func (c *listCache) write(content []byte, now time.Time) error {
	dir := filepath.Dir(c.path)
	// Not MkdirAll: reading lists does not create an agent directory.
	if err := c.fs.Mkdir(filepath.Dir(dir), disk.DirMode); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	if err := c.fs.Mkdir(dir, disk.DirMode); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	c.removeLeftovers(dir, now)
	f, err := afero.TempFile(c.fs, dir, cacheName+".*.tmp")
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if err = errors.Join(err, f.Close()); err == nil {
		err = c.fs.Rename(f.Name(), c.path)
	}
	if err != nil {
		_ = c.fs.Remove(f.Name()) // best effort; a later write removes it
	}
	return err
}

// removeLeftovers removes the files of servers that died while they wrote.
func (c *listCache) removeLeftovers(dir string, now time.Time) {
	entries, err := afero.ReadDir(c.fs, dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		if isUnfinishedCache(e.Name()) && now.Sub(e.ModTime()) > time.Hour {
			_ = c.fs.Remove(filepath.Join(dir, e.Name())) // best effort; a later write removes it
		}
	}
}
