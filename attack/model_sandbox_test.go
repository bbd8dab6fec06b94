package attack

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/lsptest"
	"github.com/xcsh-ls/xcsh-ls/internal/providertest"
)

// approval is a request for approval of a command.
type approval struct {
	Title       string
	Unsandboxed bool
	Changed     bool
	Blocked     []string
}

// decide runs a turn in an editor, with answer as the user's decisions.
func (v *victim) decide(mode string, answer func(approval) string, calls ...[]providertest.Call) {
	v.t.Helper()
	v.does(calls...)
	ed := v.edit(lsptest.Fields{"approval": mode, "ui": lsptest.Fields{"hooks": true}})
	_, failure := ed.BeginExec("xcsh.prompt", lsptest.Fields{"text": "go"}).WaitAnswering(func(r lsptest.Request) {
		if r.Method != "xcsh/approve" {
			r.Reply(nil)
			return
		}
		var a approval
		require.NoError(v.t, json.Unmarshal(r.Params, &a))
		r.Reply(lsptest.Fields{"decision": answer(a)})
	})
	require.Nil(v.t, failure)
}

// Commands get no variable that may contain a secret, in any mode.
func TestCommandsDoNotInheritSecrets(t *testing.T) {
	t.Parallel()
	v := newVictim(t)
	for _, name := range []string{"GITHUB_TOKEN", "AWS_SECRET_ACCESS_KEY", "DATABASE_URL", "NPM_TOKEN", "SOMETHING"} {
		v.env = append(v.env, name+"="+secret)
	}
	v.does(bash("env; cat /proc/self/environ /proc/$PPID/environ | tr '\\0' '\\n'"))
	v.ask("--approval", "yolo")
	require.Len(t, v.Requests(), 2, "the turn ended")
	require.Contains(t, v.results()[0], "HOME="+v.home)
	require.Empty(t, v.leaked())
}

// An allowed ordinary command can neither write outside the folder nor read secrets. Leaving the sandbox
// requires an approval of its own, in yolo mode too.
func TestAnAllowedCommandStaysInTheSandbox(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"ask", "yolo"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			v := newVictim(t)
			v.needsSandbox()
			outside := filepath.Join(v.outside, "new")
			var leaving []approval
			v.decide(mode, func(a approval) string {
				if a.Unsandboxed {
					leaving = append(leaving, a)
					return "deny"
				}
				return "once"
			}, bash("echo x >"+outside), bash("cat ~/.aws/credentials"), bash("echo fine >inside; cat inside"))
			require.NoFileExists(t, outside)
			require.Empty(t, v.leaked())
			require.Len(t, leaving, 2)
			require.NotEmpty(t, leaving[0].Blocked)
			require.Contains(t, v.results()[0], "The sandbox blocked this command")
			require.Equal(t, "fine\n", v.results()[2])
		})
	}
}

func TestTheUserLetsACommandLeaveTheSandboxOnce(t *testing.T) {
	t.Parallel()
	v := newVictim(t)
	v.needsSandbox()
	outside := filepath.Join(v.outside, "new")
	v.decide("ask", func(approval) string { return "once" }, bash("echo x >"+outside))
	require.Equal(t, "x\n", v.read(outside))
}

// An allowed command changes files that make other programs run commands, such as hooks and editor
// settings. The changes are kept only if the user approves them.
func TestAnAllowedCommandChangesProtectedFiles(t *testing.T) {
	t.Parallel()
	for answer, stays := range map[string]bool{"deny": false, "once": true} {
		t.Run(answer, func(t *testing.T) {
			t.Parallel()
			v := newVictim(t)
			v.needsSandbox()
			v.write(v.path(".git/config"), "[core]\n\tbare = false\n")
			v.write(v.path("Makefile"), "build:\n\tmkdir -p .vscode .git/hooks\n\techo evil >.vscode/settings.json\n\techo evil >.git/hooks/pre-commit\n\techo evil >.envrc\n")
			asked := 0
			v.decide("ask", func(a approval) string {
				if a.Changed {
					asked++
					return answer
				}
				return "once"
			}, bash("make build"))
			require.Equal(t, 1, asked)
			for _, name := range []string{".vscode/settings.json", ".git/hooks/pre-commit", ".envrc"} {
				_, err := os.Stat(v.path(name))
				require.Equal(t, stays, err == nil, name)
			}
		})
	}
}
