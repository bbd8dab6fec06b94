package approval_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/approval"
	"github.com/xcsh-ls/xcsh-ls/agent/sandbox"
)

// hostile is a tool call and its expected outcome in each mode: refused, asked, ran, or the level
// of the sandbox at which a command ran without approval.
type hostile struct {
	Tool string                   `json:"tool"`
	Args map[string]any           `json:"args"`
	Note string                   `json:"note"`
	Want map[approval.Mode]string `json:"want"`
}

func hostileCalls(t *testing.T) (calls []hostile) {
	t.Helper()
	content, err := os.ReadFile("../../attack/testdata/calls.jsonl")
	require.NoError(t, err)
	for line := range strings.Lines(string(content)) {
		var c hostile
		require.NoError(t, json.Unmarshal([]byte(line), &c))
		calls = append(calls, c)
	}
	return calls
}

// request is the call as the gate gets it.
func (c hostile) request(t *testing.T, m machine) approval.Request {
	t.Helper()
	args, err := json.Marshal(c.Args)
	require.NoError(t, err)
	quoted := strings.NewReplacer("{root}", m.root, "{out}", m.out, "{keys}", m.keys, "{home}", filepath.Dir(filepath.Dir(m.keys)))
	r := approval.Request{ID: "c", Tool: c.Tool, Args: []byte(quoted.Replace(string(args)))}
	if path, ok := c.Args["path"].(string); ok {
		path = m.fill(path)
		if rest, ok := strings.CutPrefix(path, "~/"); ok {
			path = filepath.Join(m.fill("{home}"), rest)
		}
		if !filepath.IsAbs(path) {
			path = filepath.Join(m.root, path)
		}
		r.Preview.Paths = []string{filepath.Clean(path)}
	}
	return r
}

// outcome returns the outcome of a request.
func outcome(t *testing.T, cfg approval.Config, r approval.Request) string {
	t.Helper()
	g := approval.NewGate(cfg)
	asked := false
	g.Attach(func(context.Context, approval.Prompt) (approval.Decision, error) {
		asked = true
		return approval.Once, nil
	})
	grant, err := g.Ask(t.Context(), r)
	switch {
	case err != nil:
		return "refused"
	case asked:
		require.NotEqual(t, sandbox.Strict, grant.Level)
		return "asked"
	case r.Tool == "bash":
		return grant.Level.String()
	default:
		return "ran"
	}
}

// A model plays hostile calls in every mode.
func TestHostileCalls(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the paths are those of Unix")
	}
	m := newMachine(t)
	calls := hostileCalls(t)
	counts := map[string]int{}
	harmless := map[string]bool{"looking around": true, "an ordinary file": true, "writing a file of the folder": true}
	hostile := 0
	for _, c := range calls {
		if !harmless[c.Note] {
			hostile++
		}
		r := c.request(t, m)
		for _, mode := range approval.Modes {
			cfg := m.config(true)
			cfg.Mode = mode
			got := outcome(t, cfg, r)
			counts[string(mode)+" "+got]++
			if got != c.Want[mode] {
				t.Errorf("%s, %s, in %s: %s, want %s: %s", c.Tool, c.Note, mode, got, c.Want[mode], r.Args)
			}
			if got == "strict" && !harmless[c.Note] {
				t.Errorf("a hostile call ran unasked: %s", r.Args)
			}
			// Without a sandbox every command requires approval.
			cfg.Sandbox = false
			if got := outcome(t, cfg, r); c.Tool == "bash" && (mode == approval.Ask || mode == approval.AutoEdit) && got != "asked" && c.Want[mode] != "standard" {
				t.Errorf("without a sandbox, in %s: %s: %s", mode, got, r.Args)
			}
		}
	}
	require.GreaterOrEqual(t, hostile, 200)
	var table strings.Builder
	fmt.Fprintf(&table, "%d calls, %d of them hostile\n%-10s", len(calls), hostile, "mode")
	columns := []string{"refused", "asked", "strict", "standard", "ran"}
	for _, c := range columns {
		fmt.Fprintf(&table, "%10s", c)
	}
	for _, mode := range approval.Modes {
		fmt.Fprintf(&table, "\n%-10s", mode)
		for _, c := range columns {
			fmt.Fprintf(&table, "%10d", counts[string(mode)+" "+c])
		}
	}
	t.Log(table.String())
}
