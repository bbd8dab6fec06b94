package commands_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/commands"
	"github.com/xcsh-ls/xcsh-ls/history"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

// past returns an environment whose history holds five prompts of three folders, and an unanswered
// prompt that an exited process left.
func past(t *testing.T) (env *commands.Env, dir string) {
	t.Helper()
	dir = t.TempDir()
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	store := history.Open(history.Config{
		Path: filepath.Join(dir, "history.db"), Unanswered: filepath.Join(dir, "unanswered"),
		Alive: func(int) bool { return false }, Now: func() time.Time { return now },
	})
	for i, cwd := range []string{"/a", "/w", "/a", "/w", "/c"} {
		now = now.Add(time.Minute)
		store.Add(history.Prompt{Text: fmt.Sprintf("prompt number %d", i), Cwd: cwd})
		require.NoError(t, store.Flush(t.Context()))
	}
	env = newEnv(afero.NewMemMapFs(), func(c *agent.Config) { c.History = store })
	t.Cleanup(func() { _ = store.Close(t.Context()) })
	return env, dir
}

func historyOf(t *testing.T, env *commands.Env, a args) []string {
	t.Helper()
	result := do(t, env, "xcsh.history", a)
	require.NotContains(t, result, "problem")
	list := []string{}
	for _, p := range result["prompts"].([]any) {
		one := p.(map[string]any)
		mark := ""
		if one["unanswered"] == true {
			mark = "?"
		}
		list = append(list, fmt.Sprint(one["prompt"].(string)[len("prompt number "):], mark))
	}
	return list
}

// Proves
func TestHistory(t *testing.T) {
	t.Parallel()
	env, _ := past(t)
	first := do(t, env, "xcsh.history", args{"limit": 1})
	require.Equal(t, map[string]any{"prompts": []any{
		map[string]any{"id": 5.0, "prompt": "prompt number 4", "createdAt": "2026-01-01T12:05:00.000Z", "cwd": "/c"},
	}}, first)
	for want, a := range map[string]args{
		"[4 3 2 1 0]": {},
		"[3 1]":       {"scope": "folder"},
		"[2 0]":       {"scope": "folder", "cwd": "/a"},
		"[2]":         {"query": "number 2"},
		"[4 3]":       {"query": "PROM num", "limit": 2},
		"[1]":         {"query": "prompt 1", "scope": "folder"},
	} {
		require.Equal(t, want, fmt.Sprint(historyOf(t, env, a)), a)
	}
	for _, a := range []args{{"limit": 0}, {"limit": -5}, {"query": "nowhere"}, {"scope": "folder", "cwd": "/empty"}} {
		require.Empty(t, historyOf(t, env, a), a)
	}
	require.Len(t, historyOf(t, env, args{"limit": 100_000}), 5)
	_, err := run(t.Context(), env, "xcsh.history", args{"scope": "everything"})
	require.Equal(t, "scope", requireKind(t, fault.InvalidArgument, err).Data["field"])
}

// Unanswered prompts come first, and each is listed once.
func TestHistoryIncludesUnansweredPrompts(t *testing.T) {
	t.Parallel()
	env, dir := past(t)
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "unanswered"), 0o700))
	host, err := os.Hostname()
	require.NoError(t, err)
	content := fmt.Sprintf(`{"prompt":"prompt number 1","cwd":"/w","createdAt":"2026-01-01T12:02:00Z","host":%q}`, host)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "unanswered", "1-aaaa.json"), []byte(content), 0o600))
	require.Equal(t, "[1? 4 3 2 0]", fmt.Sprint(historyOf(t, env, args{})))
	require.Equal(t, "[1? 4]", fmt.Sprint(historyOf(t, env, args{"limit": 2})))
	require.Equal(t, "[1? 3]", fmt.Sprint(historyOf(t, env, args{"scope": "folder"})))
	require.Equal(t, "[2 0]", fmt.Sprint(historyOf(t, env, args{"scope": "folder", "cwd": "/a"})))
	require.Equal(t, "[3]", fmt.Sprint(historyOf(t, env, args{"query": "number 3"})))
	require.Empty(t, historyOf(t, env, args{"limit": 0}))
}

// Without a history, or with an unreadable one, the list contains the prompts that are available.
// Proves: X-225
func TestHistoryWithoutADatabase(t *testing.T) {
	t.Parallel()
	require.Empty(t, historyOf(t, newEnv(afero.NewMemMapFs()), args{}))
	path := filepath.Join(t.TempDir(), "history.db")
	require.NoError(t, os.WriteFile(path, []byte("this is no database, and long enough to be looked at as one"), 0o600))
	store := history.Open(history.Config{Path: path})
	store.Add(history.Prompt{Text: "sent by this process"})
	env := newEnv(afero.NewMemMapFs(), func(c *agent.Config) { c.History = store })
	result := do(t, env, "xcsh.history", args{})
	require.Contains(t, result["problem"], path)
	require.Contains(t, fmt.Sprint(result["prompts"]), "sent by this process")
}
