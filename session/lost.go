package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/xcsh-ls/xcsh-ls/session/fault"
)

// LostReason says why nobody finds a session.
type LostReason string

// The reasons of a [Lost] session.
const (
	LostHeader LostReason = "damagedHeader" // there is no readable header
	LostCwd    LostReason = "missingCwd"    // the working directory does not exist, or is none
	LostPlace  LostReason = "misplaced"     // it is not in a directory of its working directory
)

// Lost is a session that no list of its own working directory shows to a person.
type Lost struct {
	Path   string     `json:"path"`
	Cwd    string     `json:"cwd"` // "" when the header has none, or there is none
	Reason LostReason `json:"reason"`
	Advice string     `json:"advice"` // one sentence
}

// Lost returns the sessions of every root that cannot be found from where they belong:
// their directory was moved or renamed, they were filed by a rule that nobody follows,
// or their header is gone. They are sorted by path. The transcripts of sub-agents are
// not looked for. What cannot be read is a Problem that names it.
//
// Differs: the originals show such sessions nowhere, or in another project's list.
func (f Finder) Lost(ctx context.Context) ([]Lost, []Problem, error) {
	l := loss{f: f, shown: map[string]map[string]bool{}, exists: map[string]bool{}, real: map[string]string{}}
	files, problems := f.filesIn(f.allFolders(""))
	files, err := f.regularFiles(ctx, files)
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

// loss is one search for lost sessions. What it learns of a directory it keeps: there
// are few of them, and many sessions.
type loss struct {
	f      Finder
	shown  map[string]map[string]bool // by cwd: the directories, free of links, that its list looks into
	exists map[string]bool            // by cwd
	real   map[string]string
}

// judge says whether the session in file is lost. The error is that of reading it.
func (l *loss) judge(file sessionFile) (lost Lost, is bool, err error) {
	lost.Path = file.path
	var found bool
	if lost.Cwd, found, err = l.cwd(file); err != nil {
		return lost, false, err
	}
	switch {
	case !found:
		lost.Reason = LostHeader
		lost.Advice = fmt.Sprintf("Save what can be read of it with: xcsh-ls doctor %q --salvage NEW.jsonl", file.path)
		return lost, true, nil
	case lost.Cwd == "":
		// It belongs to whichever directory it is filed under, so that only one that is
		// filed under none is lost.
		is = l.f.SessionDir == "" && cleanPath(filepath.Dir(file.path)) == cleanPath(file.root.Sessions)
		lost.Reason = LostPlace
	case !l.dirExists(lost.Cwd):
		is, lost.Reason = true, LostCwd
	case l.f.SessionDir == "" && !l.isShown(lost.Cwd, filepath.Dir(file.path)):
		is, lost.Reason = true, LostPlace
	}
	lost.Advice = lost.moveAdvice(file.root.Dialect)
	return lost, is, nil
}

// cwd reads the working directory off a session's header.
func (l *loss) cwd(file sessionFile) (cwd string, found bool, err error) {
	head, err := l.f.readHead(file.path)
	if err == nil && head.found {
		return head.header.Cwd, true, nil
	}
	if err == nil {
		// A header may come later than the part that is read to name a session.
		var info Info
		if info, err = l.f.Describe(file.path); err == nil {
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
		// One that may not be looked at is there.
		exists = err == nil && info.IsDir() || err != nil && errors.Is(err, fs.ErrPermission)
		exists = exists && checkCwd(cwd) == nil
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

// moveAdvice says what brings a session back into a list.
func (l Lost) moveAdvice(origin Dialect) string {
	if origin != Xcsh {
		return fmt.Sprintf(`It belongs to %s; copy it into a project with xcsh.fork {"source": %q}.`, origin, l.Path)
	}
	if l.Reason == LostPlace && l.Cwd != "" {
		return fmt.Sprintf(`File it where it belongs with xcsh.move {"source": %q, "to": %q}.`, l.Path, l.Cwd)
	}
	return fmt.Sprintf(`Say which directory it belongs to now with xcsh.move {"source": %q, "to": DIRECTORY}.`, l.Path)
}
