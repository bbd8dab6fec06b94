package session

import (
	"bytes"
	"cmp"
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"unicode"

	"go.uber.org/zap"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/session/internal/disk"
	"github.com/xcsh-ls/xcsh-ls/session/internal/own"
	"github.com/xcsh-ls/xcsh-ls/session/lock"
)

// Log is one open session that can be appended to. It is safe for concurrent use.
//
// A Log guarantees for its file: an entry is one line written by one write call; existing
// content is never truncated, re-ordered or merged away; lines that other programs appended
// meanwhile are adopted before new ones are written; a file that must be rewritten (a new
// title, an older format) is replaced atomically and only if it still is the file that was
// read.
//
// A new session writes nothing until it holds an answer of a model, because the terminal
// programs list every file as a conversation. A session opened from disk writes every entry
// at once.
type Log struct {
	store *Store

	mu      sync.Mutex
	doc     *Document     // guarded by mu, like all below
	path    string        // "" for a session in memory
	leaf    int           // index of the leaf entry, -1 before the first
	chosen  bool          // the leaf was moved above existing entries, so that it follows no program
	holds   int           // calls of Hold that are not released; meanwhile the leaf follows no program
	foreign string        // the newest message of another program's branch that the leaf did not follow, "" for none
	pending bool          // there is no file yet
	unsaved []int         // entries that are not in the file
	ours    []int         // entries this Log wrote, to notice when another program loses them
	buf     []byte        // of the last append, for the next
	err     error         // the error of the last write
	lock    *lock.Session // the lock for writing, held from the first write on
	asked   bool          // the lock was taken, or locks do not work here
	grows   bool          // a run has made the session longer, so that its context is kept
	live    *liveContext  // the kept context, nil if there is none
	closed  bool
	lent    *Lent // nil unless another program writes the file

	replaced bool // see Settled

	shownPath atomic.Pointer[string] // path, for readers without mu
}

func newLog(s *Store, doc *Document, path string, pending bool) *Log {
	l := &Log{store: s, doc: doc, path: path, leaf: doc.Len() - 1, pending: pending}
	l.shownPath.Store(&path)
	return l
}

// Append adds an entry as a child of the leaf and makes it the leaf.
//
// Memory is updated first, then the file. If the file cannot be written, the entry stays in
// memory, Append, Flush and Close return the error, and every later Append tries to write
// all missing entries. Append does not sync; see [Log.Flush].
func (l *Log) Append(d *Draft) (id string, err error) {
	if err := l.settle(context.Background()); err != nil {
		return "", err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	readErr, err := l.ready()
	if err != nil {
		return "", err
	}
	return l.put(d, readErr)
}

// ready brings memory up to date before an append. It fails if nothing may be written.
// A read error is returned separately: put reports it, after the entry has been added in
// memory.
func (l *Log) ready() (readErr, err error) {
	if err := l.writable(); err != nil {
		return nil, err
	}
	readErr = l.sync()
	return readErr, l.writable() // the format of the file may now be newer than this package can write
}

// put is [Log.Append] after ready.
func (l *Log) put(d *Draft, readErr error) (id string, err error) {
	id = l.add(d)
	if readErr != nil {
		l.latch(readErr)
	} else {
		l.latch(l.persist(false))
	}
	if l.err == nil {
		l.keepIndex(keepEvery)
	}
	return id, l.err
}

// add adds a draft in memory as a child of the leaf.
func (l *Log) add(d *Draft) string {
	id := d.id
	if id == "" || l.doc.has(id) {
		id = l.newID()
	}
	parent := l.parentForNext()
	line := d.Line(id, parent, FormatTime(l.store.Now()))
	l.addLine(record{id: id, parent: parent, typ: d.Type, role: d.role(), mem: line})
	return id
}

func (l *Log) newID() string { return l.store.ids.entry(func(id string) bool { return l.doc.has(id) }) }

// NewEntryID returns an id that no entry has, for [Draft.Named].
func (l *Log) NewEntryID() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.newID()
}

func (l *Log) addLine(r record) {
	r.n, r.fresh, r.hidden = int32(len(r.mem)), true, own.Hidden(string(r.typ), r.mem)
	l.doc.noteTitle(r.typ, r.mem)
	l.doc.tree.add(r)
	l.leaf, l.chosen = l.doc.Len()-1, false
	l.unsaved = append(l.unsaved, l.leaf)
	l.ours = append(l.ours, l.leaf)
}

// parentForNext is the id of the leaf, or of its nearest ancestor that has one.
func (l *Log) parentForNext() string {
	for i := l.leaf; i >= 0; i = l.doc.tree.parentOf(i) {
		if id := l.doc.tree.id(i); id != "" {
			return id
		}
	}
	return ""
}

func (l *Log) writable() error {
	switch {
	case l.closed:
		return fault.New(fault.Stale, "Session %s is closed.", l.doc.header.ID)
	case l.doc.header.Version > CurrentVersion:
		return fault.New(fault.NewerVersion, "%s was written by a newer program (version %d); it can be read but not changed.",
			l.doc.name(), l.doc.header.Version).With("version", l.doc.header.Version).With("path", l.path)
	case l.lent != nil:
		return l.lentOut()
	}
	return l.own()
}

// own takes the session's write lock, which is held until Close. It returns a Busy error if
// another server writes to the session; reading still works. Where no lock can be kept, the
// session is written without one: losing the conversation would be worse than sharing it.
func (l *Log) own() error {
	if l.asked || l.path == "" || l.store.LockDir == "" {
		return nil
	}
	lock, err := l.store.Locks.OpenSession(l.store.LockDir, l.doc.header.ID, l.path)
	if fault.Is(err, fault.Busy) {
		return err
	}
	if err != nil {
		l.store.Log.Warn("a session is written without its lock", zap.String("path", l.path), zap.Error(err))
	}
	l.lock, l.asked = lock, true
	return nil
}

// latch stores the result of the last write. A success clears an earlier failure, because
// it wrote everything that was missing.
func (l *Log) latch(err error) {
	if err != nil && l.err == nil {
		l.store.Log.Warn("session cannot be saved", zap.String("path", l.path), zap.Error(err))
	}
	l.err = err
}

// Branch moves the leaf to the entry called id; nothing is written. The next entry becomes
// its child. An unknown id is a NotFound error.
func (l *Log) Branch(id string) error {
	if err := l.settle(context.Background()); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.lentOut(); err != nil {
		return err
	}
	i, err := l.index(id)
	if err == nil {
		l.moveTo(i)
	}
	return err
}

// index is [Document.Index]. Another program may have just written the entry, so an unknown
// id is searched for in the file too.
func (l *Log) index(id string) (int, error) {
	i, err := l.doc.Index(id)
	if err == nil || l.closed {
		return i, err
	}
	if err := l.sync(); err != nil {
		return 0, err
	}
	return l.doc.Index(id)
}

// moveTo makes the entry at an index the leaf; -1 is before the first.
func (l *Log) moveTo(i int) {
	_, above := l.doc.tree.newestBelow(i, 0)
	l.leaf, l.chosen = i, above
	l.forgetFollowed()
}

// Hold stops the leaf from following the appends of other programs until release is called:
// new entries go under this Log's own leaf. Entries that other programs appended before
// Hold are still followed, and so are those below the leaf when it is released. Several
// calls may overlap; each release may be called once.
func (l *Log) Hold() (release func()) {
	_ = l.settle(context.Background()) // the append that follows meets the same failure and returns it
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.holds == 0 && !l.closed {
		_ = l.sync() // as above
	}
	l.holds++
	l.grows = true
	return l.release
}

func (l *Log) release() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.holds--
	l.follow(l.leaf+1, func(int) bool { return false })
}

// ResetLeaf moves the leaf before the first entry: the next entry becomes another root.
func (l *Log) ResetLeaf() error {
	_ = l.settle(context.Background()) // as for Hold
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.lentOut(); err != nil {
		return err
	}
	l.moveTo(-1)
	return nil
}

// BranchWithSummary moves the leaf to the entry called id ("" for before the first) and
// appends a summary of the branch it left. The summary names the new leaf, or in pi's files
// the old one, as the programs do.
func (l *Log) BranchWithSummary(id, summary string) (string, error) {
	return l.appendAt(id, func() *Draft {
		from := id
		if l.form() == Pi {
			from = l.parentForNext()
		}
		return draftBranchSummary(cmp.Or(from, "root"), summary, nil)
	})
}

// AppendAt moves the leaf to the entry called id ("" for before the first) and appends an entry there, so that
// every program that loads the file continues at that place. An unknown id is a NotFound error, and the leaf stays.
// Other failures are those of [Log.Append].
func (l *Log) AppendAt(id string, d *Draft) (string, error) {
	return l.appendAt(id, func() *Draft { return d })
}

// appendAt is AppendAt with a draft that is made while the leaf is still the old one.
func (l *Log) appendAt(id string, draft func() *Draft) (string, error) {
	if err := l.settle(context.Background()); err != nil {
		return "", err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	readErr, err := l.ready()
	if err != nil {
		return "", err // before the leaf has moved
	}
	to := -1
	if id != "" {
		if to, err = l.doc.Index(id); err != nil {
			return "", cmp.Or(readErr, err)
		}
	}
	d := draft()
	l.moveTo(to)
	return l.put(d, readErr)
}

// SetLabel labels an entry; an empty text clears the label. The label becomes the leaf.
func (l *Log) SetLabel(targetID, text string) (string, error) {
	if err := l.settle(context.Background()); err != nil {
		return "", err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	readErr, err := l.ready()
	if err != nil {
		return "", err
	}
	if _, err := l.doc.Index(targetID); err != nil {
		return "", cmp.Or(readErr, err)
	}
	return l.put(draftLabel(targetID, text), readErr)
}

// LeafID returns the id of the entry that is shown as the leaf, "" before the first.
func (l *Log) LeafID() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.doc.LeafID(atPlace(l.leaf))
}

// View calls f with the session and its leaf. Nothing changes during the call; f
// must not call back into the Log or keep d. If f fails because the file is not the one that was indexed, it is
// called again with the session as it was read whole.
func (l *Log) View(f func(d *Document, leaf Leaf) error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.endComparison(); err != nil {
		return err
	}
	l.followContext()
	err := f(l.doc, atPlace(l.leaf))
	if c := l.doc.comparing; err == nil || c == nil || !c.Failed() {
		return err
	}
	<-l.doc.comparing.Done()
	if err := l.endComparison(); err != nil {
		return err
	}
	return f(l.doc, atPlace(l.leaf))
}

// Settled waits until a session that was opened by means of an index is known to have the bytes that were indexed, or
// until ctx ends. If it has others, it is read whole: then all that was shown before may be wrong, and replaced is set, also
// for later calls.
func (l *Log) Settled(ctx context.Context) (replaced bool, err error) {
	err = l.settle(ctx)
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.replaced, err
}

// settle is Settled. Once it has succeeded, it never waits again.
func (l *Log) settle(ctx context.Context) error {
	for {
		l.mu.Lock()
		c := l.doc.comparing
		wait := c != nil && !c.Ended()
		var err error
		if !wait {
			err = l.endComparison()
		}
		l.mu.Unlock()
		if !wait {
			return err
		}
		select {
		case <-c.Done():
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// endComparison takes the result of a comparison that is at its end. If the file has other bytes than the index, the
// index is dropped and the file read whole. While that fails, nothing can be shown or written.
func (l *Log) endComparison() error {
	c := l.doc.comparing
	if c == nil || l.closed || !c.Ended() {
		return nil
	}
	if c.Err() == nil {
		l.doc.comparing = nil
		l.store.remembered(l.path, l.store.extendIndex(l.path, l.doc))
		l.doc.kept = l.doc.tail.size
		return nil
	}
	l.store.Log.Warn("a session is not the one that was indexed; it is read again", zap.String("path", l.path), zap.Error(c.Err()))
	l.store.indexAt(l.path).drop()
	if err := l.reload(); err != nil {
		return err
	}
	l.replaced = true
	return nil
}

// Context returns the context of the current leaf, whose messages the caller must not change. After the
// first call of [Log.Hold] it is kept until Close, and only read from the new entries on.
func (l *Log) Context() (ctx Context, problems []Problem, err error) {
	err = l.View(func(d *Document, leaf Leaf) error {
		var kept bool
		if ctx, problems, kept, err = l.liveContext(); kept || err != nil {
			return err
		}
		ctx, problems, err = BuildContext(d, leaf, l.store.BlobsFor(l.path))
		return err
	})
	return ctx, problems, err
}

// Refresh brings the session up to date with its file. It reports whether another
// program changed it.
func (l *Log) Refresh() (changed bool, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return false, nil
	}
	doc, entries, leaf := l.doc, l.doc.Len(), l.leaf
	if err = l.endComparison(); err == nil {
		err = l.sync()
	}
	if err == nil {
		l.keepIndex(keepEvery)
	}
	return l.doc != doc || l.doc.Len() != entries || l.leaf != leaf, err
}

// Path returns the session's file, "" for a session in memory. The file need not
// exist yet.
func (l *Log) Path() string { return *l.shownPath.Load() }

// Persistent reports whether the session has a file to live in.
func (l *Log) Persistent() bool { return l.Path() != "" }

// OnDisk reports whether the file exists.
func (l *Log) OnDisk() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.path != "" && !l.pending
}

// Header returns the session's header.
func (l *Log) Header() Header {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.doc.Header()
}

// Err returns the error that keeps the session from being saved, or nil.
func (l *Log) Err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}

// Flush writes the missing entries and syncs the file.
func (l *Log) Flush() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.flush()
}

func (l *Log) flush() error {
	switch {
	case l.path == "" || l.closed, l.lent != nil:
		return l.err
	case l.pending && l.err == nil && !l.revived():
		return nil // waits for its first answer
	case len(l.ours) == 0:
		return l.err
	}
	// Sync even if nothing is missing: the file may have been replaced.
	err := l.sync()
	if err == nil {
		err = l.persist(false)
	}
	if l.latch(err); l.err == nil && !l.pending {
		l.latch(l.fsync())
	}
	return l.err
}

// EnsureOnDisk writes the file of a session that does not have an answer yet.
func (l *Log) EnsureOnDisk() error {
	if err := l.settle(context.Background()); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.lentOut(); err != nil {
		return err
	}
	l.latch(l.persist(true))
	return l.err
}

// Close flushes and closes the Log. It returns the first error that kept entries from the
// file.
func (l *Log) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil
	}
	err := l.flush()
	if l.err == nil {
		l.keepIndex(0)
	}
	l.closed, l.live = true, nil
	if closeErr := l.doc.Close(); err == nil && closeErr != nil {
		err = disk.Fault("close", l.path, closeErr)
	}
	l.store.unlocked(l.path, l.lock.Release())
	return err
}

// form returns the dialect to write.
func (l *Log) form() Dialect { return l.store.rootOr(l.path, l.doc.dialect).Dialect }

func (l *Log) forDisk() func(line []byte) []byte { return l.store.forDisk(l.path, l.doc.dialect) }

// CleanTitle converts any text to a display name: control characters become spaces, runs of
// spaces become one, bidirectional formatting characters are removed, and so is outer white
// space as JavaScript defines it, which includes the byte order mark.
func CleanTitle(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case r < 0x20 || r >= 0x7F && r <= 0x9F:
			return ' '
		case own.Reorders(r):
			return -1
		}
		return r
	}, s)
	var out bytes.Buffer
	space := false
	for _, r := range strings.TrimFunc(s, isJSSpace) {
		if r == ' ' && space {
			continue
		}
		space = r == ' '
		out.WriteRune(r)
	}
	return out.String()
}

func isJSSpace(r rune) bool { return r == '\uFEFF' || unicode.IsSpace(r) }
