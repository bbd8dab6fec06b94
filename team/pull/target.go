package pull

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"
	"regexp"
	"sync"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/library"
	"github.com/xcsh-ls/xcsh-ls/team/shipping"
)

// target is the place and the head of the file of a session.
type target struct {
	cwd  string
	dir  string
	name string
	head shipping.Head
	fork bool // the file is another session than that of the store
}

// target returns where the session belongs in the project's folder cwd: to the sessions of its own program if that has any on this
// machine, else to ours.
func (p *Puller) target(ctx context.Context, r remote, cwd string) (t target, err error) {
	t = target{cwd: cwd, name: r.fileName()}
	local := shipping.Local{Cwd: cwd}
	if t.dir, local.Dialect, err = p.directory(r, cwd); err != nil {
		return t, err
	}
	if parent := r.at.Header().ParentSession; parent != "" {
		if local.Parent, err = p.here(ctx, cwd, parent, ""); err != nil {
			return t, err
		}
	}
	t.head = r.at.Localized(local)
	return t, nil
}

// directory returns the directory for a session, and its dialect if that does not follow from the place. A fork says its dialect
// itself, and is one of ours.
func (p *Puller) directory(r remote, cwd string) (dir, dialect string, err error) {
	own := r.head.Dialect
	if r.at.Header().Dialect != "" {
		own = session.Xcsh
	}
	if own != session.Xcsh && p.has(own) {
		dir, err = p.Library.DirOf(cwd, own)
	} else {
		dir, err = p.Library.DirFor(cwd)
	}
	if err != nil {
		return "", "", err
	}
	if root, _ := p.Library.FileRoot(filepath.Join(dir, r.fileName())); root.Dialect != own {
		dialect = own.String()
	}
	return dir, dialect, nil
}

// has reports whether a program has sessions on this machine.
func (p *Puller) has(program session.Dialect) bool {
	for _, root := range p.Library.Roots {
		if root.Dialect == program {
			return true
		}
	}
	return false
}

// findable are ids that a search takes for nothing else, such as a path. All programs make such ids.
var findable = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,199}$`) })

// here returns the file in the folder cwd whose header has this id, "" if there is none. One in dir comes first.
func (p *Puller) here(ctx context.Context, cwd, headerID, dir string) (string, error) {
	if !findable().MatchString(headerID) {
		return "", nil
	}
	found, err := p.Library.Resolve(ctx, cwd, headerID, library.ResolveOptions{Scope: "folder"})
	if fault.Is(err, fault.NotFound) || fault.Is(err, fault.Damaged) {
		return "", nil // it is part of the name of another file
	}
	if err != nil {
		return "", err
	}
	path := ""
	for _, match := range found.Matches {
		if match.ID == headerID && (path == "" || filepath.Dir(match.Path) == dir && filepath.Dir(path) != dir) {
			path = match.Path
		}
	}
	return path, nil
}

// forked returns the target for a session whose id another file has already: with an id of its own and the other one as its parent, as
// every fork. The id follows from the store's, so that a pull that was interrupted continues.
func (t target) forked(r remote) (target, error) {
	sum := sha256.Sum256(r.sid.UUID[:])
	id := hex.EncodeToString(sum[:8])
	line := rawjson.SetString(t.head.Header().Raw, "id", id)
	line = rawjson.SetString(line, "parentSession", t.head.Header().ID)
	if r.at.Header().Dialect == "" && r.head.Dialect != session.Xcsh {
		line = rawjson.SetString(line, "dialect", r.head.Dialect.String())
	}
	head, err := withHeader(t.head, line)
	t.head, t.fork = head, true
	t.name = "fork_" + id + extension
	return t, err
}
