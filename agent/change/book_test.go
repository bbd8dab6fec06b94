package change_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/change"
)

const folder = "/w"

// state is that of a file whose content is one letter.
func state(letter string) change.State {
	if letter == "" {
		return change.State{Kind: change.Absent}
	}
	return change.State{Kind: change.Regular, SHA256: strings.Repeat(letter, 64), Mode: 0o644, Size: 1}
}

// step is a change in short: "a.go: a b" turns the content a of a.go to b; "-" is no file.
func step(short string) change.Change {
	name, states, _ := strings.Cut(short, ": ")
	before, after, _ := strings.Cut(states, " ")
	now := state(strings.Trim(after, "-"))
	return change.Change{Path: name, Before: state(strings.Trim(before, "-")), After: &now}
}

// writer fills a book.
type writer struct {
	book *change.Book
	seq  int
}

func newWriter() *writer { return &writer{book: change.NewBook()} }

// add adds a record with an id and changes in short, which adjust completes.
func (w *writer) add(id string, adjust func(*change.Record), steps ...string) *change.Record {
	w.seq++
	r := &change.Record{V: 1, ID: id, Seq: w.seq, Root: change.RootURI(folder)}
	for _, s := range steps {
		r.Changes = append(r.Changes, step(s))
	}
	if adjust != nil {
		adjust(r)
	}
	w.book.Add(r)
	return r
}

func (w *writer) undo(id string, undoes []string, steps ...string) *change.Record {
	return w.add(id, func(r *change.Record) { r.Tool, r.Undoes = "rewind", undoes }, steps...)
}

func (w *writer) redo(id, rewind string, steps ...string) *change.Record {
	return w.add(id, func(r *change.Record) { r.Tool, r.Redoes = "rewind", rewind }, steps...)
}

func (w *writer) keep(steps ...string) {
	w.seq++
	review := &change.Review{V: 1, Root: change.RootURI(folder), Seq: w.seq}
	for _, s := range steps {
		c := step(s)
		review.Kept = append(review.Kept, change.Kept{Path: c.Path, Before: c.Before, After: *c.After})
	}
	w.book.AddReview(review)
}

// chain returns a chain of a.go in short: the ids of the records, "kept" for a review.
func chain(steps []change.Step) string {
	var ids []string
	for _, s := range steps {
		if s.Record == nil {
			ids = append(ids, "kept")
		} else {
			ids = append(ids, s.Record.ID)
		}
	}
	return strings.Join(ids, " ")
}

func TestWhichRecordsCount(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fill           func(w *writer)
		chain, pending string // of a.go
		other          string // the chain of b.go
	}{
		"edits in their order": {
			func(w *writer) { w.add("1", nil, "a.go: a b", "b.go: - x"); w.add("2", nil, "a.go: b c") },
			"1 2", "1 2", "1",
		},
		"one that did not come to pass": {
			func(w *writer) {
				w.add("1", nil, "a.go: a b")
				w.add("2", nil, "a.go: b c")
				w.add("3", func(r *change.Record) { r.Void = "2" })
			},
			"1", "1", "",
		},
		"taken back": {
			func(w *writer) {
				w.add("1", nil, "a.go: a b", "b.go: - x")
				w.add("2", nil, "a.go: b c")
				w.undo("r", []string{"2"}, "a.go: c b")
			},
			"1", "1", "1",
		},
		"taken back but for a path": {
			func(w *writer) {
				w.add("1", nil, "a.go: a b", "b.go: - x")
				w.undo("r", []string{"1"}, "a.go: b a").Except = nil
				w.add("2", nil, "b.go: x y")
			},
			"", "", "2",
		},
		"a path that was left out stays": {
			func(w *writer) {
				w.add("1", nil, "a.go: a b", "b.go: - x")
				w.add("r", func(r *change.Record) { r.Undoes, r.Except = []string{"1"}, []string{"b.go"} }, "a.go: b a")
			},
			"", "", "1",
		},
		"redone": {
			func(w *writer) {
				w.add("1", nil, "a.go: a b")
				w.undo("r", []string{"1"}, "a.go: b a")
				w.redo("q", "r", "a.go: a b")
				w.add("2", nil, "a.go: b c")
			},
			"1 2", "1 2", "",
		},
		"redone and taken back again": {
			func(w *writer) {
				w.add("1", nil, "a.go: a b")
				w.undo("r", []string{"1"}, "a.go: b a")
				w.redo("q", "r", "a.go: a b")
				w.undo("s", []string{"1"}, "a.go: b a")
			},
			"", "", "",
		},
		"redone but for a path": {
			func(w *writer) {
				w.add("1", nil, "a.go: a b", "b.go: - x")
				w.undo("r", []string{"1"}, "a.go: b a", "b.go: x -")
				w.add("q", func(r *change.Record) { r.Redoes, r.Except = "r", []string{"b.go"} }, "a.go: a b")
			},
			"1", "1", "",
		},
		"a hunk that was taken back is an edit": {
			func(w *writer) {
				w.add("1", nil, "a.go: a b")
				w.add("h", func(r *change.Record) { r.Hunks = []change.HunkRef{{Path: "a.go", Hunk: "x"}} }, "a.go: b c")
			},
			"1 h", "1 h", "",
		},
		"and can be redone": {
			func(w *writer) {
				w.add("1", nil, "a.go: a b")
				w.add("h", func(r *change.Record) { r.Hunks = []change.HunkRef{{Path: "a.go", Hunk: "x"}} }, "a.go: b c")
				w.redo("q", "h", "a.go: c b")
			},
			"1", "1", "",
		},
		"kept": {
			func(w *writer) { w.add("1", nil, "a.go: a b"); w.keep("a.go: b b"); w.add("2", nil, "a.go: b c") },
			"1 2", "kept 2", "",
		},
		"kept twice": {
			func(w *writer) { w.add("1", nil, "a.go: a b"); w.keep("a.go: a b"); w.keep("a.go: b b") },
			"1", "kept", "",
		},
		"kept, then taken back": {
			func(w *writer) {
				w.add("1", nil, "a.go: a b")
				w.keep("a.go: b b")
				w.undo("r", []string{"1"}, "a.go: b a")
			},
			"", "", "",
		},
		"what was kept before the rewind of something else stays kept": {
			func(w *writer) {
				w.add("1", nil, "a.go: a b")
				w.keep("a.go: b b")
				w.add("2", nil, "a.go: b c")
				w.undo("r", []string{"2"}, "a.go: c b")
			},
			"1", "kept", "",
		},
		"a newer version": {
			func(w *writer) {
				w.add("1", nil, "a.go: a b")
				w.add("2", func(r *change.Record) { r.Unreadable = true }, "a.go: b c")
			},
			"1", "1", "",
		},
		"a rewind of records that do not exist": {
			func(w *writer) {
				w.add("1", nil, "a.go: a b")
				w.undo("r", []string{"x"}, "a.go: b a")
				w.redo("q", "y")
			},
			"1", "1", "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWriter()
			c.fill(w)
			require.Equal(t, c.chain, chain(w.book.Chain("/w/a.go", nil)))
			require.Equal(t, c.pending, chain(w.book.Pending("/w/a.go")))
			require.Equal(t, c.other, chain(w.book.Chain("/w/b.go", nil)))
		})
	}
}

func TestRewindsThatCanBeRedone(t *testing.T) {
	t.Parallel()
	w := newWriter()
	w.add("1", nil, "a.go: a b", "b.go: - x")
	w.undo("r", []string{"1"}, "a.go: b a", "b.go: x -")
	w.add("2", nil, "a.go: a c")
	w.undo("s", []string{"2"}, "a.go: c a")
	w.redo("q", "r", "a.go: a b", "b.go: - x")
	rewinds, redoable := w.book.Rewinds()
	require.Len(t, rewinds, 2)
	require.Equal(t, "s", rewinds[0].ID, "the newest first")
	require.True(t, redoable(rewinds[0]))
	require.False(t, redoable(rewinds[1]))
	require.Equal(t, []string{"/w/a.go", "/w/b.go"}, w.book.AllPaths(nil))
	require.Nil(t, w.book.Record("none"))
}

func TestPathsOfRecordsStayWhereTheirRootIs(t *testing.T) {
	t.Parallel()
	root := change.RootURI(filepath.FromSlash("/w d"))
	require.Equal(t, "file:///w%20d", root)
	for path, want := range map[string]string{
		"a.go": "/w d/a.go", "x/../a.go": "/w d/a.go", "/etc/passwd": "/etc/passwd", "/etc/../x": "/x",
		"../a.go": "", "x/../../a.go": "", "": "", "a\x00b": "",
	} {
		require.Equal(t, filepath.FromSlash(want), change.AbsolutePath(root, path), path)
	}
	for _, root := range []string{"", "http://x/w", "file:relative", "%", "file://%zz"} {
		require.Empty(t, change.AbsolutePath(root, "a.go"), root)
	}
	require.Equal(t, "x/a.go", change.RelativePath(filepath.FromSlash("/w"), filepath.FromSlash("/w/x/a.go")))
	require.Equal(t, "/v/a.go", change.RelativePath(filepath.FromSlash("/w"), filepath.FromSlash("/v/a.go")))
}

func TestRecordsAreRead(t *testing.T) {
	t.Parallel()
	load := func(sha string) ([]byte, error) {
		switch sha {
		case "good":
			return json.Marshal([]change.Change{step("a.go: a b")})
		case "damaged":
			return []byte(`{`), nil
		}
		return nil, errors.New("missing")
	}
	for data, want := range map[string]string{
		`{"v":1,"tool":"edit","changes":[{"path":"a.go","before":{"kind":"absent"},"future":1}],"future":[]}`: "1 change",
		`{"v":1,"manifest":"good"}`:     "1 change",
		`{"v":1,"manifest":"damaged"}`:  "unreadable",
		`{"v":1,"manifest":"missing"}`:  "unreadable",
		`{"v":2,"tool":"edit"}`:         "unreadable",
		`{"v":2,"changes":"elsewhere"}`: "unreadable",
		`{"v":1,"changes":"elsewhere"}`: "error",
		`[]`:                            "error",
		``:                              "error",
	} {
		r, err := change.ParseRecord(json.RawMessage(data), load)
		got := "error"
		if err == nil {
			got = fmt.Sprintf("%d change", len(r.Changes))
			if r.Unreadable {
				got = "unreadable"
			}
		}
		require.Equal(t, want, got, data)
	}
	review, err := change.ParseReview(json.RawMessage(`{"v":2,"kept":[]}`))
	require.NoError(t, err)
	require.Nil(t, review, "nothing is known to be kept")
	_, err = change.ParseReview(json.RawMessage(`[]`))
	require.Error(t, err)
}

// FuzzBook: whatever a session file says, the book is made and answers.
func FuzzBook(f *testing.F) {
	f.Add(`{"v":1,"root":"file:///w","changes":[{"path":"a","before":{"kind":"absent"}}]}`, `{"v":1,"undoes":["0"],"except":["a"]}`, `{"v":1,"redoes":"1"}`)
	f.Add(`{"v":1,"void":"1"}`, `{"v":1,"undoes":["1"],"redoes":"1"}`, `{"v":1,"redoes":"2"}`)
	f.Fuzz(func(t *testing.T, a, b, c string) {
		book := change.NewBook()
		for i, data := range []string{a, b, c, a, b} {
			r, err := change.ParseRecord(json.RawMessage(data), func(string) ([]byte, error) { return nil, errors.New("none") })
			if err != nil {
				continue
			}
			r.ID, r.Seq = fmt.Sprint(i), i
			book.Add(r)
		}
		for _, p := range book.AllPaths(nil) {
			require.True(t, filepath.IsAbs(p))
			require.NotEmpty(t, book.Chain(p, nil))
			require.NotEmpty(t, book.Pending(p))
		}
		rewinds, redoable := book.Rewinds()
		for _, r := range rewinds {
			redoable(r)
		}
	})
}

// A session's records are added to a new book after each change, while others read the one before.
func TestRecordsAreInSeveralBooks(t *testing.T) {
	t.Parallel()
	w := newWriter()
	r := w.add("1", nil, "a: - a", "b: - b")
	var readers sync.WaitGroup
	for range 4 {
		readers.Go(func() {
			for range 100 {
				_, ok := r.Change("/w/b")
				assert.True(t, ok)
				assert.Len(t, r.Paths(), 2)
			}
		})
	}
	for range 100 {
		change.NewBook().Add(r)
	}
	readers.Wait()
}
