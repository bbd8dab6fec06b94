package agent_test

import (
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/agent/approval"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/internal/providertest"
	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// piSession is the file of a session of pi with one message.
func piSession() string {
	return st.File(`{"type":"session","version":3,"id":"0199aaaa-0000-7000-8000-000000000001","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w"}`, st.User("cccccccc", "", "hi"))
}

// ofPi makes every session one of pi.
func ofPi(fs afero.Fs) option {
	return func(c *agent.Config) {
		c.Store = session.NewStore(session.StoreConfig{Fs: fs, DirFor: c.Finder.DirFor, RootFor: func(string) (session.FileRoot, bool) { return session.FileRoot{Dialect: session.Pi}, true }})
	}
}

const skillOfPi = "/home/u/.pi/agent/skills/pdf/SKILL.md"

// withSetups is a folder with the set-ups of two programs.
func withSetups(t *testing.T) afero.Fs {
	t.Helper()
	return project(t, map[string]string{
		root + "/XCSH.md": "the user's for xcsh", "/home/u/.pi/agent/AGENTS.md": "the user's for pi", skillOfPi: "---\ndescription: About PDF files.\n---\nBody",
		"/home/u/.pi/agent/skills/pdf/references/x.md": "a reference",
		"/w/AGENTS.md": "of the folder", "/w/x.go": "package x", "/w/.pi/APPEND_SYSTEM.md": "not trusted", "/w/s.jsonl": piSession(),
	})
}

// The system prompt stays the same while its files do, and a changed file takes effect with the next request.
func TestTheSystemPromptFollowsItsFiles(t *testing.T) {
	t.Parallel()
	fs := withSetups(t)
	m := scripted(calling("read", "x.go"), calling("read", "x.go"), providertest.Reply{Text: "One."}, providertest.Reply{Text: "Two."}, calling("write", "AGENTS.md"), providertest.Reply{Text: "Three."})
	w := newWorld(t, fs, append(inProject(fs, m), withPrompts(fs))...)
	live := w.live(t, "/w")
	prompt(t, live, "go")
	prompt(t, live, "again")
	requests := m.Requests()
	require.Len(t, requests, 4)
	for _, r := range requests {
		require.Equal(t, requests[0].System, r.System)
	}
	require.Contains(t, requests[0].System, "the user's for xcsh")
	require.Contains(t, requests[0].System, "of the folder")
	require.NotContains(t, requests[0].System, "for pi")
	require.NotContains(t, requests[0].System, "About PDF files.")
	prompt(t, live, "change it")
	requests = m.Requests()
	require.Contains(t, requests[5].System, "\nnew\n</file>")
	require.NoError(t, w.Close(t.Context()))
}

// A session of pi that continues here has the set-up of pi.
func TestThePromptOfTheSessionsProgram(t *testing.T) {
	t.Parallel()
	fs := withSetups(t)
	grep := providertest.Reply{ToolCalls: []providertest.Call{{Name: "grep", Args: map[string]any{"path": "skill://pdf/references", "pattern": "refer"}}}}
	m := scripted(calling("read", "skill://pdf"), calling("read", skillOfPi), calling("read", "skill://pdf/references/x.md"), grep,
		calling("read", "skill://nope"), calling("read", "rule://nope"), calling("read", "skill://pdf/../../AGENTS.md"), calling("write", "skill://pdf/new.md"), providertest.Reply{Text: "One."})
	w := newWorld(t, fs, append(inProject(fs, m), withPrompts(fs), ofPi(fs), func(c *agent.Config) { c.Approval = approval.Ask })...)
	live := w.live(t, "/w")
	_, err := live.Switch(t.Context(), "/w/s.jsonl")
	require.NoError(t, err)
	prompt(t, live, "go")
	system := m.Requests()[0].System
	require.Contains(t, system, "the user's for pi")
	require.Contains(t, system, "<location>"+skillOfPi+"</location>")
	require.NotContains(t, system, "for xcsh")
	require.NotContains(t, system, "not trusted")

	// No call asks the user, and addresses lead to files of the skill only.
	requests := m.Requests()
	var results []string
	for _, msg := range requests[len(requests)-1].Messages {
		if msg.Role == provider.RoleToolResult {
			results = append(results, msg.PlainText())
		}
	}
	require.Len(t, results, 8)
	require.Equal(t, "---\ndescription: About PDF files.\n---\nBody", results[0], "the front matter is included")
	require.Equal(t, results[0], results[1])
	require.Equal(t, "a reference", results[2])
	require.Contains(t, results[3], "a reference")
	require.Equal(t, `There is no skill "nope". The skills are: pdf.`, results[4])
	require.Equal(t, `There is no rule "nope". This folder has no rules.`, results[5])
	require.Equal(t, "../../AGENTS.md is not below the directory of the skill pdf.", results[6])
	require.Contains(t, results[7], "Nothing was read or changed")
	require.NoError(t, w.Close(t.Context()))
}
