package trust

import (
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/spf13/afero"

	"github.com/xcsh-ls/xcsh-ls/agent/sensitive"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/session/intake"
)

// Gate decides which agent directories are used: for their models, keys, instructions, hooks and
// share script. It is safe for concurrent use. Fs and Store must be set.
type Gate struct {
	Fs    afero.Fs
	Store *Store
	Home  string // the user's home directory; "" if unknown

	// Standard are the agent directories that the program uses by default. They are the user's own,
	// regardless of their location.
	Standard []string

	// Named are agent directories that the user named or allowed on the command line.
	Named []string

	// Configured are agent directories that the user's environment names. Inside a workspace that
	// does not count: tools set variables from files of the workspace.
	Configured []string

	// Folders returns the workspace folders, absolute. nil: there are none.
	Folders func() []string

	mu     sync.Mutex
	pinned map[string]string // guarded by mu; the digests of named directories when first used
}

// Check returns nil if the agent directory dir may be used, and a Denied error with a sentence for
// the user otherwise. It is called before each use, because folders are added and files change.
//
// Differs: xcsh, pi and omp use every agent directory that is configured.
func (g *Gate) Check(dir string) error {
	if dir = filepath.Clean(dir); !filepath.IsAbs(dir) {
		return fault.New(fault.Denied, "The models, keys, instructions, hooks, tools and share script in the agent directory %s are ignored because its path is not absolute.", dir).With("path", dir)
	}
	real := sensitive.Resolver(g.Fs) // one look at the links for one decision
	if lists(g.Standard, dir, real) {
		return nil
	}
	folder, inside := g.inside(dir, real)
	switch {
	case !inside && lists(g.Named, dir, real):
		return nil
	case !inside:
		return g.checkOwner(dir)
	}
	allowed, err := g.Store.AllowedAgentDirs()
	if err != nil {
		return err
	}
	if lists(allowed, dir, real) {
		return nil
	}
	digest, err := DigestAgentDir(g.Fs, dir)
	if err != nil {
		return fault.New(fault.Denied, "The models, keys, instructions, hooks, tools and share script in the agent directory %s are ignored: %w.", dir, err).With("path", dir)
	}
	if lists(g.Named, dir, real) {
		return g.pin(dir, digest)
	}
	if ok, err := g.Store.Has(Trust{g.real(dir), AgentDir, digest}); ok || err != nil {
		return err
	}
	if g.Store.Known(g.real(dir), AgentDir) {
		return changed(dir)
	}
	return fault.New(fault.Denied, "The models, keys, instructions, hooks, tools and share script in the agent directory %s are ignored because it is inside the workspace folder %s and may come from the workspace's author. "+
		"If you trust it, run: xcsh-ls --allow-agent-dir %s list", dir, folder, quoted(dir)).With("path", dir)
}

// Owns reports whether dir is an agent directory that the user chose: a standard one, or one that
// was named or allowed. Other directories come from settings, which a workspace may have.
func (g *Gate) Owns(dir string) bool {
	dir = filepath.Clean(dir)
	real := sensitive.Resolver(g.Fs)
	if lists(g.Standard, dir, real) || lists(g.Named, dir, real) {
		return true
	}
	if allowed, err := g.Store.AllowedAgentDirs(); err == nil && lists(allowed, dir, real) {
		return true
	}
	_, inside := g.inside(dir, real)
	return !inside && lists(g.Configured, dir, real) || g.Store.Known(g.real(dir), AgentDir) && g.Check(dir) == nil
}

// Allow records that the user allows dir with its present content.
func (g *Gate) Allow(dir string) error {
	dir = filepath.Clean(dir)
	digest, err := DigestAgentDir(g.Fs, dir)
	if err != nil {
		return fault.New(fault.IO, "The agent directory %s cannot be allowed: %w.", dir, err).With("path", dir)
	}
	return g.Store.Add(Trust{g.real(dir), AgentDir, digest})
}

// Inside returns the workspace folder that dir is in, once links are followed. A folder that is
// the home directory or above it is not one: everything of the user's is in it.
func (g *Gate) Inside(dir string) (folder string, ok bool) {
	return g.inside(dir, sensitive.Resolver(g.Fs))
}

func (g *Gate) inside(dir string, real func(string) string) (folder string, ok bool) {
	if g.Folders == nil {
		return "", false
	}
	for _, folder := range g.Folders() {
		if folder == "" || g.Home != "" && g.within(g.Home, folder, real) {
			continue
		}
		if g.within(dir, folder, real) {
			return folder, true
		}
	}
	return "", false
}

// within reports whether path is dir or below it, by its name or by where its links lead.
func (g *Gate) within(path, dir string, real func(string) string) bool {
	for _, p := range []string{filepath.Clean(path), real(path)} {
		for _, d := range []string{filepath.Clean(dir), real(dir)} {
			if rel, err := filepath.Rel(d, p); err == nil && filepath.IsLocal(rel) {
				return true
			}
		}
	}
	return g.below(real(path), dir)
}

// below reports whether path or a directory above it is the directory dir under another name: in
// another case, or through a second mount.
func (g *Gate) below(path, dir string) bool {
	top, err := g.Fs.Stat(dir)
	if err != nil {
		return false
	}
	for {
		if info, err := g.Fs.Stat(path); err == nil && os.SameFile(info, top) {
			return true
		}
		up := filepath.Dir(path)
		if up == path {
			return false
		}
		path = up
	}
}

func (g *Gate) real(path string) string { return sensitive.Resolve(g.Fs, path) }

// lists reports whether dir is one of the directories of a list. real resolves links.
func lists(list []string, dir string, real func(string) string) bool {
	return slices.Contains(list, dir) || slices.ContainsFunc(list, func(d string) bool { return real(d) == real(dir) })
}

// pin fails if a directory inside a workspace has changed since its first use: a command in the
// sandbox can write to the workspace, and must not decide which programs run outside of it.
func (g *Gate) pin(dir, digest string) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.pinned == nil {
		g.pinned = map[string]string{}
	}
	if first, ok := g.pinned[dir]; ok && first != digest {
		return changed(dir)
	}
	g.pinned[dir] = digest
	return nil
}

// checkOwner fails for a directory that another user of the machine could have prepared.
func (g *Gate) checkOwner(dir string) error {
	if info, err := g.Fs.Stat(dir); err == nil && intake.Foreign(info) {
		return fault.New(fault.Denied, "The models, keys, instructions, hooks, tools and share script in the agent directory %s are ignored because another user owns it or can write to it. Choose another directory, or remove the permission with: chmod go-w %s",
			dir, quoted(dir)).With("path", dir)
	}
	return nil
}

func changed(dir string) error {
	return fault.New(fault.Denied, "The models, keys, instructions, hooks, tools and share script in the agent directory %s are ignored because they changed since you allowed it. "+
		"Review the changes, then run: xcsh-ls --allow-agent-dir %s list", dir, quoted(dir)).With("path", dir)
}

// CheckSession returns nil if the system prompt that the session file at path records for itself may be
// used, and a Denied error with a sentence for the user otherwise: a file inside a workspace folder may
// come from the workspace's author unless it is in an agent directory that may be used, and one of
// another user from that user.
//
// Differs: xcsh and omp use the recorded prompt of every session file.
func (g *Gate) CheckSession(path string) error {
	real := sensitive.Resolver(g.Fs)
	for _, dir := range slices.Concat(g.Standard, g.Named, g.Configured) {
		if g.within(path, dir, real) && g.Check(dir) == nil {
			return g.checkSessionOwner(path)
		}
	}
	if folder, inside := g.Inside(path); inside {
		return fault.New(fault.Denied, "This session's own system prompt is not used because its file is inside the workspace folder %s and may come from the workspace's author. "+
			"If you trust it, continue in a fork of the session.", folder).With("path", path)
	}
	return g.checkSessionOwner(path)
}

func (g *Gate) checkSessionOwner(path string) error {
	if info, err := g.Fs.Stat(path); err == nil && intake.Foreign(info) {
		return fault.New(fault.Denied, "This session's own system prompt is not used because another user owns the file %s or can write to it.", path).With("path", path)
	}
	return nil
}
