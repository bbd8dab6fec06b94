package agent

import (
	"context"
	"path/filepath"

	"github.com/xcsh-ls/xcsh-ls/session/fault"
)

// Trash moves the live session to the trash and gives the folder a new one first. When
// anything fails, or a hook says no (kind cancelled), the session is live again.
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
			step{name: "move it to the trash", do: func(context.Context) (err error) {
				trashed, err = s.m.cfg.Store.Trash(d.old.Path())
				return err
			}},
			step{name: "tell hooks", do: d.tellHooks},
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
// session is left first; one that is live in another folder is kind busy.
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
	if trashed, err = m.cfg.Store.Trash(path); err == nil {
		m.sessionsChanged(cwd, belongs)
	}
	return trashed, err
}

// Untrash takes back what Trash did and returns the session's path.
func (m *Manager) Untrash(trashed string) (path string, err error) {
	if path, err = m.cfg.Store.Untrash(trashed); err == nil {
		m.sessionsChanged(m.belongsTo(path))
	}
	return path, err
}

// take returns the session of cwd when its file is the one at path. When nobody has
// that file open, nobody can open it until release is called.
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

// sessionsChanged says once for each directory that its list is another one now.
func (m *Manager) sessionsChanged(cwds ...string) {
	told := map[string]bool{"": true}
	for _, cwd := range cwds {
		if !told[cwd] {
			m.publish(SessionsChanged{Cwd: cwd})
		}
		told[cwd] = true
	}
}
