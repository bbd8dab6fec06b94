package commands_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
)

// Proves: X-230
func TestMoveOfTheLiveSession(t *testing.T) {
	t.Parallel()
	st.RunStorage(t, func(t *testing.T, fs afero.Fs) {
		write(t, fs, file1, talk(id1)...)
		require.NoError(t, fs.MkdirAll("/v", 0o700))
		env := newEnv(fs)
		do(t, env, "xcsh.resume", args{"target": id1})
		moved := do(t, env, "xcsh.move", args{"to": "file:///v"})["session"].(map[string]any)
		to := strings.Replace(file1, "--w--", "--v--", 1)
		require.Equal(t, to, filepath.ToSlash(moved["file"].(string)))
		require.Equal(t, "/v", moved["cwd"])
		require.Equal(t, id1, do(t, env, "xcsh.state", args{"cwd": "/v"})["sessionId"])
		require.NotEqual(t, id1, do(t, env, "xcsh.state", nil)["sessionId"])
		require.Equal(t, strings.Replace(st.File(talk(id1)...), `"cwd":"/w"`, `"cwd":"/v"`, 1), read(t, fs, to))
	})
}

func TestMoveOfASessionThatIsNotLive(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	write(t, fs, file1, talk(id1)...)
	require.NoError(t, fs.MkdirAll("/v", 0o700))
	require.NoError(t, fs.MkdirAll("/w", 0o700))
	env := newEnv(fs)
	moved := do(t, env, "xcsh.move", args{"source": id1, "to": "/v"})["session"].(map[string]any)
	require.Equal(t, "/v", moved["cwd"])
	require.InDelta(t, 2, moved["messageCount"], 0)
	require.Len(t, do(t, env, "xcsh.list", args{"cwd": "/v"})["sessions"], 1)

	do(t, env, "xcsh.resume", args{"target": id1, "cwd": "/v"})
	_, err := run(t.Context(), env, "xcsh.move", args{"source": moved["file"], "to": "/w"})
	requireKind(t, fault.Busy, err)
}

func TestMoveRefuses(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	write(t, fs, file1, talk(id1)...)
	pi := "/home/u/.pi/agent/sessions/--w--/a.jsonl"
	write(t, fs, pi, talk("0190000000000002")...)
	require.NoError(t, fs.MkdirAll("/v", 0o700))
	before := tree(t, fs)
	env := newEnv(fs)
	_, err := run(t.Context(), env, "xcsh.move", nil)
	require.Equal(t, "to", requireKind(t, fault.ArgumentNeeded, err).Data["field"])
	_, err = run(t.Context(), env, "xcsh.move", args{"to": "v"})
	require.Equal(t, "to", requireKind(t, fault.InvalidArgument, err).Data["field"])
	for _, to := range []string{"/none", file1, "/v"} {
		_, err := run(t.Context(), env, "xcsh.move", args{"source": pi, "to": to})
		requireKind(t, fault.OutsideRoot, err)
		_, err = run(t.Context(), env, "xcsh.move", args{"to": to})
		requireKind(t, fault.NotFound, err) // the live session has no messages
	}
	require.Equal(t, before, tree(t, fs))
}
