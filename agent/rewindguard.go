package agent

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/agent/change"
	changeplan "github.com/xcsh-ls/xcsh-ls/agent/change/plan"
	"github.com/xcsh-ls/xcsh-ls/agent/change/wire"
	"github.com/xcsh-ls/xcsh-ls/agent/protected"
	"github.com/xcsh-ls/xcsh-ls/agent/sensitive"
)

// guarded returns a function that returns why a rewind must not change the file at an absolute path, "" if it may. A session may be
// from an untrusted source, and its records may name any path. So a rewind changes no repository, no secrets and, outside of the folder,
// no file that controls other programs. Unless free, which means that the user has allowed all edits without approval, it also changes
// no file whose edits always require approval. The function must not be cached, because links may change.
func (m *Manager) guarded(folder string, free bool) func(abs string) string {
	real, secret := sensitive.Resolver(m.disk()), m.sensitiveNow()
	below := func(dir, path string) bool {
		rel, err := filepath.Rel(dir, path)
		return err == nil && filepath.IsLocal(rel)
	}
	why := func(path string) string {
		rel, inside := path, false
		for _, dir := range []string{folder, real(folder)} {
			if below(dir, path) {
				rel, inside = change.RelativePath(dir, path), true
				break
			}
		}
		switch {
		case slices.ContainsFunc(strings.Split(filepath.ToSlash(path), "/"), func(name string) bool { return strings.EqualFold(name, ".git") }):
			return "The file belongs to a git repository's internal data, so a rewind can't change it. Leave it out."
		case secret(path):
			return "The file may contain credentials, so a rewind can't change it. Change it yourself, or leave it out."
		case !inside && protected.Path(filepath.ToSlash(path)):
			return "The file controls other programs and is outside of the folder, so a rewind can't change it. Change it yourself, or leave it out."
		case free:
			return ""
		case protected.Path(filepath.ToSlash(rel)):
			return "The file controls other programs, so a rewind can't change it. Change it yourself, or leave it out."
		case slices.ContainsFunc(m.cfg.Protected, func(dir string) bool { return below(real(dir), path) }):
			return "The file belongs to the settings of this program, so a rewind can't change it. Change it yourself, or leave it out."
		}
		return ""
	}
	return func(abs string) string {
		abs = filepath.Clean(abs)
		reason, asked := "", []string{}
		for _, path := range []string{abs, filepath.Join(real(filepath.Dir(abs)), filepath.Base(abs)), real(abs)} {
			if reason == "" && !slices.Contains(asked, path) { // all three are one without links
				reason, asked = why(path), append(asked, path)
			}
		}
		return reason
	}
}

// absolute makes the paths of the arguments absolute. They may be relative to the folder.
func (s *Session) absolute(a wire.RewindArgs) wire.RewindArgs {
	one := func(path string) string {
		if filepath.IsAbs(path) {
			return filepath.Clean(path)
		}
		return filepath.Join(s.cwd, filepath.FromSlash(path))
	}
	all := func(paths []string) []string {
		if paths == nil {
			return nil
		}
		list := make([]string, len(paths))
		for i, path := range paths {
			list[i] = one(path)
		}
		return list
	}
	a.Except, a.Paths = all(a.Except), all(a.Paths)
	if a.Hunks != nil {
		hunks := make([]wire.HunkRef, len(a.Hunks))
		for i, h := range a.Hunks {
			hunks[i] = wire.HunkRef{Path: one(h.Path), Hunk: h.Hunk}
		}
		a.Hunks = hunks
	}
	return a
}

// shown stores the plan that the user sees, in order to find the paths that change later.
func (s *Session) shown(p *rewindPlan) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.planned = p
}

// changedSince returns the first path that differs from the plan that the user saw, "" if that plan is unknown or no path differs.
func (s *Session) changedSince(token string, now *rewindPlan) string {
	s.mu.Lock()
	was := s.planned
	s.mu.Unlock()
	if was == nil || was.Token(was.leaf) != token {
		return ""
	}
	before := map[string]changeplan.Path{}
	for _, x := range was.Paths {
		before[x.Path] = x
	}
	for _, x := range now.Paths {
		b, ok := before[x.Path]
		if !ok || !b.Now.State.Same(x.Now.State) || !b.Want.Same(x.Want) || b.Action != x.Action {
			return x.Path
		}
	}
	return ""
}
