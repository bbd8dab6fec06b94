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

// The trash of a folder has its sessions, those deleted last first; listing changes nothing.
func TestListingTheTrash(t *testing.T) {
	t.Parallel()
	st.RunStorage(t, func(t *testing.T, fs afero.Fs) {
		second := strings.Replace(file1, id1, "0190000000000002", 1)
		write(t, fs, file1, talk(id1)...)
		write(t, fs, second, talk("0190000000000002")...)
		damaged := sessions + "/damaged.jsonl"
		write(t, fs, damaged, "{torn")
		env := newEnv(fs)
		require.Empty(t, do(t, env, "xcsh.trash", nil)["sessions"])
		var trashed []string
		for _, path := range []string{file1, second, damaged} {
			trashed = append(trashed, do(t, env, "xcsh.delete", args{"source": path, "confirm": true})["trashed"].(string))
		}
		before := tree(t, fs)
		r := do(t, env, "xcsh.trash", nil)
		var dirs, names []string
		for _, item := range r["sessions"].([]any) {
			of := item.(map[string]any)
			dirs, names = append(dirs, of["trashed"].(string)), append(names, of["name"].(string))
			require.Equal(t, filepath.Join(of["trashed"].(string), "session.jsonl"), of["file"])
		}
		require.Equal(t, []string{trashed[2], trashed[1], trashed[0]}, dirs)
		require.Equal(t, []string{"damaged.jsonl", "one", "one"}, names)
		require.Equal(t, file1, filepath.ToSlash(r["sessions"].([]any)[2].(map[string]any)["path"].(string)))

		require.Empty(t, do(t, env, "xcsh.trash", args{"cwd": "/v"})["sessions"], "of another folder")
		require.Len(t, do(t, env, "xcsh.trash", args{"cwd": "/v", "scope": "all"})["sessions"], 3)
		some := do(t, env, "xcsh.trash", args{"limit": 2})
		require.Len(t, some["sessions"], 2)
		require.Equal(t, true, some["more"])
		for _, wrong := range []args{{"scope": "some"}, {"limit": -1}} {
			_, err := run(t.Context(), env, "xcsh.trash", wrong)
			requireKind(t, fault.InvalidArgument, err)
		}
		require.Equal(t, before, tree(t, fs))
	})
}

func TestDeletingPermanently(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	write(t, fs, file1, talk(id1)...)
	write(t, fs, strings.TrimSuffix(file1, ".jsonl")+"/0.bash.log", "output")
	env := newEnv(fs)
	trashed := do(t, env, "xcsh.delete", args{"source": id1, "confirm": true})["trashed"].(string)
	before := tree(t, fs)

	// Only with consent, and only from the trash.
	_, err := run(t.Context(), env, "xcsh.deleteTrashed", args{"trashed": trashed})
	require.Equal(t, "confirm", requireKind(t, fault.InvalidArgument, err).Data["field"])
	_, err = run(t.Context(), env, "xcsh.deleteTrashed", args{"trashed": trashed, "confirm": false})
	requireKind(t, fault.InvalidArgument, err)
	for _, no := range []int{1, -1} {
		env.UI = &answering{answer: no}
		_, err = run(t.Context(), env, "xcsh.deleteTrashed", args{"trashed": trashed})
		requireKind(t, fault.Cancelled, err)
	}
	for _, other := range []string{"/w", agentDir, sessions, agentDir + "/trash", trashed + "/session.jsonl", "file://elsewhere/x", "\x00"} {
		_, err := run(t.Context(), env, "xcsh.deleteTrashed", args{"trashed": other, "confirm": true})
		require.Contains(t, []fault.Kind{fault.InvalidArgument, fault.OutsideRoot}, fault.KindOf(err), other)
	}
	require.Equal(t, before, tree(t, fs))

	require.Equal(t, true, do(t, env, "xcsh.deleteTrashed", args{"trashed": trashed, "confirm": true})["deleted"])
	for path := range tree(t, fs) {
		require.NotContains(t, path, "/trash/")
	}
	_, err = run(t.Context(), env, "xcsh.undelete", args{"trashed": trashed})
	requireKind(t, fault.NotFound, err)
}
