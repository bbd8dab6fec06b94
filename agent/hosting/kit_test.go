package hosting_test

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/approval"
	"github.com/xcsh-ls/xcsh-ls/agent/engine"
	"github.com/xcsh-ls/xcsh-ls/agent/event"
	"github.com/xcsh-ls/xcsh-ls/agent/hosting"
	"github.com/xcsh-ls/xcsh-ls/agent/loop"
	"github.com/xcsh-ls/xcsh-ls/agent/tool"
	"github.com/xcsh-ls/xcsh-ls/internal/playedengine"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// world is a session with the seat of a program that the test plays.
type world struct {
	t     *testing.T
	fs    afero.Fs
	store *session.Store
	log   *session.Log
	gate  *approval.Gate
	files *files
	seat  *hosting.Seat
	cfg   hosting.Config

	makes func(w *world) *playedengine.Program // the next process

	mu       sync.Mutex
	programs []*playedengine.Program // guarded by mu, like all below
	events   []event.Event           // published
	changed  chan struct{}           // closed and replaced with every event
	left     []string
	said     []string
	onDisk   int
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, fs: afero.NewMemMapFs(), changed: make(chan struct{})}
	w.store = session.NewStore(session.StoreConfig{
		Fs: w.fs, DirFor: func(string) (string, error) { return "/sessions/own", nil },
		RootFor: func(path string) (session.FileRoot, bool) {
			return session.FileRoot{Dialect: session.Pi}, strings.HasPrefix(path, "/sessions/pi")
		},
		LockDir: "/locks",
	})
	var err error
	w.log, err = w.store.Create("/work", session.NewOptions{})
	require.NoError(t, err)
	w.gate = approval.NewGate(approval.Config{Root: "/work", Mode: approval.Yolo})
	w.files = &files{Local: tool.Local{Fs: w.fs}, open: map[string]string{}}
	w.makes = func(w *world) *playedengine.Program { return played(w) }
	w.cfg = hosting.Config{
		Program: engine.Program{Name: "pi", Path: "/bin/pi", Protocol: engine.PiRPC, Version: "1.5.2"},
		Engine: func() (engine.Engine, error) {
			p := w.makes(w)
			w.mu.Lock()
			defer w.mu.Unlock()
			w.programs = append(w.programs, p)
			return p, nil
		},
		Session: w.log, Cwd: "/work", Gate: w.gate, Files: w.files,
		Home:  func() (hosting.Home, error) { return hosting.Home{Dir: "/sessions/pi", Cwd: "/work"}, nil },
		Place: func() engine.Place { return engine.Place{Permit: true} },
		Emit:  w.emit, Queued: func([]string, []string) {},
		OnDisk: func() { w.note(func() { w.onDisk++ }) },
		Said:   func(text string) { w.note(func() { w.said = append(w.said, text) }) },
		Left:   func(path string) { w.note(func() { w.left = append(w.left, path) }) },
	}
	w.seat = hosting.New(w.cfg)
	t.Cleanup(func() {
		require.NoError(t, w.seat.Shut(context.Background()))
		require.NoError(t, w.log.Close())
	})
	return w
}

// played returns the next program.
func played(w *world) *playedengine.Program {
	w.mu.Lock()
	defer w.mu.Unlock()
	return playedengine.New(w.t, w.fs, len(w.programs)+1)
}

func (w *world) note(f func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	f()
	close(w.changed)
	w.changed = make(chan struct{})
}

func (w *world) emit(e event.Event) { w.note(func() { w.events = append(w.events, e) }) }

// await waits until the world is as f wants it.
func (w *world) await(what string, f func() bool) {
	w.t.Helper()
	late := time.After(20 * time.Second)
	for {
		w.mu.Lock()
		ok, changed := f(), w.changed
		w.mu.Unlock()
		if ok {
			return
		}
		select {
		case <-changed:
		case <-late:
			require.FailNow(w.t, "did not happen: "+what, "%v", w.shown())
		}
	}
}

// shown returns the events as JSON.
func (w *world) shown() (lines []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, e := range w.events {
		raw, err := json.Marshal(e)
		require.NoError(w.t, err)
		lines = append(lines, string(raw))
	}
	return lines
}

// of returns the events of a type.
func of[E event.Event](w *world) (all []E) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, e := range w.events {
		if e, ok := e.(E); ok {
			all = append(all, e)
		}
	}
	return all
}

func (w *world) program(n int) *playedengine.Program {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.programs[n]
}

// run sends a prompt.
func (w *world) run(text string) loop.Outcome {
	return w.seat.Run(w.t.Context(), engine.Input{Text: text})
}

// lines returns the session file.
func (w *world) lines() []string {
	raw, err := afero.ReadFile(w.fs, w.log.Path())
	require.NoError(w.t, err)
	return strings.Split(strings.TrimSuffix(string(raw), "\n"), "\n")
}

// files are the editor's.
type files struct {
	tool.Local
	mu    sync.Mutex
	open  map[string]string // guarded by mu; the texts of open documents
	saves int               // guarded by mu; how often edits were to be saved
}

func (f *files) SaveEdits(context.Context, string, bool) ([]string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.saves++
	return nil, nil
}

func (f *files) ReadFile(ctx context.Context, path string) (tool.File, error) {
	f.mu.Lock()
	text, open := f.open[path]
	f.mu.Unlock()
	if !open {
		return f.Local.ReadFile(ctx, path)
	}
	return tool.File{Content: []byte(text), Exists: true, Open: true, Dirty: true}, nil
}

func (f *files) WriteFile(ctx context.Context, label, path string, was tool.File, content []byte) (tool.Saved, error) {
	if !was.Open {
		return f.Local.WriteFile(ctx, label, path, was, content)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.open[path] = string(content)
	return tool.Saved{Buffer: true}, nil
}
