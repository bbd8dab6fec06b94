package agent

import (
	"context"

	"github.com/xcsh-ls/xcsh-ls/agent/change"
	"github.com/xcsh-ls/xcsh-ls/agent/change/audit"
	"github.com/xcsh-ls/xcsh-ls/agent/change/contents"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// ChangesSize is the number and the size of a session's recorded changes.
type ChangesSize struct {
	Records int   `json:"records" jsonschema:"The number of recorded changes of files."`
	Bytes   int64 `json:"bytes" jsonschema:"The size of the stored contents on disk, in bytes."`
}

// ChangesSize returns the number and the size of the session's recorded changes.
func (s *Session) ChangesSize() (ChangesSize, error) {
	l := s.ledgerOf(s.current())
	book, err := l.book()
	if err != nil {
		return ChangesSize{}, err
	}
	return sizeOf(book, l.contents())
}

// ChangesSizeOf is [Session.ChangesSize] for a session file that is not live.
func (m *Manager) ChangesSizeOf(path string) (ChangesSize, error) {
	book, store, err := m.changesBookOf(path)
	if err != nil {
		return ChangesSize{}, err
	}
	return sizeOf(book, store)
}

func sizeOf(book *change.Book, store *contents.Store) (ChangesSize, error) {
	_, size, err := store.Size()
	return ChangesSize{Records: len(book.Records), Bytes: size}, err
}

// CheckChanges returns the problems of the session's records and their stored contents.
func (s *Session) CheckChanges(ctx context.Context) ([]audit.Finding, error) {
	l := s.ledgerOf(s.current())
	book, err := l.book()
	if err != nil {
		return nil, err
	}
	return audit.Check(ctx, book, l.contents())
}

// CheckChangesOf is [Session.CheckChanges] for a session file that is not live.
func (m *Manager) CheckChangesOf(ctx context.Context, path string) ([]audit.Finding, error) {
	book, store, err := m.changesBookOf(path)
	if err != nil {
		return nil, err
	}
	return audit.Check(ctx, book, store)
}

// ChangesSince returns the number of files that the session changed since an entry, "" for all. They stay changed if only the
// conversation goes back there.
func (s *Session) ChangesSince(entryID string) (files int, err error) {
	log := s.current()
	from := -1
	if entryID != "" {
		if err := log.View(func(d *session.Document, _ session.Leaf) error {
			from, err = d.Index(entryID)
			return err
		}); err != nil {
			return 0, err
		}
	}
	r, err := s.withCalls(log)
	if err != nil {
		return 0, err
	}
	return len(r.all.AllPaths(func(r *change.Record) bool { return r.Seq > from })), nil
}
