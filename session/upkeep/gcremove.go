package upkeep

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/spf13/afero"

	"github.com/xcsh-ls/xcsh-ls/internal/durable"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/session/internal/disk"
)

// GCResult is the result of a collection.
type GCResult struct {
	Into    string      `json:"into,omitempty"` // the directory in the trash where files went, with a record of where they were
	Moved   []string    `json:"moved"`          // files that went there
	Removed []string    `json:"removed"`        // locks, index files, and files that were in the trash
	Kept    []string    `json:"kept"`           // images that are in use after all
	Failed  []gcFailure `json:"failed"`
}

// gcFailure is something that could not be removed.
type gcFailure struct {
	Path    string `json:"path"`
	Message string `json:"message"`
}

func (r *GCResult) fail(path string, err error) {
	r.Failed = append(r.Failed, gcFailure{Path: path, Message: fault.OneLine(err.Error())})
}

// Remove moves unused images and leftovers to the trash and removes stale locks and
// index files; files found in the trash are removed for good. An item that changed since it was found is
// kept. An image that has a reference by now stays or is restored: files are searched
// again before and after images are moved. An error means that nothing could be started;
// later failures are in the result.
func (g *Garbage) Remove(ctx context.Context) (GCResult, error) {
	r := GCResult{Moved: []string{}, Removed: []string{}, Kept: []string{}, Failed: []gcFailure{}}
	l := g.look
	if err := l.search(ctx, len(g.Blobs) > 0, nil); err != nil {
		return r, err
	}
	if err := g.move(ctx, &r); err != nil {
		return r, err
	}
	for _, item := range g.Locks {
		switch removed, err := item.lock.Remove(); {
		case err != nil:
			r.fail(item.Path, err)
		case removed:
			r.Removed = append(r.Removed, item.Path)
		}
	}
	g.removeIndexes(&r)
	for _, item := range g.Trash {
		if err := removeTree(l.s.Fs, item.Path); err != nil {
			r.fail(item.Path, disk.Fault("remove", item.Path, err))
			continue
		}
		r.Removed = append(r.Removed, item.Path)
	}
	return r, nil
}

// planned is a file on its way to the trash.
type planned struct {
	GCItem
	to    string
	image bool
	moved bool
}

// move moves images and leftovers.
func (g *Garbage) move(ctx context.Context, r *GCResult) error {
	l := g.look
	var files []planned
	for _, item := range g.Blobs {
		if l.used[filepath.Base(item.Path)] {
			r.Kept = append(r.Kept, item.Path)
			continue
		}
		files = append(files, planned{GCItem: item, to: gcTarget("blobs", 0, item.Path), image: true})
	}
	for i, item := range g.Leftovers {
		files = append(files, planned{GCItem: item, to: gcTarget("leftovers", i, item.Path)})
	}
	if len(files) == 0 {
		return nil
	}
	dir, undo, err := l.gcDir()
	if err != nil {
		return err
	}
	for i := range files {
		files[i].to = filepath.Join(dir, files[i].to)
	}
	if err := l.record(dir, files); err != nil {
		undo()
		return err
	}
	r.Into = dir
	for i := range files {
		p := &files[i]
		if err := l.carryOut(p); err != nil {
			r.fail(p.Path, err)
		}
	}
	l.bringBack(ctx, files, r)
	for _, p := range files {
		if p.moved {
			r.Moved = append(r.Moved, p.Path)
		}
	}
	if len(r.Moved) == 0 {
		undo()
		r.Into = ""
	}
	return nil
}

// gcDir makes the directory in the trash for the current collection. undo removes it again
// if nothing but its record is in it.
func (l *gcLook) gcDir() (dir string, undo func(), err error) {
	blobs := l.ownBlobs()
	if blobs == "" {
		return "", nil, fault.New(fault.Internal, "There is no trash.")
	}
	trash := filepath.Join(filepath.Dir(blobs), "trash")
	undoTrash, err := makeDir(l.s, trash)
	if err != nil {
		return "", nil, err
	}
	at := l.now.UTC()
	for range maxTrashNames {
		dir = filepath.Join(trash, at.Format(gcDirLayout))
		if err = l.s.Fs.Mkdir(dir, disk.DirMode); !errors.Is(err, fs.ErrExist) {
			break
		}
		at = at.Add(time.Millisecond)
	}
	if err != nil {
		undoTrash()
		return "", nil, disk.Fault("create", dir, err)
	}
	durable.SyncDir(l.s.Fs, trash)
	return dir, func() {
		for _, sub := range []string{"blobs", "leftovers"} {
			removeEmpty(l.s.Fs, filepath.Join(dir, sub))
		}
		names, err := afero.ReadDir(l.s.Fs, dir)
		if err == nil && (len(names) == 0 || len(names) == 1 && names[0].Name() == gcRecordName) {
			_ = l.s.Fs.Remove(filepath.Join(dir, gcRecordName)) // an empty record does no harm
			removeEmpty(l.s.Fs, dir)
		}
		undoTrash()
	}, nil
}

// gcRecordName is the file with the original paths, one JSON object a line.
const gcRecordName = "moved.jsonl"

// record writes the list of files to move, before they are moved, so that a user can
// restore them whatever happens.
func (l *gcLook) record(dir string, files []planned) error {
	var lines [][]byte
	for _, p := range files {
		line, err := json.Marshal(gcMove{From: p.Path, To: p.to})
		if err != nil {
			return err
		}
		lines = append(lines, line)
	}
	path := filepath.Join(dir, gcRecordName)
	err := disk.Create(l.s.Fs, path, l.s.NewID(), func(w io.Writer) error { return disk.WriteLines(w, lines) })
	return disk.FaultOrNil("create", path, err)
}

func (l *gcLook) carryOut(p *planned) error {
	if err := durable.MakeDirs(l.s.Fs, filepath.Dir(p.to), disk.DirMode); err != nil {
		return disk.Fault("create", filepath.Dir(p.to), err)
	}
	// An image that was written again meanwhile is not the one that was found, and stays.
	if err := carry(l.s, p.Path, p.to, &p.state); err != nil {
		return err
	}
	p.moved = true
	return nil
}

// bringBack searches once more for references to a moved image that were added while it
// was being moved. If that fails, every image is moved back.
func (l *gcLook) bringBack(ctx context.Context, files []planned, r *GCResult) {
	err := l.search(ctx, true, nil)
	if err != nil {
		r.fail(r.Into, err)
	}
	for i := range files {
		p := &files[i]
		if !p.moved || !p.image || err == nil && !l.used[filepath.Base(p.Path)] {
			continue
		}
		back := carry(l.s, p.to, p.Path, nil)
		if back != nil && !fault.Is(back, fault.FileExists) { // a new one is as good
			r.fail(p.Path, back)
			continue
		}
		p.moved = false
		r.Kept = append(r.Kept, p.Path)
	}
}
