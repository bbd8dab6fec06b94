package agent_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/agent/approval"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/agent/setup"
	"github.com/xcsh-ls/xcsh-ls/agent/tool"
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
		c.System = func(context.Context, *setup.Resolved, []provider.Tool) string { return "prompt\n" }
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

// The files of instructions are read at the beginning of a turn, and again after a tool that changes something: not for
// every request.
func TestInstructionsAreReadAgainAfterAChange(t *testing.T) {
	t.Parallel()
	look, change := providertest.Call{Name: "look"}, providertest.Call{Name: "change"}
	m := scripted(
		providertest.Reply{ToolCalls: []providertest.Call{look}}, providertest.Reply{ToolCalls: []providertest.Call{look}},
		providertest.Reply{ToolCalls: []providertest.Call{change}}, providertest.Reply{ToolCalls: []providertest.Call{look}},
		providertest.Reply{Text: "ok"}, providertest.Reply{Text: "ok"},
	)
	ran, reads, content := 0, 0, "one"
	modify := changing(&ran)
	run := modify.Run
	modify.Run = func(ctx context.Context, env tool.Env, args json.RawMessage) (tool.Result, error) {
		content = "two"
		return run(ctx, env, args)
	}
	w := newWorld(t, afero.NewMemMapFs(), withModel(m), withTools(lookTool(), modify), func(c *agent.Config) {
		c.Approval = approval.Yolo
		c.System = func(context.Context, *setup.Resolved, []provider.Tool) string { reads++; return content }
	})
	live := w.live(t, "/w")
	prompt(t, live, "first")
	content = "three"
	prompt(t, live, "second")
	var systems []string
	for _, r := range m.Requests() {
		systems = append(systems, r.System)
	}
	require.Equal(t, []string{"one", "one", "one", "two", "two", "three"}, systems)
	require.Equal(t, 3, reads)
	require.Equal(t, 1, ran)
	require.NoError(t, w.Close(t.Context()))
}
