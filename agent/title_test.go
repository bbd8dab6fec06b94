package agent_test

import (
	"context"
	"encoding/json"
	"os"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/agent/event"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/agent/tool"
	"github.com/xcsh-ls/xcsh-ls/internal/providertest"
)

// names returns the titles that were published.
func (w *world) names() (names []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, e := range w.events {
		if run, ok := e.(agent.RunEvent); ok {
			if changed, ok := run.Event.(event.SessionInfoChanged); ok {
				names = append(names, changed.Name)
			}
		}
	}
	return names
}

// A client learns of a new title, in whatever program the user gave it.
func TestANewTitleIsPublished(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	path := put(t, fs, "a", "0123456789abcdef", "/w")
	byPi := tool.Tool{Tool: provider.Tool{Name: "look"}, Run: func(context.Context, tool.Env, json.RawMessage) (tool.Result, error) {
		f, err := fs.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
		if err == nil {
			_, err = f.WriteString(`{"type":"session_info","id":"ffffffff","parentId":"bbbbbbbb","timestamp":"2026-02-03T04:05:06.000Z","name":"by pi"}` + "\n")
			_ = f.Close()
		}
		return tool.TextResult("looked"), err
	}}
	m := scripted(providertest.Reply{Text: "Hello."}, providertest.Reply{ToolCalls: []providertest.Call{{Name: "look"}}}, providertest.Reply{Text: "Done."})
	w := newWorld(t, fs, withModel(m), withTools(byPi))
	s := w.live(t, "/w")
	_, err := s.Switch(t.Context(), path)
	require.NoError(t, err)
	prompt(t, s, "hi")
	require.Empty(t, w.names(), "it has no title")

	require.NoError(t, s.Rename(t.Context(), "ours"))
	require.NoError(t, s.Rename(t.Context(), "ours"))
	require.Equal(t, []string{"ours"}, w.names(), "an unchanged title is not published again")
	prompt(t, s, "look")
	require.Equal(t, []string{"ours", "by pi"}, w.names())
	snap, err := s.Snapshot(t.Context())
	require.NoError(t, err)
	require.Equal(t, "by pi", snap.State.Title)
	require.NoError(t, s.Rename(t.Context(), "ours again"))
	require.Equal(t, []string{"ours", "by pi", "ours again"}, w.names())
}
