package agent

import (
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/spf13/afero"
	"go.uber.org/zap"

	"github.com/xcsh-ls/xcsh-ls/agent/change"
	"github.com/xcsh-ls/xcsh-ls/agent/change/capture"
	"github.com/xcsh-ls/xcsh-ls/agent/change/contents"
	"github.com/xcsh-ls/xcsh-ls/agent/change/look"
	"github.com/xcsh-ls/xcsh-ls/agent/event"
	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// The values of [ChangeSettings].Capture.
const (
	CaptureAll   = "all"   // the default
	CaptureTools = "tools" // edits, but no changes of commands
	CaptureOff   = "off"
)

// ChangeSettings configures which changes sessions record. The zero value is the default.
type ChangeSettings struct {
	Capture     string        // "" is CaptureAll
	MaxFile     int64         // maximum size in bytes of a file whose content is stored; 0 is [contents.DefaultMaxFile]
	MaxSession  int64         // maximum compressed size in bytes of a session's contents; 0 is [contents.DefaultMaxSession]
	Exclude     []string      // globs of files whose content is not stored
	Required    bool          // a change whose content can't be stored fails
	Every       time.Duration // minimum time between two events about changes; 0 is 300 ms
	CommandLook time.Duration // timeout of a look before or after a command; 0 is 10 s
	Temp        string        // the directory for temporary files of looks; "" is that of the system
	Pointers    string        // the directory for pointers to interrupted rewinds; "": next to their sessions
	Disk        afero.Fs      // the file system of the folders; nil is that of Finder
}

// captures reports whether changes of edits and of commands are recorded.
func (c ChangeSettings) captures() (edits, commands bool) {
	mode := cmp.Or(c.Capture, CaptureAll)
	return mode != CaptureOff, mode == CaptureAll
}

// temp returns the directory for temporary files.
func (c ChangeSettings) temp() string { return cmp.Or(c.Temp, os.TempDir()) }

// disk returns the file system of the folders.
func (m *Manager) disk() afero.Fs {
	if m.cfg.Changes.Disk != nil {
		return m.cfg.Changes.Disk
	}
	return m.cfg.Finder.Fs
}

// ledger records the file changes of a session. It is safe for concurrent use.
type ledger struct {
	s   *Session
	log *session.Log

	mu       sync.Mutex // guards the fields below; taken before locks of the log
	store    *contents.Store
	waiting  []capture.Entry // records that could not be appended yet, because another program holds the file
	restored bool            // records of an earlier process have been read
	memory   look.Memory     // of its looks; has its own lock
	prompt   string          // the entry of the turn's prompt
	noticed  map[string]bool
	reader   changesReader
	patches  patchReader
	turn     int // the version at the beginning of the run
	version  int // the number of records
}

// ledgerOf returns the ledger of a session. Only the ledger of the live session is cached.
func (s *Session) ledgerOf(log *session.Log) *ledger {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ledger != nil && s.ledger.log == log {
		return s.ledger
	}
	l := &ledger{s: s, log: log, noticed: map[string]bool{}}
	if s.log == log {
		s.ledger = l
	}
	return l
}

// dirOf returns the directory of the contents of a session, "" for one without a file.
func dirOf(log *session.Log) string {
	if !log.OnDisk() {
		return ""
	}
	dir, ok := session.ArtifactDir(log.Path())
	if !ok {
		return ""
	}
	return filepath.Join(dir, "changes")
}

// contents returns the store. It is in memory until the session has a file, so an abandoned session leaves no files.
func (l *ledger) contents() *contents.Store {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.contentsLocked()
}

func (l *ledger) contentsLocked() *contents.Store {
	c, fs, dir := l.s.m.cfg.Changes, l.s.m.cfg.Store.Fs, dirOf(l.log)
	if l.store != nil && l.store.Dir() == "" && dir != "" {
		if err := l.store.Settle(fs, dir, c.MaxSession); err != nil {
			l.s.m.log.Warn("contents of changes are still in memory", zap.String("path", dir), zap.Error(err))
		}
		return l.store
	}
	if l.store == nil || l.store.Dir() != dir {
		l.store = contents.Open(contents.Options{Fs: fs, Dir: dir, MaxFile: c.MaxFile, MaxSession: c.MaxSession, Exclude: c.Exclude})
	}
	return l.store
}

// settle moves contents and records from memory to disk, after the session got a file.
func (l *ledger) settle() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.store != nil {
		l.contentsLocked()
	}
}

// movedTo returns the ledger of a session in memory for its file.
func (l *ledger) movedTo(log *session.Log) *ledger {
	l.mu.Lock()
	defer l.mu.Unlock()
	return &ledger{s: l.s, log: log, store: l.store, prompt: l.prompt, noticed: l.noticed}
}

// prompted notes the entry of the turn's prompt.
func (l *ledger) prompted(entryID string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.prompt = entryID
}

// promptedFirst is prompted for a turn in which more prompts may follow.
func (l *ledger) promptedFirst(entryID string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.prompt = cmp.Or(l.prompt, entryID)
}

// origin returns the origin of a call of the turn.
func (l *ledger) origin(callID, tool string) capture.Origin {
	l.mu.Lock()
	defer l.mu.Unlock()
	return capture.Origin{PromptID: l.prompt, ToolCallID: callID, Tool: tool, Folder: l.s.cwd}
}

// append records r, and returns the id of its entry. If another program holds the file, the record waits.
func (l *ledger) append(r change.Record) (id string, err error) {
	if id, err = l.put(r); id != "" {
		l.s.changesRecorded(l, id)
	}
	return id, err
}

// put is append without the event.
func (l *ledger) put(r change.Record) (id string, err error) {
	data, err := capture.Encode(r, l.contents().Put)
	if err != nil {
		return "", err
	}
	return l.putData(data)
}

// putData is put for an encoded record.
func (l *ledger) putData(data json.RawMessage) (id string, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.version++
	if !l.log.IsLent() {
		l.restoreLocked()
		if id, err = l.appendLocked(capture.Entry{Data: data}); id != "" || !l.log.IsLent() {
			return id, err
		}
	}
	return l.waitLocked(data)
}

func (l *ledger) appendLocked(e capture.Entry) (id string, err error) {
	return l.log.Append(session.DraftCustom(change.Type, e.Data).Named(e.ID))
}

// waitLocked stores a record until the file can be written. If the other program has not created the file yet, the record is kept in
// memory.
func (l *ledger) waitLocked(data json.RawMessage) (id string, err error) {
	e := capture.Entry{ID: l.log.NewEntryID(), Data: data}
	l.waiting = append(l.waiting, e)
	if dir := dirOf(l.log); dir != "" {
		err = l.file(dir).Add(e)
	}
	return e.ID, err
}

func (l *ledger) file(dir string) capture.Waiting {
	return capture.Waiting{Fs: l.s.m.cfg.Store.Fs, Dir: dir}
}

// restore appends the waiting records, including those of an earlier process. The caller may write the session.
func (l *ledger) restore() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.restoreLocked()
}

func (l *ledger) restoreLocked() {
	if l.log.IsLent() || l.restored && len(l.waiting) == 0 {
		return
	}
	dir := dirOf(l.log)
	entries, err := l.waiting, error(nil)
	if dir != "" && !l.restored {
		var left []capture.Entry
		if left, err = l.file(dir).Read(); err == nil {
			entries = merged(left, l.waiting)
		}
	}
	for _, e := range entries {
		if err != nil {
			break
		}
		if e.ID == "" || !l.hasRecord(e.ID) {
			var id string
			if id, err = l.appendLocked(e); id != "" {
				err = nil // the entry is in memory and is saved with the next one
			}
		}
	}
	if err == nil && dir != "" && len(entries) > 0 {
		err = l.file(dir).Clear()
	}
	if err != nil {
		l.s.m.log.Warn("records of changes are not in their session yet", zap.String("path", l.log.Path()), zap.Error(err))
		return
	}
	first := !l.restored
	l.restored, l.waiting = true, nil
	if first && dir != "" && l.s.m.looks() {
		l.recoverCommandsLocked(dir)
	}
}

// merged returns the entries of the file, followed by those that are only in memory.
func merged(file, memory []capture.Entry) []capture.Entry {
	known := map[string]bool{}
	for _, e := range file {
		known[e.ID] = true
	}
	for _, e := range memory {
		if !known[e.ID] {
			file = append(file, e)
		}
	}
	return file
}

// hasRecord reports whether the session has a record with an id.
func (l *ledger) hasRecord(id string) (has bool) {
	_ = l.log.View(func(d *session.Document, _ session.Leaf) error {
		i, err := d.Index(id)
		if err != nil {
			return err
		}
		e, err := d.Entry(i)
		if err == nil {
			kind, _ := rawjson.GetString(e.Raw, "customType")
			has = kind == change.Type
		}
		return err
	})
	return has
}

// once publishes a notice once per session and key. It reports whether it did.
func (l *ledger) once(key, text string) (first bool) {
	l.mu.Lock()
	was := l.noticed[key]
	l.noticed[key] = true
	l.mu.Unlock()
	if !was {
		l.s.emit(l.log, event.Notice{Text: text, Level: event.Warning})
	}
	return !was
}

// unkept publishes a notice, once per session, that a content could not be stored.
func (l *ledger) unkept(err error) {
	l.s.m.log.Warn("could not store the content of a change", zap.String("path", l.log.Path()), zap.Error(err))
	l.once("budget", "The content of a changed file could not be stored, so this change can't be undone: "+err.Error())
}
