//go:build unix

package share_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap/zaptest"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/session/lock"
	"github.com/xcsh-ls/xcsh-ls/share"
)

// world is a machine with only the programs in bin, and an agent directory.
type world struct {
	share.Sharer
	t                *testing.T
	bin, agent, temp string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	dir := t.TempDir()
	w := &world{t: t, bin: filepath.Join(dir, "bin"), agent: filepath.Join(dir, "agent"), temp: filepath.Join(dir, "tmp")}
	for _, d := range []string{w.bin, w.agent, w.temp} {
		require.NoError(t, os.Mkdir(d, 0o700))
	}
	w.Sharer = share.Sharer{Fs: afero.NewOsFs(), AgentDirs: []string{w.agent}, Log: zaptest.NewLogger(t), LookPath: func(name string) (string, error) {
		return exec.LookPath(filepath.Join(w.bin, name))
	}}
	return w
}

// program creates a program in dir that runs a shell script.
func (w *world) program(dir, name, script string) {
	w.t.Helper()
	fake, err := filepath.Abs("testdata/fake")
	require.NoError(w.t, err)
	require.NoError(w.t, os.Symlink(fake, filepath.Join(dir, name)))
	w.write(filepath.Join(dir, name+".sh"), script)
}

// gh puts a logged-in gh on the PATH that runs a script to make a gist of "$4".
func (w *world) gh(script string) {
	w.program(w.bin, "gh", `echo "$@" >>"$0.calls"
if [ "$1" = auth ]; then exit 0; fi
`+script)
}

const answerGist = "echo https://gist.github.com/someone/0123abcd\n"

func nodePath(t *testing.T) string {
	t.Helper()
	node, err := exec.LookPath("node")
	require.NoError(t, err, "these tests need Node.js")
	return node
}

func (w *world) node() {
	w.t.Helper()
	require.NoError(w.t, os.Symlink(nodePath(w.t), filepath.Join(w.bin, "node")))
}

// typesNode is a Node.js that loads .ts files, as a script runs it.
func typesNode(t *testing.T) string {
	t.Helper()
	register, err := filepath.Abs("testdata/types.mjs")
	require.NoError(t, err)
	return fmt.Sprintf("%s --import '%s' ", nodePath(t), register)
}

// bun puts a bun on the PATH: Node.js that loads .ts files.
func (w *world) bun() {
	w.program(w.bin, "bun", `echo "$@" >>"$0.calls"`+"\nexec "+typesNode(w.t)+`"$@"`)
}

func (w *world) write(path, text string) {
	w.t.Helper()
	require.NoError(w.t, os.WriteFile(path, []byte(text), 0o600))
}

func (w *world) read(path string) string {
	w.t.Helper()
	b, err := os.ReadFile(path)
	require.NoError(w.t, err)
	return string(b)
}

// handler writes a file of the agent directory.
func (w *world) handler(name, text string) { w.write(filepath.Join(w.agent, name), text) }

func (w *world) folders() share.Folders {
	return share.Folders{Fs: w.Fs, Temp: w.temp, Alive: lock.Alive, Log: w.Log}
}

// share shares a page and checks that no files or processes are left.
func (w *world) share(ctx context.Context) (r share.Result, err error) {
	w.t.Helper()
	err = w.folders().With(func(dir string) error {
		path := filepath.Join(dir, "page.html")
		w.write(path, "<!DOCTYPE html>the page")
		r, err = w.Share(ctx, share.Page{Path: path}, func(string) {})
		return err
	})
	w.requireEmpty()
	return r, err
}

func (w *world) requireEmpty() {
	w.t.Helper()
	left, err := os.ReadDir(w.temp)
	require.NoError(w.t, err)
	require.Empty(w.t, left)
}

// ok shares a page and requires success.
func (w *world) ok() share.Result {
	w.t.Helper()
	r, err := w.share(w.t.Context())
	require.NoError(w.t, err)
	return r
}

// fails shares a page, requires a failure, and returns its message. AGENT and BIN replace
// the directories.
func (w *world) fails(kind fault.Kind) string {
	w.t.Helper()
	r, err := w.share(w.t.Context())
	require.Error(w.t, err)
	require.Equal(w.t, kind, fault.KindOf(err), err)
	require.Zero(w.t, r)
	return strings.NewReplacer(w.agent, "AGENT", w.bin, "BIN").Replace(err.Error())
}

// hanging is a program that runs until it is terminated, with a child.
type hanging struct {
	t       *testing.T
	pipe    *os.File // both hold it open and write their ids to it
	keeper  *os.File // keeps the pipe from being at its end before they have it
	printed string
}

// hang is a script of a program that hangs after running before.
func (w *world) hang(before string) (script string, h *hanging) {
	w.t.Helper()
	path := filepath.Join(w.bin, "pipe")
	require.NoError(w.t, syscall.Mkfifo(path, 0o600))
	keeper, err := os.OpenFile(path, os.O_RDWR, 0)
	require.NoError(w.t, err)
	pipe, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	require.NoError(w.t, err)
	require.NoError(w.t, pipe.SetReadDeadline(time.Now().Add(30*time.Second)))
	w.t.Cleanup(func() { _, _ = keeper.Close(), pipe.Close() })
	return before + "\nexec 9>" + path + "\nsleep 1000 &\necho $$ $! >&9\nwait\nwait\n", &hanging{t: w.t, pipe: pipe, keeper: keeper}
}

// begun waits until the program hangs and has written two ids.
func (h *hanging) begun() {
	line := make([]byte, 64)
	n, _ := h.pipe.Read(line) // empty without output
	h.printed = string(line[:n])
}

// requireGone waits until no process holds the pipe and checks that the processes have
// ended.
func (h *hanging) requireGone() {
	h.t.Helper()
	require.NoError(h.t, h.keeper.Close())
	rest, err := io.ReadAll(h.pipe)
	require.NoError(h.t, err, "the processes were not ended")
	for id := range strings.FieldsSeq(h.printed + string(rest)) {
		require.False(h.t, lock.Alive(number(h.t, id)), "process %s is still running", id)
	}
}
