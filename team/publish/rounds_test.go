package publish_test

import (
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/team"
	"github.com/xcsh-ls/xcsh-ls/team/publish"
)

// rounds is the number of random rounds; more with an environment variable.
func rounds(t *testing.T) int {
	t.Helper()
	text := os.Getenv("XCSH_TEST_ROUNDS")
	if text == "" {
		return 300
	}
	n, err := strconv.Atoi(text)
	require.NoError(t, err)
	return n
}

// round is two machines that write and push one session at random.
type round struct {
	*world
	t     *testing.T
	r     *rand.Rand
	ms    []*machine
	torn  []string // the rest of a torn last line, by machine
	lines []string // all complete lines that were written
	n     int
}

// TestTwoMachinesLoseNoLine lets two machines write, push, pull what they lack, end and begin again at random. Every line that was
// written is in the store, and none twice in a session.
// Proves: TM-21, TM-22, TM-27, TM-31
func TestTwoMachinesLoseNoLine(t *testing.T) {
	t.Parallel()
	forks := 0
	for seed := range rounds(t) {
		forks += random(t, uint64(seed))
	}
	require.Positive(t, forks)
}

// random runs one random round, and returns how many forks it made.
func random(t *testing.T, seed uint64) (forks int) {
	t.Helper()
	defer func() {
		if t.Failed() {
			t.Logf("seed %d", seed)
		}
	}()
	x := &round{world: newWorld(), t: t, r: rand.New(rand.NewPCG(seed, 1)), torn: make([]string, 2)}
	x.limit = 0
	x.ms = []*machine{x.machine(t, "ann"), x.machine(t, []string{"ann", "bob"}[seed%2])}
	for range 10 + x.r.IntN(40) {
		x.step(x.r.IntN(2))
	}
	x.end()
	return len(x.sessions(t)) - 1
}

// step makes a random step of a machine.
func (x *round) step(i int) {
	m := x.ms[i]
	switch x.r.IntN(12) {
	case 0, 1, 2:
		for range 1 + x.r.IntN(6) {
			x.write(i)
		}
	case 3:
		x.tear(i)
	case 4, 5, 6:
		x.flush(m)
	case 7:
		m.restart(x.r.IntN(2) == 0)
		m.p.Touched(path)
	case 8:
		x.pass(leaseTime)
	case 9:
		x.pull(i)
	case 10:
		m.wrap = x.broken()
	case 11:
		_, err := m.login.Compact(x.t.Context(), m.p.State(path).SID)
		require.NoError(x.t, err)
	}
}

// broken returns a store that fails sometimes, or one that works.
func (x *round) broken() func(team.Store) team.Store {
	if x.r.IntN(2) == 0 {
		return nil
	}
	at, lost, dead := 1+x.r.IntN(8), x.r.IntN(2) == 0, x.r.IntN(2) == 0
	return func(s team.Store) team.Store { return &faulty{Store: s, at: at, lost: lost, dead: dead} }
}

// write adds a line, or the rest of a torn one.
func (x *round) write(i int) {
	text := x.torn[i]
	if text == "" {
		text = x.line(i)
	}
	x.torn[i] = ""
	x.ms[i].add(text)
	all := split(string(x.ms[i].body()))
	x.lines = append(x.lines, all[len(all)-1])
}

// line returns a line that was not written before.
func (x *round) line(i int) string {
	x.n++
	return line(string(rune('a'+i)), x.n)
}

// tear adds the beginning of a line.
func (x *round) tear(i int) {
	if x.torn[i] == "" {
		text := x.line(i)
		cut := 1 + x.r.IntN(len(text)-1)
		x.ms[i].add(text[:cut])
		x.torn[i] = text[cut:]
	}
}

// flush sends, and does not wait.
func (x *round) flush(m *machine) {
	before, err := afero.ReadFile(m.disk, path)
	if err != nil {
		return
	}
	m.flush()
	require.Equal(x.t, string(before), string(m.content()))
}

// pull copies the lines of the store that the file of a machine lacks.
func (x *round) pull(i int) {
	m := x.ms[i]
	if s := m.p.State(path); s.Phase == publish.Behind && x.torn[i] == "" {
		body := x.body(x.t, s.SID)
		if strings.HasPrefix(body, string(m.body())) {
			m.add(body[len(m.body()):])
		}
		return
	}
	if ok, _ := afero.Exists(m.disk, path); ok {
		return
	}
	for _, s := range x.sessions(x.t) {
		m.put(s.body)
		return
	}
}

// end sends all lines and checks the store.
func (x *round) end() {
	x.limit = 10 * leaseTime
	for i, m := range x.ms {
		m.wrap = nil
		if ok, _ := afero.Exists(m.disk, path); !ok || len(m.body()) == 0 || x.torn[i] != "" { // a file without lines is in no session
			x.write(i)
		}
		require.Zero(x.t, m.flush())
		s := m.p.State(path)
		require.Contains(x.t, []publish.Phase{publish.Sent, publish.Behind}, s.Phase, s.Err)
		body := x.body(x.t, s.SID)
		require.True(x.t, strings.HasPrefix(body, string(m.body())))
	}
	x.check(x.t, x.lines)
}
