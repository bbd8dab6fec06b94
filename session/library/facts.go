package library

import (
	"context"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/afero"

	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/internal/own"
)

// Facts are the properties of a session file that decide whether it may be removed.
type Facts struct {
	Path, ID  string // an empty ID means that there is no header
	Name      string
	Parent    string // the session it was forked from: an id or a path, as written
	Folder    string // of the sessions of all folders: equal for those of one working directory
	Origin    session.Dialect
	Size      int64 // bytes
	ModTime   time.Time
	LastEntry time.Time // the latest time of an entry; zero if none can be read

	Unreadable bool // there is no header; nothing below is known
	Newer      bool // a newer program wrote it
	Damaged    bool // lines of it cannot be read
	Continued  bool // continuing in a terminal would open it
	Titled     bool // a user named it, or may have
	Labelled   bool // an entry of it has a label
	Described  bool // a user described it
}

// Facts reads the sessions of cwd, or of every working directory if all is set, in every
// root. This includes the files that a list shows only as problems: they are unreadable.
// Every one of these files is read from beginning to end. forks are the parents, ids or
// paths, that the other sessions name; of their files only the beginning is read.
//
// The errors are of kind invalidArgument if cwd is not absolute, and of kind cancelled.
func (f Finder) Facts(ctx context.Context, cwd string, all bool) (found []Facts, forks []string, err error) {
	folders, own := f.allFolders(""), owner{all: true}
	if !all {
		if folders, own, err = f.foldersOf(cwd, f.Roots, ""); err != nil {
			return nil, nil, err
		}
	}
	files, _, err := f.regularIn(ctx, folders, nil)
	if err != nil {
		return nil, nil, err
	}
	r := factReader{f: f, own: own, all: all, continued: f.continued()}
	found, err = r.read(ctx, files)
	if err != nil || all {
		return found, nil, err
	}
	forks, err = f.forksElsewhere(ctx, found)
	return found, forks, err
}

// forksElsewhere returns the parents named by sessions that are not among found.
func (f Finder) forksElsewhere(ctx context.Context, found []Facts) ([]string, error) {
	inScope := map[string]bool{}
	for _, s := range found {
		inScope[s.Path] = true
	}
	files := f.namesIn(f.allFolders(""))
	parents := make([]string, len(files))
	err := InParallel(ctx, len(files), func() func(int) {
		return func(i int) {
			if inScope[files[i].path()] {
				return
			}
			if s, err := readHead(f.Fs, files[i].path()); err == nil {
				parents[i] = s.header.ParentSession
			}
		}
	})
	return distinct(parents), err
}

// continued returns the files that terminals, of any program, would continue.
func (f Finder) continued() map[string]bool {
	files := map[string]bool{}
	for _, r := range f.Roots {
		if r.Terminals == "" {
			continue
		}
		names, _ := afero.ReadDir(f.Fs, r.Terminals) // none, if no program ran in a terminal yet
		for _, n := range names {
			if _, file, ok := readBreadcrumb(f.Fs, r.Terminals, n.Name()); ok {
				files[f.Canonical(file)] = true
			}
		}
	}
	return files
}

// factReader reads the facts of sessions.
type factReader struct {
	f         Finder
	own       owner
	all       bool
	continued map[string]bool // by canonical path
}

func (r factReader) read(ctx context.Context, files []sessionFile) ([]Facts, error) {
	found := make([]*Facts, len(files))
	err := InParallel(ctx, len(files), func() func(int) {
		return func(i int) { found[i] = r.session(ctx, files[i]) }
	})
	sessions := []Facts{}
	for _, s := range found {
		if s != nil {
			sessions = append(sessions, *s)
		}
	}
	return sessions, err
}

// session returns the facts of one file; nil when it is another folder's.
func (r factReader) session(ctx context.Context, file sessionFile) *Facts {
	x := &Facts{
		Path: file.path(), Origin: file.dir.root.Dialect, Size: file.Info.Size(), ModTime: file.Info.ModTime(),
		Name: strings.TrimSuffix(filepath.Base(file.path()), ".jsonl"),
	}
	s := &factSurvey{labels: map[string]bool{}}
	s.guess = file.dir.root.Dialect == session.Xcsh
	err := s.readFile(ctx, r.f.Fs, file.path())
	if err != nil || !s.found {
		x.Folder, x.Unreadable = r.folder("", file), true
		return x
	}
	if !r.own.has(s.header.Cwd) {
		return nil
	}
	title, _ := s.title(s.origin(file.dir.root.Dialect))
	x.ID, x.Parent, x.LastEntry = s.header.ID, s.header.ParentSession, s.last
	x.Name = shortName(fullName(title, s.prompt, x.ID, filepath.Base(x.Path)))
	x.Folder = r.folder(s.header.Cwd, file)
	x.Newer, x.Damaged = s.header.Version > session.CurrentVersion, s.lost > 0
	x.Continued = r.continued[r.f.Canonical(file.path())]
	x.Titled, x.Labelled, x.Described = s.titled(), len(s.labels) > 0, s.described
	return x
}

// folder returns [Facts].Folder.
func (r factReader) folder(cwd string, file sessionFile) string {
	switch {
	case !r.all:
		return ""
	case cwd == "":
		return filepath.Dir(file.path())
	}
	return r.f.Canonical(cwd)
}

// factSurvey is a survey that also looks for reasons to keep a session.
type factSurvey struct {
	survey
	last       time.Time
	slotSource string
	labels     map[string]bool // the entries that have one
	described  bool
}

func (s *factSurvey) readFile(ctx context.Context, fsys afero.Fs, path string) error {
	file, err := fsys.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	_, err = s.scan(file, func() bool { return ctx.Err() != nil }, s.add)
	return err
}

// add adds the next value of the file.
func (s *factSurvey) add(v session.Value) {
	s.survey.add(v)
	if t, ok := entryTime(v.Raw); ok && t.After(s.last) {
		s.last = t
	}
	switch name, _ := rawjson.String(v.Env.Type); session.Type(name) {
	case session.TypeLabel:
		l := session.Entry{Raw: v.Raw}.AsLabel()
		if delete(s.labels, l.TargetID); l.Text != "" {
			s.labels[l.TargetID] = true
		}
	case session.TypeCustom:
		if kind, _ := rawjson.GetString(v.Raw, "customType"); kind == own.Description {
			text, _ := rawjson.GetString(v.Raw, "data", "text")
			s.described = text != ""
		}
	case "title":
		if t, ok := session.ParseTitleSlot(v.Raw); ok {
			s.slotSource = t.Source
		}
	default:
	}
}

// entryTime is the time of an entry. It reads no further than that, because the programs
// write it before the message, which can be long.
func entryTime(raw []byte) (t time.Time, ok bool) {
	rawjson.Members(raw, func(key, val []byte) bool {
		if string(key) != `"timestamp"` {
			return true
		}
		text, _ := rawjson.String(val)
		t, ok = session.ParseTime(text)
		return false
	})
	return t, ok
}

// titled reports whether a user named the session, or may have: older programs did not
// record the source of a title. pi's names always come from a user.
func (s *factSurvey) titled() bool {
	source := s.header.TitleSource
	if s.hasSlot {
		source = s.slotSource
	}
	title, _ := s.givenTitle()
	return title != "" && source != "auto" || s.named && s.sessionName != ""
}
