package merge_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/change/merge"
	"github.com/xcsh-ls/xcsh-ls/internal/racetest"
)

func TestMerge(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ base, ours, theirs, want string }{
		"other lines":                  {"a\nb\nc\nd\ne\n", "A\nb\nc\nd\ne\n", "a\nb\nc\nd\nE\n", "A\nb\nc\nd\nE\n"},
		"one line between":             {"a\nb\nc\n", "A\nb\nc\n", "a\nb\nC\n", "A\nb\nC\n"},
		"no line between":              {"a\nb\n", "A\nb\n", "a\nB\n", ""},
		"the same lines":               {"a\nb\nc\n", "a\nX\nc\n", "a\nY\nc\n", ""},
		"the same change":              {"a\nb\nc\nd\n", "a\nX\nc\nd\n", "a\nX\nc\nD\n", "a\nX\nc\nD\n"},
		"insertions at one place":      {"a\nb\n", "a\nx\nb\n", "a\ny\nb\n", ""},
		"the whole file removed":       {"a\nb\n", "a\nb\nc\n", "", ""},
		"ours has other line ends":     {"a\nb\nc\n", "a\r\nb\r\nc\r\n", "a\nb\nC\n", "a\r\nb\r\nC\r\n"},
		"theirs has other line ends":   {"a\nb\nc\n", "A\nb\nc\n", "a\r\nb\r\nc\r\n", "A\r\nb\r\nc\r\n"},
		"line ends and a line":         {"a\nb\nc\n", "A\r\nb\r\nc\r\n", "a\nb\nC\n", "A\r\nb\r\nC\r\n"},
		"one line end":                 {"a\nb\nc\nd\n", "a\nb\r\nc\nd\n", "a\nb\nc\nD\n", "a\nb\r\nc\nD\n"},
		"missing last line end":        {"a\nb\nc", "A\nb\nc", "a\nb\nc\n", "A\nb\nc\n"},
		"byte order mark":              {"\ufeffa\nb\nc\n", "a\nb\nc\n", "\ufeffa\nb\nC\n", "a\nb\nC\n"},
		"into an empty file":           {"", "a\n", "", "a\n"},
		"the way back is another line": {"x\nx\n", "x\nx\nx\n", "x\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, overlaps, ok := merge.Merge([]byte(c.base), []byte(c.ours), []byte(c.theirs))
			if c.want == "" {
				require.False(t, ok, "%q", got)
				require.NotEmpty(t, overlaps)
				return
			}
			require.True(t, ok)
			require.Equal(t, c.want, string(got))
		})
	}
}

func TestOverlapsAreLinesOfOurs(t *testing.T) {
	t.Parallel()
	_, overlaps, ok := merge.Merge([]byte("a\nb\nc\nd\ne\n"), []byte("new\na\nb\nX\nY\nd\ne\n"), []byte("a\nb\nZ\nd\ne\n"))
	require.False(t, ok)
	require.Equal(t, []merge.Overlap{{Base: merge.Range{Start: 3, Lines: 1}, Ours: merge.Range{Start: 4, Lines: 2}, Theirs: merge.Range{Start: 3, Lines: 1}}}, overlaps)
	got, _ := merge.Favor([]byte("a\nb\nc\nd\ne\n"), []byte("new\na\nb\nX\nY\nd\ne\n"), []byte("a\nb\nZ\nd\ne\n"))
	require.Equal(t, "new\na\nb\nZ\nd\ne\n", string(got))
}

// triple is a text, two changes of it, and what both of them are together.
type triple struct {
	base, ours, theirs, want string
	apart                    bool // a line lies between the changes of the two sides
}

// randomTriple changes lines of which each side knows which is which, though many are equal.
func randomTriple(r *rand.Rand, different int) triple {
	word := func() string { return fmt.Sprintf("l%d\n", r.IntN(different)) }
	n := 4 + r.IntN(30)
	base := make([]string, n)
	for i := range base {
		base[i] = word()
	}
	type edit struct {
		at, del int
		ins     []string
		side    int
	}
	var edits []edit
	c := triple{apart: true}
	for at, last := r.IntN(6), -1; at < n; at += 1 + r.IntN(7) {
		e := edit{at: at, del: min(r.IntN(3), n-at), side: r.IntN(2)}
		for range r.IntN(3) {
			e.ins = append(e.ins, word())
		}
		if strings.Join(base[e.at:e.at+e.del], "") == strings.Join(e.ins, "") {
			continue
		}
		if len(edits) > 0 && last >= e.at {
			if last > e.at || edits[len(edits)-1].side == e.side {
				continue
			}
			c.apart = false
		}
		edits = append(edits, e)
		last = e.at + e.del
		at = last
	}
	apply := func(side int) string {
		var b strings.Builder
		at := 0
		for _, e := range edits {
			if side != 2 && e.side != side {
				continue
			}
			b.WriteString(strings.Join(base[at:e.at], ""))
			b.WriteString(strings.Join(e.ins, ""))
			at = e.at + e.del
		}
		b.WriteString(strings.Join(base[at:], ""))
		return b.String()
	}
	c.base, c.ours, c.theirs, c.want = strings.Join(base, ""), apply(0), apply(1), apply(2)
	return c
}

func TestRandomTriplesMergeRightOrAreRefused(t *testing.T) {
	t.Parallel()
	racetest.Large(t)
	for _, c := range []struct {
		different, cases, wrong int
		merged                  float64
	}{{8, 20_000, 20, 0.35}, {40, 20_000, 0, 0.6}, {1000, 4_000, 0, 0.7}} {
		r := rand.New(rand.NewPCG(1, uint64(c.different)))
		merged, wrong := 0, 0
		for range c.cases {
			x := randomTriple(r, c.different)
			got, overlaps, ok := merge.Merge([]byte(x.base), []byte(x.ours), []byte(x.theirs))
			if !ok {
				require.NotEmpty(t, overlaps)
				continue
			}
			merged++
			if string(got) != x.want {
				wrong++
			}
		}
		t.Logf("%d different lines: %d of %d merged, %d wrong", c.different, merged, c.cases, wrong)
		require.LessOrEqual(t, wrong, c.wrong, "of %d different lines", c.different)
		require.GreaterOrEqual(t, float64(merged), c.merged*float64(c.cases))
	}
}

func TestNoWorseThanGit(t *testing.T) {
	t.Parallel()
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("no git")
	}
	dir, disk := t.TempDir(), afero.NewOsFs()
	r := rand.New(rand.NewPCG(7, 7))
	ours, theirs, gitMerged := 0, 0, 0
	const cases = 150
	for range cases {
		x := randomTriple(r, 8)
		for name, text := range map[string]string{"base": x.base, "ours": x.ours, "theirs": x.theirs} {
			require.NoError(t, afero.WriteFile(disk, filepath.Join(dir, name), []byte(text), 0o600))
		}
		cmd := exec.CommandContext(context.Background(), git, "merge-file", "-p", "-q", "ours", "base", "theirs")
		cmd.Dir = dir
		if out, err := cmd.Output(); err == nil {
			gitMerged++
			if string(out) != x.want {
				theirs++
			}
		}
		if got, _, ok := merge.Merge([]byte(x.base), []byte(x.ours), []byte(x.theirs)); ok && string(got) != x.want {
			ours++
		}
	}
	t.Logf("wrong of %d: %d, git %d of %d merged", cases, ours, theirs, gitMerged)
	require.LessOrEqual(t, ours, theirs)
}

func TestDiffIsApplicable(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 3))
	for range 5000 {
		x := randomTriple(r, 1+r.IntN(10))
		requireDiff(t, []byte(x.ours), []byte(x.theirs))
	}
}

// requireDiff checks that the hunks lead from one text to the other, and that lines lie between them.
func requireDiff(t *testing.T, old, new []byte) {
	t.Helper()
	lines := merge.Lines(old)
	var out [][]byte
	at, last := 0, -1
	for _, h := range merge.Diff(old, new) {
		require.Greater(t, h.OldStart-1, last)
		require.Equal(t, merge.Lines(old)[h.OldStart-1:h.OldStart-1+h.OldLines], append([][]byte{}, h.Old...))
		out = append(out, lines[at:h.OldStart-1]...)
		require.Equal(t, len(out)+1, h.NewStart)
		out = append(out, h.New...)
		at = h.OldStart - 1 + h.OldLines
		last = at
	}
	out = append(out, lines[at:]...)
	require.Equal(t, string(new), string(bytes.Join(out, nil)))
}

func TestHostileTextsAreNotQuadratic(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(5, 5))
	var a, b bytes.Buffer
	for range 400_000 {
		fmt.Fprintf(&a, "%d\n", r.IntN(50))
		fmt.Fprintf(&b, "%d\n", r.IntN(50))
	}
	requireDiffFast(t, a.Bytes(), b.Bytes())
}

func requireDiffFast(t *testing.T, old, new []byte) {
	t.Helper()
	var out [][]byte
	lines, at := merge.Lines(old), 0
	for _, h := range merge.Diff(old, new) {
		out = append(append(out, lines[at:h.OldStart-1]...), h.New...)
		at = h.OldStart - 1 + h.OldLines
	}
	require.True(t, bytes.Equal(new, bytes.Join(append(out, lines[at:]...), nil)))
}

func TestLargeTextsKeepTheirAnchors(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(6, 6))
	var a, b bytes.Buffer
	for i := range 100_000 {
		fmt.Fprintf(&a, "line %d\n", i)
		if r.IntN(3) > 0 {
			fmt.Fprintf(&b, "line %d\n", i)
		} else {
			fmt.Fprintf(&b, "%d\n", r.IntN(9))
			fmt.Fprintf(&a, "%d\n", r.IntN(9))
		}
	}
	removed := 0
	for _, h := range merge.Diff(a.Bytes(), b.Bytes()) {
		removed += h.OldLines
	}
	require.Less(t, removed, 80_000, "the equal lines are found when the budget is used up")
}

func FuzzMerge(f *testing.F) {
	f.Add("a\nb\nc\n", "A\nb\nc\n", "a\nb\nC\n")
	f.Add("a\r\nb", "a\nb", "a\r\n")
	f.Fuzz(func(t *testing.T, base, ours, theirs string) {
		requireDiff(t, []byte(base), []byte(ours))
		merged, overlaps, ok := merge.Merge([]byte(base), []byte(ours), []byte(theirs))
		require.Equal(t, ok, len(overlaps) == 0)
		if ok && base == ours {
			require.Equal(t, theirs, string(merged))
		}
		if ok && base == theirs {
			require.Equal(t, ours, string(merged))
		}
		merge.Favor([]byte(base), []byte(ours), []byte(theirs))
	})
}
