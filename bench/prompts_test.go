package bench_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/agent/provider/offline"
	"github.com/xcsh-ls/xcsh-ls/agent/tool"
	"github.com/xcsh-ls/xcsh-ls/bench"
	"github.com/xcsh-ls/xcsh-ls/commands"
	"github.com/xcsh-ls/xcsh-ls/internal/lsptest"
	"github.com/xcsh-ls/xcsh-ls/lsp"
)

// BenchmarkPrompts sends prompts to the offline script in one session, each with a tool call, and reports the
// processor time of a prompt in the first and in the last hundred. Their ratio shows whether a prompt
// costs more in a longer conversation. PROMPTS is how many, 2000 by default.
func BenchmarkPrompts(b *testing.B) {
	prompts := 2000
	if n, err := strconv.Atoi(os.Getenv("PROMPTS")); err == nil {
		prompts = n
	}
	for range b.N {
		home := b.TempDir()
		kit := bench.New(home, home)
		work := filepath.Join(home, "work")
		require.NoError(b, os.MkdirAll(work, 0o700))
		require.NoError(b, os.WriteFile(filepath.Join(work, "a.txt"), []byte("hello\n"), 0o600))
		manager := agent.NewManager(agent.Config{
			Storage:  agent.Storage{Store: kit.Store, Finder: kit.Finder},
			Requests: agent.Requests{Models: oneModel{offline.Provider{Now: time.Now}, offline.Model}, Defaults: agent.Defaults{Model: "offline/demo"}},
			Toolbox:  agent.Toolbox{Tools: []tool.Tool{reads}},
		})
		ed := lsptest.Start(b, lsp.Options{
			Version: "bench", Commands: commands.Default,
			Open: func(context.Context, lsp.Settings, lsp.Client) (lsp.Backend, error) {
				return lsp.Backend{Sessions: manager, Store: kit.Store, Finder: kit.Finder, Fs: kit.Finder.Fs}, nil
			},
		})
		ed.Initialize(lsptest.Fields{"workspaceFolders": []any{lsptest.Fields{"uri": lsptest.URI(work), "name": "w"}}})
		_, failure := ed.Exec("xcsh.state", nil)
		require.Nil(b, failure)
		var at []time.Duration
		for i := range prompts {
			if i%100 == 0 {
				at = append(at, cpu(b))
			}
			_, failure := ed.Exec("xcsh.prompt", lsptest.Fields{"text": "Read a.txt please"})
			require.Nil(b, failure)
		}
		at = append(at, cpu(b))
		for i := 1; i < len(at); i++ {
			b.Logf("prompts %4d: %.2f ms", i*100, float64((at[i]-at[i-1]).Microseconds())/100/1000)
		}
	}
}

// reads is a tool that returns a line.
var reads = tool.Tool{Tool: provider.Tool{Name: "read"}, Run: func(context.Context, tool.Env, json.RawMessage) (tool.Result, error) {
	return tool.TextResult("hello"), nil
}}

func cpu(b *testing.B) time.Duration {
	var u syscall.Rusage
	require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
