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

	"github.com/xcsh-ls/xcsh-ls/session/fault"
	"github.com/xcsh-ls/xcsh-ls/session/rawjson"
)

// errMoved says that the file is not the one we know. It never leaves the package.
var errMoved = errors.New("session: the file changed")

// maxRetries bounds how often a write starts over because another program wrote in
// between. After the first few it waits a moment each time.
const (
	maxRetries = 200
	restless   = 4 // tries without a pause
)

// again waits before a write starts over for the n-th time.
func (l *Log) again(n int) error {
	if n < restless {
		return nil
	}
	return l.store.locks.env.wait(context.Background(), lockRetry)
}

// persist writes the entries that are not in the file yet. A session without an
// answer stays in memory unless it is forced.
func (l *Log) persist(force bool) error {
	switch {
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
	return slices.ContainsFunc(l.doc.tree.recs, func(r record) bool { return r.role == "assistant" })
}

// create writes the whole session to a file that does not exist. One that was deleted
// comes back with every byte it had, unreadable lines included.
func (l *Log) create() error {
	err := createFile(l.store.Fs, l.path, l.store.ids.Session(), func(w io.Writer) error {
		if l.revived() {
			if err := l.doc.src.copyTo(w); err != nil {
				return err
			}
			return writeLines(w, l.fresh())
		}
		lines, err := l.doc.lines(l.store.forDisk(l.path), l.doc.HeaderLine(), allEntries(l.doc))
		if err != nil {
			return err
		}
		return writeLines(w, lines)
	})
	if err != nil {
		return err
	}
	l.pending = false
	return l.reopen()
}

// fresh returns the lines of all entries that came after the file was read, as they
// are on disk. An empty line first ends a last line that was not ended.
func (l *Log) fresh() [][]byte {
	disk := l.store.forDisk(l.path)
	var lines [][]byte
	if !l.doc.src.endsLine() {
		lines = append(lines, nil)
	}
	for _, r := range l.doc.tree.recs {
		if r.fresh {
			lines = append(lines, disk(r.mem))
		}
	}
	return lines
}

// reopen reads what we just wrote in full, which then is the truth.
func (l *Log) reopen() error {
	dialect, old, leafID := l.doc.dialect, l.doc, l.doc.LeafID(atPlace(l.leaf))
	doc, err := LoadAs(l.store.Fs, l.path, &dialect)
	if err != nil {
		// What is in the file is known when it can be read again; see sync.
		l.doc.info = nil
		return err
	}
	l.doc, l.unsaved = doc, nil
	l.keepFullText()
	i, err := doc.Index(leafID)
	switch {
	case l.follow || err != nil && l.leaf >= 0:
		l.leaf = doc.Len() - 1
	case err == nil:
		l.leaf = i
	}
	return old.Close()
}

// missing returns the lines that are not in the file, as they are to be written.
func (l *Log) missing() [][]byte {
	disk := l.store.forDisk(l.path)
	lines := make([][]byte, len(l.unsaved))
	for n, i := range l.unsaved {
		lines[n] = disk(l.doc.tree.recs[i].mem)
	}
	return lines
}

// forDisk returns what is done to a new line before it is written to the session at
// path. A failure to store an image costs nothing but space.
func (s *Store) forDisk(path string) func(line []byte) []byte {
	var sink BlobSink
	if dir, ok := s.BlobsFor(path).(BlobDir); ok {
		sink = dir
	}
	return func(line []byte) []byte {
		out, err := prepare(line, sink)
		if err != nil {
			s.log.Warn("an image stays in the session file", zapPath(path), zapError(err))
		}
		return out
	}
}

// appendUnsaved writes the missing lines behind the file's last one. errMoved means
// that the file is not the one we know and nothing was written.
func (l *Log) appendUnsaved() error {
	target, err := l.store.realPath(l.path)
	if errors.Is(err, fs.ErrNotExist) {
		return errMoved
	} else if err != nil {
		return ioFault("write", l.path, err)
	}
	unlock, err := l.store.locks.publish(target)
	if fault.Is(err, fault.NotFound) {
		return errMoved // the directory is gone
	} else if err != nil {
		return err
	}
	alone, err := l.appendLocked(target)
	l.store.unlocked(target, unlock())
	if err == nil && !alone {
		return l.writeAgain()
	}
	return err
}

// unlocked reports a lock that could not be given up. What was done under it is done.
func (s *Store) unlocked(path string, err error) {
	if err != nil {
		s.log.Warn("the lock of a session file stays behind", zapPath(path), zapError(err))
	}
}

// appendLocked writes the missing lines in one call. alone is false when somebody else
// wrote, or put another file there, in the same moment.
func (l *Log) appendLocked(target string) (alone bool, err error) {
	var data []byte
	if !l.doc.tail.newline {
		// What is there stays, even half a line; ours begins on its own.
		data = append(data, '\n')
	}
	for _, line := range l.missing() {
		data = append(append(data, line...), '\n')
	}
	f, err := l.store.Fs.OpenFile(target, os.O_WRONLY|os.O_APPEND, fileMode)
	if errors.Is(err, fs.ErrNotExist) {
		return false, errMoved
	} else if err != nil {
		return false, ioFault("write", l.path, err)
	}
	size := l.doc.tail.size
	before, err := f.Stat()
	if err == nil && (!sameFile(before, l.doc.info) || before.Size() != size) {
		err = errMoved
	}
	if err != nil {
		return false, errors.Join(err, f.Close())
	}
	n, err := f.Write(data)
	if err == nil && n < len(data) {
		err = io.ErrShortWrite
	}
	if err != nil {
		return false, errors.Join(ioFault("write", l.path, err), l.undo(f, size, n), f.Close())
	}
	after, err := f.Stat()
	if err = errors.Join(err, f.Close()); err != nil {
		return false, ioFault("write", l.path, err)
	}
	l.unsaved = nil
	named, err := l.store.Fs.Stat(target)
	if err != nil || !sameFile(named, after) || after.Size() != size+int64(n) {
		return false, nil
	}
	l.doc.tail = tail{size: size + int64(n), newline: true}
	l.doc.remember(data)
	l.doc.info = after
	return true, nil
}

// writeAgain looks at the file as it is now and writes what of ours it lacks.
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

// undo takes back the n bytes of a write that failed in the middle, if nobody wrote
// behind them. It only ever removes bytes that this call added.
func (l *Log) undo(f truncater, size int64, n int) error {
	info, err := f.Stat()
	if err != nil || n == 0 || info.Size() != size+int64(n) {
		l.doc.tail.newline = l.doc.tail.newline && n == 0
		return err
	}
	return f.Truncate(size)
}

func (l *Log) fsync() error {
	f, err := l.store.Fs.OpenFile(l.path, os.O_WRONLY, fileMode)
	if err != nil {
		return ioFault("write", l.path, err)
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return ioFault("write", l.path, err)
	}
	return nil
}

// rewrite replaces the file by one with another header, with the lines of an older
// format brought up to date and with the entries that are missing. Every other byte,
// damaged lines included, is copied from the file as it is now.
func (l *Log) rewrite(header []byte) error {
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
	edits, err := l.edits(header)
	if err != nil {
		return err
	}
	target, err := l.store.realPath(l.path)
	if err != nil {
		return ioFault("write", l.path, err)
	}
	old, err := l.store.Fs.Open(target)
	if err != nil {
		return ioFault("open", l.path, err)
	}
	unlock := func() error { return nil }
	err = replaceFile(l.store.Fs, target, l.store.ids.Session(), l.doc.info.Mode().Perm(), func(w io.Writer) error {
		return l.copyEdited(w, old, edits)
	}, func() error {
		// Only now: the copy may take longer than others wait for the lock.
		release, err := l.store.locks.publish(target)
		if err != nil {
			return err
		}
		unlock = release
		return l.unchanged(target)
	})
	if err == nil {
		err = l.carryOver(old, target)
	}
	l.store.unlocked(target, unlock())
	return errors.Join(err, old.Close())
}

// unchanged reports errMoved when the file is not the one in memory.
func (l *Log) unchanged(target string) error {
	info, err := l.store.Fs.Stat(target)
	if err != nil || !sameFile(info, l.doc.info) || info.Size() != l.doc.tail.size {
		return errMoved
	}
	return nil
}

// carryOver appends to the new file what a program that takes no lock appended to the
// old one between our last look and the rename.
func (l *Log) carryOver(old afero.File, target string) error {
	info, err := old.Stat()
	if err != nil || info.Sys() == nil || info.Size() <= l.doc.tail.size {
		return err
	}
	late := make([]byte, info.Size()-l.doc.tail.size)
	if _, err := old.ReadAt(late, l.doc.tail.size); err != nil && !errors.Is(err, io.EOF) {
		return ioFault("read", l.path, err)
	}
	f, err := l.store.Fs.OpenFile(target, os.O_WRONLY|os.O_APPEND, fileMode)
	if err != nil {
		return ioFault("write", l.path, err)
	}
	_, err = f.Write(late)
	if err = errors.Join(err, f.Close()); err != nil {
		return ioFault("write", l.path, err)
	}
	return nil
}

// edit replaces the bytes off…end of the file by text.
type edit struct {
	span
	text []byte
}

func (l *Log) edits(header []byte) ([]edit, error) {
	edits := []edit{{l.doc.headerAt, header}}
	if l.doc.tree.migrated != nil {
		for i, r := range l.doc.tree.recs {
			if r.fresh {
				continue
			}
			raw, err := l.doc.raw(i)
			if err != nil {
				return nil, err
			}
			edits = append(edits, edit{span{r.off, r.off + int64(r.n)}, raw})
		}
	}
	slices.SortFunc(edits, func(a, b edit) int { return int(a.off - b.off) })
	return edits, nil
}

func (l *Log) copyEdited(w io.Writer, f io.ReaderAt, edits []edit) error {
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
	if _, err := io.Copy(w, io.NewSectionReader(f, at, l.doc.tail.size-at)); err != nil {
		return err
	}
	missing := l.missing()
	if !l.doc.tail.newline && len(missing) > 0 {
		if _, err := w.Write([]byte{'\n'}); err != nil {
			return err
		}
	}
	return writeLines(w, missing)
}

func writeLines(w io.Writer, lines [][]byte) error {
	for _, line := range lines {
		if _, err := w.Write(append(slices.Clip(line), '\n')); err != nil {
			return err
		}
	}
	return nil
}

// overwriteSlot puts a title into omp's title slot, in place: the slot's fixed size
// is what it is for. The title is cut to what fits. changed is false when the slot has
// been given a title by a person that this one must not replace.
func (l *Log) overwriteSlot(title Title) (changed bool, err error) {
	f, err := l.store.Fs.OpenFile(l.path, os.O_RDWR, fileMode)
	if err != nil {
		return false, ioFault("write", l.path, err)
	}
	slot := make([]byte, titleSlotSize)
	_, err = f.ReadAt(slot, 0)
	now, ok := parseTitleSlot(slot)
	switch {
	case err != nil:
	case !ok || slot[titleSlotSize-1] != '\n':
		err = fault.New(fault.Stale, "%s no longer begins with a title slot; nothing was written.", l.path).With("path", l.path)
	case now.Source == "user" && title.Source == "auto":
		l.doc.title = now
	default:
		changed = true
		_, err = f.WriteAt(titleSlot(title, FormatTime(l.store.now())), 0)
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return false, ioFault("write", l.path, err)
	}
	return changed, nil
}

// titleSlot is the slot's line, newline included.
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
