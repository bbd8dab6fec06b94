// Package changetest provides a tree of files and the records of sessions in memory, for tests.
package changetest

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/xcsh-ls/xcsh-ls/agent/change"
	"github.com/xcsh-ls/xcsh-ls/agent/change/plan"
)

// Root is the folder of the sessions.
var Root = filepath.FromSlash("/p")

// ErrMissing is the error for a content that is not stored.
var ErrMissing = errors.New("missing")

// File is a file of the tree.
type File struct {
	Content string
	Mode    uint32
	Link    bool
	Dir     bool // there is a directory instead
}

// Tree is the files by their absolute paths.
type Tree map[string]File

// World is a tree, its contents and the sessions that work on it.
type World struct {
	Tree     Tree
	Contents map[string][]byte
	Now      map[string]func(*plan.Now) // changes the present state of a path

	ids int
}

// Session is the records of one session. Each call of Book builds a new book.
type Session struct {
	W       *World
	Entries []any // *change.Record and *change.Review
}

// New returns an empty world with one session.
func New() (*World, *Session) {
	w := &World{Tree: Tree{}, Contents: map[string][]byte{}, Now: map[string]func(*plan.Now){}}
	return w, &Session{W: w}
}

// Path returns the absolute path of a name in the folder.
func Path(name string) string { return filepath.Join(Root, filepath.FromSlash(name)) }

// Put stores a content.
func (w *World) Put(content []byte) (string, error) {
	sum := change.Sum(content)
	w.Contents[sum] = slices.Clone(content)
	return sum, nil
}

// Content returns a content.
func (w *World) Content(sum string) ([]byte, error) {
	c, ok := w.Contents[sum]
	if !ok {
		return nil, ErrMissing
	}
	return c, nil
}

// State returns the state of an absolute path, and stores its content.
func (w *World) State(abs string) change.State {
	f, ok := w.Tree[abs]
	switch {
	case !ok:
		return change.State{Kind: change.Absent}
	case f.Dir:
		return change.State{Kind: change.Special}
	}
	sum, _ := w.Put([]byte(f.Content)) // never fails
	s := change.State{Kind: change.Regular, SHA256: sum, Mode: f.Mode, Size: int64(len(f.Content))}
	if f.Link {
		s.Kind, s.Mode = change.Link, 0
	}
	return s
}

// Present implements plan.Input.Present.
func (w *World) Present(abs string) (plan.Now, error) {
	now := plan.Now{State: w.State(abs)}
	if f, ok := w.Tree[abs]; ok && !f.Dir {
		now.Content = []byte(f.Content)
	}
	now.Dir = w.Tree[abs].Dir
	for dir := filepath.Dir(abs); dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if f, ok := w.Tree[dir]; ok && !f.Dir {
			now.Parent = dir
		}
	}
	if change := w.Now[abs]; change != nil {
		change(&now)
	}
	return now, nil
}

// Under implements plan.Input.Under.
func (w *World) Under(dir string) (paths []string, ok bool) {
	for p, f := range w.Tree {
		if strings.HasPrefix(p, dir+string(filepath.Separator)) && !f.Dir {
			paths = append(paths, p)
		}
	}
	return paths, true
}

// Find implements plan.Input.Find.
func (w *World) Find(s change.State, was string) string {
	for p := range w.Tree {
		if p != was && w.State(p).Same(s) {
			return p
		}
	}
	return ""
}

// Input returns the input of a plan for a selection.
func (w *World) Input(s plan.Selection) plan.Input {
	return plan.Input{
		Selection: s, Present: w.Present, Content: w.Content, Under: w.Under, Find: w.Find,
		Missing: func(err error) bool { return errors.Is(err, ErrMissing) },
	}
}

// Text returns the content of a file in the folder, "-" if it does not exist.
func (w *World) Text(name string) string {
	f, ok := w.Tree[Path(name)]
	if !ok {
		return "-"
	}
	return f.Content
}

// Write writes a file on behalf of the user.
func (w *World) Write(name, content string) { w.Tree[Path(name)] = File{Content: content, Mode: 0o644} }

// Remove removes a file on behalf of the user.
func (w *World) Remove(name string) { delete(w.Tree, Path(name)) }

// Run records the changes that f makes to the tree as one record, and returns it.
func (s *Session) Run(f func(t Tree)) *change.Record {
	w := s.W
	was := map[string]change.State{}
	for p := range w.Tree {
		was[p] = w.State(p)
	}
	f(w.Tree)
	paths := make([]string, 0, len(was))
	for p := range was {
		paths = append(paths, p)
	}
	for p := range w.Tree {
		if _, ok := was[p]; !ok {
			paths = append(paths, p)
		}
	}
	slices.Sort(paths)
	r := &change.Record{Tool: "bash"}
	for _, p := range paths {
		before, ok := was[p]
		if !ok {
			before.Kind = change.Absent
		}
		if after := w.State(p); !before.Same(after) {
			r.Changes = append(r.Changes, change.Change{Path: change.RelativePath(Root, p), Before: before, After: &after})
		}
	}
	return s.Append(r)
}

// Edit records a new content of a file.
func (s *Session) Edit(name, content string) *change.Record {
	return s.Run(func(t Tree) {
		f := t[Path(name)]
		if f.Mode == 0 {
			f.Mode = 0o644
		}
		f.Content = content
		t[Path(name)] = f
	})
}

// Append appends a record.
func (s *Session) Append(r *change.Record) *change.Record {
	s.W.ids++
	r.V, r.Root, r.ID = change.Version, change.RootURI(Root), fmt.Sprintf("r%d", s.W.ids)
	r.ToolCallID = cmp.Or(r.ToolCallID, "call-"+r.ID)
	r.Time = time.Unix(int64(s.W.ids), 0)
	s.Entries = append(s.Entries, r)
	return r
}

// Keep appends a review.
func (s *Session) Keep(pairs []change.Kept) {
	s.Entries = append(s.Entries, &change.Review{V: change.Version, Root: change.RootURI(Root), Kept: pairs})
}

// Book returns the book of the session.
func (s *Session) Book() *change.Book {
	b := change.NewBook()
	for i, e := range s.Entries {
		switch e := e.(type) {
		case *change.Record:
			r := *e
			r.Seq = i
			b.Add(&r)
		case *change.Review:
			v := *e
			v.Seq = i
			b.AddReview(&v)
		}
	}
	return b
}

// Apply carries out a plan and appends its record, as a rewind does.
func (s *Session) Apply(p *plan.Plan) *change.Record {
	w := s.W
	r := &change.Record{Tool: "rewind", Undoes: p.Records, Redoes: p.Redoes, Hunks: p.Hunks, Except: p.Except}
	for _, x := range p.Changes() {
		want := x.Want
		switch want.Kind {
		case change.Absent:
			delete(w.Tree, x.Path)
		default:
			content := x.Content
			if content == nil {
				content = w.Contents[want.SHA256]
			}
			_, _ = w.Put(content) // never fails
			w.Tree[x.Path] = File{Content: string(content), Mode: want.Mode, Link: want.Kind == change.Link}
		}
		r.Changes = append(r.Changes, change.Change{Path: change.RelativePath(Root, x.Path), Before: x.Now.State, After: &want})
	}
	return s.Append(r)
}

// Fork returns a session with the same records.
func (s *Session) Fork() *Session { return &Session{W: s.W, Entries: slices.Clone(s.Entries)} }
