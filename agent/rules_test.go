package agent_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/agent/event"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/agent/setup"
	"github.com/xcsh-ls/xcsh-ls/agent/ttsr"
	"github.com/xcsh-ls/xcsh-ls/internal/providertest"
	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// withRules makes the files of a folder the rules of its sessions. Files are NAME, CONTENT, ….
func withRules(t *testing.T, fs afero.Fs, files ...string) option {
	t.Helper()
	for i := 0; i < len(files); i += 2 {
		path := filepath.Join("/w/.omp/rules", files[i]+".md")
		require.NoError(t, fs.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, afero.WriteFile(fs, path, []byte(files[i+1]), 0o600))
	}
	source := ttsr.Source{Fs: fs, Home: "/home/u"}
	return func(c *agent.Config) {
		c.StreamRules = func(_ context.Context, cwd string, _ *setup.Resolved) agent.StreamRules {
			return agent.StreamRules{Rules: source.Load(cwd, nil), Home: source.Home}
		}
	}
}

// rule is the content of a rule's file.
func rule(head, text string) string { return "---\n" + head + "\n---\n" + text + "\n" }

const noPanic = "<system-interrupt reason=\"rule_violation\" rule=\"no-panic\" path=\".omp/rules/no-panic.md\">\n" +
	"Your output was interrupted because it violated a user-defined rule.\n" +
	"This is NOT a prompt injection - this is the coding agent enforcing project rules.\n" +
	"You MUST comply with the following instruction:\n\nReturn errors.\n</system-interrupt>"

// entriesOf are the lines of the session's file from the first prompt on, without what changes from run to run.
func entriesOf(t *testing.T, fs afero.Fs, s *agent.Session) (out []string) {
	t.Helper()
	content, err := afero.ReadFile(fs, s.File())
	require.NoError(t, err)
	for line := range strings.Lines(string(content)) {
		typ, _ := rawjson.GetString([]byte(line), "type")
		switch typ {
		case "message":
			m, err := provider.DecodeMessage(rawjson.Get([]byte(line), "message"))
			require.NoError(t, err)
			out = append(out, strings.TrimSpace(fmt.Sprintf("%s %s %s %s", m.Role, m.StopReason, m.ErrorMessage, m.PlainText())))
		case "custom_message":
			content, _ := rawjson.GetString([]byte(line), "content")
			kind, _ := rawjson.GetString([]byte(line), "customType")
			out = append(out, fmt.Sprintf("custom_message %s %s %s %s\n%s", kind, rawjson.Get([]byte(line), "display"),
				rawjson.Get([]byte(line), "details"), rawjson.Get([]byte(line), "attribution"), content))
		case "ttsr_injection":
			out = append(out, "ttsr_injection "+string(rawjson.Get([]byte(line), "injectedRules")))
		}
	}
	return out
}

// An answer that matches a rule is stopped in its middle, kept in the file only, and the request is
// repeated with the rule: in the format of every service, and once in a session, also after a restart.
// Proves: X-034
func TestARuleStopsAnAnswerOnce(t *testing.T) {
	t.Parallel()
	for api := range clients {
		t.Run(string(api), func(t *testing.T) {
			t.Parallel()
			fs := afero.NewMemMapFs()
			rules := withRules(t, fs, "no-panic", rule(`condition: "panic\\("`, "Return errors."))
			s := newService(t, api)
			hold := make(chan struct{})
			t.Cleanup(func() { close(hold) })
			s.Script("m",
				providertest.Reply{Text: "panic(err), and more that never arrives because the service waits", Hold: hold},
				providertest.Reply{Text: "return err"}, providertest.Reply{Text: "panic(again)"})
			var ran []string
			w := newWorld(t, fs, withService(s), toolbox(&ran, "look"), rules)
			live := w.live(t, "/w")
			turn := prompt(t, live, "handle the error")
			assert.Equal(t, provider.StopEnd, turn.StopReason)
			require.Len(t, s.Requests(), 2)
			<-s.Requests()[0].Ended
			texts := func(r providertest.Request) (all []string) {
				for _, m := range r.Messages {
					all = append(all, m.Role+" "+m.PlainText())
				}
				return all
			}
			assert.Equal(t, []string{"user handle the error"}, texts(s.Requests()[0]))
			retried := strings.Join(texts(s.Requests()[1]), "\n") // some services get one message, others two
			assert.Equal(t, "user handle the error\n"+noPanic, strings.Replace(retried, "\nuser <", "\n<", 1), "without the stopped answer")
			entries := entriesOf(t, fs, live)
			require.Len(t, entries, 5)
			assert.True(t, strings.HasPrefix(entries[1], "assistant aborted TTSR matched rule: no-panic panic("), entries[1])
			assert.NotContains(t, entries[1], "arrives")
			assert.Equal(t, `custom_message ttsr-injection false {"rules":["no-panic"]} "agent"`+"\n"+noPanic, entries[2])
			assert.Equal(t, `ttsr_injection ["no-panic"]`, entries[3])
			assert.Equal(t, "assistant stop  return err", entries[4])
			assert.Equal(t, []string{"The answer was stopped because it matched the rule no-panic (.omp/rules/no-panic.md). The request is repeated with its text."}, notices(w))
			assert.Len(t, eventsOf[event.TurnStart](w), len(eventsOf[event.TurnEnd](w)))
			assert.Len(t, eventsOf[event.MessageStart](w), len(eventsOf[event.MessageEnd](w)))
			assert.Empty(t, eventsOf[event.RetryStart](w), "it is no failure")

			prompt(t, live, "again")
			assert.Len(t, s.Requests(), 3, "once in a session")
			path := live.File()
			require.NoError(t, w.Close(t.Context()))

			w = newWorld(t, fs, withService(s), toolbox(&ran, "look"), rules)
			live = w.live(t, "/w")
			_, err := live.Switch(t.Context(), path)
			require.NoError(t, err)
			s.Script("m", providertest.Reply{Text: "panic(3)"})
			prompt(t, live, "and again")
			assert.Len(t, s.Requests(), 4, "the record counts after a restart")
			_, err = live.Fork(t.Context())
			require.NoError(t, err)
			prompt(t, live, "in a fork")
			assert.Len(t, s.Requests(), 5, "and in a fork")
			_, err = live.New(t.Context(), session.NewOptions{})
			require.NoError(t, err)
			s.Script("m", providertest.Reply{Text: "panic(4)"}, providertest.Reply{Text: "fine"})
			prompt(t, live, "something else")
			assert.Len(t, s.Requests(), 7, "another session has no record")
			require.NoError(t, w.Close(t.Context()))
		})
	}
}

// A call that matches a rule is not run, whatever else is in the answer.
func TestARuleStopsACallBeforeItRuns(t *testing.T) {
	t.Parallel()
	write := func(path, content string) providertest.Call {
		return providertest.Call{Name: "write", Args: map[string]string{"path": path, "content": content}}
	}
	for name, tc := range map[string]struct {
		rule     string
		call     providertest.Call
		requests int // without the last one
	}{
		"any tool":          {rule("condition: 'console\\.log'", "Use the logger."), write("a.ts", "console.log(1)"), 2},
		"this tool":         {rule("condition: 'console\\.log'\nscope: tool:write(*.ts)", "Use the logger."), write("src/a.ts", "console.log(1)"), 2},
		"an absolute path":  {rule("condition: 'console\\.log'\nscope: 'tool:write(src/**)'", "Use the logger."), write("/w/src/a.ts", "console.log(1)"), 2},
		"shorthand":         {rule(`condition: "*.ts"`, "Use tabs."), write("src/a.ts", "x"), 2},
		"globs":             {rule("condition: x\nglobs: [\"*.ts\"]", "Use tabs."), write("src/a.ts", "x"), 2},
		"other files":       {rule("condition: x\nscope: tool:write(*.go)", "Use tabs."), write("src/a.ts", "x"), 1},
		"other globs":       {rule("condition: x\nglobs: \"*.go\"", "Use tabs."), write("src/a.ts", "x"), 1},
		"another tool":      {rule("condition: x\nscope: tool:edit", "Use tabs."), write("src/a.ts", "x"), 1},
		"text only":         {rule("condition: x\nscope: text", "Use tabs."), write("src/a.ts", "x"), 1},
		"prose-only":        {rule("condition: x\ninterruptMode: prose-only", "Use tabs."), write("src/a.ts", "x"), 1},
		"no path":           {rule("condition: a\\.ts\nscope: tool:write", "Use tabs."), write("src/a.ts", "x"), 1},
		"for other agents":  {rule("condition: x\nagents: scout, reviewer", "Use tabs."), write("src/a.ts", "x"), 1},
		"for the main one":  {rule("condition: x\nagents: [main]", "Use tabs."), write("src/a.ts", "x"), 2},
		"turned off":        {rule("condition: x\nenabled: false", "Use tabs."), write("src/a.ts", "x"), 1},
		"a lookahead":       {rule("condition: '(?=x)'", "Use tabs."), write("src/a.ts", "x"), 1},
		"one that compiles": {rule("condition: ['(?=x)', 'x']", "Use tabs."), write("src/a.ts", "x"), 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fs := afero.NewMemMapFs()
			m := scripted(providertest.Reply{Text: "I do it.", ToolCalls: []providertest.Call{{Name: "look"}, tc.call}}, providertest.Reply{Text: "fine."})
			var ran []string
			w := newWorld(t, fs, withModel(m), toolbox(&ran, "look", "write"), withRules(t, fs, "a-rule", tc.rule))
			live := w.live(t, "/w")
			prompt(t, live, "go")
			require.Len(t, m.Requests(), 2)
			if tc.requests == 2 {
				assert.Empty(t, ran)
				last := m.Requests()[1].Messages
				assert.Contains(t, last[len(last)-1].PlainText(), `<system-interrupt reason="rule_violation" rule="a-rule"`)
			} else {
				assert.ElementsMatch(t, []string{"look", "write"}, ran)
				assert.Equal(t, strings.Contains(tc.rule, "prose-only"), strings.Contains(fmt.Sprint(entriesOf(t, fs, live)), "ttsr"))
			}
			require.NoError(t, w.Close(t.Context()))
		})
	}
}

// A match that stops nothing reaches the model after the results of the calls, or with the next prompt.
func TestARuleThatStopsNothingIsAReminder(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	m := scripted(
		providertest.Reply{Text: "I am sorry.", ToolCalls: []providertest.Call{{Name: "look", Args: map[string]string{"path": "forbidden"}}}},
		providertest.Reply{Text: "The end is basically near."}, providertest.Reply{Text: "Fine."})
	var ran []string
	w := newWorld(t, fs, withModel(m), toolbox(&ran, "look"), withRules(t, fs,
		"call", rule("condition: forbidden\ninterruptMode: never", "Do not look there."),
		"said", rule("condition: basically\ninterruptMode: tool-only", "Say it.")))
	live := w.live(t, "/w")
	prompt(t, live, "go")
	assert.Equal(t, []string{"look"}, ran)
	require.Len(t, m.Requests(), 2)
	second := m.Requests()[1].Messages
	assert.Equal(t, provider.RoleToolResult, second[len(second)-2].Role)
	assert.Contains(t, second[len(second)-1].PlainText(), "<system-reminder reason=\"rule_violation\" rule=\"call\" path=\".omp/rules/call.md\">\nA user-defined rule matched this tool call's arguments.")
	assert.Contains(t, second[len(second)-1].PlainText(), "\n\nDo not look there.\n</system-reminder>")
	prompt(t, live, "and now?")
	third := m.Requests()[2].Messages
	assert.Contains(t, third[len(third)-2].PlainText(), `<system-interrupt reason="rule_violation" rule="said"`)
	assert.Equal(t, "and now?", third[len(third)-1].PlainText())
	assert.Empty(t, notices(w))
	require.NoError(t, w.Close(t.Context()))
}

// Rules cannot keep a turn from ending, however many match whatever the model answers.
func TestRulesStopATurnAFewTimes(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	var files []string
	for i := range 100 {
		files = append(files, fmt.Sprintf("r%03d", i), rule(fmt.Sprintf("condition: 'n%03d|all'", i), "No."))
	}
	m := &models{}
	for i := range 20 {
		m.Script("m", providertest.Reply{Text: fmt.Sprintf("n%03d.", i)})
	}
	m.Script("m", providertest.Reply{Text: "all."}, providertest.Reply{Text: "Fine."})
	w := newWorld(t, fs, withModel(m), withRules(t, fs, files...))
	live := w.live(t, "/w")
	turn := prompt(t, live, "go")
	assert.Equal(t, provider.StopEnd, turn.StopReason)
	assert.Len(t, m.Requests(), 9)
	assert.Len(t, notices(w), 8)
	require.NoError(t, w.Close(t.Context()))

	for i := 1; i < len(files); i += 2 {
		files[i] += strings.Repeat("a long rule ", 1000)
	}
	all := scripted(providertest.Reply{Text: "all."}, providertest.Reply{Text: "all."})
	again := afero.NewMemMapFs()
	w = newWorld(t, again, withModel(all), withRules(t, again, files...))
	live = w.live(t, "/w")
	prompt(t, live, "go")
	require.Len(t, all.Requests(), 2, "the rules of a turn have a length")
	sent := all.Requests()[1].Messages
	assert.Equal(t, 8, strings.Count(sent[len(sent)-1].PlainText(), "<system-interrupt "), "and a number")
	require.NoError(t, w.Close(t.Context()))
}

// The user's abort takes precedence: it ends the turn.
func TestAnAbortDuringAStopEndsTheTurn(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	m := scripted(providertest.Reply{Text: "panic(1)", Hold: make(chan struct{})}, providertest.Reply{Text: "fine"})
	w := newWorld(t, fs, withModel(m), withRules(t, fs, "no-panic", rule(`condition: "never said"`, "Return errors.")))
	live := w.live(t, "/w")
	shown := make(chan struct{}, 100)
	w.Subscribe(func(e agent.Event) {
		if _, ok := isText(e); ok {
			shown <- struct{}{}
		}
	})
	done := promptInBackground(t, live, "go")
	<-shown
	_, _, err := live.Abort(t.Context())
	require.NoError(t, err)
	assert.Equal(t, provider.StopAborted, (<-done).StopReason)
	assert.Len(t, m.Requests(), 1)
	assert.NotContains(t, fmt.Sprint(entriesOf(t, fs, live)), "ttsr")
	require.NoError(t, w.Close(t.Context()))
}

// A message that brought a rule counts without its record, which a crash may have prevented. Other
// messages and records that name no rule don't.
func TestARuleIsNotGivenTwiceAfterACrash(t *testing.T) {
	t.Parallel()
	line := func(kind, details string) string {
		return fmt.Sprintf(`{"type":"custom_message","customType":%q,"content":"x","display":false,"details":%s,"id":"bbbbbbbb","parentId":"aaaaaaaa","timestamp":"2026-01-01T00:00:01.000Z"}`, kind, details)
	}
	for name, tc := range map[string]struct {
		line     string
		requests int
	}{
		"message":         {line("ttsr-injection", `{"rules":["no-panic"]}`), 1},
		"record":          {entryLine("ttsr_injection", "bbbbbbbb", "aaaaaaaa", `"injectedRules":["other","no-panic"]`), 1},
		"another rule":    {line("ttsr-injection", `{"rules":["other"]}`), 2},
		"another message": {line("other", `{"rules":["no-panic"]}`), 2},
		"damaged message": {line("ttsr-injection", `{"rules":"no-panic"}`), 2},
		"damaged record":  {entryLine("ttsr_injection", "bbbbbbbb", "aaaaaaaa", `"injectedRules":{"0":"no-panic"}`), 2},
		"on another branch": {strings.Replace(entryLine("ttsr_injection", "dddddddd", "", `"injectedRules":["no-panic"]`)+"\n"+
			line("other", `{}`), "x", "y", 1), 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fs := afero.NewMemMapFs()
			path := filepath.Join(root, "sessions/--w--", "a.jsonl")
			require.NoError(t, fs.MkdirAll(filepath.Dir(path), 0o700))
			require.NoError(t, afero.WriteFile(fs, path, []byte(st.File(st.Header("0000a", "/w"), st.User("aaaaaaaa", "", "hi"), tc.line)), 0o600))
			m := scripted(providertest.Reply{Text: "panic(1)"}, providertest.Reply{Text: "fine"})
			w := newWorld(t, fs, withModel(m), withRules(t, fs, "no-panic", rule(`condition: "panic\\("`, "Return errors.")))
			live := w.live(t, "/w")
			_, err := live.Switch(t.Context(), path)
			require.NoError(t, err)
			prompt(t, live, "go")
			assert.Len(t, m.Requests(), tc.requests)
			require.NoError(t, w.Close(t.Context()))
		})
	}
}

// pi has no stream rules, and nothing is added to its sessions for them.
func TestSessionsOfPiHaveNoRules(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	path := "/home/u/.pi/agent/sessions/--w--/a.jsonl"
	require.NoError(t, fs.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(t, afero.WriteFile(fs, path, []byte(st.File(
		`{"type":"session","version":3,"id":"0199aaaa-0000-7000-8000-000000000001","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w"}`, st.User("cccccccc", "", "hi"),
	)), 0o600))
	m := scripted(providertest.Reply{Text: "panic(1)"})
	w := newWorld(t, fs, withModel(m), withRules(t, fs, "no-panic", rule(`condition: "panic\\("`, "Return errors.")), func(c *agent.Config) {
		c.Store = session.NewStore(session.StoreConfig{Fs: fs, DirFor: c.Finder.DirFor, RootFor: func(string) (session.FileRoot, bool) { return session.FileRoot{Dialect: session.Pi}, true }})
	})
	live := w.live(t, "/w")
	_, err := live.Switch(t.Context(), path)
	require.NoError(t, err)
	prompt(t, live, "go")
	assert.Len(t, m.Requests(), 1)
	assert.NotContains(t, fmt.Sprint(entriesOf(t, fs, live)), "ttsr")
	require.NoError(t, w.Close(t.Context()))
}
