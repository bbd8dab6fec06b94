package tamper

import (
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/xcsh-ls/xcsh-ls/agent/protected"
)

const (
	gitDir    = ".git"
	gitConfig = "config"
)

// gitFiles are the files of git's directory that control git. The other ones change with every commit.
// commondir moves all of them elsewhere.
var gitFiles = []string{"hooks", gitConfig, "config.worktree", "commondir", "info/attributes", "info/sparse-checkout"}

// gitNests are directories in a directory of git that contain further ones: those of submodules
// and of linked worktrees.
var gitNests = []string{"modules", "worktrees"}

// large are directories that hold no files of the user's own, and many files.
var large = []string{"node_modules", "vendor", "target", "dist", "build", ".venv", "venv", "__pycache__"}

// scanner collects protected files.
type scanner struct {
	root    *os.Root
	files   map[string]file
	entries int // the number of files examined in the search for protected files
	nested  int // the number of files examined in the search for git directories inside another one
	bytes   int // how many were read
}

// scan returns the protected files of a folder. Unreadable files are left out.
func scan(root *os.Root) map[string]file {
	s := scanner{root: root, files: map[string]file{}}
	level := []string{"."}
	for depth := 0; depth <= mostDepth && len(level) > 0; depth++ {
		var next []string
		for _, dir := range level {
			next = append(next, s.search(dir)...)
		}
		level = next
	}
	return s.files
}

// scanGit returns the protected files of a directory of git.
func scanGit(root *os.Root) map[string]file {
	s := scanner{root: root, files: map[string]file{}}
	s.collectGit(".", 0)
	return s.files
}

// collectGit records the protected files of a directory of git, and those of its submodules and
// linked worktrees. The names of submodules can have slashes.
func (s *scanner) collectGit(dir string, depth int) {
	for _, part := range gitFiles {
		s.collect(path.Join(dir, part))
	}
	if depth > mostDepth {
		return
	}
	for _, nest := range gitNests {
		for _, e := range s.list(path.Join(dir, nest), &s.nested) {
			if name := path.Join(dir, nest, e.Name()); e.IsDir() {
				s.collectGit(name, depth+1)
				s.collectNested(name, depth+1)
			}
		}
	}
}

// collectNested looks for submodules below a directory that is not one of git itself.
func (s *scanner) collectNested(dir string, depth int) {
	if _, err := s.root.Lstat(path.Join(dir, "HEAD")); err == nil || depth > mostDepth {
		return
	}
	for _, e := range s.list(dir, &s.nested) {
		if name := path.Join(dir, e.Name()); e.IsDir() && e.Name() != "hooks" {
			s.collectGit(name, depth+1)
			s.collectNested(name, depth+1)
		}
	}
}

// isGitConfig reports whether a protected file is a configuration of git.
func isGitConfig(root *os.Root, name string) bool {
	dir, base := path.Base(path.Dir(name)), path.Base(name)
	if base != gitConfig {
		return false
	}
	if filepath.Base(root.Name()) == gitDir {
		return dir == "." || strings.HasPrefix(name, "modules/")
	}
	return dir == gitDir || strings.Contains("/"+name, "/.git/modules/")
}

// search collects the protected files right in a directory and returns the directories to search
// next.
func (s *scanner) search(dir string) (next []string) {
	for _, e := range s.list(dir, &s.entries) {
		name := path.Join(dir, e.Name())
		switch {
		case e.Name() == gitDir && !e.Type().IsRegular(): // also a link to one in the folder
			if !e.IsDir() {
				s.collect(name)
			}
			s.collectGit(name, 0)
		case protected.Path(name):
			s.collect(name)
		case e.IsDir() && !slices.Contains(large, e.Name()):
			next = append(next, name)
		}
	}
	return next
}

// list returns the entries of a directory and counts them, none when there were too many before.
func (s *scanner) list(dir string, count *int) []fs.DirEntry {
	if *count > mostEntries {
		return nil
	}
	entries, _ := fs.ReadDir(s.root.FS(), dir) // an unreadable directory has no entries
	*count += len(entries)
	return entries
}

// collect records a file, or all files below a directory. It has a limit of its own: other files,
// of which a command can create any number, do not hide files in a protected directory.
func (s *scanner) collect(name string) {
	count := 0
	s.collectBelow(name, &count)
}

func (s *scanner) collectBelow(name string, count *int) {
	info, err := s.root.Lstat(name)
	if err != nil {
		return
	}
	switch {
	case path.Base(path.Dir(name)) == "hooks" && path.Ext(name) == ".sample": // git does not run these
	case info.IsDir():
		for _, e := range s.list(name, count) {
			s.collectBelow(path.Join(name, e.Name()), count)
		}
	case info.Mode()&fs.ModeSymlink != 0:
		to, err := s.root.Readlink(name)
		s.files[name] = file{mode: info.Mode(), content: []byte(to), whole: err == nil}
	case info.Mode().IsRegular():
		s.files[name] = s.read(name, info)
	default:
		s.files[name] = file{mode: info.Mode()}
	}
}

func (s *scanner) read(name string, info fs.FileInfo) file {
	f := file{mode: info.Mode(), size: info.Size(), changed: changedAt(info)}
	if info.Size() > mostFile || s.bytes > mostBytes {
		return f
	}
	// It may have become a pipe since, which would never end.
	opened, err := s.root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return f
	}
	defer func() { _ = opened.Close() }()
	if now, err := opened.Stat(); err != nil || !now.Mode().IsRegular() {
		return f
	}
	f.content, err = io.ReadAll(io.LimitReader(opened, mostFile))
	if f.whole = err == nil && int64(len(f.content)) == f.size; f.whole {
		f.changed = 0
	}
	s.bytes += len(f.content)
	return f
}
