//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/internal/lsptest"
	"github.com/xcsh-ls/xcsh-ls/internal/providertest"
)

// The values of the headers of a server at an address, from a variable and from the output of a command.
const (
	fromVariable = "horse-of-a-variable"
	fromCommand  = "battery-of-a-command"
)

// telltale is a server at an address that repeats the headers of each request where it can: in its instructions, descriptions,
// results and errors. It refuses requests of the path "/locked".
type telltale struct {
	mu   sync.Mutex
	seen []string // the headers of its requests; guarded by mu
}

func (s *telltale) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	heard := r.Header.Get("Authorization") + " " + r.Header.Get("X-Key")
	s.mu.Lock()
	s.seen = append(s.seen, heard)
	s.mu.Unlock()
	var m struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
		Params struct {
			Name string `json:"name"`
		} `json:"params"`
	}
	switch {
	case r.URL.Path == "/locked":
		http.Error(w, "wrong token: "+heard, http.StatusUnauthorized)
		return
	case r.Method != http.MethodPost:
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	case json.NewDecoder(r.Body).Decode(&m) != nil || m.ID == nil:
		w.WriteHeader(http.StatusAccepted)
		return
	}
	answer := map[string]any{"jsonrpc": "2.0", "id": m.ID}
	switch m.Method {
	case "initialize":
		answer["result"] = map[string]any{
			"protocolVersion": "2025-06-18", "serverInfo": map[string]any{"name": "telltale", "version": heard}, "instructions": "Instructions for " + heard,
			"capabilities": map[string]any{"tools": map[string]any{}},
		}
	case "tools/list":
		tool := func(name string) map[string]any {
			return map[string]any{"name": name, "description": "Tells " + heard, "inputSchema": map[string]any{"type": "object"}}
		}
		answer["result"] = map[string]any{"tools": []any{tool("tell"), tool("fail")}}
	case "tools/call":
		if answer["error"] = map[string]any{"code": -32000, "message": "failed for " + heard}; m.Params.Name == "tell" {
			delete(answer, "error")
			answer["result"] = map[string]any{"content": []any{map[string]any{"type": "text", "text": "heard " + heard}}, "structuredContent": map[string]any{"heard": heard}}
		}
	default:
		answer["error"] = map[string]any{"code": -32601, "message": "no method for " + heard}
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(answer)
}

// The values of headers are sent to their server and to nobody else, even if it repeats them: they are not in events, results, logs,
// requests to the model or the session. A server that refuses a request for want of a sign-in costs one sentence.
func TestServersGetTheirHeadersAlone(t *testing.T) {
	t.Parallel()
	m := newMachine(t, provider.AnthropicMessages)
	server := &telltale{}
	web := httptest.NewServer(server)
	t.Cleanup(web.Close)
	entry := func(path string) map[string]any {
		return map[string]any{"type": "http", "url": web.URL + path, "headers": map[string]string{"Authorization": "Bearer ${MY_HEADER}", "X-Key": "!printf " + fromCommand}}
	}
	raw, err := json.Marshal(map[string]any{"mcpServers": map[string]any{"docs": entry("/mcp"), "locked": entry("/locked")}})
	require.NoError(t, err)
	m.write(filepath.Join(m.agentDir(), "mcp.json"), string(raw))
	log := filepath.Join(m.home, "log")
	cmd := m.command("--stdio", "--log-file", log, "--log-level", "debug")
	cmd.Env = append(cmd.Env, "MY_HEADER="+fromVariable)
	ed := lsptest.StartProcess(t, cmd)
	ed.Initialize(lsptest.Fields{
		"workspaceFolders":      []any{lsptest.Fields{"uri": lsptest.URI(m.work), "name": "w"}},
		"initializationOptions": lsptest.Fields{"model": "fake/m", "approval": "yolo"}, "capabilities": lsptest.Fields{},
	})
	m.Script("m",
		providertest.Reply{ToolCalls: calls("mcp_docs_tell", map[string]any{})},
		providertest.Reply{ToolCalls: calls("mcp_docs_fail", map[string]any{})},
		providertest.Reply{ToolCalls: calls("mcp_locked_tell", map[string]any{})},
		providertest.Reply{Text: "Done."}, providertest.Reply{Text: "Again."})
	carry(t, ed, "xcsh.prompt", lsptest.Fields{"text": "go"})
	carry(t, ed, "xcsh.prompt", lsptest.Fields{"text": "again"})
	server.mu.Lock()
	seen := slices.Clone(server.seen)
	server.mu.Unlock()
	require.NotEmpty(t, seen)
	for _, heard := range seen {
		require.Equal(t, "Bearer "+fromVariable+" "+fromCommand, heard)
	}
	requests := m.Requests()
	require.Len(t, requests, 5)
	require.Contains(t, lastResult(t, requests[1]), "heard ")
	require.Contains(t, lastResult(t, requests[2]), "failed for ")

	const wants = `The MCP server \"locked\" wants a sign-in. Sign in with /mcp in xcsh, then run xcsh.mcp {\"action\":\"reconnect\",\"server\":\"locked\"}.`
	require.Equal(t, 1, strings.Count(messagesOf(ed), `"text":"`+wants+`"`), messagesOf(ed))
	require.Contains(t, lastResult(t, requests[3]), "wants a sign-in")
	_, failure := ed.Exec("xcsh.mcp", lsptest.Fields{"action": "reconnect", "server": "locked"})
	require.NotNil(t, failure)
	require.Contains(t, failure.Message, "wants a sign-in")

	said := map[string]string{"the session": m.read(m.sessionFile()), "the log": m.read(log), "a failure": fmt.Sprint(failure)}
	for _, command := range []string{"xcsh.setup", "xcsh.mcp", "xcsh.snapshot", "xcsh.dump", "xcsh.doctor"} {
		said[command] = string(carry(t, ed, command, nil))
	}
	ed.Shutdown()
	ed.Exit()
	said["the messages"] = messagesOf(ed)
	for i, r := range requests {
		said[fmt.Sprint("request ", i)] = string(r.Body)
	}
	require.Contains(t, said["xcsh.setup"], web.URL+"/mcp")
	require.Contains(t, said["the log"], "MCP server not connected")
	for where, text := range said {
		require.NotContains(t, text, fromVariable, where)
		require.NotContains(t, text, fromCommand, where)
	}
}
