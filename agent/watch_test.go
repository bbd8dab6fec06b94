package agent_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent"
	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/library"
)

// TestOtherProgramsChangesAreNoticed runs on the real file system, where another
// program appends to the live session and then makes one of its own.
// Proves: AB-016
func TestOtherProgramsChangesAreNoticed(t *testing.T) {
	t.Parallel()
	for name, poll := range map[string]bool{"reported by the system": false, "found by polling": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			noticesOtherPrograms(t, poll)
		})
	}
}

func noticesOtherPrograms(t *testing.T, poll bool) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	places := library.AgentPlaces(filepath.Join(dir, "agent"))
	sessions := filepath.Join(places.Sessions, "--w--")
	require.NoError(t, os.MkdirAll(sessions, 0o700))
	path := filepath.Join(sessions, "2026-01-01T00-00-00-000Z_0123456789abcdef.jsonl")
	content := st.File(st.Header("0123456789abcdef", "/w"), st.User("aaaaaaaa", "", "one"))
	require.NoError(t, os.WriteFile(path, []byte(content), 0o600))

	fs := afero.NewOsFs()
	finder := library.Finder{Fs: fs, Roots: []library.Root{library.OwnRoot(places)}, Home: "/h", Temp: "/tmp", Now: time.Now}
	m := agent.NewManager(agent.Config{
		Storage: agent.Storage{
			Store:  session.NewStore(session.StoreConfig{Fs: fs, DirFor: finder.DirFor, RootFor: finder.FileRoot}),
			Finder: finder,
			Watch:  true,
			Poll:   poll,
		},
	})
	events := make(chan agent.Event, 100)
	m.Subscribe(func(e agent.Event) { events <- e })
	s, err := m.Session(t.Context(), "/w")
	require.NoError(t, err)
	_, err = s.Switch(t.Context(), path)
	require.NoError(t, err)

	// The watch begins on a goroutine of its own, so the other program keeps on until
	// it was heard.
	require.Eventually(t, func() bool {
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
		require.NoError(t, err)
		_, err = f.WriteString(`{"type":"custom","customType":"x","id":"` + time.Now().Format("05.000000") + `","parentId":"aaaaaaaa","timestamp":"2026-01-01T00:00:02.000Z"}` + "\n")
		require.NoError(t, err)
		require.NoError(t, f.Close())
		select {
		case e := <-events:
			c, ok := e.(agent.SessionChanged)
			return ok && c.Reason == agent.ReasonTree
		case <-time.After(5 * settleForTest):
			return false
		}
	}, 20*time.Second, settleForTest)
	state, err := s.State()
	require.NoError(t, err)
	require.NotEqual(t, "aaaaaaaa", *state.LeafID)

	drain(events)
	other := filepath.Join(sessions, "2026-01-02T00-00-00-000Z_fedcba9876543210.jsonl")
	require.NoError(t, os.WriteFile(other, []byte(content), 0o600))
	require.Eventually(t, func() bool {
		select {
		case e := <-events:
			return e == agent.SessionsChanged{Cwd: "/w"}
		default:
			return false
		}
	}, 20*time.Second, settleForTest)
	require.NoError(t, m.Close(t.Context()))
}

const settleForTest = 50 * time.Millisecond

func drain(events chan agent.Event) {
	for {
		select {
		case <-events:
		default:
			return
		}
	}
}
