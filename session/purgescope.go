package session

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/afero"

	"github.com/xcsh-ls/xcsh-ls/session/rawjson"
)

// PurgeScope is what a purge of a folder, or of all of them, is about.
type PurgeScope struct {
	Sessions []PurgeSession
	Forks    []string // the parents, ids or paths, that sessions outside the scope name
}

// PurgeScope reads what decides about the sessions of cwd, or of every working directory
// when all is set, in every root. The files that a list shows only as problems are among
// them: they are unreadable. Every file in scope is read from beginning to end, of the
// others their header. The errors are kind invalidArgument when cwd is not absolute, and
// kind cancelled.
func (f Finder) PurgeScope(ctx context.Context, cwd string, all bool) (PurgeScope, error) {
	folders, own := f.allFolders(""), owner{any: true}
	if !all {
		var err error
		if folders, own, err = f.foldersOf(cwd, f.Roots, ""); err != nil {
			return PurgeScope{}, err
		}
	}
	files, err := f.regularFiles(ctx, f.namesIn(folders))
	if err != nil {
		return PurgeScope{}, err
	}
	c := candidates{f: f, own: own, all: all, continued: f.continued()}
	found, err := c.read(ctx, files)
	if err != nil || all {
		return PurgeScope{Sessions: found}, err
	}
	forks, err := f.forksElsewhere(ctx, found)
	return PurgeScope{Sessions: found, Forks: forks}, err
}

// forksElsewhere returns the parents that sessions of other folders name.
func (f Finder) forksElsewhere(ctx context.Context, scope []PurgeSession) ([]string, error) {
	inScope := map[string]bool{}
	for _, s := range scope {
		inScope[s.Path] = true
	}
	files := f.namesIn(f.allFolders(""))
	parents := make([]string, len(files))
	inParallel(ctx, len(files), func() func(int) {
		return func(i int) {
			if inScope[files[i].path] {
				return
			}
			if s, err := f.readHead(files[i].path); err == nil {
				parents[i] = s.header.ParentSession
			}
		}
	})
	return distinct(parents), cancelled(ctx)
}

// candidates reads the sessions of a scope.
type candidates struct {
	f         Finder
	own       owner
	all       bool
	continued map[string]bool // by path without links
}

func (c candidates) read(ctx context.Context, files []sessionFile) ([]PurgeSession, error) {
	found := make([]*PurgeSession, len(files))
	inParallel(ctx, len(files), func() func(int) {
		return func(i int) { found[i] = c.session(ctx, files[i]) }
	})
	sessions := []PurgeSession{}
	for _, s := range found {
		if s != nil {
			sessions = append(sessions, *s)
		}
	}
	return sessions, cancelled(ctx)
}

// session describes one file; nil when it is another folder's.
func (c candidates) session(ctx context.Context, file sessionFile) *PurgeSession {
	p := PurgeSession{
		Path: file.path, Origin: file.root.Dialect, Size: file.info.Size(), ModTime: file.info.ModTime(),
		Name: strings.TrimSuffix(filepath.Base(file.path), ".jsonl"),
	}
	s := &purgeSurvey{labels: map[string]bool{}}
	err := s.readFile(ctx, c.f.Fs, file.path)
	if err != nil || !s.found {
		p.Folder, p.Keep = c.folder("", file), KeepUnreadable
		return &p
	}
	if !c.own.has(s.header.Cwd) {
		return nil
	}
	title, _ := s.title()
	p.ID, p.Parent, p.LastEntry = s.header.ID, s.header.ParentSession, s.last
	p.Name = shortName(fullName(title, s.prompt, p.ID, filepath.Base(p.Path)))
	p.Folder = c.folder(s.header.Cwd, file)
	p.Keep = c.keep(file.path, s)
	return &p
}

// folder is the same for all sessions that compete.
func (c candidates) folder(cwd string, file sessionFile) string {
	switch {
	case !c.all:
		return ""
	case cwd == "":
		return filepath.Dir(file.path)
	}
	return foldPath(realOr(c.f.RealPath, cleanPath(cwd)))
}

// keep is why the session stays as far as its file says.
func (c candidates) keep(path string, s *purgeSurvey) PurgeReason {
	switch {
	case s.header.Version > CurrentVersion:
		return KeepNewer
	case s.lost > 0:
		return KeepDamaged
	case c.continued[c.f.canonical(path)]:
		return KeepContinued
	case s.titled():
		return KeepTitled
	case len(s.labels) > 0:
		return KeepLabelled
	case s.described:
		return KeepDescribed
	}
	return ""
}

func (f Finder) canonical(path string) string { return foldPath(realOr(f.RealPath, cleanPath(path))) }

// continued returns the files that terminals, of whichever program, would go on with.
func (f Finder) continued() map[string]bool {
	files := map[string]bool{}
	for _, r := range f.Roots {
		if r.Terminals == "" {
			continue
		}
		names, _ := afero.ReadDir(f.Fs, r.Terminals) // none, when nobody was in a terminal yet
		for _, n := range names {
			if _, file, ok := ReadBreadcrumb(f.Fs, r.Terminals, n.Name()); ok {
				files[f.canonical(file)] = true
			}
		}
	}
	return files
}

// purgeSurvey is a survey that also looks for what protects a session.
type purgeSurvey struct {
	survey
	last       time.Time
	slotSource string
	labels     map[string]bool // the entries that have one
	described  bool
}

func (s *purgeSurvey) readFile(ctx context.Context, fsys afero.Fs, path string) error {
	file, err := fsys.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	report := func(p Problem) {
		if p.Lost {
			s.lost++
		}
	}
	memory, _ := scratches.Get().(*scratch) // the pool holds nothing else
	defer scratches.Put(memory)
	clear(memory.nodes)
	s.links.nodes = memory.nodes
	halt := func() bool { return ctx.Err() != nil }
	ls := lineScanner{src: file, emit: s.add, report: report, halt: halt, store: memory.store, budget: spanBudget}
	_, err = ls.run()
	return err
}

// add takes the next value of the file.
func (s *purgeSurvey) add(v value) {
	s.survey.add(v)
	if t, ok := entryTime(v.raw); ok && t.After(s.last) {
		s.last = t
	}
	switch name, _ := rawjson.String(v.env.Type); Type(name) {
	case TypeLabel:
		l := Entry{Raw: v.raw}.AsLabel()
		if delete(s.labels, l.TargetID); l.Text != "" {
			s.labels[l.TargetID] = true
		}
	case TypeCustom:
		if kind, _ := rawjson.GetString(v.raw, "customType"); kind == descriptionType {
			text, _ := rawjson.GetString(v.raw, "data", "text")
			s.described = text != ""
		}
	case "title":
		if t, ok := parseTitleSlot(v.raw); ok {
			s.slotSource = t.Source
		}
	default:
	}
}

// entryTime is the time of an entry. It looks no further than that, because the programs
// write it before what was said, which can be long.
func entryTime(raw []byte) (t time.Time, ok bool) {
	rawjson.Members(raw, func(key, val []byte) bool {
		if string(key) != `"timestamp"` {
			return true
		}
		text, _ := rawjson.String(val)
		t, ok = ParseTime(text)
		return false
	})
	return t, ok
}

// titled reports whether a person named the session, or may have: older programs did not
// note who did. pi's names are always a person's.
func (s *purgeSurvey) titled() bool {
	source := s.header.TitleSource
	if s.hasSlot {
		source = s.slotSource
	}
	title, _ := s.givenTitle()
	return title != "" && source != "auto" || s.sessionName != ""
}

// MarkLocked sets why sessions stay that a living process has open, or is writing just
// now. It changes nothing on disk.
func (s *Store) MarkLocked(sessions []PurgeSession) {
	owners := s.Owners()
	for i := range sessions {
		p := &sessions[i]
		if o, ok := owners[p.Path]; ok {
			if p.Keep = KeepLive; !o.Ours {
				p.Keep, p.LockedBy = KeepLocked, fmt.Sprintf("pid %d on %s", o.PID, o.Host)
			}
			continue
		}
		f := lockFile{fs: s.Fs, path: publishLock(p.Path), of: p.Path, env: s.locks.env, judge: s.locks.env.judgePublish}
		if content, owner, err := f.look(nil); err == nil && owner != ownerGone {
			p.Keep = KeepLocked
			if pid, ok := stampPID(content); ok {
				p.LockedBy = fmt.Sprintf("pid %d", pid)
			}
		}
	}
}
