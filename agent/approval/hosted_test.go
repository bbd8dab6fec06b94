package approval_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/approval"
	"github.com/xcsh-ls/xcsh-ls/agent/sandbox"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

// hostedCall is a call of the engine pi.
func hostedCall(tool string, effect approval.Effect, args string, paths ...string) approval.Request {
	r := approval.Request{ID: "h", Tool: tool, Args: json.RawMessage(args), Hosted: "pi", Effect: effect}
	r.Preview.Paths = paths
	return r
}

func hostedBash(line string) approval.Request {
	args, _ := json.Marshal(map[string]string{"command": line})
	return hostedCall("bash", approval.Runs, string(args))
}

// verdict is the outcome of a request: refused, asked or allowed, and the prompt if there was one.
func verdict(t *testing.T, cfg approval.Config, r approval.Request) (string, approval.Prompt) {
	t.Helper()
	g := approval.NewGate(cfg)
	var prompt *approval.Prompt
	g.Attach(func(_ context.Context, p approval.Prompt) (approval.Decision, error) {
		prompt = &p
		return approval.Once, nil
	})
	grant, err := g.Ask(t.Context(), r)
	switch {
	case err != nil:
		require.True(t, fault.Is(err, fault.Denied), err)
		return "refused", approval.Prompt{}
	case prompt != nil:
		require.Equal(t, sandbox.Outside, grant.Level)
		return "asked", *prompt
	default:
		require.Equal(t, approval.Grant{Decision: approval.Once, Level: sandbox.Outside}, grant)
		return "allowed", approval.Prompt{}
	}
}

// Every kind of call of a hosted engine, in every mode: read-only, ask, auto-edit, yolo.
func TestHostedCallsInEveryMode(t *testing.T) {
	t.Parallel()
	root, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	outside, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	in := func(name string) string { return filepath.Join(root, name) }
	require.NoError(t, os.WriteFile(in("run.sh"), nil, 0o700))
	require.NoError(t, os.Symlink(filepath.Join(outside, "x"), in("leads-out")))
	require.NoError(t, os.Symlink(in(".env"), in("leads-to-secrets")))
	const asks, edits, reads = "refused asked asked allowed", "refused asked allowed allowed", "allowed allowed allowed allowed"
	for name, c := range map[string]struct {
		request approval.Request
		want    string
	}{
		"a command that only reads":           {hostedBash("ls"), asks},
		"a command that changes":              {hostedBash("rm -rf x"), asks},
		"a command that cannot be parsed":     {hostedBash("$(x"), asks},
		"a command in another form":           {hostedCall("bash", approval.Runs, `{"command":"ls","cwd":"/"}`), asks},
		"a command without arguments":         {hostedCall("bash", approval.Runs, ``), asks},
		"another shell":                       {hostedCall("powershell", approval.Runs, `{"command":"dir"}`), asks},
		"a tool of a server":                  {hostedCall("mcp__t__poke", approval.Runs, `{}`), asks},
		"an unknown tool named like a reader": {hostedCall("read", approval.Runs, `{"path":"x"}`), asks},
		"an edit":                             {hostedCall("edit", approval.Changes, `{}`, in("x")), edits},
		"a write of a new file":               {hostedCall("write", approval.Changes, `{}`, in("new/x")), edits},
		"an edit of unknown files":            {hostedCall("edit", approval.Changes, `{"path":"x"}`), asks},
		"an edit by a relative path":          {hostedCall("edit", approval.Changes, `{}`, "x"), asks},
		"an edit outside":                     {hostedCall("edit", approval.Changes, `{}`, filepath.Join(outside, "x")), asks},
		"an edit through a link":              {hostedCall("edit", approval.Changes, `{}`, in("leads-out")), asks},
		"an edit inside and one outside":      {hostedCall("edit", approval.Changes, `{}`, in("x"), filepath.Join(outside, "x")), asks},
		"an edit of a protected file":         {hostedCall("edit", approval.Changes, `{}`, in(".vscode/settings.json")), asks},
		"an edit of the git directory":        {hostedCall("write", approval.Changes, `{}`, in(".git/hooks/pre-commit")), asks},
		"an edit of an executable file":       {hostedCall("write", approval.Changes, `{}`, in("run.sh")), asks},
		"a read":                              {hostedCall("read", approval.Reads, `{}`, in("x")), reads},
		"a read of unknown files":             {hostedCall("grep", approval.Reads, `{}`), reads},
		"a read of a file with secrets":       {hostedCall("read", approval.Reads, `{}`, in(".env")), asks},
		"a read of secrets through a link":    {hostedCall("read", approval.Reads, `{}`, in("leads-to-secrets")), asks},
		"an engine that is not known":         {approval.Request{ID: "h", Tool: "x", Hosted: "other"}, asks},
		"a plan":                              {approval.Request{ID: "h", Tool: "x", Hosted: "pi", EndsPlan: true, Effect: approval.Reads}, "asked asked asked asked"},
	} {
		for _, box := range []bool{false, true} { // our sandbox has no influence
			var got []string
			for _, mode := range approval.Modes {
				v, p := verdict(t, approval.Config{
					Root: root, Mode: mode, Sandbox: box, Sensitive: func(path string) bool { return filepath.Base(path) == ".env" },
				}, c.request)
				if v == "asked" {
					require.Equal(t, c.request.Hosted, p.Hosted)
				}
				got = append(got, v)
			}
			require.Equal(t, c.want, strings.Join(got, " "), "%s, sandbox %v", name, box)
		}
	}
}

// The prompt of a hosted call says where it runs, and offers only rules that cover no more than it shows.
func TestPromptsOfHostedCalls(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	for name, c := range map[string]struct {
		request  approval.Request
		allows   string
		warnings []string
	}{
		"a command":                         {hostedBash("make test"), "make test (exactly, outside the sandbox)", []string{"pi runs this itself, outside the sandbox."}},
		"a command that is not shown whole": {hostedBash("make\u202e test"), "", []string{"pi runs this itself, outside the sandbox."}},
		"a command that writes outside": {hostedBash("ls > /etc/x"), "", []string{
			"pi runs this itself, outside the sandbox.", "Outside the folder: /etc/x",
		}},
		"a command in another form": {hostedCall("bash", approval.Runs, `{"command":"ls","cwd":"/"}`), "", []string{"pi runs this itself, outside the sandbox."}},
		"another shell":             {hostedCall("Bash", approval.Runs, `{"x":"ls"}`), "", []string{"pi runs this itself, outside the sandbox."}},
		"a tool that takes code":    {hostedCall("mcp__x__y", approval.Runs, `{"Code":"1"}`), "", []string{"pi runs this itself, outside the sandbox."}},
		"a tool that takes a list":  {hostedCall("mcp__x__y", approval.Runs, `[1]`), "", []string{"pi runs this itself, outside the sandbox."}},
		"a tool with a hidden name": {hostedCall("po\u202eke", approval.Runs, `{}`), "", []string{"pi runs this itself, outside the sandbox."}},
		"a tool of a server": {hostedCall("mcp__t__poke", approval.Runs, `{"n":1}`), "every call of mcp__t__poke by pi, outside the sandbox", []string{
			"pi runs this itself, outside the sandbox.",
		}},
		"an edit":                  {hostedCall("edit", approval.Changes, `{}`, filepath.Join(root, "x")), "edits to files in this folder, except protected files", nil},
		"an edit of unknown files": {hostedCall("edit", approval.Changes, `{}`), "", []string{"The files that pi will change are not known."}},
		"an edit of a protected file": {hostedCall("str_replace", approval.Changes, `{}`, filepath.Join(root, ".envrc")), "", []string{
			"Changes a protected file: .envrc",
		}},
	} {
		v, p := verdict(t, approval.Config{Root: root, Mode: approval.Ask, Sandbox: true}, c.request)
		require.Equal(t, "asked", v, name)
		require.Equal(t, c.allows, p.Allows(), name)
		require.Equal(t, c.warnings, p.Warnings(), name)
	}
}

// A rule that was given for our own sandboxed tools allows no call of a hosted engine, which runs without a sandbox.
func TestRulesForTheSandboxDoNotAllowHostedCalls(t *testing.T) {
	t.Parallel()
	own := append(words("go test", "ls", "make$"), approval.Rule{Line: "make"}, approval.Rule{Line: "ls"}, approval.Rule{Line: "ls", Background: true},
		approval.Rule{Line: "make", Outside: true, Background: true}, approval.Rule{Tool: "poke"}, approval.Rule{Tool: "poke", Digest: "d"}, approval.Rule{Tool: "bash"})
	for _, mode := range []approval.Mode{approval.Ask, approval.AutoEdit} {
		for _, line := range []string{"make", "ls", "go test ./...", "ls | make"} {
			v, _ := verdict(t, approval.Config{Root: t.TempDir(), Mode: mode, Sandbox: true, Memory: own}, hostedBash(line))
			require.Equal(t, "asked", v, line)
		}
		for _, digest := range []string{"", "d"} {
			r := hostedCall("poke", approval.Runs, `{}`)
			r.Digest = digest
			v, _ := verdict(t, approval.Config{Root: t.TempDir(), Mode: mode, Sandbox: true, Memory: own}, r)
			require.Equal(t, "asked", v)
		}
	}
}

// A rule for exactly the line outside of the sandbox allows the command, and nothing like it.
func TestTheRuleOfALineAllowsTheHostedCommand(t *testing.T) {
	t.Parallel()
	memory := fixed{{Line: "make test", Outside: true}}
	for line, want := range map[string]string{"make test": "allowed", "make test ": "asked", "make  test": "asked", "make test; x": "asked", "make": "asked"} {
		v, _ := verdict(t, approval.Config{Root: t.TempDir(), Mode: approval.Ask, Memory: memory}, hostedBash(line))
		require.Equal(t, want, v, "%q", line)
	}
}

// The rule of an engine's tool allows neither the tool of another engine nor that of our own loop.
func TestTheRuleOfAnEnginesTool(t *testing.T) {
	t.Parallel()
	memory := &approval.FileMemory{Fs: afero.NewMemMapFs(), Path: "/m/allowed.json"}
	root := t.TempDir()
	g := approval.NewGate(approval.Config{Root: root, Mode: approval.Ask, Memory: memory})
	g.Attach(func(context.Context, approval.Prompt) (approval.Decision, error) { return approval.Workspace, nil })
	poke := hostedCall("mcp__t__poke", approval.Runs, `{}`)
	_, err := g.Ask(t.Context(), poke)
	require.NoError(t, err)
	rules, err := memory.Rules(root)
	require.NoError(t, err)
	require.Equal(t, []approval.Rule{{Tool: "mcp__t__poke", Engine: "pi"}}, rules)
	cfg := approval.Config{Root: root, Mode: approval.Ask, Memory: memory}
	for want, requests := range map[string][]approval.Request{
		"allowed": {poke, hostedCall("mcp__t__poke", approval.Runs, `{"n":2}`)},
		"asked": {
			{ID: "o", Tool: "mcp__t__poke", Hosted: "omp"},
			{ID: "o", Tool: "mcp__t__poke"},
			{ID: "o", Tool: "mcp__t__poke", Digest: "pi"},
			hostedCall("mcp__t__pok", approval.Runs, `{}`), hostedCall("mcp__t__poke", approval.Runs, `{"command":"rm"}`),
			hostedCall("mcp__t__poke", approval.Changes, `{}`),
		},
	} {
		for _, r := range requests {
			v, _ := verdict(t, cfg, r)
			require.Equal(t, want, v, "%+v", r)
		}
	}
}

// Rules that were written by hand for tools that can do everything allow nothing.
func TestNoRuleCoversAShellOfAnEngine(t *testing.T) {
	t.Parallel()
	for _, tool := range []string{"bash", "Bash", "PowerShell", "run_shell_command", "codemode", "write", "MultiEdit", ""} {
		v, _ := verdict(t, approval.Config{Root: t.TempDir(), Mode: approval.Ask, Memory: fixed{{Tool: tool, Engine: "pi"}}}, hostedCall(tool, approval.Runs, `{}`))
		require.Equal(t, "asked", v, "%q", tool)
	}
	for _, r := range []approval.Rule{{Engine: "pi"}, {Engine: "pi", Edit: true}, {Tool: "poke", Engine: "pi", Digest: "d"}, {Engine: "pi", Line: "ls", Outside: true}} {
		for _, request := range []approval.Request{hostedBash("ls"), hostedCall("poke", approval.Runs, `{}`), hostedCall("edit", approval.Changes, `{}`, "/x")} {
			v, _ := verdict(t, approval.Config{Root: "/", Mode: approval.Ask, Memory: fixed{r}}, request)
			require.Equal(t, "asked", v, "%+v", r)
		}
	}
}

// A rule that allows edits in the folder allows those of an engine under the same conditions.
func TestTheRuleForEditsCoversHostedEdits(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	cfg := approval.Config{Root: root, Mode: approval.Ask, Memory: fixed{{Edit: true}}}
	for want, r := range map[string]approval.Request{
		"allowed": hostedCall("apply_patch", approval.Changes, `{}`, filepath.Join(root, "x")),
		"asked":   hostedCall("apply_patch", approval.Changes, `{}`, filepath.Join(root, ".envrc")),
	} {
		v, _ := verdict(t, cfg, r)
		require.Equal(t, want, v)
	}
	v, _ := verdict(t, cfg, hostedCall("edit", approval.Runs, `{}`, filepath.Join(root, "x")))
	require.Equal(t, "asked", v, "a tool that does more than change the file")
}

// A change of the mode settles the pending calls of an engine.
func TestAModeSettlesHostedCalls(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := approval.NewGate(approval.Config{Root: "/w", Mode: approval.Ask, Sandbox: true})
		answers := make(chan answer, 3)
		for i, r := range []approval.Request{hostedBash("make"), hostedCall("poke", approval.Runs, `{}`)} {
			r.ID = fmt.Sprint(i)
			asking(t.Context(), g, r, answers)
		}
		require.NoError(t, g.SetMode(approval.AutoEdit))
		synctest.Wait()
		require.Equal(t, []string{"0", "1"}, ids(g))
		require.NoError(t, g.SetMode(approval.Yolo))
		require.NoError(t, (<-answers).err)
		require.NoError(t, (<-answers).err)
	})
}

// FuzzHostedCommands looks for a command of an engine that a rule for our own sandbox allows.
func FuzzHostedCommands(f *testing.F) {
	for _, s := range []string{"ls", "git status", "make x", "go test ./...", "ls > x", "cat x | make x", "$(ls)", ""} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		rules := append(words("git status", "go test", "ls", "make x$"), approval.Rule{Line: text}, approval.Rule{Edit: true}, approval.Rule{Line: "never", Outside: true})
		if text == "never" {
			return
		}
		v, p := verdict(t, approval.Config{Root: "/w", Mode: approval.Ask, Sandbox: true, Memory: rules}, hostedBash(text))
		require.Equal(t, "asked", v)
		for _, r := range p.Rules {
			require.True(t, r.Outside && r.Line != "", "%+v", r)
		}
	})
}
