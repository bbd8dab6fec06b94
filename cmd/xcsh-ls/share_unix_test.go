//go:build unix

package main

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap/zaptest"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/commands"
	"github.com/xcsh-ls/xcsh-ls/internal/lsptest"
	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
	"github.com/xcsh-ls/xcsh-ls/lsp"
	"github.com/xcsh-ls/xcsh-ls/session/lock"
)

// shareMachine is a machine whose gh on the PATH is the given shell script. It also returns the
// directory of the pages while they are shared.
func shareMachine(t *testing.T, gh string) (m *machine, temp string) {
	t.Helper()
	m = newMachine(t, provider.AnthropicMessages)
	temp, bin := filepath.Join(m.home, "tmp"), filepath.Join(m.home, "bin")
	require.NoError(t, os.MkdirAll(temp, 0o700))
	fake, err := filepath.Abs("../../share/testdata/fake")
	require.NoError(t, err)
	m.write(filepath.Join(bin, "gh.sh"), "[ $1 = gist ] || exit 0\n"+gh)
	require.NoError(t, os.Symlink(fake, filepath.Join(bin, "gh")))
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	t.Setenv("TMPDIR", temp)
	return m, temp
}

// editor starts an editor with the given capabilities.
func (m *machine) editor(capabilities lsptest.Fields) *lsptest.Editor {
	m.t.Helper()
	return m.start(capabilities, lsptest.Fields{"agentDir": m.agentDir(), "roots": []string{}})
}

// editorWith starts an editor with the given options.
func (m *machine) editorWith(options lsptest.Fields) *lsptest.Editor {
	m.t.Helper()
	return m.start(lsptest.Fields{}, options)
}

func (m *machine) start(capabilities, options lsptest.Fields) *lsptest.Editor {
	m.t.Helper()
	log := zaptest.NewLogger(m.t)
	ed := lsptest.Start(m.t, lsp.Options{
		Version: "test", Commands: commands.Default, Manifest: commands.ManifestJSON, Log: log,
		Open: func(_ context.Context, s lsp.Settings, c lsp.Client) (lsp.Backend, error) {
			return openBackend(s, c, false, log)
		},
	})
	ed.Initialize(lsptest.Fields{
		"initializationOptions": options,
		"workspaceFolders":      []any{lsptest.Fields{"uri": lsptest.URI(m.work), "name": "w"}},
		"capabilities":          capabilities,
	})
	return ed
}

// A client that can show documents is asked to open the page. Whatever it answers, the page is shared.
// Proves: O-029
func TestShareOpensThePage(t *testing.T) {
	const preview = "https://gistpreview.github.io/?0123abcd"
	m, temp := shareMachine(t, "echo https://gist.github.com/someone/0123abcd")
	ed := m.editor(lsptest.Fields{"window": lsptest.Fields{"showDocument": lsptest.Fields{"support": true}}})
	for _, shown := range []bool{true, false} {
		exec := ed.BeginExec("xcsh.share", nil)
		request := ed.WaitRequest("window/showDocument")
		require.JSONEq(t, `{"uri":"`+preview+`","external":true}`, string(request.Params))
		request.Reply(lsptest.Fields{"success": shown})
		result, failure := exec.Wait()
		require.Nil(t, failure)
		require.JSONEq(t, `{"url":"https://gist.github.com/someone/0123abcd","previewUrl":"`+preview+`",
			"message":"Anyone with the link can read this secret gist.","via":"gist"}`, string(result))
		if !shown {
			require.JSONEq(t, `{"type":3,"message":"`+preview+`"}`, string(ed.WaitNotification("window/showMessage")))
		}
		require.JSONEq(t, `{"type":3,"message":"Anyone with the link can read this secret gist. Shared at https://gist.github.com/someone/0123abcd"}`,
			string(ed.WaitNotification("window/showMessage")))
	}
	requireNothingIn(t, temp)
}

// Share scripts of all programs are found: that of xcsh first, then those of omp's profile, omp and pi. A
// directory that settings list among others runs no script.
// Proves: O-025
func TestShareScriptsOfEveryProgram(t *testing.T) {
	m, temp := shareMachine(t, "echo https://gist.github.com/someone/0123abcd")
	t.Setenv("HOME", m.home)
	t.Setenv("OMP_PROFILE", "work")
	t.Setenv("XDG_DATA_HOME", filepath.Join(m.home, "data"))
	require.NoError(t, os.MkdirAll(filepath.Join(m.home, "data", "omp", "sessions"), 0o700)) // moves sessions, not scripts
	other := filepath.Join(m.home, "elsewhere")
	ed := m.editorWith(lsptest.Fields{"agentDir": m.agentDir(), "roots": []string{other}})
	m.write(filepath.Join(other, "share.mjs"), `export default () => "https://example.com/settings"`)
	via := func() string {
		result, failure := ed.Exec("xcsh.share", nil)
		require.Nil(t, failure)
		var r struct{ URL string }
		require.NoError(t, json.Unmarshal(result, &r))
		return r.URL
	}
	require.Equal(t, "https://gist.github.com/someone/0123abcd", via(), "settings name no scripts")
	for _, dir := range []string{".pi/agent", ".omp/agent", ".omp/profiles/work/agent"} {
		m.write(filepath.Join(m.home, dir, "share.mjs"), `export default () => "https://example.com/`+dir+`"`)
		require.Equal(t, "https://example.com/"+dir, via())
	}
	m.write(filepath.Join(m.agentDir(), "share.mjs"), `export default () => "https://example.com/own"`)
	require.Equal(t, "https://example.com/own", via())
	requireNothingIn(t, temp)
}

func TestTheProfileOfOmp(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		env  map[string]string
		want string
	}{
		"none":                {nil, ""},
		"omp's":               {map[string]string{"OMP_PROFILE": "work", "PI_PROFILE": "home"}, "work"},
		"pi's":                {map[string]string{"PI_PROFILE": "home"}, "home"},
		"empty is no profile": {map[string]string{"OMP_PROFILE": "", "PI_PROFILE": "home"}, ""},
		"default":             {map[string]string{"OMP_PROFILE": "default"}, ""},
		"a path":              {map[string]string{"OMP_PROFILE": "../../work/evil"}, ""},
		"the parent":          {map[string]string{"OMP_PROFILE": ".."}, ""},
		"a dot at the end":    {map[string]string{"OMP_PROFILE": "a."}, ""},
		"too long":            {map[string]string{"OMP_PROFILE": strings.Repeat("a", 65)}, ""},
		"as long as possible": {map[string]string{"OMP_PROFILE": strings.Repeat("a", 64)}, strings.Repeat("a", 64)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tc.want, ompProfile(func(name string) (string, bool) { v, ok := tc.env[name]; return v, ok }))
		})
	}
}

// A page leaves the machine without its secrets, and only through the program that the user configured.
// Proves: O-024, O-027
func TestShareByGistOrHandler(t *testing.T) {
	m, temp := shareMachine(t, `echo "$@" >>"$0.calls"; cp "$4" "$0.page"; echo https://gist.github.com/someone/0123abcd`)
	id, calls := "0190000000000001", filepath.Join(m.home, "bin", "gh.calls")
	file := filepath.Join(m.work, "talk_"+id+".jsonl")
	talk := st.File(st.Header(id, m.work), st.User("aaaaaaaa", "", "password=abc123def456"))
	m.write(file, talk)
	ed := m.editor(lsptest.Fields{})

	result, failure := ed.Exec("xcsh.share", lsptest.Fields{"source": file})
	require.Nil(t, failure)
	require.JSONEq(t, `{"url":"https://gist.github.com/someone/0123abcd","previewUrl":"https://gistpreview.github.io/?0123abcd",
		"message":"Anyone with the link can read this secret gist. 1 secret was replaced (named 1).","via":"gist","redacted":{"named":1},
		"replaced":[{"kind":"named","count":1,"where":["aaaaaaaa"]}]}`, string(result))
	require.Regexp(t, `^gist create --public=false .*/talk_`+id+`\.html\n$`, m.read(calls))
	require.NotContains(t, m.read(filepath.Join(m.home, "bin", "gh.page")), "abc123def456")

	require.NoError(t, os.Remove(calls))
	m.write(filepath.Join(m.agentDir(), "share.mjs"), `export default async () => ({ url: "https://example.com/1", message: "Look!" })`)
	result, failure = ed.Exec("xcsh.share", lsptest.Fields{"source": file, "redact": false})
	require.Nil(t, failure)
	require.JSONEq(t, `{"url":"https://example.com/1","message":"Look!","via":"custom"}`, string(result))

	m.write(filepath.Join(m.agentDir(), "share.js"), `throw new Error("no bucket")`)
	_, failure = ed.Exec("xcsh.share", lsptest.Fields{"source": file})
	require.NotNil(t, failure)
	require.Equal(t, "io", failure.Kind())
	require.Equal(t, filepath.Join(m.agentDir(), "share.js")+" could not be loaded: no bucket; without that file the session is shared as a gist.", failure.Message)
	require.NoFileExists(t, calls)
	require.Equal(t, talk, m.read(file))
	requireNothingIn(t, temp)
}

// hangingGh is a gh that hangs with a child. Both hold a named pipe.
type hangingGh struct {
	t            *testing.T
	pipe, keeper *os.File
	ids          []string
}

const hangs = `exec 9>"$(dirname "$0")/pipe"; sleep 1000 & echo $$ $! >&9; wait`

func (m *machine) hangingGh() *hangingGh {
	m.t.Helper()
	path := filepath.Join(m.home, "bin", "pipe")
	require.NoError(m.t, syscall.Mkfifo(path, 0o600))
	keeper, err := os.OpenFile(path, os.O_RDWR, 0) // so that the pipe has no EOF before gh opens it
	require.NoError(m.t, err)
	pipe, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	require.NoError(m.t, err)
	m.t.Cleanup(func() { _, _ = keeper.Close(), pipe.Close() })
	require.NoError(m.t, pipe.SetReadDeadline(time.Now().Add(30*time.Second)))
	return &hangingGh{t: m.t, pipe: pipe, keeper: keeper}
}

// begun waits until gh hangs.
func (h *hangingGh) begun() {
	h.t.Helper()
	line := make([]byte, 64)
	n, err := h.pipe.Read(line)
	require.NoError(h.t, err)
	h.ids = strings.Fields(string(line[:n]))
	require.Len(h.t, h.ids, 2)
}

// requireGone waits until no process holds the pipe.
func (h *hangingGh) requireGone() {
	h.t.Helper()
	require.NoError(h.t, h.keeper.Close())
	_, err := io.ReadAll(h.pipe)
	require.NoError(h.t, err, "the processes were not ended")
	for _, id := range h.ids {
		pid, err := strconv.Atoi(id)
		require.NoError(h.t, err)
		// A process closes its files before it has ended.
		require.Eventually(h.t, func() bool { return !lock.Alive(pid) }, 30*time.Second, time.Millisecond)
	}
}

// Cancelling a share ends gh and its child processes.
// Proves: O-030
func TestCancelledShareEndsItsProcesses(t *testing.T) {
	m, temp := shareMachine(t, hangs)
	gh := m.hangingGh()
	ed := m.editor(lsptest.Fields{})
	exec := ed.BeginExec("xcsh.share", nil)
	gh.begun()
	exec.Cancel()
	_, failure := exec.Wait()
	require.NotNil(t, failure)
	require.Equal(t, -32800, failure.Code)
	require.Equal(t, "cancelled", failure.Kind())
	require.Equal(t, "Share cancelled", failure.Message)
	requireNothingIn(t, temp)
	gh.requireGone()
}

// tell sends a server the request to share the session of the machine's folder.
func (m *machine) tell(server io.Writer) {
	m.t.Helper()
	for _, body := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"processId":null,"rootUri":"` + lsptest.URI(m.work) + `","capabilities":{}}}`,
		`{"jsonrpc":"2.0","method":"initialized","params":{}}`,
		`{"jsonrpc":"2.0","id":2,"method":"workspace/executeCommand","params":{"command":"xcsh.share"}}`,
	} {
		_, err := server.Write(lsptest.Frame(body))
		require.NoError(m.t, err)
	}
}

// When the editor exits, gh is ended and the page is removed.
// Proves: O-028
func TestShareEndsWithTheEditor(t *testing.T) {
	m, temp := shareMachine(t, hangs)
	gh := m.hangingGh()
	server := m.command()
	in, err := server.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, server.Start())
	m.tell(in)
	gh.begun()
	require.NoError(t, in.Close())
	require.Error(t, server.Wait())
	require.Equal(t, 1, server.ProcessState.ExitCode())
	requireNothingIn(t, temp)
	gh.requireGone()
}

// The page of a killed server is removed by the next server.
// Proves: O-028
func TestPageOfAKilledServerIsRemoved(t *testing.T) {
	m, temp := shareMachine(t, hangs)
	gh := m.hangingGh()
	server := m.command()
	in, err := server.StdinPipe()
	require.NoError(t, err)
	defer in.Close()
	require.NoError(t, server.Start())
	m.tell(in)
	gh.begun()
	require.NoError(t, server.Process.Kill())
	require.Error(t, server.Wait())
	left, err := os.ReadDir(temp)
	require.NoError(t, err)
	require.Len(t, left, 1)
	for _, id := range gh.ids { // no server is left to end them
		pid, err := strconv.Atoi(id)
		require.NoError(t, err)
		require.NoError(t, syscall.Kill(pid, syscall.SIGKILL))
	}

	m.write(filepath.Join(m.agentDir(), "share.js"), `module.exports = () => "https://example.com/1"`)
	_, failure := m.editor(lsptest.Fields{}).Exec("xcsh.share", nil)
	require.Nil(t, failure)
	requireNothingIn(t, temp)
}

func requireNothingIn(t *testing.T, dir string) {
	t.Helper()
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, left)
}
