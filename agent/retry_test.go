package agent_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/internal/providertest"
)

// A panel that opens during a retry shows it: with the rest of its delay, then without one until the
// answer begins.
func TestASnapshotHasTheRunningRetry(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		before, hold := make(chan struct{}), make(chan struct{})
		m := scripted(
			providertest.Reply{Fault: providertest.OverloadedBefore},
			providertest.Reply{Fault: providertest.ServerError, Before: before},
			providertest.Reply{Text: "So here it is.", Hold: hold},
		)
		w := newWorld(t, afero.NewMemMapFs(), withModel(m))
		s := w.live(t, "/w")
		retry := func() *agent.Retry {
			t.Helper()
			synctest.Wait()
			snap, err := s.Snapshot(t.Context())
			require.NoError(t, err)
			if snap.Retry != nil {
				assert.NotEmpty(t, snap.Retry.ErrorMessage)
				snap.Retry.ErrorMessage = ""
			}
			return snap.Retry
		}
		turn := promptInBackground(t, s, "hi")
		first := agent.Retry{Attempt: 1, MaxAttempts: 6, DelayMs: 2000, Reason: provider.Overloaded}
		assert.Equal(t, &first, retry())
		<-time.After(1500 * time.Millisecond) // of the bubble's clock
		first.DelayMs = 500
		assert.Equal(t, &first, retry())
		<-time.After(time.Second)
		first.DelayMs = 0
		assert.Equal(t, &first, retry(), "the request was sent again, and nothing has come back")
		close(before)
		assert.Equal(t, &agent.Retry{Attempt: 2, MaxAttempts: 3, DelayMs: 4000, Reason: provider.Server}, retry())
		<-time.After(5 * time.Second)
		assert.Nil(t, retry(), "the answer has begun")
		close(hold)
		assert.Equal(t, provider.StopEnd, (<-turn).StopReason)
		require.NoError(t, w.Close(t.Context()))
	})
}
