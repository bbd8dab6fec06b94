package setup

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/agent/sensitive"
	"github.com/xcsh-ls/xcsh-ls/session"
)

const (
	// maxBelow bounds one file of instructions for a part of a project, in bytes: it comes with the
	// result of a tool.
	maxBelow = 16 << 10

	// maxLevelsBelow bounds how many directories above a file are searched.
	maxLevelsBelow = 16
)

// foreignDirs hold the code of other projects, whose instructions are for the people who work on them.
var foreignDirs = []string{".git", "node_modules", "vendor", "third_party", "site-packages", ".venv", "venv"}

// Below returns the instructions that hold for path, a file or directory below the folder of q, beside those
// of [Resolved]: from the directory below the folder down to that of path, so that the nearest comes last. A
// path that leaves the folder once links are followed has none, and neither has one in the code of other
// projects. The same files are left out as in a set-up; problems has the reasons.
//
// Differs: pi and oh-my-pi read the instructions of the working directory and above only.
func (f Finder) Below(ctx context.Context, q Query, path string) (files []File, problems []Problem) {
	cwd, path := sensitive.Resolve(f.Fs, filepath.Clean(q.Cwd)), sensitive.Resolve(f.Fs, path)
	rel, err := filepath.Rel(cwd, path)
	if err != nil || !filepath.IsLocal(rel) || rel == "." {
		return nil, nil
	}
	parts := strings.Split(rel, string(filepath.Separator))
	if info, err := f.Fs.Stat(path); err != nil || !info.IsDir() {
		parts = parts[:len(parts)-1]
	}
	if len(parts) == 0 || len(parts) > maxLevelsBelow || slices.ContainsFunc(parts, func(p string) bool { return slices.Contains(foreignDirs, strings.ToLower(p)) }) {
		return nil, nil
	}
	q.Cwd = cwd
	l := f.begin(ctx, q)
	if l.program == session.Omp {
		l.userSettings() // which programs' files are read
	}
	l.r.Problems = nil
	for i := range parts {
		l.directoryContext(filepath.Join(cwd, filepath.Join(parts[:i+1]...)))
	}
	for i, file := range l.r.Context {
		if len(file.Text) > maxBelow {
			l.r.Context[i].Text, l.r.Context[i].Cut = wholeRunes(file.Text[:maxBelow]), true
		}
	}
	return l.r.Context, l.r.Problems
}

// directoryContext adds the instructions of one directory of the project.
func (l *looking) directoryContext(dir string) {
	switch l.program {
	case session.Pi:
		l.firstContext(dir, piNames)
	case session.Omp:
		l.firstContext(dir, ompNames)
	default:
		for _, names := range xcshNames {
			l.firstContext(dir, names)
		}
	}
}
