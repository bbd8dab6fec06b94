package soak

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/racetest"
	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
	"github.com/xcsh-ls/xcsh-ls/team"
	"github.com/xcsh-ls/xcsh-ls/team/pg"
	"github.com/xcsh-ls/xcsh-ls/team/pg/pgtest"
)

// sharedFiles is the number of sessions that grow at once.
const sharedFiles = 4

// terminals are programs that write the sessions of a directory, sometimes half a line, while another process sends them.
type terminals struct {
	t    *testing.T
	r    *rand.Rand
	dir  string
	torn []string // the rest of the last line, by file
	n    int      // lines
	size int64
}

func newTerminals(t *testing.T, seed uint64) *terminals {
	t.Helper()
	w := &terminals{t: t, r: rand.New(rand.NewPCG(seed, 7)), dir: t.TempDir(), torn: make([]string, sharedFiles)}
	for i := range sharedFiles {
		id := fmt.Sprintf("%016x", i+1)
		require.NoError(t, os.WriteFile(w.path(i), []byte(st.File(st.Header(id, "/w"))), 0o600))
	}
	return w
}

func (w *terminals) path(i int) string {
	return filepath.Join(w.dir, fmt.Sprintf("2026-01-01T00-00-00-000Z_%016x.jsonl", i+1))
}

// write adds a line to a file, the rest of a torn one, or the beginning of one.
func (w *terminals) write() error {
	i := w.r.IntN(sharedFiles)
	text := w.torn[i]
	w.torn[i] = ""
	if text == "" {
		w.n++
		size := w.r.IntN(3000)
		if w.n%50 == 0 {
			size = 100_000
		}
		text = st.User(fmt.Sprintf("%08x", w.n), "", strings.Repeat("x", size)) + "\n"
		if w.r.IntN(4) == 0 {
			cut := 1 + w.r.IntN(len(text)-1)
			text, w.torn[i] = text[:cut], text[cut:]
		}
	}
	w.size += int64(len(text))
	f, err := os.OpenFile(w.path(i), os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if _, err := f.WriteString(text); err != nil {
		return err
	}
	return f.Close()
}

// run writes until stop is closed, and then completes the torn lines.
func (w *terminals) run(stop <-chan struct{}) error {
	for {
		select {
		case <-stop:
			for i, rest := range w.torn {
				if rest != "" {
					if err := appendLine(w.path(i), strings.TrimSuffix(rest, "\n")); err != nil {
						return err
					}
				}
			}
			return nil
		case <-time.After(time.Duration(w.r.IntN(40)) * time.Millisecond):
		}
		if err := w.write(); err != nil {
			return err
		}
	}
}

// TestKilledPushers kills a process that sends growing sessions at any moment, the server of the store, and both at once. Afterwards
// each session is in the store once, with all its lines, byte for byte. XCSH_SOAK makes it 500 kills of the process and 50 of the server.
// Proves: TM-01, TM-02, TM-03, TM-08 (with its clients), TM-31
func TestKilledPushers(t *testing.T) {
	t.Parallel()
	racetest.Large(t)
	kills := rounds(12, 500)
	seed := uint64(1)
	if os.Getenv("XCSH_SOAK") != "" {
		seed = uint64(time.Now().UnixNano())
	}
	t.Log("seed", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	cluster := pgtest.Start(t)
	store, conn := sharedStore(t, cluster.Database(t))
	name, err := json.Marshal(pusher{Conn: conn, Device: team.NewDeviceID()})
	require.NoError(t, err)

	w := newTerminals(t, seed)
	stop, ended := make(chan struct{}), make(chan error, 1)
	var once sync.Once
	end := func() { once.Do(func() { close(stop) }) }
	t.Cleanup(end)
	go func() { ended <- w.run(stop) }()
	for i := range kills {
		c := start(t, "push", w.dir, string(name))
		if r.IntN(8) != 0 { // else also in the middle of the connection
			require.True(t, c.acks.Scan(), "it ended: %s", c.said.String())
		}
		<-time.After(time.Duration(30+r.IntN(170)) * time.Millisecond)
		server := i%10 == 9
		survives := server && r.IntN(2) == 0
		if server {
			cluster.Kill()
		}
		if survives { // the process, which sees the server again
			require.NoError(t, cluster.Restart())
			<-time.After(time.Duration(r.IntN(500)) * time.Millisecond)
		}
		require.NoError(t, c.Process.Kill())
		require.Error(t, c.Wait(), "it was killed")
		require.Empty(t, c.said.String())
		if server && !survives {
			require.NoError(t, cluster.Restart())
		}
	}
	end()
	require.NoError(t, <-ended)
	last := start(t, "push", w.dir, string(name))
	require.NoError(t, last.stdin.Close())
	drain(t, last)
	requireShared(t, store, w)
	t.Logf("%d kills of the process, %d of the server, %d lines, %d bytes", kills, kills/10, w.n, w.size)
}

// sharedStore returns a store with a user, and the connection string.
func sharedStore(t *testing.T, d *pgtest.Database) (*pg.Store, string) {
	t.Helper()
	admin, err := pg.Open(pg.Config{Conn: d.Conn(d.Superuser())})
	require.NoError(t, err)
	role := d.Role(t, "ann", true)
	require.NoError(t, admin.AddUser(t.Context(), role, "Ann"))
	require.NoError(t, admin.AddTeam(t.Context(), "core"))
	require.NoError(t, admin.Grant(t.Context(), "core", role, pg.Level(2)))
	require.NoError(t, admin.Close())
	store, err := pg.Open(pg.Config{Conn: d.Conn(role)})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	return store, d.Conn(role)
}

// requireShared requires that the store has the sessions of the files, and nothing else.
func requireShared(t *testing.T, store *pg.Store, w *terminals) {
	t.Helper()
	_, err := store.Hello(t.Context(), team.Device{ID: team.NewDeviceID(), Label: "reader"})
	require.NoError(t, err)
	p, err := store.Project(t.Context(), "core", sharedKey, "Soak")
	require.NoError(t, err)
	infos, err := store.List(t.Context(), team.ListQuery{Project: p.ID, Limit: 1000})
	require.NoError(t, err)
	require.Len(t, infos, sharedFiles, "each session once, without variants")
	bodies := map[string][]byte{}
	for _, info := range infos {
		tip, err := store.Tip(t.Context(), info.SID)
		require.NoError(t, err)
		require.Equal(t, 1, tip.Gen)
		var body bytes.Buffer
		require.NoError(t, store.Read(t.Context(), info.SID, tip.Gen, 0, int(tip.Len), func(s team.Segment) error {
			require.EqualValues(t, body.Len(), s.Off)
			body.Write(s.Bytes)
			return nil
		}))
		require.Equal(t, tip.Sum, team.SumOf(body.Bytes()))
		bodies[info.HeaderID] = body.Bytes()
	}
	for i := range sharedFiles {
		content, err := os.ReadFile(w.path(i))
		require.NoError(t, err)
		_, want, _ := bytes.Cut(content, []byte("\n"))
		require.True(t, bytes.Equal(want, bodies[fmt.Sprintf("%016x", i+1)]), w.path(i))
	}
}
