package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/internal/lsptest"
	"github.com/xcsh-ls/xcsh-ls/internal/providertest"
)

// The thinking level that a client shows is the one that the model gets: the default of a session without one, and the
// supported one if the session records another.
func TestTheShownThinkingLevelIsSent(t *testing.T) {
	t.Parallel()
	const level = `{"type":"thinking_level_change","id":"22222222","parentId":"11111111","timestamp":"2026-01-01T00:00:01.000Z","thinkingLevel":%q}` + "\n"
	for name, tc := range map[string]struct{ model, recorded, shown, sent string }{
		"none recorded":        {"n", "", "medium", `"reasoning_effort":"medium"`},
		"supported":            {"n", "low", "low", `"reasoning_effort":"low"`},
		"more than supported":  {"n", "max", "high", `"reasoning_effort":"high"`},
		"not a level":          {"n", "very", "medium", `"reasoning_effort":"medium"`},
		"a model that doesn't": {"m", "high", "off", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newMachine(t, provider.OpenAICompletions)
			models := filepath.Join(m.agentDir(), "models.json")
			m.write(models, strings.Replace(m.read(models), `"models":[`, `"models":[{"id":"n","reasoning":true,"contextWindow":200000,"maxTokens":32000},`, 1))
			m.Script(tc.model, providertest.Reply{Text: "answer"})
			lines := strings.SplitAfter(fmt.Sprintf(resumed, m.work), "\n")
			change := ""
			if tc.recorded != "" {
				change = fmt.Sprintf(level, tc.recorded)
			}
			content := lines[0] + strings.Replace(lines[1], "fake/n", "fake/"+tc.model, 1) + change
			path := filepath.Join(m.agentDir(), "sessions", "-work", "2026-01-01T00-00-00-000Z_0190000000000001.jsonl")
			m.write(path, content)

			ed := lsptest.StartProcess(t, m.command("--stdio", "--resume", "0190000000000001"))
			ed.Initialize(lsptest.Fields{
				"workspaceFolders": []any{lsptest.Fields{"uri": lsptest.URI(m.work), "name": "w"}}, "capabilities": lsptest.Fields{},
			})
			shown := func(command string) string {
				raw, failure := ed.Exec(command, nil)
				require.Nil(t, failure)
				var state struct {
					ThinkingLevel string
					State         struct{ ThinkingLevel string }
				}
				require.NoError(t, json.Unmarshal(raw, &state))
				return state.ThinkingLevel + state.State.ThinkingLevel
			}
			require.Equal(t, tc.shown, shown("xcsh.state"))
			require.Equal(t, tc.shown, shown("xcsh.snapshot"))
			require.Equal(t, content, m.read(path), "looking changes nothing")
			_, failure := ed.Exec("xcsh.prompt", lsptest.Fields{"text": "words"})
			require.Nil(t, failure)
			body := string(m.Requests()[0].Body)
			if tc.sent == "" {
				require.NotContains(t, body, "reasoning")
			} else {
				require.Contains(t, body, tc.sent)
			}
			require.Equal(t, tc.shown, shown("xcsh.state"))
			ed.Shutdown()
			ed.Exit()
		})
	}
}
