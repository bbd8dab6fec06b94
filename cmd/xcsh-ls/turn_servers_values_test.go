//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/internal/mcptest"
	"github.com/xcsh-ls/xcsh-ls/internal/providertest"
	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
)

// A server starts with the arguments and variables that the session's program gives it.
func TestServersGetTheValuesOfTheProgram(t *testing.T) {
	t.Parallel()
	values := map[string]string{
		"INSIDE": "x-${MY_ARG}-y", "DOLLAR": "$MY_ARG", "NAME": "MY_ARG", "UNSET": "NOT_SET_VARIABLE", "COMMAND": "!echo x",
	}
	args := []string{"${MY_ARG}", "${MY_UNSET:-fallback}", "${MY_UNSET}"}
	for program, want := range map[string]struct {
		args []string
		env  map[string]string
	}{
		".pi": {args, map[string]string{
			"INSIDE": "x-argument-y", "DOLLAR": "argument", "NAME": "MY_ARG", "UNSET": "NOT_SET_VARIABLE", "COMMAND": "x",
		}},
		".omp": {[]string{"argument", "fallback", "${MY_UNSET}"}, map[string]string{
			"INSIDE": "x-argument-y", "DOLLAR": "$MY_ARG", "NAME": "argument", "UNSET": "NOT_SET_VARIABLE", "COMMAND": "x",
		}},
	} {
		t.Run(program, func(t *testing.T) {
			t.Parallel()
			m := newMachine(t, provider.AnthropicMessages)
			probe := mcptest.Start(t, "ok")
			entry := probe.Entry()
			entry["type"], entry["args"] = "stdio", args
			for name, value := range values {
				entry["env"].(map[string]string)[mcptest.ShownEnv+name] = value
			}
			raw, err := json.Marshal(map[string]any{"mcpServers": map[string]any{"probe": entry}})
			require.NoError(t, err)
			m.write(filepath.Join(m.home, program, "agent", "mcp.json"), string(raw))
			path := filepath.Join(m.home, program, "agent", "sessions", "--"+strings.ReplaceAll(strings.Trim(m.work, "/"), "/", "-")+"--", "2026-01-01T00-00-00-000Z_0190000000000001.jsonl")
			m.write(path, `{"type":"session","version":3,"id":"0190000000000001","timestamp":"2026-01-01T00:00:00.000Z","cwd":`+string(rawjson.Quote(m.work))+`}
{"type":"message","id":"aaaaaaaa","parentId":null,"timestamp":"2026-01-01T00:00:01.000Z","message":{"role":"user","content":"first words","timestamp":1767225601000}}
`)
			m.Script("m", providertest.Reply{Text: "Done."})
			cmd := m.command("run", "--resume", "0190000000000001", "--model", "fake/m", "--approval", "yolo", "go")
			var errs bytes.Buffer
			cmd.Env, cmd.Stderr = append(cmd.Env, "MY_ARG=argument"), &errs
			require.NoError(t, cmd.Run(), errs.String())
			records := probe.Records(t)
			require.NotEmpty(t, records, errs.String())
			require.Equal(t, want.args, records[0].M.Args)
			shown := map[string]string{}
			for name, value := range records[0].M.Env {
				shown[strings.TrimPrefix(name, mcptest.ShownEnv)] = value
			}
			require.Equal(t, want.env, shown)
			mcptest.Gone(t, probe.Starts(t)...)
		})
	}
}
