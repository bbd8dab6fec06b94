//go:build unix

package agent_test

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/agent/approval"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/agent/tool"
	"github.com/xcsh-ls/xcsh-ls/agent/tool/manifest"
	"github.com/xcsh-ls/xcsh-ls/internal/providertest"
	"github.com/xcsh-ls/xcsh-ls/internal/sessiontest/kit"
)

// userTool loads a tool of a manifest and a shell script.
func userTool(t *testing.T, dir, script string) tool.Tool {
	t.Helper()
	syscall.ForkLock.RLock() // no other test starts a process, which would hold the file open
	require.NoError(t, os.WriteFile(filepath.Join(dir, "weather.sh"), []byte("#!/bin/sh\n"+script), 0o600))
	require.NoError(t, os.Chmod(filepath.Join(dir, "weather.sh"), 0o700))
	syscall.ForkLock.RUnlock()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "weather.json"), []byte(`{
		"name": "weather", "description": "Looks up the weather of a city.", "executable": "weather.sh",
		"parameters": {"type": "object", "properties": {"city": {"type": "string", "description": "Its name."}}, "required": ["city"]}
	}`), 0o600))
	tools := manifest.Folder{Fs: afero.NewOsFs(), Dir: dir, Shell: tool.NewShell(tool.Options{}), Report: func(text string) { t.Error(text) }}.Load()
	require.Len(t, tools, 1)
	return tools[0].Tool
}

// A user's tool is declared to the model in every format, asks for approval, runs with the validated
// arguments, and its result is part of the next request and an ordinary entry of the session.
func TestUserToolsInEveryFormat(t *testing.T) {
	t.Parallel()
	for api := range clients {
		t.Run(string(api), func(t *testing.T) {
			t.Parallel()
			cwd, dir := t.TempDir(), t.TempDir()
			weather := userTool(t, dir, `read -r args; printf '{"content":"sunny for %s","details":{"c":21}}' "$(echo "$args" | tr -d '"{}')"`)
			var asked []agent.Approval
			s := newScene(t, api, withTools(weather), answering(&asked, approval.Workspace))
			live := s.world.live(t, cwd)
			s.Script("m",
				providertest.Reply{ToolCalls: []providertest.Call{{Name: "weather", Args: map[string]any{"town": "Bern"}}}},
				providertest.Reply{ToolCalls: []providertest.Call{{Name: "weather", Args: map[string]any{"city": "Bern"}}}},
				providertest.Reply{ToolCalls: []providertest.Call{{Name: "weather", Args: map[string]any{"city": "Chur"}}}},
				providertest.Reply{Text: "Nice."})
			prompt(t, live, "How is the weather?")
			requests := s.Requests()
			require.Len(t, requests, 4)
			var declared provider.Tool
			for _, d := range requests[0].Tools {
				if d.Name == "weather" {
					declared = d
				}
			}
			require.Equal(t, "Looks up the weather of a city.", declared.Description)
			require.Contains(t, string(declared.Parameters), `"Its name."`)
			results := func(i int) (texts []string) {
				for _, m := range requests[i].Messages {
					if m.Role == provider.RoleToolResult {
						texts = append(texts, m.PlainText())
					}
				}
				return texts
			}
			require.Contains(t, results(1)[0], "The arguments of weather are invalid: ")
			require.Equal(t, []string{"sunny for city:Bern", "sunny for city:Chur"}, results(3)[1:])
			require.Len(t, asked, 1, "invalid arguments are not asked about, and the rule covers the second call")
			require.Equal(t, `Run the tool weather (weather.sh) with {"city":"Bern"}`, asked[0].Preview.Title)
			require.Equal(t, []approval.Rule{{Tool: "weather", Digest: weather.Digest, Text: "every call of weather, until its executable changes"}}, asked[0].Rules)
			content := kit.Content(t, s.fs, live.File())
			require.Regexp(t, `"role":"toolResult","content":\[{"type":"text","text":"sunny for city:Bern"}\],"toolCallId":"[^"]+","toolName":"weather","details":{"c":21},"isError":false`, content)
		})
	}
}

// answering answers approvals of the gate with a decision.
func answering(asked *[]agent.Approval, d approval.Decision) option {
	return func(c *agent.Config) {
		var mu sync.Mutex
		c.Ask = func(_ context.Context, a agent.Approval) (approval.Decision, error) {
			mu.Lock()
			defer mu.Unlock()
			*asked = append(*asked, a)
			return d, nil
		}
	}
}

// The rules of a tool end with its content, and no mode but yolo allows one without a rule.
func TestUserToolsAndTheModes(t *testing.T) {
	t.Parallel()
	for mode, ran := range map[approval.Mode]bool{approval.ReadOnly: false, approval.Ask: false, approval.AutoEdit: false, approval.Yolo: true} {
		t.Run(string(mode), func(t *testing.T) {
			t.Parallel()
			cwd := t.TempDir()
			weather := userTool(t, t.TempDir(), `touch ran; echo '{"content":"sunny"}'`)
			var asked []agent.Approval
			fs := afero.NewMemMapFs()
			w := newWorld(t, fs, withTools(weather), answering(&asked, approval.Deny), withModel(scripted(
				providertest.Reply{ToolCalls: []providertest.Call{{Name: "weather", Args: map[string]any{"city": "Bern"}}}}, providertest.Reply{Text: "So."},
			)), func(c *agent.Config) {
				c.Approval = mode
				c.Rules = fixedRules{{Tool: "weather"}, {Tool: "weather", Digest: "of another executable"}, {Edit: true}, {Line: "weather"}}
			})
			prompt(t, w.live(t, cwd), "hi")
			_, err := os.Stat(filepath.Join(cwd, "ran"))
			require.Equal(t, ran, err == nil)
			require.Equal(t, mode == approval.Ask || mode == approval.AutoEdit, len(asked) == 1)
		})
	}
}

// fixedRules are the stored rules of every folder.
type fixedRules []approval.Rule

func (r fixedRules) Rules(string) ([]approval.Rule, error) { return r, nil }

func (fixedRules) Add(string, []approval.Rule) error { return nil }
