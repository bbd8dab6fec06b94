package look

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/spf13/afero"
	"go.uber.org/zap"

	"github.com/xcsh-ls/xcsh-ls/agent/change"
)

// Limits of a look.
const (
	maxPaths   = 5000    // of a command; beyond that, no change is recorded
	maxOver    = 100_000 // files that differ from the index before a command
	maxStale   = 200     // files that differ from the index before it is refreshed
	maxNested  = 20      // nested repositories
	maxIgnored = 200     // single ignored files
	smallFile  = 1 << 20
	maxScanned = 20_000 // files without git
	maxScan    = 64 << 20
	maxHashed  = 64 << 20 // of a file whose content is not stored
)

// Contents stores the contents of states. It is safe for concurrent use.
type Contents interface {
	// StateWith returns the state of a path, given its mode and its content or the target of a link, and stores the content.
	StateWith(abs string, mode fs.FileMode, content []byte) (change.State, error)

	MaxFile() int64
	Excluded(abs string) bool
}

// Options configure a look.
type Options struct {
	Folder   string // absolute; of the session
	Home     string // the user's, which is never scanned
	Fs       afero.Fs
	Contents Contents
	Memory   *Memory // of the session
	Temp     string  // a directory for copies of indexes; they are removed with [Look.Close]
	Env      []string
	Log      *zap.Logger

	most int // overrides maxPaths in tests
}

func (o Options) maxPaths() int { return cmp.Or(o.most, maxPaths) }

// Look is the state of a folder before a command. It is not safe for concurrent use.
type Look struct {
	o      Options
	folder string  // real
	roots  []*root // the repository and nested ones
	scan   *scan   // without git
	head   change.Git
	close  []func()

	mu     sync.Mutex
	limits []string // guarded by mu
}

// Seen is the changes of a command.
type Seen struct {
	Changes []change.Change // sorted by path
	Limits  []string
	Git     *change.Git // nil without git
}

// Before looks at the folder before a command. It only returns the error of ctx.
func Before(ctx context.Context, o Options) (*Look, error) {
	l := newLook(o)
	if err := l.before(ctx); err != nil {
		l.Close()
		return nil, err
	}
	return l, nil
}

func newLook(o Options) *Look {
	if o.Memory == nil {
		o.Memory = &Memory{}
	}
	return &Look{o: o, folder: realPath(o.Folder)}
}

func (l *Look) before(ctx context.Context) error {
	top, err := findRoot(ctx, l.o, l.folder)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err == nil {
		err = l.lookAt(ctx, top)
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err == nil:
		l.head = change.Git{Head: top.head, Branch: top.branch}
		return nil
	}
	if !isNoRepository(err) {
		l.o.Log.Debug("git could not be used to compare the folder before a command", zap.Error(err))
	}
	l.roots = nil
	l.limit(change.LimitNoGit)
	return l.scanFolder(ctx)
}

// lookAt looks at a repository and its nested repositories.
func (l *Look) lookAt(ctx context.Context, top *root) error {
	if err := l.one(ctx, top); err != nil {
		return err
	}
	nested := top.nested
	for len(nested) > 0 {
		dir := nested[0]
		nested = nested[1:]
		if len(l.roots) > maxNested {
			l.limit(change.LimitSubmodule)
			break
		}
		r, err := findRoot(ctx, l.o, dir)
		if err == nil && r.top != dir {
			continue // not initialized: the directory belongs to another repository
		}
		if err == nil {
			err = l.one(ctx, r)
		}
		if err != nil {
			l.limit(change.LimitSubmodule)
			continue
		}
		nested = append(nested, r.nested...)
	}
	return ctx.Err()
}

func (l *Look) one(ctx context.Context, r *root) error {
	l.roots = append(l.roots, r)
	if err := r.before(ctx, l); err != nil {
		r.close()
		l.roots = l.roots[:len(l.roots)-1]
		return err
	}
	l.close = append(l.close, r.close)
	return nil
}

// After looks again and returns the changes of the command. It only returns the error of ctx.
func (l *Look) After(ctx context.Context) (Seen, error) {
	var changes []change.Change
	if l.scan != nil {
		found, err := l.scan.after(ctx, l)
		if err != nil {
			return Seen{}, err
		}
		changes = found
	}
	found := make([][]change.Change, len(l.roots))
	var headAfter string
	looks := []func() error{func() error {
		if len(l.roots) > 0 {
			if r, err := findRoot(ctx, l.o, l.roots[0].top); err == nil {
				headAfter = r.head
			}
		}
		return nil
	}}
	for i, r := range l.roots {
		looks = append(looks, func() (err error) {
			if found[i], err = r.after(ctx, l); err != nil {
				l.failed(i, err)
			}
			return nil
		})
	}
	if err := errors.Join(together(looks...), ctx.Err()); err != nil {
		return Seen{}, err
	}
	seen := Seen{Changes: slices.Concat(append(found, changes)...)}
	if len(l.roots) > 0 {
		git := l.head
		git.HeadAfter = headAfter
		seen.Git = &git
	}
	seen.Changes = slices.DeleteFunc(seen.Changes, func(c change.Change) bool {
		named := utf8.ValidString(c.Path) // other paths can't be recorded
		if !named {
			l.limit(change.LimitBudget)
		}
		return !named
	})
	if len(seen.Changes) > l.o.maxPaths() {
		l.limit(change.LimitLarge)
		seen.Changes = nil // git can restore them
	}
	for _, c := range seen.Changes {
		if c.Before.Kind == change.Large || c.After.Kind == change.Large {
			l.limit(change.LimitLarge)
		}
	}
	slices.SortFunc(seen.Changes, func(a, b change.Change) int { return cmp.Compare(a.Path, b.Path) })
	slices.Sort(l.limits)
	seen.Limits = slices.Compact(slices.Clone(l.limits))
	return seen, ctx.Err()
}

// failed notes that the second look at a repository failed.
func (l *Look) failed(i int, err error) {
	l.o.Log.Debug("git could not be used to compare the folder after a command", zap.String("path", l.roots[i].top), zap.Error(err))
	if i > 0 {
		l.limit(change.LimitSubmodule)
	} else {
		l.limit(change.LimitNoGit)
	}
}

// Blind reports whether no change can be detected: there is no git, and the folder is too large to be scanned.
func (l *Look) Blind() bool { return l.scan == nil && len(l.roots) == 0 }

// Close removes the copies of indexes. It may be called several times.
func (l *Look) Close() {
	for _, f := range l.close {
		f()
	}
	l.close = nil
}

func (l *Look) limit(kind string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !slices.Contains(l.limits, kind) {
		l.limits = append(l.limits, kind)
	}
}

// changed returns the change of a path; ok is false if the path did not change.
func (l *Look) changed(abs string, before, after change.State) (c change.Change, ok bool) {
	if before.Same(after) || before.Kind == change.Special && after.Kind == change.Special {
		return c, false
	}
	return change.Change{Path: l.name(abs), Before: before, After: &after}, true
}

// name returns the path for a record. Roots are real paths; the path of the folder may contain links.
func (l *Look) name(abs string) string {
	if l.folder != l.o.Folder {
		if rel, err := filepath.Rel(l.folder, abs); err == nil && filepath.IsLocal(rel) {
			return filepath.ToSlash(rel)
		}
	}
	return change.RelativePath(l.o.Folder, abs)
}

// DefaultTime is the default timeout of a look.
const DefaultTime = 10 * time.Second
