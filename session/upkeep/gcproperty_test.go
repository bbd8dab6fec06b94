package upkeep_test

import (
	"fmt"
	"math/rand"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/racetest"
	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
	"github.com/xcsh-ls/xcsh-ls/internal/sessiontest/kit"
	"github.com/xcsh-ls/xcsh-ls/session/upkeep"
)

// gcWorld is a random tree of roots with images and files that name some of them.
type gcWorld struct {
	rng   *rand.Rand
	noise int // maximum length of texts
	fs    afero.Fs
	named map[string]bool // hashes that some file names
	old   map[string]bool // hashes that are old enough to go
}

func newGCWorld(t *testing.T, seed int64, noise int) *gcWorld {
	t.Helper()
	w := &gcWorld{
		rng: rand.New(rand.NewSource(seed)), noise: noise, fs: afero.NewMemMapFs(), named: map[string]bool{}, old: map[string]bool{},
	}
	require.NoError(t, w.fs.MkdirAll(kit.SessionsRoot, 0o700))
	hashes := blobHashes(12)
	for _, h := range hashes {
		ago := time.Duration(w.rng.Intn(180)) * time.Minute
		w.old[h] = ago >= time.Hour
		shelveOld(t, w.fs, zedBlobs+"/"+h, "image "+h, ago)
	}
	for range w.rng.Intn(12) {
		kit.Put(t, w.fs, w.path(), w.text(hashes))
	}
	for _, text := range holdings(t, w.fs) {
		for _, h := range hashes {
			w.named[h] = w.named[h] || strings.Contains(text, "blob:sha256:"+h)
		}
	}
	return w
}

// path is a file somewhere below a root or in the session directory.
func (w *gcWorld) path() string {
	roots := []string{kit.SessionsRoot, kit.ZedAgent, kit.ZedTrash, "/home/zed/.pi/agent/sessions", "/home/zed/.pi/agent/trash", "/flat", zedCache, zedBlobs + "/sub"}
	path := roots[w.rng.Intn(len(roots))]
	parts := []string{"-p", "a", ".hidden", "gc-20261101T000000.000Z", "0123456789abcdef", "session", "blobs"}
	for range w.rng.Intn(4) {
		path += "/" + parts[w.rng.Intn(len(parts))] + "d"
	}
	names := []string{"a.jsonl", ".a.jsonl.0123456789abcdef.tmp", "session.jsonl", "0.bash.log", "b", "trashed.json", "é.txt"}
	return path + "/" + fmt.Sprint(w.rng.Intn(3)) + names[w.rng.Intn(len(names))]
}

// text is noise, damage and references.
func (w *gcWorld) text(hashes []string) string {
	var b strings.Builder
	for range w.rng.Intn(6) {
		switch w.rng.Intn(6) {
		case 0:
			b.WriteString(strings.Repeat("blob:sha256:", w.rng.Intn(3)))
		case 1:
			noise := make([]byte, w.rng.Intn(200))
			w.rng.Read(noise)
			b.Write(noise)
		case 2:
			b.WriteString(strings.Repeat("z", w.noise-w.rng.Intn(90)))
		case 3:
			b.WriteString("blob:sha256:" + hashes[w.rng.Intn(len(hashes))][:w.rng.Intn(64)] + "…")
		default:
			fmt.Fprintf(&b, `{"data":"blob:sha256:%s"}`+"\n", hashes[w.rng.Intn(len(hashes))])
		}
	}
	return b.String()
}

func (w *gcWorld) collect(t *testing.T, fs afero.Fs) (upkeep.GCResult, error) {
	t.Helper()
	s, f := collector(fs)
	if ok, err := afero.DirExists(w.fs, "/flat"); err == nil && ok {
		f.SessionDir = "/flat"
	}
	g, err := upkeep.FindGarbage(t.Context(), s, f, upkeep.GCOptions{})
	if err != nil {
		return upkeep.GCResult{}, err
	}
	return g.Remove(t.Context())
}

// requireNothingLost requires that every file is where it was, or in the trash, with all
// its bytes, and that every image that is referred to or young is where it was.
func (w *gcWorld) requireNothingLost(t *testing.T, before map[string]string, what string) {
	t.Helper()
	after := holdings(t, w.fs)
	inTrash := map[string]int{}
	for path, text := range after {
		if strings.HasPrefix(path, kit.ZedTrash+"/gc-2026112") {
			inTrash[text]++
		}
	}
	for path, text := range before {
		if strings.HasSuffix(path, "/") {
			continue
		}
		now, there := after[path]
		require.True(t, there && now == text || !there && inTrash[text] > 0, "%s: %s", what, path)
		if h := filepath.Base(path); filepath.ToSlash(filepath.Dir(path)) == zedBlobs && (w.named[h] || !w.old[h]) {
			require.True(t, there, "%s: %s is in use or young", what, h)
		}
	}
}

// TestNoImageInUseIsEverRemoved collects in random trees.
// Proves: N-05
func TestNoImageInUseIsEverRemoved(t *testing.T) {
	t.Parallel()
	racetest.Large(t)
	for seed := range int64(150) {
		w := newGCWorld(t, seed, 256<<10)
		what := fmt.Sprintf("seed %d", seed)
		before := holdings(t, w.fs)
		_, err := w.collect(t, w.fs)
		require.NoError(t, err, what)
		w.requireNothingLost(t, before, what)
		for h, old := range w.old {
			ok, err := afero.Exists(w.fs, zedBlobs+"/"+h)
			require.NoError(t, err)
			require.Equal(t, w.named[h] || !old, ok, "%s: %s", what, h)
		}
	}
}

// TestCollectingSurvivesEveryFault fails each step of finding and moving garbage.
func TestCollectingSurvivesEveryFault(t *testing.T) {
	t.Parallel()
	for mode, how := range []string{"once", "dead", "short"} {
		for _, reads := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s reads=%v", how, reads), func(t *testing.T) {
				t.Parallel()
				for seed := range int64(2) {
					at := 1
					for ; collectingSurvives(t, seed, &st.FaultFs{At: at, Mode: st.Mode(mode), Reads: reads}); at++ {
						require.Less(t, at, 5000, "it never runs through")
					}
					require.Greater(t, at, 5)
				}
			})
		}
	}
}

// collectingSurvives collects with one fault and then with storage that works. It
// reports whether the fault was reached.
func collectingSurvives(t *testing.T, seed int64, broken *st.FaultFs) bool {
	t.Helper()
	w := newGCWorld(t, seed, 100)
	before := holdings(t, w.fs)
	broken.Fs = w.fs
	what := fmt.Sprintf("seed %d, fault %d", seed, broken.At)
	r, err := w.collect(t, broken)
	if err != nil {
		kit.RequireSentence(t, err)
	}
	for _, f := range r.Failed {
		require.NotEmpty(t, f.Message, what)
	}
	w.requireNothingLost(t, before, what)
	_, err = w.collect(t, w.fs)
	require.NoError(t, err, what)
	w.requireNothingLost(t, before, what)
	for h, old := range w.old {
		ok, err := afero.Exists(w.fs, zedBlobs+"/"+h)
		require.NoError(t, err)
		require.Equal(t, w.named[h] || !old, ok, "%s: %s", what, h)
	}
	return broken.Fired()
}
