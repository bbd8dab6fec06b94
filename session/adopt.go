package session

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"

	"github.com/xcsh-ls/xcsh-ls/session/fault"
)

// endBytes is how much of a file's end is remembered, in bytes, to tell an append from
// a file that was written over in place and came out longer.
const endBytes = 4 << 10

// sync brings memory up to date with the file: lines that others appended are
// adopted, a replaced file is read again, and a file that is gone is remembered to
// be written anew.
func (l *Log) sync() error {
	_, err := l.look()
	return err
}

// look is [Log.sync]. same is true when the path was just seen to name the file that we
// know, at the size that we know.
func (l *Log) look() (same bool, err error) {
	if l.path == "" || l.pending && !l.revived() {
		return false, nil
	}
	lost := l.burst.failed()
	info, err := l.store.Fs.Stat(l.path)
	if err == nil && lost == nil && !l.pending && info.Size() == l.doc.tail.size && sameFile(info, l.doc.info) {
		return true, nil
	}
	// What is open is not what is there, or not as we left it.
	l.burst.disturbed()
	return false, cmp.Or(l.catchUp(info, err, lost != nil), lost)
}

// catchUp is what [Log.look] does about a file that is not as we know it, or that may
// not be what we think we wrote.
func (l *Log) catchUp(info os.FileInfo, err error, doubtful bool) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		l.revive()
		return nil
	case err != nil:
		return ioFault("read", l.path, err)
	case l.pending: // it came back
		l.pending = false
		return l.reload()
	case doubtful, !sameFile(info, l.doc.info), info.Size() < l.doc.tail.size:
		return l.reload()
	}
	return l.adoptTail(info)
}

// revive makes the next write put the whole session into a new file: the old one was
// deleted while the session was open, and an append would create a file without a
// header.
func (l *Log) revive() {
	if !l.pending {
		l.store.log.Warn("session file is gone; it will be written anew", zapPath(l.path))
	}
	l.pending = true
}

// revived reports whether the file existed and was deleted.
func (l *Log) revived() bool { return l.pending && l.doc.info != nil }

// adoptTail indexes what was appended to the file since we last looked. A file whose
// end is not what we remember was not appended to; it is read again.
func (l *Log) adoptTail(info os.FileInfo) error {
	if !l.doc.tail.newline || l.doc.tree.migrated != nil {
		return l.reload()
	}
	fresh, appended, err := l.readBehind(info.Size())
	if err != nil {
		return err
	}
	if !appended {
		return l.reload()
	}
	wasLast, unsaved := l.leaf == l.doc.Len()-1, len(l.unsaved)
	end := scanBytes(fresh, l.adopt, l.doc.report)
	l.doc.tail = tail{size: l.doc.tail.size + int64(len(fresh)), newline: end.newline}
	l.doc.remember(fresh)
	l.doc.info = info
	// With entries that are still to be written, those will be the newest.
	if l.following() && wasLast && unsaved == 0 {
		l.leaf = l.doc.Len() - 1
	}
	return nil
}

// readBehind reads what the file has beyond what we know. appended is false when what
// we know is not what is before it.
func (l *Log) readBehind(size int64) (fresh []byte, appended bool, err error) {
	known := l.doc.end
	b := make([]byte, int64(len(known))+size-l.doc.tail.size)
	f, err := l.store.Fs.Open(l.path)
	if err != nil {
		return nil, false, ioFault("open", l.path, err)
	}
	n, err := f.ReadAt(b, l.doc.tail.size-int64(len(known)))
	if errors.Is(err, io.EOF) {
		err = nil
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, false, ioFault("read", l.path, err)
	}
	b = b[:n]
	return bytes.TrimPrefix(b, known), bytes.HasPrefix(b, known), nil
}

// adopt files one value that appeared in the file. A line of ours that was written
// although the write reported an error is no new entry.
func (l *Log) adopt(v value) {
	r, ok := l.doc.tree.record(v)
	if !ok || r.typ == typeSession || !v.env.Object {
		return
	}
	disk := l.forDisk()
	for k, i := range l.unsaved {
		if t := &l.doc.tree; t.id(i) == r.id && bytes.Equal(disk(t.mem(i)), v.raw) {
			l.unsaved = slices.Delete(l.unsaved, k, k+1)
			return
		}
	}
	r.mem, r.fresh = v.raw, true
	l.doc.noteTitle(r.typ, v.raw)
	l.doc.tree.add(r)
}

// reload reads a file that is not the one we know. Entries of ours that are missing in
// it, because another program rewrote it from what it knew, are written again behind
// its lines, with those of their ancestors that are missing too: without them the
// conversation would end above ours.
func (l *Log) reload() error {
	dialect := l.doc.dialect
	doc, err := LoadAs(l.store.Fs, l.path, &dialect)
	if err == nil && doc.header.ID != l.doc.header.ID {
		err = fault.New(fault.Stale, "it holds another session")
	}
	if err != nil {
		stale := fault.New(fault.Stale, "%s is no longer the session that was opened; nothing was written: %w", l.path, err)
		return closing(stale.With("path", l.path), doc)
	}
	return l.become(doc)
}

// become makes doc, which was just read from the file, the session. What it lacks of
// ours waits to be written again.
func (l *Log) become(doc *Document) error {
	lost, err := l.lostIn(doc)
	if err != nil {
		return closing(err, doc)
	}
	old, leaf, leafID, follow := l.doc, l.leaf, l.doc.LeafID(atPlace(l.leaf)), l.following()
	l.takeOver(doc)
	for _, r := range lost {
		l.addLine(r)
	}
	l.leaf, l.follow = doc.Len()-1, true
	if !follow && leaf < 0 {
		l.leaf, l.follow = -1, false
	} else if i, err := doc.Index(leafID); err == nil && !follow {
		l.leaf, l.follow = i, false
	}
	return old.Close()
}

// lostIn returns the entries that doc lacks of ours and of what ours hang on, in order.
func (l *Log) lostIn(doc *Document) ([]record, error) {
	missing := map[int]bool{}
	for _, i := range l.ours {
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

// takeOver makes doc the session, with our own entries as they were given, where the
// file has them cut or without their images.
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

// remember keeps the end of the file after more was put behind it. It moves bytes once
// per endBytes and not once per line.
func (d *Document) remember(more []byte) {
	more = more[max(0, len(more)-endBytes):]
	switch {
	case d.end == nil:
		d.end = bytes.Clone(more)
	case len(d.end)+len(more) <= cap(d.end):
		d.end = append(d.end, more...)
	default:
		keep := d.end[max(0, len(d.end)+len(more)-endBytes):]
		if cap(d.end) < 2*endBytes {
			d.end = make([]byte, 0, 2*endBytes)
		}
		d.end = append(append(d.end[:0], keep...), more...)
	}
}
