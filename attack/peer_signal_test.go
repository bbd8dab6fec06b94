//go:build unix

package attack

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/lsptest"
)

// lingering is a command that keeps running, as does its child, and that writes both process ids to a file.
const lingering = `echo $$ > pids; sleep 300 & echo $! >> pids; echo ready > ready; wait`

// A terminal or connection that closes ends the program like SIGTERM: none of its child processes keeps
// running, and the session is released.
func TestHangUpEndsEverything(t *testing.T) {
	t.Parallel()
	for name, begin := range map[string]func(v *victim) *exec.Cmd{
		"the language server": func(v *victim) *exec.Cmd {
			cmd := v.command("--approval", "yolo", "--model", "fake/m")
			ed := lsptest.StartProcess(v.t, cmd)
			ed.Initialize(lsptest.Fields{"workspaceFolders": []any{lsptest.Fields{"uri": lsptest.URI(v.work), "name": "w"}}})
			ed.BeginExec("xcsh.prompt", lsptest.Fields{"text": "go"})
			return cmd
		},
		"run": func(v *victim) *exec.Cmd {
			cmd := v.command("run", "--model", "fake/m", "--approval", "yolo", "go")
			require.NoError(v.t, cmd.Start())
			return cmd
		},
		"acp": func(v *victim) *exec.Cmd {
			cmd := v.command("acp", "--model", "fake/m", "--approval", "yolo")
			a := v.startACP(cmd)
			id := a.open(v.work)
			a.send(map[string]any{"id": 9, "method": "session/prompt", "params": map[string]any{
				"sessionId": id, "prompt": []any{map[string]any{"type": "text", "text": "go"}},
			}})
			return cmd
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := newVictim(t)
			v.does(bash(lingering))
			cmd := begin(v)
			v.appears("ready")
			require.NotEmpty(t, v.locks(), "the session is locked")
			require.NoError(t, cmd.Process.Signal(syscall.SIGHUP))
			v.ends(cmd)
			for pid := range strings.FieldsSeq(v.read(v.path("pids"))) {
				n, err := strconv.Atoi(pid)
				require.NoError(t, err)
				assert.False(t, alive(n), "process %d stays", n)
			}
			assert.Empty(t, v.locks())
		})
	}
}

// A program that was started to outlive its terminal keeps running.
func TestHangUpIsIgnoredBelowNohup(t *testing.T) {
	t.Parallel()
	v := newVictim(t)
	v.does(bash(`echo ready > ready; while [ ! -e go ]; do sleep 0.05; done`))
	cmd := v.command("run", "--model", "fake/m", "--approval", "yolo", "go")
	cmd.Args = append([]string{"sh", "-c", `trap "" HUP; exec "$@"`, "sh"}, cmd.Args...)
	sh, err := exec.LookPath("sh")
	require.NoError(t, err)
	cmd.Path = sh
	require.NoError(t, cmd.Start())
	v.appears("ready")
	require.NoError(t, cmd.Process.Signal(syscall.SIGHUP))
	v.write(v.path("go"), "")
	require.NoError(t, cmd.Wait())
}

// appears waits until a file exists in the project folder.
func (v *victim) appears(name string) {
	v.t.Helper()
	require.Eventually(v.t, func() bool {
		_, err := os.Stat(v.path(name))
		return err == nil
	}, deadline, 10*time.Millisecond, name)
}

// ends waits until a process exits, which must be soon.
func (v *victim) ends(cmd *exec.Cmd) {
	v.t.Helper()
	require.Eventually(v.t, func() bool { return gone(cmd.Process.Pid) }, atOnce, 10*time.Millisecond, "the program does not end")
}

// gone reports whether a process has ended, whether or not its parent has waited for it.
func gone(pid int) bool { return !alive(pid) }

func alive(pid int) bool {
	if err := syscall.Kill(pid, 0); errors.Is(err, syscall.ESRCH) {
		return false
	}
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return !errors.Is(err, os.ErrNotExist) || !exists("/proc/self/stat")
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	return !strings.HasPrefix(rest, "Z")
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// acpClient speaks the Agent Client Protocol to the program.
type acpClient struct {
	t   *testing.T
	in  io.Writer
	out *json.Decoder
}

func (v *victim) startACP(cmd *exec.Cmd) *acpClient {
	v.t.Helper()
	in, err := cmd.StdinPipe()
	require.NoError(v.t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(v.t, err)
	require.NoError(v.t, cmd.Start())
	return &acpClient{t: v.t, in: in, out: json.NewDecoder(out)}
}

func (a *acpClient) send(m map[string]any) {
	a.t.Helper()
	m["jsonrpc"] = "2.0"
	line, err := json.Marshal(m)
	require.NoError(a.t, err)
	_, err = io.Copy(a.in, bytes.NewReader(append(line, '\n')))
	require.NoError(a.t, err)
}

// call sends a request and returns the result.
func (a *acpClient) call(id int, method string, params any) map[string]any {
	a.t.Helper()
	a.send(map[string]any{"id": id, "method": method, "params": params})
	for {
		var m struct {
			ID     any
			Result map[string]any
			Error  any
		}
		require.NoError(a.t, a.out.Decode(&m))
		if m.ID == float64(id) {
			require.Nil(a.t, m.Error)
			return m.Result
		}
	}
}

// open initializes the connection and opens a session.
func (a *acpClient) open(cwd string) string {
	a.t.Helper()
	a.call(1, "initialize", map[string]any{"protocolVersion": 1, "clientCapabilities": map[string]any{}})
	id, ok := a.call(2, "session/new", map[string]any{"cwd": cwd, "mcpServers": []any{}})["sessionId"].(string)
	require.True(a.t, ok)
	return id
}
