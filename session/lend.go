package session

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/afero"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/session/internal/disk"
)

// Lent is a session whose file another program writes until [Lent.Return]: this one only reads it. Its methods are
// safe for concurrent use. After Return they do nothing, and after [Log.Close] they return a Stale error.
type Lent struct {
	log *Log
	to  string

	// All of these are guarded by log.mu.
	awaited bool   // the program makes the file
	home    string // the path of the awaited file before [Lent.At]
	fresh   []int  // entries that Catch has not returned
	half    int64  // the size at which the file ended in a line that was not complete
	placed  bool   // the place of its leaf is known: it appended something, or said where it is
	leaf    string // the entry of that leaf, as long as it is not in the file; "" for none
}

// maxCaught is how many bytes behind the known end of a lent file are read at once and kept in memory. A file that grew
// by more is read again like one that is opened. Only tests change it.
var maxCaught int64 = 32 << 20

// Lend gives the file of the session to the program called to, which appends to it. Until [Lent.Return] this program
// writes nothing to the file: every method of the Log that would, or that would move the leaf, returns a Busy error.
// Reading goes on; entries that the program appended appear with [Lent.Catch] and [Log.Refresh].
//
// Before it returns, Lend takes the session's write lock, adopts what others appended, writes and syncs what is
// not saved, brings a file of an older format up to date, and ends an incomplete last line, because the program
// would write its first line behind it. Where one of these fails, nothing is lent. A Busy error with a pid reports another server
// that has the session.
//
// A new session that has no file yet and holds nothing but settings is not written: the program makes its file; see
// [Lent.Awaited]. One that holds more is written first.
func (l *Log) Lend(to string) (*Lent, error) {
	if err := l.settle(context.Background()); err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.path == "" {
		return nil, fault.New(fault.NotPersistent, "%s is in memory only, so that %s cannot continue it.", l.doc.name(), to)
	}
	readErr, err := l.ready()
	if err = errors.Join(err, readErr); err != nil {
		return nil, err
	}
	t := &Lent{log: l, to: to, home: l.path, awaited: l.pending && !l.revived() && l.onlySettings()}
	if !t.awaited {
		if err := l.complete(); err != nil {
			return nil, err
		}
	}
	l.lent = t
	return t, nil
}

// complete brings the file into the state that another program can append to.
func (l *Log) complete() error {
	err := l.persist(true)
	if err == nil && l.doc.tree.migrated != nil {
		err = l.rewrite(l.doc.HeaderLine())
	}
	for range restless { // another program may leave an incomplete line at the same moment
		if err == nil && !l.doc.tail.newline {
			err = l.appendMissing() // a line end and no entries
		}
	}
	if err == nil && len(l.ours) > 0 {
		err = l.fsync()
	}
	l.latch(err)
	return err
}

// onlySettings reports whether the session has nothing that would be missed if another program began it.
func (l *Log) onlySettings() bool {
	if l.doc.title.Text != "" || l.doc.header.ParentSession != "" {
		return false
	}
	for i := range l.doc.Len() {
		switch l.doc.tree.typ(i) {
		case TypeModelChange, TypeThinkingLevel, typeServiceTier, TypeModeChange, typeMCPToolSelection:
		default:
			return false
		}
	}
	return true
}

// IsLent reports whether another program writes the file at present, see [Log.Lend].
func (l *Log) IsLent() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.lent != nil
}

// lentOut is the error of what would write while the session is lent; nil if it is not.
func (l *Log) lentOut() error {
	if l.lent == nil {
		return nil
	}
	return fault.New(fault.Busy, "%s has this session and writes it; nothing else can until it has ended.", l.lent.to).With("path", l.path)
}

// Awaited reports whether the program makes the file, which does not exist yet. Then the program must use the id of the
// session's header, and its path must be known to this program; see [Lent.At].
func (t *Lent) Awaited() bool {
	t.log.mu.Lock()
	defer t.log.mu.Unlock()
	return t.awaited
}

// At makes path, which is absolute, the path of a session whose file is awaited. Settings of the session that were not
// written are given up once the file is there; until then, Return restores the session as it was. The path of a
// file that exists already cannot be changed: that is a Stale error.
func (t *Lent) At(path string) error {
	l := t.log
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.lent != t || l.path == path:
		return nil
	case !t.awaited:
		return fault.New(fault.Stale, "%s has gone to another session, %s.", t.to, path).With("path", path)
	case !filepath.IsAbs(path):
		return fault.New(fault.InvalidArgument, "The path of a session must be absolute: %s", path).With("field", "path")
	}
	return l.goTo(path)
}

// goTo changes the path of a session without a file, which its lock names.
func (l *Log) goTo(path string) error {
	was := l.path
	l.store.unlocked(was, l.lock.Release())
	l.setPath(path)
	l.lock, l.asked = nil, false
	err := l.own()
	if err == nil {
		return nil
	}
	l.setPath(was)
	return errors.Join(err, l.own())
}

func (l *Log) setPath(path string) {
	l.path, l.doc.path = path, path
	l.shownPath.Store(&path)
}

// Catch reads what the program appended and returns the entries that no call returned before, in the order of the
// file. Their bytes must not be changed. An incomplete last line is left until it is complete. If nothing was appended,
// Catch costs one look at the file.
//
// A file that was removed is a NotFound error, and one that was replaced, truncated or changed before its known end is
// a Stale error. Then the session stays as it is in memory. After Return, a removed file is written again by
// [Log.EnsureOnDisk] with all that is known, and another file is adopted like one that changed without being lent. The
// file of a new session that does not exist yet is no error; one with another header is a Stale error.
func (t *Lent) Catch() ([]Entry, error) {
	l := t.log
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lent != t {
		return nil, nil
	}
	if l.closed {
		return nil, l.writable()
	}
	err := t.read()
	if err == nil {
		l.keepIndex(keepEvery)
	}
	entries, entryErr := t.take()
	return entries, errors.Join(err, entryErr)
}

// take returns the entries that Catch has not returned.
func (t *Lent) take() (entries []Entry, err error) {
	for n, i := range t.fresh {
		e, err := t.log.doc.Entry(i)
		if err != nil {
			t.fresh = t.fresh[n:]
			return entries, err
		}
		entries = append(entries, e)
	}
	t.fresh = t.fresh[:0]
	return entries, nil
}

// read adopts the appended lines.
func (t *Lent) read() error {
	l := t.log
	info, err := l.store.Fs.Stat(l.path)
	if t.awaited {
		return t.await(err, false)
	}
	known := l.doc.tail.size
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fault.New(fault.NotFound, "The session file %s was removed.", l.path).With("path", l.path)
	case err != nil:
		return disk.Fault("read", l.path, err)
	case !disk.SameFile(info, l.doc.info), info.Size() < known:
		return t.otherFile()
	case info.Size() == known, info.Size() == t.half:
		return nil
	}
	if t.half = 0; !l.doc.tail.newline || info.Size()-known > maxCaught {
		return t.readAgain()
	}
	return t.adoptLines(info)
}

func (t *Lent) otherFile() error {
	return fault.New(fault.Stale, "The session file %s was replaced or truncated.", t.log.path).With("path", t.log.path)
}

// adoptLines adopts the complete lines behind the known end.
func (t *Lent) adoptLines(info os.FileInfo) error {
	l := t.log
	more, appended, renamed, err := l.readBehind(info.Size())
	if err != nil {
		return err
	}
	if !appended {
		return t.otherFile()
	}
	if renamed {
		l.readSlot()
	}
	lines := more[:bytes.LastIndexByte(more, '\n')+1]
	if len(lines) < len(more) {
		t.half = l.doc.tail.size + int64(len(more))
		lines = bytes.Clone(lines) // without the memory of the rest
	}
	if len(lines) == 0 {
		return nil
	}
	from := l.doc.Len()
	l.adoptBytes(lines, info)
	for i := from; i < l.doc.Len(); i++ {
		t.fresh = append(t.fresh, i)
	}
	t.reachLeaf()
	return nil
}

// readAgain reads the whole file, like one that is opened.
func (t *Lent) readAgain() error {
	l := t.log
	if _, appended, _, err := l.readBehind(l.doc.tail.size); err != nil {
		return err
	} else if !appended {
		return t.otherFile()
	}
	dialect := l.doc.dialect
	doc, err := l.store.load(l.path, &dialect)
	if err == nil && doc.header.ID != l.doc.header.ID {
		err = t.otherFile()
	}
	if err != nil {
		return Closing(err, doc)
	}
	old, unseen := l.doc, map[string]bool{}
	for _, i := range t.fresh {
		unseen[old.ID(i)] = true
	}
	t.fresh = t.fresh[:0]
	for i := range doc.Len() {
		if id := doc.ID(i); unseen[id] || !old.has(id) {
			t.fresh = append(t.fresh, i)
		}
	}
	err = l.become(doc)
	t.reachLeaf()
	return err
}

// await takes over the file of a new session once it is there. statErr is the result of looking for it. Unless it is
// the last time, a file that ends in the middle of a line is left until that is complete.
func (t *Lent) await(statErr error, last bool) error {
	l := t.log
	if errors.Is(statErr, fs.ErrNotExist) {
		return nil
	} else if statErr != nil {
		return disk.Fault("read", l.path, statErr)
	}
	doc, err := l.store.load(l.path, l.store.dialectAt(l.path))
	switch {
	case doc == nil:
		return err
	case !doc.tail.newline && !last, doc.tail.size == 0:
		return doc.Close()
	case err == nil && doc.header.ID != l.doc.header.ID:
		err = fault.New(fault.Stale, "%s holds another session than the one that %s began.", l.path, t.to).With("path", l.path)
	case err != nil:
		err = fault.New(fault.Stale, "%s is not the session that %s began: %w", l.path, t.to, err).With("path", l.path)
	}
	if err != nil {
		return Closing(err, doc)
	}
	old := l.doc
	l.doc, l.leaf, l.chosen, l.live = doc, doc.Len()-1, false, nil
	l.unsaved, l.ours, l.pending, t.awaited = nil, nil, false, false
	t.fresh = allEntries(doc)
	t.reachLeaf()
	return old.Close()
}

// Make writes the awaited file in the directory dir, with nothing but the header, for a program that only continues
// files. A file that exists cannot be made: that is a Stale error.
func (t *Lent) Make(dir string) error {
	l := t.log
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lent != t || !t.awaited {
		return fault.New(fault.Stale, "The session has a file already.").With("path", l.path)
	}
	h := l.doc.header
	path := filepath.Join(dir, FileName(h.Timestamp, h.ID))
	content := func(w io.Writer) error { return disk.WriteLines(w, [][]byte{h.Raw}) }
	if err := disk.Create(l.store.Fs, path, l.store.NewID(), content); err != nil {
		return err
	}
	if path != l.path {
		if err := l.goTo(path); err != nil {
			return err
		}
	}
	_, err := l.store.Fs.Stat(path)
	return t.await(err, false)
}

// Leaf sets the leaf to the entry called id, where the program is; "" is before the first entry. An id that is not in
// the file yet counts once it is there. Otherwise the leaf follows what is appended below it. What is appended first is followed
// wherever it is, because a program begins at the end of the file.
func (t *Lent) Leaf(id string) {
	l := t.log
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lent != t || l.closed {
		return
	}
	t.placed, t.leaf = true, id
	if id == "" {
		l.moveTo(-1)
	}
	t.reachLeaf()
}

// Reach moves the leaf to the entry called id, which the program has reported, unless it is there or below already. The program
// may have reported an older leaf meanwhile, when this entry had long been read.
func (t *Lent) Reach(id string) {
	l := t.log
	l.mu.Lock()
	defer l.mu.Unlock()
	if i, ok := t.known(id); ok && !l.doc.tree.isBelow(l.leaf, i) {
		t.placed, t.leaf = true, ""
		l.moveTo(i)
	}
}

// Follow moves the leaf to the entry called id if that is below the leaf, and reports whether it is.
func (t *Lent) Follow(id string) bool {
	l := t.log
	l.mu.Lock()
	defer l.mu.Unlock()
	i, ok := t.known(id)
	if !ok || !l.doc.tree.isBelow(i, l.leaf) {
		return false
	}
	l.moveTo(i)
	return true
}

// known returns the index of an entry while the session is lent.
func (t *Lent) known(id string) (i int, ok bool) {
	if t.log.lent != t || t.log.closed {
		return 0, false
	}
	return t.log.doc.tree.find(id)
}

// reachLeaf moves the leaf to the one that the program has, if that is known by now and the entry is there.
func (t *Lent) reachLeaf() {
	l := t.log
	i, ok := l.doc.tree.find(t.leaf)
	if t.leaf == "" || !ok {
		return
	}
	l.moveTo(i)
	t.leaf = ""
}

// Return ends the lending, after the program has ended: the session is written here again. It reads the file once
// more; what is new in it is no longer returned by Catch. The write lock stays with the Log. An error reports that the
// file cannot be read, or is that of another session now: nothing will be written to it. If the program went on
// writing after its file was removed, the whole session is written there.
//
// A session whose awaited file never appeared is as it was before. Calling Return again does nothing.
func (t *Lent) Return() error {
	l := t.log
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lent != t {
		return nil
	}
	if t.awaited && !l.closed {
		_, err := l.store.Fs.Stat(l.path)
		if err = t.await(err, true); t.awaited {
			l.lent = nil
			if l.path != t.home {
				err = errors.Join(err, l.goTo(t.home))
			}
			return err
		}
	}
	l.lent = nil
	if l.closed {
		return nil
	}
	if err := l.recover(); err != nil {
		return err
	}
	return l.sync()
}

// recover saves a session whose file was removed while it was lent. Without looking, the program appended to a new file,
// which has no header: the entries in it are adopted, and the file is replaced by the whole session. Any
// other file is left to sync.
func (l *Log) recover() error {
	info, err := l.store.Fs.Stat(l.path)
	if err != nil || info.Size() > maxCaught {
		return nil //nolint:nilerr // sync meets the same failure and returns it
	}
	if disk.SameFile(info, l.doc.info) && info.Size() >= l.doc.tail.size {
		// A new file can have the number of the one that was removed.
		if _, appended, _, err := l.readBehind(l.doc.tail.size); err != nil || appended {
			return nil //nolint:nilerr // as above
		}
	}
	lines, err := afero.ReadFile(l.store.Fs, l.path)
	if err != nil {
		return disk.Fault("read", l.path, err)
	}
	if int64(len(lines)) != info.Size() || !l.continues(lines) {
		return nil
	}
	scanBytes(lines, l.adopt, func(Problem) {})
	back := func(bool) {}
	err = disk.Replace(l.store.Fs, l.path, l.store.NewID(), l.doc.info.Mode().Perm(), l.writeRevived, func() error {
		if l.store.replacesClosed {
			var err error
			if back, err = l.doc.src.release(l.store.Fs, l.path); err != nil {
				return err
			}
		}
		if now, err := l.store.Fs.Stat(l.path); err != nil || !disk.SameFile(now, info) || now.Size() != info.Size() {
			return fault.New(fault.Stale, "%s is still being written.", l.path).With("path", l.path)
		}
		return nil
	})
	back(err == nil)
	if err != nil {
		return err
	}
	return l.reopen()
}

// continues reports whether lines are entries that continue this session and nothing else, without a header.
func (l *Log) continues(lines []byte) bool {
	known, sound := map[string]bool{}, true
	scanBytes(lines, func(v Value) {
		r, ok := l.doc.tree.record(v)
		if !ok || !v.Env.Object || r.typ == TypeSession || r.id == "" || l.doc.has(r.id) || !known[r.parent] && !l.doc.has(r.parent) {
			sound = false
		}
		known[r.id] = true
	}, func(p Problem) { sound = sound && p.Kind == missingNewline })
	return sound && len(known) > 0
}
