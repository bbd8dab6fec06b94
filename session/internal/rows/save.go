package rows

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/afero"

	"github.com/xcsh-ls/xcsh-ls/internal/durable"
	"github.com/xcsh-ls/xcsh-ls/session/internal/disk"
)

// Update is what a caller found out.
type Update struct {
	Listed []string // the directories of which Kept and New have all the rows that are valid
	Kept   []Row    // of those directories
	New    []Facts
	Now    time.Time
}

// When the whole file is written again instead of adding a block. They are variables for tests.
var (
	smallFile  int64 = 64 << 10 // a file up to this length, in bytes
	laterShare int64 = 8        // when the later blocks exceed the base's length divided by this, or smallFile
	unusedPart       = 4        // when more than the rows divided by this are of no use
)

// Save stores new rows, if there are any, and closes f. If other processes save too, the last one
// wins. It isn't synced: checksums reveal what a crash damaged. Only the owner may read the file.
func (f *File) Save(u Update) error {
	defer f.Close()
	if len(u.New) == 0 {
		return nil
	}
	entries := make([]entry, 0, len(u.New))
	for _, facts := range u.New {
		entries = append(entries, newEntry(facts))
	}
	if f.mayAdd(u) {
		raw, ok := encode(entries)
		if ok && f.size+int64(len(raw)) <= int64(maxFile) && f.size-f.whole+int64(len(raw)) <= max(f.whole/laterShare, smallFile) {
			return f.append(raw)
		}
	}
	return f.rewrite(u, entries)
}

// mayAdd reports whether a block may be added instead of writing the whole file again.
func (f *File) mayAdd(u Update) bool {
	if f.base == nil || f.broken || f.size <= smallFile {
		return false
	}
	listed := 0
	for _, dir := range u.Listed {
		d := f.Dir(dir)
		listed += d.in.n + len(d.over) // an overridden one is of no use and counts twice
	}
	return (listed-len(u.Kept))*unusedPart <= len(f.base.rows)/rowSize
}

// append adds a block with one write. Whatever file is at the path now, rows of it remain true.
func (f *File) append(raw []byte) error {
	file, err := f.fs.OpenFile(f.path, os.O_RDWR|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	head := make([]byte, len(magic))
	if !readAt(file, head, 0) || string(head) != magic {
		return errors.Join(errors.New("the file was replaced by one of another version"), file.Close())
	}
	_, err = file.Write(raw)
	return errors.Join(err, file.Close())
}

// rewrite writes the entries, the rows that are kept, and those of directories that were not listed
// and still exist.
func (f *File) rewrite(u Update, entries []entry) error {
	if f.base != nil {
		f.Preload(len(f.base.rows) / rowSize)
		listed := map[string]bool{}
		for _, dir := range u.Listed {
			listed[dir] = true
		}
		for _, r := range u.Kept {
			entries = f.keep(entries, r)
		}
		for _, dir := range f.Dirs() {
			if listed[dir] || !f.isThere(dir) {
				continue
			}
			for _, r := range f.Dir(dir).all() {
				entries = f.keep(entries, r)
			}
		}
	}
	f.Close() // Windows replaces no open file
	raw, ok := encode(entries)
	if !ok {
		return nil
	}
	return f.write(append([]byte(magic), raw...), u.Now)
}

// keep appends a row, unless its text is damaged.
func (f *File) keep(entries []entry, r Row) []entry {
	text, ok := f.Text(r)
	if !ok {
		return entries
	}
	return append(entries, copyOf(r, r.b.dirOf(r.at), text))
}

// isThere reports whether a directory exists, or may exist.
func (f *File) isThere(dir string) bool {
	_, err := f.fs.Stat(dir)
	return !errors.Is(err, fs.ErrNotExist)
}

// write replaces the file as a whole. Only its owner may read it, as TempFile makes it.
func (f *File) write(content []byte, now time.Time) error {
	dir := filepath.Dir(f.path)
	// Not MkdirAll: reading lists does not create an agent directory.
	if err := f.fs.Mkdir(filepath.Dir(dir), disk.DirMode); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	if err := f.fs.Mkdir(dir, disk.DirMode); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	f.removeLeftovers(dir, now)
	file, err := afero.TempFile(f.fs, dir, filepath.Base(f.path)+".*.tmp")
	if err != nil {
		return err
	}
	_, err = file.Write(content)
	if err = errors.Join(err, file.Close()); err == nil {
		err = durable.Rename(f.fs, file.Name(), f.path)
	}
	if err != nil {
		_ = f.fs.Remove(file.Name()) // best effort; a later write removes it
	}
	return err
}

// removeLeftovers removes the files of processes that died while they wrote.
func (f *File) removeLeftovers(dir string, now time.Time) {
	entries, err := afero.ReadDir(f.fs, dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		if IsUnfinished(filepath.Base(f.path), e.Name()) && now.Sub(e.ModTime()) > time.Hour {
			_ = f.fs.Remove(filepath.Join(dir, e.Name())) // best effort; a later write removes it
		}
	}
}
