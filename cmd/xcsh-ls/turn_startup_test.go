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

// resumed is a session with everything that a resume applies, whose model isn't the default one.
const resumed = `{"type":"session","version":3,"id":"0190000000000001","timestamp":"2026-01-01T00:00:00.000Z","cwd":%q}
{"type":"model_change","id":"11111111","parentId":null,"timestamp":"2026-01-01T00:00:01.000Z","model":"fake/n"}
{"type":"thinking_level_change","id":"22222222","parentId":"11111111","timestamp":"2026-01-01T00:00:01.000Z","thinkingLevel":"high"}
{"type":"mode_change","id":"33333333","parentId":"22222222","timestamp":"2026-01-01T00:00:01.000Z","mode":"plan","data":{"planFilePath":"p.md"}}
{"type":"message","id":"aaaaaaaa","parentId":"33333333","timestamp":"2026-01-01T00:00:01.000Z","message":{"role":"user","content":"first words","timestamp":1767225601000}}
{"type":"message","id":"bbbbbbbb","parentId":"aaaaaaaa","timestamp":"2026-01-01T00:00:02.000Z","message":{"role":"assistant","content":[{"type":"text","text":"first answer"}],"api":"anthropic-messages","provider":"fake","model":"n","usage":{"input":1,"output":2,"cacheRead":0,"cacheWrite":0,"totalTokens":3,"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":0}},"stopReason":"stop","timestamp":1767225602000}}
`

// A server that starts with an earlier session has its messages once, its model, its thinking level and its
// mode before the first command is answered, has changed nothing, and sends them with the next prompt.
// Proves
func TestStartupAppliesTheSession(t *testing.T) {
	t.Parallel()
	thinks := map[provider.API]string{
		provider.AnthropicMessages: `"thinking":{`, provider.OpenAICompletions: `"reasoning_effort":"high"`,
		provider.OpenAIResponses: `"effort":"high"`, provider.AzureResponses: `"effort":"high"`,
		provider.GoogleGenerativeAI: `"thinkingConfig":{`, provider.BedrockConverse: "", // only models that it knows by their name think
	}
	forEachFormat(t, func(t *testing.T, m *machine) {
		models := filepath.Join(m.agentDir(), "models.json")
		m.write(models, strings.Replace(m.read(models), `"models":[`, `"models":[{"id":"n","reasoning":true,"contextWindow":200000,"maxTokens":32000},`, 1))
		m.Script("n", providertest.Reply{Text: "second answer"})
		path := filepath.Join(m.agentDir(), "sessions", "-work", "2026-01-01T00-00-00-000Z_0190000000000001.jsonl")
		m.write(path, fmt.Sprintf(resumed, m.work))
		before := m.read(path)

		ed := lsptest.StartProcess(t, m.command("--stdio", "--resume", "0190000000000001"))
		ed.Initialize(lsptest.Fields{
			"workspaceFolders":      []any{lsptest.Fields{"uri": lsptest.URI(m.work), "name": "w"}},
			"initializationOptions": lsptest.Fields{"model": "fake/m", "thinkingLevel": "low"}, "capabilities": lsptest.Fields{},
		})
		raw, failure := ed.Exec("xcsh.snapshot", nil)
		require.Nil(t, failure)
		var snap struct {
			State struct {
				SessionID, ThinkingLevel, Mode string
				ModeData                       json.RawMessage
				Model                          struct{ Provider, ID string }
			}
			Messages []json.RawMessage
		}
		require.NoError(t, json.Unmarshal(raw, &snap))
		require.Equal(t, "0190000000000001", snap.State.SessionID)
		require.Len(t, snap.Messages, 2, "each message once")
		require.Equal(t, "fake/n", snap.State.Model.Provider+"/"+snap.State.Model.ID)
		require.Equal(t, "high", snap.State.ThinkingLevel)
		require.Equal(t, "plan", snap.State.Mode)
		require.JSONEq(t, `{"planFilePath":"p.md"}`, string(snap.State.ModeData))
		require.Equal(t, before, m.read(path))

		_, failure = ed.Exec("xcsh.prompt", lsptest.Fields{"text": "second words"})
		require.Nil(t, failure)
		requests := m.Requests()
		require.Len(t, requests, 1)
		require.Equal(t, "n", requests[0].Model)
		body := string(requests[0].Body)
		for _, text := range []string{"first words", "first answer", "second words"} {
			require.Equal(t, 1, strings.Count(body, text), text)
		}
		require.Contains(t, body, thinks[requests[0].API])
		require.True(t, strings.HasPrefix(m.read(path), before))
		ed.Shutdown()
		ed.Exit()
	})
}
