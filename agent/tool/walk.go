package tool

import (
	"context"
	"io/fs"
	"path"
	"path/filepath"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/spf13/afero"

	"github.com/xcsh-ls/xcsh-ls/agent/tool/ignore"
)

// walk calls visit for everything below root that git does not ignore, in the order of
// the names, a directory before what is in it. rel has slashes. Symbolic links are
// visited and not followed. What cannot be read is left out. visit ends the walk by
// returning false.
func walk(ctx context.Context, fsys afero.Fs, root string, visit func(rel string, info fs.FileInfo) bool) error {
	entries, err := afero.ReadDir(fsys, root)
	if err != nil {
		return ioFault("read", root, err)
	}
	w := walker{fs: fsys, visit: visit}
	w.dir(ctx, root, "", entries, ignore.Load(fsys, root))
	return ctx.Err()
}

type walker struct {
	fs    afero.Fs
	visit func(rel string, info fs.FileInfo) bool
}

// dir walks one directory and reports whether to go on.
func (w walker) dir(ctx context.Context, dir, rel string, entries []fs.FileInfo, rules *ignore.Rules) bool {
	for _, e := range entries {
		if ctx.Err() != nil {
			return false
		}
		if rules.Ignored(e.Name(), e.IsDir()) {
			continue
		}
		at := path.Join(rel, e.Name())
		if !w.visit(at, e) {
			return false
		}
		if !e.IsDir() {
			continue
		}
		sub := filepath.Join(dir, e.Name())
		below, err := afero.ReadDir(w.fs, sub)
		if err == nil && !w.dir(ctx, sub, at, below, rules.Enter(w.fs, sub, below)) {
			return false
		}
	}
	return true
}

// globMatcher returns what reports whether a path with slashes matches a glob: one
// without a slash is about the name at every depth, one with a slash about the path from
// where the search begins, or the end of it. A "!" at the beginning turns it around.
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
