package attack

import (
	"encoding/json"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/lsptest"
	"github.com/xcsh-ls/xcsh-ls/internal/providertest"
)

// mostQuestions is the maximum number of questions in an ordinary session of ten turns. It was 17 before
// the sandbox existed.
const mostQuestions = 7

// ordinaryTurns are ten typical turns of developers: reading, edits, builds, tests, git.
var ordinaryTurns = [][][]providertest.Call{
	{bash("ls -la"), bash("git status"), bash("cat README.md | head -50")},
	{edit("main.go", "hello", "hello, world"), bash("go build ./...")},
	{bash("go test ./...")},
	{bash("git diff"), bash("git log --oneline -5")},
	{edit("main_test.go", "hello", "hello, world"), bash("go test ./... -run TestGreeting -v")},
	{bash("go vet ./..."), bash("gofmt -l .")},
	{bash("grep -rn greeting . | head -20"), edit("main.go", "world", "everybody"), bash("go build ./... && go test ./...")},
	{bash("git status --short"), bash("git add -A"), bash(`git commit -m "Greet the user"`)},
	{bash("make test")},
	{bash("wc -l *.go"), bash("git show --stat HEAD"), bash("git branch")},
}

func edit(path, from, to string) []providertest.Call {
	return call("edit", map[string]any{"path": path, "edits": []any{map[string]any{"oldText": from, "newText": to}}})
}

// The boundaries ask an ordinary user no more questions than before. The user allows for the session
// every action for which that is offered.
func TestQuestionsOfAnOrdinarySession(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("make"); err != nil {
		t.Skip("there is no make")
	}
	v := newVictim(t)
	v.needsSandbox()
	cache, err := exec.CommandContext(t.Context(), "go", "env", "GOCACHE").Output()
	require.NoError(t, err)
	v.env = []string{"GOCACHE=" + strings.TrimSpace(string(cache)), "GOFLAGS=-buildvcs=false", "GOTOOLCHAIN=local", "GOPROXY=off", "GIT_CONFIG_GLOBAL=" + v.home + "/.gitconfig"}
	v.write(v.home+"/.gitconfig", "[user]\n\tname = Dev\n\temail = dev@example.com\n")
	for name, text := range map[string]string{
		"README.md": "# Greetings\n", "go.mod": "module example.com/greet\n\ngo 1.20\n", "Makefile": "test:\n\tgo test ./...\n",
		"main.go":      "package main\n\nfunc greeting() string { return \"hello\" }\n\nfunc main() { println(greeting()) }\n",
		"main_test.go": "package main\n\nimport \"testing\"\n\nfunc TestGreeting(t *testing.T) {\n\tif g := greeting(); len(g) < len(\"hello\") {\n\t\tt.Fatal(g)\n\t}\n}\n",
	} {
		v.write(v.path(name), text)
	}
	for _, line := range []string{"git init -q", "git add -A", "git commit -qm start"} {
		cmd := exec.CommandContext(t.Context(), "sh", "-c", line)
		cmd.Dir, cmd.Env = v.work, append(cmd.Environ(), v.env...)
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, string(out))
	}
	ed := v.edit(nil)
	questions := 0
	for i, turn := range ordinaryTurns {
		v.does(turn...)
		before := questions
		_, failure := ed.BeginExec("xcsh.prompt", lsptest.Fields{"text": "go on"}).WaitAnswering(func(r lsptest.Request) {
			if r.Method != "window/showMessageRequest" {
				r.Reply(nil)
				return
			}
			questions++
			var box struct {
				Message string
				Actions []struct{ Title string }
			}
			require.NoError(t, json.Unmarshal(r.Params, &box))
			answer := "Allow"
			for _, a := range box.Actions {
				if strings.Contains(a.Title, "session") {
					answer = a.Title
				}
			}
			t.Logf("turn %d: %q → %s", i+1, box.Message, answer)
			r.Reply(lsptest.Fields{"title": answer})
		})
		require.Nil(t, failure)
		t.Logf("turn %d: %d questions", i+1, questions-before)
	}
	for _, result := range v.results() {
		require.NotContains(t, result, "Command exited with code", "the commands work in the sandbox")
	}
	t.Logf("%d questions in %d turns", questions, len(ordinaryTurns))
	require.LessOrEqual(t, questions, mostQuestions)
}
