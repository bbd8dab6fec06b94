package gen_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/bench/corpus/gen"
)

// TestSameBytes fails when the bytes of a store change: then increase gen.Version, so that no
// measurement uses an old one.
func TestSameBytes(t *testing.T) {
	t.Parallel()
	for flavour, want := range map[gen.Flavour]string{
		gen.Pi:   "9525e7ec031f7420",
		gen.Omp:  "0caff84b90ccf76f",
		gen.Xcsh: "75c694696882e01a",
	} {
		p := gen.Presets["tiny"]
		p.Seed, p.Flavour = 1, flavour
		dir := t.TempDir()
		m, err := gen.Write(dir, p)
		require.NoError(t, err)
		h := sha256.New()
		for _, s := range m.Sessions {
			content, err := os.ReadFile(filepath.Join(dir, s.Path))
			require.NoError(t, err)
			h.Write([]byte(filepath.ToSlash(s.Path)))
			h.Write(content)
		}
		require.Equal(t, want, hex.EncodeToString(h.Sum(nil))[:16], "version %d, %s", gen.Version, flavour)
	}
}

// TestLines checks the manifest against the files, with the simplest parser.
func TestLines(t *testing.T) {
	t.Parallel()
	p := gen.Presets["tiny"]
	dir := t.TempDir()
	m, err := gen.Write(dir, p)
	require.NoError(t, err)
	require.Len(t, m.Sessions, p.Sessions)
	needles, torn, size := 0, 0, int64(0)
	for _, s := range m.Sessions {
		content, err := os.ReadFile(filepath.Join(dir, s.Path))
		require.NoError(t, err)
		size += int64(len(content))
		entries, messages := -1, 0 // the header is not an entry
		for line := range strings.Lines(string(content)) {
			var v struct{ Type string }
			if json.Unmarshal([]byte(line), &v) != nil {
				torn++
				continue
			}
			entries++
			if v.Type == "message" {
				messages++
			}
		}
		require.Equal(t, s.Entries, entries, s.Path)
		require.Equal(t, s.Messages, messages, s.Path)
		require.Equal(t, s.Needle, strings.Contains(string(content), gen.Needle), s.Path)
		if s.Needle {
			needles++
		}
	}
	require.Equal(t, p.Needles, needles)
	require.Equal(t, 3, torn, "a fifth of twelve, rounded up")
	require.Equal(t, m.Bytes, size)
	require.InEpsilon(t, p.Bytes, size, .5)
}

func TestCached(t *testing.T) {
	t.Parallel()
	cache := t.TempDir()
	dir, made, err := gen.Cached(cache, "tiny")
	require.NoError(t, err)
	require.NoError(t, os.RemoveAll(filepath.Join(dir, ".pi")))
	_, kept, err := gen.Cached(cache, "tiny")
	require.NoError(t, err)
	require.Equal(t, made, kept)
	require.NoDirExists(t, filepath.Join(dir, ".pi"), "it was not made again")
	_, _, err = gen.Cached(cache, "S9")
	require.Error(t, err)
}

// In most sessions the thinking level is chosen once, at the beginning.
func TestOnce(t *testing.T) {
	t.Parallel()
	for _, f := range gen.Dialects {
		for _, once := range []bool{true, false} {
			dir := t.TempDir()
			m, err := gen.Write(dir, gen.Preset{Sessions: 1, Bytes: 2e6, Projects: 1, Flavour: f, Once: once})
			require.NoError(t, err)
			content, err := os.ReadFile(filepath.Join(dir, m.Sessions[0].Path))
			require.NoError(t, err)
			n := strings.Count(string(content), `{"type":"thinking_level_change"`)
			require.Positive(t, n)
			require.Equal(t, once, n == 1, "%s: %d", f, n)
		}
	}
}

func TestBriefSessionsHaveManyEntries(t *testing.T) {
	t.Parallel()
	entries := map[bool]int{}
	for _, brief := range []bool{false, true} {
		m, err := gen.Write(t.TempDir(), gen.Preset{Sessions: 1, Bytes: 1e6, Projects: 1, Brief: brief})
		require.NoError(t, err)
		entries[brief] = m.Entries
	}
	require.Greater(t, entries[true], 3*entries[false])
}

func TestEveryDialectHasEverySize(t *testing.T) {
	t.Parallel()
	for _, mb := range gen.Sizes {
		for _, f := range gen.Dialects {
			p := gen.Presets[gen.Sized(f, mb)]
			require.Equal(t, f, p.Flavour)
			require.True(t, p.Once)
			require.Equal(t, int64(mb)*1e6, p.Bytes)
		}
	}
	require.True(t, gen.Presets[gen.Flat(100)].Flat)
}
