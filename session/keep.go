package session

import (
	"path/filepath"

	"github.com/xcsh-ls/xcsh-ls/session/fault"
)

// Keep gives the session in memory l a file, among those of its working directory, and
// opens it: with the same id, entries and leaf. All of it is on disk when Keep returns, and
// what is appended from then on is written at once. l ends with that.
//
// When the file cannot be made l goes on. When it was made but cannot be written to, the
// session is returned with the error, which it tells again until it is saved. A session
// that has a file already is kind internal.
func (s *Store) Keep(l *Log) (kept *Log, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.path != "":
		return nil, fault.New(fault.Internal, "%s has a file already.", l.doc.name())
	case l.closed:
		return nil, l.writable()
	}
	dir, err := s.DirFor(l.doc.header.Cwd)
	if err != nil {
		return nil, err
	}
	h := l.doc.header
	kept = newLog(s, l.doc, filepath.Join(dir, FileName(h.Timestamp, h.ID)), true)
	kept.leaf, kept.follow, kept.ours = l.leaf, l.follow, l.ours
	l.doc.path = kept.path
	if err = kept.EnsureOnDisk(); !kept.OnDisk() {
		l.doc.path = ""
		return nil, err
	}
	l.closed = true
	return kept, err
}
