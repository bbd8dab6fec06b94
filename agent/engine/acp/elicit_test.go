package acp_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/engine"
	"github.com/xcsh-ls/xcsh-ls/agent/event"
)

// answering is a host that answers questions.
type answering struct {
	*host
	questions []event.Question
	answers   []engine.Answer // one for each
}

func (a *answering) Ask(_ context.Context, q event.Question) engine.Answer {
	a.questions = append(a.questions, q)
	return a.answers[len(a.questions)-1]
}

func form(message, properties string) string {
	return `{"mode":"form","sessionId":"` + session + `","message":"` + message + `","requestedSchema":{"type":"object","properties":` + properties + `}}`
}

// omp is started so that it asks for everything that runs something, whatever the user's own arguments are.
func TestOmpIsMadeToAsk(t *testing.T) {
	t.Parallel()
	for want, args := range map[string][]string{
		"--approval-mode always-ask acp":                                       nil,
		"cli.js --approval-mode yolo --approval-mode always-ask acp":           {"cli.js", "--approval-mode", "yolo"},
		"cli.js --approval-mode yolo --approval-mode always-ask acp --verbose": {"cli.js", "--approval-mode", "yolo", "acp", "--verbose"},
	} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorldOf(t, engine.Program{Name: "omp", Path: "/bin/omp", Args: args, Protocol: engine.ACP})
			o := w.opening()
			m := w.agent.expect("initialize")
			require.Contains(t, string(m.Params), `"elicitation":{"form":{}}`)
			require.Equal(t, want, strings.Join(w.agent.config.Args, " "))
			w.agent.refuse(m, -32603, "no")
			require.Error(t, (<-o).err)
		})
	}
}

// A form with the buttons of a permission is one: the mode of the session decides.
func TestAFormThatAsksForPermission(t *testing.T) {
	t.Parallel()
	const buttons = `{"value":{"type":"string","enum":["Approve","Deny"]}}`
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "omp")
		w.place.File, w.place.ID = "/sessions/2026_"+session+".jsonl", session
		w.openNative()
		ask := form(`Allow tool: eval\nCode:\nrm()`, buttons)
		require.JSONEq(t, `{"action":"accept","content":{"value":"Deny"}}`, string(w.agent.ask("elicitation/create", ask).Result), "no turn runs")
		require.Empty(t, w.host.asked)
		run := w.prompt("go")
		require.JSONEq(t, `{"action":"accept","content":{"value":"Approve"}}`, string(w.agent.ask("elicitation/create", ask).Result))
		w.agent.update(`{"sessionUpdate":"tool_call","toolCallId":"c","kind":"execute","rawInput":{"code":"rm()"}}`)
		w.host.permit = func(context.Context, engine.Call) error { return errNo }
		require.JSONEq(t, `{"action":"accept","content":{"value":"Deny"}}`, string(w.agent.ask("elicitation/create", ask).Result))
		w.agent.answer(run.m, `{"stopReason":"end_turn"}`)
		<-run.out
		require.Len(t, w.host.asked, 2)
		require.Equal(t, []any{"eval", engine.Runs, `{"message":"Allow tool: eval\nCode:\nrm()"}`}, []any{w.host.asked[0].Tool, w.host.asked[0].Effect, string(w.host.asked[0].Args)})
		require.Equal(t, []any{"c", "eval", `{"code":"rm()"}`}, []any{w.host.asked[1].ID, w.host.asked[1].Tool, string(w.host.asked[1].Args)})
	})
}

// A change of a file is asked for when it is written, with the change. What only looks like one is asked for here.
func TestAFormThatAsksForAChange(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "omp")
		w.place.File, w.place.ID = "/sessions/2026_"+session+".jsonl", session
		w.openNative()
		w.host.permit = func(context.Context, engine.Call) error { return errNo }
		w.prompt("go")
		for message, want := range map[string]string{
			`Allow tool: write\nPath: main.go\nContent:\nPath: x://y`:          "Approve",
			`Allow tool: write\nPath: /home/dev/a b.go\nContent:\n`:            "Approve",
			`Allow tool: edit\nFile: main.go\nFile: go.mod`:                    "Approve",
			`Allow tool: write\nPath: xd://mcp__t_poke\nContent:\n{}`:          "Deny",
			`Allow tool: write\nPath: [xd://mcp__t_poke#AB]\nContent:\n{}`:     "Deny",
			`Allow tool: write\nPath: a.zip:main.go\nContent:\n`:               "Deny",
			`Allow tool: write\nPath: a[…9ch elided…]\nContent:\n`:             "Deny",
			`Allow tool: write\nReason: odd\nPath: main.go\nContent:\n`:        "Deny",
			`Allow tool: write\nPath: a\nPath: xd://mcp__t_poke\nContent:\n{}`: "Deny",
			`Allow tool: write\nPath: main.go`:                                 "Deny",
			`Allow tool: edit\nFile: main.go\nFile: ssh://h/x`:                 "Deny",
			`Allow tool: edit\nFile: (unknown)`:                                "Deny",
			`Allow tool: edit`:                                                 "Deny",
			`Allow tool: bash\nPath: main.go\nContent:\n`:                      "Deny",
		} {
			require.JSONEq(t, `{"action":"accept","content":{"value":"`+want+`"}}`,
				string(w.agent.ask("elicitation/create", form(message, `{"value":{"type":"string","enum":["Approve","Deny"]}}`)).Result), message)
		}
	})
}

// The tool that the question names is the one that a permission for the session is about.
func TestTheToolOfAForm(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "omp")
		w.place.File, w.place.ID = "/sessions/2026_"+session+".jsonl", session
		w.openNative()
		w.prompt("go")
		for _, tc := range [][2]string{
			{`Allow tool: eval\nCode:\n`, "eval"},
			{`Allow tool: mcp__t_poke\nOrigin: MCP server tool`, "mcp__t_poke"},
			{`Allow tool: write\nPath: xd://mcp__t_poke\nContent:\n{}`, "mcp__t_poke"},
			{`Allow tool: write\nPath: ssh://h/x\nContent:\n{}`, "tool"},
			{`Allow tool: two words`, "tool"},
			{`Something else`, "tool"},
		} {
			w.agent.ask("elicitation/create", form(tc[0], `{"value":{"type":"string","enum":["Approve","Deny"]}}`))
			require.Equal(t, tc[1], w.host.asked[len(w.host.asked)-1].Tool, tc[0])
		}
	})
}

// Other forms are questions, one for each field.
func TestForms(t *testing.T) {
	t.Parallel()
	const choice, free, multi = `{"type":"string","title":"Which?","oneOf":[{"const":"a"},{"const":"b"}]}`, `{"type":"string","title":"Other"}`, `{"type":"array","items":{"anyOf":[]}}`
	no := engine.Answer{Cancelled: true}
	for name, tc := range map[string]struct {
		properties string
		answers    []engine.Answer
		asked      string
		want       string
	}{
		"a choice":           {`{"value":{"type":"string","enum":["a","b"]}}`, []engine.Answer{{Value: "b"}}, "select", `{"action":"accept","content":{"value":"b"}}`},
		"yes or no":          {`{"value":{"type":"boolean"}}`, []engine.Answer{{}}, "confirm", `{"action":"accept","content":{"value":false}}`},
		"a text":             {`{"value":{"type":"string"}}`, []engine.Answer{{Value: "x"}}, "input", `{"action":"accept","content":{"value":"x"}}`},
		"no answer":          {`{"value":{"type":"string"}}`, []engine.Answer{no}, "input", `{"action":"cancel"}`},
		"one of several":     {`{"q0":` + choice + `,"q0__other":` + free + `,"q1":` + multi + `}`, []engine.Answer{{Value: "a"}}, "select", `{"action":"accept","content":{"q0":"a"}}`},
		"none of several":    {`{"q0":` + choice + `,"q0__other":` + free + `}`, []engine.Answer{no, {Value: "c"}}, "select input", `{"action":"accept","content":{"q0__other":"c"}}`},
		"several, given up":  {`{"q0":` + choice + `,"q0__other":` + free + `}`, []engine.Answer{no, no}, "select input", `{"action":"cancel"}`},
		"nothing that works": {`{"q0":` + multi + `}`, nil, "", `{"action":"cancel"}`},
		"no form":            {`7`, nil, "", `{"action":"cancel"}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, "omp")
				w.place.File, w.place.ID = "/sessions/2026_"+session+".jsonl", session
				h := &answering{host: w.host, answers: tc.answers}
				w.seat = h
				w.openNative()
				require.JSONEq(t, tc.want, string(w.agent.ask("elicitation/create", form("Title", tc.properties)).Result))
				var methods []string
				for _, q := range h.questions {
					methods = append(methods, q.Method)
				}
				require.Equal(t, tc.asked, strings.Join(methods, " "))
			})
		})
	}
}

// Agents that no form was offered to, and other sessions, get none.
func TestFormsThatAreRefused(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := ready(t, "claude")
		require.NotNil(t, w.agent.ask("elicitation/create", form("Title", `{"value":{"type":"string"}}`)).Error)
	})
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "omp")
		w.place.File, w.place.ID = "/sessions/2026_"+session+".jsonl", session
		w.openNative()
		require.NotNil(t, w.agent.ask("elicitation/create", strings.Replace(form("Title", `{}`), session, "x", 1)).Error)
		require.NotNil(t, w.agent.ask("elicitation/create", strings.Replace(form("Title", `{}`), "form", "url", 1)).Error)
		require.NotNil(t, w.agent.ask("elicitation/create", `[]`).Error)
	})
}

// openNative opens the engine on the file of the place.
func (w *world) openNative() {
	w.Helper()
	o := w.opening()
	w.agent.answer(w.agent.expect("initialize"), greeted)
	w.agent.answer(w.agent.expect("session/resume"), begun)
	require.NoError(w, (<-o).err)
	w.host.notes()
}
