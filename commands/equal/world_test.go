package equal

import (
	"encoding/json"
	"errors"
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
	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/library"
)

// clock is ahead of the files' times, so that they have rested.
var clock = time.Date(2040, 2, 3, 4, 5, 6, 0, time.UTC)

// written is the time of every session file.
var written = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// programs are the directories of the programs' files below the home directory.
var programs = []string{".xcsh", ".pi", ".omp"}

// world is a home directory with sessions of all programs. Its files have the same paths in each variant.
type world struct {
	*testing.T
	dir     string
	indexes bool // sessions have index files
	broken  bool // no operation on the directory of index files succeeds
	state   map[string][]byte
	env     *commands.Env
	ran     map[string]int // how often each command ran
	good    map[string]int // how often it succeeded
}

func newWorld(t *testing.T) *world {
	t.Helper()
	return &world{T: t, dir: t.TempDir(), ran: map[string]int{}, good: map[string]int{}}
}

func (w *world) path(parts ...string) string {
	return filepath.Join(w.dir, filepath.Join(parts...))
}

func (w *world) indexDir() string { return w.path("cache", "index") }

// sessions returns the directory of the sessions that a program keeps of the folder.
func (w *world) sessions(program string) string { return w.path(program, "agent", "sessions", "--w--") }

// clear removes all files.
func (w *world) clear() {
	w.closeEnv()
	found, err := filepath.Glob(w.path("*"))
	require.NoError(w, err)
	for _, path := range found {
		require.NoError(w, os.RemoveAll(path))
	}
	for _, dir := range append([]string{w.path("w"), w.path("v"), w.path("out")}, w.sessions(programs[0]), w.sessions(programs[1]), w.sessions(programs[2])) {
		require.NoError(w, os.MkdirAll(dir, 0o700))
	}
}

// put appends to a session file, which is then as old as all others.
func (w *world) put(path string, content []byte) {
	w.Helper()
	require.NoError(w, os.MkdirAll(filepath.Dir(path), 0o700))
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	require.NoError(w, err)
	_, err = f.Write(content)
	require.NoError(w, errors.Join(err, f.Close()))
	require.NoError(w, os.Chtimes(path, written, written))
}

// open replaces the environment by one of a new server.
func (w *world) open() *commands.Env {
	w.closeEnv()
	now := func() time.Time { return clock }
	var roots []library.Root
	for i, program := range programs {
		places := library.AgentPlaces(w.path(program, "agent"))
		if i == 0 {
			roots = append(roots, library.OwnRoot(places))
		} else {
			roots = append(roots, library.Root{Places: places, Dialect: session.DialectOfAgentDir(w.path(program, "agent"))})
		}
	}
	files := afero.NewOsFs()
	if w.broken {
		files = brokenFs{files, w.indexDir()}
	}
	finder := library.Finder{
		Fs: files, Roots: roots, Home: w.dir, Temp: "/tmp", Now: now, RealPath: filepath.EvalSymlinks, CacheDir: w.path("cache"),
	}
	c := session.StoreConfig{
		Fs: files, Now: now, Random: rand.New(rand.NewSource(1)), DirFor: finder.DirFor, RootFor: finder.FileRoot, RealPath: filepath.EvalSymlinks,
	}
	if w.indexes {
		c.IndexDir = w.indexDir()
	}
	store := session.NewStore(c)
	w.env = &commands.Env{
		Sessions: agent.NewManager(agent.Config{Storage: agent.Storage{Store: store, Finder: finder}}), Store: store, Finder: finder, Fs: files,
		UI: commands.Headless{}, Folders: func() []string { return []string{w.path("w")} }, Log: zap.NewNop(),
	}
	return w.env
}

func (w *world) closeEnv() {
	if w.env != nil {
		_ = w.env.Sessions.Close(w.Context()) // an answer that is not compared
		w.env = nil
	}
}

// load reads a session, which leaves its index file.
func (w *world) load(path string) {
	w.Helper()
	d, err := w.open().Store.Load(path)
	if err == nil {
		require.NoError(w, d.Close())
	}
}

// indexFiles returns the index files, by path.
func (w *world) indexFiles() map[string][]byte {
	w.Helper()
	found, err := filepath.Glob(filepath.Join(w.indexDir(), "*"))
	require.NoError(w, err)
	files := map[string][]byte{}
	for _, path := range found {
		files[path], err = os.ReadFile(path)
		require.NoError(w, err)
	}
	return files
}

// restore makes the index files those of the variant again.
func (w *world) restore() {
	w.Helper()
	if !w.indexes || w.broken || w.state == nil {
		return
	}
	found, err := filepath.Glob(filepath.Join(w.indexDir(), "*"))
	require.NoError(w, err)
	for _, path := range found {
		if _, ok := w.state[path]; !ok {
			require.NoError(w, os.Remove(path))
		}
	}
	for path, content := range w.state {
		require.NoError(w, os.MkdirAll(w.indexDir(), 0o700))
		require.NoError(w, os.WriteFile(path, content, 0o600))
	}
}

// run returns the JSON of a command's result, or of its error.
func (w *world) run(name string, a map[string]any) string {
	w.Helper()
	raw, err := json.Marshal(a)
	require.NoError(w, err)
	w.ran[name]++
	result, err := commands.Default.Execute(w.Context(), w.env, name, []json.RawMessage{raw})
	if f, ok := errors.AsType[*fault.Error](err); ok {
		data, err := json.Marshal(f.Data)
		require.NoError(w, err)
		return string(f.Kind) + ": " + f.Message + " " + string(data)
	} else if err != nil {
		return "failure: " + err.Error()
	}
	w.good[name]++
	text, err := json.Marshal(result)
	require.NoError(w, err)
	return string(text)
}

// files returns the content of every file but those of the cache and locks.
func (w *world) files() map[string]string {
	w.Helper()
	files := map[string]string{}
	require.NoError(w, filepath.WalkDir(w.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if path == w.path("cache") {
			return fs.SkipDir
		}
		if d.Type().IsRegular() && !strings.HasSuffix(path, ".lock") {
			content, err := os.ReadFile(path)
			files[path] = string(content)
			return err
		}
		return nil
	}))
	return files
}

// brokenFs refuses every operation on a directory, as one of another user does.
type brokenFs struct {
	afero.Fs
	dir string
}

func (b brokenFs) refuse(path string) error {
	if strings.HasPrefix(path, b.dir) {
		return &os.PathError{Op: "open", Path: path, Err: syscall.EACCES}
	}
	return nil
}

func (b brokenFs) Open(name string) (afero.File, error) {
	if err := b.refuse(name); err != nil {
		return nil, err
	}
	return b.Fs.Open(name)
}

func (b brokenFs) OpenFile(name string, flag int, perm os.FileMode) (afero.File, error) {
	if err := b.refuse(name); err != nil {
		return nil, err
	}
	return b.Fs.OpenFile(name, flag, perm)
}

func (b brokenFs) Create(name string) (afero.File, error) {
	if err := b.refuse(name); err != nil {
		return nil, err
	}
	return b.Fs.Create(name)
}

func (b brokenFs) MkdirAll(path string, perm os.FileMode) error {
	if err := b.refuse(path); err != nil {
		return err
	}
	return b.Fs.MkdirAll(path, perm)
}

func (b brokenFs) Stat(name string) (os.FileInfo, error) {
	if err := b.refuse(name); err != nil {
		return nil, err
	}
	return b.Fs.Stat(name)
}

func (b brokenFs) Remove(name string) error {
	if err := b.refuse(name); err != nil {
		return err
	}
	return b.Fs.Remove(name)
}

func (b brokenFs) Rename(from, to string) error {
	if err := errors.Join(b.refuse(from), b.refuse(to)); err != nil {
		return err
	}
	return b.Fs.Rename(from, to)
}
