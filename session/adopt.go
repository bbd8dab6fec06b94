package session

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"

	"go.uber.org/zap"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/session/internal/disk"
)

// endBytes is how many bytes of a file's end are kept, to distinguish an append from an
// overwrite in place with longer content.
const endBytes = 4 << 10

// sync brings memory up to date with the file: it adopts lines that other programs
// appended, reloads a replaced file, and marks a deleted file to be written again.
func (l *Log) sync() error {
	if l.lent != nil {
		return l.lent.read()
	}
	if l.path == "" || l.pending && !l.revived() {
		return nil
	}
	info, err := l.store.Fs.Stat(l.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		l.revive()
		return nil
	case err != nil:
		return disk.Fault("read", l.path, err)
	case l.pending: // it came back
		l.pending = false
		return l.reload()
	case !disk.SameFile(info, l.doc.info), info.Size() < l.doc.tail.size:
		return l.reload()
	case info.Size() == l.doc.tail.size:
		return nil
	}
	return l.adoptTail(info)
}

// revive makes the next write create the file again with the whole session: the old file
// was deleted while the session was open, and an append would create a file without a
// header.
func (l *Log) revive() {
	if !l.pending {
		l.store.Log.Warn("session file is gone; it will be recreated", zap.String("path", l.path))
	}
	l.pending = true
}

// revived reports whether the file existed and was deleted.
func (l *Log) revived() bool { return l.pending && l.doc.info != nil }

// adoptTail indexes the lines appended to the file since the last sync. If the known end of
// the file has changed, the file was not merely appended to and is read again.
func (l *Log) adoptTail(info os.FileInfo) error {
	if !l.doc.tail.newline || l.doc.tree.migrated != nil {
		return l.reload()
	}
	fresh, appended, renamed, err := l.readBehind(info.Size())
	if err != nil {
		return err
	}
	if !appended || renamed {
		return l.reload()
	}
	l.adoptBytes(fresh, info)
	return nil
}

// adoptBytes adopts the bytes behind the known end of the file that info describes.
func (l *Log) adoptBytes(fresh []byte, info os.FileInfo) {
	known := l.doc.Len()
	end := scanBytes(fresh, l.adopt, l.doc.report)
	l.doc.tail = tail{size: l.doc.tail.size + int64(len(fresh)), newline: end.newline}
	l.doc.remember(fresh)
	l.doc.info = info
	l.noticeSlot(known)
	l.follow(known, func(i int) bool { return i >= known })
}

// noticeSlot reads omp's title slot again if an entry from index from on records a rename.
func (l *Log) noticeSlot(from int) {
	for i := from; i < l.doc.Len(); i++ {
		if l.doc.tree.typ(i) == TypeTitleChange {
			l.readSlot()
			return
		}
	}
}

// readSlot reads omp's title slot again. It is the only part of a file that a program changes in place.
func (l *Log) readSlot() {
	if !l.doc.hasSlot {
		return
	}
	f, err := l.store.Fs.Open(l.path)
	if err != nil {
		return // the next look at the file meets the same failure and returns it
	}
	line := make([]byte, titleSlotSize)
	_, err = f.ReadAt(line, 0)
	if t, ok := ParseTitleSlot(line); err == nil && ok {
		l.doc.title = t
	}
	_ = f.Close() // nothing was written
}

// readBehind reads the part of the file beyond the known size. appended is false if the
// bytes before it are not the known end, apart from omp's title slot in a small file: renamed reports that it is another one.
func (l *Log) readBehind(size int64) (fresh []byte, appended, renamed bool, err error) {
	known := l.doc.end
	from := l.doc.tail.size - int64(len(known))
	b := make([]byte, int64(len(known))+size-l.doc.tail.size)
	f, err := l.store.Fs.Open(l.path)
	if err != nil {
		return nil, false, false, disk.Fault("open", l.path, err)
	}
	n, err := f.ReadAt(b, from)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, false, false, disk.Fault("read", l.path, err)
	}
	if b = b[:n]; n < len(known) {
		return nil, false, false, nil
	}
	if l.doc.hasSlot && from < titleSlotSize {
		in := min(titleSlotSize-int(from), len(known))
		renamed = !bytes.Equal(b[:in], known[:in])
		b, known = b[in:], known[in:]
	}
	return bytes.TrimPrefix(b, known), bytes.HasPrefix(b, known), renamed, nil
}

// adopt indexes one value that appeared in the file. A line that this Log wrote is not a
// new entry, even if its write reported an error.
func (l *Log) adopt(v Value) {
	r, ok := l.doc.tree.record(v)
	if !ok || r.typ == TypeSession || !v.Env.Object {
		return
	}
	disk := l.forDisk()
	for k, i := range l.unsaved {
		if t := &l.doc.tree; t.id(i) == r.id && bytes.Equal(disk(t.mem(i)), v.Raw) {
			l.unsaved = slices.Delete(l.unsaved, k, k+1)
			return
		}
	}
	r.mem, r.fresh = v.Raw, true
	l.doc.noteTitle(r.typ, v.Raw)
	l.doc.tree.add(r)
}

// reload reads a file that is not the known one. Entries of this Log that the file lacks,
// because another program rewrote it from an older state, are written again after its
// lines, together with their missing ancestors: without those the conversation would end
// above them.
func (l *Log) reload() error {
	dialect := l.doc.dialect
	doc, err := l.store.load(l.path, &dialect)
	if err == nil && doc.header.ID != l.doc.header.ID {
		err = fault.New(fault.Stale, "it holds another session")
	}
	if err != nil {
		stale := fault.New(fault.Stale, "%s is no longer the session that was opened; nothing was written: %w", l.path, err)
		return Closing(stale.With("path", l.path), doc)
	}
	return l.become(doc)
}

// become replaces the session by doc, which was just read from the file. Entries of this
// Log that doc lacks are queued to be written again.
func (l *Log) become(doc *Document) error {
	lost, err := l.lostIn(doc)
	if err != nil {
		return Closing(err, doc)
	}
	old, leaf, chosen := l.doc, l.leaf, l.chosen
	l.takeOver(doc)
	for _, r := range lost {
		l.addLine(r)
	}
	survivor, same := old.survivorIn(doc, leaf)
	l.leaf, l.chosen = survivor, chosen && same
	l.follow(0, func(i int) bool { return !old.has(doc.ID(i)) })
	return old.Close()
}

// survivorIn returns the index in doc of the entry at an index of d, or of its nearest
// ancestor that doc has, or of the newest entry; same is false in the latter cases.
func (d *Document) survivorIn(doc *Document, i int) (in int, same bool) {
	if i < 0 {
		return i, true
	}
	path, _ := d.tree.path(i)
	for n, j := range slices.Backward(path) {
		if in, ok := doc.tree.find(d.tree.id(j)); ok && d.tree.id(j) != "" {
			return in, n == len(path)-1
		}
	}
	return doc.Len() - 1, false
}

// lostIn returns, in order, the entries of this Log and their ancestors that doc lacks.
func (l *Log) lostIn(doc *Document) ([]record, error) {
	missing := map[int]bool{}
	for _, i := range l.ours {
		if l.doc.removed(i) && l.doc.tree.typ(i) == TypeSessionInfo {
			continue // the copy of a title, which may belong to another header now
		}
		for j := i; j >= 0 && !missing[j] && !doc.has(l.doc.ID(j)); j = l.doc.tree.parentOf(j) {
			missing[j] = true
		}
	}
	var lost []record
	for _, i := range slices.Sorted(maps.Keys(missing)) {
		line, err := l.doc.raw(i)
		if err != nil {
			return nil, err
		}
		r := l.doc.tree.at(i)
		lost = append(lost, record{id: r.id, parent: r.parent, typ: r.typ, role: r.role, mem: line})
	}
	return lost, nil
}

func (d *Document) has(id string) bool {
	_, ok := d.tree.find(id)
	return ok
}

// takeOver makes doc the session. It keeps this Log's own entries in full where the file
// has them truncated or without their images.
func (l *Log) takeOver(doc *Document) {
	old, ours := l.doc, l.ours
	l.doc, l.unsaved, l.ours = doc, nil, make([]int, 0, len(ours))
	for _, i := range ours {
		if j, ok := doc.tree.find(old.ID(i)); ok {
			doc.tree.setMem(j, old.tree.mem(i))
			l.ours = append(l.ours, j)
		}
	}
}

// remember updates the known end of the file after an append. It moves bytes once per
// endBytes, not once per line.
func (d *Document) remember(more []byte) {
	skipped := max(0, len(more)-endBytes)
	more = more[skipped:]
	switch {
	case d.end == nil:
		d.end = bytes.Clone(more)
	case skipped == 0 && len(d.end)+len(more) <= cap(d.end):
		d.end = append(d.end, more...)
	default:
		keep := d.end[max(0, len(d.end)+len(more)-endBytes):]
		if cap(d.end) < 2*endBytes { // the memory may be that of the source
			d.end = make([]byte, 0, 2*endBytes)
		}
		d.end = append(append(d.end[:0], keep...), more...)
	}
}
