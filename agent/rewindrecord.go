package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"go.uber.org/zap"

	"github.com/xcsh-ls/xcsh-ls/agent/change"
	"github.com/xcsh-ls/xcsh-ls/agent/change/capture"
	"github.com/xcsh-ls/xcsh-ls/agent/change/rewind"
	"github.com/xcsh-ls/xcsh-ls/agent/event"
	"github.com/xcsh-ls/xcsh-ls/agent/hook"
	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// rewinder returns the runner for rewinds of a session.
func (s *Session) rewinder(log *session.Log) *rewind.Runner {
	l, dir := s.ledgerOf(log), dirOf(log)
	if dir == "" { // a session in memory
		dir = filepath.Join(s.m.cfg.Changes.temp(), "xcsh-ls-rewind-"+log.Header().ID)
	}
	r := s.m.rewinderIn(dir)
	r.Session, r.Contents = log.Path(), l.contents()
	r.Commit = func(ctx context.Context, key string, entry json.RawMessage) (string, error) {
		return s.commitRewind(ctx, l, key, entry)
	}
	r.Recorded = l.rewound
	return r
}

// rewinderIn returns a runner for the journal in a directory, without contents and session.
func (m *Manager) rewinderIn(dir string) *rewind.Runner {
	pointers := m.cfg.Changes.Pointers
	if pointers == "" {
		pointers = filepath.Join(dir, "pointers")
	}
	documents := m.cfg.Documents
	if documents == nil {
		documents = change.NoDocuments{}
	}
	return &rewind.Runner{Fs: m.disk(), Dir: dir, Pointers: pointers, Documents: documents, Log: m.log}
}

// keyed is a record with the key of its rewind.
type keyed struct {
	change.Record
	Key string `json:"key"`
}

// commitRewind appends the record of a rewind and moves the leaf, unless the session already has the record. If the entry is only in
// memory, it is saved with the next one.
func (s *Session) commitRewind(_ context.Context, l *ledger, key string, raw json.RawMessage) (id string, err error) {
	var e rewindEntry
	if err := json.Unmarshal(raw, &e); err != nil {
		return "", err
	}
	if id := l.rewound(key); id != "" {
		return id, nil
	}
	data, err := l.encodeKeyed(keyed{e.Record, key})
	if err != nil {
		return "", err
	}
	if e.Move {
		id, err = l.putAt(e.Target, data)
	} else {
		id, err = l.putData(data)
	}
	if id == "" {
		return "", err
	}
	if err != nil {
		s.emit(l.log, event.NotSaved{ErrorMessage: err.Error()})
	}
	switch {
	case e.Move && e.Summary != "":
		if _, err := l.log.BranchWithSummary(id, e.Summary); err != nil {
			s.emit(l.log, event.NotSaved{ErrorMessage: err.Error()})
		}
	case e.Tell:
		s.tellRewound(l.log, []*change.Record{&e.Record})
	}
	s.changesRecorded(l, id)
	return id, nil
}

// rewound returns the record of a rewind with a key, "" if there is none.
func (l *ledger) rewound(key string) (id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.restoreLocked() // appends waiting records if the file can be written
	waiting := l.waiting
	if dir := dirOf(l.log); !l.restored && dir != "" {
		if left, err := l.file(dir).Read(); err == nil {
			waiting = merged(left, waiting)
		}
	}
	for _, w := range waiting {
		if k, _ := rawjson.GetString(w.Data, "key"); k == key {
			return w.ID
		}
	}
	_ = l.log.View(func(d *session.Document, _ session.Leaf) error {
		for i := d.Len() - 1; i >= 0 && id == ""; i-- {
			if d.Type(i) != session.TypeCustom {
				continue
			}
			e, err := d.Entry(i)
			if err != nil {
				return err
			}
			c := e.AsCustom()
			if k, _ := rawjson.GetString(c.Data, "key"); c.CustomType == change.Type && k == key {
				id = e.ID
			}
		}
		return nil
	})
	return id
}

// encodeKeyed encodes a record with the key of its rewind. A list of changes that is too long is stored as a content.
func (l *ledger) encodeKeyed(k keyed) (json.RawMessage, error) {
	data, err := capture.Encode(k.Record, l.contents().Put)
	if err != nil {
		return nil, err
	}
	return rawjson.SetString(data, "key", k.Key), nil
}

// putAt appends a record at another leaf. The caller may write the file.
func (l *ledger) putAt(target string, data json.RawMessage) (id string, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.version++
	l.restoreLocked()
	return l.log.AppendAt(target, session.DraftCustom(change.Type, data))
}

// rewoundCustom returns the message for the model about changes that were undone or redone.
func rewoundCustom(records []*change.Record) (text string) {
	var paths []string
	for _, r := range records {
		for _, c := range r.Changes {
			if !slices.Contains(paths, c.Path) {
				paths = append(paths, c.Path)
			}
		}
	}
	const most = 20
	more := ""
	if len(paths) > most {
		more = fmt.Sprintf(" and %d more", len(paths)-most)
		paths = paths[:most]
	}
	what := "undid changes of"
	if records[0].Redoes != "" {
		what = "redid changes of"
	}
	return fmt.Sprintf("The user %s these files: %s%s. Their content differs from the results of your tools. Read them again before you rely on it.",
		what, strings.Join(paths, ", "), more)
}

// tellRewound adds the message about a rewind to the model's next request.
func (s *Session) tellRewound(log *session.Log, records []*change.Record) {
	if log.IsLent() {
		return // another program answers and reads files itself
	}
	err := s.writeEntries(log, []hook.Entry{{
		Type: hook.CustomMessage, CustomType: change.RewoundType, Content: rawjson.Quote(rewoundCustom(records)), Display: true,
	}})
	if err != nil {
		s.emit(log, event.NotSaved{ErrorMessage: err.Error()})
	}
}

// tellHunks adds one message about all hunks that were undone since the last message.
func (s *Session) tellHunks(log *session.Log) {
	l := s.ledgerOf(log)
	book, err := l.book()
	if err != nil {
		return
	}
	told := -1
	_ = log.View(func(d *session.Document, _ session.Leaf) error {
		for i := d.Len() - 1; i >= 0 && told < 0; i-- {
			prompt, err := isPrompt(d, i)
			if err != nil {
				return err
			}
			if prompt {
				told = i
			} else if d.Type(i) == session.TypeCustomMessage {
				e, err := d.Brief(i)
				if kind, _ := rawjson.GetString(e.Raw, "customType"); err == nil && kind == change.RewoundType {
					told = i
				}
			}
		}
		return nil
	})
	var records []*change.Record
	for _, r := range book.Records {
		if r.Seq > told && len(r.Hunks) > 0 {
			records = append(records, r)
		}
	}
	if len(records) > 0 {
		s.tellRewound(log, records)
	}
}

// recoverRewind completes or undoes an interrupted rewind. With wait, it leaves a rewind whose document may still be opened.
func (s *Session) recoverRewind(ctx context.Context, log *session.Log, wait bool) error {
	r := s.rewinder(log)
	if !r.Interrupted() {
		return nil
	}
	if !log.IsLent() {
		if err := log.Claim(); err != nil {
			return err
		}
	}
	got, err := r.Recover(ctx, wait)
	if err != nil {
		return err
	}
	s.noticeRecovered(log, got)
	return nil
}

// recoverBefore is [Session.recoverRewind] before an operation that does not depend on it: a rewind that can't be completed now, because
// a file can't be written, must not block the user. It is tried again later.
func (s *Session) recoverBefore(ctx context.Context, log *session.Log) {
	if err := s.recoverRewind(ctx, log, false); err != nil {
		s.m.log.Warn("could not complete or undo an interrupted rewind", zap.String("path", log.Path()), zap.Error(err))
		s.ledgerOf(log).once("rewind", "An interrupted rewind could not be completed yet, so only some of its files may have changed: "+err.Error())
	}
}

// noticeRecovered publishes the outcome of a recovery.
func (s *Session) noticeRecovered(log *session.Log, got rewind.Recovered) {
	if text := recoveredText(got.Outcome); text != "" {
		s.emit(log, event.Notice{Text: text})
	}
	if got.Outcome == rewind.Completed {
		s.changed(ReasonTree, log.Path())
	}
}

// recoveredText describes the outcome of a recovery, "" if there was nothing to recover.
func recoveredText(o rewind.Outcome) string {
	switch o {
	case rewind.Completed:
		return "An interrupted rewind was completed."
	case rewind.TakenBack:
		return "An interrupted rewind was undone. The files have the same content as before it."
	case rewind.Nothing, rewind.Waiting:
	}
	return ""
}

// RecoverRewinds completes or undoes the interrupted rewinds of all sessions that no other program writes. It is called once, when the
// program starts. A rewind of an editor's document waits until the document is opened or its session is written. notes are messages for
// the user; the error joins the errors of all sessions.
func (m *Manager) RecoverRewinds(ctx context.Context) (notes []string, err error) {
	var failed []error
	for _, p := range rewind.Pointers(m.disk(), m.cfg.Changes.Pointers) {
		if ctx.Err() != nil {
			break
		}
		if p.Session == "" || m.liveSession(p.Session) != nil {
			continue // a session in memory, or one that is recovered with its next write
		}
		got, err := m.recoverRewindOf(ctx, p.Session)
		failed = append(failed, err)
		if text := recoveredText(got.Outcome); err == nil && text != "" {
			notes = append(notes, text)
		}
	}
	return notes, errors.Join(failed...)
}

func (m *Manager) recoverRewindOf(ctx context.Context, path string) (got rewind.Recovered, err error) {
	end, err := m.BeginShared(ctx, path)
	if err != nil {
		return got, err
	}
	defer end()
	log, err := m.cfg.Store.Open(path)
	if err != nil {
		return got, err
	}
	s := &Session{cwd: filepath.Clean(log.Header().Cwd), m: m, log: log}
	defer s.closeNews() // clients know of no such session, and the log is closed then
	if err = log.Claim(); err == nil {
		got, err = s.rewinder(log).Recover(ctx, true)
	}
	return got, errors.Join(err, log.Close())
}
