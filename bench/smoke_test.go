package bench_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/bench"
	"github.com/xcsh-ls/xcsh-ls/bench/corpus/gen"
	"github.com/xcsh-ls/xcsh-ls/commands"
	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/library"
)

// tiny makes a small store of its own.
func tiny(t *testing.T) (bench.Kit, string, *gen.Manifest) {
	t.Helper()
	home := t.TempDir()
	p := gen.Presets["tiny"]
	p.Seed = 1
	m, err := gen.Write(home, p)
	require.NoError(t, err)
	return bench.New(home, t.TempDir()), home, m
}

// whole returns the sessions that are not torn.
func whole(m *gen.Manifest) (sessions []gen.Session) {
	for _, s := range m.Sessions {
		if !s.Torn {
			sessions = append(sessions, s)
		}
	}
	return sessions
}

// The expected results come from the generator, which shares no code with the program.

func TestOpenIsRight(t *testing.T) {
	t.Parallel()
	k, home, m := tiny(t)
	for _, s := range m.Sessions {
		path := filepath.Join(home, s.Path)
		c, err := k.Open(path)
		require.NoError(t, err)
		require.Len(t, c.Messages, s.Context, s.Path)
		require.Equal(t, "anthropic/claude-sonnet-4-5", c.Models["default"])

		indexed, err := k.Index(path)
		require.NoError(t, err)
		require.Equal(t, c, indexed)

		pi := session.Pi
		tail, ok, err := session.LoadTail(k.Finder.Fs, path, &pi, nil)
		require.NoError(t, err)
		require.True(t, ok, "large sessions are read this way")
		require.Equal(t, s.LeafID, tail.LeafID)
		require.Equal(t, c, tail.Context)
	}
}

func TestCompactedIsRight(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	m, err := gen.Write(home, gen.Preset{Sessions: 1, Bytes: 9 << 20, Projects: 1, Seed: 1})
	require.NoError(t, err)
	require.Positive(t, m.Compactions)
	require.Positive(t, m.Branches)
	s := m.Sessions[0]
	k := bench.New(home, t.TempDir())
	path := filepath.Join(home, s.Path)
	c, err := k.Open(path)
	require.NoError(t, err)
	require.Len(t, c.Messages, s.Context)
	require.Less(t, s.Context, s.Messages/4)
	_, fromEnd, err := k.Store.Newest(path, false)
	require.NoError(t, err)
	require.True(t, fromEnd)
	indexed, err := k.Index(path)
	require.NoError(t, err)
	require.Equal(t, bench.ContextAnswer(c), bench.ContextAnswer(indexed))
}

func TestOmpIsRight(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	p := gen.Presets["tiny"]
	p.Flavour = gen.Omp
	m, err := gen.Write(home, p)
	require.NoError(t, err)
	k := bench.New(home, t.TempDir())
	infos, err := k.List(t.Context())
	require.NoError(t, err)
	require.Len(t, infos, len(m.Sessions))
	for _, i := range infos {
		require.Equal(t, "omp", i.Origin)
		require.True(t, strings.HasPrefix(i.Title, "Session "), i.Title)
	}
	for _, s := range m.Sessions {
		c, err := k.Open(filepath.Join(home, s.Path))
		require.NoError(t, err)
		require.Len(t, c.Messages, s.Context, s.Path)
	}
}

func TestListIsRight(t *testing.T) {
	t.Parallel()
	k, _, m := tiny(t)
	infos, err := k.List(t.Context())
	require.NoError(t, err)
	want := make([]library.Info, len(m.Sessions))
	for i, s := range m.Sessions {
		want[i] = library.Info{ID: s.ID, MessageCount: s.Messages}
	}
	require.Equal(t, bench.ListAnswer(want), bench.ListAnswer(infos))

	recent, err := k.Finder.Recent(t.Context(), m.Sessions[0].Cwd, 1)
	require.NoError(t, err)
	newest := ""
	for _, s := range m.Sessions { // the oldest first
		if s.Cwd == m.Sessions[0].Cwd {
			newest = s.ID
		}
	}
	require.Equal(t, newest, recent[0].ID)

	files, err := k.Stat()
	require.NoError(t, err)
	require.Equal(t, len(m.Sessions), files)
}

func TestSearchIsRight(t *testing.T) {
	t.Parallel()
	k, _, m := tiny(t)
	found, err := k.Search(t.Context(), gen.Needle)
	require.NoError(t, err)
	var want []library.Info
	for _, s := range m.Sessions {
		if s.Needle {
			want = append(want, library.Info{ID: s.ID})
		}
	}
	require.Equal(t, bench.FoundAnswer(want), bench.FoundAnswer(found))
}

func TestResolveIsRight(t *testing.T) {
	t.Parallel()
	k, home, m := tiny(t)
	for _, s := range m.Sessions {
		path, err := k.Resolve(t.Context(), s.ID[:13])
		require.NoError(t, err)
		require.Equal(t, filepath.Join(home, s.Path), path)
	}
}

func TestAppendIsRight(t *testing.T) {
	t.Parallel()
	k, home, m := tiny(t)
	s := m.Sessions[0]
	path := filepath.Join(home, s.Path)
	before, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, k.Append(path, 25, 10))
	after, err := os.ReadFile(path)
	require.NoError(t, err)
	require.True(t, bytes.HasPrefix(after, before))
	require.Equal(t, 25, bytes.Count(after[len(before):], []byte(bench.PromptText)))
	c, err := k.Open(path)
	require.NoError(t, err)
	require.Len(t, c.Messages, s.Context+25, "each entry is the child of the previous one")
}

func TestForkIsRight(t *testing.T) {
	t.Parallel()
	k, home, m := tiny(t)
	for _, s := range whole(m) {
		path := filepath.Join(home, s.Path)
		fork, err := k.Fork(path, s.Cwd)
		require.NoError(t, err)
		original, err := os.ReadFile(path)
		require.NoError(t, err)
		copied, err := os.ReadFile(fork)
		require.NoError(t, err)
		_, entries, _ := bytes.Cut(original, []byte("\n"))
		_, same, _ := bytes.Cut(copied, []byte("\n"))
		require.True(t, bytes.Equal(entries, same), "entries are copied unchanged")
	}
}

func TestExportAndDumpAreRight(t *testing.T) {
	t.Parallel()
	k, home, m := tiny(t)
	out := filepath.Join(t.TempDir(), "page.html")
	for _, s := range m.Sessions {
		path := filepath.Join(home, s.Path)
		run[commands.ExportResult](t, k, "xcsh.export", map[string]any{"source": path, "path": out, "overwrite": true})
		page, err := os.ReadFile(out)
		require.NoError(t, err)
		require.Contains(t, string(page), s.ID)
		require.Contains(t, string(page), s.LeafID)
		require.Equal(t, s.Needle, bytes.Contains(page, []byte(gen.Needle)))
		dump := run[commands.DumpResult](t, k, "xcsh.dump", map[string]any{"source": path})
		require.False(t, dump.Empty)
	}
}

func TestBranchAndRefreshAreRight(t *testing.T) {
	t.Parallel()
	k, home, m := tiny(t)
	s := whole(m)[0]
	path := filepath.Join(home, s.Path)
	log, err := k.Store.Open(path)
	require.NoError(t, err)
	at := log.LeafID()
	require.Equal(t, s.LeafID, at)

	require.NoError(t, k.Append(path, 1, 0)) // as another program
	changed, err := log.Refresh()
	require.NoError(t, err)
	require.True(t, changed)
	require.NotEqual(t, at, log.LeafID())

	for more := range 2 {
		c, _, err := log.Context()
		require.NoError(t, err)
		require.Len(t, c.Messages, s.Context+1-more)
		require.NoError(t, log.Branch(at))
	}
	require.NoError(t, log.Close())
}
