package sensitive

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/afero"
)

// Set decides which paths are sensitive. It is safe for concurrent use. A nil Set denies
// nothing.
type Set struct {
	env    Env
	paths  []string
	names  map[string]bool // keys of paths
	agents []string
}

// New returns the set of env.
func New(env Env) *Set {
	all := append(env.paths(), devices...)
	for _, home := range env.homes() {
		for _, name := range buildFiles {
			all = append(all, filepath.Join(home, filepath.FromSlash(name)))
		}
	}
	s := &Set{env: env, paths: tidy(env, all), names: map[string]bool{}, agents: env.agentDirs()}
	for _, path := range s.paths {
		s.names[s.key(path)] = true
	}
	return s
}

// Paths returns the listed paths, absolute and sorted. None needs to exist.
func (s *Set) Paths() []string {
	if s == nil {
		return nil
	}
	return append([]string(nil), s.paths...)
}

// Commands returns the paths that a policy for commands denies: those of the function [Paths],
// the files in home directories to which links directly in them lead, and copies of keys in agent
// directories.
func (s *Set) Commands() []string {
	fsys := afero.NewOsFs()
	all := Paths(s.env)
	env := s.env
	env.OS = "" // names keep their case
	v := &View{set: &Set{env: env}, fs: fsys, names: map[string]bool{}}
	for _, path := range all {
		v.add(Resolve(fsys, path), true)
	}
	for name := range v.names {
		info, err := fsys.Stat(name)
		ordinary := err == nil && (info.IsDir() || info.Mode().IsRegular()) // not the socket of a browser
		if ordinary && slices.ContainsFunc(env.homes(), func(home string) bool { return contains(Resolve(fsys, home), name) }) {
			all = append(all, name)
		}
	}
	keys := &View{set: s, fs: fsys}
	for _, agent := range s.agents {
		entries, _ := afero.ReadDir(fsys, agent) // without a directory there are no copies
		for _, e := range entries {
			if path := filepath.Join(agent, e.Name()); keys.copyOfKeys(path) {
				all = append(all, path)
			}
		}
	}
	return tidy(s.env, all)
}

// Denies reports whether path, absolute, is sensitive or below a sensitive path, as it is on fsys
// now: by its name, by the target of its symbolic links, or as a hard link. To decide about many
// paths use [Set.Resolve] once.
func (s *Set) Denies(fsys afero.Fs, path string) bool { return s.Resolve(fsys).Denies(path) }

// View is a set as it is on a file system at the first question to the view. It is safe for concurrent
// use. A nil View denies nothing.
type View struct {
	set   *Set
	fs    afero.Fs
	once  sync.Once
	names map[string]bool // where the links of listed paths lead

	mu     sync.Mutex
	own    identities        // of the listed paths
	dirs   map[string]bool   // decided by [View.inside]
	real   map[string]string // where the directories of entries are
	linked *identities       // of files in listed directories that have another name
}

// Resolve returns a view of the set on fsys. The view looks at the listed paths when it is first asked
// about a path, not before: a prompt without files to decide about does not pay for the list. Nothing
// that was seen on fsys is kept for another view, because links may change.
func (s *Set) Resolve(fsys afero.Fs) *View {
	if s == nil {
		return nil
	}
	return &View{set: s, fs: fsys, names: map[string]bool{}, dirs: map[string]bool{}, real: map[string]string{}}
}

// look finds where the listed paths lead, once.
func (v *View) look() {
	v.once.Do(func() {
		at := places{fs: v.fs, known: map[string]place{}}
		if v.set.env.OS == "linux" { // elsewhere an entry may have names that its directory does not list
			at.lists = map[string]*names{}
		}
		for _, path := range v.set.paths {
			if to := at.find(path); to.path != path || !to.missing {
				v.add(to.path, true)
			}
		}
	})
}

// maxTop is how many entries of a listed directory are checked for links.
const maxTop = 256

// add adds the target of a listed path. The links directly in a listed directory, such as
// ~/.aws/credentials of a user who keeps the file elsewhere, lead to credentials, too.
func (v *View) add(target string, follow bool) {
	info, err := v.fs.Stat(target)
	if v.set.env.tooWide(target) || err != nil && !follow {
		return
	}
	v.names[v.set.key(target)] = true
	if err != nil {
		return
	}
	v.own.add(info)
	if !info.IsDir() || !follow {
		return
	}
	dir, err := v.fs.Open(target)
	if err != nil {
		return
	}
	defer dir.Close()
	entries, _ := dir.Readdir(maxTop) // entries read before an error count
	for _, e := range entries {
		if e.Mode()&fs.ModeSymlink != 0 {
			v.add(Resolve(v.fs, filepath.Join(target, e.Name())), false)
		}
	}
}

// key is how a path is compared: without regard to case where file systems commonly have none.
func (s *Set) key(path string) string {
	if s.env.OS == "darwin" || s.env.OS == "windows" {
		return strings.ToLower(path)
	}
	return path
}

// Denies reports whether path, absolute, is sensitive or below a sensitive path.
func (v *View) Denies(path string) bool {
	if v == nil {
		return false
	}
	v.look()
	clean, real := filepath.Clean(path), Resolve(v.fs, path)
	for _, p := range []string{clean, real} {
		if v.listed(p) || v.copyOfKeys(p) || v.set.env.OS != "windows" && process(p) {
			return true
		}
	}
	if again := Resolve(v.fs, clean); again != real && v.listed(again) {
		return true
	}
	info, err := v.fs.Stat(real)
	if err != nil {
		return v.inside(filepath.Dir(real))
	}
	return v.inside(filepath.Dir(real)) || v.DeniesInfo(info)
}

// DeniesFile reports whether an open file, which was opened as path and has info, is sensitive. It
// is also true if path leads elsewhere now: a program that exchanges links could make Denies see
// another file than the one that is read.
func (v *View) DeniesFile(path string, info fs.FileInfo) bool {
	if v == nil || info.Sys() == nil { // a file system in memory
		return v.Denies(path)
	}
	real := Resolve(v.fs, path)
	now, err := v.fs.Stat(real)
	return err != nil || !os.SameFile(now, info) || v.Denies(real) || v.DeniesInfo(info)
}

// DeniesInfo reports whether info is that of a listed file or directory, or of a file of a listed
// directory under another name. It is for an open file: the target of its path may have changed
// since.
func (v *View) DeniesInfo(info fs.FileInfo) bool {
	if v == nil || !info.IsDir() && !hasLinks(info) {
		return false
	}
	v.look()
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.own.has(info) {
		return true
	}
	if info.IsDir() {
		return false
	}
	if v.linked == nil {
		v.linked = v.findLinked()
	}
	return v.linked.has(info)
}

// DeniesEntry is Denies for an entry of dir, a directory that is not denied itself. It costs much
// less. A symbolic link is not followed.
func (v *View) DeniesEntry(dir string, entry fs.FileInfo) bool {
	if v == nil {
		return false
	}
	v.look()
	v.mu.Lock()
	real, ok := v.real[dir]
	if !ok {
		real = Resolve(v.fs, dir)
		v.real[dir] = real
	}
	v.mu.Unlock()
	path := filepath.Join(real, entry.Name())
	return v.has(path) || v.copyOfKeys(path) || v.set.env.OS != "windows" && process(path) || v.DeniesInfo(entry)
}

// has reports whether path is in the list, or where a link of the list leads.
func (v *View) has(path string) bool {
	key := v.set.key(path)
	return v.set.names[key] || v.names[key]
}

// listed reports whether path or a directory above it is in the list.
func (v *View) listed(path string) bool {
	for {
		if v.has(path) {
			return true
		}
		up := filepath.Dir(path)
		if up == path {
			return false
		}
		path = up
	}
}

// inside reports whether dir is a listed directory or below one under another name: through a
// second mount, or in another case on a file system that has none.
func (v *View) inside(dir string) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	var path []string
	denied := false
	for {
		known, ok := v.dirs[dir]
		if denied = known; ok {
			break
		}
		path = append(path, dir)
		info, err := v.fs.Stat(dir)
		if denied = err == nil && v.own.has(info); denied || dir == filepath.Dir(dir) {
			break
		}
		dir = filepath.Dir(dir)
	}
	for _, dir := range path {
		v.dirs[dir] = denied
	}
	return denied
}

// copyOfKeys reports whether path is in an agent directory and named like a file with keys.
func (v *View) copyOfKeys(path string) bool {
	dir, name := filepath.Split(v.set.key(path))
	for _, prefix := range agentPrefixes {
		if !strings.HasPrefix(strings.TrimPrefix(name, "."), prefix) {
			continue
		}
		for _, agent := range v.set.agents {
			if filepath.Clean(dir) == v.set.key(agent) || filepath.Clean(dir) == v.set.key(Resolve(v.fs, agent)) {
				return true
			}
		}
	}
	return false
}

// maxEntries bounds the search for hard links in one listed directory.
const maxEntries = 2000

// findLinked returns the files of the listed directories that have a further name. It looks at
// the first entries of each directory, those near its top first.
func (v *View) findLinked() *identities {
	found := &identities{}
	for _, path := range v.set.paths {
		queue := []string{path}
		for seen := 0; len(queue) > 0 && seen < maxEntries; {
			dir := queue[0]
			queue = queue[1:]
			infos, err := afero.ReadDir(v.fs, dir)
			if err != nil {
				continue // a file, not there, or not to be read by commands either
			}
			for _, info := range infos {
				if seen++; info.IsDir() {
					queue = append(queue, filepath.Join(dir, info.Name()))
				} else if hasLinks(info) {
					found.add(info)
				}
			}
		}
	}
	return found
}

// process reports whether path is below the directory of a process, whose files show its
// environment and memory, or shows memory of the kernel.
func process(path string) bool {
	rest, ok := strings.CutPrefix(path, "/proc/")
	if !ok {
		return false
	}
	first, _, deeper := strings.Cut(rest, "/")
	switch first {
	case "self", "thread-self":
		return true
	case "kcore", "kmsg", "keys", "key-users", "kallsyms", "vmcore":
		return true
	}
	return deeper && strings.Trim(first, "0123456789") == ""
}
