package library

import (
	"errors"
	"io"
	"os"

	"github.com/spf13/afero"

	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// A large session is described by what reading it for any other purpose also gives: its index. If its index file
// counts, the session isn't read, apart from its beginning and the newest entry of some types. Otherwise reading it
// leaves an index file, so that a list makes the later opening of the sessions in it fast. What an index doesn't know exactly
// as [survey] does, because the file is old or damaged, is left to a reading of the file by lines.

var (
	// largeFile is the size in bytes above which a session has an index file.
	largeFile int64 = 8 << 20

	// firstReach is the number of bytes at the beginning of a large file that should contain the first prompt.
	firstReach int64 = 4 << 20
)

// indexes is what a describer needs to use index files.
type indexes struct {
	finder *Finder
	stop   func() bool
}

// describe describes a large file. ok is false if the file must be read by lines.
func (x *indexes) describe(file sessionFile, keep func(session.Header) bool) (s *survey, ok bool, err error) {
	if x == nil || x.finder.IndexDir == "" || x.finder.IndexMax < 0 || file.Info == nil || file.Info.Size() <= largeFile {
		return nil, false, nil
	}
	if s = x.beginning(file); s == nil {
		return nil, false, nil
	}
	if keep != nil && !keep(s.header) {
		return nil, false, errNotWanted
	}
	doc, err := x.store().Load(file.path())
	if doc == nil {
		return nil, false, nil // reading the file by lines gives the error of a list
	}
	ok = err == nil && s.take(doc)
	return s, doc.Close() == nil && ok, nil
}

// store returns a store that stops reading when the list is cancelled.
func (x *indexes) store() *session.Store {
	f := x.finder
	return session.NewStore(session.StoreConfig{
		Fs: stoppedFs{f.Fs, x.stop}, RootFor: f.FileRoot, RealPath: f.RealPath, IndexDir: f.IndexDir, IndexMax: f.IndexMax, Now: f.Now,
	})
}

// beginning surveys a file up to its first prompt; nil if that isn't near the beginning.
func (x *indexes) beginning(file sessionFile) *survey {
	f, err := x.finder.Fs.Open(file.path())
	if err != nil {
		return nil
	}
	defer f.Close()
	s := &survey{guess: file.dir.root.Dialect == session.Xcsh}
	known := func() bool { return s.found && s.prompt != "" && s.first != "" || x.stop() }
	if _, err := s.scan(io.LimitReader(f, firstReach), known, s.add); err != nil || !known() || s.header.Version != session.CurrentVersion {
		return nil
	}
	return &survey{
		guess: s.guess, header: s.header, found: true, begun: true, hasSlot: s.hasSlot, slot: s.slot, prompt: s.prompt, first: s.first,
	}
}

// take completes a survey of the beginning by what the whole document knows. It reports whether that is exactly what
// a survey of all lines gives.
func (s *survey) take(doc *session.Document) bool {
	if doc.Header().ID != s.header.ID || !s.countLost(doc.Problems()) {
		return false
	}
	s.known = doc.DialectWith
	named := make([]bool, doc.Len())
	for i, above := range doc.ShownParents() {
		if above >= 0 && !doc.Hidden(i) {
			named[above] = true
		}
	}
	newest := -1 // session_info
	var compactions []int
	for i := range doc.Len() {
		if !doc.Hidden(i) {
			s.entries++
			if !named[i] {
				s.leaves++
			}
		}
		switch doc.Type(i) {
		case session.TypeMessage:
			if doc.Role(i) != "" {
				s.messages++
			} else if e, err := doc.Brief(i); err != nil {
				return false
			} else if rawjson.Truthy(rawjson.Get(e.Raw, "message")) {
				s.messages++
			}
		case session.TypeSessionInfo:
			newest = i
		case session.TypeCompaction:
			compactions = append(compactions, i)
		default:
		}
	}
	return s.takeTitle(doc, newest, compactions)
}

// takeTitle takes the title from the newest session_info, or the newest compaction that has one.
func (s *survey) takeTitle(doc *session.Document, newest int, compactions []int) bool {
	if newest >= 0 {
		e, err := doc.Entry(newest)
		if err != nil {
			return false
		}
		s.addName(e.Raw)
	}
	if _, given := s.givenTitle(); given {
		return true
	}
	for n := len(compactions) - 1; n >= 0 && s.shortSummary == ""; n-- {
		e, err := doc.Brief(compactions[n])
		if err != nil {
			return false
		}
		s.shortSummary, _ = rawjson.GetString(e.Raw, "shortSummary")
	}
	return true
}

// manyProblems is the number of problems of one kind from which on a document may not list them all.
const manyProblems = 100

// countLost counts the lines that are lost. It reports whether the problems allow to count anything.
func (s *survey) countLost(problems []session.Problem) bool {
	kinds := map[session.ProblemKind]int{}
	for _, p := range problems {
		if kinds[p.Kind]++; p.Kind == session.DuplicateID || kinds[p.Kind] >= manyProblems {
			return false
		}
		if p.Lost {
			s.lost++
		}
	}
	return true
}

// errStopped is the error of reading for a list that was cancelled.
var errStopped = errors.New("session: the listing was cancelled")

// stoppedFs opens files that can be read until stop reports true.
type stoppedFs struct {
	afero.Fs
	stop func() bool
}

func (s stoppedFs) Open(name string) (afero.File, error) {
	f, err := s.Fs.Open(name)
	if err != nil {
		return nil, err
	}
	return stoppedFile{f, s.stop}, nil
}

// LstatIfPossible implements [afero.Lstater].
func (s stoppedFs) LstatIfPossible(name string) (os.FileInfo, bool, error) {
	if l, ok := s.Fs.(afero.Lstater); ok {
		return l.LstatIfPossible(name)
	}
	info, err := s.Stat(name)
	return info, false, err
}

type stoppedFile struct {
	afero.File
	stop func() bool
}

func (f stoppedFile) Read(b []byte) (int, error) {
	if f.stop() {
		return 0, errStopped
	}
	return f.File.Read(b)
}

func (f stoppedFile) ReadAt(b []byte, off int64) (int, error) {
	if f.stop() {
		return 0, errStopped
	}
	return f.File.ReadAt(b, off)
}
