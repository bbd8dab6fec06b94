package commands_test

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/commands"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
)

// answering is a UI that gives the same answer to every question.
type answering struct {
	commands.Headless
	answer int
	asked  []commands.Question
}

func (a *answering) Ask(_ context.Context, q commands.Question) (int, error) {
	a.asked = append(a.asked, q)
	return a.answer, nil
}

// Proves, AB-054
func TestDeleteAndUndelete(t *testing.T) {
	t.Parallel()
	st.RunStorage(t, func(t *testing.T, fs afero.Fs) {
		write(t, fs, file1, talk(id1)...)
		write(t, fs, strings.TrimSuffix(file1, ".jsonl")+"/0.bash.log", "output")
		before := tree(t, fs)
		env := newEnv(fs)
		_, err := run(t.Context(), env, "xcsh.delete", args{"source": id1, "confirm": false})
		requireKind(t, fault.InvalidArgument, err)
		require.Equal(t, before, tree(t, fs), "it is not confirmed")
		trashed := do(t, env, "xcsh.delete", args{"source": id1, "confirm": true})["trashed"].(string)
		require.Equal(t, agentDir+"/trash", filepath.ToSlash(filepath.Dir(trashed)))
		require.Empty(t, do(t, env, "xcsh.list", nil)["sessions"])
		_, err = run(t.Context(), env, "xcsh.delete", args{"source": id1, "confirm": true})
		requireKind(t, fault.NotFound, err)

		require.Equal(t, file1, filepath.ToSlash(do(t, env, "xcsh.undelete", args{"trashed": trashed})["path"].(string)))
		require.Equal(t, before, tree(t, fs))
		require.Len(t, do(t, env, "xcsh.list", nil)["sessions"], 1)
		_, err = run(t.Context(), env, "xcsh.undelete", args{"trashed": trashed})
		requireKind(t, fault.NotFound, err)
	})
}

func TestDeletingNeedsConfirmation(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	write(t, fs, file1, talk(id1)...)
	before := tree(t, fs)
	env := newEnv(fs)
	for _, a := range []args{{"source": id1}, {"source": id1, "confirm": false}, {"confirm": false}} {
		_, err := run(t.Context(), env, "xcsh.delete", a)
		require.Equal(t, "confirm", requireKind(t, fault.InvalidArgument, err).Data["field"])
	}
	_, err := run(t.Context(), env, "xcsh.delete", args{"source": id1, "confirm": "yes"})
	require.Equal(t, "confirm", requireKind(t, fault.InvalidArgument, err).Data["field"])

	for _, no := range []int{1, -1} {
		user := &answering{answer: no}
		env.UI = user
		_, err := run(t.Context(), env, "xcsh.delete", args{"source": id1})
		requireKind(t, fault.Cancelled, err)
		require.Equal(t, []commands.Question{{Text: `Delete "one"? It is moved to the trash.`, Choices: []string{"Delete", "Cancel"}}}, user.asked)
	}
	_, err = run(t.Context(), env, "xcsh.delete", args{"source": id1, "confirm": false})
	requireKind(t, fault.InvalidArgument, err)
	require.Equal(t, before, tree(t, fs))

	env.UI = &answering{}
	do(t, env, "xcsh.delete", args{"source": id1})
	require.NotContains(t, tree(t, fs), file1)
}

func TestTheSessionToDeleteHasNoDefault(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	write(t, fs, file1, talk(id1)...)
	env := newEnv(fs)
	do(t, env, "xcsh.resume", args{"target": id1})
	_, err := run(t.Context(), env, "xcsh.delete", args{"confirm": true})
	requireKind(t, fault.ArgumentNeeded, err) // no user can choose one

	env.Pick = true
	_, err = run(t.Context(), env, "xcsh.delete", args{"confirm": true})
	f := requireKind(t, fault.ArgumentNeeded, err)
	require.Equal(t, "source", f.Data["field"])
	require.Equal(t, commands.InputSession, f.Data["input"])
	require.Contains(t, tree(t, fs), file1)

	env.Pick, env.UI = false, &answering{}
	do(t, env, "xcsh.delete", args{})
	require.NotContains(t, tree(t, fs), file1)
}

// Proves: X-190, AB-053
func TestDeletingTheLiveSession(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	write(t, fs, file1, talk(id1)...)
	env := newEnv(fs)
	do(t, env, "xcsh.resume", args{"target": id1})
	_, err := run(t.Context(), env, "xcsh.delete", args{"source": id1, "confirm": true, "cwd": "/v"})
	requireKind(t, fault.Busy, err)
	require.Contains(t, tree(t, fs), file1)
	do(t, env, "xcsh.delete", args{"source": id1, "confirm": true})
	require.NotEqual(t, id1, do(t, env, "xcsh.state", nil)["sessionId"])
	require.NotContains(t, tree(t, fs), file1)
}

// Proves: AB-054
func TestOnlySessionsAreDeleted(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	write(t, fs, "/w/main.go", "package main")
	write(t, fs, "/w/data.jsonl", `{"a":1}`)
	write(t, fs, sessions+"/damaged.jsonl", "{torn")
	before := tree(t, fs)
	env := newEnv(fs)
	for _, source := range []string{"/w/main.go", "/w/data.jsonl"} {
		_, err := run(t.Context(), env, "xcsh.delete", args{"source": source, "confirm": true})
		requireKind(t, fault.Damaged, err)
	}
	for _, trashed := range []string{"/w", agentDir, sessions, agentDir + "/trash/../sessions/--w--", "file://elsewhere/x", "\x00"} {
		_, err := run(t.Context(), env, "xcsh.undelete", args{"trashed": trashed})
		kind := fault.KindOf(err)
		require.Contains(t, []fault.Kind{fault.InvalidArgument, fault.OutsideRoot}, kind, trashed)
	}
	require.Equal(t, before, tree(t, fs))
	do(t, env, "xcsh.delete", args{"source": sessions + "/damaged.jsonl", "confirm": true})
	require.NotContains(t, tree(t, fs), sessions+"/damaged.jsonl")
}
