package attack

import (
	"bufio"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/providertest"
)

// Clients of the Agent Client Protocol show titles, names and errors unchanged, some of them in a terminal.
func TestTitlesOfAnACPAgentSteerNothing(t *testing.T) {
	v := newVictim(t)
	v.hostileSession()
	v.Script("m", providertest.Reply{Text: "Hello.", ToolCalls: []providertest.Call{
		{Name: "bash", Args: map[string]any{"command": "true # " + steering}}, {Name: "tool" + steering, Args: map[string]any{}}, {Name: "read", Args: map[string]any{"path": steering}},
	}}, providertest.Reply{Text: "Done."})
	cmd := v.command("acp", "--model", "fake/m", "--session-dir", v.home+"/all")
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<24)
	titles := 0
	call := func(id int, method string, params any) json.RawMessage {
		t.Helper()
		raw, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": id, "method": method, "params": params})
		require.NoError(t, err)
		_, err = fmt.Fprintf(in, "%s\n", raw)
		require.NoError(t, err)
		for lines.Scan() {
			var m struct {
				ID     json.RawMessage
				Method string
				Result json.RawMessage
				Error  *struct{ Message string }
			}
			require.NoError(t, json.Unmarshal(lines.Bytes(), &m))
			if m.Method == "session/request_permission" {
				_, err = fmt.Fprintf(in, `{"jsonrpc":"2.0","id":%s,"result":{"outcome":{"outcome":"selected","optionId":"deny"}}}`+"\n", m.ID)
				require.NoError(t, err)
			}
			for _, s := range texts(lines.Bytes(), "rawInput", "rawOutput", "locations", "content", "cwd", "sessionId", "path", "_meta", "availableCommands", "data") {
				requireSteersNothing(t, method, s)
				titles++
			}
			if m.Method == "" && string(m.ID) == fmt.Sprint(id) {
				if m.Error != nil {
					requireSteersNothing(t, method, m.Error.Message)
				}
				return m.Result
			}
		}
		require.Fail(t, "the agent ended", method)
		return nil
	}
	call(1, "initialize", map[string]any{"protocolVersion": 1, "clientCapabilities": map[string]any{}})
	call(2, "session/list", map[string]any{})
	call(3, steering, map[string]any{})
	call(4, "session/load", map[string]any{"sessionId": steering, "cwd": v.work, "mcpServers": []any{}})
	var made struct{ SessionID string }
	require.NoError(t, json.Unmarshal(call(5, "session/new", map[string]any{"cwd": v.work, "mcpServers": []any{}}), &made))
	call(6, "session/prompt", map[string]any{"sessionId": made.SessionID, "prompt": []any{map[string]any{"type": "text", "text": "go " + steering}}})
	require.Greater(t, titles, 20)
	require.NoError(t, in.Close())
	_ = cmd.Wait()
}
