package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/change/wire"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/internal/lsptest"
)

// piSession writes a session of pi with two turns, as pi writes them, and the files as they were left.
func (m *machine) piSession() (path string) {
	m.t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", "pi-edits.jsonl"))
	require.NoError(m.t, err)
	cwd, err := json.Marshal(m.work)
	require.NoError(m.t, err)
	path = filepath.Join(m.home, ".pi", "agent", "sessions", "--work--", "2026-01-01T00-00-00-000Z_0190000000000001.jsonl")
	m.write(path, strings.ReplaceAll(string(raw), `"CWD"`, string(cwd)))
	m.write(m.path("greet.go"), "package greet\n\n// Greet greets.\nfunc Greet(name string) string {\n\treturn \"Hello, \" + name\n}\n")
	m.write(m.path("notes.md"), "# Notes\n\n- greet by name\n")
	return path
}

// Turns of pi, which has no records, are listed, planned and taken back over the wire, in an open document and on disk, and come back.
func TestChangesOfPiAreTakenBackInTheEditor(t *testing.T) {
	t.Parallel()
	m := newMachine(t, provider.AnthropicMessages)
	session := m.piSession()
	open := m.path("greet.go")
	ed := m.edit(lsptest.Fields{"roots": []string{filepath.Join(m.home, ".pi", "agent")}})
	ed.Open(open, m.read(open))
	call := func(into any, command string, args lsptest.Fields) {
		t.Helper()
		raw, failure := ed.Exec(command, args)
		require.Nil(t, failure, command)
		require.NoError(t, json.Unmarshal(raw, into))
	}
	var resumed struct{}
	call(&resumed, "xcsh.resume", lsptest.Fields{"target": session, "onOtherProject": "open"})
	var changes wire.Changes
	call(&changes, "xcsh.changes", lsptest.Fields{"since": "session", "hunks": true})
	require.Equal(t, "patch", changes.Source)
	require.Len(t, changes.Files, 2)
	require.Equal(t, open, changes.Files[0].Path)
	require.Equal(t, []string{"a0000003", "a0000007"}, changes.Files[0].Records)
	require.True(t, changes.Files[0].Rewindable)
	require.Equal(t, []string{"a0000009"}, changes.Files[1].Records)
	require.False(t, changes.Files[1].Rewindable)
	require.Equal(t, wire.Missing, changes.Files[1].Reason, "pi wrote it")

	var plan wire.RewindResult
	target := lsptest.Fields{"before": "a0000005"}
	call(&plan, "xcsh.rewind", target)
	require.Equal(t, 1, plan.Conflicts)
	require.Empty(t, *plan.PlanToken)
	require.Equal(t, "patch", plan.Limits[0].Kind)
	target["except"], plan = []string{"notes.md"}, wire.RewindResult{}
	call(&plan, "xcsh.rewind", target)
	require.Zero(t, plan.Conflicts)
	require.Equal(t, []string{"a0000007"}, plan.Plan[0].By)
	require.Equal(t, wire.Merge, plan.Plan[0].Action)
	target["planToken"] = *plan.PlanToken
	rewind := ed.BeginExec("xcsh.rewind", target)
	makeEdits(t, ed, map[string]int{open: 2})
	raw, failure := rewind.Wait()
	require.Nil(t, failure)
	var done wire.RewindResult
	require.NoError(t, json.Unmarshal(raw, &done))
	require.True(t, *done.Rewound)
	require.Equal(t, []string{open}, done.Unsaved)
	lines := strings.Split(strings.TrimSpace(m.read(session)), "\n")
	require.Contains(t, lines[len(lines)-2], `"undoes":["a0000007","a0000009"],"except":["notes.md"]`)
	changes = wire.Changes{}
	call(&changes, "xcsh.changes", lsptest.Fields{"since": "session"})
	require.Equal(t, done.ID, changes.Rewinds[0].ID)
	require.True(t, changes.Rewinds[0].Redoable)
	require.Equal(t, []string{"a0000003"}, changes.Files[0].Records)
}

// The same from a shell.
func TestChangesOfPiAreTakenBackInAShell(t *testing.T) {
	t.Parallel()
	m := newMachine(t, provider.AnthropicMessages)
	session := m.piSession()
	code, out, _ := m.run("rewind", session, "--before", "a0000001")
	require.Equal(t, 1, code, out)
	require.Contains(t, out, "The content before a call is not recorded.")
	code, out, stderr := m.run("rewind", session, "--before", "a0000001", "--except", m.path("notes.md"), "--yes")
	require.Zero(t, code, stderr)
	require.Contains(t, out, "1 file")
	require.Equal(t, "package greet\n\nfunc Greet() string {\n\treturn \"Hello\"\n}\n", m.read(m.path("greet.go")))
	code, out, stderr = m.run("changes", session, "--since", "session")
	require.Zero(t, code, stderr)
	require.NotContains(t, out, "greet.go")
	require.Contains(t, out, "notes.md")
	code, _, stderr = m.run("rewind", session, "--redo", "--yes")
	require.Zero(t, code, stderr)
	require.Contains(t, m.read(m.path("greet.go")), "+ name")
}
