package commands_test

import (
	"context"
	"encoding/json"
	"io/fs"
	"math/rand"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/commands"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
	"github.com/xcsh-ls/xcsh-ls/internal/sessiontest/indexed"
	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/library"
)

const (
	agentDir = "/home/u/.xcsh/agent"
	sessions = agentDir + "/sessions/--w--"
	id1      = "0190000000000001"
	file1    = sessions + "/2026-01-01T00-00-00-000Z_" + id1 + ".jsonl"
)

// args are the arguments of a command as a Go map.
type args = map[string]any

// newEnv returns an environment with the folder /w, files in fs, no user to ask and a fixed clock.
func newEnv(fs afero.Fs, options ...func(*agent.Config)) *commands.Env {
	now := func() time.Time { return time.Date(2026, 2, 3, 4, 5, 6, 0, time.UTC) }
	roots := []library.Root{library.OwnRoot(library.AgentPlaces(agentDir))}
	for _, peer := range []string{"/home/u/.pi/agent", "/home/u/.omp/agent"} {
		roots = append(roots, library.Root{Places: library.AgentPlaces(peer), Dialect: session.DialectOfAgentDir(peer)})
	}
	finder := library.Finder{Fs: fs, Roots: roots, Home: "/home/u", Temp: "/tmp", Now: now}
	cfg := agent.Config{
		Storage: agent.Storage{
			Store: session.NewStore(session.StoreConfig{
				Fs: fs, Now: now, Random: rand.New(rand.NewSource(1)), DirFor: finder.DirFor, RootFor: finder.FileRoot,
			}),
			Finder: finder,
		},
	}
	for _, o := range options {
		o(&cfg)
	}
	return &commands.Env{
		Sessions: agent.NewManager(cfg), Store: cfg.Store, Finder: finder, Fs: fs, UI: commands.Headless{},
		Folders: func() []string { return []string{"/w"} }, Log: zap.NewNop(),
	}
}

// run executes a command as a client would and returns the JSON of its result.
func run(ctx context.Context, env *commands.Env, name string, a any) (json.RawMessage, error) {
	raw, err := json.Marshal(a)
	if err != nil {
		return nil, err
	}
	result, err := commands.Default.Execute(ctx, env, name, []json.RawMessage{raw})
	if err != nil {
		return nil, err
	}
	return json.Marshal(result)
}

// do runs a command that must succeed and returns its decoded result.
func do(t *testing.T, env *commands.Env, name string, a args) map[string]any {
	t.Helper()
	raw, err := run(t.Context(), env, name, a)
	require.NoError(t, err, name)
	var result map[string]any
	require.NoError(t, json.Unmarshal(raw, &result))
	return result
}

// requireKind requires an error of that kind whose message is one sentence, and returns it.
func requireKind(t *testing.T, kind fault.Kind, err error) *fault.Error {
	t.Helper()
	var f *fault.Error
	require.ErrorAs(t, err, &f)
	require.Equal(t, kind, f.Kind, err)
	require.NotContains(t, err.Error(), "\n")
	return f
}

// write writes lines to the file at path.
func write(t *testing.T, fs afero.Fs, path string, lines ...string) {
	t.Helper()
	require.NoError(t, fs.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(t, afero.WriteFile(fs, path, []byte(st.File(lines...)), 0o600))
}

func read(t *testing.T, fs afero.Fs, path string) string {
	t.Helper()
	content, err := afero.ReadFile(fs, path)
	require.NoError(t, err)
	return string(content)
}

// talk returns the lines of a short conversation of folder /w.
func talk(id string) []string {
	return []string{st.Header(id, "/w"), st.User("aaaaaaaa", "", "one"), st.Assistant("bbbbbbbb", "aaaaaaaa", "two")}
}

// tree returns the content of every file but index files.
func tree(t *testing.T, fsys afero.Fs) map[string]string {
	t.Helper()
	files := map[string]string{}
	require.NoError(t, afero.Walk(fsys, "/", func(path string, info fs.FileInfo, err error) error {
		if err == nil && info.Mode().IsRegular() && !indexed.Owns(path) {
			files[path] = read(t, fsys, path)
		}
		return err
	}))
	return files
}

// fixtures copies the repository's session files to the directories in which their programs store them,
// and returns the paths.
func fixtures(t *testing.T, fsys afero.Fs) []string {
	t.Helper()
	var paths []string
	source := filepath.Join("..", "testdata", "sessions")
	require.NoError(t, filepath.WalkDir(source, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(source, path)
		if err != nil {
			return err
		}
		program, rest, _ := strings.Cut(filepath.ToSlash(rel), "/")
		target := "/home/u/." + program + "/agent/sessions/--w--/" + rest
		if blobs, ok := strings.CutPrefix(rest, "agent/"); ok {
			target = "/home/u/." + program + "/agent/" + blobs
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if strings.HasSuffix(target, ".jsonl") {
			paths = append(paths, target)
		}
		if err := fsys.MkdirAll(filepath.Dir(target), 0o700); err != nil {
			return err
		}
		return afero.WriteFile(fsys, target, content, 0o600)
	}))
	require.Greater(t, len(paths), 50)
	return paths
}

// readOnlyFs rejects every change and records it, but for those of index files.
type readOnlyFs struct {
	afero.Fs
	refused *[]string
}

func (r readOnlyFs) refuse(op, path string) error {
	if !indexed.Owns(path) {
		*r.refused = append(*r.refused, op+" "+path)
	}
	return &os.PathError{Op: op, Path: path, Err: syscall.EROFS}
}

func (r readOnlyFs) OpenFile(name string, flag int, perm os.FileMode) (afero.File, error) {
	if flag&(os.O_WRONLY|os.O_RDWR|os.O_APPEND|os.O_CREATE|os.O_TRUNC) != 0 {
		return nil, r.refuse("write", name)
	}
	return r.Fs.OpenFile(name, flag, perm)
}

func (r readOnlyFs) Create(name string) (afero.File, error)    { return nil, r.refuse("create", name) }
func (r readOnlyFs) Mkdir(name string, _ os.FileMode) error    { return r.refuse("mkdir", name) }
func (r readOnlyFs) MkdirAll(name string, _ os.FileMode) error { return r.refuse("mkdir", name) }
func (r readOnlyFs) Remove(name string) error                  { return r.refuse("remove", name) }
func (r readOnlyFs) RemoveAll(name string) error               { return r.refuse("remove", name) }
func (r readOnlyFs) Rename(_, to string) error                 { return r.refuse("rename", to) }
func (r readOnlyFs) Chmod(name string, _ os.FileMode) error    { return r.refuse("chmod", name) }
func (r readOnlyFs) Chown(name string, _, _ int) error         { return r.refuse("chown", name) }
func (r readOnlyFs) Chtimes(name string, _, _ time.Time) error { return r.refuse("chtimes", name) }
