package commands_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/commands"
	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/library"
)

func reviewEnv(t *testing.T, dir string) (*commands.Env, string) {
	t.Helper()
	fs := afero.NewOsFs()
	w := filepath.Join(dir, "w")
	require.NoError(t, os.MkdirAll(w, 0o700))
	finder := library.Finder{Fs: fs, Roots: []library.Root{library.OwnRoot(library.AgentPlaces(filepath.Join(dir, "agent")))}, Now: time.Now, RealPath: filepath.EvalSymlinks}
	store := session.NewStore(session.StoreConfig{Fs: fs, DirFor: finder.DirFor, RootFor: finder.FileRoot})
	return &commands.Env{
		Sessions: agent.NewManager(agent.Config{Storage: agent.Storage{Store: store, Finder: finder}}), Store: store, Finder: finder, Fs: fs,
		UI: commands.Headless{}, Folders: func() []string { return []string{w} }, Log: zap.NewNop(),
	}, w
}

func reviewFile(cwd string, more ...string) string {
	return st.File(append([]string{st.Header("0123456789abcdef", cwd), st.User("aaaaaaaa", "", "one"), st.Assistant("bbbbbbbb", "aaaaaaaa", "two")}, more...)...)
}

func execC(t *testing.T, env *commands.Env, name string, args any) (map[string]any, error) {
	t.Helper()
	out, err := run(t.Context(), env, name, args)
	if err != nil {
		return nil, err
	}
	var m map[string]any
	require.NoError(t, json.Unmarshal(out, &m))
	return m, nil
}

// TestExportOverItself: an export with overwrite must not replace the session that it exports.
// Proves: O-002
func TestExportOverItself(t *testing.T) {
	env, w := reviewEnv(t, t.TempDir())
	path := filepath.Join(w, "s.jsonl") // a session outside every root
	before := reviewFile(w) + "{\"half a line\n"
	require.NoError(t, os.WriteFile(path, []byte(before), 0o600))
	_, err := execC(t, env, "xcsh.export", map[string]any{"source": path, "path": path, "format": "html", "overwrite": true})
	after, _ := os.ReadFile(path)
	require.Equal(t, before, string(after))
	require.Error(t, err)
}

// TestExportThroughALink: an export through a symbolic link into a sessions root must not replace a session.
// Proves: O-002
func TestExportThroughALink(t *testing.T) {
	dir := t.TempDir()
	env, w := reviewEnv(t, dir)
	path := filepath.Join(dir, "agent", "sessions", "--w--", "s.jsonl")
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(t, os.WriteFile(path, []byte(reviewFile(w)), 0o600))
	require.NoError(t, os.Symlink(filepath.Dir(path), filepath.Join(w, "out")))
	_, err := execC(t, env, "xcsh.export", map[string]any{"source": path, "path": "out/s.jsonl", "format": "html", "overwrite": true})
	after, _ := os.ReadFile(path)
	require.Equal(t, reviewFile(w), string(after))
	require.Error(t, err)
}

// TestEmptyLeafID: an empty leafId counts as unknown and selects the newest entry, not an empty context.
func TestEmptyLeafID(t *testing.T) {
	env, w := reviewEnv(t, t.TempDir())
	path := filepath.Join(w, "s.jsonl")
	require.NoError(t, os.WriteFile(path, []byte(reviewFile(w)), 0o600))
	r, err := execC(t, env, "xcsh.context", map[string]any{"source": path, "leafId": ""})
	require.NoError(t, err)
	require.Len(t, r["context"].(map[string]any)["messages"], 2)
}

// TestEmptyEntryID: an empty entryId is rejected; it does not select the position before the first entry.
func TestEmptyEntryID(t *testing.T) {
	env, w := reviewEnv(t, t.TempDir())
	path := filepath.Join(w, "s.jsonl")
	require.NoError(t, os.WriteFile(path, []byte(reviewFile(w)), 0o600))
	_, err := execC(t, env, "xcsh.resume", map[string]any{"target": path})
	require.NoError(t, err)
	_, err = execC(t, env, "xcsh.branch", map[string]any{"entryId": ""})
	require.Error(t, err)
}

// TestLimitOverflow: a page whose end overflows must not panic.
func TestLimitOverflow(t *testing.T) {
	env, w := reviewEnv(t, t.TempDir())
	path := filepath.Join(filepath.Dir(w), "agent", "sessions", "--x--")
	require.NoError(t, os.MkdirAll(path, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(path, "a.jsonl"), []byte(reviewFile(w)), 0o600))
	require.NotPanics(t, func() {
		_, _ = execC(t, env, "xcsh.list", map[string]any{"scope": "all", "cursor": "1", "limit": 9223372036854775807})
	})
}

// TestRecentZero: a limit of 0 returns no sessions, not the default number.
// Proves: X-141
func TestRecentZero(t *testing.T) {
	env, w := reviewEnv(t, t.TempDir())
	path, err := env.Finder.DirFor(w)
	require.NoError(t, err)
	require.NoError(t, os.MkdirAll(path, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(path, "a.jsonl"), []byte(reviewFile(w)), 0o600))
	r, err := execC(t, env, "xcsh.recent", map[string]any{"limit": 0})
	require.NoError(t, err)
	require.Empty(t, r["sessions"])
}

// TestInfiniteUsage: a number beyond float64 must not prevent resuming the session.
func TestInfiniteUsage(t *testing.T) {
	env, w := reviewEnv(t, t.TempDir())
	path := filepath.Join(w, "s.jsonl")
	odd := `{"type":"message","id":"cccccccc","parentId":"bbbbbbbb","timestamp":"2026-01-01T00:00:00.000Z","message":{"role":"assistant","content":[],"usage":{"input":1e999}}}`
	require.NoError(t, os.WriteFile(path, []byte(reviewFile(w, odd)), 0o600))
	_, err := execC(t, env, "xcsh.resume", map[string]any{"target": path})
	require.NoError(t, err)
}

// TestSourceThroughALink: a live session includes its unsaved state under every name: resume it by a
// link, then ask by the real path.
func TestSourceThroughALink(t *testing.T) {
	env, w := reviewEnv(t, t.TempDir())
	path := filepath.Join(w, "s.jsonl")
	require.NoError(t, os.WriteFile(path, []byte(reviewFile(w)), 0o600))
	require.NoError(t, os.Symlink(path, filepath.Join(w, "l.jsonl")))
	_, err := execC(t, env, "xcsh.resume", map[string]any{"target": filepath.Join(w, "l.jsonl")})
	require.NoError(t, err)
	_, err = execC(t, env, "xcsh.branch", map[string]any{"entryId": nil})
	require.NoError(t, err)
	r, err := execC(t, env, "xcsh.context", map[string]any{"source": path})
	require.NoError(t, err)
	require.Nil(t, r["leafId"], "the live session's leaf")
}

// TestProblemsWithoutBound: the problems sent for a file with many bad lines are bounded.
func TestProblemsWithoutBound(t *testing.T) {
	env, w := reviewEnv(t, t.TempDir())
	path := filepath.Join(w, "s.jsonl")
	require.NoError(t, os.WriteFile(path, []byte(reviewFile(w)+strings.Repeat("x\n", 500_000)), 0o600)) // 1 MB
	res, err := commands.Default.Execute(t.Context(), env, "xcsh.resume", []json.RawMessage{json.RawMessage(`{"target":"` + path + `"}`)})
	require.NoError(t, err)
	out, err := json.Marshal(res)
	require.NoError(t, err)
	require.Less(t, len(out), 1<<20, "bytes on the wire for a file of 1 MB")
}
