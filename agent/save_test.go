package agent_test

import (
	"fmt"
	"path/filepath"
	"testing"
	"testing/synctest"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/agent/event"
	"github.com/xcsh-ls/xcsh-ls/agent/tool"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/internal/providertest"
)

// The prompt is on disk when a user saves while the first answer is still streaming.
func TestSaveDuringTheFirstTurn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		hold := make(chan struct{})
		fs := afero.NewMemMapFs()
		w := newWorld(t, fs, withModel(scripted(providertest.Reply{Text: "two", Before: hold})), withJournal(t, fs))
		s := w.live(t, "/w")
		done := promptInBackground(t, s, "one")
		synctest.Wait()
		exists, err := afero.Exists(fs, s.File())
		require.NoError(t, err)
		require.False(t, exists)
		require.NoError(t, s.Save(t.Context()))
		require.Contains(t, lines(t, fs, s), "user")
		require.NotContains(t, lines(t, fs, s), "assistant")
		close(hold)
		<-done
		all := lines(t, fs, s)
		require.Equal(t, "assistant", all[len(all)-1])
		require.NoError(t, w.Close(t.Context()))
	})
}

// A session in memory gets its file between two turns, and continues as the same session.
// Proves: AB-003
func TestSaveASessionInMemory(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		hold := make(chan struct{})
		fs := afero.NewMemMapFs()
		m := scripted(providertest.Reply{Text: "two", Before: hold}, providertest.Reply{Text: "four"})
		w := newWorld(t, fs, withModel(m), func(c *agent.Config) { c.InMemory, c.TerminalID = true, "tty1" })
		s := w.live(t, "/w")
		_, err := s.Describe(t.Context(), "for people")
		require.NoError(t, err)
		require.True(t, fault.Is(s.Save(t.Context()), fault.NotFound), "no messages")
		done := promptInBackground(t, s, "one")
		synctest.Wait()
		require.True(t, fault.Is(s.Save(t.Context()), fault.Busy))
		close(hold)
		<-done
		before := state(t, s)
		require.NoError(t, s.Save(t.Context()))
		after := state(t, s)
		require.Equal(t, []any{before.SessionID, before.LeafID, before.MessageCount, true}, []any{after.SessionID, after.LeafID, after.MessageCount, after.Persistent})
		saved := lines(t, fs, s)
		prompt(t, s, "three")
		require.Equal(t, append(saved, "user", "assistant"), lines(t, fs, s))
		require.NotContains(t, fmt.Sprint(m.Requests()), "for people", "it is not sent to the model")
		crumb, err := afero.ReadFile(fs, filepath.Join(root, "terminal-sessions", "tty1"))
		require.NoError(t, err)
		require.Contains(t, string(crumb), s.File())
		require.Contains(t, w.events, agent.Event(agent.SessionsChanged{Cwd: "/w"}))
		require.NoError(t, w.Close(t.Context()))
	})
}

// A running command of the user blocks saving: its output would be recorded in the session in memory and lost with it.
func TestACommandKeepsASessionInMemory(t *testing.T) {
	t.Parallel()
	shell := tool.NewShell(tool.Options{})
	w := newWorld(t, afero.NewMemMapFs(), func(c *agent.Config) { c.InMemory, c.Shell = true, &shell })
	s := w.live(t, t.TempDir())
	_, err := s.Bash(t.Context(), "echo first", false)
	require.NoError(t, err)
	begun, over := make(chan struct{}), make(chan error, 1)
	w.Subscribe(func(e agent.Event) {
		if _, ok := isEvent[event.BashUpdate](e); ok {
			select {
			case begun <- struct{}{}:
			default:
			}
		}
	})
	go func() {
		_, err := s.Bash(t.Context(), "until [ -e go ]; do echo wait; sleep 0.02; done; echo second", false)
		over <- err
	}()
	<-begun
	require.True(t, fault.Is(s.Save(t.Context()), fault.Busy))
	require.Empty(t, s.File())
	require.NoError(t, afero.WriteFile(afero.NewOsFs(), filepath.Join(s.Cwd(), "go"), nil, 0o600))
	require.NoError(t, <-over)
	require.NoError(t, s.Save(t.Context()))
	require.Equal(t, 2, state(t, s).MessageCount)
}
