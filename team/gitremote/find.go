package gitremote

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/afero"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/session/intake"
)

// Machine is where the files of git are. Fs is required.
type Machine struct {
	Fs     afero.Fs
	Home   string   // the user's directory; "" if unknown
	Config []string // the files of the system and of the user, in the order in which git reads them

	// Real resolves symbolic links. Nil means that there are none.
	Real func(path string) (string, error)
}

// ConfigFiles returns the files of the system and of the user that git reads, in order.
func ConfigFiles(home string, getenv func(string) string) []string {
	var files []string
	if getenv("GIT_CONFIG_NOSYSTEM") == "" {
		files = append(files, orElse(getenv("GIT_CONFIG_SYSTEM"), systemConfig))
	}
	if global := getenv("GIT_CONFIG_GLOBAL"); global != "" {
		return append(files, global)
	}
	dir := getenv("XDG_CONFIG_HOME")
	if dir == "" && home != "" {
		dir = filepath.Join(home, ".config")
	}
	if dir != "" {
		files = append(files, filepath.Join(dir, "git", "config"))
	}
	if home != "" {
		files = append(files, filepath.Join(home, ".gitconfig"))
	}
	return files
}

func orElse(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

func (m Machine) real(path string) string {
	if m.Real == nil {
		return filepath.Clean(path)
	}
	if real, err := m.Real(path); err == nil {
		return real
	}
	return filepath.Clean(path)
}

// Repository is the working tree that a folder is in.
type Repository struct {
	Root   string // without symbolic links
	Folder string // of the folder below Root, with slashes; "" for the root itself
	Remote string // the address of the remote, with insteadOf applied; "" if it has none
}

// Find returns the repository that cwd is in. ok is false outside of one. The remote is the one that
// remote.pushDefault names, else origin, else the only one.
//
// An error means that the remote is unknown. It is of kind denied for a repository of another user, which git
// refuses, too; see safe.directory.
func Find(m Machine, cwd string) (r Repository, ok bool, err error) {
	named := filepath.Clean(cwd)
	cwd = m.real(cwd)
	d, ok, err := discover(m, cwd)
	if !ok || err != nil {
		return Repository{}, ok, err
	}
	d.named(m, named, cwd)
	r.Root = d.root
	if r.Folder, err = filepath.Rel(d.root, cwd); err != nil {
		return Repository{}, false, nil // cannot be: root is a part of cwd
	}
	if r.Folder = filepath.ToSlash(r.Folder); r.Folder == "." {
		r.Folder = ""
	}
	c, err := readConfig(m, d)
	if err != nil {
		return r, true, err
	}
	if d.foreign && !c.isSafe(d.root) {
		return r, true, fault.New(fault.Denied, "%s belongs to another user, so its remote is not used. git's safe.directory allows it.", d.root).With("path", d.root)
	}
	r.Remote = c.remote()
	return r, true, nil
}

// dirs are the directories of a repository.
type dirs struct {
	root    string
	git     string // of this working tree
	common  string // of all working trees
	foreign bool   // another user owns the repository
	alias   string // git by the name of the folder, which may contain symbolic links; "" if it is the same
}

// named finds out what git is called if cwd, without symbolic links, was called name.
func (d *dirs) named(m Machine, name, cwd string) {
	above, below := strings.CutSuffix(name, strings.TrimPrefix(cwd, d.root))
	if alias := filepath.Join(above, ".git"); below && alias != d.git && m.real(alias) == d.git {
		d.alias = alias
	}
}

// names returns the names of the git directory.
func (d *dirs) names() []string {
	if d.alias == "" {
		return []string{d.git}
	}
	return []string{d.git, d.alias}
}

// discover looks for a repository in cwd and the directories above it.
func discover(m Machine, cwd string) (d dirs, ok bool, err error) {
	for dir := cwd; ; dir = filepath.Dir(dir) {
		dotGit := filepath.Join(dir, ".git")
		info, err := m.Fs.Stat(dotGit)
		switch {
		case err == nil && info.IsDir():
			d = dirs{root: dir, git: m.real(dotGit)}
		case err == nil:
			target, err := pointer(m, dotGit)
			if err != nil {
				return d, false, unreadable(dotGit, err)
			}
			to, found := strings.CutPrefix(target, "gitdir: ")
			if !found {
				return d, false, unreadable(dotGit, errSyntax)
			}
			d = dirs{root: dir, git: m.real(joined(dir, to))}
		case !errors.Is(err, fs.ErrNotExist) && !isNoDirectory(err):
			return d, false, unreadable(dotGit, err)
		}
		if d.git != "" && d.complete(m) {
			d.foreign = foreign(m, dir, dotGit, d.git)
			return d, true, nil
		}
		d = dirs{}
		if dir == filepath.Dir(dir) {
			return d, false, nil
		}
	}
}

// complete finds the common directory, and reports whether the directories are git's.
func (d *dirs) complete(m Machine) bool {
	d.common = d.git
	if to, err := pointer(m, filepath.Join(d.git, "commondir")); err == nil && to != "" {
		d.common = m.real(joined(d.git, to))
	}
	head, err := m.Fs.Stat(filepath.Join(d.git, "HEAD"))
	if err != nil || !head.Mode().IsRegular() {
		return false
	}
	objects, err := m.Fs.Stat(filepath.Join(d.common, "objects"))
	return err == nil && objects.IsDir()
}

// foreign reports whether another user owns one of the paths.
func foreign(m Machine, paths ...string) bool {
	return slices.ContainsFunc(paths, func(path string) bool {
		info, err := m.Fs.Stat(path)
		return err == nil && intake.ForeignOwner(info)
	})
}

func joined(dir, path string) string {
	path = filepath.FromSlash(path)
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(dir, path)
}

// pointer reads a file of git that holds one short line.
func pointer(m Machine, path string) (string, error) {
	const most = 4096
	content, err := intake.ReadAll(m.Fs, path, most)
	return strings.TrimRight(string(content), "\r\n"), err
}

// isNoDirectory reports whether a path does not exist because a part of it is a file.
func isNoDirectory(err error) bool { return errors.Is(err, syscall.ENOTDIR) }
