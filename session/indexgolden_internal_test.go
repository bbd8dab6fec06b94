package session

import (
	"flag"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/session/internal/indexfile"
)

var updateIndex = flag.Bool("update", false, "write the golden index files of the present format, if there are none")

// goldenPath is where the golden sessions were when they were indexed.
const goldenPath = "/home/u/s.jsonl"

// goldenVersions returns the directories of the golden index files, by the first line of the files.
func goldenVersions(t *testing.T) map[string]string {
	t.Helper()
	found, err := filepath.Glob("testdata/index/*")
	require.NoError(t, err)
	versions := map[string]string{}
	for _, dir := range found {
		versions["xcsh-ls index "+filepath.Base(dir)+"\n"] = dir
	}
	return versions
}

// goldenStore returns a store in memory with a golden session and, unless dir is "", its index files.
func goldenStore(t *testing.T, dialect Dialect, content []byte, dir string) *Store {
	t.Helper()
	fs := afero.NewMemMapFs()
	require.NoError(t, afero.WriteFile(fs, goldenPath, content, 0o600))
	for _, end := range []string{baseEnd, extensionEnd} {
		if b, err := os.ReadFile(filepath.Join(dir, dialect.String()+end)); err == nil && dir != "" {
			require.NoError(t, afero.WriteFile(fs, "/index/"+indexfile.Name(goldenPath)+end, b, 0o600))
		}
	}
	return NewStore(StoreConfig{Fs: fs, IndexDir: "/index"})
}

// goldenSession returns a session, and how many bytes of it are in the base of its index files.
func goldenSession(d Dialect) (content []byte, base int) {
	m := &lineMaker{r: rand.New(rand.NewPCG(11, uint64(d))), d: d}
	text := m.head()
	for m.n < 60 {
		text += m.line() + "\n"
	}
	base = len(text)
	for m.n < 70 {
		text += m.line() + "\n"
	}
	return []byte(text), base
}

// writeGolden writes the golden session of a dialect and its index files, as this version writes them.
func writeGolden(t *testing.T, dir string, dialect Dialect) {
	t.Helper()
	content, base := goldenSession(dialect)
	s := goldenStore(t, dialect, content[:base], "")
	name := filepath.Join(dir, dialect.String())
	for range 2 {
		d, err := s.Load(goldenPath)
		require.NoError(t, err)
		require.NoError(t, d.Close())
		require.NoError(t, afero.WriteFile(s.Fs, goldenPath, content, 0o600))
	}
	require.NoError(t, os.MkdirAll(dir, 0o755))
	require.NoError(t, os.WriteFile(name+".jsonl", content, 0o600))
	for _, end := range []string{baseEnd, extensionEnd} {
		b, err := afero.ReadFile(s.Fs, "/index/"+indexfile.Name(goldenPath)+end)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(name+end, b, 0o600))
	}
}

// presentVersion returns the first line of the index files that this version writes.
func presentVersion(t *testing.T) string {
	t.Helper()
	content, _ := goldenSession(Xcsh)
	s := goldenStore(t, Xcsh, content, "")
	d, err := s.Load(goldenPath)
	require.NoError(t, err)
	require.NoError(t, d.Close())
	b, err := afero.ReadFile(s.Fs, "/index/"+indexfile.Name(goldenPath)+baseEnd)
	require.NoError(t, err)
	line, _, ok := strings.Cut(string(b), "\n")
	require.True(t, ok)
	return line + "\n"
}

// Index files that released versions wrote are ignored, or say what a whole reading of the session says. Those of
// the present format must be as they were: who changes the format or a rule that its sums follow gives it a new number.
func TestGoldenIndexFiles(t *testing.T) {
	indexEverything(t)
	present := presentVersion(t)
	if *updateIndex && goldenVersions(t)[present] == "" {
		for _, dialect := range []Dialect{Xcsh, Pi, Omp} {
			writeGolden(t, filepath.Join("testdata/index", strings.Fields(present)[2]), dialect)
		}
	}
	versions := goldenVersions(t)
	require.Contains(t, versions, present, "run the test with -update to keep files of the new format")
	for version, dir := range versions {
		for _, dialect := range []Dialect{Xcsh, Pi, Omp} {
			content, err := os.ReadFile(filepath.Join(dir, dialect.String()+".jsonl"))
			require.NoError(t, err)
			s := goldenStore(t, dialect, content, dir)
			x := &indexed{T: t, fs: s.Fs, dir: "/", path: goldenPath, store: s}
			got := x.equal(s)
			if version != present {
				require.Zero(t, got.indexed, "%s is ignored", dir)
				continue
			}
			require.EqualValues(t, len(content), got.indexed, "%s %s is used", dir, dialect)
			x.sameFacts(dialect, content, dir)
		}
	}
}

// sameFacts requires that the facts in the golden files are those that this version finds.
func (x *indexed) sameFacts(dialect Dialect, content []byte, dir string) {
	x.Helper()
	facts := func(s *Store) *indexFacts {
		r := &indexReader{store: s, at: s.indexAt(goldenPath)}
		require.True(x, r.openIndex())
		defer r.base.Close()
		f := *r.facts
		f.mark, f.factor, f.cells, f.base, f.starts, f.stamp.Mtime = 0, 0, 0, 0, nil, 0 // random, or of the time
		return &f
	}
	fresh := goldenStore(x.T, dialect, content, "")
	d, err := fresh.Load(goldenPath)
	require.NoError(x, err)
	require.NoError(x, d.Close())
	require.Equal(x, facts(fresh), facts(goldenStore(x.T, dialect, content, dir)))
}
