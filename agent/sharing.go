package agent

import (
	"context"
	"path/filepath"
	"strings"
	"sync"

	"github.com/spf13/afero"

	"github.com/xcsh-ls/xcsh-ls/session"
)

// Departing is a [Shared] that sends the rest of a session before its file is moved to the trash.
type Departing interface {
	// Leaving is called before the session file at path is moved to the trash. It returns when the lines that the user shares are sent,
	// at the latest after a few seconds or when ctx ends: a deletion never fails because of the network.
	Leaving(ctx context.Context, path string)
}

// BeginShared is called before lines are written to the session file at path, "" for a session without a file. The caller calls end
// when they are written. The error is a Busy error: another user is writing the session at the moment, so nothing may be written.
// Without [Config.Shared] it does nothing.
func (m *Manager) BeginShared(ctx context.Context, path string) (end func(), err error) {
	if m.cfg.Shared == nil {
		return func() {}, nil
	}
	ended, err := m.cfg.Shared.Begin(ctx, path)
	if err != nil {
		return nil, err
	}
	return sync.OnceFunc(func() {
		m.wrote(path)
		if ended != nil {
			ended()
		}
	}), nil
}

// wrote reports that the session file at path may have changed.
func (m *Manager) wrote(path string) {
	if m.cfg.Shared != nil && path != "" {
		m.cfg.Shared.Wrote(path)
	}
}

// sharing runs f, which appends lines to the session that log is, as a short turn of its own. The error is a Busy error if another user
// is writing the session; then f is not called.
func (s *Session) sharing(ctx context.Context, log *session.Log, f func() error) error {
	end, err := s.m.BeginShared(ctx, log.Path())
	if err != nil {
		return err
	}
	defer end()
	return f()
}

// writing is [Session.exclusive] for an f that appends lines to the live session.
func (s *Session) writing(ctx context.Context, f func() error) error {
	return s.exclusive(ctx, func() error { return s.sharing(ctx, s.current(), f) })
}

// leavingForTrash is called before the session file at path is moved to the trash.
func (m *Manager) leavingForTrash(ctx context.Context, path string) {
	if d, ok := m.cfg.Shared.(Departing); ok {
		d.Leaving(ctx, path)
	}
}

// wroteAll reports the changes that the watcher noticed. A path that ends with "*" is a directory that appeared: its files may have been
// written before it was watched.
func (m *Manager) wroteAll(paths map[string]bool) {
	if m.cfg.Shared == nil {
		return
	}
	for path := range paths {
		dir, name := filepath.Split(path)
		if name != "*" {
			m.wrote(path)
			continue
		}
		found, err := afero.ReadDir(m.cfg.Finder.Fs, filepath.Clean(dir))
		if err != nil {
			continue // it is gone again
		}
		for _, file := range found {
			if isSessionFile(file.Name()) && file.Mode().IsRegular() {
				m.wrote(filepath.Join(dir, file.Name()))
			}
		}
	}
}

// isSessionFile reports whether a file of a directory of sessions is one, by its name.
func isSessionFile(name string) bool {
	return strings.HasSuffix(name, ".jsonl") && !strings.HasPrefix(name, ".")
}
