package session

import (
	"path/filepath"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

// Keep gives the session in memory l a file, in the directory of its working directory, and
// opens it with the same id, entries and leaf. Everything is on disk when Keep returns, and
// later appends are written at once. Keep ends l.
//
// If the file cannot be created, l stays usable. If it was created but cannot be written
// to, Keep returns the session with the error, which the session reports again until it is
// saved. A session that already has a file is an Internal error.
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
	kept.leaf, kept.chosen, kept.ours = l.leaf, l.chosen, l.ours
	l.doc.path = kept.path
	if err = kept.EnsureOnDisk(); !kept.OnDisk() {
		l.doc.path = ""
		return nil, err
	}
	l.closed, l.live = true, nil
	return kept, err
}
