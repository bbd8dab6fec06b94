package commands_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
)

// Details of a session that is live, only in a file, or of another program.
// Proves, AB-004, AB-006, AB-008
func TestInfo(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	write(t, fs, file1, append(called(id1, "Fix it"),
		`{"type":"message","id":"cccccccc","parentId":"aaaaaaaa","timestamp":"2026-01-01T00:00:09.000Z","message":{"role":"user","content":"another branch"}}`,
		`{"type":"model_change","id":"dddddddd","parentId":"cccccccc","timestamp":"2026-01-02T00:00:00.000Z","model":"acme/big/one"}`,
		`{"type":"custom","customType":"xcsh-ls.description","data":{"text":"about it"},"id":"eeeeeeee","parentId":"dddddddd","timestamp":"2026-01-03T00:00:00.000Z"}`,
		`half a line`)...)
	long := time.Date(2001, 1, 1, 0, 0, 0, 0, time.UTC)
	require.NoError(t, fs.Chtimes(file1, long, long))
	write(t, fs, "/home/u/.pi/agent/sessions/--w--/p.jsonl", append(talk("pppp"),
		`{"type":"model_change","id":"22222222","parentId":"bbbbbbbb","timestamp":"2026-01-01T00:00:03.000Z","provider":"acme","modelId":"small"}`,
		`{"type":"session_info","id":"33333333","parentId":"22222222","timestamp":"2026-01-01T00:00:04.000Z","name":"Fix it!"}`)...)
	env := newEnv(fs)
	want := map[string]any{
		"path": file1, "id": id1, "slug": "fix-it", "cwd": "/w", "title": "Fix it", "name": "Fix it", "firstMessage": "one",
		"messageCount": 2.0, "created": "2026-01-01T00:00:00.000Z", "modified": "2001-01-01T00:00:00.000Z", "timeAgo": "1/1/2001",
		"size": float64(len(read(t, fs, file1))), "entries": 4.0, "branches": 2.0, "damagedLines": 1.0, "live": false, "origin": "xcsh",
		"description": "about it", "provider": "acme", "model": "big/one", "createdAt": "2026-01-01T00:00:00.000Z",
		"lastActivityAt": "2026-01-03T00:00:00.000Z", "counts": map[string]any{"user": 2.0},
		"changes": map[string]any{"records": 0.0, "bytes": 0.0},
	}
	require.Equal(t, want, do(t, env, "xcsh.info", args{"source": id1}))
	do(t, env, "xcsh.resume", args{"target": id1})
	want["live"] = true
	require.Equal(t, want, do(t, env, "xcsh.info", nil))
	do(t, env, "xcsh.branch", args{"entryId": "bbbbbbbb"})
	want["counts"], want["provider"], want["model"] = map[string]any{"user": 1.0, "assistant": 1.0}, "offline", "demo"
	got := do(t, env, "xcsh.info", nil)
	require.NotEqual(t, want["modified"], got["modified"], "the place was written")
	want["modified"], want["timeAgo"], want["size"], want["lastActivityAt"] = got["modified"], got["timeAgo"], float64(len(read(t, fs, file1))), "2026-02-03T04:05:06.000Z"
	require.Equal(t, want, got)

	peer := do(t, env, "xcsh.info", args{"source": "pppp"})
	require.Equal(t, []any{"Fix it!", "fix-it-2", "acme", "small", "pi"}, []any{peer["title"], peer["slug"], peer["provider"], peer["model"], peer["origin"]})
	require.NotContains(t, peer, "description")
}

// A session that has no file yet is described from memory.
// Proves: AB-004
func TestInfoOfANewSession(t *testing.T) {
	t.Parallel()
	env := newEnv(afero.NewMemMapFs())
	do(t, env, "xcsh.rename", args{"title": "Begun"})
	state := do(t, env, "xcsh.state", nil)
	require.Equal(t, map[string]any{
		"path": state["file"], "id": state["sessionId"], "slug": "begun", "cwd": "/w", "title": "Begun", "name": "Begun",
		"firstMessage": "(no messages)", "messageCount": 0.0, "created": "2026-02-03T04:05:06.000Z", "modified": "2026-02-03T04:05:06.000Z",
		"timeAgo": "just now", "size": 0.0, "entries": 0.0, "branches": 0.0, "damagedLines": 0.0, "live": true, "origin": "xcsh",
		"createdAt": "2026-02-03T04:05:06.000Z", "lastActivityAt": "2026-02-03T04:05:06.000Z", "counts": map[string]any{},
		"changes": map[string]any{"records": 0.0, "bytes": 0.0},
	}, do(t, env, "xcsh.info", nil))
}

// The slug of a session in memory is not that of a session with a file.
func TestInfoOfASessionInMemory(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	write(t, fs, file1, st.Header(id1, "/w"), st.User("aaaaaaaa", "", "another"))
	env := newEnv(fs, func(c *agent.Config) { c.InMemory = true })
	do(t, env, "xcsh.new", nil)
	do(t, env, "xcsh.rename", args{"title": "Begun"})
	require.Equal(t, "begun", do(t, env, "xcsh.info", nil)["slug"])
}

// Proves: AB-004
func TestInfoOfADamagedSession(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	write(t, fs, file1, "no header")
	_, err := run(t.Context(), newEnv(fs), "xcsh.info", args{"source": file1})
	requireKind(t, fault.Damaged, err)
}

func TestDescribe(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	write(t, fs, file1, talk(id1)...)
	write(t, fs, file2, talk(id2)...)
	env := newEnv(fs)
	do(t, env, "xcsh.resume", args{"target": id1})
	for _, a := range []args{{}, {"source": id1}, {"source": id2}} {
		path := map[any]string{nil: file1, id1: file1, id2: file2}[a["source"]]
		before := read(t, fs, path)
		for _, text := range []string{"what it is\nabout", ""} {
			a["text"] = " " + text + "\x07"
			require.Equal(t, map[string]any{"description": text}, do(t, env, "xcsh.describe", a))
			info := do(t, env, "xcsh.info", args{"source": path})
			require.Equal(t, text, map[bool]any{true: "", false: info["description"]}[info["description"] == nil])
		}
		require.True(t, strings.HasPrefix(read(t, fs, path), before))
		require.Equal(t, 2, strings.Count(read(t, fs, path)[len(before):], "\n"))
	}
	_, err := run(t.Context(), env, "xcsh.describe", args{"text": strings.Repeat("x", 10_001)})
	require.Equal(t, "text", requireKind(t, fault.InvalidArgument, err).Data["field"])
}

// Without a text the user is asked, and the input starts with the current description.
func TestDescribeAsks(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	write(t, fs, file1, talk(id1)...)
	write(t, fs, file2, talk(id2)...)
	env := newEnv(fs)
	do(t, env, "xcsh.resume", args{"target": id1})
	for _, a := range []args{{}, {"source": id2}} {
		user := &respondent{text: "answered"}
		env.UI = user
		do(t, env, "xcsh.describe", a)
		require.Equal(t, "answered", do(t, env, "xcsh.info", a)["description"])
		user.text = ""
		_, err := run(t.Context(), env, "xcsh.describe", a)
		requireKind(t, fault.Cancelled, err)
		require.Equal(t, "answered", user.wanted[1].Initial)
		require.Equal(t, "answered", do(t, env, "xcsh.info", a)["description"])
	}
	env.Pick = true
	_, err := run(t.Context(), env, "xcsh.describe", nil)
	require.Equal(t, "text", requireKind(t, fault.ArgumentNeeded, err).Data["field"])
}

// Proves: A-015, AB-055
func TestExists(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	write(t, fs, file1, called(id1, "Fix it")...)
	write(t, fs, file2, talk(id2)...)
	damaged := sessions + "/2026-01-01T00-00-00-000Z_dddd.jsonl"
	write(t, fs, damaged, "no header")
	write(t, fs, sessions+"/notes.txt", "no session")
	require.NoError(t, fs.MkdirAll(sessions+"/dir.jsonl", 0o700))
	env := newEnv(afero.NewReadOnlyFs(fs))
	for source, path := range map[string]string{
		id1: file1, "Fix it": file1, "fix-it": file1, file1: file1, "file://" + file1: file1, "2026-01-01T00-00-00-000Z_" + id1 + ".jsonl": file1,
		`"` + file1 + `"`: file1, "~/.xcsh/agent/sessions/--w--/" + "2026-01-01T00-00-00-000Z_" + id2 + ".jsonl": file2,
		"dddd": damaged, damaged: damaged,
	} {
		require.Equal(t, map[string]any{"exists": true, "path": path}, do(t, env, "xcsh.exists", args{"source": source}), source)
	}
	for _, source := range []string{
		"nobody", "%2e%2e", "a\nb", strings.Repeat("x", 10_000), ".jsonl", "x.jsonl.jsonl", " ", sessions + "/notes.txt", sessions + "/dir.jsonl",
		sessions + "/gone.jsonl", "C:", "con",
	} {
		require.Equal(t, map[string]any{"exists": false}, do(t, env, "xcsh.exists", args{"source": source}), source)
	}
	require.Equal(t, false, do(t, env, "xcsh.exists", nil)["exists"], "a new session has no file yet")
	_, err := run(t.Context(), env, "xcsh.exists", args{"source": "019000000000000"})
	require.Len(t, requireKind(t, fault.Ambiguous, err).Data["candidates"], 2)
	for _, source := range []string{"a\x00b", "file:x", "file://elsewhere/x", "file:///%zz"} {
		_, err := run(t.Context(), env, "xcsh.exists", args{"source": source})
		requireKind(t, fault.InvalidArgument, err)
	}
}

// Paths outside the session directories are not accessed, however they are spelled.
// Proves: AB-055
func TestExistsSearchesOnlySessionsDirectories(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	write(t, fs, "/etc/secret.jsonl", talk(id1)...)
	write(t, fs, "/w/x.jsonl", talk(id1)...)
	write(t, fs, file1, talk(id1)...)
	touched := &st.FaultFs{Fs: fs, Reads: true}
	var seen []string
	touched.On = func(_, name string) bool { seen = append(seen, name); return false }
	env := newEnv(touched)
	outside := []string{
		"/etc/secret.jsonl", "../etc/secret.jsonl", "..", "../..", "file:///etc/secret.jsonl", "file:///home/u/%2e%2e/%2e%2e/etc/secret.jsonl",
		sessions + "/../../../../../../etc/secret.jsonl", `..\..\etc`, `\\host\share\x.jsonl`, "a/b", "~/x.jsonl", "./x.jsonl",
	}
	for _, source := range outside {
		_, err := run(t.Context(), env, "xcsh.exists", args{"source": source})
		require.NotEmpty(t, requireKind(t, fault.OutsideRoot, err).Data["path"], source)
	}
	require.Equal(t, map[string]any{"exists": false}, do(t, env, "xcsh.exists", args{"source": "x.jsonl"}), "other files in the directory are not sessions")
	for _, name := range seen {
		require.True(t, strings.HasPrefix(name, "/home/u/."), "%s was looked at", name)
	}
	require.NotEmpty(t, seen)
	do(t, env, "xcsh.resume", args{"target": "/w/x.jsonl"})
	require.Equal(t, map[string]any{"exists": true, "path": "/w/x.jsonl"}, do(t, env, "xcsh.exists", args{"source": "/w/x.jsonl"}), "it is open")
}

// A session can be resumed by each of its names, and continue ignores sessions in subdirectories.
// Proves: AB-032, AB-033
func TestResumeByEveryName(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	write(t, fs, file1, called(id1, "Fix it")...)
	write(t, fs, file2, called(id2, "Fix it")...)
	agents := strings.TrimSuffix(file1, ".jsonl") + "/agent.jsonl"
	write(t, fs, agents, talk("subagent")...)
	for path, at := range map[string]int{file2: 1, file1: 2, agents: 3} {
		changed := time.Date(2026, 1, at, 0, 0, 0, 0, time.UTC)
		require.NoError(t, fs.Chtimes(path, changed, changed))
	}
	env := newEnv(fs)
	for target, want := range map[string]string{id1: id1, id2: id2, "fix-it-2": id2, file1: id1, "2026-01-01T00-00-00-000Z_" + id2: id2} {
		state, ok := do(t, env, "xcsh.resume", args{"target": target})["session"].(map[string]any)
		require.True(t, ok)
		require.Equal(t, want, state["sessionId"], target)
	}
	for _, target := range []string{"Fix it", "01900000"} {
		_, err := run(t.Context(), env, "xcsh.resume", args{"target": target})
		candidates, _ := json.Marshal(requireKind(t, fault.Ambiguous, err).Data["candidates"])
		require.Contains(t, string(candidates), id1, target)
		require.Contains(t, string(candidates), id2, target)
	}
	state, ok := do(t, env, "xcsh.continue", nil)["session"].(map[string]any)
	require.True(t, ok)
	require.Equal(t, id1, state["sessionId"], "not the newer transcript of a sub-agent")
}
