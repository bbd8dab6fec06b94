package commands_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/agent/event"
	"github.com/xcsh-ls/xcsh-ls/agent/setup"
	"github.com/xcsh-ls/xcsh-ls/commands"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

// trustAsked answers the question about a folder's set-up.
type trustAsked struct {
	commands.Headless
	questions []commands.Question
	answer    func() int
}

func (u *trustAsked) Ask(_ context.Context, q commands.Question) (int, error) {
	u.questions = append(u.questions, q)
	return u.answer(), nil
}

const docs = `{"mcpServers":{"docs":{"command":"npx","args":["docs"],"env":{"KEY":"SECRET"}}}}`

// untrusted is a session of oh-my-pi in a folder with a set-up.
func untrusted(t *testing.T, answer func() int) (ofProgram, *trustAsked) {
	t.Helper()
	o := withSetup(t, "omp", map[string]string{"/w/.omp/mcp.json": docs, "/w/.omp/commands/deploy.md": "Deploy it.", "/home/u/.omp/agent/commands/mine.md": "Mine."})
	u := &trustAsked{answer: answer}
	o.UI = u
	return o, u
}

func notices(o ofProgram) *[]string {
	var texts []string
	o.Sessions.Subscribe(func(e agent.Event) {
		if run, ok := e.(agent.RunEvent); ok {
			if n, ok := run.Event.(event.Notice); ok {
				texts = append(texts, n.Text)
			}
		}
	})
	return &texts
}

func TestTheQuestionAboutAFoldersSetUp(t *testing.T) {
	t.Parallel()
	answer := 2 // Not now
	o, u := untrusted(t, func() int { return answer })
	texts := notices(o)
	question := commands.Question{
		Text: "The folder w brings its own set-up: 1 MCP server (docs: npx docs), 1 template. Use it?", Choices: []string{"Use", "Use without servers", "Not now"},
	}
	// Before the answer nothing of the folder is used: the text goes to the model as it is.
	require.NotContains(t, do(t, o.Env, "xcsh.prompt", args{"text": "/deploy"}), "expanded")
	require.Contains(t, o.lastPrompt(t), "/deploy")
	require.Equal(t, []commands.Question{question}, u.questions)
	require.Equal(t, []string{"The server \"docs\" of .omp/mcp.json was not started: this folder's set-up is not trusted yet. Run xcsh.trust to look at it and decide."}, *texts, "once")

	// The user is asked once, and not at all about the user's own files.
	require.NotContains(t, do(t, o.Env, "xcsh.prompt", args{"text": "/deploy"}), "expanded")
	require.Contains(t, do(t, o.Env, "xcsh.prompt", args{"text": "/mine"}), "expanded")
	require.Len(t, u.questions, 1)

	// A changed command asks again, and the answer counts for this prompt.
	require.NoError(t, afero.WriteFile(o.fs, "/w/.omp/mcp.json", []byte(`{"mcpServers":{"docs":{"command":"npx","args":["other"]}}}`), 0o600))
	answer = 1
	require.Contains(t, do(t, o.Env, "xcsh.prompt", args{"text": "/deploy"}), "expanded")
	require.Len(t, u.questions, 2)
	require.Contains(t, u.questions[1].Text, "npx other")
	require.Equal(t, "withoutServers", do(t, o.Env, "xcsh.trust", nil)["state"])
	do(t, o.Env, "xcsh.prompt", args{"text": "again"})
	require.Len(t, u.questions, 2)

	// What the user trusted and then changes is not used, either.
	require.NoError(t, afero.WriteFile(o.fs, "/w/.omp/mcp.json", []byte(docs), 0o600))
	answer = commands.Closed
	require.NotContains(t, do(t, o.Env, "xcsh.prompt", args{"text": "/deploy"}), "expanded")
	require.Len(t, u.questions, 2, "the user has seen these programs, and closed nothing new")
}

// A set-up without servers, about which nothing else is said, is reported when the user doesn't want it.
func TestTheAnswerAboutASetUpWithoutServers(t *testing.T) {
	t.Parallel()
	o := withSetup(t, "omp", map[string]string{"/w/.omp/commands/deploy.md": "Deploy it."})
	o.UI = &trustAsked{answer: func() int { return 2 }}
	texts := notices(o)
	do(t, o.Env, "xcsh.prompt", args{"text": "/deploy"})
	require.Equal(t, []string{"The set-up of this folder is not used. To use it, run xcsh.trust or, in a terminal, xcsh-ls setup --program omp --trust all."}, *texts)
}

func TestTheDecisionAboutAFolder(t *testing.T) {
	t.Parallel()
	o, u := untrusted(t, func() int { return 0 })
	shown := do(t, o.Env, "xcsh.trust", nil)
	require.Equal(t, "untrusted", shown["state"])
	require.Equal(t, []any{
		map[string]any{"kind": "server", "name": "docs", "path": "/w/.omp/mcp.json", "starts": "npx docs", "used": false},
		map[string]any{"kind": "template", "name": "deploy", "path": "/w/.omp/commands/deploy.md", "used": false},
	}, shown["brings"])
	require.Equal(t, "/w", shown["folder"])
	for decision, want := range map[string]string{"all": "trusted", "without-servers": "withoutServers", "none": "untrusted"} {
		r := do(t, o.Env, "xcsh.trust", args{"decision": decision})
		require.Equal(t, want, r["state"])
		require.Len(t, r["brings"], 2)
		require.Equal(t, decision == "all", r["brings"].([]any)[0].(map[string]any)["used"])
	}
	do(t, o.Env, "xcsh.trust", args{"decision": "none"})
	do(t, o.Env, "xcsh.prompt", args{"text": "hello"})
	require.Empty(t, u.questions, "the user has decided")
	_, err := run(t.Context(), o.Env, "xcsh.trust", args{"decision": "yes"})
	require.Equal(t, "decision", requireKind(t, fault.InvalidArgument, err).Data["field"])

	// Neither in a workspace that the editor does not trust.
	o.Restricted = func() bool { return true }
	_, err = run(t.Context(), o.Env, "xcsh.trust", args{"decision": "all"})
	requireKind(t, fault.Denied, err)
}

// A prompt does not wait for ever, and the answer counts from the next one on.
func TestAPromptGoesOnWithoutAnAnswer(t *testing.T) {
	t.Parallel()
	waiting, answered := make(chan struct{}), make(chan struct{})
	o, u := untrusted(t, func() int {
		close(waiting)
		<-answered
		return 0
	})
	texts := notices(o)
	o.After = func(d time.Duration, f func()) func() bool {
		require.Equal(t, 30*time.Second, d)
		go func() {
			<-waiting
			f()
		}()
		return func() bool { return false }
	}
	require.NotContains(t, do(t, o.Env, "xcsh.prompt", args{"text": "/deploy"}), "expanded")
	require.Contains(t, *texts, "The set-up of this folder is not used for this prompt, because you have not answered the question about it yet. "+
		"To use it, run xcsh.trust or, in a terminal, xcsh-ls setup --program omp --trust all.")
	require.NotContains(t, do(t, o.Env, "xcsh.prompt", args{"text": "/deploy"}), "expanded", "the question is still open")
	close(answered)
	require.Eventually(t, func() bool { return do(t, o.Env, "xcsh.trust", nil)["state"] == "trusted" }, 20*time.Second, time.Millisecond)
	require.Contains(t, do(t, o.Env, "xcsh.prompt", args{"text": "/deploy"}), "expanded")
	require.Len(t, u.questions, 1)
}

func TestWhoCannotBeAskedIsNotified(t *testing.T) {
	t.Parallel()
	o, _ := untrusted(t, func() int { return commands.Unasked })
	texts := notices(o)
	for range 2 {
		require.NotContains(t, do(t, o.Env, "xcsh.prompt", args{"text": "/deploy"}), "expanded")
	}
	const told = "1 MCP server (docs: npx docs), 1 template. Use it? It is not used, because you could not be asked."
	require.Equal(t, 1, strings.Count(strings.Join(*texts, "\n"), told), *texts)
}

// A run's own flag counts for that process only.
func TestASetUpThatIsGrantedForOneProcess(t *testing.T) {
	t.Parallel()
	o, u := untrusted(t, func() int { return 0 })
	live := o.Sessions.Live("/w")
	o.Sessions.GrantSetup(live.Found(t.Context()), setup.Trusted)
	require.Contains(t, do(t, o.Env, "xcsh.prompt", args{"text": "/deploy"}), "expanded")
	require.Empty(t, u.questions)
	_, err := o.fs.Stat(agentDir + "/xcsh-ls/trust.json")
	require.Error(t, err, "nothing is stored")
}
