package agent_test

import (
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/providertest"
	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
)

// Modes that only oh-my-pi has are named once, and have no effect.
func TestModesOfOmpHaveNoEffect(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"goal", "vibe"} {
		fs := project(t, map[string]string{"/w/s.jsonl": st.File(
			st.Header("00000001", "/w"), st.User("aaaaaaaa", "", "hello"), entryLine("mode_change", "bbbbbbbb", "aaaaaaaa", `"mode":"`+mode+`","data":{"previousTools":["read"]}`),
		)})
		m := scripted(calling("write", "x.txt"), providertest.Reply{Text: "One."}, providertest.Reply{Text: "Two."})
		w := newWorld(t, fs, inProject(fs, m)...)
		live := w.live(t, "/w")
		_, err := live.Switch(t.Context(), "/w/s.jsonl")
		require.NoError(t, err)
		prompt(t, live, "go")
		prompt(t, live, "again")
		require.Equal(t, []string{"This session is in " + mode + " mode, which only oh-my-pi has. It goes on here as an ordinary conversation."}, notices(w))
		exists, err := afero.Exists(fs, "/w/x.txt")
		require.NoError(t, err)
		require.True(t, exists)
		require.NoError(t, w.Close(t.Context()))
	}
}
