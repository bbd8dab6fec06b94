package session

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"

	"github.com/xcsh-ls/xcsh-ls/session/fault"
	"github.com/xcsh-ls/xcsh-ls/session/rawjson"
)

// errMoved says that the file is not the one we know. It never leaves the package.
var errMoved = errors.New("session: the file changed")

// maxRetries bounds how often a write starts over because another program wrote in
// between.
const maxRetries = 8

// sync brings memory up to date with the file: lines that others appended are
// adopted, a replaced file is read again, and a file that is gone is remembered to
// be written anew.
func (l *Log) sync() error {
	if l.path == "" || l.pending {
		return nil
	}
	info, err := l.store.Fs.Stat(l.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		l.reviveFromMemory()
		return nil
	case err != nil:
		return ioFault("read", l.path, err)
	case sameFile(info, l.doc.info) && info.Size() == l.doc.tail.size:
		return nil
	case sameFile(info, l.doc.info) && info.Size() > l.doc.tail.size && l.doc.tail.newline && l.doc.tree.migrated == nil:
		return l.adoptTail(info)
	}
	return l.reload()
}

// reviveFromMemory makes the next write put the whole session into a new file: the
// old one was deleted while the session was open, and an append would create a file
// without a header.
func (l *Log) reviveFromMemory() {
	l.store.log.Warn("session file is gone; writing it anew", zapPath(l.path))
	l.pending = true
}

// adoptTail indexes what was appended to the file since we last looked.
func (l *Log) adoptTail(info os.FileInfo) error {
	f, err := l.store.Fs.Open(l.path)
	if err != nil {
		return ioFault("open", l.path, err)
	}
	fresh := make([]byte, info.Size()-l.doc.tail.size)
	_, err = f.ReadAt(fresh, l.doc.tail.size)
	if err = errors.Join(err, f.Close()); err != nil && !errors.Is(err, io.EOF) {
		return ioFault("read", l.path, err)
	}
	wasLast := l.leaf == l.doc.Len()-1
	end := scanBytes(fresh, func(v value) {
		if r, ok := l.doc.tree.record(v); ok && r.typ != typeSession && v.env.Object {
			r.mem = v.raw
			l.doc.tree.add(r)
		}
	}, l.doc.report)
	l.doc.tail = tail{size: info.Size(), newline: end.newline}
	l.doc.info = info
	if l.follow && wasLast {
		l.leaf = l.doc.Len() - 1
	}
	return nil
}

// reload reads a file that is not the one we know. Entries of ours that are missing
// in it, because another program rewrote it from what it knew, are kept and written
// again behind its lines.
func (l *Log) reload() error {
	dialect := l.doc.dialect
	doc, err := LoadAs(l.store.Fs, l.path, &dialect)
	if err != nil {
		return fault.New(fault.Stale, "%s is no longer the session that was opened; nothing was written: %w", l.path, err).With("path", l.path)
	}
	if doc.header.ID != l.doc.header.ID {
		return errors.Join(fault.New(fault.Stale, "%s now holds another session; nothing was written.", l.path).With("path", l.path), doc.Close())
	}
	leafID, follow, old := l.doc.LeafID(atPlace(l.leaf)), l.follow, l.doc
	l.doc, l.unsaved = doc, nil
	for _, r := range old.tree.recs {
		if line, ours := l.ours[r.id]; ours {
			if _, there := doc.tree.byID[r.id]; !there {
				l.addLine(record{id: r.id, parent: r.parent, typ: r.typ, role: r.role, mem: line})
			}
		}
	}
	l.leaf, l.follow = doc.Len()-1, true
	if !follow && leafID == "" {
		l.leaf, l.follow = -1, false
	} else if i, err := doc.Index(leafID); err == nil && !follow {
		l.leaf, l.follow = i, false
	}
	return old.Close()
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
	for range maxRetries {
		err := l.appendUnsaved()
		if !errors.Is(err, errMoved) {
			return err
		}
		if err := l.sync(); err != nil {
			return err
		}
		if l.pending {
			return l.create()
		}
	}
	return fault.New(fault.Busy, "%s keeps changing; another program is writing to it.", l.path).With("path", l.path)
}

// revived reports whether the file existed and was deleted.
func (l *Log) revived() bool { return l.pending && l.doc.info != nil }

func (l *Log) hasAnswer() bool {
	return slices.ContainsFunc(l.doc.tree.recs, func(r record) bool { return r.role == "assistant" })
}

// create writes the whole session to a file that does not exist.
func (l *Log) create() error {
	err := createFile(l.store.Fs, l.path, l.store.ids.Session(), func(w io.Writer) error {
		lines := [][]byte{l.doc.HeaderLine()}
		for i := range l.doc.Len() {
			raw, err := l.doc.raw(i)
			if err != nil {
				return err
			}
			lines = append(lines, raw)
		}
		return writeLines(w, lines)
	})
	if err != nil {
		return err
	}
	l.pending = false
	return l.reopen()
}

// reopen reads what we just wrote in full, which then is the truth.
func (l *Log) reopen() error {
	dialect, old, leaf := l.doc.dialect, l.doc, l.leaf
	doc, err := LoadAs(l.store.Fs, l.path, &dialect)
	if err != nil {
		return err
	}
	l.doc, l.unsaved = doc, nil
	if l.leaf = min(leaf, doc.Len()-1); old.Len() != doc.Len() || l.follow {
		l.leaf = doc.Len() - 1
	}
	return old.Close()
}

// appendUnsaved writes the missing lines behind the file's last one, in one call.
// errMoved means that the file is not the one we know and nothing was written.
func (l *Log) appendUnsaved() error {
	var data []byte
	if !l.doc.tail.newline {
		// What is there stays, even half a line; ours begins on its own.
		data = append(data, '\n')
	}
	for _, i := range l.unsaved {
		data = append(append(data, l.doc.tree.recs[i].mem...), '\n')
	}
	f, err := l.store.Fs.OpenFile(l.path, os.O_WRONLY|os.O_APPEND, fileMode)
	if errors.Is(err, fs.ErrNotExist) {
		return errMoved
	} else if err != nil {
		return ioFault("write", l.path, err)
	}
	size := l.doc.tail.size
	before, err := f.Stat()
	if err == nil && (!sameFile(before, l.doc.info) || before.Size() != size) {
		err = errMoved
	}
	if err != nil {
		return errors.Join(err, f.Close())
	}
	n, err := f.Write(data)
	if err == nil && n < len(data) {
		err = io.ErrShortWrite
	}
	if err != nil {
		return errors.Join(ioFault("write", l.path, err), l.undo(f, size, n), f.Close())
	}
	after, err := f.Stat()
	if err = errors.Join(err, f.Close()); err != nil {
		return ioFault("write", l.path, err)
	}
	l.doc.tail = tail{size: size + int64(n), newline: true}
	l.doc.info = after
	l.unsaved = nil
	return nil
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
	for range maxRetries {
		err := l.rewriteOnce(header)
		if errors.Is(err, errMoved) {
			if err := l.sync(); err != nil {
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
	target := realTarget(l.store.Fs, l.path)
	return replaceFile(l.store.Fs, target, l.store.ids.Session(), l.doc.info.Mode().Perm(), func(w io.Writer) error {
		f, err := l.store.Fs.Open(target)
		if err != nil {
			return err
		}
		return errors.Join(l.copyEdited(w, f, edits), f.Close())
	}, l.unchanged)
}

// unchanged reports errMoved when the file is not the one in memory.
func (l *Log) unchanged() error {
	info, err := l.store.Fs.Stat(l.path)
	if err != nil || !sameFile(info, l.doc.info) || info.Size() != l.doc.tail.size {
		return errMoved
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
			if r.mem != nil {
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
	var missing [][]byte
	for _, i := range l.unsaved {
		missing = append(missing, l.doc.tree.recs[i].mem)
	}
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
// is what it is for. The title is cut to what fits.
func (l *Log) overwriteSlot(title Title) error {
	f, err := l.store.Fs.OpenFile(l.path, os.O_RDWR, fileMode)
	if err != nil {
		return ioFault("write", l.path, err)
	}
	old := make([]byte, titleSlotSize)
	_, err = f.ReadAt(old, 0)
	if _, ok := parseTitleSlot(old); err == nil && (!ok || old[titleSlotSize-1] != '\n') {
		err = fault.New(fault.Stale, "%s no longer begins with a title slot; nothing was written.", l.path).With("path", l.path)
	}
	if err == nil {
		_, err = f.WriteAt(titleSlot(title, FormatTime(l.store.now())), 0)
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return ioFault("write", l.path, err)
	}
	return nil
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
	for len(build(string(runes), 0)) > titleSlotSize {
		runes = runes[:len(runes)-1]
	}
	return build(string(runes), titleSlotSize-len(build(string(runes), 0)))
}
