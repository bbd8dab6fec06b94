package suite

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/bench/corpus/gen"
	"github.com/xcsh-ls/xcsh-ls/bench/wire/child"
)

func value(t *testing.T, text string) content {
	t.Helper()
	v, err := stable(child.Answer{Result: json.RawMessage(text)}, "/work/new")
	require.NoError(t, err)
	return v
}

func TestAnAnswerOfOneProgramMustBeTheSameEveryTime(t *testing.T) {
	t.Parallel()
	ours := Program{Name: "new"}
	for got, at := range map[string]string{
		`{"a":[1,{"b":"x"}],"seq":4,"timeAgo":"now"}`: "",
		`{"a":[1,{"b":"y"}]}`:                         `.a[1].b "x" and "y"`,
		`{"a":[1.0,{"b":"x"}]}`:                       ".a[0] 1 and 1.0",
		`{"a":[1]}`:                                   ".a",
		`{"a":[1,{"b":"x","c":1}]}`:                   ".a[1]",
		`{"a":null}`:                                  ".a",
	} {
		a := answers{}
		require.Empty(t, a.difference([]Program{ours}, ours, value(t, `{"a":[1,{"b":"x"}],"seq":3}`)))
		difference := a.difference([]Program{ours}, ours, value(t, got))
		if at == "" {
			require.Empty(t, difference, got)
		} else {
			require.Contains(t, difference, at, got)
		}
	}
}

func TestANewerProgramMayOnlyAddFields(t *testing.T) {
	t.Parallel()
	programs := []Program{{Name: "new"}, {Name: "old"}}
	for got, same := range map[string]bool{
		`{"path":"/work/new/x","size":1,"older":null}`: true,
		`{"path":"/work/new/x"}`:                       false,
		`{"path":"/work/new/x","size":2}`:              false,
	} {
		for _, newFirst := range []bool{false, true} {
			a := answers{}
			older, err := stable(child.Answer{Result: json.RawMessage(`{"path":"/work/old/x","size":1}`)}, "/work/old")
			require.NoError(t, err)
			difference := ""
			if newFirst {
				require.Empty(t, a.difference(programs, programs[0], value(t, got)))
				difference = a.difference(programs, programs[1], older)
			} else {
				require.Empty(t, a.difference(programs, programs[1], older))
				difference = a.difference(programs, programs[0], value(t, got))
			}
			require.Equal(t, same, difference == "", "%s %s", got, difference)
		}
	}
}

func TestANewerProgramMayOfferPagesInstead(t *testing.T) {
	t.Parallel()
	programs := []Program{{Name: "new"}, {Name: "old"}}
	for kind, same := range map[string]bool{"tooLarge": true, "notFound": false} {
		a := answers{}
		refused, err := stable(child.Answer{Kind: kind}, "/work/new")
		require.NoError(t, err)
		require.Empty(t, a.difference(programs, programs[0], refused))
		require.Equal(t, same, a.difference(programs, programs[1], value(t, `{}`)) == "", kind)
	}
}

func TestAnAnswerMustFitTheFactsOfTheGenerator(t *testing.T) {
	t.Parallel()
	facts := gen.Session{LeafID: "aa", Context: 3, Entries: 2}
	r, s := New(Config{}), Store{Facts: &gen.Manifest{Sessions: []gen.Session{facts}}}
	for name, answer := range map[string]string{
		"resume":  `{"session":{"leafId":"aa","messageCount":3}}`,
		"context": `{"leafId":"aa","context":{"messages":[1,2,3]}}`,
		"stats":   `{"entries":2}`,
		"tree":    `{"leafId":"aa","nodes":[1,2]}`,
	} {
		a := child.Answer{Result: json.RawMessage(answer)}
		require.NoError(t, r.check(operation{name: name}, s, a))
		a.Result = json.RawMessage(strings.NewReplacer("aa", "bb", `"entries":2`, `"entries":1`).Replace(answer))
		require.Error(t, r.check(operation{name: name}, s, a), name)
	}
}

func TestAForkThatLacksALineFails(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	session, fork := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	v := &visit{path: session, dir: dir}
	answer, err := json.Marshal(map[string]any{"forked": true, "session": map[string]any{"file": fork}})
	require.NoError(t, err)
	write := func(path, text string) { require.NoError(t, os.WriteFile(path, []byte(text), 0o600)) }
	write(session, `{"type":"title","t":1}`+"\nheader 1\none\ntwo\n")
	write(fork, `{"type":"title","t":2}`+"\nheader 2\none\ntwo\n")
	_, err = forked(v, child.Answer{Result: answer})
	require.NoError(t, err)
	require.NoFileExists(t, fork)
	for _, wrong := range []string{"header 2\none\n", "header 2\none\ntwx\n", "header 2\none\ntwo\n" + strings.Repeat("x", 2000)} {
		write(fork, wrong)
		_, err = forked(v, child.Answer{Result: answer})
		require.ErrorContains(t, err, "the copy ", wrong)
	}
}

// Every goal needs figures of its own; one without them is left out rather than met.
func TestGoalsAreMetOrMissed(t *testing.T) {
	t.Parallel()
	r := New(Config{Programs: []Program{{Name: "new"}}})
	var out strings.Builder
	r.goalTable(&out)
	require.Empty(t, out.String())
	add := func(command string, temperature Temperature, store string, wall time.Duration, peak int64) {
		r.add(Result{Command: command, Temperature: temperature, Store: store, Program: "new"}, child.Cost{Wall: wall, Peak: peak})
	}
	add("resume", Warm, "pi1000", 5*time.Millisecond, 31e6)
	add("resume", Warm, "pi1", 2*time.Millisecond, 20e6)
	r.Limits = []Limit{{Name: "pi: open", Store: "pi1000", Runs: []time.Duration{5 * time.Second}}}
	r.goalTable(&out)
	require.Contains(t, out.String(), "| resume of 1 GB, pi, warm: faster than pi | 1000x | at least 1000x | met |")
	require.Contains(t, out.String(), "| resume of 1 GB, pi, warm, against 1 MB | 2.5x | at most 3x | met |")
	require.Contains(t, out.String(), "| resume of 1 GB, pi, warm: memory | 31 MB | at most 30 MB | missed, by a factor of 1.03 |")
	require.Equal(t, 3, strings.Count(out.String(), "| met |")+strings.Count(out.String(), "| missed"), out.String())
}

func TestAWrongAnswerIsShownInsteadOfItsTime(t *testing.T) {
	t.Parallel()
	r := New(Config{Programs: []Program{{Name: "new"}}})
	r.add(Result{Command: "stats", Temperature: Live, Store: "s", Program: "new"}, child.Cost{Wall: time.Millisecond})
	r.add(Result{Command: "stats", Temperature: Live, Store: "s", Program: "new", Wrong: " DIFFERS"}, child.Cost{Wall: time.Millisecond})
	var out strings.Builder
	r.Markdown(&out, Group{Title: "T", Stores: []string{"s"}})
	require.Contains(t, out.String(), "| stats | live | **WRONG** |")
	require.Len(t, r.Wrong(), 1)
}
