package acp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/engine"
	"github.com/xcsh-ls/xcsh-ls/agent/tool"
)

const options = `[{"optionId":"yes!","name":"Always","kind":"allow_always"},{"optionId":"yes","name":"Yes","kind":"allow_once"},{"optionId":"no!","name":"Never","kind":"reject_always"},{"optionId":"no","name":"No","kind":"reject_once"}]`

func permission(call, options string) string {
	return `{"sessionId":"` + session + `","toolCall":` + call + `,"options":` + options + `}`
}

// What the user is asked, and what the agent gets.
func TestPermission(t *testing.T) {
	t.Parallel()
	const path = cwd + "/main.go"
	diff := func(old, now string) string {
		return `{"toolCallId":"c","kind":"edit","rawInput":{"file_path":"` + path + `"},"content":[{"type":"diff","path":"` + path + `","oldText":` + old + `,"newText":` + now + `}]}`
	}
	for name, tc := range map[string]struct {
		call   string
		tool   string
		effect engine.Effect
		path   string
		before string
		want   string // of Apply; "-" for none, "!" for an error
	}{
		"a command":           {`{"toolCallId":"c","kind":"execute","rawInput":{"command":"ls"}}`, "bash", engine.Runs, "", "", "-"},
		"an unknown tool":     {`{"toolCallId":"c","name":"mcp","kind":"other"}`, "mcp", engine.Runs, "", "", "-"},
		"a new file":          {diff(`null`, `"new"`), "write", engine.Changes, path, "", "new"},
		"a whole file":        {diff(`"old"`, `"new"`), "edit", engine.Changes, path, "old", "new"},
		"a part":              {diff(`"old"`, `"new"`), "edit", engine.Changes, path, "an old text", "an new text"},
		"a part that is gone": {diff(`"old"`, `"new"`), "edit", engine.Changes, path, "text", "!"},
		"a part that occurs twice": {
			diff(`"old"`, `"new"`), "edit", engine.Changes, path, "old old", "!",
		},
		"an empty part of a file": {diff(`""`, `"new"`), "edit", engine.Changes, path, "text", "!"},
		"two parts": {
			`{"toolCallId":"c","kind":"edit","content":[{"type":"diff","path":"` + path + `","oldText":"1","newText":"one"},{"type":"diff","path":"` + path + `","oldText":"2","newText":"two"}]}`,
			"edit", engine.Changes, path, "1 2", "one two",
		},
		"two files": {
			`{"toolCallId":"c","kind":"edit","content":[{"type":"diff","path":"/a","newText":"1"},{"type":"diff","path":"/b","newText":"2"}]}`, "edit", engine.Runs, "", "", "-",
		},
		"a relative path": {`{"toolCallId":"c","kind":"edit","content":[{"type":"diff","path":"main.go","newText":"1"}]}`, "write", engine.Runs, "", "", "-"},
		"a change beside a command": {
			`{"toolCallId":"c","kind":"execute","rawInput":{"command":"rm -rf /"},"content":[{"type":"diff","path":"` + path + `","newText":"1"}]}`, "bash", engine.Runs, "", "", "-",
		},
		"a path out of the folder": {
			`{"toolCallId":"c","kind":"edit","content":[{"type":"diff","path":"` + cwd + `/../../x","newText":"1"}]}`, "write", engine.Changes, "/home/x", "", "1",
		},
		"a read":             {`{"toolCallId":"c","kind":"read","locations":[{"path":"` + path + `"}]}`, "read", engine.Reads, "", "", "-"},
		"a read elsewhere":   {`{"toolCallId":"c","kind":"read","locations":[{"path":"` + path + `"},{"path":"/etc/passwd"}]}`, "read", engine.Runs, "", "", "-"},
		"a read of anything": {`{"toolCallId":"c","kind":"read"}`, "read", engine.Runs, "", "", "-"},
		"a search":           {`{"toolCallId":"c","kind":"search","locations":[{"path":"` + cwd + `/../other"}]}`, "search", engine.Runs, "", "", "-"},
		"odd members":        {`{"toolCallId":"c","kind":5,"content":{},"rawInput":[],"locations":7}`, "tool", engine.Runs, "", "", "-"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, allow := range []bool{true, false} {
				synctest.Test(t, func(t *testing.T) {
					w := ready(t, "claude")
					require.NoError(t, afero.WriteFile(w.fs, path, []byte(tc.before), 0o600))
					r := w.prompt("one")
					want := `{"outcome":{"outcome":"selected","optionId":"yes"}}`
					if !allow {
						want = `{"outcome":{"outcome":"selected","optionId":"no"}}`
						w.host.permit = func(context.Context, engine.Call) error { return errNo }
					}
					got := w.agent.ask("session/request_permission", permission(tc.call, options))
					require.JSONEq(t, want, string(got.Result))
					require.Len(t, w.host.asked, 1)
					asked := w.host.asked[0]
					require.Equal(t, []any{"c", tc.tool, tc.effect, tc.path}, []any{asked.ID, asked.Tool, asked.Effect, asked.Path})
					require.True(t, json.Valid(asked.Args))
					require.Equal(t, tc.want == "-", asked.Apply == nil)
					if tc.want != "-" {
						b, err := asked.Apply(tool.File{Content: []byte(tc.before), Exists: tc.before != ""})
						require.Equal(t, tc.want == "!", err != nil)
						if err == nil {
							require.Equal(t, tc.want, string(b))
						}
					}
					w.agent.answer(r.m, ended)
					<-r.out
				})
			}
		})
	}
}

// Permission is never given for more than one call.
func TestPermissionForOneCallOnly(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := ready(t, "claude")
		w.prompt("one")
		got := w.agent.ask("session/request_permission", permission(`{"toolCallId":"c"}`, `[{"optionId":"yes!","kind":"allow_always"}]`))
		require.JSONEq(t, `{"outcome":{"outcome":"cancelled"}}`, string(got.Result))
		got = w.agent.ask("session/request_permission", permission(`{"toolCallId":"d"}`, `7`))
		require.JSONEq(t, `{"outcome":{"outcome":"cancelled"}}`, string(got.Result))
	})
}

func TestPermissionWithoutARun(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := ready(t, "claude")
		got := w.agent.ask("session/request_permission", permission(`{"toolCallId":"c"}`, options))
		require.JSONEq(t, `{"outcome":{"outcome":"cancelled"}}`, string(got.Result))
		w.prompt("one")
		got = w.agent.ask("session/request_permission", `{"sessionId":"other","toolCall":{"toolCallId":"c"},"options":`+options+`}`)
		require.Equal(t, -32602, got.Error.Code)
		got = w.agent.ask("session/request_permission", permission(`{}`, options))
		require.Equal(t, -32602, got.Error.Code)
		require.Empty(t, w.host.asked)
	})
}

// Row 29: an abort takes questions back, and later ones are not asked.
// Proves: EF-29
func TestPermissionAndAbort(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := ready(t, "claude")
		w.host.permit = func(ctx context.Context, _ engine.Call) error {
			<-ctx.Done()
			return ctx.Err()
		}
		r := w.prompt("one")
		w.agent.request("session/request_permission", permission(`{"toolCallId":"c"}`, options))
		pass(24 * time.Hour) // users take their time
		r.cancel()
		synctest.Wait()
		got := []string{}
		for range 2 {
			m := <-w.agent.got
			got = append(got, m.Method+string(m.Result))
		}
		require.ElementsMatch(t, []string{"session/cancel", `{"outcome":{"outcome":"cancelled"}}`}, got)
		m := w.agent.ask("session/request_permission", permission(`{"toolCallId":"d"}`, options))
		require.JSONEq(t, `{"outcome":{"outcome":"cancelled"}}`, string(m.Result))
		m = w.agent.ask("fs/write_text_file", `{"sessionId":"`+session+`","path":"`+cwd+`/x","content":"x"}`)
		require.Equal(t, -32800, m.Error.Code)
		w.agent.answer(r.m, `{"stopReason":"cancelled"}`)
		<-r.out
		require.Len(t, w.host.asked, 1)
		exists, err := afero.Exists(w.fs, cwd+"/x")
		require.NoError(t, err)
		require.False(t, exists)
	})
}

// A change that the agent made without a question is reported once.
func TestChangesWithoutAQuestion(t *testing.T) {
	t.Parallel()
	for kind, want := range map[string]string{"edit": `{"type":"notice","text":"claude changed main.go without asking, as its own settings allow."}`, "execute": ""} {
		synctest.Test(t, func(t *testing.T) {
			w := ready(t, "claude")
			r := w.prompt("one")
			w.agent.update(fmt.Sprintf(`{"sessionUpdate":"tool_call","toolCallId":"c","kind":%q,"status":"completed","locations":[{"path":"%s/main.go"}]}`, kind, cwd))
			w.agent.answer(r.m, ended)
			<-r.out
			if want == "" {
				require.NotContains(t, w.host.notes(), "notice")
			} else {
				require.Contains(t, w.host.notes(), want)
			}
		})
	}
}
