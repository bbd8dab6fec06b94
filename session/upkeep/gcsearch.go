package upkeep

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/afero"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/internal/disk"
)

// gcTree is a directory whose files may refer to images.
type gcTree struct {
	path   string
	own    bool // may have leftovers that belong to us alone
	must   bool // it must exist
	strict bool // a link in it that leads nowhere may have led to sessions
	flat   bool // only its sessions and their artifacts are searched
}

// trees returns every directory that is searched. They may contain each other.
func (l *gcLook) trees(blobsExist bool) []gcTree {
	var trees []gcTree
	add := func(t gcTree) {
		if t.path != "" {
			trees = append(trees, t)
		}
	}
	for _, r := range l.f.Roots {
		// Images without sessions mean that the sessions are somewhere else.
		add(gcTree{path: r.Sessions, own: r.Own, strict: true, must: r.Own && blobsExist && l.f.SessionDir == ""})
		if r.Blobs != "" {
			add(gcTree{path: filepath.Join(filepath.Dir(r.Blobs), "trash"), own: r.Own, strict: true})
		}
		if r.Own {
			for _, dir := range []string{r.AgentDir, r.Blobs, r.Terminals} {
				add(gcTree{path: dir, own: true})
			}
		}
	}
	add(gcTree{path: l.f.SessionDir, own: true, must: true, strict: true})
	for _, dir := range l.o.Also {
		add(gcTree{path: dir, must: true, strict: true})
	}
	add(gcTree{path: l.s.LockDir, own: true})
	add(gcTree{path: l.f.CacheDir, own: true})
	// An editor may be set to a session directory that is not configured here.
	for _, dir := range l.f.CachedDirs() {
		add(gcTree{path: dir, strict: true, flat: true})
	}
	return trees
}

// search reads every file that is new or changed since the last search, and records the
// images it refers to. meet, which may be nil, is called with every file.
func (l *gcLook) search(ctx context.Context, blobsExist bool, meet func(gcTree, string, os.FileInfo)) error {
	w := gcWalk{l: l, seen: map[string]bool{}, meet: meet}
	for _, t := range l.trees(blobsExist) {
		_, err := l.s.Fs.Stat(t.path)
		if errors.Is(err, fs.ErrNotExist) && !t.must {
			continue
		} else if err != nil {
			return gcUnseen(t.path, err)
		}
		if err := w.dir(ctx, t, t.path); err != nil {
			return err
		}
	}
	return nil
}

// gcWalk walks the trees once. Links are followed, because lists follow them.
type gcWalk struct {
	l    *gcLook
	seen map[string]bool // directories, without links
	meet func(gcTree, string, os.FileInfo)
}

func (w *gcWalk) dir(ctx context.Context, t gcTree, dir string) error {
	if err := ctx.Err(); err != nil {
		return &fault.Error{Kind: fault.Cancelled, Message: "The search for garbage was cancelled.", Err: err}
	}
	key := w.l.f.Canonical(dir)
	if w.seen[key] {
		return nil
	}
	w.seen[key] = true
	entries, err := afero.ReadDir(w.l.s.Fs, dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // it was moved away; the next search finds it
	} else if err != nil {
		return gcUnseen(dir, err)
	}
	if t.flat {
		entries, t.flat = sessionsAmong(entries), false
	}
	for _, e := range entries {
		if err := w.entry(ctx, t, filepath.Join(dir, e.Name()), e); err != nil {
			return err
		}
	}
	return nil
}

// sessionsAmong returns the session files of a directory, and the entries that have the
// name of their artifacts.
func sessionsAmong(entries []os.FileInfo) []os.FileInfo {
	artifacts := map[string]bool{}
	for _, e := range entries {
		if dir, ok := session.ArtifactDir(e.Name()); ok {
			artifacts[dir] = true
		}
	}
	return slices.DeleteFunc(entries, func(e os.FileInfo) bool {
		return !strings.HasSuffix(e.Name(), ".jsonl") && !artifacts[e.Name()]
	})
}

func (w *gcWalk) entry(ctx context.Context, t gcTree, path string, info os.FileInfo) error {
	if info.Mode()&fs.ModeSymlink != 0 {
		target, err := w.l.s.Fs.Stat(path)
		if err != nil && (t.strict || !errors.Is(err, fs.ErrNotExist)) {
			return gcUnseen(path, err)
		} else if err != nil {
			return nil
		}
		info = target
		t.own = false // the target of a link is not ours to clean up
	}
	switch {
	case info.IsDir():
		if _, collected := gcDirTime(info.Name()); collected {
			t.own = false // it was left over once
		}
		return w.dir(ctx, t, path)
	case !info.Mode().IsRegular(), isBlobName(info.Name()) && filepath.Base(filepath.Dir(path)) == "blobs":
		return nil // an image refers to no other
	}
	if w.meet != nil {
		w.meet(t, path, info)
	}
	return w.l.file(ctx, path, info)
}

// file searches a file, unless it is as it was when it was searched before.
func (l *gcLook) file(ctx context.Context, path string, info os.FileInfo) error {
	state := disk.State{Info: info, Size: info.Size(), Mod: info.ModTime()}
	if was, known := l.read[path]; known && state.Same(was) {
		return nil
	}
	f, err := l.s.Fs.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // it was moved away; the next search finds it
	} else if err != nil {
		return gcUnseen(path, err)
	}
	if l.buf == nil {
		l.buf = make([]byte, 256<<10)
	}
	err = findBlobNames(ctx, f, l.buf, func(hash string) { l.used[hash] = true })
	if err = errors.Join(err, f.Close()); err != nil {
		return gcUnseen(path, err)
	}
	l.read[path] = state
	if l.o.Progress != nil {
		l.o.Progress(len(l.read))
	}
	return nil
}

// findBlobNames calls found with the hash of every reference to an image in r, at any
// position. No program escapes any letter of a reference, so that no line has to be parsed
// for it. buf is the read buffer; it must be longer than a reference.
func findBlobNames(ctx context.Context, r io.Reader, buf []byte, found func(hash string)) error {
	const length = len(session.BlobPrefix) + 64
	kept := 0
	for {
		n, err := io.ReadFull(r, buf[kept:])
		part := buf[:kept+n]
		for rest := part; ; {
			i := bytes.Index(rest, []byte(session.BlobPrefix))
			if i < 0 || len(rest)-i < length {
				break
			}
			if hash := string(rest[i+len(session.BlobPrefix) : i+length]); isBlobName(hash) {
				found(hash)
			}
			rest = rest[i+len(session.BlobPrefix):]
		}
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return nil
		} else if err = errors.Join(err, ctx.Err()); err != nil {
			return err
		}
		// A reference may go on in the next part.
		kept = copy(buf, part[max(0, len(part)-length+1):])
	}
}
