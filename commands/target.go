package commands

import (
	"context"
	"errors"
	"io/fs"
	"os"

	"github.com/spf13/afero"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/library"
)

// finder is the part of [library.Finder] that a resolver uses.
type finder interface {
	TargetPath(cwd, target string) (path string, ok bool, err error)
	Resolve(ctx context.Context, cwd, target string, opts library.ResolveOptions) (library.Resolution, error)
	Exists(ctx context.Context, cwd, target string) (path string, ok bool, err error)
}

// resolver finds the folder, the session or the file that a call names. It resolves a path once
// and stats it once.
type resolver struct {
	finder   finder
	fs       afero.Fs
	home     string
	folders  func() []string // of the workspace
	sessions *agent.Manager
	store    *session.Store
	lists    lister
	ask      prompter
}

// lookup describes the session to find.
type lookup struct {
	cwd, name string
	scope     string // as in library.ResolveOptions
	create    bool   // a path may name a missing file
	asks      bool   // let the user choose among several matches, instead of returning the Ambiguous error
}

// target is a session that was found: a file named by its path, or one of a list.
type target struct {
	namedFile
	info *library.Info // nil for a file named by its path
}

// namedFile is a name and, if the name is a path, the file there.
type namedFile struct {
	name   string // without quotes around it
	path   string // "" if name is not a path
	file   os.FileInfo
	absent error // why file is nil
}

// isNew reports whether the file is empty or missing, so that it holds no session yet.
func (n namedFile) isNew() bool {
	if n.file != nil {
		return n.file.Mode().IsRegular() && n.file.Size() == 0
	}
	return errors.Is(n.absent, fs.ErrNotExist)
}

// resolve returns the one session that l names. A file named by its path is returned
// unread, because a damaged session can still be checked and salvaged.
func (r resolver) resolve(ctx context.Context, l lookup) (target, error) {
	named, err := r.file(l.cwd, l.name)
	if err != nil {
		return target{}, err
	}
	if named.path != "" && (l.create || named.file != nil) {
		return target{namedFile: named}, nil
	}
	resolution, err := r.finder.Resolve(ctx, l.cwd, named.name, library.ResolveOptions{Scope: l.scope})
	if err != nil {
		return target{}, err
	}
	info, err := resolution.One()
	if fault.Is(err, fault.Ambiguous) && l.asks {
		info, err = r.ask.which(ctx, resolution.Matches, err)
	}
	named.path = info.Path
	return target{namedFile: named, info: &info}, err
}

// find returns the file of the one session that name stands for.
func (r resolver) find(ctx context.Context, cwd, name string) (string, error) {
	t, err := r.resolve(ctx, lookup{cwd: cwd, name: name})
	return t.path, err
}

// file returns the file that name stands for. File managers copy paths in quotes: a pair
// around all of name is removed unless it is part of an existing file's name.
func (r resolver) file(cwd, name string) (namedFile, error) {
	n, err := r.fileCalled(cwd, name)
	if bare := unquoted(name); bare != name && n.file == nil {
		return r.fileCalled(cwd, bare)
	}
	return n, err
}

func (r resolver) fileCalled(cwd, name string) (namedFile, error) {
	n := namedFile{name: name}
	path, isPath, err := r.finder.TargetPath(cwd, name)
	if err == nil && isPath {
		n.path = path
		n.file, n.absent = r.fs.Stat(path)
		if n.absent != nil {
			n.file = nil
		}
	}
	return n, err
}

// unquoted returns s without a pair of quotes around all of it.
func unquoted(s string) string {
	if n := len(s); n > 2 && (s[0] == '"' || s[0] == '\'') && s[n-1] == s[0] {
		return s[1 : n-1]
	}
	return s
}
