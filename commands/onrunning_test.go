package commands_test

import (
	"context"
	"iter"
	"testing"
	"time"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/agent/provider/catalog"
	"github.com/xcsh-ls/xcsh-ls/agent/provider/offline"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

// slowService answers when the turn is stopped.
type slowService struct{ asked chan struct{} }

func (s slowService) Stream(ctx context.Context, req provider.Request) iter.Seq[provider.Event] {
	return func(yield func(provider.Event) bool) {
		s.asked <- struct{}{}
		<-ctx.Done()
		for e := range (offline.Provider{Now: time.Now}).Stream(ctx, req) {
			if !yield(e) {
				return
			}
		}
	}
}

// A client that cannot ask its user gets the busy error, and the turn continues.
func TestLeavingARunningTurnWithoutAUser(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	service := slowService{make(chan struct{}, 1)}
	env := newEnv(fs, withDemo(fs), func(c *agent.Config) {
		c.Models = &catalog.Catalog{
			Fs: fs, AgentDirs: []string{agentDir}, Getenv: func(string) string { return "" },
			Services: map[provider.API]provider.Provider{provider.Scripted: service},
		}
	})
	ended := make(chan error, 1)
	go func() {
		_, err := run(t.Context(), env, "xcsh.prompt", args{"text": "a long story"})
		ended <- err
	}()
	<-service.asked
	for _, command := range []string{"xcsh.new", "xcsh.continue"} {
		_, err := run(t.Context(), env, command, nil)
		requireKind(t, fault.Busy, err)
	}
	require.Equal(t, true, do(t, env, "xcsh.state", nil)["isStreaming"])
	do(t, env, "xcsh.new", args{"onRunning": "stop"})
	require.NoError(t, <-ended)
}
