package bench_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/bench"
	"github.com/xcsh-ls/xcsh-ls/bench/corpus/gen"
	"github.com/xcsh-ls/xcsh-ls/commands"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// bigStores take seconds and are only used if XCSH_BENCH_BIG is set.
var bigStores = map[string]bool{"S2": true, "S2n": true, "L1": true, "L2": true}

// store returns a store that is kept between runs.
func store(b *testing.B, name string) (bench.Kit, string, *gen.Manifest) {
	b.Helper()
	if bigStores[name] && os.Getenv("XCSH_BENCH_BIG") == "" {
		b.Skip("set XCSH_BENCH_BIG=1 to measure with " + name)
	}
	cache, err := gen.CacheDir()
	require.NoError(b, err)
	home, m, err := gen.Cached(cache, name)
	require.NoError(b, err)
	return bench.New(home, b.TempDir()), home, m
}

// single returns a store's only session.
func single(b *testing.B, name string) (k bench.Kit, path string, s gen.Session) {
	b.Helper()
	k, home, m := store(b, name)
	b.SetBytes(m.Bytes)
	b.ReportAllocs()
	return k, filepath.Join(home, m.Sessions[0].Path), m.Sessions[0]
}

// each runs f as a sub-benchmark for every store.
func each(b *testing.B, names []string, f func(b *testing.B, name string)) {
	for _, name := range names {
		b.Run(name, func(b *testing.B) { f(b, name) })
	}
}

// scratchCopy copies a session so that it can be appended to.
func scratchCopy(b *testing.B, path string) string {
	b.Helper()
	content, err := os.ReadFile(path)
	require.NoError(b, err)
	to := filepath.Join(b.TempDir(), filepath.Base(path))
	require.NoError(b, os.WriteFile(to, content, 0o600))
	return to
}

func BenchmarkLoad(b *testing.B) {
	each(b, []string{"S1", "S10", "S2", "S2n"}, func(b *testing.B, name string) {
		k, path, s := single(b, name)
		for b.Loop() {
			doc, err := k.Store.Load(path)
			require.NoError(b, err)
			require.Equal(b, s.Entries, doc.Len())
			require.NoError(b, doc.Close())
		}
	})
}

func BenchmarkLoadTail(b *testing.B) {
	pi := session.Pi
	each(b, []string{"S1", "S10", "S2"}, func(b *testing.B, name string) {
		k, path, s := single(b, name)
		for b.Loop() {
			tail, ok, err := session.LoadTail(k.Finder.Fs, path, &pi, nil)
			require.NoError(b, err)
			require.True(b, ok)
			require.Len(b, tail.Context.Messages, s.Context)
		}
	})
}

func BenchmarkBuildContext(b *testing.B) {
	each(b, []string{"S1", "S10", "S2", "S2n"}, func(b *testing.B, name string) {
		k, path, s := single(b, name)
		doc, err := k.Store.Load(path)
		require.NoError(b, err)
		defer doc.Close()
		for b.Loop() {
			c, _, err := session.BuildContext(doc, session.AtLast(), nil)
			require.NoError(b, err)
			require.Len(b, c.Messages, s.Context)
		}
	})
}

// BenchmarkBranch moves the leaf of an open session and rebuilds the context there.
func BenchmarkBranch(b *testing.B) {
	each(b, []string{"S1", "S10", "S2"}, func(b *testing.B, name string) {
		k, path, s := single(b, name)
		log, err := k.Store.Open(path)
		require.NoError(b, err)
		defer log.Close()
		var middle string
		require.NoError(b, log.View(func(d *session.Document, _ session.Leaf) error {
			middle = d.ID(d.Len() / 2)
			return nil
		}))
		for n := 0; b.Loop(); n++ {
			to := []string{middle, s.LeafID}[n%2]
			require.NoError(b, log.Branch(to))
			c, _, err := log.Context()
			require.NoError(b, err)
			require.NotEmpty(b, c.Messages)
			require.Equal(b, to, log.LeafID())
		}
	})
}

func benchmarkAppend(b *testing.B, sync bool) {
	k, path, s := single(b, "S1")
	path = scratchCopy(b, path)
	b.SetBytes(0)
	log, err := k.Store.Open(path)
	require.NoError(b, err)
	added := 0
	for b.Loop() {
		_, err := log.Append(bench.Prompt())
		require.NoError(b, err)
		if sync {
			require.NoError(b, log.Flush())
		}
		added++
	}
	require.NoError(b, log.Close())
	doc, err := k.Store.Load(path)
	require.NoError(b, err)
	require.Equal(b, s.Entries+added, doc.Len())
	require.NoError(b, doc.Close())
}

func BenchmarkAppend(b *testing.B)     { benchmarkAppend(b, false) }
func BenchmarkAppendSync(b *testing.B) { benchmarkAppend(b, true) }

// BenchmarkWrite and BenchmarkWriteSync measure the system's time for the writes of Append and
// AppendSync.
func BenchmarkWrite(b *testing.B)     { benchmarkWrite(b, false) }
func BenchmarkWriteSync(b *testing.B) { benchmarkWrite(b, true) }

func benchmarkWrite(b *testing.B, sync bool) {
	f, err := os.OpenFile(filepath.Join(b.TempDir(), "f"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	require.NoError(b, err)
	defer f.Close()
	line := make([]byte, 300)
	for b.Loop() {
		_, err := f.Write(line)
		require.NoError(b, err)
		if sync {
			require.NoError(b, f.Sync())
		}
	}
}

// BenchmarkRefresh measures the detection of a line that another program appended, without the write
// itself.
func BenchmarkRefresh(b *testing.B) {
	k, path, s := single(b, "S10")
	path = scratchCopy(b, path)
	b.SetBytes(0)
	log, err := k.Store.Open(path)
	require.NoError(b, err)
	defer log.Close()
	other, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0o600)
	require.NoError(b, err)
	defer other.Close()
	line := `{"type":"message","id":"ffffffff","parentId":"` + s.LeafID + `","timestamp":"2026-01-01T00:00:00.000Z",` +
		`"message":{"role":"user","content":"` + bench.PromptText + `","timestamp":1}}` + "\n"
	for b.Loop() {
		b.StopTimer()
		_, err := other.WriteString(line)
		require.NoError(b, err)
		b.StartTimer()
		changed, err := log.Refresh()
		require.NoError(b, err)
		require.True(b, changed)
	}
	require.Equal(b, "ffffffff", log.LeafID())
}

func BenchmarkFork(b *testing.B) {
	each(b, []string{"S1", "S10", "S2"}, func(b *testing.B, name string) {
		k, path, s := single(b, name)
		for b.Loop() {
			fork, err := k.Fork(path, s.Cwd)
			require.NoError(b, err)
			b.StopTimer()
			require.NoError(b, os.Remove(fork))
			b.StartTimer()
		}
	})
}

var listed = []string{"tiny", "L1", "L2"}

func BenchmarkList(b *testing.B) {
	each(b, listed, func(b *testing.B, name string) {
		k, _, m := store(b, name)
		b.SetBytes(m.Bytes)
		b.ReportAllocs()
		for b.Loop() {
			infos, err := k.List(b.Context())
			require.NoError(b, err)
			require.Len(b, infos, len(m.Sessions))
		}
	})
}

// BenchmarkListAgain lists sessions that were listed before, as a server does.
func BenchmarkListAgain(b *testing.B) {
	each(b, listed, func(b *testing.B, name string) {
		k, _, m := store(b, name)
		k = k.Remembering(b.TempDir())
		_, err := k.ListBriefly(b.Context())
		require.NoError(b, err)
		b.ReportAllocs()
		for b.Loop() {
			infos, err := k.ListBriefly(b.Context())
			require.NoError(b, err)
			require.Len(b, infos, len(m.Sessions))
		}
	})
}

// BenchmarkListBriefly is BenchmarkList without the text of the messages.
func BenchmarkListBriefly(b *testing.B) {
	each(b, listed, func(b *testing.B, name string) {
		k, _, m := store(b, name)
		b.SetBytes(m.Bytes)
		b.ReportAllocs()
		for b.Loop() {
			infos, err := k.ListBriefly(b.Context())
			require.NoError(b, err)
			require.Len(b, infos, len(m.Sessions))
		}
	})
}

// BenchmarkStat measures the lower bound of BenchmarkList.
func BenchmarkStat(b *testing.B) {
	each(b, listed, func(b *testing.B, name string) {
		k, _, m := store(b, name)
		for b.Loop() {
			n, err := k.Stat()
			require.NoError(b, err)
			require.Equal(b, len(m.Sessions), n)
		}
	})
}

func BenchmarkRecent(b *testing.B) {
	each(b, listed, func(b *testing.B, name string) {
		k, _, m := store(b, name)
		b.ReportAllocs()
		for b.Loop() {
			infos, err := k.Finder.Recent(b.Context(), m.Sessions[0].Cwd, 4)
			require.NoError(b, err)
			require.NotEmpty(b, infos)
		}
	})
}

func BenchmarkResolve(b *testing.B) {
	each(b, listed, func(b *testing.B, name string) {
		k, home, m := store(b, name)
		b.ReportAllocs()
		s := m.Sessions[len(m.Sessions)/2]
		for b.Loop() {
			path, err := k.Resolve(b.Context(), s.ID[:13])
			require.NoError(b, err)
			require.Equal(b, filepath.Join(home, s.Path), path)
		}
	})
}

func BenchmarkSearch(b *testing.B) {
	each(b, listed, func(b *testing.B, name string) {
		k, _, m := store(b, name)
		b.SetBytes(m.Bytes)
		b.ReportAllocs()
		for b.Loop() {
			found, err := k.Search(b.Context(), gen.Needle)
			require.NoError(b, err)
			require.Len(b, found, m.Preset.Needles)
		}
	})
}

// BenchmarkSearchAgain searches sessions that were listed before.
func BenchmarkSearchAgain(b *testing.B) {
	each(b, listed, func(b *testing.B, name string) {
		k, _, m := store(b, name)
		k = k.Remembering(b.TempDir())
		_, err := k.ListBriefly(b.Context())
		require.NoError(b, err)
		b.SetBytes(m.Bytes)
		b.ReportAllocs()
		for b.Loop() {
			found, err := k.Search(b.Context(), gen.Needle)
			require.NoError(b, err)
			require.Len(b, found, m.Preset.Needles)
		}
	})
}

// run runs a command of the program about the session at source.
func run[R any](b testing.TB, k bench.Kit, command string, args map[string]any) R {
	b.Helper()
	r, err := commands.Call[R](b.Context(), commands.Default, envOf(k), command, args)
	require.NoError(b, err)
	return r
}

// envOf is the environment of commands about k's sessions, from a folder that has none of its own.
func envOf(k bench.Kit) *commands.Env {
	return &commands.Env{
		Sessions: agent.NewManager(agent.Config{Storage: agent.Storage{Store: k.Store, Finder: k.Finder}}),
		Store:    k.Store, Finder: k.Finder, Fs: k.Finder.Fs, UI: commands.Headless{},
		Folders: func() []string { return []string{"/nowhere"} },
	}
}

func BenchmarkExportHTML(b *testing.B) {
	each(b, []string{"S1", "S10", "S2"}, func(b *testing.B, name string) {
		k, path, s := single(b, name)
		out := filepath.Join(b.TempDir(), "page.html")
		for b.Loop() {
			r := run[commands.ExportResult](b, k, "xcsh.export", map[string]any{"source": path, "path": out, "overwrite": true, "redact": false})
			require.Positive(b, r.Bytes)
		}
		page, err := os.ReadFile(out)
		require.NoError(b, err)
		require.Contains(b, string(page), s.ID)
		require.Contains(b, string(page), s.LeafID)
	})
}

func BenchmarkDump(b *testing.B) {
	each(b, []string{"S1", "S10", "S2"}, func(b *testing.B, name string) {
		k, path, _ := single(b, name)
		for b.Loop() {
			r := run[commands.DumpResult](b, k, "xcsh.dump", map[string]any{"source": path})
			require.False(b, r.Empty)
		}
	})
}
