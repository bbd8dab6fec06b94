package upkeep

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/afero"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/internal/disk"
	"github.com/xcsh-ls/xcsh-ls/session/library"
	"github.com/xcsh-ls/xcsh-ls/session/lock"
)

// Minimum ages of garbage. A writer of a session stores its images first and the
// references to them a moment later; an hour is far more than that takes.
const (
	gcMinAge   = time.Hour
	gcTrashAge = 30 * 24 * time.Hour
)

// GCOptions configure [FindGarbage].
type GCOptions struct {
	Trash     bool          // include the content of the trash
	OlderThan time.Duration // nothing younger is garbage; 0: an hour, and thirty days for the trash
	Also      []string      // further directories that may hold sessions, absolute; they must exist

	// Progress, if set, is called after each file that [FindGarbage] searches, with their number so far.
	Progress func(files int)
}

// GCItem is an unneeded file or directory.
type GCItem struct {
	Path     string `json:"path"`
	Size     int64  `json:"size"`     // bytes, of a directory with all that is in it
	Modified string `json:"modified"` // ISO 8601; of something in the trash when it went there
	Was      string `json:"was,omitempty"`

	state disk.State
	lock  lock.Stale
}

// Garbage holds the unneeded files, by how they are removed. The lists are sorted by path
// and never nil.
type Garbage struct {
	Blobs     []GCItem `json:"blobs"`     // images that no session names; they go to the trash
	Leftovers []GCItem `json:"leftovers"` // unfinished files of writers that died, caches of older versions; they go to the trash
	Locks     []GCItem `json:"locks"`     // of programs that ended; they are removed
	Indexes   []GCItem `json:"indexes"`   // index files of sessions that no longer exist, or that are of no use; they are removed
	Trash     []GCItem `json:"trash"`     // they are removed for good; Was is where a session was
	FilesRead int      `json:"filesRead"` // how many files were searched for names of images

	look *gcLook
}

// FindGarbage finds the unneeded files in our own root, and stale locks in all of them. It
// changes nothing on disk.
//
// An image is in use if any file refers to it, below the agent directory, the sessions and
// the trash of any root, the session directory or those in o: files are searched as bytes,
// so that damage, an unknown form or a strange name hides nothing. Any place that cannot
// be searched is an error, because it may refer to images: a directory or file that cannot
// be read, a link to sessions that leads nowhere, a missing session directory. The images
// of other programs are left to them.
func FindGarbage(ctx context.Context, s *session.Store, f library.Finder, o GCOptions) (*Garbage, error) {
	l := &gcLook{s: s, f: f, o: o, now: s.Now(), read: map[string]disk.State{}, used: map[string]bool{}}
	l.minAge = max(gcMinAge, o.OlderThan)
	g := &Garbage{Blobs: []GCItem{}, Leftovers: []GCItem{}, Locks: []GCItem{}, Indexes: []GCItem{}, Trash: []GCItem{}, look: l}
	// Images before the files that refer to them: an image stored during the search is not in
	// the list, whichever file refers to it.
	blobs, err := l.blobs()
	if err != nil {
		return nil, err
	}
	if err := l.search(ctx, len(blobs) > 0, g.classify); err != nil {
		return nil, err
	}
	for _, b := range blobs {
		if !l.used[filepath.Base(b.Path)] && l.old(b.state.Mod) {
			g.Blobs = append(g.Blobs, b)
		}
	}
	g.FilesRead = len(l.read)
	if err := g.listIndexes(); err != nil {
		return nil, err
	}
	if o.Trash {
		if err := g.listTrash(); err != nil {
			return nil, err
		}
	}
	for _, list := range []*[]GCItem{&g.Blobs, &g.Leftovers, &g.Locks, &g.Indexes, &g.Trash} {
		slices.SortFunc(*list, func(a, b GCItem) int { return cmp.Compare(a.Path, b.Path) })
	}
	return g, nil
}

// Empty reports whether there is nothing to remove.
func (g *Garbage) Empty() bool {
	return len(g.Blobs)+len(g.Leftovers)+len(g.Locks)+len(g.Indexes)+len(g.Trash) == 0
}

// classify adds a file that was found in tree, if it is garbage by its name and age.
func (g *Garbage) classify(tree gcTree, path string, info os.FileInfo) {
	l := g.look
	if !l.old(info.ModTime()) {
		return
	}
	state := disk.State{Info: info, Size: info.Size(), Mod: info.ModTime()}
	item := GCItem{Path: path, Size: state.Size, Modified: session.FormatTime(state.Mod), state: state}
	if l.s.Locks.IsLock(path, l.s.LockDir) {
		if lock, ok := l.s.Locks.Stale(path, l.s.LockDir); ok {
			item.lock = lock
			g.Locks = append(g.Locks, item)
		}
		return
	}
	if tree.own && (l.isUnfinished(path) || l.f.StaleCache(path)) {
		g.Leftovers = append(g.Leftovers, item)
	}
}

// gcLook is one search of everything, and its results.
type gcLook struct {
	s      *session.Store
	f      library.Finder
	o      GCOptions
	now    time.Time
	minAge time.Duration
	read   map[string]disk.State // the files that were searched, as they were
	used   map[string]bool       // the hashes that they name
	buf    []byte                // read buffer
}

func (l *gcLook) old(t time.Time) bool { return l.now.Sub(t) >= l.minAge }

// ownBlobs is the directory of our images, "" for none.
func (l *gcLook) ownBlobs() string {
	for _, r := range l.f.Roots {
		if r.Own {
			return r.Blobs
		}
	}
	return ""
}

// blobs lists the images of our own root.
func (l *gcLook) blobs() ([]GCItem, error) {
	dir := l.ownBlobs()
	if dir == "" {
		return nil, nil
	}
	infos, err := afero.ReadDir(l.s.Fs, dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, gcUnseen(dir, err)
	}
	var items []GCItem
	for _, info := range infos {
		if isBlobName(info.Name()) && info.Mode().IsRegular() {
			items = append(items, GCItem{
				Path: filepath.Join(dir, info.Name()), Size: info.Size(), Modified: session.FormatTime(info.ModTime()),
				state: disk.State{Info: info, Size: info.Size(), Mod: info.ModTime()},
			})
		}
	}
	return items, nil
}

func isBlobName(name string) bool {
	return len(name) == 64 && strings.Trim(name, "0123456789abcdef") == ""
}

// listTrash adds the items that have been in the trash for long enough.
func (g *Garbage) listTrash() error {
	l := g.look
	age := gcTrashAge
	if l.o.OlderThan > 0 {
		age = l.minAge
	}
	sessions, err := ListTrash(l.s, l.f.Roots)
	if err != nil {
		return err
	}
	for _, t := range sessions {
		if at, ok := session.ParseTime(t.TrashedAt); ok && l.now.Sub(at) >= age {
			g.Trash = append(g.Trash, GCItem{Path: t.Dir, Size: sizeOfTree(l.s.Fs, t.Dir), Modified: session.FormatTime(at), Was: t.Path})
		}
	}
	blobs := l.ownBlobs()
	if blobs == "" {
		return nil
	}
	trash := filepath.Join(filepath.Dir(blobs), "trash")
	entries, err := afero.ReadDir(l.s.Fs, trash)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return disk.Fault("read", trash, err)
	}
	for _, e := range entries {
		if at, ok := gcDirTime(e.Name()); ok && e.IsDir() && l.now.Sub(at) >= age {
			path := filepath.Join(trash, e.Name())
			g.Trash = append(g.Trash, GCItem{Path: path, Size: sizeOfTree(l.s.Fs, path), Modified: session.FormatTime(at)})
		}
	}
	return nil
}

// gcDirLayout is how a directory of collected garbage in the trash is called.
const gcDirLayout = "gc-20060102T150405.000Z"

func gcDirTime(name string) (time.Time, bool) {
	at, err := time.Parse(gcDirLayout, name)
	return at, err == nil
}

func sizeOfTree(fsys afero.Fs, dir string) (size int64) {
	_ = afero.Walk(fsys, dir, func(_ string, info os.FileInfo, err error) error { // unreadable files have no known size
		if err == nil && info.Mode().IsRegular() {
			size += info.Size()
		}
		return nil
	})
	return size
}

// gcUnseen is the error that says why nothing counts as garbage.
func gcUnseen(path string, err error) error {
	cause := err
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		cause = pe.Err
	}
	f := fault.New(fault.IO, "Nothing was removed, because %s cannot be read and may name images: %s.", path, cause).With("path", path)
	f.Err = err
	return f
}
