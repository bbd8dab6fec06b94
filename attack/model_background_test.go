//go:build unix

package attack

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/lsptest"
	"github.com/xcsh-ls/xcsh-ls/internal/providertest"
)

// inBackground is a call that starts a command in the background.
func inBackground(command string) []providertest.Call {
	return call("bash", map[string]any{"command": command, "background": true})
}

// escaping is a command whose processes leave its group and session, lose their parents, ignore signals and start each
// other again. It writes their ids to a file.
const escaping = `echo $$ >> pids
trap '' TERM HUP INT
for i in $(seq 20); do (setsid sh -c 'trap "" TERM HUP INT; echo $$ >> pids; while :; do setsid sleep 1; done' &) ; done
while [ "$(wc -l < pids)" -lt 21 ]; do sleep 0.05; done
echo ready > ready
while :; do sleep 1; done`

// pids returns the process ids in a file of the folder.
func (v *victim) pids() (pids []int) {
	v.t.Helper()
	for text := range strings.FieldsSeq(v.read(v.path("pids"))) {
		n, err := strconv.Atoi(text)
		require.NoError(v.t, err)
		pids = append(pids, n)
	}
	return pids
}

// background starts a server with an editor and a command in the background, whose turn has ended.
func (v *victim) background(mode string, commands ...string) (*exec.Cmd, *lsptest.Editor) {
	v.t.Helper()
	var calls []providertest.Call
	for _, c := range commands {
		calls = append(calls, inBackground(c)...)
	}
	v.does(calls)
	cmd := v.commandWithin(conversation, "--approval", mode, "--model", "fake/m")
	cmd.Stderr = &testLog{t: v.t}
	ed := lsptest.StartProcess(v.t, cmd)
	ed.Initialize(lsptest.Fields{
		"initializationOptions": lsptest.Fields{"ui": lsptest.Fields{"hooks": true}},
		"workspaceFolders":      []any{lsptest.Fields{"uri": lsptest.URI(v.work), "name": "w"}},
	})
	_, failure := ed.BeginExec("xcsh.prompt", lsptest.Fields{"text": "go"}).WaitAnswering(func(r lsptest.Request) {
		if r.Method == "xcsh/approve" {
			r.Reply(lsptest.Fields{"decision": "once"})
		} else {
			r.Reply(nil)
		}
	})
	require.Nil(v.t, failure)
	return cmd, ed
}

// However the server ends, nothing that the model started goes on, whatever it did to escape.
func TestNothingOutlivesTheServer(t *testing.T) {
	t.Parallel()
	if !exists("/proc/self/stat") {
		t.Skip("elsewhere a process that leaves its group escapes")
	}
	for name, signal := range map[string]syscall.Signal{"SIGHUP": syscall.SIGHUP, "SIGTERM": syscall.SIGTERM, "SIGKILL": syscall.SIGKILL} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := newVictim(t)
			cmd, _ := v.background("yolo", escaping)
			v.appears("ready")
			pids := v.pids()
			require.Len(t, pids, 21)
			for _, pid := range pids {
				require.True(t, alive(pid), "the turn has ended, and the command continues")
			}
			require.NoError(t, cmd.Process.Signal(signal))
			v.ends(cmd)
			for _, pid := range pids {
				require.Eventually(t, func() bool { return gone(pid) }, deadline, 10*time.Millisecond, "process %d stays", pid)
			}
		})
	}
}

// The user can stop what the model leaves running, by its id or from a list.
func TestTheUserStopsBackgroundCommands(t *testing.T) {
	t.Parallel()
	v := newVictim(t)
	_, ed := v.background("yolo", "echo $$ >> pids; exec sleep 300", "echo $$ >> pids; exec sleep 301")
	raw, failure := ed.Exec("xcsh.snapshot", nil)
	require.Nil(t, failure)
	var snapshot struct {
		Background []struct{ ID, Command string }
	}
	require.NoError(t, json.Unmarshal(raw, &snapshot))
	require.Len(t, snapshot.Background, 2)
	_, failure = ed.Exec("xcsh.stopBackground", lsptest.Fields{"id": snapshot.Background[0].ID})
	require.Nil(t, failure)
	stop := ed.BeginExec("xcsh.stopBackground", nil)
	ed.AnswerQuestion("Select a background command to stop", "echo $$ >> pids; exec sleep 301 · "+snapshot.Background[1].ID)
	raw, failure = stop.Wait()
	require.Nil(t, failure)
	require.JSONEq(t, `{"id":"`+snapshot.Background[1].ID+`"}`, string(raw))
	for _, pid := range v.pids() {
		require.True(t, gone(pid))
	}
	_, failure = ed.Exec("xcsh.stopBackground", lsptest.Fields{"id": snapshot.Background[0].ID + "x"})
	require.Equal(t, "notFound", failure.Kind())
}

// An approval for the background is none for other rights, however long the command waits.
func TestABackgroundCommandStaysInTheSandbox(t *testing.T) {
	t.Parallel()
	v := newVictim(t)
	v.needsSandbox()
	for _, name := range []string{"GITHUB_TOKEN", "SOMETHING"} {
		v.env = append(v.env, name+"="+secret)
	}
	outside := filepath.Join(v.outside, "new")
	_, ed := v.background("ask", fmt.Sprintf(
		`while [ ! -e go ]; do sleep 0.05; done; { env; cat ~/.ssh/id_rsa; cat %s/auth.json; echo x > %s; echo x > %s; } > got 2>&1; touch ready; sleep 300`,
		v.agentDir(), outside, filepath.Join(v.outside, "file"),
	))
	_, failure := ed.Exec("xcsh.setApproval", lsptest.Fields{"mode": "yolo"})
	require.Nil(t, failure)
	v.write(v.path("go"), "")
	v.appears("ready")
	assert.NotContains(t, v.read(v.path("got")), secret)
	assert.NoFileExists(t, outside)
	assert.Equal(t, "outside\n", v.read(filepath.Join(v.outside, "file")))
}

// A command that waits until it is no longer watched changes no file that other programs obey: the user is asked, and without an
// answer the change is undone.
func TestABackgroundCommandChangesNoProtectedFileLater(t *testing.T) {
	t.Parallel()
	const later = `while [ ! -e go ]; do sleep 0.05; done; mkdir -p .vscode .husky; echo hostile > .vscode/tasks.json; echo hostile > .husky/pre-commit; echo x >> .envrc; touch ready; sleep 300`
	for name, end := range map[string]func(v *victim, cmd *exec.Cmd, ed *lsptest.Editor){
		"denied": func(v *victim, _ *exec.Cmd, ed *lsptest.Editor) {
			r := ed.WaitRequest("xcsh/approve")
			var a approval
			require.NoError(v.t, json.Unmarshal(r.Params, &a))
			require.True(v.t, a.Changed)
			require.Contains(v.t, a.Title, "while this command was running in the background: ")
			require.Contains(v.t, a.Title, ".vscode/tasks.json")
			r.Reply(lsptest.Fields{"decision": "deny"})
		},
		"not answered": func(v *victim, cmd *exec.Cmd, ed *lsptest.Editor) {
			ed.WaitRequest("xcsh/approve")
			require.NoError(v.t, cmd.Process.Signal(syscall.SIGTERM))
			v.ends(cmd)
		},
		"not asked": func(v *victim, cmd *exec.Cmd, _ *lsptest.Editor) {
			v.appears("ready")
			require.NoError(v.t, cmd.Process.Signal(syscall.SIGTERM))
			v.ends(cmd)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := newVictim(t)
			v.needsSandbox()
			v.write(v.path(".envrc"), "mine\n")
			cmd, ed := v.background("ask", later)
			v.write(v.path("go"), "")
			end(v, cmd, ed)
			for _, file := range []string{".vscode/tasks.json", ".husky/pre-commit"} {
				require.Eventually(t, func() bool { return !exists(v.path(file)) }, deadline, 10*time.Millisecond, file)
			}
			require.Eventually(t, func() bool { return v.read(v.path(".envrc")) == "mine\n" }, deadline, 10*time.Millisecond)
		})
	}
}

// Endless output fills neither the memory nor the conversation.
func TestAFloodInTheBackground(t *testing.T) {
	t.Parallel()
	if !exists("/proc/self/stat") {
		t.Skip("the memory of a process is read from /proc")
	}
	v := newVictim(t)
	cmd, ed := v.background("yolo", "yes", "cat /dev/zero", "yes $(head -c 100000 /dev/zero | tr '\\0' x)")
	v.does(call("process", map[string]any{"wait": 0}), bash("true"))
	_, failure := ed.Exec("xcsh.prompt", lsptest.Fields{"text": "and now"})
	require.Nil(t, failure)
	for _, text := range v.results() {
		require.Less(t, len(text), 60<<10)
	}
	status := v.read(fmt.Sprintf("/proc/%d/status", cmd.Process.Pid))
	_, rest, found := strings.Cut(status, "VmRSS:")
	require.True(t, found)
	kilobytes, err := strconv.Atoi(strings.Fields(rest)[0])
	require.NoError(t, err)
	t.Logf("%d KB", kilobytes)
	require.Less(t, kilobytes, 400<<10)
}

// A model that starts a thousand commands gets eight, and all of them end with the server.
func TestAThousandBackgroundCommands(t *testing.T) {
	t.Parallel()
	v := newVictim(t)
	var calls []providertest.Call
	for i := range 1000 {
		calls = append(calls, inBackground(fmt.Sprintf("echo $$ >> pids; exec sleep 300; : %d", i))...)
	}
	v.does(calls)
	out := v.ask("--approval", "yolo")
	require.Zero(t, out.code)
	refused := 0
	for _, text := range v.results() {
		if strings.Contains(text, "8 commands are running in the background, which is the maximum") {
			refused++
		}
	}
	require.Equal(t, 992, refused)
	pids := v.pids()
	require.Len(t, pids, 8)
	for _, pid := range pids {
		require.True(t, gone(pid))
	}
	entries, err := os.ReadDir(filepath.Join(filepath.Dir(v.home), "tmp"))
	require.NoError(t, err)
	require.Empty(t, entries, "nothing is left behind")
}
