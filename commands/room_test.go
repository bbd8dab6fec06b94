package commands_test

import (
	"context"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/commands"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

// Each command whose answer may be as large as a session waits for room once, before it reads the session. The others
// don't wait.
func TestLargeAnswersWaitForRoomOnce(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	write(t, fs, file1, talk(id1)...)
	env := newEnv(fs)
	do(t, env, "xcsh.resume", args{"target": id1})
	for name, want := range map[string]int{
		"xcsh.context": 1, "xcsh.dump": 1, "xcsh.entries": 1, "xcsh.snapshot": 1, "xcsh.tree": 1,
		"xcsh.state": 0, "xcsh.info": 0, "xcsh.stats": 0,
	} {
		entered := 0
		var full error
		ctx := commands.WithRoom(t.Context(), func(context.Context) error {
			entered++
			return full
		})
		_, err := run(ctx, env, name, nil)
		require.NoError(t, err, name)
		require.Equal(t, want, entered, name)
		full = fault.New(fault.Cancelled, "No room.")
		_, err = run(ctx, env, name, nil)
		require.Equal(t, want == 1, fault.Is(err, fault.Cancelled), "%s: %v", name, err)
	}
}
