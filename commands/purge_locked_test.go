package commands_test

import (
	"os"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
	"github.com/xcsh-ls/xcsh-ls/session/lock"
)

// TestPurgeNeverTouchesALockedSession locks sessions as another server does, which has them open, and
// as a terminal program does, which is writing to them: before the plan, between the plan and its
// execution, and in the middle of that.
// Proves: AB-046
func TestPurgeNeverTouchesALockedSession(t *testing.T) {
	t.Parallel()
	st.RunStorage(t, func(t *testing.T, fs afero.Fs) {
		paths := oldSessions(t, fs, 8)
		var during func()
		env := newEnv(vanishing{fs, func(n int) {
			if n == 1 {
				during()
			}
		}, new(int)})
		env.Store.LockDir = agentDir + "/locks"
		other := lock.New(fs, lock.Options{PID: os.Getppid(), Process: &lock.Process{}})
		open := func(path, id string) func() error {
			held, err := other.OpenSession(env.Store.LockDir, id, path)
			require.NoError(t, err)
			return held.Release
		}
		writing := func(path string) func() error {
			unlock, err := other.Publish(path)
			require.NoError(t, err)
			return unlock
		}
		open(paths[3], "0190000000000003")
		writing(paths[4])
		before := tree(t, fs)

		plan := do(t, env, "xcsh.purge", args{"keep": 2})
		require.Equal(t, []string{paths[2], paths[5], paths[6], paths[7]}, pathsIn(t, plan, "plan"))
		reasons := map[string]any{}
		for i, path := range pathsIn(t, plan, "protected") {
			reasons[path] = plan["protected"].([]any)[i].(map[string]any)["reason"]
		}
		require.Equal(t, "locked", reasons[paths[3]])
		require.Equal(t, "locked", reasons[paths[4]])

		for _, release := range []func() error{open(paths[5], "0190000000000005"), writing(paths[6])} {
			_, err := run(t.Context(), env, "xcsh.purge", args{"planToken": plan["planToken"]})
			requireKind(t, fault.Stale, err)
			require.NoError(t, release())
		}

		during = func() { open(paths[5], "0190000000000005"); writing(paths[6]) }
		done := do(t, env, "xcsh.purge", args{"planToken": plan["planToken"]})
		require.Equal(t, []string{paths[2], paths[7]}, pathsIn(t, done, "trashed"))
		require.Equal(t, paths[5:7], pathsIn(t, done, "failed"))
		for _, f := range done["failed"].([]any) {
			require.Equal(t, string(fault.Busy), f.(map[string]any)["kind"])
		}
		after := tree(t, fs)
		for _, path := range paths[3:7] {
			require.Equal(t, before[path], after[path])
		}
	})
}
