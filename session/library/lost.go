package library

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// The reasons of a [Lost] session.
const (
	LostHeader = "damagedHeader" // there is no readable header
	LostCwd    = "missingCwd"    // the working directory does not exist, or is none
	LostPlace  = "misplaced"     // it is not in a directory of its working directory
)

// Lost is a session that no list of its own working directory shows.
type Lost struct {
	Path    string
	Cwd     string // "" when the header has none, or there is none
	Reason  string
	Dialect session.Dialect // of the root that it is in
}

// Lost returns the sessions of every root that cannot be found from their working
// directory: the directory was moved or renamed, they were stored by a naming rule that no
// program uses, or their header is gone. They are sorted by path. The transcripts of
// sub-agents are not looked for. A file or directory that cannot be read is a Problem that
// names it.
//
// Differs: the originals show such sessions nowhere, or in another project's list.
func (f Finder) Lost(ctx context.Context) ([]Lost, []session.Problem, error) {
	l := loss{f: f, shown: map[string]map[string]bool{}, exists: map[string]bool{}, real: map[string]string{}}
	files, problems, err := f.regularIn(ctx, f.allFolders(""), nil)
	if err != nil {
		return nil, nil, err
	}
	lost := []Lost{}
	for _, file := range files {
		if err := cancelled(ctx); err != nil {
			return nil, nil, err
		}
		found, is, err := l.judge(file)
		switch {
		case err != nil:
			problems = append(problems, listProblem(err)...)
		case is:
			lost = append(lost, found)
		}
	}
	slices.SortFunc(lost, func(a, b Lost) int { return cmp.Compare(a.Path, b.Path) })
	return lost, problems, nil
}

// loss is one search for lost sessions. It caches the results for directories: there are
// few of them, and many sessions.
type loss struct {
	f      Finder
	shown  map[string]map[string]bool // by cwd: the directories, free of links, that its list looks into
	exists map[string]bool            // by cwd
	real   map[string]string
}

// judge reports whether the session in file is lost. An error can only come from reading
// it.
func (l *loss) judge(file sessionFile) (lost Lost, is bool, err error) {
	lost.Path, lost.Dialect = file.path(), file.dir.root.Dialect
	var found bool
	if lost.Cwd, found, err = l.cwd(file); err != nil {
		return lost, false, err
	}
	switch {
	case !found:
		lost.Reason = LostHeader
		return lost, true, nil
	case lost.Cwd == "":
		// It belongs to the directory it is in, so that only a session outside of all directories
		// is lost.
		is = l.f.SessionDir == "" && cleanPath(filepath.Dir(file.path())) == cleanPath(file.dir.root.Sessions)
		lost.Reason = LostPlace
	case !l.dirExists(lost.Cwd):
		is, lost.Reason = true, LostCwd
	case l.f.SessionDir == "" && !l.isShown(lost.Cwd, filepath.Dir(file.path())):
		is, lost.Reason = true, LostPlace
	}
	return lost, is, nil
}

// cwd reads the working directory off a session's header.
func (l *loss) cwd(file sessionFile) (cwd string, found bool, err error) {
	head, err := readHead(l.f.Fs, file.path())
	if err == nil && head.found {
		return head.header.Cwd, true, nil
	}
	if err == nil {
		// A header may come later than the part that is read to name a session.
		var info Info
		if info, err = l.f.Describe(file.path()); err == nil {
			return info.Cwd, true, nil
		}
	}
	if fault.Is(err, fault.Damaged) {
		err = nil
	}
	return "", false, err
}

func (l *loss) dirExists(cwd string) bool {
	exists, known := l.exists[cwd]
	if !known {
		info, err := l.f.Fs.Stat(cwd)
		// A directory that may not be read exists.
		exists = err == nil && info.IsDir() || err != nil && errors.Is(err, fs.ErrPermission)
		exists = exists && CheckCwd(cwd) == nil
		l.exists[cwd] = exists
	}
	return exists
}

// isShown reports whether a list of cwd looks into dir.
func (l *loss) isShown(cwd, dir string) bool {
	shown := l.shown[cwd]
	if shown == nil {
		shown = map[string]bool{}
		folders, _, _ := l.f.foldersOf(cwd, l.f.Roots, "") // cwd was checked
		for _, d := range folders {
			shown[l.realDir(d.path)] = true
		}
		l.shown[cwd] = shown
	}
	return shown[l.realDir(dir)]
}

// realDir is dir without links, because a root may name one directory twice.
func (l *loss) realDir(dir string) string {
	real, known := l.real[dir]
	if !known {
		real = realOr(l.f.RealPath, cleanPath(dir))
		l.real[dir] = real
	}
	return real
}
