package commands_test

import (
	"os"
	"strings"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
	"github.com/xcsh-ls/xcsh-ls/session/lock"
)

// TestKeepingNothingLeavesWhatIsProtected purges with keep 0: of ten sessions, two have nothing that
// protects them, and only those go.
// Proves: AB-046
func TestKeepingNothingLeavesWhatIsProtected(t *testing.T) {
	t.Parallel()
	st.RunStorage(t, func(t *testing.T, fs afero.Fs) {
		paths := oldSessions(t, fs, 10)
		env := newEnv(fs)
		env.Store.LockDir = agentDir + "/locks"
		add := func(path, line string) { write(t, fs, path, strings.TrimSuffix(read(t, fs, path)+line, "\n")) }
		want := map[string]string{
			paths[0]: "newest", paths[2]: "live", paths[3]: "titled", paths[4]: "labelled", paths[5]: "locked",
			paths[6]: "continued", paths[7]: "described", paths[8]: "damaged",
		}
		add(paths[3], `{"type":"session_info","id":"cccccccc","parentId":"bbbbbbbb","timestamp":"2025-01-01T00:00:00.000Z","name":"Mine"}`)
		add(paths[4], `{"type":"label","id":"cccccccc","parentId":"bbbbbbbb","timestamp":"2025-01-01T00:00:00.000Z","targetId":"aaaaaaaa","label":"here"}`)
		add(paths[7], `{"type":"custom","id":"cccccccc","parentId":"bbbbbbbb","timestamp":"2025-01-01T00:00:00.000Z","customType":"xcsh-ls.description","data":{"text":"D"}}`)
		add(paths[8], `{"torn`)
		write(t, fs, agentDir+"/terminal-sessions/t9", "/w", paths[6])
		other := lock.New(fs, lock.Options{PID: os.Getppid(), Process: &lock.Process{}})
		_, err := other.OpenSession(env.Store.LockDir, "0190000000000005", paths[5])
		require.NoError(t, err)
		do(t, env, "xcsh.resume", args{"target": paths[2]})

		plan := do(t, env, "xcsh.purge", args{"keep": 0})
		require.Equal(t, []string{paths[1], paths[9]}, pathsIn(t, plan, "plan"))
		got := map[string]string{}
		for i, path := range pathsIn(t, plan, "protected") {
			got[path], _ = plan["protected"].([]any)[i].(map[string]any)["reason"].(string)
		}
		require.Equal(t, want, got)
		before := tree(t, fs)
		done := do(t, env, "xcsh.purge", args{"planToken": plan["planToken"]})
		require.Equal(t, []string{paths[1], paths[9]}, pathsIn(t, done, "trashed"))
		require.Empty(t, pathsIn(t, done, "failed"))
		after := tree(t, fs)
		for path := range want {
			require.Equal(t, before[path], after[path])
		}
		require.NotContains(t, after, paths[1])
		require.NotContains(t, after, paths[9])
	})
}
