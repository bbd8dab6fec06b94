package agent_test

import (
	"testing"
	"testing/synctest"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/agent/compaction"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/internal/providertest"
	"github.com/xcsh-ls/xcsh-ls/session"
)

func TestABranchSummaryCanBeAborted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		fs := afero.NewMemMapFs()
		path := put(t, fs, "a", "0123456789abcdef", "/w")
		hold := make(chan struct{})
		w := newWorld(t, fs, withModel(scripted(providertest.Reply{Text: "a summary", Before: hold})))
		s := w.live(t, "/w")
		_, err := s.Switch(t.Context(), path)
		require.NoError(t, err)
		done := make(chan error, 1)
		go func() {
			_, err := s.Branch(t.Context(), "bbbbbbbb", agent.BranchOptions{Summarize: true})
			done <- err
		}()
		synctest.Wait()
		require.True(t, state(t, s).IsCompacting)
		aborted, _, err := s.Abort(t.Context())
		require.NoError(t, err)
		require.True(t, aborted)
		require.Error(t, <-done)
		require.False(t, state(t, s).IsCompacting)
		require.Equal(t, "cccccccc", *state(t, s).LeafID, "the leaf is where it was")
		close(hold)
		require.NoError(t, w.Close(t.Context()))
	})
}

// A prompt that waits for a compaction does not prevent the user from stopping the compaction, and is not sent in
// another session.
func TestAPromptThatWaitsForACompaction(t *testing.T) {
	t.Parallel()
	for name, leave := range map[string]bool{"the session is left": true, "the compaction is aborted": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { promptInCompaction(t, leave) })
		})
	}
}

func promptInCompaction(t *testing.T, leave bool) {
	t.Helper()
	hold := make(chan struct{})
	defer close(hold)
	m := scripted(
		providertest.Reply{Text: "one"}, providertest.Reply{Text: "two"}, providertest.Reply{Text: "SUMMARY", Before: hold},
		providertest.Reply{Text: "three"}, providertest.Reply{Text: "four"},
	)
	w := newWorld(t, afero.NewMemMapFs(), withModel(m), func(c *agent.Config) { c.Compaction = compaction.Settings{KeepRecent: 2} })
	s := w.live(t, "/w")
	prompt(t, s, "first")
	prompt(t, s, "second")
	compacted, prompted := make(chan error, 1), make(chan error, 1)
	go func() {
		_, err := s.Compact(t.Context(), "")
		compacted <- err
	}()
	synctest.Wait()
	go func() {
		_, err := s.Prompt(t.Context(), agent.Input{Text: "third"})
		prompted <- err
	}()
	synctest.Wait()
	require.Empty(t, prompted, "it waits")
	if leave {
		_, err := s.New(t.Context(), session.NewOptions{})
		require.NoError(t, err)
		err = <-prompted
		assert.True(t, fault.Is(err, fault.Cancelled), "%v", err)
		assert.Zero(t, state(t, s).MessageCount)
	} else {
		aborted, _, err := s.Abort(t.Context())
		require.NoError(t, err)
		assert.True(t, aborted)
		require.NoError(t, <-prompted)
	}
	require.Error(t, <-compacted)
	require.NoError(t, w.Close(t.Context()))
}

func TestASwitchThatFailsLeavesTheTurn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		hold := make(chan struct{})
		w := newWorld(t, afero.NewMemMapFs(), withModel(scripted(providertest.Reply{Text: "a long answer", Hold: hold})))
		s := w.live(t, "/w")
		done := promptInBackground(t, s, "hi")
		synctest.Wait()
		_, err := s.Switch(t.Context(), "/nowhere/gone.jsonl")
		require.Error(t, err)
		close(hold)
		require.Equal(t, provider.StopEnd, (<-done).StopReason)
		require.NoError(t, w.Close(t.Context()))
	})
}
