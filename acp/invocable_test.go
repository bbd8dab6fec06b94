package acp_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/setup"
	"github.com/xcsh-ls/xcsh-ls/agent/trust"
	"github.com/xcsh-ls/xcsh-ls/commands"
	"github.com/xcsh-ls/xcsh-ls/internal/providertest"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// withSetup adds skills and templates of the user and of the folder.
func withSetup(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	w.talk(t)
	for path, text := range map[string]string{
		agentDir + "/skills/pdf-tools/SKILL.md": "---\ndescription: Extract text\n---\nUse pdftotext.",
		agentDir + "/skills/quiet/SKILL.md":     "---\ndescription: Q\ndisable-model-invocation: true\n---\nQ.",
		agentDir + "/commands/review.md":        "---\ndescription: Review it\n---\nReview $1.",
		"/w/.xcsh/commands/deploy.md":           "Deploy $1.",
		"/w/.xcsh/mcp.json":                     `{"mcpServers":{"docs":{"command":"npx","args":["docs"]}}}`,
	} {
		w.file(t, path, text)
	}
	w.setups = &setup.Finder{
		Fs: w.fs, Home: "/home/u", Memory: &setup.Memory{}, Decisions: &trust.Store{Fs: w.fs, Path: agentDir + "/xcsh-ls/trust.json"},
		Dirs: []setup.Dir{{Path: agentDir, Program: session.Xcsh}},
	}
	return w
}

// offered returns the newest list of commands behind those of xcsh-ls.
func (c *client) offered() (names []any) {
	for _, u := range slices.Backward(c.updates(id1)) {
		if u.Kind == "available_commands_update" {
			for _, command := range u.Commands[len(commands.Slashes()):] {
				names = append(names, command["name"])
			}
			return names
		}
	}
	return nil
}

// lastPrompt returns the newest message that the model received.
func (w *world) lastPrompt() string {
	requests := w.models.Requests()
	messages := requests[len(requests)-1].Messages
	return messages[len(messages)-1].PlainText()
}

func TestSkillsAndTemplates(t *testing.T) {
	t.Parallel()
	w := withSetup(t)
	c := w.connect(t, object{})
	questions := make(chan json.RawMessage, 2)
	c.on("session/request_permission", func(p json.RawMessage) (any, *wireError) {
		questions <- p
		return object{"outcome": object{"outcome": "selected", "optionId": "0"}}, nil
	})
	c.ok("session/load", object{"sessionId": id1, "cwd": "/w"})
	list := c.awaitUpdate(id1, "the commands", func(u update) bool { return u.Kind == "available_commands_update" }).Commands
	require.Equal(t, []object{
		{"name": "review", "description": "Review it"},
		{"name": "skill:pdf-tools", "description": "Extract text", "input": object{"hint": "arguments"}},
		{"name": "skill:quiet", "description": "Q", "input": object{"hint": "arguments"}},
	}, list[len(commands.Slashes()):])

	// The prompt waits for the answer about the folder, and is then expanded.
	w.models.Script("m", providertest.Reply{Text: "a"}, providertest.Reply{Text: "b"})
	require.Equal(t, "end_turn", c.prompt(id1, "/deploy now"))
	q := <-questions
	for _, want := range []string{"Use the set-up of this folder?", "1 MCP server (docs: npx docs), 1 template. Use it?", `"name":"Use"`, `"name":"Use without servers"`, `"name":"Not now"`, `"kind":"reject_once"`} {
		require.Contains(t, string(q), want)
	}
	require.Equal(t, "Deploy now.", w.lastPrompt())
	c.awaitUpdate(id1, "the folder's own", func(u update) bool {
		return u.Kind == "available_commands_update" && len(u.Commands) == len(commands.Slashes())+4
	})
	require.Equal(t, []any{"deploy", "review", "skill:pdf-tools", "skill:quiet"}, c.offered())

	require.Equal(t, "end_turn", c.prompt(id1, "/skill:quiet"))
	require.Contains(t, w.lastPrompt(), "[IMPORTANT: User invoked the \"quiet\" skill")
	require.Contains(t, w.read(t, file1), `{"type":"custom_message","customType":"skill-prompt"`)
	require.Empty(t, questions)
	c.refused("session/prompt", object{"sessionId": id1, "prompt": []any{text("/skill:none")}}, -32002, `There is no skill "none". The skills are: pdf-tools, quiet.`)
}

// A client that cannot ask leaves the folder's set-up out, and gets a notice.
func TestAClientThatCannotAskAboutTheSetUp(t *testing.T) {
	t.Parallel()
	w := withSetup(t)
	c := w.connect(t, object{"session": object{"notices": object{}}})
	c.ok("session/load", object{"sessionId": id1, "cwd": "/w"})
	w.models.Script("m", providertest.Reply{Text: "a"})
	require.Equal(t, "end_turn", c.prompt(id1, "/deploy now"))
	require.Equal(t, "/deploy now", w.lastPrompt())
	c.awaitUpdate(id1, "a notice", func(u update) bool {
		return u.Kind == "notice" && u.Title == "The server \"docs\" of .xcsh/mcp.json was not started: this folder's set-up is not trusted yet. Run xcsh.trust to look at it and decide."
	})
}
