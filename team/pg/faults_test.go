package pg_test

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/team"
	"github.com/xcsh-ls/xcsh-ls/team/pg"
	"github.com/xcsh-ls/xcsh-ls/team/pg/pgtest"
	"github.com/xcsh-ls/xcsh-ls/team/teamtest"
)

// number returns a number from the environment, or a smaller one for every run of the tests.
func number(t *testing.T, variable string, otherwise int) int {
	t.Helper()
	text := os.Getenv(variable)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	require.NoError(t, err)
	return n
}

// broken is a store behind a proxy, with a project.
type broken struct {
	*world
	proxy   *teamtest.Proxy
	direct  team.Store // for preparation and comparison
	project int
	device  team.Device
	conn    string
}

func newBroken(t *testing.T) *broken {
	t.Helper()
	d := pgtest.New(t)
	b := &broken{world: newWorld(t, d, d.Port()), proxy: teamtest.NewProxy(t, d.Port()), device: team.Device{ID: team.NewDeviceID(), Label: "laptop"}}
	b.Member(t, "ann", "core", 2)
	b.direct = b.Connect(t, "ann")
	_, err := b.direct.Hello(t.Context(), b.device)
	require.NoError(t, err)
	p, err := b.direct.Project(t.Context(), "core", "name:web", "Web")
	require.NoError(t, err)
	b.project = p.ID
	b.conn = d.ConnAt(b.proxy.Port, d.Role(t, "ann", true))
	return b
}

// session creates a session with a body of lines, each a segment.
func (b *broken) session(t *testing.T, lines ...string) team.SID {
	t.Helper()
	sid := team.NewSID()
	_, err := b.direct.Open(t.Context(), team.Opening{Project: b.project, SID: sid, HeaderID: sid.String(), FileName: "x.jsonl", Head: []byte("head\n"), Visible: team.Shared})
	require.NoError(t, err)
	b.appendTo(t, b.direct, sid, lines...)
	return sid
}

// appendTo appends lines to an empty body as a pusher does: it repeats each call until it is answered.
func (b *broken) appendTo(t *testing.T, s team.Store, sid team.SID, lines ...string) {
	t.Helper()
	var body strings.Builder
	state := team.Tip{Gen: 1, Sum: team.EmptySum}
	for _, line := range lines {
		body.WriteString(line)
		a := team.Append{SID: sid, Gen: 1, Len: state.Len, Sum: state.Sum, Fence: state.Fence, Bytes: []byte(line), New: team.SumOf([]byte(body.String()))}
		again(t, func() (err error) {
			state, err = s.Append(t.Context(), a)
			return err
		})
		require.Contains(t, []team.Code{team.OK, team.Same}, state.Code)
	}
}

// body reads a body without a fault.
func (b *broken) body(t *testing.T, sid team.SID, gen int) string {
	t.Helper()
	body, err := pull(t, b.direct, sid, gen, 0)
	require.NoError(t, err)
	return body
}

// pull reads a body from an offset in round trips of 1,000 bytes, as a pull does, and compares the sums
// of what it got, also before an error.
func pull(t *testing.T, s team.Store, sid team.SID, gen int, from int64) (string, error) {
	t.Helper()
	var body strings.Builder
	for {
		began := from + int64(body.Len())
		err := s.Read(t.Context(), sid, gen, began, 1000, func(seg team.Segment) error {
			if seg.Off+int64(len(seg.Bytes)) > from+int64(body.Len()) {
				require.Equal(t, from+int64(body.Len()), seg.Off)
				body.Write(seg.Bytes)
			}
			return nil
		})
		if err != nil || from+int64(body.Len()) == began {
			return body.String(), err
		}
	}
}

// deed uses a store and compares the results.
type deed func(t *testing.T, b *broken, s team.Store)

var deeds = map[string]deed{
	"publish": func(t *testing.T, b *broken, s team.Store) {
		t.Helper()
		sid := b.session(t)
		lines := []string{"one\n", strings.Repeat("two ", 300) + "\n", "three\n"}
		b.appendTo(t, s, sid, lines...)
		require.Equal(t, strings.Join(lines, ""), b.body(t, sid, 1))
	},
	"pull": func(t *testing.T, b *broken, s team.Store) {
		t.Helper()
		want := []string{"one\n", strings.Repeat("two ", 300) + "\n", "three\n", strings.Repeat("four ", 300) + "\n"}
		sid := b.session(t, want...)
		var got string
		again(t, func() error {
			more, err := pull(t, s, sid, 1, int64(len(got)))
			got += more // a pull continues at its length
			return err
		})
		require.Equal(t, strings.Join(want, ""), got)
	},
	"fork": func(t *testing.T, b *broken, s team.Store) {
		t.Helper()
		sid, as := b.session(t, "one\n", "two\n"), team.NewSID()
		again(t, func() error {
			tip, err := s.Fork(t.Context(), team.Forking{SID: sid, Gen: 1, At: 4, New: as, Head: []byte("head\n")})
			if err == nil {
				require.Equal(t, team.OK, tip.Code)
				require.EqualValues(t, 4, tip.Len)
			}
			return err
		})
		require.Equal(t, "one\n", b.body(t, as, 1))
		require.Equal(t, "one\ntwo\n", b.body(t, sid, 1))
		known, err := b.direct.Open(t.Context(), team.Opening{Project: b.project, HeaderID: sid.String()})
		require.NoError(t, err)
		require.Len(t, known, 2, "repeated calls are one fork")
	},
	"generation": func(t *testing.T, b *broken, s team.Store) {
		t.Helper()
		sid := b.session(t, "one\n", "two\n")
		tip, err := b.direct.Tip(t.Context(), sid)
		require.NoError(t, err)
		staged, code := "", team.Code("")
		for _, line := range []string{"1\n", "2\n"} {
			p := team.Stage{SID: sid, Gen: 2, Off: int64(len(staged)), Was: team.SumOf([]byte(staged)), Bytes: []byte(line), Sum: team.SumOf([]byte(staged + line))}
			again(t, func() error { return s.Stage(t.Context(), p) })
			staged += line
		}
		again(t, func() error {
			now, err := s.Publish(t.Context(), team.Publish{
				SID: sid, WasGen: 1, WasLen: tip.Len, WasSum: tip.Sum, Gen: 2, Len: int64(len(staged)), Sum: team.SumOf([]byte(staged)), Fence: tip.Fence,
			})
			code = now.Code
			return err
		})
		require.Contains(t, []team.Code{team.OK, team.Same}, code)
		require.Equal(t, staged, b.body(t, sid, 2))
	},
}

// Each deed runs while a connection breaks at one place after the other. XCSH_TEAM_FAULTS is the number
// of places in each direction, 4 without it; 100000 is every byte.
// Proves: TM-12, TM-13
func TestBrokenConnectionsLoseNothing(t *testing.T) {
	t.Parallel()
	places := number(t, "XCSH_TEAM_FAULTS", 4)
	for name, do := range deeds {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBroken(t)
			b.proxy.Arm(nil)
			b.once(t, do)
			up, down := b.proxy.Passed()
			require.Greater(t, up, int64(300))
			for _, f := range faults(places, up, down) {
				b.proxy.Arm(&f)
				b.once(t, do)
				require.True(t, b.proxy.Fired(), "%+v of %d and %d bytes", f, up, down)
			}
		})
	}
}

// faults returns faults at places of both directions.
func faults(places int, up, down int64) (all []teamtest.Fault) {
	for _, does := range []teamtest.Breakage{teamtest.Cut, teamtest.HalfClose} {
		for _, isDown := range []bool{false, true} {
			total := up
			if isDown {
				total = down
			}
			step := max(1, total/int64(places))
			for at := int64(0); at < total*9/10; at += step { // other numbers in a message make it a little shorter
				all = append(all, teamtest.Fault{Down: isDown, After: at, Does: does})
			}
		}
	}
	return all
}

// once does a deed over a new store behind the proxy.
func (b *broken) once(t *testing.T, do deed) {
	t.Helper()
	s, err := pg.Open(pg.Config{Conn: b.conn})
	require.NoError(t, err)
	defer func() { require.NoError(t, s.Close()) }()
	again(t, func() error {
		_, err := s.Hello(t.Context(), b.device)
		return err
	})
	do(t, b, s)
}

// The answer of an append is lost behind its commit, and the repeated call finds it.
// Proves: TM-02, TM-13
func TestALostAnswerIsTheSame(t *testing.T) {
	t.Parallel()
	b := newBroken(t)
	s, err := pg.Open(pg.Config{Conn: b.conn})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	again(t, func() error {
		_, err := s.Hello(t.Context(), b.device)
		return err
	})
	var codes []team.Code
	for range 20 { // on a busy machine the pool may check the connection first, and notice the cut
		sid := b.session(t)
		b.appendTo(t, s, sid, "one\n")
		state, err := s.Tip(t.Context(), sid)
		require.NoError(t, err)
		a := team.Append{SID: sid, Gen: 1, Len: 4, Sum: state.Sum, Fence: state.Fence, Bytes: []byte("two\n"), New: team.SumOf([]byte("one\ntwo\n"))}
		b.proxy.Arm(&teamtest.Fault{Down: true, Does: teamtest.Cut})
		again(t, func() (err error) {
			state, err = s.Append(t.Context(), a)
			return err
		})
		require.Equal(t, "one\ntwo\n", b.body(t, sid, 1))
		if codes = append(codes, state.Code); state.Code == team.Same {
			return
		}
	}
	require.Contains(t, codes, team.Same)
}
