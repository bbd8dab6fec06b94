package setup_test

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/setup"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// recorded returns what a real program made of a tree.
func recorded(t *testing.T, name string) string {
	t.Helper()
	content, err := os.ReadFile("testdata/" + name)
	require.NoError(t, err)
	return string(content)
}

// matches returns the groups of a pattern in a text.
func matches(pattern, text string) (all []string) {
	for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(text, -1) {
		all = append(all, m[1])
	}
	return all
}

func sorted(list []string) []string {
	list = slices.Clone(list)
	slices.Sort(list)
	return list
}

func TestOmpConnectsTheseServers(t *testing.T) {
	t.Parallel()
	w := tree(t, "omp-every-form")
	r := w.trusted(session.Omp)
	assert.Equal(t, sorted(matches(`(?m)^### (\S+)$`, recorded(t, "omp-every-form.resolved.txt"))), servers(r))
	same, ok := r.Server("same")
	require.True(t, ok)
	assert.Equal(t, folder+"/.omp/mcp.json", same.Path)
	assert.Equal(t, "same-omp-project", same.Definition.Args[1])
	assert.Contains(t, why(r, setup.KindServer, "off-by-user"), "turned off in "+home+"/.omp/agent/mcp.json")
	assert.Contains(t, why(r, setup.KindServer, "same"), "takes precedence")

	// The five of the user join if the user turns them on.
	w.file("~/.omp/agent/config.yml", "enabledProviders: [claude, cursor, codex, gemini, windsurf]\n")
	r = w.resolve(session.Omp)
	for _, name := range []string{"claude-user", "cursor-user", "codex-user", "gemini-user", "windsurf-user"} {
		assert.Contains(t, servers(r), name)
	}
	assert.NotContains(t, servers(r), "claude-local")
	assert.NotContains(t, servers(r), "vscode-real")

	w.file("~/.omp/agent/config.yml", "mcp:\n  enableProjectConfig: false\n")
	r = w.resolve(session.Omp)
	assert.Equal(t, []string{"omp-user", "same"}, servers(r))
	same, _ = r.Server("same")
	assert.Equal(t, setup.User, same.Scope)
	assert.Contains(t, why(r, setup.KindServer, "omp-project"), "mcp.enableProjectConfig is false in")
}

// Other programs' files are off in xcsh until the user says which ones are.
func TestXcshReadsOtherProgramsOnlyIfTurnedOn(t *testing.T) {
	t.Parallel()
	w := tree(t, "omp-every-form").file(".xcsh/mcp.json", `{"mcpServers":{"own":{"command":"x"}}}`)
	assert.Equal(t, []string{"own"}, servers(w.trusted(session.Xcsh)))
	w.file("~/.xcsh/agent/config.yml", "disabledProviders: [cursor, claude]\n")
	assert.Equal(t, setup.Changed, w.resolve(session.Xcsh).Trust.State, "other servers are another decision")
	all := servers(w.trusted(session.Xcsh))
	assert.Contains(t, all, "codex-project")
	assert.NotContains(t, all, "cursor-project")
	assert.NotContains(t, all, "claude-user")
}

func TestOmpReadsThisSetup(t *testing.T) {
	t.Parallel()
	want := recorded(t, "omp-setup.resolved.txt")
	r := tree(t, "omp-setup").trusted(session.Omp)
	assert.Equal(t, matches(`(?m)^### (\S+)$`, want), servers(r))
	var listed []string
	for _, s := range r.Skills {
		if !s.Hidden {
			listed = append(listed, "- "+s.Name+": "+s.Description)
		}
	}
	block, _, _ := strings.Cut(want, "</skills>")
	assert.Equal(t, matches(`(?m)^(- .*)$`, block), sorted(listed))
	hidden, ok := r.Skill("hidden-skill")
	assert.True(t, ok && hidden.Hidden)
	assert.Len(t, r.Skills, 4)
	assert.Equal(t, []string{"always RULES", "always always", "domain go"}, rules(r))
	assert.Equal(t, "Sticky rule: never push.", r.Rules[0].Body)
	assert.Contains(t, want, "- go (*.go): Rule for Go files")
	assert.Equal(t, []string{"*.go"}, r.Rules[2].Globs)
	assert.Equal(t, matches(`<file path="(.*)">`, want), contexts(r))
	for _, f := range r.Context {
		assert.Contains(t, want, "<file path=\""+f.Path+"\">\n"+strings.TrimRight(f.Text, "\n")+"\n</file>")
	}
	require.NotNil(t, r.Append)
	assert.Contains(t, want, "<append>\n"+strings.TrimSpace(r.Append.Text)+"\n</append>")
	assert.Nil(t, r.System)
	assert.Equal(t, []string{"tools.approvalMode=yolo"}, settings(r))
	// These are the commands that omp lists over ACP, but for its own.
	assert.Equal(t, []string{"probecmd", "commit", "git:commit"}, templates(r))
	assert.Equal(t, "[focus]", r.Templates[0].Hint)
	assert.Empty(t, r.Problems)
	for _, path := range []string{r.Append.Path, r.Rules[0].Path, r.Skills[0].Path, r.Settings[0].Path, r.Servers[0].Path} {
		assert.Contains(t, r.Sources, path)
	}
}

func TestPiReadsThisSetup(t *testing.T) {
	t.Parallel()
	w := tree(t, "pi-setup")
	r := w.resolve(session.Pi)
	want := recorded(t, "pi-setup.untrusted.txt")
	samePi(t, want, r)
	assert.Equal(t, []string{"Probe-One", "both", "user-only"}, servers(r))
	list := recorded(t, "pi-setup.mcp-list.txt")
	assert.Equal(t, sorted(matches(`(?m)^(\S+): (?:connected|failed)`, list)), servers(r))
	both, _ := r.Server("both")
	assert.Equal(t, setup.HTTP, both.Transport, "pi takes the address")
	assert.Equal(t, "http://127.0.0.1:1/mcp", both.Starts)
	text := strings.Join(problems(r), "\n")
	assert.Contains(t, text, `the server "bad name!" is not used: a name has only letters, digits, "_" and "-".`)
	assert.Contains(t, text, `the server "sse" is not used: the SSE transport of 2024 is not supported`)
	assert.Equal(t, "This folder's set-up is not trusted.", why(r, setup.KindServer, "pi-project"))
	assert.Equal(t, setup.Untrusted, r.Trust.State)
	assert.Equal(t, "The folder project brings its own set-up: 2 MCP servers (user-only; pi-project: node /home/dev/probe.mjs pi-project), 2 skills, 1 template, a part of the system prompt. Use it?", r.Trust.Question)

	r = w.trusted(session.Pi)
	samePi(t, recorded(t, "pi-setup.trusted.txt"), r)
	assert.Equal(t, []string{"Probe-One", "both", "pi-project"}, servers(r))
	assert.Contains(t, why(r, setup.KindServer, "user-only"), "turned off in "+folder+"/.pi/mcp.json")
	var commands struct {
		Commands []struct {
			Name, Description, Source string
			SourceInfo                struct{ Path, Scope string }
		}
	}
	require.NoError(t, json.Unmarshal([]byte(recorded(t, "pi-setup.commands.trusted.json")), &commands))
	var theirs, ours []string
	for _, c := range commands.Commands {
		if c.Source != "extension" {
			theirs = append(theirs, c.Name+" "+c.Description+" "+c.SourceInfo.Path+" "+c.SourceInfo.Scope)
		}
	}
	for _, x := range r.Templates {
		ours = append(ours, x.Name+" "+x.Description+" "+x.Path+" "+string(x.Scope))
	}
	for _, s := range r.Skills {
		ours = append(ours, "skill:"+s.Name+" "+s.Description+" "+s.Path+" "+string(s.Scope))
	}
	assert.Equal(t, theirs, ours)
}

// samePi compares with the parts of pi's system prompt.
func samePi(t *testing.T, want string, r *setup.Resolved) {
	t.Helper()
	assert.Equal(t, matches(`<project_instructions path="(.*)">`, want), contexts(r))
	for _, f := range r.Context {
		assert.Contains(t, want, "<project_instructions path=\""+f.Path+"\">\n"+f.Text)
	}
	var visible []string
	for _, s := range r.Skills {
		if !s.Hidden {
			visible = append(visible, s.Path)
		}
	}
	assert.Equal(t, matches(`<location>(.*)</location>`, want), visible)
	require.NotNil(t, r.Append)
	assert.Contains(t, want, "<addendum>\n"+strings.TrimSpace(r.Append.Text)+"\n")
	assert.Nil(t, r.System)
	assert.Empty(t, r.Rules)
}
