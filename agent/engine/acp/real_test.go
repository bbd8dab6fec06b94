//go:build peers

package acp_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/engine"
	"github.com/xcsh-ls/xcsh-ls/agent/engine/acp"
	"github.com/xcsh-ls/xcsh-ls/agent/engine/child"
	"github.com/xcsh-ls/xcsh-ls/internal/echomodel"
)

// real is an engine with a real program.
type real struct {
	*testing.T
	e       *acp.Engine
	host    *host
	place   engine.Place
	program engine.Program
	env     []string

	child    *child.Child // that open started
	reported int          // messages of the file; used under the engine's own lock
}

func installed(t *testing.T, variable string, parts ...string) string {
	t.Helper()
	path := os.Getenv(variable)
	if path == "" {
		path = filepath.Join(append([]string{"..", "..", "..", "bench", "peers", "node_modules"}, parts...)...)
	}
	path, err := filepath.Abs(path)
	require.NoError(t, err)
	if _, err := os.Stat(path); err != nil {
		require.Empty(t, os.Getenv("XCSH_REQUIRE_PEERS"), "%s is not installed", path)
		t.Skipf("%s is not installed; run bench/peers/install.sh engines, or set %s", path, variable)
	}
	return path
}

func newReal(t *testing.T, p engine.Program, env ...string) *real {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	r := &real{T: t, program: p, host: newHost(afero.NewOsFs())}
	r.place = engine.Place{Cwd: filepath.Join(dir, "project"), Dir: filepath.Join(dir, "sessions"), Permit: true}
	require.NoError(t, os.MkdirAll(r.place.Cwd, 0o700))
	require.NoError(t, os.MkdirAll(r.place.Dir, 0o700))
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "home"), 0o700))
	r.env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + filepath.Join(dir, "home"), "TERM=dumb"}, env...)
	return r
}

func (r *real) home() string { return filepath.Join(filepath.Dir(r.place.Cwd), "home") }

func (r *real) open() engine.Opened {
	r.Helper()
	r.e = acp.New(r.program, acp.Options{Env: r.env, Start: func(ctx context.Context, c child.Config) (acp.Process, error) {
		p, err := child.Start(ctx, c)
		r.child = p
		if err != nil {
			return nil, err
		}
		return p, nil
	}})
	ctx, cancel := context.WithTimeout(r.Context(), 3*time.Minute)
	defer cancel()
	o, err := r.e.Open(ctx, r.place, r.host)
	require.NoError(r, err)
	r.Cleanup(func() { _ = r.e.Close(context.Background()) })
	return o
}

func (r *real) run(text string) outcome {
	r.Helper()
	ctx, cancel := context.WithTimeout(r.Context(), 2*time.Minute)
	defer cancel()
	r.host.notes()
	out := r.e.Run(ctx, engine.Input{Text: text})
	require.NoError(r, out.Err)
	require.Equal(r, "stop", out.StopReason)
	return outcome{out}
}

// interrupted runs a prompt whose answer does not end, and lets do end it once it has begun.
func (r *real) interrupted(m *echomodel.Service, text string, do func(cancel func())) outcome {
	r.Helper()
	ctx, cancel := context.WithTimeout(r.Context(), 2*time.Minute)
	defer cancel()
	for len(m.Begun) > 0 {
		<-m.Begun // of a request that was repeated
	}
	result := make(chan outcome, 1)
	go func() { result <- outcome{r.e.Run(ctx, engine.Input{Text: text})} }()
	select {
	case <-m.Begun:
		do(cancel)
	case out := <-result:
		require.FailNow(r, "the answer did not begin", "%v", out)
	}
	return <-result
}

func (r *real) close() {
	r.Helper()
	require.NoError(r, r.e.Close(context.Background()))
	<-r.e.Done()
	require.NoError(r, r.e.Err())
}

func (r *real) path(name string) string { return filepath.Join(r.place.Cwd, name) }

// server is a server of the Model Context Protocol with one tool.
const server = `import readline from "node:readline";
const send = (o) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", ...o }) + "\n");
readline.createInterface({ input: process.stdin }).on("line", (l) => {
  const m = JSON.parse(l);
  if (m.id === undefined) return;
  const results = {
    initialize: { protocolVersion: m.params?.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "t", version: "1" } },
    "tools/list": { tools: [{ name: "poke", description: "Pokes", inputSchema: { type: "object", properties: { x: { type: "string" } } } }] },
    "tools/call": { content: [{ type: "text", text: "poked " + m.params?.arguments?.x }] },
  };
  send(results[m.method] ? { id: m.id, result: results[m.method] } : { id: m.id, error: { code: -32601, message: "no" } });
});
`

// poke opens the engine with a server of the client, and lets the model call its tool, which the user refuses and then permits.
func (r *real) poke(m *echomodel.Service, tool, call string) {
	r.Helper()
	path := filepath.Join(filepath.Dir(r.place.Cwd), "server.mjs")
	require.NoError(r, os.WriteFile(path, []byte(server), 0o600))
	s, err := json.Marshal(map[string]any{"name": "t", "command": nodeJS(r.T), "args": []string{path}, "env": []any{}})
	require.NoError(r, err)
	r.place.MCPServers = []json.RawMessage{s}
	r.open()
	r.run("[[]] hello") // the agent connects beside its first turn
	r.host.permit = func(context.Context, engine.Call) error { return errNo }
	r.run(call)
	require.False(r, m.Saw("poked me"), "%s", r.host.notes())
	r.host.permit = nil
	r.run(call)
	require.True(r, m.Saw("poked me"))
	require.Len(r, r.host.asked, 2)
	for _, asked := range r.host.asked {
		require.Equal(r, engine.Runs, asked.Effect)
		require.Equal(r, tool, asked.Tool)
	}
	r.close()
}
