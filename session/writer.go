package session

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
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
// answer stays in memory unless it is forced. looked says that the file was just seen to
// be as we know it; see [Log.look].
func (l *Log) persist(force, looked bool) error {
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
		err := l.appendUnsaved(looked)
		if !errors.Is(err, errMoved) {
			return err
		}
		if err := cmp.Or(l.again(n), l.sync()); err != nil {
			return err
		}
		looked = false
		if l.pending {
			return l.create()
		}
	}
	return fault.New(fault.Busy, "%s keeps changing; another program is writing to it.", l.path).With("path", l.path)
}

func (l *Log) hasAnswer() bool {
	return l.doc.tree.anyRole("assistant")
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
		return l.doc.writeEntries(w, l.forDisk(), l.doc.HeaderLine(), allEntries(l.doc))
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

// reopen reads what we just wrote in full, which then is the truth. What is not in it,
// because another program wrote in the same moment, is written again.
func (l *Log) reopen() error {
	dialect := l.doc.dialect
	doc, err := LoadAs(l.store.Fs, l.path, &dialect)
	if err == nil && doc.header.ID != l.doc.header.ID {
		err = fault.New(fault.Stale, "%s was replaced by another session.", l.path).With("path", l.path)
	}
	if err != nil {
		// What is in the file is known when it can be read again; see look.
		l.doc.info = nil
		return closing(err, doc)
	}
	if err := l.become(doc); err != nil || len(l.unsaved) == 0 {
		return err
	}
	return l.persist(false, false)
}

// forDisk returns what is done to a new line before it is written to the session at
// path, which follows dialect unless its place says otherwise. A failure to store an
// image costs nothing but space. In pi's files nothing is done: pi has no images outside
// of them, it would show a model the reference, and no limit for texts.
func (s *Store) forDisk(path string, dialect Dialect) func(line []byte) []byte {
	return func(line []byte) []byte {
		if plain(line) {
			return line // without asking whose file it is
		}
		root := s.rootOr(path, dialect)
		if root.Dialect == Pi {
			return line
		}
		var sink BlobSink
		if root.Blobs != "" {
			sink = BlobDir{Fs: s.Fs, Dir: root.Blobs}
		}
		out, err := prepare(line, sink)
		if err != nil {
			s.log.Warn("an image stays in the session file", zapPath(path), zapError(err))
		}
		return out
	}
}

// appendUnsaved writes the missing lines behind the file's last one. errMoved means
// that the file is not the one we know and nothing was written.
func (l *Log) appendUnsaved(looked bool) error {
	alone, err := l.appendInBurst(looked)
	if err == nil && !alone {
		return l.writeAgain()
	}
	return err
}

// appendInBurst is [Log.appendOnce] with the lock and the file of the burst that goes
// on, or of one that begins.
func (l *Log) appendInBurst(looked bool) (alone bool, err error) {
	b := l.burst
	if err := b.await(); err != nil {
		return false, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	h := b.held(l.doc.info)
	switch {
	case h == nil:
		b.end()
		err = b.begin(l.doc.info, l.doc.tail.size)
		h = b.hold
	case h.file == nil:
		err = h.open(b, l.doc.info, l.doc.tail.size)
	case !looked:
		err = l.unchanged(l.path)
	}
	if err == nil {
		h.appends++
		alone, err = l.appendOnce(h.file)
	}
	switch {
	case err != nil, !alone, h.turns >= burstTurns:
		b.end()
	case b.shut:
		b.close(h)
	}
	if err == nil && b.fault != nil {
		// What was written may be lost; what is in the file is known when it is read again.
		err, b.fault, l.doc.info = b.fault, nil, nil
	}
	return alone, err
}

// unlocked reports a lock that could not be given up. What was done under it is done.
func (s *Store) unlocked(path string, err error) {
	switch {
	case err == nil:
	case fault.Is(err, fault.Stale):
		s.log.Warn("the lock of a session file was gone before it was given up", zapPath(path))
	default:
		s.log.Warn("the lock of a session file stays behind", zapPath(path), zapError(err))
	}
}

// appendOnce writes the missing lines to f, the file we know, in one call. alone is
// false when somebody else wrote, or put another file there, in the same moment.
func (l *Log) appendOnce(f afero.File) (alone bool, err error) {
	data, size := l.missingBytes(), l.doc.tail.size
	n, err := f.Write(data)
	if err == nil && n < len(data) {
		err = io.ErrShortWrite
	}
	if err != nil {
		l.undo(f, size, n)
		return false, ioFault("write", l.path, err)
	}
	// The file cannot have lost its inode while it is open, so that one look by its path
	// tells both whether it is still the file and whether the line went where it should.
	size += int64(n)
	info, err := l.store.Fs.Stat(l.path)
	if err != nil || !sameFile(info, l.burst.hold.info) || info.Size() != size {
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

// missingBytes is what is to be written behind the file's last byte. It is valid until
// the next call.
func (l *Log) missingBytes() []byte {
	data := l.buf[:0]
	if !l.doc.tail.newline {
		// What is there stays, even half a line; ours begins on its own.
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
	return l.persist(false, false)
}

type truncater interface {
	Stat() (os.FileInfo, error)
	Truncate(size int64) error
}

// undo takes back the n bytes of a write that failed in the middle, if nobody wrote
// behind them. It only ever removes bytes that this call added. Where it cannot, what is
// there is half a line, which the next write ends.
func (l *Log) undo(f truncater, size int64, n int) {
	info, err := f.Stat()
	if err == nil && n > 0 && info.Size() == size+int64(n) && f.Truncate(size) == nil {
		return
	}
	l.doc.tail.newline = l.doc.tail.newline && n == 0
}

func (l *Log) fsync() error {
	if ok, err := l.burst.sync(l.doc.info); ok {
		return err
	}
	f, err := l.store.Fs.OpenFile(l.path, os.O_WRONLY, fileMode)
	if err != nil {
		return ioFault("write", l.path, err)
	}
	if err := errors.Join(syncData(f), f.Close()); err != nil {
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
	l.burst.giveUp()
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
	if err != nil {
		return ioFault("read", l.path, err)
	}
	if info.Sys() == nil || info.Size() <= l.doc.tail.size {
		return nil
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
		for i := range l.doc.Len() {
			if l.doc.tree.fresh(i) {
				continue
			}
			raw, err := l.doc.raw(i)
			if err != nil {
				return nil, err
			}
			edits = append(edits, edit{l.doc.tree.span(i), raw})
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
	if len(l.unsaved) == 0 {
		return nil
	}
	_, err := w.Write(l.missingBytes())
	return err
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
