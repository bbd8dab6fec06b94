package acp

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/engine"
	"github.com/xcsh-ls/xcsh-ls/agent/event"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
)

// sink is a host that checks the reported events and messages.
type sink struct {
	engine.Host
	t *testing.T
}

func (s sink) Emit(e event.Event) {
	raw, err := json.Marshal(e)
	require.NoError(s.t, err)
	require.True(s.t, json.Valid(raw))
}

func (s sink) Message(_ context.Context, m json.RawMessage) {
	_, err := provider.DecodeMessage(m)
	require.NoError(s.t, err)
	require.True(s.t, json.Valid(m))
}

func (s sink) Read(context.Context, string) (string, bool, error) { return "", false, nil }

func (s sink) Permit(_ context.Context, c engine.Call) error {
	require.True(s.t, json.Valid(c.Args))
	require.Equal(s.t, c.Effect == engine.Changes, c.Path != "")
	return nil
}

// FuzzUpdates: only events and messages are reported, whatever an agent sends.
func FuzzUpdates(f *testing.F) {
	for _, name := range []string{"acp-omp", "acp-claude-agent", "acp-pi-acp"} {
		raw, err := os.ReadFile(filepath.Join("testdata", name+".jsonl"))
		require.NoError(f, err)
		for line := range bytes.Lines(raw) {
			var r struct {
				Msg struct{ Params json.RawMessage }
			}
			if json.Unmarshal(line, &r) == nil && len(r.Msg.Params) > 0 && len(r.Msg.Params) < 1500 {
				f.Add([]byte(r.Msg.Params))
			}
		}
	}
	f.Fuzz(func(t *testing.T, params []byte) {
		e := New(engine.Program{Name: "claude"}, Options{Fs: afero.NewMemMapFs()})
		e.host, e.link, e.place.Cwd, e.place.Permit = sink{t: t}, &link{e: e, over: make(chan struct{}), unknown: map[string]bool{}}, "/w", true
		e.bounds.text = 100
		turn := e.newTurn(t.Context(), engine.Input{Text: "x"})
		e.serial.Lock()
		defer e.serial.Unlock()
		e.turn = turn
		e.updated(params)
		e.updated([]byte(`{"update":{"sessionUpdate":"tool_call_update","toolCallId":"toolu_call_1","status":"in_progress","rawOutput":"x"}}`))
		e.updated(params)
		e.begun(params)
		var p map[string]json.RawMessage
		lenient(params, &p)
		if p == nil {
			p = map[string]json.RawMessage{}
		}
		p["sessionId"] = json.RawMessage(`""`)
		request, err := json.Marshal(p)
		if err == nil {
			for _, handle := range []func(json.RawMessage) func() (any, error){e.permission, e.readFile} {
				rest := handle(request)
				e.serial.Unlock()
				_, _ = rest()
				e.serial.Lock()
			}
			_ = e.writeFile(request)
		}
		turn.finish(provider.StopEnd, "")
	})
}
