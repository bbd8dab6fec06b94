package session

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

	"github.com/xcsh-ls/xcsh-ls/session/fault"
)

// How old things must be before they can be garbage. Whoever writes a session stores its
// images first and names them a moment later; an hour is far more than that takes.
const (
	gcMinAge   = time.Hour
	gcTrashAge = 30 * 24 * time.Hour
)

// GCOptions say what [Store.Garbage] looks for.
type GCOptions struct {
	Trash     bool          // also what is in the trash
	OlderThan time.Duration // nothing younger is garbage; 0: an hour, and thirty days for the trash
	Also      []string      // further directories that may hold sessions, absolute; they must exist
}

// GCItem is a file or directory that nothing needs.
type GCItem struct {
	Path     string `json:"path"`
	Size     int64  `json:"size"`     // bytes, of a directory with all that is in it
	Modified string `json:"modified"` // ISO 8601; of something in the trash when it went there
	Was      string `json:"was,omitempty"`

	state fileState
	lock  lockFile
}

// Garbage is what nothing needs any more, by what becomes of it. The lists are sorted by
// path and never nil.
type Garbage struct {
	Blobs     []GCItem `json:"blobs"`     // images that no session names; they go to the trash
	Leftovers []GCItem `json:"leftovers"` // unfinished files of writers that died, caches of older versions; they go to the trash
	Locks     []GCItem `json:"locks"`     // of programs that ended; they are removed
	Trash     []GCItem `json:"trash"`     // they are removed for good; Was is where a session was
	FilesRead int      `json:"filesRead"` // how many files were searched for names of images

	look *gcLook
}

// Garbage finds what nothing needs any more in our own root, and stale locks in all of
// them. It changes nothing on disk.
//
// An image is in use when any file names it, below the agent directory, the sessions
// and the trash of any root, the session directory or those in o: files are searched as
// bytes, so that damage, an unknown form or a strange name hides nothing. Whatever
// cannot be looked at is an error, because it may name images: a directory or file that
// cannot be read, a link to sessions that leads nowhere, a session directory that is not
// there. The images of other programs are theirs to clean up.
func (s *Store) Garbage(ctx context.Context, f Finder, o GCOptions) (*Garbage, error) {
	l := &gcLook{s: s, f: f, o: o, now: s.now(), read: map[string]fileState{}, used: map[string]bool{}}
	l.minAge = max(gcMinAge, o.OlderThan)
	g := &Garbage{Blobs: []GCItem{}, Leftovers: []GCItem{}, Locks: []GCItem{}, Trash: []GCItem{}, look: l}
	// Images before the files that name them: what is stored while we read is not in the
	// list, whoever names it.
	blobs, err := l.blobs()
	if err != nil {
		return nil, err
	}
	if err := l.search(ctx, len(blobs) > 0, g.classify); err != nil {
		return nil, err
	}
	for _, b := range blobs {
		if !l.used[filepath.Base(b.Path)] && l.old(b.state.mod) {
			g.Blobs = append(g.Blobs, b)
		}
	}
	g.FilesRead = len(l.read)
	if o.Trash {
		if err := g.listTrash(); err != nil {
			return nil, err
		}
	}
	for _, list := range []*[]GCItem{&g.Blobs, &g.Leftovers, &g.Locks, &g.Trash} {
		slices.SortFunc(*list, func(a, b GCItem) int { return cmp.Compare(a.Path, b.Path) })
	}
	return g, nil
}

// Empty reports whether there is nothing to remove.
func (g *Garbage) Empty() bool {
	return len(g.Blobs)+len(g.Leftovers)+len(g.Locks)+len(g.Trash) == 0
}

// classify takes a file that was met in tree, if it is garbage by its name and age.
func (g *Garbage) classify(tree gcTree, path string, info os.FileInfo) {
	l := g.look
	if !l.old(info.ModTime()) {
		return
	}
	state := fileState{info: info, size: info.Size(), mod: info.ModTime()}
	item := GCItem{Path: path, Size: state.size, Modified: FormatTime(state.mod), state: state}
	if lock, ok := l.lockAt(path); ok {
		if _, owner, err := lock.look(nil); err == nil && owner == ownerGone {
			item.lock = lock
			g.Locks = append(g.Locks, item)
		}
		return
	}
	if tree.own && (l.isUnfinished(path) || l.isOldCache(path)) {
		g.Leftovers = append(g.Leftovers, item)
	}
}

// gcLook is one look at everything, and what it found out.
type gcLook struct {
	s      *Store
	f      Finder
	o      GCOptions
	now    time.Time
	minAge time.Duration
	read   map[string]fileState // the files that were searched, as they were
	used   map[string]bool      // the hashes that they name
	buf    []byte               // what files are read into
}

func (l *gcLook) old(t time.Time) bool { return l.now.Sub(t) >= l.minAge }

// ownBlobs is where our images are, "" for nowhere.
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
				Path: filepath.Join(dir, info.Name()), Size: info.Size(), Modified: FormatTime(info.ModTime()),
				state: fileState{info: info, size: info.Size(), mod: info.ModTime()},
			})
		}
	}
	return items, nil
}

func isBlobName(name string) bool {
	return len(name) == 64 && strings.Trim(name, "0123456789abcdef") == ""
}

// listTrash adds what has been in the trash for long enough.
func (g *Garbage) listTrash() error {
	l := g.look
	age := gcTrashAge
	if l.o.OlderThan > 0 {
		age = l.minAge
	}
	sessions, err := l.s.ListTrash(l.f.Roots)
	if err != nil {
		return err
	}
	for _, t := range sessions {
		if at, ok := ParseTime(t.TrashedAt); ok && l.now.Sub(at) >= age {
			g.Trash = append(g.Trash, GCItem{Path: t.Dir, Size: sizeOfTree(l.s.Fs, t.Dir), Modified: FormatTime(at), Was: t.Path})
		}
	}
	blobs := l.ownBlobs()
	if blobs == "" {
		return nil
	}
	trash := filepath.Join(filepath.Dir(blobs), "trash")
	entries, err := afero.ReadDir(l.s.Fs, trash)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return ioFault("read", trash, err)
	}
	for _, e := range entries {
		if at, ok := gcDirTime(e.Name()); ok && e.IsDir() && l.now.Sub(at) >= age {
			path := filepath.Join(trash, e.Name())
			g.Trash = append(g.Trash, GCItem{Path: path, Size: sizeOfTree(l.s.Fs, path), Modified: FormatTime(at)})
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
	_ = afero.Walk(fsys, dir, func(_ string, info os.FileInfo, err error) error { // what cannot be read has no size to tell
		if err == nil && info.Mode().IsRegular() {
			size += info.Size()
		}
		return nil
	})
	return size
}

// gcUnseen is why nothing is garbage.
func gcUnseen(path string, err error) error {
	cause := err
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		cause = pe.Err
	}
	f := fault.New(fault.IO, "Nothing was removed, because %s cannot be read and may name images: %s.", path, cause).With("path", path)
	f.Err = err
	return f
}
