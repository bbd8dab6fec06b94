package bench_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/commands"
)

// BenchmarkResume makes a session the live one by command, as an editor does: it is indexed, its
// context is built before the previous session is left, and the answer describes it.
func BenchmarkResume(b *testing.B) {
	each(b, []string{"S1", "S10", "S2", "S2n"}, func(b *testing.B, name string) {
		k, path, s := single(b, name)
		env := envOf(k)
		args := map[string]any{"target": path, "onOtherProject": "open"}
		for b.Loop() {
			r, err := commands.Call[commands.ResumeResult](b.Context(), commands.Default, env, "xcsh.resume", args)
			require.NoError(b, err)
			require.True(b, r.Switched)
			require.Equal(b, s.Context, r.Session.MessageCount)
			require.Equal(b, s.LeafID, *r.Session.LeafID)
		}
		require.NoError(b, env.Sessions.Close(b.Context()))
	})
}
