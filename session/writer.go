package session

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"

	"github.com/spf13/afero"
	"go.uber.org/zap"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
	"github.com/xcsh-ls/xcsh-ls/session/internal/disk"
	"github.com/xcsh-ls/xcsh-ls/session/lock"
)

// errMoved means that the file is not the known one. It never leaves the package.
var errMoved = errors.New("session: the file changed")

// maxRetries is how often a write starts over because another program wrote in between.
// After the first few retries it waits a moment each time.
const (
	maxRetries = 200
	restless   = 4 // retries without a pause
)

// again waits before a write starts over for the n-th time.
func (l *Log) again(n int) error {
	if n < restless {
		return nil
	}
	return l.store.Locks.Wait(context.Background(), lock.Retry)
}

// persist writes the entries that are not in the file yet. A session without an
// answer stays in memory unless force is set.
func (l *Log) persist(force bool) error {
	switch {
	case l.lent != nil:
		return l.lentOut()
	case l.path == "":
		l.unsaved = nil
		return nil
	case l.pending:
		if !force && !l.revived() && !l.hasAnswer() {
			return nil
		}
		return l.create()
	case len(l.unsaved) == 0:
		return nil
	case l.doc.tree.migrated != nil:
		return l.rewrite(l.doc.HeaderLine())
	}
	return l.appendMissing()
}

// appendMissing writes the missing lines at the end of the file, and ends an incomplete line there first.
func (l *Log) appendMissing() error {
	for n := range maxRetries {
		err := l.appendUnsaved()
		if !errors.Is(err, errMoved) {
			return err
		}
		if err := cmp.Or(l.again(n), l.sync()); err != nil {
			return err
		}
		if l.pending {
			return l.create()
		}
	}
	return fault.New(fault.Busy, "%s keeps changing; another program is writing to it.", l.path).With("path", l.path)
}

func (l *Log) hasAnswer() bool {
	return l.doc.tree.anyRole("assistant")
}

// create writes the whole session to a file that does not exist. A deleted file is restored
// with every byte it had, unreadable lines included.
func (l *Log) create() error {
	if err := l.lentOut(); err != nil {
		return err
	}
	err := disk.Create(l.store.Fs, l.path, l.store.NewID(), func(w io.Writer) error {
		if l.revived() {
			return l.writeRevived(w)
		}
		if l.doc.hasSlot {
			if _, err := w.Write(titleSlot(l.doc.title, l.doc.header.Timestamp)); err != nil {
				return err
			}
		}
		return l.doc.writeEntries(w, l.forDisk(), l.doc.HeaderLine(), allEntries(l.doc))
	})
	if err != nil {
		return err
	}
	l.pending = false
	return l.reopen()
}

// writeRevived writes the session as it was in a file that was deleted, and what is newer.
func (l *Log) writeRevived(w io.Writer) error {
	if err := l.doc.src.copyTo(w); err != nil {
		return err
	}
	return disk.WriteLines(w, l.fresh())
}

// fresh returns the lines of all entries added after the file was read, in their form on
// disk. A last line without a newline is ended first, by an empty line.
func (l *Log) fresh() [][]byte {
	disk := l.forDisk()
	var lines [][]byte
	if !l.doc.src.endsLine() {
		lines = append(lines, nil)
	}
	for i := range l.doc.Len() {
		if l.doc.tree.fresh(i) {
			lines = append(lines, disk(l.doc.tree.mem(i)))
		}
	}
	return lines
}

// reopen reads the file just written, whose content is authoritative from then on. Entries
// missing from it, because another program wrote at the same moment, are written again.
func (l *Log) reopen() error {
	dialect := l.doc.dialect
	doc, err := l.store.load(l.path, &dialect)
	if err == nil && doc.header.ID != l.doc.header.ID {
		err = fault.New(fault.Stale, "%s was replaced by another session.", l.path).With("path", l.path)
	}
	if err != nil {
		// The content of the file is known again once it can be read; see sync.
		l.doc.info = nil
		return Closing(err, doc)
	}
	if err := l.become(doc); err != nil || len(l.unsaved) == 0 {
		return err
	}
	return l.persist(false)
}

// forDisk returns the function that prepares a new line for writing to the session at path,
// which follows dialect unless its root has another one. A failure to store an image costs
// only space. For pi's files the function changes nothing: pi has no images outside of
// them, so it would send the reference to a model, and no limit for texts.
func (s *Store) forDisk(path string, dialect Dialect) func(line []byte) []byte {
	return func(line []byte) []byte {
		if plain(line) {
			return line // without looking for the root of the file
		}
		root := s.rootOr(path, dialect)
		if root.Dialect == Pi {
			return line
		}
		var sink blobSink
		if root.Blobs != "" {
			sink = blobDir{Fs: s.Fs, Dir: root.Blobs}
		}
		out, err := prepare(line, sink)
		if err != nil {
			s.Log.Warn("an image stays in the session file", zap.String("path", path), zap.Error(err))
		}
		return out
	}
}

// appendUnsaved writes the missing lines at the end of the file, under the publish lock.
// errMoved means that the file is not the one in memory and nothing was written.
func (l *Log) appendUnsaved() error {
	if err := l.lentOut(); err != nil {
		return err
	}
	target, err := l.store.realPath(l.path)
	if errors.Is(err, fs.ErrNotExist) {
		return errMoved
	} else if err != nil {
		return disk.Fault("write", l.path, err)
	}
	unlock, err := l.store.Locks.Publish(target)
	if fault.Is(err, fault.NotFound) {
		return errMoved // the directory is gone
	} else if err != nil {
		return err
	}
	alone, err := l.appendTo(target)
	l.store.unlocked(target, unlock())
	if err == nil && !alone {
		return l.writeAgain()
	}
	return err
}

// appendTo is appendOnce with the file at target, which it opens and closes.
func (l *Log) appendTo(target string) (alone bool, err error) {
	f, err := l.openKnown(target)
	if err != nil {
		return false, err
	}
	alone, err = l.appendOnce(f)
	if closeErr := f.Close(); closeErr != nil && err == nil {
		// Network file systems report lost writes here. The next write reads the file again.
		l.doc.info = nil
		return false, disk.Fault("write", l.path, closeErr)
	}
	return alone, err
}

// openKnown opens the file at target for appending. It returns errMoved if that is not the
// file in memory, at the size in memory.
func (l *Log) openKnown(target string) (afero.File, error) {
	f, err := l.store.Fs.OpenFile(target, os.O_WRONLY|os.O_APPEND, disk.FileMode)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errMoved
	} else if err != nil {
		return nil, disk.Fault("write", l.path, err)
	}
	info, err := f.Stat()
	switch {
	case err != nil:
		err = disk.Fault("write", l.path, err)
	case !disk.SameFile(info, l.doc.info), info.Size() != l.doc.tail.size:
		err = errMoved
	default:
		return f, nil
	}
	_ = f.Close() // nothing was written
	return nil, err
}

// unlocked logs a lock that could not be released. The work done under it is complete.
func (s *Store) unlocked(path string, err error) {
	switch {
	case err == nil:
	case fault.Is(err, fault.Stale):
		s.Log.Warn("the lock of a session file was gone before it was given up", zap.String("path", path))
	default:
		s.Log.Warn("the lock of a session file stays behind", zap.String("path", path), zap.Error(err))
	}
}

// appendOnce writes the missing lines to f, the known file, in one call. alone is false if
// another process wrote to the file, or replaced it, at the same moment.
func (l *Log) appendOnce(f afero.File) (alone bool, err error) {
	data, size := l.missingBytes(), l.doc.tail.size
	n, err := f.Write(data)
	if err == nil && n < len(data) {
		err = io.ErrShortWrite
	}
	if err != nil {
		l.undo(f, size, n)
		return false, disk.Fault("write", l.path, err)
	}
	// The file cannot lose its inode while it is open, so one Stat by path shows both
	// whether it is still the same file and whether the lines were written where they
	// should be.
	size += int64(n)
	info, err := l.store.Fs.Stat(l.path)
	if err != nil || !disk.SameFile(info, l.doc.info) || info.Size() != size {
		return false, nil
	}
	l.unsaved = l.unsaved[:0]
	l.doc.tail = tail{size: size, newline: true}
	l.doc.remember(data)
	l.doc.info = info
	return true, nil
}

// maxSpareBuffer is how much memory, in bytes, an open session keeps for its next append.
const maxSpareBuffer = 64 << 10

// missingBytes returns the bytes to append to the file. They are valid until the next call.
func (l *Log) missingBytes() []byte {
	data := l.buf[:0]
	if !l.doc.tail.newline {
		// Existing content stays, even an incomplete line; new lines start on their own.
		data = append(data, '\n')
	}
	disk := l.forDisk()
	for _, i := range l.unsaved {
		data = append(append(data, disk(l.doc.tree.mem(i))...), '\n')
	}
	if l.buf = data; cap(data) > maxSpareBuffer {
		l.buf = nil
	}
	return data
}

// writeAgain reads the current file and writes the entries of this Log that it lacks.
func (l *Log) writeAgain() error {
	if err := l.sync(); err != nil {
		return err
	}
	if !l.pending {
		if err := l.reload(); err != nil {
			return err
		}
	}
	return l.persist(false)
}

type truncater interface {
	Stat() (os.FileInfo, error)
	Truncate(size int64) error
}

// undo removes the n bytes of a write that failed in the middle, if nothing was written
// after them. It only ever removes bytes that this call added. If it cannot, the file ends
// with an incomplete line, which the next write ends.
func (l *Log) undo(f truncater, size int64, n int) {
	info, err := f.Stat()
	if err == nil && n > 0 && info.Size() == size+int64(n) && f.Truncate(size) == nil {
		return
	}
	l.doc.tail.newline = l.doc.tail.newline && n == 0
}

func (l *Log) fsync() error {
	f, err := l.store.Fs.OpenFile(l.path, os.O_WRONLY, disk.FileMode)
	if err != nil {
		return disk.Fault("write", l.path, err)
	}
	if err := errors.Join(disk.SyncData(f), f.Close()); err != nil {
		return disk.Fault("write", l.path, err)
	}
	return nil
}

// rewrite replaces the file with one that has another header, the lines of an older format
// brought up to date, and the missing entries. Every other byte, damaged lines included, is
// copied from the file as it is now.
func (l *Log) rewrite(header []byte) error {
	if err := l.lentOut(); err != nil {
		return err
	}
	for n := range maxRetries {
		err := l.rewriteOnce(header)
		if errors.Is(err, errMoved) {
			if err := cmp.Or(l.again(n), l.sync()); err != nil {
				return err
			}
			continue
		}
		if err != nil {
			return err
		}
		return l.reopen()
	}
	return fault.New(fault.Busy, "%s keeps changing; another program is writing to it.", l.path).With("path", l.path)
}

func (l *Log) rewriteOnce(header []byte) error {
	edits, err := l.doc.edits(header)
	if err != nil {
		return err
	}
	target, err := l.store.realPath(l.path)
	if err != nil {
		return disk.Fault("write", l.path, err)
	}
	old, err := l.store.Fs.Open(target)
	if err != nil {
		return disk.Fault("open", l.path, err)
	}
	unlock := func() error { return nil }
	back := func(bool) {}
	err = disk.Replace(l.store.Fs, target, l.store.NewID(), l.doc.info.Mode().Perm(), func(w io.Writer) error {
		return l.copyEdited(w, old, edits)
	}, func() error {
		// Lock only now: the copy may take longer than other processes wait for the lock.
		release, err := l.store.Locks.Publish(target)
		if err != nil {
			return err
		}
		unlock = release
		if l.store.replacesClosed { // before the last check, so that little time is left after it
			back, err = l.doc.src.release(l.store.Fs, target)
			err = errors.Join(err, old.Close())
			old = nil
		}
		return cmp.Or(err, l.unchanged(target))
	})
	back(err == nil)
	if err == nil && old != nil {
		err = l.carryOver(old, target)
	}
	l.store.unlocked(target, unlock())
	if old != nil {
		err = errors.Join(err, old.Close())
	}
	return err
}

// unchanged returns errMoved if the file is not the one in memory.
func (l *Log) unchanged(target string) error {
	info, err := l.store.Fs.Stat(target)
	if err != nil || !disk.SameFile(info, l.doc.info) || info.Size() != l.doc.tail.size {
		return errMoved
	}
	return nil
}

// carryOver appends to the new file the lines that a program without locks appended to the
// old one between the last check and the rename.
func (l *Log) carryOver(old afero.File, target string) error {
	info, err := old.Stat()
	if err != nil {
		return disk.Fault("read", l.path, err)
	}
	if info.Sys() == nil || info.Size() <= l.doc.tail.size {
		return nil
	}
	late := make([]byte, info.Size()-l.doc.tail.size)
	if _, err := old.ReadAt(late, l.doc.tail.size); err != nil && !errors.Is(err, io.EOF) {
		return disk.Fault("read", l.path, err)
	}
	f, err := l.store.Fs.OpenFile(target, os.O_WRONLY|os.O_APPEND, disk.FileMode)
	if err != nil {
		return disk.Fault("write", l.path, err)
	}
	_, err = f.Write(late)
	if err = errors.Join(err, f.Close()); err != nil {
		return disk.Fault("write", l.path, err)
	}
	return nil
}

// edit replaces the bytes off…end of the file with text.
type edit struct {
	span
	text []byte
}

// edits returns the changes that bring the file of d to the current format, with another header.
func (d *Document) edits(header []byte) ([]edit, error) {
	edits := []edit{{d.headerAt, header}}
	if d.tree.migrated != nil {
		for i := range d.Len() {
			if d.tree.fresh(i) {
				continue
			}
			raw, err := d.raw(i)
			if err != nil {
				return nil, err
			}
			edits = append(edits, edit{d.tree.span(i), raw})
		}
	}
	slices.SortFunc(edits, func(a, b edit) int { return int(a.off - b.off) })
	return edits, nil
}

func (l *Log) copyEdited(w io.Writer, f io.ReaderAt, edits []edit) error {
	if err := copyEdited(w, f, edits, l.doc.tail.size); err != nil || len(l.unsaved) == 0 {
		return err
	}
	_, err := w.Write(l.missingBytes())
	return err
}

// copyEdited writes the first size bytes of f with the edits.
func copyEdited(w io.Writer, f io.ReaderAt, edits []edit, size int64) error {
	at := int64(0)
	for _, e := range edits {
		if _, err := io.Copy(w, io.NewSectionReader(f, at, e.off-at)); err != nil {
			return err
		}
		if _, err := w.Write(e.text); err != nil {
			return err
		}
		at = e.end
	}
	_, err := io.Copy(w, io.NewSectionReader(f, at, size-at))
	return err
}

// WriteCurrent writes the file that d was read from in the current format. The ids of version 1 follow from the session's id
// and the positions of the entries, so that two machines write the same bytes. All other bytes, damaged lines included, stay as they
// are. The error is that of w, or of reading the file.
func (d *Document) WriteCurrent(w io.Writer) error {
	edits, err := d.edits(d.HeaderLine())
	if err != nil {
		return err
	}
	return copyEdited(w, lockedReader{&d.src}, edits, d.src.len())
}

// overwriteSlot writes a title into omp's title slot, in place: the slot has a fixed size
// for this purpose. The title is cut to fit. changed is false if the slot has a title set
// by the user that this one must not replace.
func (l *Log) overwriteSlot(title Title) (changed bool, err error) {
	if err := l.lentOut(); err != nil {
		return false, err
	}
	f, err := l.store.Fs.OpenFile(l.path, os.O_RDWR, disk.FileMode)
	if err != nil {
		return false, disk.Fault("write", l.path, err)
	}
	slot := make([]byte, titleSlotSize)
	_, err = f.ReadAt(slot, 0)
	now, ok := ParseTitleSlot(slot)
	switch {
	case err != nil:
	case !ok || slot[titleSlotSize-1] != '\n':
		err = fault.New(fault.Stale, "%s no longer begins with a title slot; nothing was written.", l.path).With("path", l.path)
	case now.Source == "user" && title.Source == "auto":
		l.doc.title = now
	default:
		changed = true
		_, err = f.WriteAt(titleSlot(title, FormatTime(l.store.Now())), 0)
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return false, disk.Fault("write", l.path, err)
	}
	return changed, nil
}

// titleSlot returns the slot's line, newline included.
func titleSlot(title Title, updatedAt string) []byte {
	build := func(text string, pad int) []byte {
		o := new(rawjson.Object).String("type", "title").Raw("v", []byte("1")).String("title", text)
		if title.Source != "" {
			o.String("source", title.Source)
		}
		return append(o.String("updatedAt", updatedAt).String("pad", string(bytes.Repeat([]byte{' '}, pad))).Bytes(), '\n')
	}
	runes := []rune(title.Text)
	runes = runes[:min(len(runes), titleSlotSize)] // a character takes at least a byte
	for len(build(string(runes), 0)) > titleSlotSize {
		runes = runes[:len(runes)-1]
	}
	return build(string(runes), titleSlotSize-len(build(string(runes), 0)))
}
