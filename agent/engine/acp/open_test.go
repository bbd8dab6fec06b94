package acp_test

import (
	"context"
	"encoding/json"
	"io/fs"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/engine"
	"github.com/xcsh-ls/xcsh-ls/agent/engine/acp"
	"github.com/xcsh-ls/xcsh-ls/agent/engine/child"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

func TestConversationsAreContinued(t *testing.T) {
	t.Parallel()
	const capable = `{"protocolVersion":1,"agentCapabilities":{"loadSession":true}}`
	for name, tc := range map[string]struct {
		greeting string
		method   string
		refuse   bool
		notice   string
		session  string
	}{
		"resumed":     {greeted, "session/resume", false, "", "earlier"},
		"loaded":      {capable, "session/load", false, "", "earlier"},
		"forgotten":   {greeted, "session/resume", true, "x starts a new conversation; it does not remember the messages above.", session},
		"not offered": {`{"protocolVersion":1}`, "", false, "x starts a new conversation; it does not remember the messages above.", session},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, "x")
				w.place.Session, w.place.Permit = "earlier", false
				o := w.opening()
				w.agent.answer(w.agent.expect("initialize"), tc.greeting)
				if tc.method != "" {
					m := w.agent.expect(tc.method)
					require.JSONEq(t, `{"sessionId":"earlier","cwd":"`+cwd+`","mcpServers":[]}`, string(m.Params))
					w.agent.updateOf("earlier", `{"sessionUpdate":"user_message_chunk","content":{"type":"text","text":"replayed"}}`)
					w.agent.updateOf("earlier", `{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"replayed"}}`)
					w.agent.updateOf("earlier", `{"sessionUpdate":"tool_call","toolCallId":"c"}`)
					w.agent.updateOf("earlier", `{"sessionUpdate":"plan","entries":[{"content":"x"}]}`)
					if tc.refuse {
						w.agent.refuse(m, -32002, "no such session")
					} else {
						w.agent.answer(m, `{}`)
					}
				}
				if tc.session == session {
					w.agent.answer(w.agent.expect("session/new"), begun)
				}
				r := <-o
				require.NoError(t, r.err)
				require.Equal(t, tc.session, r.Session)
				require.Empty(t, r.File)
				if tc.notice != "" {
					require.Equal(t, []string{tc.notice}, r.Notices)
				} else {
					require.Empty(t, r.Notices)
				}
				require.Empty(t, w.host.notes(), "a replay is dropped")
			})
		})
	}
}

func TestANativeSession(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "omp")
		w.place.File, w.place.ID = "/sessions/2026_"+session+".jsonl", session
		o := w.opening()
		w.agent.answer(w.agent.expect("initialize"), greeted)
		m := w.agent.expect("session/resume")
		require.Contains(t, string(m.Params), session)
		w.agent.answer(m, begun)
		r := <-o
		require.NoError(t, r.err)
		require.Equal(t, w.place.File, r.File)
		require.Empty(t, r.Session)
		require.True(t, r.Loose)
		require.Equal(t, []string{"--approval-mode", "always-ask", "acp"}, w.agent.config.Args)
		require.Equal(t, engine.Can{Steer: true, Compact: true, Images: true, Files: true, Permission: true, Models: true}, w.e.Can())
		done := make(chan error)
		go func() { done <- w.e.Reread(t.Context()) }()
		w.agent.answer(w.agent.expect("session/close"), `{}`)
		w.agent.answer(w.agent.expect("session/resume"), begun)
		require.NoError(t, <-done)
	})
}

// A native session that cannot be found again is not used; one that cannot be resumed is not replaced by another.
func TestANativeSessionThatIsLost(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "omp")
		o := w.opening()
		w.agent.answer(w.agent.expect("initialize"), greeted)
		w.agent.answer(w.agent.expect("session/new"), begun)
		require.EqualError(t, (<-o).err, "omp keeps its session elsewhere than in /sessions, where it would be found again.")
		<-w.e.Done()

		w = newWorld(t, "omp")
		o = w.opening()
		w.agent.answer(w.agent.expect("initialize"), greeted)
		w.agent.answer(w.agent.expect("session/new"), `{"sessionId":"../../etc/passwd"}`)
		require.ErrorContains(t, (<-o).err, "which no session file has")

		w = newWorld(t, "omp")
		w.place.File, w.place.ID = "/sessions/2026_"+session+".jsonl", session
		o = w.opening()
		w.agent.answer(w.agent.expect("initialize"), greeted)
		w.agent.refuse(w.agent.expect("session/resume"), -32603, "Internal error")
		require.EqualError(t, (<-o).err, "omp: Internal error.")
	})
}

// Rows 1, 2, 4, 6 and 10.
func TestStartsThatFail(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		play func(w *world)
		want string
	}{
		"it ends": {func(w *world) {
			w.agent.expect("initialize")
			w.agent.die(child.Exit{Code: 1}, "Error: Model \"x\" not found\n")
		}, `claude exited with code 1: Error: Model "x" not found.`},
		"it is silent": {func(w *world) { w.agent.expect("initialize") }, "claude did not answer in time (initialize)."},
		"another version": {
			func(w *world) { w.agent.answer(w.agent.expect("initialize"), `{"protocolVersion":2}`) },
			"claude speaks version 2 of the Agent Client Protocol; only version 1 is supported.",
		},
		"an odd answer": {
			func(w *world) { w.agent.answer(w.agent.expect("initialize"), `[{"protocolVersion":1}]`) },
			"claude speaks version 0 of the Agent Client Protocol; only version 1 is supported.",
		},
		"no id": {func(w *world) {
			w.agent.answer(w.agent.expect("initialize"), greeted)
			w.agent.answer(w.agent.expect("session/new"), `{"sessionId":"a\nb"}`)
		}, "claude opened a session without a valid id."},
		"no login": {func(w *world) {
			w.agent.answer(w.agent.expect("initialize"), greeted)
			w.agent.refuse(w.agent.expect("session/new"), -32000, "Authentication required")
		}, "claude needs a login: Authentication required."},
		"a reason in the data": {func(w *world) {
			w.agent.answer(w.agent.expect("initialize"), greeted)
			w.agent.raw(`{"id":` + string(w.agent.expect("session/new").ID) + `,"error":{"code":-32603,"message":"Internal error","data":{"details":"disk full"}}}`)
		}, "claude: Internal error: disk full."},
		"no protocol": {func(w *world) {
			w.agent.expect("initialize")
			for range 200 {
				w.agent.raw("Welcome!")
			}
		}, "claude was ended: it does not speak the Agent Client Protocol."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, "claude")
				o := w.opening()
				tc.play(w)
				r := <-o
				require.EqualError(t, r.err, tc.want)
				require.True(t, fault.Is(r.err, fault.Provider))
				<-w.e.Done()
			})
		})
	}
}

func TestProgramsThatDoNotStart(t *testing.T) {
	t.Parallel()
	for want, err := range map[string]error{
		"claude is not installed any more (was at /bin/agent).": fs.ErrNotExist,
		"claude cannot be started: exec format error":           errFormat,
	} {
		e := acp.New(engine.Program{Name: "claude", Path: "/bin/agent"}, acp.Options{
			Start: func(context.Context, child.Config) (acp.Process, error) { return nil, err },
		})
		_, got := e.Open(t.Context(), engine.Place{Cwd: cwd}, newHost(afero.NewMemMapFs()))
		require.EqualError(t, got, want)
		<-e.Done()
		require.Error(t, e.Run(t.Context(), engine.Input{Text: "x"}).Err)
	}
}

var errFormat error = errorString("exec format error")

type errorString string

func (e errorString) Error() string { return string(e) }

// The way to log in that an agent announces for a terminal is a command; others are not, and the catalog's stands.
func TestTheCommandThatLogsIn(t *testing.T) {
	t.Parallel()
	for methods, want := range map[string][]string{
		`[{"id":"x"},{"id":"claude-login","type":"terminal","args":["--cli"]}]`: {"/bin/agent", "main.js", "--cli"},
		`[{"id":"api-key"}]`:                {"claude", "/login"},
		`[{"type":"terminal","args":"rm"}]`: {"/bin/agent", "main.js"},
		`7`:                                 {"claude", "/login"},
	} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorldOf(t, engine.Program{Name: "claude", Path: "/bin/agent", Args: []string{"main.js"}, Protocol: engine.ACP, Login: []string{"claude", "/login"}})
			o := w.opening()
			w.agent.answer(w.agent.expect("initialize"), `{"protocolVersion":1,"authMethods":`+methods+`}`)
			w.agent.answer(w.agent.expect("session/new"), begun)
			r := <-o
			require.NoError(t, r.err)
			require.Equal(t, want, r.Login)
			require.True(t, w.e.Can().Login)
		})
	}
}

func TestServersOfTheClient(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "claude")
		for _, s := range []string{`{"name":"a","command":"/x","args":[],"env":[]}`, `{"type":"http","name":"b","url":"http://x"}`, `{"type":"sse","name":"c","url":"http://x"}`} {
			w.place.MCPServers = append(w.place.MCPServers, json.RawMessage(s))
		}
		o := w.opening()
		w.agent.answer(w.agent.expect("initialize"), greeted)
		m := w.agent.expect("session/new")
		require.JSONEq(t, `{"cwd":"`+cwd+`","mcpServers":[{"name":"a","command":"/x","args":[],"env":[]},{"type":"http","name":"b","url":"http://x"}]}`, string(m.Params))
		w.agent.answer(m, begun)
		require.NoError(t, (<-o).err)
	})
}

func TestModelsAndModes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "claude")
		w.place.Model, w.place.Thinking = "claude/haiku", "high"
		o := w.opening()
		w.agent.answer(w.agent.expect("initialize"), greeted)
		w.agent.answer(w.agent.expect("session/new"), `{"sessionId":"`+session+`","modes":{"currentModeId":"acceptEdits","availableModes":[{"id":"default","name":"Manual"},{"id":"acceptEdits","name":"Accept edits"}]},`+
			begun[len(`{"sessionId":"`+session+`","modes":{"currentModeId":"default","availableModes":[{"id":"default","name":"Manual"},{"id":"acceptEdits","name":"Accept edits"}]},`):])
		m := w.agent.expect("session/set_mode")
		require.JSONEq(t, `{"sessionId":"`+session+`","modeId":"default"}`, string(m.Params))
		w.agent.answer(m, `{}`)
		m = w.agent.expect("session/set_config_option")
		require.JSONEq(t, `{"sessionId":"`+session+`","configId":"model","value":"haiku"}`, string(m.Params))
		w.agent.answer(m, `{}`)
		m = w.agent.expect("session/set_config_option")
		require.JSONEq(t, `{"sessionId":"`+session+`","configId":"effort","value":"high"}`, string(m.Params))
		w.agent.answer(m, `{}`)
		r := <-o
		require.NoError(t, r.err)
		require.Equal(t, provider.Ref{Provider: "claude", ID: "haiku"}, r.Model)
		require.Equal(t, provider.High, r.Thinking)

		models, err := w.e.Models(t.Context())
		require.NoError(t, err)
		require.Len(t, models, 2)
		require.Equal(t, "claude/opus", models[0].Ref().String())
		require.True(t, models[0].Available)
		_, err = w.e.SetModel(t.Context(), provider.Ref{Provider: "claude", ID: "none"})
		require.True(t, fault.Is(err, fault.InvalidArgument))
		_, err = w.e.SetThinking(t.Context(), "max")
		require.True(t, fault.Is(err, fault.InvalidArgument), "row 36")

		w.host.notes()
		w.agent.update(`{"sessionUpdate":"current_mode_update","currentModeId":"acceptEdits"}`)
		w.agent.update(`{"sessionUpdate":"current_mode_update","currentModeId":"acceptEdits"}`)
		w.agent.update(`{"sessionUpdate":"config_option_update","configOptions":[{"id":"model","category":"model","currentValue":"opus","options":[{"value":"opus","name":"Opus"}]}]}`)
		w.agent.update(`{"sessionUpdate":"session_info_update","title":"A title\u001b[2J"}`)
		w.agent.update(`{"sessionUpdate":"session_info_update","updatedAt":"x"}`)
		pass(time.Second)
		require.Equal(t, `{"type":"notice","text":"claude is in the mode “Accept edits” now, and asks for permission as that mode says."}
{"type":"model_changed","model":{"provider":"claude","id":"opus"}}
{"type":"thinking_level_changed"}
{"type":"session_info_changed","name":"A title\\u001b[2J"}`, w.host.notes())
	})
}
