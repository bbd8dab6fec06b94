package sandbox

import (
	"os"
	"path/filepath"
	"strings"
)

// GitDirs are the directories of git that belong to a folder and lie outside of it: that of a
// repository of which the folder is a part, or that of the repository of a linked worktree. git
// cannot commit without writing there.
func GitDirs(folder string) []string {
	for dir := folder; ; dir = filepath.Dir(dir) {
		dotGit := filepath.Join(dir, ".git")
		info, err := os.Lstat(dotGit)
		switch {
		case err == nil && info.IsDir() && dir != folder:
			return []string{dotGit}
		case err == nil && info.Mode().IsRegular():
			return worktree(dotGit)
		case err == nil, dir == filepath.Dir(dir):
			return nil
		}
	}
}

// worktree returns the directories of a linked worktree whose .git is a file. That file may come
// from anywhere, so it only counts if git made its target: the directory is below worktrees of its
// repository and points back to the file.
func worktree(dotGit string) []string {
	to, ok := strings.CutPrefix(pointer(dotGit), "gitdir: ")
	if !ok {
		return nil
	}
	if !filepath.IsAbs(to) {
		to = filepath.Join(filepath.Dir(dotGit), to)
	}
	to = filepath.Clean(to)
	common := filepath.Dir(filepath.Dir(to))
	if filepath.Base(filepath.Dir(to)) != "worktrees" || filepath.Base(common) != ".git" || pointer(filepath.Join(to, "gitdir")) != dotGit {
		return nil
	}
	return []string{common}
}

// pointer reads a file of git that holds one short line.
func pointer(path string) string {
	const most = 4096
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return ""
	}
	line := make([]byte, most)
	n, _ := f.Read(line)
	return strings.TrimRight(string(line[:n]), "\r\n")
}
