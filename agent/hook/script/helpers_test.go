//go:build unix

package script_test

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/hook"
	"github.com/xcsh-ls/xcsh-ls/agent/hook/script"
)

// world is a folder of hooks, a workspace folder, and the recorded reports.
type world struct {
	*script.Hooks
	dir, cwd string

	mu       sync.Mutex
	reports  []string // guarded by mu
	reported chan struct{}
}

func newWorld(t *testing.T) *world {
	t.Helper()
	root := t.TempDir()
	w := &world{dir: filepath.Join(root, "hooks"), cwd: filepath.Join(root, "work"), reported: make(chan struct{}, 1000)}
	require.NoError(t, os.Mkdir(w.dir, 0o700))
	require.NoError(t, os.Mkdir(w.cwd, 0o700))
	w.Hooks = script.New(script.Config{Dir: w.dir, Report: func(name, text string) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.reports = append(w.reports, name+"| "+text)
		w.reported <- struct{}{}
	}})
	w.Limit(time.Minute, time.Minute, time.Minute) // for a machine that is busy
	t.Cleanup(func() { w.Close(t.Context()) })
	return w
}

// allReports returns the reports.
func (w *world) allReports() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.reports
}

// put makes an executable shell script of lines and returns its path.
func (w *world) put(t *testing.T, name string, lines ...string) string {
	t.Helper()
	path := filepath.Join(w.dir, name)
	write(t, path, "#!/bin/sh\n"+strings.Join(lines, "\n")+"\n", 0o700)
	return path
}

// write writes a file while no other test starts a process, which would hold it open and so keep
// it from being run.
func write(t *testing.T, path, content string, mode os.FileMode) {
	t.Helper()
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	require.NoError(t, os.WriteFile(path, []byte(content), mode))
	require.NoError(t, os.Chmod(path, mode)) // independent of the umask
}

// event is an event of the workspace folder.
func (w *world) event(name hook.Name) hook.Event {
	return hook.Event{Name: name, Cwd: w.cwd, SessionID: "id", SessionFile: "/s/a.jsonl"}
}

// ask calls the hooks before a fork.
func (w *world) ask(t *testing.T) hook.Decision {
	t.Helper()
	d, err := w.Before(t.Context(), w.event(hook.BeforeFork))
	require.NoError(t, err)
	return d
}

func read(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(content)
}

// receive waits for a value that must arrive.
func receive[T any](t *testing.T, ch <-chan T) (v T) {
	t.Helper()
	select {
	case v = <-ch:
	case <-time.After(20 * time.Second):
		require.FailNow(t, "nothing came")
	}
	return v
}

// fifo makes a named pipe. Opening one end blocks until the other end is opened.
func fifo(t *testing.T, path string) string {
	t.Helper()
	require.NoError(t, syscall.Mkfifo(path, 0o600))
	return path
}

// lines reads from a named pipe.
func lines(path string) <-chan string {
	got := make(chan string, 1)
	go func() {
		content, err := os.ReadFile(path)
		if err != nil {
			content = []byte(err.Error())
		}
		got <- strings.TrimSpace(string(content))
	}()
	return got
}

// line waits for the content of a named pipe.
func line(t *testing.T, path string) string {
	t.Helper()
	return receive(t, lines(path))
}
