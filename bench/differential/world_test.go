//go:build peers

package differential

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/bench"
	"github.com/xcsh-ls/xcsh-ls/session"
)

const cwd = "/work/project"

// world is one user's machine: the sessions of a project, pi, and us.
type world struct {
	t     *testing.T
	r     *rand.Rand
	pi    *pi
	kit   bench.Kit
	dir   string   // where pi keeps the project's sessions
	trace []string // the operations on the current session

	tails, rows int // how often both ways of a comparison were there to be compared
}

// run calls scenario n times, each time with another seed, on a machine of its own
// test. With XCSH_SOAK set it is twenty times that often, with new seeds.
func run(t *testing.T, n int, scenario func(w *world)) *world {
	t.Helper()
	first := uint64(1)
	if os.Getenv("XCSH_SOAK") != "" {
		first, n = uint64(time.Now().UnixNano()), 20*n
	}
	home, scratch := t.TempDir(), t.TempDir()
	dir := filepath.Join(home, ".pi", "agent", "sessions", "--work-project--")
	require.NoError(t, os.MkdirAll(dir, 0o700))
	w := &world{t: t, pi: startPi(t, home), kit: bench.New(home, scratch), dir: dir}
	t.Cleanup(func() {
		for _, step := range w.trace {
			if t.Failed() {
				t.Log(step)
			}
		}
	})
	for i := range n {
		seed := first + uint64(i)
		w.r, w.trace = rand.New(rand.NewPCG(seed, 0)), []string{fmt.Sprintf("seed %d", seed)}
		scenario(w)
		w.clear()
	}
	return w
}

// clear empties the directory, so that a list stays short.
func (w *world) clear() {
	w.t.Helper()
	files, err := filepath.Glob(filepath.Join(w.dir, "*"))
	require.NoError(w.t, err)
	for _, file := range files {
		require.NoError(w.t, os.RemoveAll(file)) // a session may have a directory of its own
	}
}

func (w *world) note(format string, args ...any) {
	w.trace = append(w.trace, fmt.Sprintf(format, args...))
}

// begin makes a session file with a conversation of one message, by either program.
func (w *world) begin() (file string) {
	w.t.Helper()
	if w.r.IntN(2) == 0 {
		m := w.pi.open("create", cwd, w.dir)
		require.NoError(w.t, w.pi.call(m, nil, "appendMessage", object{"role": "user", "content": "first", "timestamp": 1767225600000}))
		w.note("pi creates")
		return w.pi.file(m)
	}
	file = filepath.Join(w.dir, session.FileName("2026-01-01T00:00:00.000Z", w.hex(16)))
	log, err := w.kit.Store.CreateAt(file, cwd)
	require.NoError(w.t, err)
	require.NoError(w.t, log.Close())
	w.note("we create")
	return file
}

// conversation is a session that both programs have written to for a while.
func (w *world) conversation(steps int) (file string, ids []string) {
	w.t.Helper()
	s := w.session(w.begin())
	for range steps {
		s.step()
	}
	s.close()
	return s.file, s.ids()
}

// write writes a file among pi's sessions.
func (w *world) write(content []byte) (file string) {
	w.t.Helper()
	file = filepath.Join(w.dir, session.FileName("2026-01-01T00:00:00.000Z", w.hex(32)))
	require.NoError(w.t, os.WriteFile(file, content, 0o600))
	return file
}

func (w *world) read(file string) []byte {
	w.t.Helper()
	content, err := os.ReadFile(file)
	require.NoError(w.t, err)
	return content
}

// some returns a few of the ids, and nil for before the first entry.
func (w *world) some(ids []string) []any {
	leaves := []any{nil}
	for range min(4, len(ids)) {
		leaves = append(leaves, pick(w, ids...))
	}
	return leaves
}

func (w *world) json(v any) json.RawMessage {
	w.t.Helper()
	b, err := json.Marshal(v)
	require.NoError(w.t, err)
	return b
}
