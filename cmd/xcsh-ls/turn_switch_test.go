package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/internal/lsptest"
	"github.com/xcsh-ls/xcsh-ls/internal/providertest"
)

// moreState are entries with the rest of what a program restores.
const moreState = `{"type":"service_tier_change","id":"cccccccc","parentId":"bbbbbbbb","timestamp":"2026-01-01T00:00:03.000Z","serviceTier":"priority"}
{"type":"mcp_tool_selection","id":"dddddddd","parentId":"cccccccc","timestamp":"2026-01-01T00:00:03.000Z","selectedToolNames":["mcp_a"]}
`

// A switch that fails, in the middle of a turn with a queued prompt, changes nothing: neither the state, nor the
// turn, nor any later request, which has the messages, the model, the thinking level, the tools and the prompt.
// Proves: X-207, O-055, O-060
func TestAFailedSwitchCostsNothing(t *testing.T) {
	t.Parallel()
	for _, api := range formats {
		t.Run(string(api), func(t *testing.T) {
			t.Parallel()
			control := turnWithSwitches(t, api)
			require.Len(t, control, 3)
			require.Equal(t, control, turnWithSwitches(t, api, "gone.jsonl", "junk.jsonl", "folder.jsonl", "no-such-id"))
		})
	}
}

// turnWithSwitches resumes a session, tries to switch to targets while its turn runs, and returns the requests of
// that turn and the next one.
func turnWithSwitches(t *testing.T, api provider.API, targets ...string) (bodies []string) {
	t.Helper()
	m := newMachine(t, api)
	models := filepath.Join(m.agentDir(), "models.json")
	m.write(models, strings.Replace(m.read(models), `"models":[`, `"models":[{"id":"n","reasoning":true,"contextWindow":200000,"maxTokens":32000},`, 1))
	hold := make(chan struct{})
	m.Script("n", providertest.Reply{Text: "answer 1", Hold: hold}, providertest.Reply{Text: "answer 2"}, providertest.Reply{Text: "answer 3"})
	m.write(filepath.Join(m.agentDir(), "sessions", "-work", "2026-01-01T00-00-00-000Z_0190000000000001.jsonl"), fmt.Sprintf(resumed, m.work)+moreState)
	m.write(m.path("junk.jsonl"), "junk")
	require.NoError(t, os.Mkdir(m.path("folder.jsonl"), 0o700))

	ed := lsptest.StartProcess(t, m.command("--stdio", "--resume", "0190000000000001"))
	ed.Initialize(lsptest.Fields{
		"workspaceFolders":      []any{lsptest.Fields{"uri": lsptest.URI(m.work), "name": "w"}},
		"initializationOptions": lsptest.Fields{"model": "fake/m"}, "capabilities": lsptest.Fields{},
	})
	turn := ed.BeginExec("xcsh.prompt", lsptest.Fields{"text": "second words"})
	ed.WaitEvent("message_update") // the turn runs, and its answer is held
	_, failure := ed.Exec("xcsh.followUp", lsptest.Fields{"text": "third words"})
	require.Nil(t, failure)
	state := func() json.RawMessage {
		raw, failure := ed.Exec("xcsh.state", nil)
		require.Nil(t, failure)
		return raw
	}
	before := state()
	require.Contains(t, string(before), `"isStreaming":true`)
	require.Contains(t, string(before), `"followUp":1`)
	for _, target := range targets {
		_, failure := ed.Exec("xcsh.resume", lsptest.Fields{"target": target, "onRunning": "stop"})
		require.NotNil(t, failure, target)
		require.JSONEq(t, string(before), string(state()), target)
	}
	close(hold)
	_, failure = turn.Wait()
	require.Nil(t, failure)
	_, failure = ed.Exec("xcsh.prompt", lsptest.Fields{"text": "last words"})
	require.Nil(t, failure)
	for _, r := range m.Requests() {
		bodies = append(bodies, strings.ReplaceAll(string(r.Body), filepath.Dir(m.home), "(machine)"))
	}
	ed.Shutdown()
	ed.Exit()
	return bodies
}
