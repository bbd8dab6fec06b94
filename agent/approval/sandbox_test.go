package approval_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/approval"
	"github.com/xcsh-ls/xcsh-ls/agent/sandbox"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

func unsandboxed(id, line string) approval.Request {
	r := command(id, line)
	r.Unsandboxed, r.Blocked = true, []string{"write /etc/x"}
	return r
}

// The sandbox level of a command follows from the rule or mode that allowed it.
func TestLevels(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	for _, c := range []struct {
		line    string
		mode    approval.Mode
		sandbox bool
		asked   bool
		want    sandbox.Level
	}{
		{"ls", approval.Ask, true, false, sandbox.Strict},
		{"ls", approval.AutoEdit, true, false, sandbox.Strict},
		{"ls", approval.Yolo, true, false, sandbox.Standard},
		{"ls", approval.Ask, false, true, sandbox.Outside},
		{"ls", approval.Yolo, false, false, sandbox.Outside},
		{"go test ./...", approval.Ask, true, false, sandbox.Standard}, // by a rule
		{"go test ./... | tail -5", approval.Ask, true, false, sandbox.Standard},
		{"go test ./... | tail -5", approval.Ask, false, true, sandbox.Outside},
		{"go test ./...", approval.Ask, false, false, sandbox.Outside},
		{"rm x", approval.Ask, true, true, sandbox.Standard},
		{"rm x", approval.Ask, false, true, sandbox.Outside},
	} {
		g := approval.NewGate(approval.Config{Root: root, Mode: c.mode, Sandbox: c.sandbox, Memory: words("go test")})
		asked := false
		g.Attach(func(context.Context, approval.Prompt) (approval.Decision, error) {
			asked = true
			return approval.Once, nil
		})
		grant, err := g.Ask(t.Context(), bash(c.line))
		require.NoError(t, err)
		require.Equal(t, c.asked, asked, "%+v", c)
		require.Equal(t, c.want, grant.Level, "%+v", c)
	}
}

// Leaving the sandbox requires approval in every mode, regardless of other rules, and the approval
// covers only this line outside of the sandbox.
func TestLeavingTheSandbox(t *testing.T) {
	t.Parallel()
	for _, mode := range []approval.Mode{approval.Ask, approval.AutoEdit, approval.Yolo} {
		memory := &approval.FileMemory{Fs: afero.NewMemMapFs(), Path: "/m/allowed.json"}
		require.NoError(t, memory.Add("/w", append(words("go test", "ls", "make$"), approval.Rule{Line: "make"}, approval.Rule{Line: "ls"})))
		g := approval.NewGate(approval.Config{Root: "/w", Mode: mode, Memory: memory, Sandbox: true})
		var prompts []approval.Prompt
		g.Attach(func(_ context.Context, p approval.Prompt) (approval.Decision, error) {
			prompts = append(prompts, p)
			return approval.Session, nil
		})
		for i, line := range []string{"make", "ls", "go test ./...", "rm x | y"} {
			grant, err := g.Ask(t.Context(), unsandboxed("a", line))
			require.NoError(t, err)
			require.Equal(t, approval.Grant{Decision: approval.Session, Level: sandbox.Outside}, grant)
			require.Len(t, prompts, i+1, "%s %s", mode, line)
			require.Equal(t, []string{"write /etc/x"}, prompts[i].Blocked)
			require.Equal(t, []approval.Rule{{Line: line, Outside: true, Text: line + " (exactly, outside the sandbox)"}}, prompts[i].Rules)
		}
		grant, err := g.Ask(t.Context(), unsandboxed("b", "make"))
		require.NoError(t, err)
		require.Equal(t, approval.Grant{Decision: approval.Once, Level: sandbox.Outside}, grant)
		require.Len(t, prompts, 4, "the same line outside of the sandbox was allowed")
		_, err = g.Ask(t.Context(), unsandboxed("c", "make x"))
		require.NoError(t, err)
		require.Len(t, prompts, 5)
		if mode != approval.Yolo {
			_, err = g.Ask(t.Context(), command("d", "rm x | y"))
			require.NoError(t, err)
			require.Len(t, prompts, 6, "the rule is about leaving the sandbox only")
		}
	}
	g := approval.NewGate(approval.Config{Root: "/w", Mode: approval.ReadOnly, Sandbox: true})
	_, err := g.Ask(t.Context(), unsandboxed("a", "make"))
	require.True(t, fault.Is(err, fault.Denied))
}

// A change of the mode does not approve a pending command outside of the sandbox.
func TestAModeDoesNotLeaveTheSandbox(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := approval.NewGate(approval.Config{Root: "/w", Mode: approval.Ask, Sandbox: true})
		answers := make(chan answer, 3)
		asking(t.Context(), g, unsandboxed("a", "make"), answers)
		asking(t.Context(), g, command("b", "make"), answers)
		require.NoError(t, g.Answer("b", approval.Session))
		require.Equal(t, "b", (<-answers).id)
		require.NoError(t, g.SetMode(approval.Yolo))
		synctest.Wait()
		require.Equal(t, []string{"a"}, ids(g))
		require.NoError(t, g.SetMode(approval.ReadOnly))
		require.True(t, fault.Is((<-answers).err, fault.Denied))
	})
}

// Rules of older versions for all commands with the same first words allow nothing, and neither do
// rules that this version does not know. The file keeps them.
func TestRulesOfOtherVersions(t *testing.T) {
	t.Parallel()
	fsys := afero.NewMemMapFs()
	stored := `{"/w":[{"words":["cat"]},{"words":["git","push"]},{"command":["ls"],"until":"tomorrow"},{"edit":true,"command":["ls"]},"ls",` +
		`{"exact":true},{"outside":true,"command":["ls"]},{"command":["no","such"]},{"line":"make all"},{"edit":true},{"words":["npm","test"],"exact":true}]}`
	require.NoError(t, afero.WriteFile(fsys, "/m/allowed.json", []byte(stored), 0o600))
	m := &approval.FileMemory{Fs: fsys, Path: "/m/allowed.json"}
	rules, err := m.Rules("/w")
	require.NoError(t, err)
	require.Equal(t, []approval.Rule{
		{Command: []string{"no", "such"}}, {Line: "make all"}, {Edit: true}, {Words: []string{"npm", "test"}, Exact: true},
	}, rules)
	require.Equal(t, "nothing", rules[0].String())
	for line, asked := range map[string]bool{
		"cat x": true, "git push": true, "git push --force": true, "ls": true, "no such": true, "make all": false, "npm test": false, "npm test x": true,
	} {
		require.Equal(t, asked, asks(t, approval.Config{Root: "/w", Mode: approval.Ask, Memory: m}, bash(line)), line)
	}
	require.NoError(t, m.Add("/w", []approval.Rule{{Line: "new"}}))
	content, err := afero.ReadFile(fsys, "/m/allowed.json")
	require.NoError(t, err)
	require.Contains(t, string(content), `"until"`)
	require.Contains(t, string(content), `"new"`)
}

// Incomplete and contradictory rules allow nothing.
func TestIncompleteRules(t *testing.T) {
	t.Parallel()
	for _, r := range []approval.Rule{
		{}, {Words: []string{"ls"}}, {Exact: true}, {Outside: true}, {Outside: true, Command: []string{"ls"}}, {Line: "ls", Tool: "bash"}, {Text: "ls"}, {Tool: "bash"},
	} {
		require.True(t, asks(t, approval.Config{Root: "/w", Mode: approval.Ask, Memory: fixed{r}}, bash("ls")), "%+v", r)
	}
}

// A command that ran without approval and was blocked asks for the usual rights; a rule for it
// still answers.
func TestABlockedReaderAsks(t *testing.T) {
	t.Parallel()
	g := approval.NewGate(approval.Config{Root: t.TempDir(), Mode: approval.Ask, Sandbox: true})
	var warnings []string
	g.Attach(func(_ context.Context, p approval.Prompt) (approval.Decision, error) {
		warnings = p.Warnings()
		return approval.Once, nil
	})
	r := bash("git status")
	r.Blocked = []string{"open .git/index.lock: Permission denied"}
	grant, err := g.Ask(t.Context(), r)
	require.NoError(t, err)
	require.Equal(t, sandbox.Standard, grant.Level)
	require.Equal(t, []string{"Runs again with write and network access. The sandbox blocked: open .git/index.lock: Permission denied"}, warnings)
}

// Whether to keep changes of protected files is asked in every mode but yolo, and no rule answers.
func TestKeepingChangesOfProtectedFiles(t *testing.T) {
	t.Parallel()
	for mode, asks := range map[approval.Mode]bool{approval.Ask: true, approval.AutoEdit: true, approval.Yolo: false} {
		g := approval.NewGate(approval.Config{Root: t.TempDir(), Mode: mode, Sandbox: true, Memory: words("go test")})
		var asked *approval.Prompt
		g.Attach(func(_ context.Context, p approval.Prompt) (approval.Decision, error) {
			asked = &p
			return approval.Deny, nil
		})
		r := bash("go test ./...")
		r.Changed, r.Preview.Paths = true, []string{"/w/.envrc"}
		_, err := g.Ask(t.Context(), r)
		require.Equal(t, asks, fault.Is(err, fault.Denied), mode)
		if asks {
			require.Empty(t, asked.Rules)
			require.Equal(t, []string{"Changed a protected file: /w/.envrc"}, asked.Warnings())
		}
	}
}

// A command that has become harmless while it waits does not run with the rights of an approved one.
func TestWaitingDoesNotRaiseTheLevel(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	require.NoError(t, os.Symlink("/etc/hostname", filepath.Join(root, "x")))
	changed := make(chan struct{}, 10)
	g := approval.NewGate(approval.Config{Root: root, Mode: approval.Ask, Sandbox: true, Changed: func() { changed <- struct{}{} }})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() {
		_, err := g.Ask(ctx, bash("cat x"))
		done <- err
	}()
	<-changed
	require.Len(t, g.Pending(), 1)
	require.NoError(t, os.Remove(filepath.Join(root, "x")))
	require.NoError(t, os.WriteFile(filepath.Join(root, "x"), nil, 0o600))
	require.NoError(t, g.SetMode(approval.AutoEdit)) // looks at it again
	require.Len(t, g.Pending(), 1)
	cancel()
	require.Error(t, <-done)
}
