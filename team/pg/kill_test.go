package pg_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/internal/racetest"
	"github.com/xcsh-ls/xcsh-ls/team"
	"github.com/xcsh-ls/xcsh-ls/team/pg/pgtest"
)

// killedWriter appends lines to a session until it is stopped, through all restarts of the server.
type killedWriter struct {
	store team.Store
	sid   team.SID
	body  strings.Builder // the lines that the store has answered

	lines   *atomic.Int64 // of all writers
	repeats map[team.Code]int
}

// write appends lines until ctx ends. It returns an error for any answer but OK and Same, and for any
// error but Offline.
func (w *killedWriter) write(ctx context.Context, stop <-chan struct{}) error {
	state := team.Tip{Gen: 1, Sum: team.EmptySum}
	for i := 0; ; i++ {
		line := fmt.Sprintf("line %d %s\n", i, strings.Repeat("x", i%2000))
		next := w.body.String() + line
		a := team.Append{SID: w.sid, Gen: 1, Len: state.Len, Sum: state.Sum, Fence: state.Fence, Bytes: []byte(line), New: team.SumOf([]byte(next))}
		t, err := w.store.Append(ctx, a)
		for fault.Is(err, fault.Offline) {
			t, err = w.store.Append(ctx, a)
		}
		if err != nil {
			return err
		}
		if w.repeats[t.Code]++; t.Code != team.OK && t.Code != team.Same {
			return fmt.Errorf("line %d is answered %s", i, t.Code)
		}
		state = t
		w.body.WriteString(line)
		w.lines.Add(1)
		select {
		case <-stop:
			return nil
		default:
		}
	}
}

// PostgreSQL is killed in the middle of appends. XCSH_TEAM_KILLS is the number of kills, 4 without it.
// Proves: TM-08
func TestKilledServersLoseNothing(t *testing.T) {
	t.Parallel()
	racetest.Large(t)
	kills := number(t, "XCSH_TEAM_KILLS", 4)
	cluster := pgtest.Start(t)
	d := cluster.Database(t)
	w := newWorld(t, d, d.Port())
	w.Member(t, "ann", "core", 2)
	var lines atomic.Int64
	writers := make([]*killedWriter, 4)
	for i := range writers {
		s := w.Connect(t, "ann")
		_, err := s.Hello(t.Context(), team.Device{ID: team.NewDeviceID()})
		require.NoError(t, err)
		p, err := s.Project(t.Context(), "core", "name:web", "Web")
		require.NoError(t, err)
		writers[i] = &killedWriter{store: s, sid: team.NewSID(), lines: &lines, repeats: map[team.Code]int{}}
		_, err = s.Open(t.Context(), team.Opening{Project: p.ID, SID: writers[i].sid, HeaderID: fmt.Sprint("id", i), FileName: "x.jsonl", Visible: team.Shared})
		require.NoError(t, err)
	}
	stop, ended := make(chan struct{}), make(chan error, len(writers))
	for _, writer := range writers {
		go func() { ended <- writer.write(t.Context(), stop) }()
	}
	for range kills {
		progress(t, &lines, 40)
		cluster.Kill()
		require.NoError(t, cluster.Restart())
	}
	progress(t, &lines, 40)
	close(stop)
	for range writers {
		require.NoError(t, <-ended)
	}
	same := 0
	for _, writer := range writers {
		got, err := pull(t, writer.store, writer.sid, 1, 0)
		require.NoError(t, err)
		require.Equal(t, writer.body.String(), got)
		same += writer.repeats[team.Same]
	}
	t.Logf("%d kills, %d lines, %d appends were committed without an answer", kills, lines.Load(), same)
}

// progress returns when the writers have appended n more lines.
func progress(t *testing.T, lines *atomic.Int64, n int64) {
	t.Helper()
	want := lines.Load() + n
	require.Eventually(t, func() bool { return lines.Load() >= want }, 2*time.Minute, pollTime)
}
