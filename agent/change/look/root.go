package look

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/afero"

	"github.com/xcsh-ls/xcsh-ls/agent/change"
	"github.com/xcsh-ls/xcsh-ls/agent/change/disk"
)

// root is one work tree.
type root struct {
	git                   // with the private repository, once it exists
	plain        git      // with the user's repository
	top          string   // real path
	indexFile    string   // of the user's repository, like the fields below
	objects      string   //
	info         string   // the directory of rules
	head, branch string   // before
	nested       []string // directories of nested repositories, before

	kept    map[string]change.State // states before the command whose contents are stored, by absolute path
	over    map[string]string       // the identities of files whose content was not stored because there were too many
	ignored ignored                 // before
	fs      afero.Fs
}

// findRoot finds the work tree of a real path.
func findRoot(ctx context.Context, o Options, dir string) (*root, error) {
	g := git{dir: dir, env: o.Env}
	out, err := g.read(ctx, "rev-parse", "--path-format=absolute", "--show-toplevel", "--git-path", "index", "--git-path", "objects",
		"--git-path", "info", "--quiet", "--verify", "HEAD^{commit}")
	if exitedWith(err, 128) {
		return nil, errNoRepository
	}
	if err != nil && !exitedWith(err, 1) { // 1: there is no commit yet
		return nil, err
	}
	lines := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	if len(lines) != 5 && (err == nil || len(lines) != 4) { // a name with a line feed
		return nil, errors.New("git printed an unexpected path")
	}
	for i := range lines[:4] {
		lines[i] = filepath.FromSlash(lines[i])
	}
	top, err := filepath.EvalSymlinks(lines[0])
	if err != nil {
		return nil, err
	}
	// The settings of a repository can set any directory as its work tree.
	if rel, err := filepath.Rel(top, dir); err != nil || !filepath.IsLocal(rel) {
		return nil, errNoRepository
	}
	if _, err := disk.Lstat(o.Fs, filepath.Join(top, ".git")); err != nil {
		return nil, errNoRepository
	}
	g.dir = top
	r := &root{plain: g, top: top, indexFile: lines[1], objects: lines[2], info: lines[3], kept: map[string]change.State{}, fs: o.Fs}
	if len(lines) == 5 {
		r.head = lines[4]
	}
	return r, nil
}

// before copies the index, and stores the contents that the index does not have.
func (r *root) before(ctx context.Context, l *Look) error {
	var settings []setting
	err := together(func() (err error) {
		settings, err = r.plain.settings(ctx)
		return err
	}, func() error {
		r.branch = r.plain.branch(ctx)
		return nil
	})
	if err != nil {
		return err
	}
	r.git = r.plain
	if r.own, err = newPrivate(l.o, r, settings); err != nil {
		return err
	}
	var dirty, others []string
	var known facts
	err = together(func() (err error) {
		dirty, err = r.dirty(ctx, min(maxStale, l.o.maxPaths()))
		return err
	}, func() (err error) {
		others, err = r.others(ctx)
		return err
	}, func() (err error) {
		r.ignored, err = l.o.Memory.ignoredOf(ctx, r)
		return err
	}, func() (err error) {
		known, err = l.o.Memory.factsOf(ctx, r)
		return err
	})
	if err != nil {
		return err
	}
	if r.ignored.More {
		l.limit(change.LimitIgnored)
	}
	files, nested := r.files(others)
	r.nested = nested
	for _, rel := range known.modules {
		if abs, ok := r.inside(rel); ok {
			if _, err := disk.Lstat(r.fs, filepath.Join(abs, ".git")); err == nil {
				r.nested = append(r.nested, abs)
			}
		}
	}
	return r.keep(ctx, l, slices.Concat(dirty, r.ignored.Files, known.unsure, files))
}

// keep stores the contents of paths. Beyond the limit it only notes the identities.
func (r *root) keep(ctx context.Context, l *Look, rels []string) error {
	var paths []string
	seen := make(map[string]bool, len(rels))
	for _, rel := range rels {
		if abs, ok := r.inside(rel); ok && !seen[abs] {
			seen[abs] = true
			paths = append(paths, abs)
		}
	}
	if most := l.o.maxPaths(); len(paths) > most {
		if len(paths) > maxOver {
			return errors.New("too many files differ from the index")
		}
		l.limit(change.LimitBudget)
		r.over = make(map[string]string, len(paths)-most)
		for _, abs := range paths[most:] {
			if info, err := disk.Lstat(r.fs, abs); err == nil {
				r.over[abs] = identity(info)
			}
		}
		paths = paths[:most]
	}
	states, err := l.states(ctx, paths)
	for i, abs := range paths[:len(states)] {
		r.kept[abs] = states[i]
	}
	return err
}

// dirty returns the tracked paths whose files differ from the copied index. If there are more than most, the index may just be stale, as
// in a copied repository: then the copied index is refreshed first.
func (r *root) dirty(ctx context.Context, most int) ([]string, error) {
	list := func() ([]string, error) {
		raw, err := r.names(ctx, "diff-files", "--raw", "-z", "--no-renames", "--ignore-submodules=all")
		var dirty []string
		for i := 1; i < len(raw); i += 2 { // ":modes hashes status", path
			dirty = append(dirty, raw[i])
		}
		slices.Sort(dirty)
		return slices.Compact(dirty), err
	}
	dirty, err := list()
	if err != nil || len(dirty) <= most {
		return dirty, err
	}
	if _, err := r.read(ctx, "update-index", "-q", "--refresh", "--unmerged"); err != nil && !exitedWith(err, 1) { // 1: some do differ
		return nil, err
	}
	return list()
}

// others returns the untracked paths. The path of a nested repository ends in a slash.
func (r *root) others(ctx context.Context) ([]string, error) {
	return r.names(ctx, "ls-files", "-z", "--others", "--exclude-standard")
}

// files splits untracked paths into files and directories of nested repositories.
func (r *root) files(others []string) (files, nested []string) {
	for _, rel := range others {
		dir, isDir := strings.CutSuffix(rel, "/")
		if !isDir {
			files = append(files, rel)
		} else if abs, ok := r.inside(dir); ok {
			nested = append(nested, abs)
		}
	}
	return files, nested
}

// inside returns the absolute path of a name that git printed. ok is false if it is outside of the work tree or in git's own files.
func (r *root) inside(rel string) (abs string, ok bool) {
	local := filepath.FromSlash(rel)
	if rel == "" || !filepath.IsLocal(local) {
		return "", false
	}
	first, _, _ := strings.Cut(rel, "/")
	if strings.EqualFold(first, ".git") {
		return "", false
	}
	return filepath.Join(r.top, local), true
}

// rel returns git's name of a path.
func (r *root) rel(abs string) string {
	rel, _ := filepath.Rel(r.top, abs) // it is inside
	return filepath.ToSlash(rel)
}

func (r *root) close() {
	if r.own != nil {
		r.own.remove(r.fs)
	}
}

// together calls functions concurrently and returns their joined errors.
func together(fs ...func() error) error {
	errs := make([]error, len(fs))
	var all sync.WaitGroup
	for i, f := range fs {
		all.Go(func() { errs[i] = f() })
	}
	all.Wait()
	return errors.Join(errs...)
}
