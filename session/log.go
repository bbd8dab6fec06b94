package session

import (
	"bytes"
	"strings"
	"sync"

	"github.com/xcsh-ls/xcsh-ls/session/fault"
	"github.com/xcsh-ls/xcsh-ls/session/rawjson"
)

// Log is one open session that can be appended to. It is safe for concurrent use.
//
// What a Log promises about its file: an entry is one line written by one write
// call; what is in the file is never truncated, re-ordered or merged away; lines
// that others appended meanwhile are adopted before ours are written; a file that
// must be rewritten (a new title, an older format) is replaced atomically and only
// when it still is the file that was read.
//
// A new session writes nothing until it holds an answer of a model, because the
// terminal programs take any file for a conversation worth listing. One that was
// opened from disk writes every entry at once.
type Log struct {
	store *Store

	mu      sync.Mutex
	doc     *Document         // guarded by mu, like all below
	path    string            // "" for a session in memory
	leaf    int               // index of the leaf entry, -1 before the first
	follow  bool              // the leaf is the newest entry, not one that was chosen
	pending bool              // there is no file yet
	unsaved []int             // entries that are not in the file
	ours    map[string][]byte // lines this Log wrote, by entry id, to notice when another program loses them
	err     error             // what kept the last write from succeeding
	lock    *sessionLock      // ours to write, from the first write on
	asked   bool              // the lock was had, or cannot be had in this place
	closed  bool
}

func newLog(s *Store, doc *Document, path string, pending bool) *Log {
	return &Log{store: s, doc: doc, path: path, leaf: doc.Len() - 1, follow: true, pending: pending, ours: map[string][]byte{}}
}

// Append adds an entry as a child of the leaf and makes it the leaf.
//
// Memory is updated first, then the file. When the file cannot be written the entry
// stays in memory, the error is returned now and by Flush and Close, and every later
// Append tries to write all that is missing. It does not sync; see [Log.Flush].
func (l *Log) Append(d *Draft) (id string, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.writable(); err != nil {
		return "", err
	}
	// A failure here comes up again, with the entry kept, when it is persisted.
	syncErr := l.sync()
	if err := l.writable(); err != nil {
		return "", err // what is in the file now is newer than we can write
	}
	id = l.add(d)
	if syncErr != nil {
		l.latch(syncErr)
		return id, l.err
	}
	l.latch(l.persist(false))
	return id, l.err
}

// add puts a draft into memory as a child of the leaf.
func (l *Log) add(d *Draft) string {
	id := l.store.ids.Entry(func(id string) bool { _, taken := l.doc.tree.byID[id]; return taken })
	line := d.line(id, l.parentForNext(), FormatTime(l.store.now()))
	role, _ := rawjson.GetString(line, "message", "role")
	l.addLine(record{id: id, parent: l.parentForNext(), typ: d.Type, role: role, mem: line})
	return id
}

func (l *Log) addLine(r record) {
	r.n, r.fresh = int32(len(r.mem)), true
	l.doc.tree.add(r)
	l.leaf, l.follow = l.doc.Len()-1, true
	l.unsaved = append(l.unsaved, l.leaf)
	l.ours[r.id] = r.mem
}

// parentForNext is the id of the leaf, or of its nearest ancestor that has one.
func (l *Log) parentForNext() string {
	for i := l.leaf; i >= 0; i = l.doc.tree.parentOf(i) {
		if id := l.doc.tree.recs[i].id; id != "" {
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
	}
	return l.own()
}

// own makes the session ours to write until Close. One that another server writes to is
// kind busy; reading it goes on. Where no lock can be kept the session is written
// without: losing the conversation would be worse than sharing it.
func (l *Log) own() error {
	if l.asked || l.path == "" || l.store.LockDir == "" {
		return nil
	}
	lock, err := acquireSession(l.store.Fs, l.store.LockDir, l.doc.header.ID, l.path, *l.store.locks.env)
	if fault.Is(err, fault.Busy) {
		return err
	}
	if err != nil {
		l.store.log.Warn("a session is written without its lock", zapPath(l.path), zapError(err))
	}
	l.lock, l.asked = lock, true
	return nil
}

// latch keeps what the last write came to. A success clears an earlier failure,
// because it wrote everything that was missing.
func (l *Log) latch(err error) {
	if err != nil && l.err == nil {
		l.store.log.Warn("session cannot be saved", zapPath(l.path), zapError(err))
	}
	l.err = err
}

// Branch moves the leaf to the entry called id; nothing is written. The next entry
// becomes its child. An unknown id is kind notFound.
func (l *Log) Branch(id string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	i, err := l.doc.Index(id)
	if err != nil {
		return err
	}
	l.leaf, l.follow = i, i == l.doc.Len()-1
	return nil
}

// ResetLeaf moves the leaf before the first entry: the next entry is another root.
func (l *Log) ResetLeaf() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.leaf, l.follow = -1, l.doc.Len() == 0
}

// BranchWithSummary moves the leaf to the entry called id ("" for before the first)
// and appends a summary of what was left behind.
func (l *Log) BranchWithSummary(id, summary string) (string, error) {
	from := id
	l.mu.Lock()
	err := l.writable()
	l.mu.Unlock()
	switch {
	case err != nil:
		return "", err // before the leaf has moved
	case id == "":
		from = "root"
		l.ResetLeaf()
	default:
		if err := l.Branch(id); err != nil {
			return "", err
		}
	}
	return l.Append(DraftBranchSummary(from, summary, nil))
}

// SetLabel labels an entry; an empty text clears the label. The label becomes the leaf.
func (l *Log) SetLabel(targetID, text string) (string, error) {
	l.mu.Lock()
	_, err := l.doc.Index(targetID)
	l.mu.Unlock()
	if err != nil {
		return "", err
	}
	return l.Append(DraftLabel(targetID, text))
}

// Leaf returns the current leaf, which may be re-established with [Log.RestoreLeaf].
func (l *Log) Leaf() Leaf {
	l.mu.Lock()
	defer l.mu.Unlock()
	return atPlace(l.leaf)
}

// LeafID returns the id of the leaf entry, "" before the first.
func (l *Log) LeafID() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.doc.LeafID(atPlace(l.leaf))
}

// View calls f with the session and its leaf. Nothing changes during the call; f
// must not call back into the Log or keep d.
func (l *Log) View(f func(d *Document, leaf Leaf) error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return f(l.doc, atPlace(l.leaf))
}

// Context builds the context of the current leaf.
func (l *Log) Context() (ctx Context, problems []Problem, err error) {
	err = l.View(func(d *Document, leaf Leaf) error {
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
	err = l.sync()
	return l.doc != doc || l.doc.Len() != entries || l.leaf != leaf, err
}

// Path returns the session's file, "" for a session in memory. The file need not
// exist yet.
func (l *Log) Path() string { return l.path }

// Persistent reports whether the session has a file to live in.
func (l *Log) Persistent() bool { return l.path != "" }

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

// Title returns the display name.
func (l *Log) Title() Title {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.doc.Title()
}

// Err returns what keeps the session from being saved, or nil.
func (l *Log) Err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}

// Flush writes what is missing and makes the file durable.
func (l *Log) Flush() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.flush()
}

func (l *Log) flush() error {
	switch {
	case l.path == "" || l.closed:
		return l.err
	case l.pending && l.err == nil && !l.revived():
		return nil // waits for its first answer
	case len(l.ours) == 0:
		return l.err
	}
	// Also without anything missing: the file may have been replaced since.
	err := l.sync()
	if err == nil {
		err = l.persist(false)
	}
	if l.latch(err); l.err == nil && !l.pending {
		l.latch(l.fsync())
	}
	return l.err
}

// EnsureOnDisk writes a session that waits for its first answer.
func (l *Log) EnsureOnDisk() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.latch(l.persist(true))
	return l.err
}

// Close flushes and ends the Log. The first error that kept entries from the file is
// returned.
func (l *Log) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil
	}
	err := l.flush()
	l.closed = true
	if closeErr := l.doc.Close(); err == nil && closeErr != nil {
		err = ioFault("close", l.path, closeErr)
	}
	l.store.unlocked(l.path, l.lock.Release())
	return err
}

// SetTitle names the session where the file's own program reads it: the header, omp's
// title slot or pi's session_info entry. The text is cleaned; an empty one is kind
// invalidArgument. A name given by a person is never replaced by an automatic one:
// then changed is false.
func (l *Log) SetTitle(title Title) (changed bool, err error) {
	if title.Text = CleanTitle(title.Text); title.Text == "" {
		return false, fault.New(fault.InvalidArgument, "A session title cannot be empty.").With("field", "title")
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.writable(); err != nil {
		return false, err
	}
	if err := l.sync(); err != nil {
		return false, err
	}
	if err := l.writable(); err != nil {
		return false, err
	}
	if l.doc.title.Source == "user" && title.Source == "auto" {
		return false, nil
	}
	return l.storeTitle(title)
}

func (l *Log) storeTitle(title Title) (changed bool, err error) {
	if l.revived() {
		if err := l.create(); err != nil {
			return false, err
		}
	}
	switch {
	case l.doc.hasSlot && l.path != "" && !l.pending:
		previous := l.doc.title.Text
		if changed, err = l.overwriteSlot(title); err != nil || !changed {
			return false, err
		}
		l.add(draftTitleChange(title, previous))
		l.latch(l.persist(false))
		err = l.err
	case l.form() == Pi && !l.doc.header.HasTitle:
		l.add(draftSessionInfo(title.Text))
		l.latch(l.persist(false))
		err = l.err
	default:
		err = l.titleInHeader(title)
	}
	if err == nil {
		l.doc.title = title
	}
	return err == nil, err
}

func (l *Log) titleInHeader(title Title) error {
	header := rawjson.SetString(l.doc.HeaderLine(), "title", title.Text)
	if title.Source != "" {
		header = rawjson.SetString(header, "titleSource", title.Source)
	}
	if l.path == "" || l.pending {
		l.doc.header, _ = parseHeader(header)
		return nil
	}
	if err := l.rewrite(header); err != nil {
		return err
	}
	l.latch(nil) // a rewrite writes whatever was missing
	return nil
}

// form is the dialect to write: that of the root the file is in, because its program
// reads it there; outside every root that of the file itself.
func (l *Log) form() Dialect {
	if l.store.RootFor != nil {
		if root, ok := l.store.RootFor(l.path); ok {
			return root.Dialect
		}
	}
	return l.doc.dialect
}

// CleanTitle makes a display name of any text: control characters become spaces,
// runs of spaces one.
func CleanTitle(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < 0x20 || r >= 0x7F && r <= 0x9F {
			return ' '
		}
		return r
	}, s)
	var out bytes.Buffer
	space := false
	for _, r := range strings.TrimSpace(s) {
		if r == ' ' && space {
			continue
		}
		space = r == ' '
		out.WriteRune(r)
	}
	return out.String()
}
