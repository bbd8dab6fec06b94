package agent_test

import (
	"context"
	"iter"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/agent/compaction"
	"github.com/xcsh-ls/xcsh-ls/agent/event"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/internal/providertest"
)

// failing are models whose service panics as long as broken is set.
type failing struct {
	*models
	broken  bool
	release chan struct{} // if not nil, when
}

func (f *failing) Service(m provider.Model) (provider.Provider, error) {
	if f.broken {
		return f, nil
	}
	return f.models.Service(m)
}

func (f *failing) Stream(context.Context, provider.Request) iter.Seq[provider.Event] {
	return func(func(provider.Event) bool) {
		if f.release != nil {
			<-f.release
		}
		panic("index out of range")
	}
}

func TestPanicReturnsQueuedPrompts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := &failing{&models{}, true, make(chan struct{})}
		w := newWorld(t, afero.NewMemMapFs(), func(c *agent.Config) { c.Models, c.Defaults.Model = f, "p/m" })
		s := w.live(t, "/w")
		done := make(chan error)
		go func() {
			_, err := s.Prompt(t.Context(), agent.Input{Text: "hi"})
			done <- err
		}()
		synctest.Wait()
		_, err := s.Enqueue(agent.Input{Text: "my words", Queue: "steer"})
		require.NoError(t, err)
		close(f.release)
		require.ErrorContains(t, <-done, "index out of range")
		var back []string
		for _, e := range eventsOf[event.AgentEnd](w) {
			back = e.Unanswered
		}
		require.Equal(t, []string{"my words"}, back)
		require.NoError(t, w.Close(t.Context()))
	})
}

func TestAPanicEndsACompactionAndNothingElse(t *testing.T) {
	t.Parallel()
	f := &failing{models: scripted(
		providertest.Reply{Text: strings.Repeat("a long answer ", 50)}, providertest.Reply{Text: strings.Repeat("another answer ", 50)},
		providertest.Reply{Text: "It goes on."},
	)}
	w := newWorld(t, afero.NewMemMapFs(), func(c *agent.Config) {
		c.Models, c.Defaults.Model, c.Compaction = f, "p/m", compaction.Settings{KeepRecent: 10}
	})
	s := w.live(t, "/w")
	prompt(t, s, "one")
	prompt(t, s, "two")
	f.broken = true
	_, err := s.Compact(t.Context(), "")
	require.ErrorContains(t, err, "index out of range")
	require.False(t, state(t, s).IsCompacting)
	events := w.runEvents()
	require.IsType(t, event.CompactionEnd{}, events[len(events)-1].Event)
	require.NotEmpty(t, eventsOf[event.CompactionEnd](w)[0].ErrorMessage)
	f.broken = false
	prompt(t, s, "three")
	require.NoError(t, w.Close(t.Context()))
}
