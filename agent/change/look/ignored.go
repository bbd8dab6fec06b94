package look

import (
	"context"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/agent/change/disk"
)

// ignored is a cached list of the files that git ignores in a work tree. Paths are git's, relative to its top.
type ignored struct {
	Rules string            `json:"rules"`          // the identities of the rules
	Dirs  map[string]string `json:"dirs,omitempty"` // the identities of directories with ignored files, "" is the top
	Files []string          `json:"files,omitempty"`
	Other []string          `json:"other,omitempty"` // directories, with a slash, and files whose content is not stored
	More  bool              `json:"more,omitempty"`  // Other is not empty
}

const maxIgnoredDirs = 100 // whose identities are checked

// ignoredOf returns the ignored files. Listing them takes as long as a look, so the list is cached until the rules or a directory with
// ignored files change.
func (m *Memory) ignoredOf(ctx context.Context, r *root) (ignored, error) {
	m.mu.Lock()
	known, ok := m.ignored[r.top]
	m.mu.Unlock()
	if ok && known.current(r) {
		return known, nil
	}
	list := ignored{Rules: r.rules(), Dirs: map[string]string{"": r.identityOf("")}}
	names, err := r.names(ctx, "ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory")
	if err != nil {
		return list, err
	}
	for _, rel := range names {
		abs, ok := r.inside(rel)
		if !ok {
			continue
		}
		if dir := strings.TrimPrefix(path.Dir(strings.TrimSuffix(rel, "/")), "."); len(list.Dirs) < maxIgnoredDirs && list.Dirs[dir] == "" {
			list.Dirs[dir] = r.identityOf(dir)
		}
		info, err := disk.Lstat(r.fs, abs)
		switch {
		case err != nil:
		case info.IsDir() || len(list.Files) == maxIgnored || info.Mode().IsRegular() && info.Size() > smallFile || info.Mode()&fs.ModeType&^fs.ModeSymlink != 0:
			list.Other, list.More = append(list.Other, rel), true
		default:
			list.Files = append(list.Files, rel)
		}
	}
	slices.Sort(list.Other)
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.ignored == nil {
		m.ignored = map[string]ignored{}
	}
	m.ignored[r.top] = list
	return list, nil
}

// current reports whether the cached list is valid: the rules and the checked directories have not changed.
func (i ignored) current(r *root) bool {
	for dir, id := range i.Dirs {
		if r.identityOf(dir) != id {
			return false
		}
	}
	return i.Rules == r.rules()
}

// added returns the small ignored files that are new. limited is true if that is unknown for some files.
func (i ignored) added(now ignored) (files []string, limited bool) {
	if i.Rules != now.Rules {
		return nil, len(now.Files) > 0 || now.More
	}
	for _, rel := range now.Files {
		if slices.Contains(i.Files, rel) || i.covers(rel) {
			continue
		}
		if dir := strings.TrimPrefix(path.Dir(rel), "."); i.Dirs[dir] == "" {
			limited = true // it may have existed before: the directory was not checked
			continue
		}
		files = append(files, rel)
	}
	return files, limited
}

// covers reports whether a path was ignored and its content not stored.
func (i ignored) covers(rel string) bool {
	if len(i.Other) == 0 {
		return false
	}
	has := func(s string) bool {
		_, ok := slices.BinarySearch(i.Other, s)
		return ok
	}
	if has(rel) {
		return true
	}
	for at, c := range rel {
		if c == '/' && has(rel[:at+1]) {
			return true
		}
	}
	return false
}

// rules identifies the ignore rules at the top of a work tree. Rules in its directories seldom change.
func (r *root) rules() string {
	return r.identities(filepath.Join(r.top, ".gitignore"), filepath.Join(r.info, "exclude"))
}

func (r *root) identityOf(dir string) string {
	return r.identities(filepath.Join(r.top, filepath.FromSlash(dir)))
}

// identities returns the identities of several paths.
func (r *root) identities(paths ...string) string {
	ids := make([]string, len(paths))
	for i, path := range paths {
		ids[i] = "none"
		if info, err := disk.Lstat(r.fs, path); err == nil {
			ids[i] = identity(info)
		}
	}
	return strings.Join(ids, "\n")
}
