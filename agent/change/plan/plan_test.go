package plan_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/change"
	"github.com/xcsh-ls/xcsh-ls/agent/change/changetest"
	"github.com/xcsh-ls/xcsh-ls/agent/change/plan"
	"github.com/xcsh-ls/xcsh-ls/agent/change/wire"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

// back makes a plan that takes everything back.
func back(t *testing.T, s *changetest.Session, with ...func(*plan.Input)) *plan.Plan {
	t.Helper()
	in := s.W.Input(plan.Behind(s.Book(), -1))
	for _, f := range with {
		f(&in)
	}
	p, err := plan.Make(in)
	require.NoError(t, err)
	return p
}

const six = "a\nb\nc\nd\ne\nf\n"

// row is a case of the failure matrix: a change of the session, a later one of the user, and the result of undoing the first.
type row struct {
	before  string // of the file f, "-" for none
	session func(s *changetest.Session)
	user    func(w *changetest.World)
	action  string
	reason  string
	want    string // of f after the rewind
	text    string // in the sentence
}

func edit(content string) func(*changetest.Session) {
	return func(s *changetest.Session) { s.Edit("f", content) }
}

func write(content string) func(*changetest.World) {
	return func(w *changetest.World) { w.Write("f", content) }
}

func remove(w *changetest.World) { w.Remove("f") }

func nothing(*changetest.World) {}

// Proves: RW-02, RW-12 (a read-only file), RW-13, RW-14, RW-15, RW-16, RW-17, RW-18, RW-20, RW-23, RW-25, RW-26, RW-27, RW-28, RW-33, RW-42
func TestFailureMatrix(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]row{
		"2 did not happen":      {six, func(s *changetest.Session) { s.Edit("f", "x\n"); s.W.Write("f", six) }, nothing, wire.None, "", six, ""},
		"plain":                 {six, edit("A\nb\nc\nd\ne\nf\n"), nothing, wire.Restore, "", six, ""},
		"created":               {"-", edit("x\n"), nothing, wire.Remove, "", "-", ""},
		"deleted":               {six, func(s *changetest.Session) { s.Run(func(t changetest.Tree) { delete(t, changetest.Path("f")) }) }, nothing, wire.Create, "", six, ""},
		"13 missing":            {six, func(s *changetest.Session) { s.Edit("f", "x\n"); delete(s.W.Contents, change.Sum([]byte(six))) }, nothing, wire.Conflict, wire.Missing, "x\n", "content of the record is missing"},
		"14 large":              {six, large, nothing, wire.Conflict, wire.Large, "x\n", "5242880 bytes"},
		"15 binary":             {"a\x00b", edit("a\x00c"), write("a\x00d"), wire.Conflict, wire.Binary, "a\x00d", "not text"},
		"binary restored":       {"a\x00b", edit("a\x00c"), nothing, wire.Restore, "", "a\x00b", ""},
		"16 other lines":        {six, edit("A\nb\nc\nd\ne\nf\n"), write("A\nb\nc\nd\ne\nF\n"), wire.Merge, "", "a\nb\nc\nd\ne\nF\n", ""},
		"17 the same lines":     {six, edit("a\nB\nc\nd\ne\nf\n"), write("a\nX\nc\nd\ne\nf\n"), wire.Conflict, wire.Overlaps, "a\nX\nc\nd\ne\nf\n", "line 2"},
		"18 user deleted it":    {six, edit("x\n"), remove, wire.Conflict, wire.Kind, "-", "removed or renamed"},
		"18 before is absent":   {"-", edit("x\n"), remove, wire.None, "", "-", ""},
		"20 lines in a new one": {"-", edit("x\ny\n"), write("x\ny\nmine\n"), wire.Conflict, wire.Overlaps, "x\ny\nmine\n", "line 3"},
		"23 link": {
			"-", func(s *changetest.Session) {
				s.W.Tree[changetest.Path("f")] = changetest.File{Content: "one", Link: true}
				s.Run(func(t changetest.Tree) { t[changetest.Path("f")] = changetest.File{Content: "two", Link: true} })
			}, nothing, wire.Restore, "", "one", "",
		},
		"23 link changed by the user": {
			"-", func(s *changetest.Session) {
				s.Run(func(t changetest.Tree) { t[changetest.Path("f")] = changetest.File{Content: "two", Link: true} })
			}, func(w *changetest.World) {
				w.Tree[changetest.Path("f")] = changetest.File{Content: "three", Link: true}
			},
			wire.Conflict, wire.Overlaps, "three", "link",
		},
		"file became a link": {
			six, edit("x\n"), func(w *changetest.World) {
				w.Tree[changetest.Path("f")] = changetest.File{Content: "elsewhere", Link: true}
			},
			wire.Conflict, wire.Kind, "elsewhere", "The path is a link now",
		},
		"25 executable bit":               {six, chmod(0o755), nothing, wire.Restore, "", six, ""},
		"25 executable bit, user's lines": {six, chmod(0o755), func(w *changetest.World) { setText(w, "x\n") }, wire.Merge, "", "x\n", ""},
		"26 line ends":                    {six, edit("A\nb\nc\nd\ne\nf\n"), write("A\r\nb\r\nc\r\nd\r\ne\r\nf\r\n"), wire.Merge, "", "a\r\nb\r\nc\r\nd\r\ne\r\nf\r\n", ""},
		"27 byte order mark":              {"\ufeffa\nb\nc\n", edit("\ufeffa\nb\nC\n"), write("a\nb\nC\n"), wire.Merge, "", "a\nb\nc\n", ""},
		"28 other encoding":               {"a\nb\nc\n", edit("a\nb\nC\n"), write("\xe9\nb\nC\n"), wire.Conflict, wire.Encoding, "\xe9\nb\nC\n", "UTF-8"},
		"28 other encoding, whole":        {"\xe9\n", edit("\xe8\n"), nothing, wire.Restore, "", "\xe9\n", ""},
		"33 another session": {six, func(s *changetest.Session) {
			s.Edit("f", "A\nb\nc\nd\ne\nf\n")
			(&changetest.Session{W: s.W}).Edit("f", "A\nb\nc\nD\ne\nf\n")
		}, nothing, wire.Merge, "", "a\nb\nc\nD\ne\nf\n", ""},
		"42 formatter between": {six, func(s *changetest.Session) {
			s.Edit("f", "A\nb\nc\nd\ne\nf\n")
			s.W.Write("f", "A\nb\nc\nd\n e\nf\n")
			s.Edit("f", "A\nb\nC\nd\n e\nf\n")
		}, nothing, wire.Merge, "", "a\nb\nc\nd\n e\nf\n", ""},
		"made again": {six, func(s *changetest.Session) { s.Run(func(t changetest.Tree) { delete(t, changetest.Path("f")) }) }, write("x\n"), wire.Conflict, wire.Overlaps, "x\n", "created again"},
		"read-only since": {
			six, edit("x\n"), func(w *changetest.World) { w.Tree[changetest.Path("f")] = changetest.File{Content: "x\n", Mode: 0o444} },
			wire.Conflict, wire.ReadOnly, "x\n", "read-only",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, s := changetest.New()
			if c.before != "-" {
				w.Write("f", c.before)
			}
			c.session(s)
			c.user(w)
			p := back(t, s)
			require.Len(t, p.Paths, 1)
			got := p.Paths[0]
			require.Equal(t, c.action, got.Action, "%s: %s", got.Reason, got.Text)
			require.Equal(t, c.reason, got.Reason)
			require.Contains(t, got.Text, c.text)
			require.Equal(t, c.action == wire.Conflict, got.Text != "")
			require.Equal(t, c.action == wire.Conflict, p.Token("leaf") == "")
			if p.Conflicts == 0 {
				s.Apply(p)
			}
			require.Equal(t, c.want, w.Text("f"))
			if p.Conflicts == 0 { // and forward again
				redo, err := plan.Redo(s.Book(), "")
				if c.action == wire.None {
					require.Error(t, err)
					return
				}
				require.NoError(t, err)
				q, err := plan.Make(w.Input(redo))
				require.NoError(t, err)
				require.Zero(t, q.Conflicts)
				require.Equal(t, q.Paths[0].Want, got.Now.State)
			}
		})
	}
}

func large(s *changetest.Session) {
	s.Edit("f", "x\n")
	r, _ := s.Entries[0].(*change.Record)
	r.Changes[0].Before = change.State{Kind: change.Large, SHA256: "00", Mode: 0o644, Size: 5 << 20}
}

func chmod(mode uint32) func(*changetest.Session) {
	return func(s *changetest.Session) {
		s.Run(func(t changetest.Tree) {
			f := t[changetest.Path("f")]
			f.Mode = mode
			t[changetest.Path("f")] = f
		})
	}
}

func setText(w *changetest.World, content string) {
	f := w.Tree[changetest.Path("f")]
	f.Content = content
	w.Tree[changetest.Path("f")] = f
}

func TestARewindTwiceDoesNothing(t *testing.T) {
	t.Parallel()
	w, s := changetest.New()
	w.Write("f", six)
	s.Edit("f", "A\nb\nc\nd\ne\nf\n")
	s.Edit("f", "A\nb\nC\nd\ne\nf\n")
	fork := s.Fork()
	s.Apply(back(t, s))
	require.Equal(t, six, w.Text("f"))
	p := back(t, fork)
	require.Zero(t, p.Conflicts)
	require.Equal(t, wire.None, p.Paths[0].Action)
}

func TestWhatIsTakenBackSaysSo(t *testing.T) {
	t.Parallel()
	w, s := changetest.New()
	w.Write("f", six)
	r := s.Edit("f", "x\n")
	rewind := s.Apply(back(t, s))
	_, err := plan.Exactly(s.Book(), []string{r.ID})
	require.True(t, fault.Is(err, fault.NotFound))
	require.ErrorContains(t, err, "already undone")
	_, err = plan.OfCall(s.Book(), r.ToolCallID)
	require.ErrorContains(t, err, "already undone")
	_, err = plan.Exactly(s.Book(), []string{"none"})
	require.ErrorContains(t, err, "no record none")

	redo, err := plan.Exactly(s.Book(), []string{rewind.ID}) // taking a rewind back is a redo
	require.NoError(t, err)
	require.Equal(t, rewind.ID, redo.Redoes)
	p, err := plan.Make(w.Input(redo))
	require.NoError(t, err)
	s.Apply(p)
	require.Equal(t, "x\n", w.Text("f"))
	_, err = plan.Redo(s.Book(), rewind.ID)
	require.ErrorContains(t, err, "already redone")
	_, err = plan.Redo(s.Book(), "")
	require.ErrorContains(t, err, "no rewind")
}

func TestOneRecordInTheMiddle(t *testing.T) {
	t.Parallel()
	w, s := changetest.New()
	w.Write("f", six)
	first := s.Edit("f", "A\nb\nc\nd\ne\nf\n")
	s.Edit("f", "A\nb\nc\nd\ne\nF\n")
	sel, err := plan.Exactly(s.Book(), []string{first.ID})
	require.NoError(t, err)
	p, err := plan.Make(w.Input(sel))
	require.NoError(t, err)
	require.Equal(t, wire.Merge, p.Paths[0].Action)
	require.Equal(t, []wire.Range{{Start: 6, End: 6}}, p.Paths[0].Yours)
	require.Equal(t, []string{first.ID}, p.Paths[0].By)
	require.Equal(t, 1, p.Paths[0].Added)
	require.Equal(t, 1, p.Paths[0].Removed)
	s.Apply(p)
	require.Equal(t, "a\nb\nc\nd\ne\nF\n", w.Text("f"))
}

// Proves: RW-19
func TestARenamedFileIsNamed(t *testing.T) {
	t.Parallel()
	w, s := changetest.New()
	w.Write("f", six)
	s.Edit("f", "x\n")
	w.Remove("f")
	w.Write("g", "x\n")
	p := back(t, s)
	require.Equal(t, wire.Kind, p.Paths[0].Reason)
	require.Equal(t, changetest.Path("g"), p.Paths[0].Hint)
	require.Contains(t, p.Paths[0].Text, "g has its content")
}

// Proves: RW-13 (except)
func TestExceptLeavesAPathOut(t *testing.T) {
	t.Parallel()
	w, s := changetest.New()
	w.Write("f", six)
	w.Write("g", six)
	s.Run(func(t changetest.Tree) {
		t[changetest.Path("f")] = changetest.File{Content: "f\n", Mode: 0o644}
		t[changetest.Path("g")] = changetest.File{Content: "g\n", Mode: 0o644}
	})
	w.Write("g", "mine\n")
	require.Equal(t, 1, back(t, s).Conflicts)
	p := back(t, s, func(in *plan.Input) { in.Except = []string{changetest.Path("g")} })
	require.Zero(t, p.Conflicts)
	s.Apply(p)
	require.Equal(t, six, w.Text("f"))
	require.Equal(t, "mine\n", w.Text("g"))
	require.Len(t, s.Book().Chain(changetest.Path("g"), nil), 1, "the record is active there")
	require.Empty(t, s.Book().Chain(changetest.Path("f"), nil))
}

// Proves: RW-36, RW-37, RW-38
func TestHeadMoved(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		git    change.Git
		branch string
		same   bool
		moved  bool
	}{
		"the command committed a change": {change.Git{Head: "1", HeadAfter: "2", Branch: "main"}, "main", false, true},
		"36 a commit alone":              {change.Git{Head: "1", HeadAfter: "2", Branch: "main"}, "main", true, false},
		"37 another branch now":          {change.Git{Head: "1", HeadAfter: "1", Branch: "main"}, "other", false, true},
		"38 committed by the user":       {change.Git{Head: "1", HeadAfter: "1", Branch: "main"}, "main", false, false},
		"a detached HEAD":                {change.Git{Head: "1", HeadAfter: "1"}, "main", false, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, s := changetest.New()
			w.Write("f", six)
			s.Edit("f", "x\n").Git = &c.git
			if c.same {
				w.Write("f", six)
			}
			p := back(t, s, func(in *plan.Input) { in.Head, in.Branch = "3", c.branch })
			require.Equal(t, c.moved, p.HeadMoved)
			require.Equal(t, c.git.Head != c.git.HeadAfter, len(p.Commits) == 1)
			if c.moved {
				require.Equal(t, wire.HeadMoved, p.Paths[0].Reason)
				require.NotEmpty(t, p.Paths[0].Text)
				p = back(t, s, func(in *plan.Input) { in.Branch, in.AcrossHead = c.branch, true })
			}
			require.Zero(t, p.Conflicts)
			require.Equal(t, c.moved, p.HeadMoved)
		})
	}
}

func TestAlsoEditor(t *testing.T) {
	t.Parallel()
	w, s := changetest.New()
	w.Write("f", six)
	s.Edit("f", "x\n").AlsoEditor = []string{"f"}
	p := back(t, s)
	require.Equal(t, wire.AlsoEditor, p.Paths[0].Reason)
	p = back(t, s, func(in *plan.Input) { in.Named = []string{changetest.Path("f")} })
	require.Zero(t, p.Conflicts)
}

func TestACommandThatDidNotEnd(t *testing.T) {
	t.Parallel()
	w, s := changetest.New()
	w.Write("f", six)
	r := s.Edit("f", "x\n")
	r.Changes[0].After = nil
	require.Equal(t, wire.AlsoEditor, back(t, s).Paths[0].Reason)
	p := back(t, s, func(in *plan.Input) { in.Named = []string{changetest.Path("f")} })
	require.Equal(t, wire.Restore, p.Paths[0].Action)
	w.Write("f", six)
	require.Equal(t, wire.None, back(t, s).Paths[0].Action)
}

// Proves: RW-45
func TestRecordsOfANewerVersionStay(t *testing.T) {
	t.Parallel()
	w, s := changetest.New()
	w.Write("f", six)
	s.Edit("f", "x\n")
	newer := s.Append(&change.Record{Unreadable: true})
	p := back(t, s)
	require.Equal(t, []wire.Limit{{Kind: plan.LimitUnreadable, Records: []string{newer.ID}, Text: p.Limits[0].Text}}, p.Limits)
	_, err := plan.Exactly(s.Book(), []string{newer.ID})
	require.True(t, fault.Is(err, fault.NewerVersion))
}

func TestWhatIsAtAPathDecides(t *testing.T) {
	t.Parallel()
	f := changetest.Path("f")
	for name, c := range map[string]struct {
		now    func(*plan.Now)
		reason string
	}{
		"24 a link on the way":        {func(n *plan.Now) { n.Real = filepath.FromSlash("/etc/f") }, wire.Kind},
		"12 a read-only directory":    {func(n *plan.Now) { n.Block, n.Why = wire.ReadOnly, "no" }, wire.ReadOnly},
		"unreadable":                  {func(n *plan.Now) { n.Unknown, n.Block, n.Why = true, wire.Denied, "no" }, wire.Denied},
		"a file on the way":           {func(n *plan.Now) { n.Parent = changetest.Path("d"); n.State = change.State{Kind: change.Absent} }, wire.Kind},
		"a pipe":                      {func(n *plan.Now) { n.State = change.State{Kind: change.Special}; n.Content = nil }, wire.Kind},
		"open and the same":           {func(n *plan.Now) { n.Document, n.Version, n.Text = true, 3, "x\n" }, ""},
		"an unsaved text, made by us": {func(n *plan.Now) { n.Document, n.Dirty = true, true }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, s := changetest.New()
			w.Write("f", six)
			s.Edit("f", "x\n")
			plain := back(t, s).Token("leaf")
			w.Now[f] = c.now
			p := back(t, s)
			require.Equal(t, c.reason, p.Paths[0].Reason, p.Paths[0].Text)
			if c.reason == "" {
				require.Equal(t, plain, p.Token("leaf"), "a file that is opened is no change")
				require.NotEqual(t, plain, p.Token("other"))
			}
		})
	}
}

// Proves: RW-32
func TestTwoNamesOfOneFile(t *testing.T) {
	t.Parallel()
	w, s := changetest.New()
	w.Write("F", six)
	s.Edit("F", "A\nb\nc\nd\ne\nf\n")
	s.Append(&change.Record{Changes: []change.Change{{Path: "f", Before: w.State(changetest.Path("F")), After: func() *change.State {
		w.Write("F", "A\nb\nc\nd\ne\nF\n")
		after := w.State(changetest.Path("F"))
		return &after
	}()}}})
	w.Now[changetest.Path("F")] = func(n *plan.Now) { n.Same = "1:2" }
	w.Now[changetest.Path("f")] = func(n *plan.Now) {
		n.Same, n.State, n.Content = "1:2", w.State(changetest.Path("F")), []byte(w.Text("F"))
	}
	p := back(t, s)
	require.Len(t, p.Paths, 1)
	require.Equal(t, wire.Restore, p.Paths[0].Action)
	require.Equal(t, change.Sum([]byte(six)), p.Paths[0].Want.SHA256)
	require.Len(t, p.Paths[0].By, 2)
}

// Proves: RW-22
func TestAFileThatBecameADirectory(t *testing.T) {
	t.Parallel()
	w, s := changetest.New()
	w.Write("d", six)
	s.Run(func(t changetest.Tree) {
		t[changetest.Path("d")] = changetest.File{Dir: true}
		t[changetest.Path("d/x")] = changetest.File{Content: "x\n", Mode: 0o644}
	})
	p := back(t, s)
	require.Zero(t, p.Conflicts, "%+v", p.Paths)
	require.Equal(t, wire.Restore, p.Paths[0].Action)
	require.Equal(t, wire.Remove, p.Paths[1].Action)
	w.Write("d/mine", "y\n")
	p = back(t, s)
	require.Equal(t, 1, p.Conflicts)
	require.Equal(t, wire.Kind, p.Paths[0].Reason)
	require.Contains(t, p.Paths[0].Text, "mine")
}

// Proves: RW-22
func TestADirectoryThatBecameAFile(t *testing.T) {
	t.Parallel()
	w, s := changetest.New()
	w.Tree[changetest.Path("d")] = changetest.File{Dir: true}
	w.Write("d/x", six)
	s.Run(func(t changetest.Tree) {
		delete(t, changetest.Path("d/x"))
		t[changetest.Path("d")] = changetest.File{Content: "x\n", Mode: 0o644}
	})
	p := back(t, s)
	require.Zero(t, p.Conflicts, "%+v", p.Paths)
	require.Equal(t, wire.Remove, p.Paths[0].Action)
	require.Equal(t, wire.Create, p.Paths[1].Action)
	w.Write("d", "mine\n")
	p = back(t, s)
	require.Equal(t, 2, p.Conflicts)
}

// Proves: RW-13 (damaged)
func TestDamagedContent(t *testing.T) {
	t.Parallel()
	w, s := changetest.New()
	w.Write("f", six)
	s.Edit("f", "x\n")
	p := back(t, s, func(in *plan.Input) { in.Content = func(string) ([]byte, error) { return nil, errors.New("damaged") } })
	require.Equal(t, wire.Damaged, p.Paths[0].Reason)
}

func TestPlacesAreLinesOfThePresentText(t *testing.T) {
	t.Parallel()
	w, s := changetest.New()
	w.Write("f", six)
	s.Edit("f", "a\nB\nc\nd\ne\nf\n")
	w.Write("f", "a\nX\nc\nd\ne\nf\n")         // the user
	s.Edit("f", "1\n2\n3\na\nX\nc\nd\ne\nf\n") // moves it down
	p := back(t, s)
	require.Equal(t, wire.Overlaps, p.Paths[0].Reason)
	require.Equal(t, []wire.Range{{Start: 5, End: 5}}, p.Paths[0].Places)
}

func TestManyPathsAreFast(t *testing.T) {
	t.Parallel()
	_, s := changetest.New()
	s.Run(func(t changetest.Tree) {
		for i := range 5000 {
			t[changetest.Path(strings.Repeat("d/", i%7)+string(rune('a'+i%26))+strings.Repeat("x", i/26))] = changetest.File{Content: "x\n", Mode: 0o644}
		}
	})
	p := back(t, s)
	require.Zero(t, p.Conflicts)
	require.Len(t, p.Changes(), len(s.W.Tree))
}

func TestARecordCantMakeASetuidFile(t *testing.T) {
	t.Parallel()
	w, s := changetest.New()
	w.Write("f", six)
	r := s.Run(func(tree changetest.Tree) { delete(tree, changetest.Path("f")) })
	r.Changes[0].Before.Mode = 0o4755
	p := back(t, s)
	require.Zero(t, p.Conflicts)
	require.Equal(t, uint32(0o755), p.Paths[0].Want.Mode)
}
