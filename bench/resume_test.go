package bench_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/commands"
)

// BenchmarkResume makes a session the live one by command, as an editor does: it is indexed, its
// context is built before the previous session is left, and the answer describes it.
func BenchmarkResume(b *testing.B) {
	each(b, []string{"S1", "S10", "S2", "S2n"}, func(b *testing.B, name string) {
		k, path, s := single(b, name)
		sessions := agent.NewManager(agent.Config{Store: k.Store, Finder: k.Finder})
		env := &commands.Env{
			Sessions: sessions, Store: k.Store, Finder: k.Finder, Fs: k.Finder.Fs, UI: commands.Headless{},
			Folders: func() []string { return []string{"/nowhere"} },
		}
		raw, err := json.Marshal(map[string]any{"target": path, "onOtherProject": "open"})
		require.NoError(b, err)
		for b.Loop() {
			result, err := commands.Default.Execute(b.Context(), env, "xcsh.resume", []json.RawMessage{raw})
			require.NoError(b, err)
			r, ok := result.(commands.ResumeResult)
			require.True(b, ok, "%T", result)
			require.True(b, r.Switched)
			require.Equal(b, s.Context, r.Session.MessageCount)
			require.Equal(b, s.LeafID, *r.Session.LeafID)
		}
		require.NoError(b, sessions.Close(b.Context()))
	})
}
