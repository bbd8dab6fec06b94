package agent_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/internal/providertest"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// The surroundings are determined once for each conversation, so that its requests begin alike.
func TestSurroundingsStayTheSame(t *testing.T) {
	t.Parallel()
	m := scripted(providertest.Reply{ToolCalls: []providertest.Call{{Name: "look"}}}, providertest.Reply{Text: "ok"})
	n := 0
	fs := afero.NewMemMapFs()
	surroundings := func(c *agent.Config) {
		c.System = func(context.Context, string) string { return "prompt\n" }
		c.Surroundings = func(_ context.Context, cwd string, begins bool) string {
			n++
			return fmt.Sprintf("%s %d %t\n", cwd, n, begins)
		}
	}
	w := newWorld(t, fs, withModel(m), withTools(lookTool()), surroundings)
	live := w.live(t, "/w")
	var system string
	require.NoError(t, live.View(func(d *session.Document, leaf session.Leaf) error {
		system, _ = live.Instructions(t.Context(), d, leaf)
		return nil
	}))
	require.Equal(t, "prompt\n", system, "there was no turn yet")
	last := func() string {
		r := m.Requests()
		return strings.TrimPrefix(r[len(r)-1].System, "prompt\n")
	}
	prompt(t, live, "one")
	require.Equal(t, "/w 1 true\n", last())
	prompt(t, live, "two")
	require.Equal(t, "/w 1 true\n", last())
	for _, r := range m.Requests() {
		require.Equal(t, m.Requests()[0].System, r.System)
	}
	first := live.File()
	_, err := live.Fork(t.Context())
	require.NoError(t, err)
	prompt(t, live, "in a fork")
	require.Equal(t, "/w 1 true\n", last(), "its requests begin like those before")
	_, err = live.New(t.Context(), session.NewOptions{})
	require.NoError(t, err)
	prompt(t, live, "something else")
	require.Equal(t, "/w 2 true\n", last())
	_, err = live.Switch(t.Context(), first)
	require.NoError(t, err)
	prompt(t, live, "back")
	require.Equal(t, "/w 1 true\n", last())
	require.NoError(t, w.Close(t.Context()))

	w = newWorld(t, fs, withModel(m), withTools(lookTool()), surroundings)
	live = w.live(t, "/w")
	_, err = live.Switch(t.Context(), first)
	require.NoError(t, err)
	prompt(t, live, "in another process")
	require.Equal(t, "/w 3 false\n", last())
	require.NoError(t, w.Close(t.Context()))
}
