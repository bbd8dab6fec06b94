package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/change/wire"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/internal/lsptest"
)

// demo starts a server in a process of its own, whose model is the offline demo.
func (m *machine) demo() *lsptest.Editor {
	m.t.Helper()
	ed := lsptest.StartProcess(m.t, m.command("--stdio"))
	ed.Initialize(lsptest.Fields{
		"initializationOptions": lsptest.Fields{"model": "offline/demo", "approval": "yolo"},
		"workspaceFolders":      []any{lsptest.Fields{"uri": lsptest.URI(m.work), "name": "w"}},
		"capabilities":          lsptest.Fields{},
	})
	return ed
}

// perform runs a command that must succeed.
func perform[T any](t *testing.T, ed *lsptest.Editor, command string, args any) (result T) {
	t.Helper()
	raw, failure := ed.Exec(command, args)
	require.Nil(t, failure, "%s: %v", command, failure)
	require.NoError(t, json.Unmarshal(raw, &result))
	return result
}

// edited is a machine with the session of a server that has edited a.txt and b.txt in one turn each, and the records of the edits.
func edited(t *testing.T) (m *machine, ed *lsptest.Editor, records []string) {
	t.Helper()
	m = newMachine(t, provider.AnthropicMessages)
	ed = m.demo()
	for _, name := range []string{"a.txt", "b.txt"} {
		m.write(m.path(name), "one\n")
		perform[any](t, ed, "xcsh.prompt", lsptest.Fields{"text": "edit " + name + ": one => two"})
	}
	for _, f := range perform[wire.Changes](t, ed, "xcsh.changes", lsptest.Fields{"since": "session"}).Files {
		records = append(records, f.Records...)
	}
	require.Len(t, records, 2)
	return m, ed, records
}

// texts are the contents of both files.
func (m *machine) texts() string {
	m.t.Helper()
	return m.read(m.path("a.txt")) + m.read(m.path("b.txt"))
}

// A session that a server has open can't be rewound, reviewed or made again from elsewhere: every other process is busy, says so, and
// changes nothing. It can be looked at.
// Proves: RW-35
func TestASessionThatAServerHasOpen(t *testing.T) {
	t.Parallel()
	m, _, records := edited(t)
	file := m.sessionFile()
	before := m.read(file)
	code, out, errs := m.run("changes", file, "--since", "session")
	require.Zero(t, code, errs)
	require.Contains(t, out, "a.txt")
	prompt := firstPrompt(t, before)
	code, out, errs = m.run("rewind", file, "--before", prompt)
	require.Zero(t, code, errs)
	require.Contains(t, out, "Pass --yes to carry out this plan.", "a plan changes nothing")
	for _, args := range [][]string{
		{"rewind", file, "--before", prompt, "--yes"}, {"rewind", file, "--before", prompt, "--conversation", "--yes"},
	} {
		code, out, errs = m.run(args...)
		require.Equal(t, exitFailed, code, errs)
		require.Empty(t, out)
		require.Equal(t, 1, strings.Count(errs, "\n"), errs)
		require.Regexp(t, `^Session \w+ is open in xcsh-ls with pid \d+`, errs)
	}
	other := m.demo()
	perform[any](t, other, "xcsh.resume", lsptest.Fields{"target": file})
	for command, args := range map[string]lsptest.Fields{
		"xcsh.rewind": {"records": records, "dryRun": false}, "xcsh.keep": {"all": true},
	} {
		_, failure := other.Exec(command, args)
		require.NotNil(t, failure, command)
		require.Equal(t, "busy", failure.Kind(), command)
	}
	require.Equal(t, 2, perform[wire.Changes](t, other, "xcsh.changes", lsptest.Fields{"since": "session"}).Totals.Pending)
	require.Equal(t, before, m.read(file))
	require.Equal(t, "two\ntwo\n", m.texts())
}

// firstPrompt returns the entry of the first prompt of a session file.
func firstPrompt(t *testing.T, file string) string {
	t.Helper()
	for line := range strings.Lines(file) {
		var e struct {
			ID      string
			Message struct{ Role string }
		}
		if json.Unmarshal([]byte(line), &e) == nil && e.Message.Role == "user" {
			return e.ID
		}
	}
	require.Fail(t, "there is no prompt")
	return ""
}

// Two servers carry out the same rewind of one session at the same time. One does it, and the other is busy or stale.
// Proves: RW-34
func TestTwoServersRewindOneSession(t *testing.T) {
	t.Parallel()
	m, first, records := edited(t)
	file := m.sessionFile()
	first.Shutdown()
	first.Exit()
	first.Wait()
	before := m.read(file)
	servers := []*lsptest.Editor{m.demo(), m.demo()}
	var plans []string
	for _, ed := range servers {
		perform[any](t, ed, "xcsh.resume", lsptest.Fields{"target": file})
		plans = append(plans, *perform[wire.RewindResult](t, ed, "xcsh.rewind", lsptest.Fields{"records": records}).PlanToken)
	}
	var pending []*lsptest.Pending
	for i, ed := range servers {
		pending = append(pending, ed.BeginExec("xcsh.rewind", lsptest.Fields{"records": records, "planToken": plans[i]}))
	}
	done := 0
	for _, p := range pending {
		_, failure := p.Wait()
		if failure == nil {
			done++
			continue
		}
		require.Contains(t, []string{"busy", "stale", "notFound"}, failure.Kind(), failure.Message)
	}
	require.Equal(t, 1, done)
	require.Equal(t, "one\none\n", m.texts())
	after := m.read(file)
	require.True(t, strings.HasPrefix(after, before))
	require.Equal(t, 1, strings.Count(after, `"undoes"`))
	names, err := os.ReadDir(m.work)
	require.NoError(t, err)
	require.Len(t, names, 2, "nothing temporary is left")
}

// A server that is killed while a command runs knew what there was before. The next one looks what the command did. Whether the editor
// saved the files meanwhile is not known, so that they are only taken back by name.
// Proves: RW-03, RW-41
func TestAServerIsKilledBetweenTheLooks(t *testing.T) {
	t.Parallel()
	skipWithoutSignals(t)
	for name, git := range map[string]bool{"with git": true, "without git": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, ed, _ := edited(t)
			if git {
				gitIn(t, m.work, "init", "-q")
				gitIn(t, m.work, "add", ".")
				gitIn(t, m.work, "commit", "-qm", "first")
			}
			ed.BeginExec("xcsh.bash", lsptest.Fields{"command": "echo three > a.txt; rm b.txt; echo new > c.txt; kill -9 $PPID"})
			ed.Wait()
			file := m.sessionFile()
			journals := func() []string {
				names, err := filepath.Glob(filepath.Join(strings.TrimSuffix(file, ".jsonl"), "changes", "command-*"))
				require.NoError(t, err)
				return names
			}
			require.Len(t, journals(), 2)

			next := m.demo()
			perform[any](t, next, "xcsh.resume", lsptest.Fields{"target": file})
			perform[any](t, next, "xcsh.bash", lsptest.Fields{"command": "true"}) // the first write in the session
			require.Empty(t, journals())
			c := perform[wire.Changes](t, next, "xcsh.changes", lsptest.Fields{"since": "session"})
			var kinds []string
			for _, l := range c.Limits {
				kinds = append(kinds, l.Kind)
			}
			require.Contains(t, kinds, "outside")
			made, text := fileIn(t, c, m.path("c.txt")), m.files(t)
			require.Equal(t, "added", made.Status)
			require.Len(t, made.Records, 1)
			interrupted := lsptest.Fields{"records": made.Records}
			plan := perform[wire.RewindResult](t, next, "xcsh.rewind", interrupted)
			require.Equal(t, 3, plan.Conflicts)
			for _, p := range plan.Plan {
				require.Equal(t, wire.AlsoEditor, p.Reason, p.Path)
			}
			require.Equal(t, text, m.files(t))
			paths := []string{m.path("a.txt"), m.path("b.txt"), m.path("c.txt")}
			perform[any](t, next, "xcsh.rewind", lsptest.Fields{"paths": paths, "dryRun": false})
			require.Equal(t, map[string]string{"a.txt": "one\n", "b.txt": "one\n"}, m.files(t))
		})
	}
}

func fileIn(t *testing.T, c wire.Changes, path string) wire.File {
	t.Helper()
	for _, f := range c.Files {
		if f.Path == path {
			return f
		}
	}
	require.Fail(t, "not changed: "+path)
	return wire.File{}
}

// files are the contents of all files of the folder.
func (m *machine) files(t *testing.T) map[string]string {
	t.Helper()
	files := map[string]string{}
	names, err := filepath.Glob(m.path("*.txt"))
	require.NoError(t, err)
	for _, name := range names {
		files[filepath.Base(name)] = m.read(name)
	}
	return files
}

func gitIn(t *testing.T, dir string, args ...string) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil || runtime.GOOS == "windows" {
		t.Skip("needs git and a shell")
	}
	c := exec.CommandContext(t.Context(), "git", append([]string{"-c", "user.name=u", "-c", "user.email=u@example.org"}, args...)...)
	c.Dir = dir
	out, err := c.CombinedOutput()
	require.NoError(t, err, string(out))
}

// Committing a change keeps it. A hunk that is not in the commit stays pending, and so does a line that the commit has differently. A
// rewind goes by contents: it still takes back what was committed.
// Proves: RW-36 (over the wire), RW-38
func TestACommitKeepsAChange(t *testing.T) {
	t.Parallel()
	m := newMachine(t, provider.AnthropicMessages)
	path := m.path("a.txt")
	text := func(first, last string) string { return first + "\n2\n3\n4\n5\n6\n" + last + "\n" }
	m.write(path, text("1", "7"))
	gitIn(t, m.work, "init", "-q")
	gitIn(t, m.work, "add", ".")
	gitIn(t, m.work, "commit", "-qm", "first")
	ed := m.demo()
	perform[any](t, ed, "xcsh.prompt", lsptest.Fields{"text": "edit a.txt: 1 => one"})
	perform[any](t, ed, "xcsh.prompt", lsptest.Fields{"text": "edit a.txt: 7 => seven"})
	state := func() wire.File {
		t.Helper()
		return perform[wire.Changes](t, ed, "xcsh.changes", lsptest.Fields{"since": "session", "path": path}).Files[0]
	}
	require.Equal(t, 2, state().Pending)

	m.write(path, text("one", "7")) // the user commits the first hunk only
	gitIn(t, m.work, "commit", "-qam", "second")
	m.write(path, text("one", "seven"))
	f := state()
	require.Equal(t, 1, f.Pending)
	require.Equal(t, 1, f.Kept)
	gitIn(t, m.work, "commit", "-qam", "third")
	f = state()
	require.Zero(t, f.Pending)
	require.Equal(t, 2, f.Kept)
	require.Zero(t, perform[wire.Changes](t, ed, "xcsh.changes", lsptest.Fields{"since": "session"}).Totals.Pending)
	require.Zero(t, perform[wire.Kept](t, ed, "xcsh.keep", lsptest.Fields{"all": true}).Kept)

	perform[any](t, ed, "xcsh.rewind", lsptest.Fields{"records": f.Records, "dryRun": false})
	require.Equal(t, text("1", "7"), m.read(path))
	perform[any](t, ed, "xcsh.bash", lsptest.Fields{"command": "git reset -q --hard HEAD~1"})
	require.Equal(t, text("one", "7"), m.read(path))
}
