package agent

import (
	"context"
	"path/filepath"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/session/upkeep"
)

// Trash moves the live session to the trash and gives the folder a new one first. When
// anything fails, or a hook refuses (a Cancelled error), the session is live again.
func (s *Session) Trash(ctx context.Context) (trashed string, err error) {
	if !s.Persistent() {
		return "", fault.New(fault.NotPersistent, "Cannot delete an in-memory session")
	}
	err = s.idle(ctx, "deleting it", func() error {
		d := s.departure()
		release, err := s.m.reserve(d.old.Path(), s)
		if err != nil {
			return err
		}
		defer release()
		steps := append(d.leave(),
			step{name: "move it to the trash", do: func(ctx context.Context) (err error) {
				s.m.leavingForTrash(ctx, d.old.Path())
				trashed, err = upkeep.Trash(s.m.cfg.Store, d.old.Path())
				return err
			}},
			step{name: "notify hooks", do: d.notifyHooks},
		)
		if err := d.run(ctx, steps, "the deletion"); err != nil {
			return err
		}
		d.announce()
		s.m.sessionsChanged(s.cwd)
		return nil
	})
	return trashed, err
}

// Trash moves the session at path to the trash, for the folder cwd. The folder's live
// session is closed first; one that is live in another folder is a Busy error.
func (m *Manager) Trash(ctx context.Context, cwd, path string) (trashed string, err error) {
	cwd = filepath.Clean(cwd)
	live, release, err := m.take(cwd, path)
	if err != nil {
		return "", err
	}
	defer release()
	if live != nil {
		return live.Trash(ctx)
	}
	belongs := m.belongsTo(path)
	m.leavingForTrash(ctx, path)
	if trashed, err = upkeep.Trash(m.cfg.Store, path); err == nil {
		m.sessionsChanged(cwd, belongs)
	}
	return trashed, err
}

// Untrash restores a session from the trash and returns its path.
func (m *Manager) Untrash(trashed string) (path string, err error) {
	if path, err = upkeep.Untrash(m.cfg.Store, trashed); err == nil {
		m.wrote(path)
		m.sessionsChanged(m.belongsTo(path))
	}
	return path, err
}

// take returns the session of cwd if its file is the one at path. If no session has that
// file open, none can open it until release is called.
func (m *Manager) take(cwd, path string) (live *Session, release func(), err error) {
	release, err = m.reserve(path, &Session{cwd: cwd})
	if err != nil {
		return nil, nil, err
	}
	if _, here := m.LiveIn(path); here {
		release()
		return m.Live(cwd), func() {}, nil
	}
	m.mu.Lock()
	_, unsaved := m.unsaved[m.canonical(path)]
	m.mu.Unlock()
	if unsaved {
		release()
		return nil, nil, fault.New(fault.Busy, "%s has entries that could not be saved yet; resume it first.", path).With("path", path)
	}
	return nil, release, nil
}

// belongsTo is the working directory that the session at path names, "" for none.
func (m *Manager) belongsTo(path string) string {
	info, err := m.cfg.Finder.Describe(path)
	if err != nil {
		return ""
	}
	return info.Cwd
}

// sessionsChanged reports once for each directory that its list is stale.
func (m *Manager) sessionsChanged(cwds ...string) {
	seen := map[string]bool{"": true}
	for _, cwd := range cwds {
		if !seen[cwd] {
			m.publish(SessionsChanged{Cwd: cwd})
		}
		seen[cwd] = true
	}
}
