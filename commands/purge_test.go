package commands_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/commands"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
	"github.com/xcsh-ls/xcsh-ls/session/upkeep"
)

// oldSessions writes n sessions of /w, each a day older than the one before, and returns their paths,
// the newest first.
func oldSessions(t *testing.T, fs afero.Fs, n int) []string {
	t.Helper()
	paths := make([]string, n)
	for i := range paths {
		id := fmt.Sprintf("01900000000000%02x", i)
		at := time.Date(2025, 6, 1, 0, 0, 0, 0, time.UTC).AddDate(0, 0, -i)
		paths[i] = fmt.Sprintf("%s/2026-01-01T00-00-00-000Z_%s.jsonl", sessions, id)
		stamp := at.Format("2006-01-02T15:04:05.000Z")
		write(t, fs, paths[i], strings.Split(strings.ReplaceAll(strings.Join(talk(id), "\n"), "2026-01-01T00:00:0", stamp[:len(stamp)-5][:18]), "\n")...)
		require.NoError(t, fs.Chtimes(paths[i], at, at))
	}
	return paths
}

// pathsIn returns the paths of a list in a result.
func pathsIn(t *testing.T, result map[string]any, list string) []string {
	t.Helper()
	items, ok := result[list].([]any)
	require.True(t, ok, "%s in %v", list, result)
	paths := []string{}
	for _, i := range items {
		item, ok := i.(map[string]any)
		require.True(t, ok)
		path, ok := item["path"].(string)
		require.True(t, ok)
		paths = append(paths, filepath.ToSlash(path))
	}
	return paths
}

// Proves: AB-043, AB-044, AB-051, AB-052
func TestPurgeIsADryRunWithoutAToken(t *testing.T) {
	t.Parallel()
	st.RunStorage(t, func(t *testing.T, fs afero.Fs) {
		paths := oldSessions(t, fs, 6)
		write(t, fs, strings.TrimSuffix(paths[5], ".jsonl")+"/0.bash.log", "output")
		write(t, fs, agentDir+"/blobs/"+strings.Repeat("ab", 32), "an image")
		before := tree(t, fs)
		env := newEnv(fs)
		plan := do(t, env, "xcsh.purge", args{"keep": 2})
		require.Equal(t, paths[2:], pathsIn(t, plan, "plan"))
		require.Equal(t, paths[:1], pathsIn(t, plan, "protected"))
		require.Equal(t, plan, do(t, env, "xcsh.purge", args{"keep": 2, "dryRun": true, "planToken": plan["planToken"]}))
		require.Empty(t, pathsIn(t, do(t, env, "xcsh.purge", args{"scope": "folder"}), "plan"), "fifty stay")
		require.Equal(t, before, tree(t, fs))

		var notified []string
		env.Sessions.Subscribe(func(e agent.Event) {
			if changed, ok := e.(agent.SessionsChanged); ok {
				notified = append(notified, changed.Cwd)
			}
		})
		done := do(t, env, "xcsh.purge", args{"planToken": plan["planToken"]})
		require.Equal(t, paths[2:], pathsIn(t, done, "trashed"))
		require.Empty(t, done["failed"])
		require.NotContains(t, done, "plan")
		require.Equal(t, []string{"/w"}, notified, "once, not for every session")
		after := tree(t, fs)
		for _, path := range paths[:2] {
			require.Equal(t, before[path], after[path])
		}
		for _, path := range paths[2:] {
			require.NotContains(t, after, path)
		}
		for path, content := range before {
			if strings.Contains(path, "/blobs/") {
				require.Equal(t, content, after[path], "images stay")
			}
		}
		_, err := run(t.Context(), env, "xcsh.purge", args{"planToken": plan["planToken"]})
		requireKind(t, fault.Stale, err)

		for _, item := range done["trashed"].([]any) {
			do(t, env, "xcsh.undelete", args{"trashed": item.(map[string]any)["trashed"]})
		}
		require.Equal(t, before, tree(t, fs), "bytes and artifacts are back")
		require.Equal(t, plan, do(t, env, "xcsh.purge", args{"keep": 2}))
	})
}

// Proves: AB-047
func TestPurgeRejectsInvalidArguments(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	oldSessions(t, fs, 3)
	before := tree(t, fs)
	env := newEnv(fs)
	for field, given := range map[string][]args{
		"keep":      {{"keep": -1}, {"keep": 1.5}, {"keep": "3"}, {"keep": "2025-01-04-a-name"}, {"keep": "NaN"}, {"keep": 1e300}, {"keep": true}, {"keep": []int{1}}},
		"scope":     {{"scope": "everything"}, {"scope": 1}},
		"dryRun":    {{"dryRun": "false"}, {"dryRun": 0}},
		"planToken": {{"dryRun": false}, {"dryRun": false, "keep": 0}, {"planToken": "x"}, {"planToken": "folder--1-x"}, {"planToken": "folder-1.5-x"}, {"planToken": 7}},
		"ids":       {{"ids": []string{"x"}}},
	} {
		for _, a := range given {
			_, err := run(t.Context(), env, "xcsh.purge", a)
			require.Equal(t, field, requireKind(t, fault.InvalidArgument, err).Data["field"], a)
		}
	}
	require.Equal(t, before, tree(t, fs))
}

// Proves: AB-045
func TestAnOutdatedPlanIsStale(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(t *testing.T, fs afero.Fs, paths []string) args{
		"a session came": func(t *testing.T, fs afero.Fs, _ []string) args {
			write(t, fs, sessions+"/new.jsonl", talk("0190000000000aaa")...)
			return args{}
		},
		"one went": func(t *testing.T, fs afero.Fs, paths []string) args {
			require.NoError(t, fs.Remove(paths[4]))
			return args{}
		},
		"one was named": func(t *testing.T, fs afero.Fs, paths []string) args {
			do(t, newEnv(fs), "xcsh.rename", args{"source": paths[4], "title": "T"})
			return args{}
		},
		"another scope":         func(*testing.T, afero.Fs, []string) args { return args{"scope": "all"} },
		"another value of keep": func(*testing.T, afero.Fs, []string) args { return args{"keep": 1} },
		"another folder":        func(*testing.T, afero.Fs, []string) args { return args{"cwd": "/v"} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fs := afero.NewMemMapFs()
			paths := oldSessions(t, fs, 5)
			env := newEnv(fs)
			token := do(t, env, "xcsh.purge", args{"keep": 2})["planToken"]
			a := change(t, fs, paths)
			a["planToken"] = token
			before := tree(t, fs)
			_, err := run(t.Context(), env, "xcsh.purge", a)
			requireKind(t, fault.Stale, err)
			require.Equal(t, before, tree(t, fs))
		})
	}
}

// Proves: AB-048
func TestTheOpenSessionIsNeverPurged(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	paths := oldSessions(t, fs, 4)
	env := newEnv(fs)
	do(t, env, "xcsh.resume", args{"target": paths[3]})
	plan := do(t, env, "xcsh.purge", args{"keep": 0})
	require.Equal(t, paths[1:3], pathsIn(t, plan, "plan"))
	require.Equal(t, []string{paths[0], paths[3]}, pathsIn(t, plan, "protected"))
	do(t, env, "xcsh.purge", args{"planToken": plan["planToken"]})
	require.Contains(t, tree(t, fs), paths[3])
	require.Equal(t, "0190000000000003", do(t, env, "xcsh.state", nil)["sessionId"])

	// A session that was opened after the plan was made stays, wherever it is open.
	info, err := fs.Stat(paths[3])
	require.NoError(t, err)
	done := env.Sessions.Purge(t.Context(), []upkeep.PurgeItem{{ID: "x", Path: paths[3], Size: info.Size(), ModTime: info.ModTime()}})
	require.Len(t, done, 1)
	requireKind(t, fault.Busy, done[0].Err)
	require.Contains(t, tree(t, fs), paths[3])

	// A session whose size changed stays, too, whatever its modification time is.
	info, err = fs.Stat(paths[0])
	require.NoError(t, err)
	done = env.Sessions.Purge(t.Context(), []upkeep.PurgeItem{{ID: "x", Path: paths[0], Size: info.Size() + 1, ModTime: info.ModTime()}})
	requireKind(t, fault.Stale, done[0].Err)
	require.Contains(t, tree(t, fs), paths[0])
}

// vanishing is a file system that calls a function before each rename of a session.
type vanishing struct {
	afero.Fs
	before func(n int)
	n      *int
}

func (v vanishing) Rename(from, to string) error {
	if strings.HasSuffix(from, ".jsonl") && strings.HasSuffix(to, "session.jsonl") {
		*v.n++
		v.before(*v.n)
	}
	return v.Fs.Rename(from, to)
}

// Proves: AB-050
func TestPurgeContinuesWhenAFileVanishes(t *testing.T) {
	t.Parallel()
	st.RunStorage(t, func(t *testing.T, base afero.Fs) {
		paths := oldSessions(t, base, 6)
		env := newEnv(vanishing{base, func(n int) {
			if n == 1 {
				require.NoError(t, base.Remove(paths[3]))
				write(t, base, paths[4], talk("0190000000000004")...) // changed meanwhile
			}
		}, new(int)})
		token := do(t, env, "xcsh.purge", args{"keep": 2})["planToken"]
		done := do(t, env, "xcsh.purge", args{"planToken": token})
		require.Equal(t, []string{paths[2], paths[5]}, pathsIn(t, done, "trashed"))
		require.Equal(t, paths[3:5], pathsIn(t, done, "failed"))
		kinds := []any{}
		for _, f := range done["failed"].([]any) {
			kinds = append(kinds, f.(map[string]any)["kind"])
			require.NotEmpty(t, f.(map[string]any)["message"])
		}
		require.Equal(t, []any{"notFound", "stale"}, kinds)
		require.Contains(t, tree(t, base), paths[4])
	})
}

func TestAPurgeThatIsCancelledKeepsTheRest(t *testing.T) {
	t.Parallel()
	base := afero.NewMemMapFs()
	paths := oldSessions(t, base, 6)
	ctx, cancel := context.WithCancel(t.Context())
	env := newEnv(vanishing{base, func(n int) {
		if n == 2 {
			cancel()
		}
	}, new(int)})
	token := do(t, env, "xcsh.purge", args{"keep": 2})["planToken"]
	raw, err := run(ctx, env, "xcsh.purge", args{"planToken": token})
	require.NoError(t, err)
	require.Contains(t, string(raw), "cancelled")
	after := tree(t, base)
	for i, path := range paths {
		_, there := after[path]
		require.Equal(t, i != 2 && i != 3, there, path)
	}
}

func TestAPurgeNeedsConfirmation(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	paths := oldSessions(t, fs, 52)
	before := tree(t, fs)
	env := newEnv(fs)
	want := []commands.Question{{
		Text:    "Move 2 sessions of this folder to the trash? The 50 most recently used are kept, and 1 is protected.",
		Choices: []string{"Move to Trash", "Cancel"},
	}}
	for _, answer := range []int{1, commands.Closed, commands.Unasked} {
		user := &answering{answer: answer}
		env.UI = user
		plan := do(t, env, "xcsh.purge", nil)
		require.Equal(t, paths[50:], pathsIn(t, plan, "plan"))
		require.Equal(t, want, user.asked)
		require.Equal(t, before, tree(t, fs))
	}
	// A call with arguments comes from a program.
	for _, a := range []args{{"dryRun": true}, {"keep": 50}, {"scope": "folder"}} {
		user := &answering{}
		env.UI = user
		require.Equal(t, paths[50:], pathsIn(t, do(t, env, "xcsh.purge", a), "plan"))
		require.Empty(t, user.asked)
	}
	require.Equal(t, before, tree(t, fs))

	env.UI = &answering{}
	require.Equal(t, paths[50:], pathsIn(t, do(t, env, "xcsh.purge", nil), "trashed"))
	user := &answering{}
	env.UI = user
	require.Empty(t, pathsIn(t, do(t, env, "xcsh.purge", nil), "plan"))
	require.Empty(t, user.asked, "there is nothing to confirm")
}

// slow is a UI that calls meanwhile, which changes sessions, before it answers.
type slow struct {
	commands.Headless
	meanwhile func()
}

func (s slow) Ask(context.Context, commands.Question) (int, error) {
	s.meanwhile()
	return 0, nil
}

// Proves: AB-045
func TestSessionsThatTheUserDidNotSeeAreNotPurged(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	oldSessions(t, fs, 52)
	env := newEnv(fs)
	env.UI = slow{meanwhile: func() { write(t, fs, sessions+"/new.jsonl", talk("0190000000000aaa")...) }}
	_, err := run(t.Context(), env, "xcsh.purge", nil)
	requireKind(t, fault.Stale, err)
	require.Len(t, tree(t, fs), 53)
}

func TestBothResultsOfAPurgeMatchTheSchema(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	paths := oldSessions(t, fs, 3)
	env := newEnv(vanishing{fs, func(n int) {
		if n == 1 {
			require.NoError(t, fs.Remove(paths[2]))
		}
	}, new(int)})
	schema := resultSchemas(t)["xcsh.purge"]
	raw, err := run(t.Context(), env, "xcsh.purge", args{"keep": 0})
	require.NoError(t, err)
	validate(t, schema, raw, "a plan")
	raw, err = run(t.Context(), env, "xcsh.purge", args{"planToken": do(t, env, "xcsh.purge", args{"keep": 0})["planToken"]})
	require.NoError(t, err)
	validate(t, schema, raw, "what came of it")
	require.Contains(t, string(raw), `"failed":[{`)
	require.NotContains(t, string(raw), "planToken")
}

func TestPurgeOfEveryFolder(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	paths := oldSessions(t, fs, 3)
	write(t, fs, agentDir+"/sessions/--v--/1.jsonl", st.Header("0190000000000aaa", "/v"))
	env := newEnv(fs)
	env.Folders = func() []string { return nil } // none is needed
	plan := do(t, env, "xcsh.purge", args{"scope": "all", "keep": 1})
	require.Equal(t, paths[1:], pathsIn(t, plan, "plan"))
	require.Len(t, pathsIn(t, plan, "protected"), 2)
	require.Equal(t, paths[1:], pathsIn(t, do(t, env, "xcsh.purge", args{"planToken": plan["planToken"]}), "trashed"))
}
