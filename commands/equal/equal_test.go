package equal

import (
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/commands"
	"github.com/xcsh-ls/xcsh-ls/internal/racetest"
	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
	"github.com/xcsh-ls/xcsh-ls/internal/sessiontest/indexed"
)

// soak reports whether everything is compared, which takes a long time.
func soak() bool { return os.Getenv("XCSH_SOAK") != "" }

// extent is how much of a session is compared: a share of the calls that read it, some of the variants, and whether
// it is made the live one.
type extent struct {
	wanted   float64
	variants int
	live     bool
}

// compare requires that the answers about a session are equal without index files and in some variants.
func (w *world) compare(s *subject, e extent) {
	w.Helper()
	w.indexes, w.broken, w.state = false, false, nil
	s.prepare(w)
	want, files := newScript(w, s, e).all()
	w.clear()

	defer indexed.Everything()()
	w.indexes = true
	r := rand.New(rand.NewPCG(s.seed, 12))
	list := variants()
	r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	for _, v := range list[:min(e.variants, len(list))] {
		w.broken, w.state = v.broken, nil
		x := s.prepare(w)
		w.closeEnv()
		if v.make != nil {
			w.state = v.make(w, x, r)
		}
		got, gotFiles := newScript(w, s, e).all()
		for i, call := range want.calls {
			require.Less(w, i, len(got.calls), "%s, %s: %s", s.name, v.name, call)
			require.Equal(w, call, got.calls[i], "%s, %s", s.name, v.name)
			require.Equal(w, want.results[i], got.results[i], "%s, %s: %s", s.name, v.name, call)
		}
		require.Len(w, got.calls, len(want.calls))
		require.Equal(w, files, gotFiles, "%s, %s", s.name, v.name)
		w.clear()
	}
}

// part returns the extent to which a session is compared.
func part(seed uint64) extent {
	if soak() {
		return extent{wanted: 0.5, variants: 5, live: true}
	}
	return extent{wanted: 0.2, variants: 1, live: seed%6 == 0}
}

// The answers of every command are the same with index files, without them and with damaged ones, and so are the files that
// commands write.
func TestAnIndexFileChangesNoAnswer(t *testing.T) {
	racetest.Large(t)
	w := newWorld(t)
	sessions := uint64(60)
	if soak() {
		sessions = 1000
	}
	for seed := range sessions {
		lines := &st.Random{Rand: rand.New(rand.NewPCG(seed, 10)), Dialect: int(seed % 3), Twice: seed%5 == 0, CWD: w.path("w")}
		content := lines.Head()
		for range 20 + lines.Rand.IntN(150) {
			content += lines.Line() + "\n"
		}
		if seed%8 == 0 {
			content += lines.Line() // without a newline
		}
		w.compare(&subject{name: "019ce210-7893-7fb8-9a3d-1e601c115a0b", program: programs[seed%3], content: []byte(content), seed: seed}, part(seed))
	}
	w.requireAllCommands()
}

// requireAllCommands requires that every command of the table was compared, or is excluded for a reason.
func (w *world) requireAllCommands() {
	w.Helper()
	for _, name := range commands.Default.Names() {
		if excluded[name] != "" {
			assert.Zero(w, w.ran[name], "%s is compared, so it needs no exception", name)
			continue
		}
		assert.Positive(w, w.good[name], "%s was never compared; ran %d times", name, w.ran[name])
	}
}

// The same for the sessions of the repository, which the programs themselves and all kinds of accidents wrote.
func TestAnIndexFileChangesNoAnswerAboutFixtures(t *testing.T) {
	racetest.Large(t)
	w := newWorld(t)
	source, found := filepath.Join("..", "..", "testdata", "sessions"), uint64(0)
	require.NoError(t, filepath.WalkDir(source, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".jsonl") {
			return err
		}
		rel, err := filepath.Rel(source, path)
		require.NoError(t, err)
		program, _, _ := strings.Cut(filepath.ToSlash(rel), "/")
		content, err := os.ReadFile(path)
		require.NoError(t, err)
		found++
		w.compare(&subject{name: strings.TrimSuffix(d.Name(), ".jsonl"), program: "." + program, content: content, seed: found}, part(found))
		return nil
	}))
	require.Greater(t, found, uint64(50))
}
