package sandbox

import (
	"io/fs"
	"os"
	"path/filepath"

	"github.com/landlock-lsm/go-landlock/landlock"
	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
)

// Rights of Landlock, by their subject.
const (
	readFile  = ll.AccessFSExecute | ll.AccessFSReadFile
	readDir   = ll.AccessFSReadDir
	writeFile = ll.AccessFSWriteFile
	changeDir = ll.AccessFSRemoveDir | ll.AccessFSRemoveFile | ll.AccessFSMakeChar | ll.AccessFSMakeDir | ll.AccessFSMakeReg |
		ll.AccessFSMakeSock | ll.AccessFSMakeFifo | ll.AccessFSMakeBlock | ll.AccessFSMakeSym | ll.AccessFSRefer
)

// devices are those that commands read and write.
var devices = []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"}

// restrictFiles restricts this process to the files of the policy, and sets no_new_privs. A strict
// policy also ends its network, as far as this kernel's Landlock supports that, and its signals to
// others.
func restrictFiles(p Policy) error {
	version := landlockVersion()
	files, dirs := landlock.AccessFSSet(writeFile), landlock.AccessFSSet(changeDir)
	if version >= landlockTruncate {
		files |= ll.AccessFSTruncate
	}
	parts := []any{readFile | readDir | files | dirs}
	if version >= landlockNetwork && !p.Network {
		parts = append(parts, landlock.AccessNetSet(ll.AccessNetBindTCP|ll.AccessNetConnectTCP))
	}
	if version >= landlockScopes {
		scopes := landlock.ScopedSet(ll.ScopeAbstractUnixSocket)
		if p.Level == Strict {
			scopes |= ll.ScopeSignal
		}
		parts = append(parts, scopes)
	}
	config, err := landlock.NewConfig(parts...)
	if err != nil {
		return err
	}
	return config.Restrict(p.rules(files, dirs)...)
}

// rules grant the rights of the policy. Landlock cannot deny access below a granted directory, so a
// directory with something denied in it is granted entry by entry.
func (p Policy) rules(files, dirs landlock.AccessFSSet) []landlock.Rule {
	tree := newTree(append([]string{"/dev"}, p.Deny...))
	read, write := tree.grants("/"), grants{}
	for _, path := range p.roots() {
		write = write.join(tree.grants(path))
	}
	all := readFile | readDir | files | dirs
	rules := []landlock.Rule{
		landlock.PathAccess(readFile|readDir, read.dirs...).IgnoreIfMissing(),
		landlock.PathAccess(readFile, read.files...).IgnoreIfMissing(),
		// The names in a directory that is granted entry by entry are not secret.
		landlock.PathAccess(readDir, read.split...).IgnoreIfMissing(),
		landlock.PathAccess(all, write.dirs...).IgnoreIfMissing(),
		landlock.PathAccess(ll.AccessFSReadFile|files, append(write.files, devices...)...).IgnoreIfMissing(),
	}
	if p.Level == Standard {
		shared, _ := filepath.EvalSymlinks("/dev/shm")
		rules = append(rules, landlock.PathAccess(all, shared).IgnoreIfMissing())
	}
	return rules
}

// tree holds the denied paths in the form needed to grant directories.
type tree struct {
	denied map[string]bool
	above  map[string]bool // directories with something denied in them
}

func newTree(deny []string) tree {
	t := tree{map[string]bool{}, map[string]bool{}}
	for _, path := range deny {
		for _, path := range []string{filepath.Clean(path), resolved(path)} {
			t.denied[path] = true
			for dir := filepath.Dir(path); !t.above[dir]; dir = filepath.Dir(dir) {
				t.above[dir] = true
			}
		}
	}
	return t
}

// grants are paths that can be granted whole, and directories that were split into them.
type grants struct{ dirs, files, split []string }

func (g grants) join(o grants) grants {
	return grants{append(g.dirs, o.dirs...), append(g.files, o.files...), append(g.split, o.split...)}
}

// grants splits path into paths that can be granted without granting anything denied.
func (t tree) grants(path string) (g grants) {
	path = resolved(path)
	for dir := path; ; dir = filepath.Dir(dir) {
		if t.denied[dir] {
			return g
		}
		if dir == filepath.Dir(dir) {
			break
		}
	}
	info, err := os.Lstat(path)
	if err != nil {
		return g
	}
	t.add(&g, path, info.Mode())
	return g
}

func (t tree) add(g *grants, path string, mode fs.FileMode) {
	switch {
	case t.denied[path], mode&fs.ModeSymlink != 0: // a link is as open as where it leads
	case !mode.IsDir():
		g.files = append(g.files, path)
	case !t.above[path]:
		g.dirs = append(g.dirs, path)
	default:
		g.split = append(g.split, path)
		entries, _ := os.ReadDir(path) // entries that cannot be listed are not granted
		for _, e := range entries {
			t.add(g, filepath.Join(path, e.Name()), e.Type())
		}
	}
}
