package agent_test

import (
	"context"
	"io/fs"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/agent/approval"
	"github.com/xcsh-ls/xcsh-ls/agent/change/wire"
	"github.com/xcsh-ls/xcsh-ls/agent/engine"
	"github.com/xcsh-ls/xcsh-ls/agent/loop"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/agent/tool"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/internal/playedengine"
	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
)

// openDesk is a workspace whose only open document is /w/doc. Its text is in a file all the same.
type openDesk struct {
	tool.Local
	mu *sync.Mutex
}

func (d openDesk) ReadFile(ctx context.Context, path string) (tool.File, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	f, err := d.Local.ReadFile(ctx, path)
	f.Open = err == nil && filepath.ToSlash(path) == "/w/doc"
	return f, err
}

// copied returns a copy of all files: what a crash at this moment leaves. Locks are left out, because the process of the test lives.
func copied(t *testing.T, from afero.Fs) afero.Fs {
	t.Helper()
	to := afero.NewMemMapFs()
	require.NoError(t, afero.Walk(from, "/", func(path string, info fs.FileInfo, err error) error {
		if err != nil || info.IsDir() || strings.HasSuffix(path, ".lock") {
			return err
		}
		raw, err := afero.ReadFile(from, path)
		if err != nil {
			return err
		}
		return afero.WriteFile(to, path, raw, info.Mode().Perm())
	}))
	return to
}

// lentWithRecord is a session that pi has, with the record of an edit that pi made in an open document. The file of the session
// is path, and waiting is the file of its waiting records.
func lentWithRecord(t *testing.T) (w *world, s *agent.Session, path, waiting string) {
	t.Helper()
	w, c := hostedWorld(t, func(cfg *agent.Config) {
		cfg.Approval = approval.Yolo
		cfg.Workspace = openDesk{tool.Local{Fs: cfg.Finder.Fs}, new(sync.Mutex)}
	})
	require.NoError(t, w.fs.MkdirAll("/w", 0o755))
	require.NoError(t, afero.WriteFile(w.fs, "/w/doc", []byte("one\n"), 0o644))
	var lent string
	c.prepare = func(p *playedengine.Program) {
		p.Runs = func(ctx context.Context, p *playedengine.Program, in engine.Input) loop.Outcome {
			p.Say(ctx, playedengine.UserMessage(in.Text))
			if in.Text == "edit" {
				path := filepath.FromSlash("/w/doc")
				require.NoError(t, p.Host.Permit(ctx, engine.Call{ID: "c1", Tool: "write", Effect: engine.Changes, Path: path}))
				here, err := p.Host.Write(ctx, "c1", path, "two\n")
				require.NoError(t, err)
				require.True(t, here)
				lent = content(t, w.fs, p.File)
			}
			p.Say(ctx, playedengine.AnswerMessage("ok"))
			return loop.Outcome{StopReason: provider.StopEnd}
		}
	}
	s = w.live(t, "/w")
	say(t, s, "edit")
	path = *state(t, s).File
	waiting = filepath.Join(strings.TrimSuffix(path, ".jsonl"), "changes", "waiting.jsonl")
	require.Equal(t, "two\n", content(t, w.fs, "/w/doc"))
	require.NotContains(t, lent, "xcsh-ls.change", "pi writes the file")
	require.NotContains(t, content(t, w.fs, path), "xcsh-ls.change")
	require.Contains(t, content(t, w.fs, waiting), `"path":"doc"`)
	return w, s, path, waiting
}

// A record that is made while another program has the session file waits beside it, is known all the same, and becomes an entry when the
// file is returned.
// Proves: RW-44
func TestRecordsWaitWhileAnotherProgramHasTheFile(t *testing.T) {
	t.Parallel()
	w, s, path, waiting := lentWithRecord(t)
	c, err := s.Changes(t.Context(), wire.ChangesQuery{Since: "session"})
	require.NoError(t, err)
	require.Equal(t, []string{"/w/doc"}, paths(c))
	id := c.Files[0].Records[0]
	_, err = s.Keep(t.Context(), wire.KeepArgs{All: true})
	require.Equal(t, fault.Busy, fault.KindOf(err), "%v", err)

	// A rewind of the files is possible, and its record waits behind the other one.
	done := rewindTo(t, s, wire.RewindArgs{Records: []string{id}})
	require.Equal(t, "one\n", content(t, w.fs, "/w/doc"))
	require.NotContains(t, content(t, w.fs, path), "xcsh-ls.change")
	say(t, s, "go on")
	require.Equal(t, 2, strings.Count(content(t, w.fs, waiting), "\n"))

	require.NoError(t, w.Close(t.Context()))
	require.Equal(t, "none", content(t, w.fs, waiting))
	records, _ := recordsIn(t, w.fs, path)
	require.Len(t, records, 2)
	require.Equal(t, []string{id, done.ID}, []string{records[0].ID, records[1].ID}, "each has the id that it was known by")
	require.NotEmpty(t, records[0].PromptID)
	require.Equal(t, []string{id}, records[1].Undoes)
}

// A process that dies while another program has the file leaves its records to the next one. At each step at which that one dies, too,
// no record is lost, and none is there twice.
// Proves: RW-44 (after a crash)
func TestWaitingRecordsSurviveACrash(t *testing.T) {
	t.Parallel()
	w, _, path, waiting := lentWithRecord(t)
	crashed := copied(t, w.fs)
	left := content(t, crashed, waiting)

	reader := newWorld(t, crashed)
	c, err := reader.ChangesOf(t.Context(), path, wire.ChangesQuery{Since: "session"})
	require.NoError(t, err)
	require.Equal(t, []string{"/w/doc"}, paths(c))
	require.Equal(t, left, content(t, crashed, waiting), "readers write nothing")
	id := c.Files[0].Records[0]

	for n := 1; ; n++ {
		base := copied(t, crashed)
		armed := false
		faulty := &st.FaultFs{Fs: base, At: n, Mode: st.Dead, On: func(string, string) bool { return armed }}
		dying := newWorld(t, faulty)
		s := dying.live(t, "/w")
		_, err := s.Switch(t.Context(), path)
		require.NoError(t, err)
		armed = true
		_, err = s.Keep(t.Context(), wire.KeepArgs{All: true})
		fired := faulty.Fired()
		if !fired {
			require.NoError(t, err)
		}

		next := newWorld(t, copied(t, base))
		s = next.live(t, "/w")
		_, err = s.Switch(t.Context(), path)
		require.NoError(t, err)
		_, err = s.Keep(t.Context(), wire.KeepArgs{All: true})
		require.NoError(t, err, "step %d", n)
		c, err := s.Changes(t.Context(), wire.ChangesQuery{Since: "session"})
		require.NoError(t, err)
		require.Zero(t, c.Totals.Pending, "step %d", n)
		require.NoError(t, next.Close(t.Context()))
		records, _ := recordsIn(t, next.fs, path)
		require.Len(t, records, 1, "step %d", n)
		require.Equal(t, id, records[0].ID, "step %d", n)
		if !fired {
			require.Greater(t, n, 2)
			return
		}
	}
}

// The file of waiting records that could not be removed gives no second entry.
func TestWaitingRecordsThatAreEntriesAlready(t *testing.T) {
	t.Parallel()
	w, _, path, waiting := lentWithRecord(t)
	left := content(t, w.fs, waiting)
	require.NoError(t, w.Close(t.Context()))
	require.NoError(t, afero.WriteFile(w.fs, waiting, []byte(left), 0o600))
	again := newWorld(t, w.fs)
	s := again.live(t, "/w")
	_, err := s.Switch(t.Context(), path)
	require.NoError(t, err)
	_, err = s.Keep(t.Context(), wire.KeepArgs{All: true})
	require.NoError(t, err)
	require.NoError(t, again.Close(t.Context()))
	records, _ := recordsIn(t, w.fs, path)
	require.Len(t, records, 1)
	require.Equal(t, "none", content(t, w.fs, waiting))
}
