package agent_test

import (
	"context"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap/zaptest"

	"github.com/xcsh-ls/xcsh-ls/agent"
	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/library"
)

// gate calls out when a file is opened or a directory read.
type gate struct {
	afero.Fs
	open func(name string)
	full bool
}

func (g *gate) OpenFile(n string, flag int, p os.FileMode) (afero.File, error) {
	if g.full && flag&os.O_WRONLY != 0 {
		return nil, &os.PathError{Op: "open", Path: n, Err: syscall.ENOSPC}
	}
	return g.Fs.OpenFile(n, flag, p)
}

func (g *gate) Open(n string) (afero.File, error) {
	if g.open != nil {
		g.open(n)
	}
	return g.Fs.Open(n)
}

func diskWorld(t *testing.T, fs afero.Fs, dir string) *agent.Manager {
	finder := library.Finder{
		Fs: fs, Roots: []library.Root{library.OwnRoot(library.AgentPlaces(dir))}, Now: time.Now,
		RealPath: filepath.EvalSymlinks,
	}
	return agent.NewManager(agent.Config{
		Storage: agent.Storage{Store: session.NewStore(session.StoreConfig{Fs: fs, DirFor: finder.DirFor, RootFor: finder.FileRoot}), Finder: finder},
		Log:     zaptest.NewLogger(t),
	})
}

func putAt(t *testing.T, path string) {
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(t, os.WriteFile(path, []byte(st.File(st.Header("0123456789abcdef", "/w"),
		st.User("aaaaaaaa", "", "one"), st.Assistant("bbbbbbbb", "aaaaaaaa", "two"))), 0o600))
}

// TestTwoWritersThroughALink: two folders open one file by two names.
func TestTwoWritersThroughALink(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "sessions", "--w--", "a.jsonl")
	putAt(t, path)
	require.NoError(t, os.Symlink(filepath.Join(dir, "sessions", "--w--"), filepath.Join(dir, "link")))
	m := diskWorld(t, afero.NewOsFs(), dir)
	a, err := m.Session(t.Context(), "/w")
	require.NoError(t, err)
	b, err := m.Session(t.Context(), "/v")
	require.NoError(t, err)
	_, err = a.Switch(t.Context(), path)
	require.NoError(t, err)
	_, err = b.Switch(t.Context(), filepath.Join(dir, "link", "a.jsonl"))
	require.Error(t, err, "it is open in /w")
}

// TestTwoWritersByRace: two folders switch to one file at the same time; both pass the check.
func TestTwoWritersByRace(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "sessions", "--w--", "a.jsonl")
	putAt(t, path)
	fs := &gate{Fs: afero.NewOsFs()}
	m := diskWorld(t, fs, dir)
	a, err := m.Session(t.Context(), "/w")
	require.NoError(t, err)
	b, err := m.Session(t.Context(), "/v")
	require.NoError(t, err)
	var errB error
	fs.open = func(n string) {
		if n == path {
			fs.open = nil
			_, errB = b.Switch(context.Background(), path)
		}
	}
	_, errA := a.Switch(t.Context(), path)
	require.False(t, errA == nil && errB == nil, "both folders hold %s", path)
}

// TestOperationAfterCloseFolder: an operation on a session whose folder was closed succeeds outside of the
// manager: the session's log is never closed, and the manager does not know that it is live.
func TestOperationAfterCloseFolder(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "sessions", "--w--", "a.jsonl")
	putAt(t, path)
	m := diskWorld(t, afero.NewOsFs(), dir)
	a, err := m.Session(t.Context(), "/w")
	require.NoError(t, err)
	require.NoError(t, m.CloseFolder(t.Context(), "/w"))
	out, err := a.Switch(t.Context(), path)
	_, live := m.LiveIn(path)
	require.True(t, err != nil || live, "changed: %v, but no folder holds it", out.Changed)
}

// TestSlowDirectoryBlocksEverybody: a slow sessions directory blocks unrelated operations.
func TestSlowDirectoryBlocksEverybody(t *testing.T) {
	dir := t.TempDir()
	putAt(t, filepath.Join(dir, "sessions", "--w--", "a.jsonl"))
	fs := &gate{Fs: afero.NewOsFs()}
	m := diskWorld(t, fs, dir)
	_, err := m.Session(t.Context(), "/w")
	require.NoError(t, err)
	inside, release := make(chan struct{}), make(chan struct{})
	fs.open = func(string) { close(inside); <-release }
	go func() { _, _ = m.Session(context.Background(), "/v") }()
	<-inside
	defer close(release)
	m.Live("/w") // a deadlock if it waits for the disk
}

// TestUnsavedEntriesLostBySwitch: entries that could not be saved are lost when the folder changes its session,
// and the answer does not report it. Here the same file is resumed again.
func TestUnsavedEntriesLostBySwitch(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "sessions", "--w--", "a.jsonl")
	putAt(t, path)
	fs := &gate{Fs: afero.NewOsFs()}
	m := diskWorld(t, fs, dir)
	a, err := m.Session(t.Context(), "/w")
	require.NoError(t, err)
	_, err = a.Switch(t.Context(), path)
	require.NoError(t, err)
	fs.full = true
	id, err := a.Label(t.Context(), "aaaaaaaa", "mine")
	require.Error(t, err)
	require.NotEmpty(t, id, "kept in memory")
	out, err := a.Switch(t.Context(), path)
	fs.full = false
	if err == nil && out.Changed {
		_, err = a.Label(t.Context(), "bbbbbbbb", "other") // the disk works again
		require.NoError(t, err)
		b, _ := os.ReadFile(path)
		require.Contains(t, string(b), "mine")
	}
}
