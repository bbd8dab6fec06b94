package review_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/change"
	"github.com/xcsh-ls/xcsh-ls/agent/change/changetest"
	"github.com/xcsh-ls/xcsh-ls/agent/change/plan"
	"github.com/xcsh-ls/xcsh-ls/agent/change/review"
	"github.com/xcsh-ls/xcsh-ls/agent/change/wire"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

const ten = "a\nb\nc\nd\ne\nf\ng\nh\ni\nj\n"

func input(s *changetest.Session) *review.Input {
	return &review.Input{Book: s.Book(), Plan: s.W.Input(plan.Selection{}), Session: "s1"}
}

// files returns the files of the session with their hunks.
func files(t *testing.T, s *changetest.Session, q review.Scope) []wire.File {
	t.Helper()
	q.Hunks = true
	list, totals, err := review.Files(input(s), q)
	require.NoError(t, err)
	sum := wire.Totals{Files: len(list)}
	for _, f := range list {
		sum.Added, sum.Removed, sum.Pending = sum.Added+f.Added, sum.Removed+f.Removed, sum.Pending+f.Pending
	}
	require.Equal(t, sum, totals)
	q.Hunks = false
	brief := q
	brief.Sums = true
	_, sums, err := review.Files(input(s), brief)
	require.NoError(t, err)
	require.Equal(t, totals, sums, "totals need no plan")
	if q.Path == "" && !q.Pending {
		counted, err := review.Sum(input(s), q.Keep)
		require.NoError(t, err)
		sum.Pending = 0
		require.Equal(t, sum, counted)
	}
	_, short, err := review.Files(input(s), q)
	require.NoError(t, err)
	require.Equal(t, totals, short, "totals do not depend on what is asked for with them")
	return list
}

func keep(t *testing.T, s *changetest.Session, args wire.KeepArgs) review.Kept {
	t.Helper()
	k, err := review.Keep(input(s), args, s.W.Put)
	require.NoError(t, err)
	s.Keep(k.Pairs)
	return k
}

func undo(t *testing.T, s *changetest.Session, refs ...wire.HunkRef) *change.Record {
	t.Helper()
	p, err := review.Undo(input(s), refs, nil)
	require.NoError(t, err)
	require.Zero(t, p.Conflicts, "%+v", p.Paths)
	return s.Apply(p)
}

func ref(f wire.File, i int) wire.HunkRef { return wire.HunkRef{Path: f.Path, Hunk: f.Hunks[i].Hunk} }

func twoHunks() *changetest.Session {
	w, s := changetest.New()
	w.Write("f", ten)
	s.Edit("f", "A\nb\nc\nd\ne\nf\ng\nh\ni\nJ\nk\n")
	return s
}

func TestPendingHunks(t *testing.T) {
	t.Parallel()
	s := twoHunks()
	f := files(t, s, review.Scope{})[0]
	require.Equal(t, wire.Modified, f.Status)
	require.Equal(t, 2, f.Pending)
	require.Equal(t, 3, f.Added)
	require.Equal(t, 2, f.Removed)
	require.True(t, f.Rewindable)
	require.Contains(t, f.Base, "xcsh-change:/p/f?session=s1&base="+change.Sum([]byte(ten)))
	h := f.Hunks[1]
	require.Equal(t, "@@ -10 +10,2 @@\n-j\n+J\n+k\n", h.Text)
	require.Equal(t, []int{10, 1, 10, 2}, []int{h.OldStart, h.OldLines, h.NewStart, h.NewLines})
	require.Regexp(t, "^[0-9a-f]{12}$", h.Hunk)
	require.Equal(t, "r1", h.Record)
	require.Equal(t, "call-r1", h.ToolCallID)
	require.Equal(t, "pending", h.State)

	s.W.Write("f", "mine\n"+s.W.Text("f")) // the user's lines do not show
	g := files(t, s, review.Scope{})[0]
	require.Equal(t, 2, g.Pending+g.Kept)
	require.Equal(t, g.Hunks[0].Hunk != f.Hunks[0].Hunk, g.Hunks[0].Mixed)
	require.Equal(t, h.Hunk, g.Hunks[1].Hunk, "the id of a hunk does not depend on others")
	require.Equal(t, 11, g.Hunks[1].NewStart)
}

func TestAMixedHunkCanBeKeptAndTakenBack(t *testing.T) {
	t.Parallel()
	w, s := changetest.New()
	w.Write("f", ten)
	s.Edit("f", "a\nB\nc\nd\ne\nf\ng\nh\ni\nj\n")
	w.Write("f", "a\nBx\nc\nd\ne\nf\ng\nh\ni\nj\n")
	f := files(t, s, review.Scope{})[0]
	require.Len(t, f.Hunks, 1)
	require.True(t, f.Hunks[0].Mixed)
	require.False(t, f.Rewindable)
	require.Equal(t, wire.Overlaps, f.Reason)
	p, err := review.Undo(input(s), nil, []string{f.Path})
	require.NoError(t, err)
	require.Equal(t, 1, p.Conflicts, "a whole file with changes of the user is not undone")
	fork := s.Fork()
	keep(t, fork, wire.KeepArgs{Hunks: []wire.HunkRef{ref(f, 0)}})
	require.Empty(t, files(t, fork, review.Scope{Pending: true}))
	undo(t, s, ref(f, 0))
	require.Equal(t, ten, w.Text("f"))
}

func TestKeepAHunk(t *testing.T) {
	t.Parallel()
	s := twoHunks()
	f := files(t, s, review.Scope{})[0]
	k := keep(t, s, wire.KeepArgs{Hunks: []wire.HunkRef{ref(f, 0)}})
	require.Equal(t, 1, k.Hunks)
	require.Equal(t, 1, k.Left)
	g := files(t, s, review.Scope{})[0]
	require.Equal(t, 1, g.Pending)
	require.Equal(t, 1, g.Kept)
	require.Equal(t, "kept", g.Hunks[0].State)
	require.Equal(t, f.Hunks[1].Hunk, g.Hunks[1].Hunk)
	require.Len(t, files(t, s, review.Scope{Pending: true})[0].Hunks, 1)

	_, err := review.Keep(input(s), wire.KeepArgs{Hunks: []wire.HunkRef{ref(f, 0)}}, s.W.Put)
	require.True(t, fault.Is(err, fault.Stale), "it is kept already")

	undo(t, s, ref(g, 1))
	require.Equal(t, "A\nb\nc\nd\ne\nf\ng\nh\ni\nj\n", s.W.Text("f"))
	require.Empty(t, files(t, s, review.Scope{Pending: true}))
}

func TestNothingIsPendingAfterAKeepAndARewindOfAll(t *testing.T) {
	t.Parallel()
	s := twoHunks()
	f := files(t, s, review.Scope{})[0]
	keep(t, s, wire.KeepArgs{Hunks: []wire.HunkRef{ref(f, 0)}})
	p, err := plan.Make(s.W.Input(plan.Behind(s.Book(), -1)))
	require.NoError(t, err)
	require.Zero(t, p.Conflicts)
	s.Apply(p)
	require.Equal(t, ten, s.W.Text("f"))
	require.Empty(t, files(t, s, review.Scope{}))
	n, err := input(s).Pending()
	require.NoError(t, err)
	require.Zero(t, n)

	redo, err := plan.Redo(s.Book(), "")
	require.NoError(t, err)
	p, err = plan.Make(s.W.Input(redo))
	require.NoError(t, err)
	s.Apply(p)
	list := files(t, s, review.Scope{Pending: true})
	require.Len(t, list, 1)
	require.Equal(t, f.Hunks[1].Hunk, list[0].Hunks[0].Hunk, "hunks that were not kept are pending again")
	require.Len(t, list[0].Hunks, 1)
}

func TestKeepAllAndFiles(t *testing.T) {
	t.Parallel()
	w, s := changetest.New()
	w.Write("f", ten)
	w.Write("bin", "a\x00")
	s.Run(func(tree changetest.Tree) {
		tree[changetest.Path("f")] = changetest.File{Content: "x\n", Mode: 0o644}
		tree[changetest.Path("bin")] = changetest.File{Content: "b\x00", Mode: 0o644}
		tree[changetest.Path("new")] = changetest.File{Content: "n\n", Mode: 0o755}
		tree[changetest.Path("link")] = changetest.File{Content: "f", Link: true}
	})
	list := files(t, s, review.Scope{})
	status := map[string]string{}
	for _, f := range list {
		status[f.Path] = f.Status
		require.Equal(t, 1, f.Pending)
	}
	require.Equal(t, map[string]string{
		changetest.Path("f"): wire.Modified, changetest.Path("bin"): wire.Modified, changetest.Path("new"): wire.Added, changetest.Path("link"): wire.Added,
	}, status)
	require.True(t, list[0].Binary)
	keep(t, s, wire.KeepArgs{Paths: []string{changetest.Path("bin")}})
	require.Len(t, files(t, s, review.Scope{Pending: true}), 3)
	w.Write("f", "x\nmine\n")
	k := keep(t, s, wire.KeepArgs{All: true})
	require.Zero(t, k.Left)
	require.Empty(t, files(t, s, review.Scope{Pending: true}))
	require.Len(t, files(t, s, review.Scope{}), 4, "kept changes can still be undone")
	w.Write("f", "other\n")
	require.Empty(t, files(t, s, review.Scope{Pending: true}), "the user's edits are not pending")
	s.Edit("f", "other\nmodel\n")
	require.Equal(t, 1, files(t, s, review.Scope{Pending: true})[0].Pending)
}

func TestARenameIsOneFile(t *testing.T) {
	t.Parallel()
	w, s := changetest.New()
	w.Write("a", ten)
	s.Run(func(tree changetest.Tree) {
		tree[changetest.Path("b")] = tree[changetest.Path("a")]
		delete(tree, changetest.Path("a"))
	})
	f := files(t, s, review.Scope{})
	require.Len(t, f, 1)
	require.Equal(t, changetest.Path("a"), f[0].From)
	require.Equal(t, wire.Renamed, f[0].Status)
	require.Equal(t, 1, f[0].Pending, "the name itself")
	s.Edit("b", ten+"k\nl\n")
	f = files(t, s, review.Scope{})
	require.Len(t, f, 1)
	require.Equal(t, 2, f[0].Added)
	require.Zero(t, f[0].Removed)
	require.Equal(t, 1, f[0].Pending)

	fork := s.Fork()
	undo(t, s, ref(f[0], 0))
	require.Equal(t, ten, w.Text("b"), "the hunk is undone, the name stays")
	require.Equal(t, 1, files(t, s, review.Scope{})[0].Pending)
	p, err := review.Undo(input(s), nil, []string{f[0].Path})
	require.NoError(t, err)
	require.Zero(t, p.Conflicts)
	s.Apply(p)
	require.Equal(t, ten, w.Text("a"))
	require.Equal(t, "-", w.Text("b"))
	require.Empty(t, files(t, s, review.Scope{Pending: true}))

	w.Remove("a")
	w.Write("b", ten+"k\nl\n")
	keep(t, fork, wire.KeepArgs{Paths: []string{changetest.Path("a")}}) // its old name means it, too
	require.Empty(t, files(t, fork, review.Scope{Pending: true}))
}

// Proves: RW-25 (the status)
func TestModeAndDeletion(t *testing.T) {
	t.Parallel()
	w, s := changetest.New()
	w.Write("f", ten)
	w.Write("g", "x\n")
	s.Run(func(tree changetest.Tree) {
		tree[changetest.Path("f")] = changetest.File{Content: ten, Mode: 0o755}
		delete(tree, changetest.Path("g"))
	})
	list := files(t, s, review.Scope{})
	require.Equal(t, []string{wire.Mode, wire.Deleted}, []string{list[0].Status, list[1].Status})
	require.NotNil(t, list[0].Hunks)
	require.Len(t, list[1].Hunks, 1)
	undo(t, s, ref(list[1], 0), wire.HunkRef{Path: list[0].Path})
	require.Equal(t, uint32(0o644), w.Tree[changetest.Path("f")].Mode)
	require.Equal(t, "x\n", w.Text("g"))
	require.Empty(t, files(t, s, review.Scope{}))
}

func TestACommitKeeps(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		then, now string // HEAD at the last command, and now
		head      string
		pending   int
	}{
		"all is committed":           {"1", "2", "A\nb\nc\nd\ne\nf\ng\nh\ni\nJ\nk\n", 0},
		"one hunk is committed":      {"1", "2", "A\nb\nc\nd\ne\nf\ng\nh\ni\nj\n", 1},
		"nothing is committed":       {"1", "2", ten, 2},
		"HEAD had it before":         {"2", "2", "A\nb\nc\nd\ne\nf\ng\nh\ni\nJ\nk\n", 2},
		"the commit has more":        {"1", "2", "A\nb\nc\nd\ne\nf\ng\nh\ni\nJ\nk\nl\n", 1},
		"nothing is known of before": {"", "2", "A\nb\nc\nd\ne\nf\ng\nh\ni\nJ\nk\n", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, s := changetest.New()
			w.Write("f", ten)
			if c.then != "" {
				s.Append(&change.Record{Git: &change.Git{Head: c.then, HeadAfter: c.then}})
			}
			s.Edit("f", "A\nb\nc\nd\ne\nf\ng\nh\ni\nJ\nk\n")
			in := input(s)
			in.Plan.Head = c.now
			in.AtHead = func(string) ([]byte, bool) { return []byte(c.head), true }
			n, err := in.Pending()
			require.NoError(t, err)
			require.Equal(t, c.pending, n)
			side, err := review.Side(in, wire.SideQuery{Path: changetest.Path("f"), Side: "base"})
			require.NoError(t, err)
			if c.pending == 0 {
				require.Equal(t, w.Text("f"), *side.Text)
			}
			if c.pending == 1 {
				_, err := review.Undo(in, nil, []string{changetest.Path("f")})
				require.NoError(t, err)
			}
		})
	}
}

func TestADeletedFileThatWasNeverCommittedStaysPending(t *testing.T) {
	t.Parallel()
	w, s := changetest.New()
	w.Write("f", ten)
	s.Run(func(tree changetest.Tree) { delete(tree, changetest.Path("f")) })
	in := input(s)
	in.Plan.Head = "2"
	in.AtHead = func(string) ([]byte, bool) { return nil, true }
	n, err := in.Pending()
	require.NoError(t, err)
	require.Equal(t, 1, n)
}

func TestSides(t *testing.T) {
	t.Parallel()
	w, s := changetest.New()
	w.Write("f", ten)
	first := s.Edit("f", "x\n")
	s.Edit("f", "y\n")
	side := func(q wire.SideQuery) string {
		q.Path = changetest.Path("f")
		got, err := review.Side(input(s), q)
		require.NoError(t, err)
		return *got.Text
	}
	require.Equal(t, ten, side(wire.SideQuery{Side: "base"}))
	require.Equal(t, ten, side(wire.SideQuery{Side: "before"}))
	require.Equal(t, "y\n", side(wire.SideQuery{Side: "after"}))
	require.Equal(t, "x\n", side(wire.SideQuery{Side: "after", Record: first.ID}))
	w.Write("secret", "x")
	for _, q := range []wire.SideQuery{{Path: changetest.Path("secret"), Side: "base"}, {Path: "/p/none", Side: "after"}, {Path: changetest.Path("f"), Side: "after", Record: "none"}} {
		_, err := review.Side(input(s), q)
		require.True(t, fault.Is(err, fault.NotFound))
	}
	_, err := review.Side(input(s), wire.SideQuery{Path: changetest.Path("f"), Side: "left"})
	require.True(t, fault.Is(err, fault.InvalidArgument))
}

func TestScopeOfARecord(t *testing.T) {
	t.Parallel()
	w, s := changetest.New()
	w.Write("f", ten)
	s.Edit("f", "A\nb\nc\nd\ne\nf\ng\nh\ni\nj\n")
	second := s.Edit("f", "A\nb\nc\nd\ne\nf\ng\nh\ni\nJ\n")
	list := files(t, s, review.Scope{Keep: func(r *change.Record) bool { return r.ID == second.ID }})
	require.Len(t, list, 1)
	require.Len(t, list[0].Hunks, 1)
	require.Equal(t, 10, list[0].Hunks[0].NewStart)
	require.Equal(t, second.ID, list[0].Hunks[0].Record)
	all := files(t, s, review.Scope{})
	require.Equal(t, "r1", all[0].Hunks[0].Record)
	require.Equal(t, second.ID, all[0].Hunks[1].Record)
	require.Equal(t, all[0].Hunks[1].Hunk, list[0].Hunks[0].Hunk)
}

func TestDocumentAndPatch(t *testing.T) {
	t.Parallel()
	s := twoHunks()
	s.Edit("new (1).txt", "n")
	s.Run(func(tree changetest.Tree) {
		tree[changetest.Path("evil\n# x<b>")] = changetest.File{Content: "```\n<script>\n", Mode: 0o644}
	})
	list, totals, err := review.Files(input(s), review.Scope{Hunks: true})
	require.NoError(t, err)
	doc := review.Document(wire.Changes{Files: list, Totals: totals}, changetest.Root)
	require.Contains(t, doc, "3 files, +6 −2, 4 to review")
	require.Contains(t, doc, "](file:///p/f#L10)")
	require.Contains(t, doc, "%281%29")
	require.NotContains(t, doc, "\n# x")
	require.NotContains(t, doc, "<b>")

	text, err := review.Patch(input(s), review.Scope{}, changetest.Root)
	require.NoError(t, err)
	require.Contains(t, text, `diff --git a/f b/f
--- a/f
+++ b/f
@@ -1,4 +1,4 @@
-a
+A
 b
 c
 d
@@ -7,4 +7,5 @@
 g
 h
 i
-j
+J
+k
`)
	require.Contains(t, text, "diff --git a/new (1).txt b/new (1).txt\nnew file mode 100644\n--- /dev/null\n+++ b/new (1).txt\n@@ -0,0 +1 @@\n+n\n\\ No newline at end of file\n")
	require.Contains(t, text, `"b/evil\n# x<b>"`)
	require.Equal(t, 3, strings.Count(text, "diff --git"))
}

func TestNothingToKeepOrUndo(t *testing.T) {
	t.Parallel()
	s := twoHunks()
	_, err := review.Keep(input(s), wire.KeepArgs{}, s.W.Put)
	require.True(t, fault.Is(err, fault.InvalidArgument))
	_, err = review.Keep(input(s), wire.KeepArgs{Paths: []string{"/p/none"}}, s.W.Put)
	require.True(t, fault.Is(err, fault.NotFound))
	_, err = review.Undo(input(s), []wire.HunkRef{{Path: changetest.Path("f"), Hunk: "000000000000"}}, nil)
	require.True(t, fault.Is(err, fault.Stale))
	keep(t, s, wire.KeepArgs{All: true})
	_, err = review.Undo(input(s), nil, []string{changetest.Path("f")})
	require.True(t, fault.Is(err, fault.NotFound))
}
