package agent_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/agent/tool"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/internal/providertest"
)

// stuckTurn is a prompt whose tool ignores its cancellation until release is closed. done is closed when the turn
// has ended.
func stuckTurn(t *testing.T, s *agent.Session) (done <-chan struct{}) {
	t.Helper()
	over := make(chan struct{})
	go func() {
		defer close(over)
		_, err := s.Prompt(t.Context(), agent.Input{Text: "hi"})
		assert.NoError(t, err)
	}()
	synctest.Wait()
	return over
}

// stuckOn is a tool that returns when release is closed and not before.
func stuckOn(release <-chan struct{}) tool.Tool {
	return tool.Tool{Tool: provider.Tool{Name: "stuck"}, Run: func(context.Context, tool.Env, json.RawMessage) (tool.Result, error) {
		<-release
		return tool.TextResult("x"), nil
	}}
}

func stuckModel() option {
	return withModel(scripted(
		providertest.Reply{ToolCalls: []providertest.Call{{Name: "stuck"}}}, providertest.Reply{Text: "Done."},
	))
}

// One turn that cannot be stopped does not keep the sessions of other folders from being ended.
func TestCloseReachesEveryFolder(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		w := newWorld(t, afero.NewMemMapFs(), stuckModel(), withTools(stuckOn(release)))
		a := w.live(t, "/a")
		for i := range 20 {
			w.live(t, fmt.Sprintf("/b%02d", i))
		}
		done := stuckTurn(t, a)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		require.ErrorIs(t, w.Close(ctx), context.DeadlineExceeded)
		ended := 0
		for _, c := range w.changes() {
			if c.Reason == agent.ReasonShutdown {
				ended++
			}
		}
		close(release)
		<-done
		require.Equal(t, 20, ended, "folders that were idle and could be closed")
		require.NoError(t, w.Close(t.Context()), "the one that is left can be ended later")
	})
}

// Even when no time is left.
func TestCloseWithoutTimeEndsIdleSessions(t *testing.T) {
	t.Parallel()
	w := newWorld(t, afero.NewMemMapFs())
	for i := range 10 {
		w.live(t, fmt.Sprintf("/b%02d", i))
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.NoError(t, w.Close(ctx))
	require.Len(t, w.changes(), 10)
}

// A session whose file is still being written stays live, so that no other session writes to the
// file.
func TestAFolderThatCannotBeClosedStays(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		fs := afero.NewMemMapFs()
		path := put(t, fs, "a", "0123456789abcdef", "/w")
		w := newWorld(t, fs, stuckModel(), withTools(stuckOn(release)))
		s := w.live(t, "/w")
		_, err := s.Switch(t.Context(), path)
		require.NoError(t, err)
		done := stuckTurn(t, s)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		require.ErrorIs(t, w.CloseFolder(ctx, "/w"), context.DeadlineExceeded)
		_, live := w.LiveIn(path)
		assert.True(t, live, "the session is still being written to")
		other := w.live(t, "/v")
		_, err = other.Switch(t.Context(), path)
		assert.True(t, fault.Is(err, fault.Busy), "%v", err)
		close(release)
		<-done
		require.NoError(t, w.CloseFolder(t.Context(), "/w"))
		require.Nil(t, w.Live("/w"))
		_, err = other.Switch(t.Context(), path)
		require.NoError(t, err)
		require.NoError(t, w.Close(t.Context()))
	})
}
