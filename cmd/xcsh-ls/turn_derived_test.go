package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/internal/lsptest"
	"github.com/xcsh-ls/xcsh-ls/internal/providertest"
)

// Whatever is derived from session files may disappear at any time: the cache of lists, breadcrumbs,
// locks, the history. The conversations are then those of a machine on which nothing disappears.
// Proves: F-35, A-001
func TestDerivedFilesAreDispensable(t *testing.T) {
	t.Parallel()
	control := liveThrough(t, func(*machine) {})
	removed := map[string]bool{}
	require.Equal(t, control, liveThrough(t, func(m *machine) {
		for name := range m.removeDerived() {
			removed[name] = true
		}
	}))
	for _, name := range []string{"terminal-sessions", "history.db", "xcsh-ls"} {
		require.True(t, removed[name], "%s was there: %v", name, removed)
	}
}

// liveThrough uses the program from the first prompt to a fork, calls after behind each step, and returns
// what the sessions say.
func liveThrough(t *testing.T, after func(m *machine)) (sessions []string) {
	t.Helper()
	m := newMachine(t, provider.AnthropicMessages)
	var replies []providertest.Reply
	for i := range 6 {
		replies = append(replies, providertest.Reply{Text: fmt.Sprintf("Answer %d.", i)})
	}
	replies[1].ToolCalls = calls("bash", map[string]any{"command": "seq 20000"})
	m.Script("m", replies...)
	run := func(args ...string) {
		t.Helper()
		code, _, stderr := m.run(append([]string{"run", "--model", "fake/m", "--approval", "yolo"}, args...)...)
		require.Zero(t, code, stderr)
		after(m)
	}
	run("one")
	run("--continue", "two")
	m.inAnEditor(func(ed *lsptest.Editor) {
		do(t, ed, "xcsh.continue")
		after(m) // also while the session is open
		_, failure := ed.Exec("xcsh.prompt", lsptest.Fields{"text": "three"})
		require.Nil(t, failure)
		after(m)
		_, failure = ed.Exec("xcsh.rename", lsptest.Fields{"title": "A title"})
		require.Nil(t, failure)
	})
	after(m)
	code, _, stderr := m.run("list", "--all")
	require.Zero(t, code, stderr)
	after(m)
	run("--fork", "A title", "four")
	run("--continue", "five")

	_, list, _ := m.run("list", "--all")
	for line := range strings.Lines(list) {
		id, rest, _ := strings.Cut(line, "\t")
		name, _, _ := strings.Cut(rest, "\t")
		code, dump, stderr := m.run("dump", id)
		require.Zero(t, code, stderr)
		sessions = append(sessions, name+"\n"+neutral(dump))
	}
	require.Len(t, sessions, 2)
	slices.Sort(sessions)
	return sessions
}

// inAnEditor serves an editor until use returns.
func (m *machine) inAnEditor(use func(ed *lsptest.Editor)) {
	m.t.Helper()
	ed := lsptest.StartProcess(m.t, m.command("--stdio", "--terminal-id", "t1"))
	ed.Initialize(lsptest.Fields{
		"workspaceFolders":      []any{lsptest.Fields{"uri": lsptest.URI(m.work), "name": "w"}},
		"initializationOptions": lsptest.Fields{"model": "fake/m"}, "capabilities": lsptest.Fields{},
	})
	use(ed)
	ed.Shutdown()
	ed.Exit()
	ed.Wait()
}

// removeDerived removes everything except sessions, with their artifacts, images and the user's own
// configuration. It returns the names in the agent directory that it removed.
func (m *machine) removeDerived() map[string]bool {
	m.t.Helper()
	removed := map[string]bool{}
	for dir, kept := range map[string][]string{m.home: {".xcsh"}, m.agentDir(): {"sessions", "blobs", "models.json"}} {
		entries, err := os.ReadDir(dir)
		require.NoError(m.t, err)
		for _, e := range entries {
			if !slices.Contains(kept, e.Name()) {
				require.NoError(m.t, os.RemoveAll(filepath.Join(dir, e.Name())))
				removed[e.Name()] = dir == m.agentDir()
			}
		}
	}
	return removed
}

var (
	changing = regexp.MustCompile(`Full output: [^\]]+`)
	numbers  = regexp.MustCompile(`(?m)(?:^\d+\n)+`)
)

// neutral replaces what differs between two machines, and shortens outputs.
func neutral(text string) string {
	return numbers.ReplaceAllString(changing.ReplaceAllString(text, "Full output: (a file)"), "(numbers)\n")
}
