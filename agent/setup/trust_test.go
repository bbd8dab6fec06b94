package setup_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/setup"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// projectOf has one of everything that needs trust, and instructions, which do not.
func projectOf(t *testing.T) *world {
	t.Helper()
	return newWorld(t).file(".omp/mcp.json", `{"mcpServers":{"p":{"command":"x"}}}`).file(".omp/skills/s/SKILL.md", "---\ndescription: D\n---\nB").
		file(".omp/commands/c.md", "C").file(".omp/SYSTEM.md", "S").file(".omp/APPEND_SYSTEM.md", "A").file(".omp/rules/r.md", "---\nalwaysApply: true\n---\nR").
		file(".omp/config.yml", "retry: {maxRetries: 7}\ntools: {approvalMode: yolo, approval: {bash: allow, write: deny}}\n").file("AGENTS.md", "Instructions.")
}

func requireNothingOfTheProject(t *testing.T, r *setup.Resolved) {
	t.Helper()
	require.Empty(t, r.Servers)
	require.Empty(t, r.Skills)
	require.Empty(t, r.Templates)
	require.Empty(t, r.Rules)
	require.Empty(t, r.Settings)
	require.Nil(t, r.System)
	require.Nil(t, r.Append)
	require.Equal(t, []string{folder + "/AGENTS.md"}, contexts(r))
}

func TestTrust(t *testing.T) {
	t.Parallel()
	w := projectOf(t)
	r := w.resolve(session.Omp)
	requireNothingOfTheProject(t, r)
	require.Equal(t, setup.Untrusted, r.Trust.State)
	require.Equal(t, "The folder project brings its own set-up: 1 MCP server (p: x), 1 skill, 1 template, 1 rule, 2 settings, a part of the system prompt. Use it?", r.Trust.Question)

	require.NoError(t, w.Decide(r, setup.Trusted))
	r = w.resolve(session.Omp)
	require.Equal(t, setup.Trusted, r.Trust.State)
	require.Empty(t, r.Trust.Question)
	require.Equal(t, []string{"p"}, servers(r))
	require.Equal(t, []string{"s"}, skills(r))
	require.NotNil(t, r.System)
	require.Equal(t, []string{"retry.maxRetries=7", "tools.approval.write=deny"}, settings(r), "a project cannot loosen approvals")
	require.Equal(t, "A project cannot loosen approvals.", why(r, setup.KindSetting, "tools.approvalMode"))

	// Other skills are the same decision; another command is another one.
	w.file(".omp/skills/t/SKILL.md", "---\ndescription: D\n---\nB")
	require.Equal(t, []string{"s", "t"}, skills(w.resolve(session.Omp)))
	for _, entry := range []string{`{"command":"y"}`, `{"command":"x","args":["z"]}`, `{"command":"x","env":{"A":"b"}}`} {
		w.file(".omp/mcp.json", fmt.Sprintf(`{"mcpServers":{"p":%s}}`, entry))
		r = w.resolve(session.Omp)
		require.Equal(t, setup.Changed, r.Trust.State, entry)
		requireNothingOfTheProject(t, r)
	}
	w.file(".omp/mcp.json", `{"mcpServers":{"p":{"command":"x"}}}`)
	require.Equal(t, setup.Trusted, w.resolve(session.Omp).Trust.State, "the same again")
	w.file(".omp/config.yml", "shellPath: /tmp/evil\n")
	require.Equal(t, setup.Changed, w.resolve(session.Omp).Trust.State, "a shell is a program, too")

	require.NoError(t, w.Decide(w.resolve(session.Omp), setup.WithoutServers))
	r = w.resolve(session.Omp)
	require.Empty(t, r.Servers)
	require.Len(t, r.Skills, 2)
	require.Contains(t, why(r, setup.KindServer, "p"), "without its servers")
	require.NoError(t, w.Decide(r, setup.Untrusted))
	requireNothingOfTheProject(t, w.resolve(session.Omp))

	// An editor that does not trust the folder overrules everything.
	require.NoError(t, w.Decide(w.resolve(session.Omp), setup.Trusted))
	r = w.Resolve(t.Context(), setup.Query{Cwd: folder, Program: session.Omp, Restricted: true})
	require.Equal(t, setup.Restricted, r.Trust.State)
	requireNothingOfTheProject(t, r)
	require.Error(t, w.Decide(r, setup.Changed))
}

func TestAFolderWithoutASetup(t *testing.T) {
	t.Parallel()
	r := newWorld(t).file("AGENTS.md", "x").file("~/.omp/agent/mcp.json", `{"mcpServers":{"u":{"command":"x"}}}`).resolve(session.Omp)
	require.Equal(t, setup.Trust{State: setup.NothingToTrust}, setup.Trust{State: r.Trust.State, Question: r.Trust.Question})
	require.Equal(t, []string{"u"}, servers(r))
}

// pi's own decisions count for its sessions, and its file is never written.
func TestDecisionsOfPi(t *testing.T) {
	t.Parallel()
	for content, want := range map[string]bool{
		`{"/home/dev/project":true}`:                   true,
		`{"/home/dev":true}`:                           true,
		`{"/home/dev":true,"/home/dev/project":false}`: false,
		`{"/home/dev":false,"/home/dev/project":true}`: true,
		`{"/home/dev/project":"yes"}`:                  false,
		`{"/home/dev/proj":true}`:                      false,
		`not json`:                                     false,
	} {
		w := newWorld(t).file(".pi/mcp.json", `{"mcpServers":{"p":{"command":"x"}}}`).file("~/.pi/agent/trust.json", content)
		r := w.resolve(session.Pi)
		assert.Equal(t, want, len(r.Servers) == 1, content)
		if want {
			assert.Equal(t, home+"/.pi/agent/trust.json", r.Trust.By)
			require.NoError(t, w.Decide(r, setup.Untrusted))
			assert.Empty(t, w.resolve(session.Pi).Servers, "our own decision takes precedence")
		}
	}
	w := newWorld(t).file(".omp/mcp.json", `{"mcpServers":{"p":{"command":"x"}}}`).file("~/.pi/agent/trust.json", `{"/home/dev/project":true}`)
	assert.Empty(t, w.resolve(session.Omp).Servers, "they are for sessions of pi only")
	w = newWorld(t).file(".pi/mcp.json", `{"mcpServers":{"p":{"command":"x"}}}`).file("~/.pi/agent/settings.json", `{"defaultProjectTrust":"always"}`)
	assert.Len(t, w.resolve(session.Pi).Servers, 1)
	w = newWorld(t).file(".pi/mcp.json", `{"mcpServers":{"p":{"command":"x"}}}`).file(".pi/settings.json", `{"defaultProjectTrust":"always"}`)
	assert.Empty(t, w.resolve(session.Pi).Servers, "a project cannot trust itself")
}
