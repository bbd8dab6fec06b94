package bench_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/bench/corpus/gen"
	"github.com/xcsh-ls/xcsh-ls/bench/wire/suite"
)

var server struct {
	once sync.Once
	path string
	err  error
}

// TestMain removes the server, if one was built.
func TestMain(m *testing.M) {
	code := m.Run()
	if server.path != "" && os.Getenv("XCSH_LS") == "" {
		_ = os.RemoveAll(filepath.Dir(server.path))
	}
	os.Exit(code)
}

// runner returns a runner of the built server, which XCSH_LS can name. It is both the measured program and the one that it is
// compared with.
func runner(t *testing.T) *suite.Runner {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the generated sessions have Unix paths")
	}
	server.once.Do(func() {
		if server.path = os.Getenv("XCSH_LS"); server.path != "" {
			return
		}
		dir, err := os.MkdirTemp("", "bench") //nolint:usetesting // the tests share it
		if err != nil {
			server.err = err
			return
		}
		server.path = filepath.Join(dir, "xcsh-ls.exe")
		build := exec.CommandContext(context.Background(), "go", "build", "-buildvcs=false", "-o", server.path, "../cmd/xcsh-ls")
		if out, err := build.CombinedOutput(); err != nil {
			server.err = fmt.Errorf("%w: %s", err, out)
		}
	})
	require.NoError(t, server.err)
	return suite.New(suite.Config{
		Programs: []suite.Program{{Name: "new", Path: server.path}, {Name: "old", Path: server.path}}, Work: t.TempDir(), Rounds: 1,
	})
}

// one makes a store of one small session.
func one(t *testing.T, p gen.Preset) suite.Store {
	t.Helper()
	home := t.TempDir()
	p.Sessions, p.Projects, p.Seed = 1, 1, 1
	m, err := gen.Write(home, p)
	require.NoError(t, err)
	return suite.Made(string(p.Flavour), home, m)
}

// measured checks that every command was measured for both programs, with the same answers.
func measured(t *testing.T, r *suite.Runner, commands ...string) {
	t.Helper()
	require.Empty(t, r.Wrong())
	times := map[string]int{}
	for _, m := range r.Results {
		if m.Note != "not offered" {
			require.Empty(t, m.Note, m.Command)
			times[m.Command] += len(m.Runs)
		}
	}
	for _, c := range commands {
		require.GreaterOrEqual(t, times[c], 2, c)
	}
}

func TestEveryCommandIsMeasuredOverTheWire(t *testing.T) {
	t.Parallel()
	r := runner(t)
	var stores []suite.Store
	for _, f := range gen.Dialects {
		stores = append(stores, one(t, gen.Preset{Bytes: 40e3, Flavour: f, Once: true}))
	}
	require.NoError(t, r.Sessions(t.Context(), nil, stores[0]))
	require.NoError(t, r.Sessions(t.Context(), regexp.MustCompile("^(resume|continue|info|stats|context|fork)"), stores[1:]...))
	measured(t, r, "resume", "resume, early answer", "continue", "info of a file", "stats of a file", "context of a file",
		"fork of a file", "doctor of a file", "state", "info", "stats", "stats again", "snapshot", "context", "entries", "tree", "dump",
		"dump without redaction", "export html", "export html without redaction", "export markdown", "export markdown without redaction",
		"describe", "label, each of 20", "prompt, each of 10")

	require.NoError(t, r.FileLimits(stores...))
	var out strings.Builder
	r.Markdown(&out, suite.Group{Title: "Sessions", Stores: []string{"xcsh", "pi", "omp"}, Growth: true})
	for _, want := range []string{"### Sessions\n", "\n| resume | cold | ", "### Sessions: old against new", "### Limits and peers"} {
		require.Contains(t, out.String(), want)
	}
}

func TestListsAreMeasuredOverTheWire(t *testing.T) {
	t.Parallel()
	r := runner(t)
	home := t.TempDir()
	p := gen.Presets["tiny"]
	p.Seed = 1
	m, err := gen.Write(home, p)
	require.NoError(t, err)
	s := suite.Made("tiny", home, m)
	require.NoError(t, r.Lists(t.Context(), s))
	measured(t, r, "list", "list, newest 50", "recent", "resolve", "search", "search again", "list again", "list, one changed")
	again, err := os.ReadFile(s.Path)
	require.NoError(t, err)
	require.NotContains(t, string(again), "one more", "another session is changed")
	r.ListLimits(t.Context(), s)
	for _, l := range r.Limits {
		require.Contains(t, []string{"", "unsupported operation"}, l.Note, l.Name)
	}
}

func TestPromptsAndAppendsAreMeasuredOverTheWire(t *testing.T) {
	t.Parallel()
	r := runner(t)
	require.NoError(t, r.Start(t.Context(), one(t, gen.Preset{Bytes: 10e3, Flavour: gen.Pi})))
	require.NoError(t, r.Append(t.Context(), suite.Store{}, 8))
	require.NoError(t, r.Prompts(t.Context(), 10))
	measured(t, r, "start", "append, entry of a turn", "append, entry of a long turn", "append, label")
	var out strings.Builder
	r.Markdown(&out)
	require.Contains(t, out.String(), "| 10 to 10 | ")
	require.Contains(t, out.String(), "CPU of prompts 10 to 10 against 1 to 1")
}

func TestChangesAreMeasuredOverTheWire(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	r := runner(t)
	r.Match = regexp.MustCompile("edit|command|rewind|records|^resume$|^state$|limit")
	sizes := suite.ChangeSizes{Bytes: []int{4000}, Edits: 2, Tree: 30, Commands: 2, Files: 3, Records: 7, Long: 20}
	require.NoError(t, r.Changes(t.Context(), sizes))
	measured(t, r, "edit, capture all", "edit, capture tools", "edit, capture off", "bash true, capture all", "bash true, capture off",
		"bash that changes a file, capture all", "changes of the session", "changes of the session, with hunks", "changes of the turn",
		"rewind, the plan", "rewind, carried out", "redo, carried out", "resume", "state")
	var out strings.Builder
	r.Markdown(&out, suite.ChangeGroups(sizes)...)
	for _, want := range []string{
		"| edit, capture tools | live | ", "| bash true, capture off | cold | ", "| redo, carried out | live | ", "20 other entries | 20 records |",
		"capture of an edit of 4 KB over the wire", "two looks around a command, warm, 30 files", "rewind of 3 files, 7 records, against",
		"resume (cold) of a session with 20 records",
	} {
		require.Contains(t, out.String(), want)
	}
}
