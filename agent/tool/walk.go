package tool

import (
	"context"
	"io/fs"
	"path"
	"path/filepath"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/spf13/afero"

	"github.com/xcsh-ls/xcsh-ls/agent/sensitive"
	"github.com/xcsh-ls/xcsh-ls/agent/tool/ignore"
	"github.com/xcsh-ls/xcsh-ls/agent/tool/regular"
)

// walk calls visit for everything below root that git does not ignore, in the order of the names, a
// directory before its entries. rel has slashes. Symbolic links are visited and not followed.
// Unreadable directories, those in which a pseudo file system is mounted and entries that private
// denies are left out. visit ends the walk by returning false.
func walk(ctx context.Context, fsys afero.Fs, private *sensitive.View, root string, visit func(rel string, info fs.FileInfo) bool) error {
	if err := regular.Ordinary(fsys, root); err != nil {
		return err
	}
	info, err := fsys.Stat(root)
	if err != nil {
		return ioFault("read", root, err)
	}
	entries, err := regular.Dir(ctx, fsys, root)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return ioFault("read", root, err)
	}
	w := walker{fs: fsys, private: private, visit: visit}
	w.dir(ctx, directory{path: root, info: info}, entries, ignore.Load(fsys, root))
	return ctx.Err()
}

type walker struct {
	fs      afero.Fs
	private *sensitive.View
	visit   func(rel string, info fs.FileInfo) bool
}

// directory is where a walk is.
type directory struct {
	path string
	rel  string // from the root of the walk, with slashes
	info fs.FileInfo
}

// dir walks one directory and reports whether to continue.
func (w walker) dir(ctx context.Context, dir directory, entries []fs.FileInfo, rules *ignore.Rules) bool {
	for _, e := range entries {
		if ctx.Err() != nil {
			return false
		}
		if rules.Ignored(e.Name(), e.IsDir()) || w.private.DeniesEntry(dir.path, e) {
			continue
		}
		at := path.Join(dir.rel, e.Name())
		if !w.visit(at, e) {
			return false
		}
		if !e.IsDir() {
			continue
		}
		sub := directory{path: filepath.Join(dir.path, e.Name()), rel: at, info: e}
		if regular.Mounted(w.fs, sub.path, e, dir.info) {
			continue
		}
		below, err := regular.Dir(ctx, w.fs, sub.path)
		if err == nil && !w.dir(ctx, sub, below, rules.Enter(w.fs, sub.path, below)) {
			return false
		}
	}
	return true
}

// globMatcher returns a function that reports whether a path with slashes matches a glob: one
// without a slash is matched against the name at every depth, one with a slash against the path
// from the root of the search, or the end of it. A "!" at the beginning inverts the result.
func globMatcher(tool, glob string) (func(rel string) bool, error) {
	glob, not := strings.CutPrefix(glob, "!")
	glob = strings.TrimPrefix(glob, "./")
	if glob == "" || !doublestar.ValidatePattern(glob) {
		return nil, badArgument("glob", "%s: %q is not a glob such as *.go or src/**/*.ts.", tool, glob)
	}
	anywhere := "**/" + strings.TrimPrefix(glob, "/")
	return func(rel string) bool {
		var ok bool
		switch {
		case !strings.Contains(glob, "/"):
			ok = doublestar.MatchUnvalidated(glob, path.Base(rel))
		case glob[0] == '/':
			ok = doublestar.MatchUnvalidated(glob[1:], rel)
		default:
			ok = doublestar.MatchUnvalidated(anywhere, rel)
		}
		return ok != not
	}, nil
}
