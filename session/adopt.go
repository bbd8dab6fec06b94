package session

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
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
	if l.path == "" || l.pending && !l.revived() {
		return nil
	}
	info, err := l.store.Fs.Stat(l.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		l.revive()
		return nil
	case err != nil:
		return ioFault("read", l.path, err)
	case l.pending: // it came back
		l.pending = false
		return l.reload()
	case !sameFile(info, l.doc.info), info.Size() < l.doc.tail.size:
		return l.reload()
	case info.Size() == l.doc.tail.size:
		return nil
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
	if l.follow && wasLast && unsaved == 0 {
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
	disk := l.store.forDisk(l.path)
	for k, i := range l.unsaved {
		if u := &l.doc.tree.recs[i]; u.id == r.id && bytes.Equal(disk(u.mem), v.raw) {
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
	leafID, follow, old := l.doc.LeafID(atPlace(l.leaf)), l.follow, l.doc
	lost, err := l.lostIn(doc)
	if err != nil {
		return closing(err, doc)
	}
	l.doc, l.unsaved = doc, nil
	for _, r := range lost {
		l.addLine(r)
	}
	l.keepFullText()
	l.leaf, l.follow = doc.Len()-1, true
	if !follow && leafID == "" {
		l.leaf, l.follow = -1, false
	} else if i, err := doc.Index(leafID); err == nil && !follow {
		l.leaf, l.follow = i, false
	}
	return old.Close()
}

// lostIn returns the entries that doc lacks of ours and of what ours hang on, in order.
func (l *Log) lostIn(doc *Document) ([]record, error) {
	missing := map[int]bool{}
	for i, r := range l.doc.tree.recs {
		if _, ours := l.ours[r.id]; !ours || doc.has(r.id) {
			continue
		}
		for j := i; j >= 0 && !missing[j] && !doc.has(l.doc.tree.recs[j].id); j = l.doc.tree.parentOf(j) {
			missing[j] = true
		}
	}
	var lost []record
	for i, r := range l.doc.tree.recs {
		if !missing[i] {
			continue
		}
		line, err := l.doc.raw(i)
		if err != nil {
			return nil, err
		}
		lost = append(lost, record{id: r.id, parent: r.parent, typ: r.typ, role: r.role, mem: line})
	}
	return lost, nil
}

func (d *Document) has(id string) bool {
	_, ok := d.tree.byID[id]
	return ok
}

// keepFullText keeps showing our own entries as they were given, where the file has
// them cut or without their images.
func (l *Log) keepFullText() {
	for id, line := range l.ours {
		if i, ok := l.doc.tree.byID[id]; ok {
			l.doc.tree.recs[i].mem = line
		}
	}
}

// remember keeps the end of the file after more was put behind it.
func (d *Document) remember(more []byte) {
	d.end = append(slices.Clip(d.end), more...)
	if extra := len(d.end) - endBytes; extra > 0 {
		d.end = bytes.Clone(d.end[extra:])
	}
}
