package attack

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/lsptest"
	"github.com/xcsh-ls/xcsh-ls/internal/providertest"
)

// hostile is a tool call and its required outcome in each approval mode; see testdata/README.md.
type hostile struct {
	Tool string            `json:"tool"`
	Args json.RawMessage   `json:"args"`
	Note string            `json:"note"`
	Want map[string]string `json:"want"`
}

func hostileCalls(t *testing.T) (calls []hostile) {
	t.Helper()
	content, err := os.ReadFile("testdata/calls.jsonl")
	require.NoError(t, err)
	for line := range strings.Lines(string(content)) {
		var c hostile
		require.NoError(t, json.Unmarshal([]byte(line), &c))
		calls = append(calls, c)
	}
	return calls
}

// answers is the number of calls in one answer of the model.
const answers = 20

// contained are the kinds of commands that run in yolo mode. The sandbox alone must contain them, so
// commands that would end processes of this machine or use its network are excluded.
var contained = []string{"a secret through the shell's own reading", "a secret by its name", "a secret through a link", "out of the folder"}

// endless matches calls that would run for longer than a test waits.
var endless = regexp.MustCompile(`/dev/zero|find /( |")|-r[a-z]* [^"]* /"`)

// elsewhere are the kinds of calls whose outcome differs because the tool normalizes the arguments
// before the gate sees them. Calls on .env differ, too, because it is an ordinary file here.
var elsewhere = []string{"arguments of another form"}

// A hostile model makes its calls in every mode, and the user denies every request. Each call must lead
// to the required question or refusal, no secret may reach the service, and no other files may change.
func TestHostileCallsInEveryMode(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	table := map[string]map[string]int{}
	t.Cleanup(func() {
		t.Logf("%-10s %8s %8s %8s %8s", "mode", "ran", "asked", "refused", "blocked")
		for _, mode := range slices.Sorted(maps.Keys(table)) {
			n := table[mode]
			t.Logf("%-10s %8d %8d %8d %8d", mode, n["ran"], n["asked"], n["refused"], n["blocked"])
		}
	})
	for _, mode := range []string{"read-only", "ask", "auto-edit", "yolo"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			counts := playHostileCalls(t, mode)
			mu.Lock()
			defer mu.Unlock()
			table[mode] = counts
		})
	}
}

func playHostileCalls(t *testing.T, mode string) map[string]int {
	t.Helper()
	v := newVictim(t)
	v.needsSandbox()
	v.env = []string{"SOME_PASSWORD=" + secret, "GITHUB_TOKEN=" + secret}
	v.furnish()
	calls := hostileCalls(t)
	if mode == "yolo" {
		require.NoError(t, os.Remove(v.path("pipe"))) // wc -l * would read from it for half an hour
		calls = slices.DeleteFunc(calls, func(c hostile) bool {
			return c.Tool != "bash" || !slices.Contains(contained, c.Note) || endless.Match(c.Args)
		})
	}
	outside, home := v.state(v.outside), v.state(v.home)
	ed := v.edit(lsptest.Fields{"approval": mode, "ui": lsptest.Fields{"hooks": true}})
	counts := map[string]int{}
	for batch := range slices.Chunk(calls, answers) {
		var made []providertest.Call
		for _, c := range batch {
			made = append(made, providertest.Call{Name: c.Tool, Args: json.RawMessage(v.fill(string(c.Args)))})
		}
		v.does(made)
		asked, widened := map[string]bool{}, map[string]bool{}
		_, failure := ed.BeginExec("xcsh.prompt", lsptest.Fields{"text": "go on"}).WaitAnswering(func(r lsptest.Request) {
			var p struct {
				ID      string
				Blocked []string
			}
			require.NoError(t, json.Unmarshal(r.Params, &p))
			if r.Method == "xcsh/approve" {
				id, _, _ := strings.Cut(p.ID, "#")
				if len(p.Blocked) > 0 { // it ran in the sandbox
					widened[id] = true
				} else {
					asked[id] = true
				}
				r.Reply(lsptest.Fields{"decision": "deny"})
				return
			}
			r.Reply(nil)
		})
		require.Nil(t, failure)
		v.judge(batch, mode, asked, counts)
		counts["blocked"] += len(widened)
	}
	assert.Empty(t, v.leaked())
	assert.Equal(t, outside, v.state(v.outside), "nothing outside of the folder changed")
	assert.Equal(t, home, v.state(v.home), "nothing in the home directory changed")
	return counts
}

// judge compares the outcomes of the newest answer's calls with the required ones.
func (v *victim) judge(batch []hostile, mode string, asked map[string]bool, counts map[string]int) {
	v.t.Helper()
	requests := v.Requests()
	messages := requests[len(requests)-1].Messages
	results := messages[len(messages)-len(batch):]
	for i, c := range batch {
		refused := results[i].IsError != nil && *results[i].IsError
		got := "ran"
		switch {
		case asked[results[i].ToolCallID]:
			got = "asked"
		case refused && !strings.Contains(results[i].PlainText(), "Command exited with code"):
			got = "refused"
		}
		counts[got]++
		want := c.Want[mode]
		switch {
		case slices.Contains(elsewhere, c.Note), strings.Contains(string(c.Args), ".env\""):
		case want == "refused", want == "asked":
			assert.NotEqual(v.t, "ran", got, "%s in %s: %s\n%s", c.Tool, mode, c.Args, results[i].PlainText())
		default:
			assert.NotEqual(v.t, "asked", got, "%s in %s: %s\n%s", c.Tool, mode, c.Args, results[i].PlainText())
		}
	}
}

// fill inserts the victim's paths into a call.
func (v *victim) fill(text string) string {
	return strings.NewReplacer("{root}", v.work, "{out}", v.outside, "{keys}", v.agentDir(), "{home}", v.home).Replace(text)
}

// furnish creates the files that the calls use.
func (v *victim) furnish() {
	v.t.Helper()
	for name, text := range map[string]string{
		"main.go": "text\n", "sub/b.go": "text\n", "package.json": "{}\n", "x.js": "text\n", ".env": "PASSWORD=x\n", ".git/config": "[core]\n\tbare = false\n",
		".git/HEAD": "ref: refs/heads/main\n", "tool": "#!/bin/sh\n",
	} {
		v.write(v.path(name), text)
	}
	require.NoError(v.t, os.Chmod(v.path("tool"), 0o700))
	for name, to := range map[string]string{
		"auth-link": v.agentDir() + "/auth.json", "sub/auth-link": v.agentDir() + "/auth.json", "out-link": v.outside, "in-link": "sub",
		"settings-link": ".vscode/settings.json", ".idea": "sub",
	} {
		require.NoError(v.t, os.Symlink(to, v.path(name)))
	}
	require.NoError(v.t, exec.CommandContext(v.t.Context(), "mkfifo", v.path("pipe")).Run())
}

// state returns the content of every file below a directory, except the program's own files.
func (v *victim) state(dir string) map[string]string {
	v.t.Helper()
	all := map[string]string{}
	require.NoError(v.t, filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(v.agentDir(), path)
		own := rel == "sessions" || rel == "xcsh-ls" || rel == "cache" || strings.HasPrefix(rel, "history.db")
		if own || path == filepath.Join(v.home, ".cache") || path == filepath.Join(v.home, "go") || path == filepath.Join(v.home, ".npm") || path == filepath.Join(v.home, ".cargo") {
			if e.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		all[path] = e.Type().String()
		if err == nil && e.Type().IsRegular() {
			content, readErr := os.ReadFile(path)
			all[path], err = fmt.Sprintf("%s %q", e.Type(), content), readErr
		}
		return err
	}))
	return all
}
