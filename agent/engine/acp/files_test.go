package acp_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/acp/wire"
	"github.com/xcsh-ls/xcsh-ls/agent/engine"
	"github.com/xcsh-ls/xcsh-ls/agent/engine/acp"
	"github.com/xcsh-ls/xcsh-ls/agent/engine/child"
)

func TestReadsOfTheAgent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := ready(t, "claude")
		w.host.open[cwd+"/open.txt"] = "1\n2\n3"
		require.NoError(t, afero.WriteFile(w.fs, cwd+"/disk.txt", []byte("disk\n"), 0o600))
		require.NoError(t, afero.WriteFile(w.fs, cwd+"/image.png", []byte("\xff\xfe"), 0o600))
		read := func(more string) wire.Envelope {
			return w.agent.ask("fs/read_text_file", `{"sessionId":"`+session+`",`+more+`}`)
		}
		for more, want := range map[string]string{
			`"path":"` + cwd + `/open.txt"`:                       "1\n2\n3",
			`"path":"` + cwd + `/x/../open.txt"`:                  "1\n2\n3",
			`"path":"` + cwd + `/open.txt","line":2`:              "2\n3",
			`"path":"` + cwd + `/open.txt","line":2,"limit":1`:    "2\n",
			`"path":"` + cwd + `/open.txt","limit":9`:             "1\n2\n3",
			`"path":"` + cwd + `/open.txt","limit":0`:             "1\n2\n3",
			`"path":"` + cwd + `/open.txt","line":99,"limit":1`:   "",
			`"path":"` + cwd + `/open.txt","line":-5,"limit":-1`:  "1\n2\n3",
			`"path":"` + cwd + `/open.txt","line":"x","limit":{}`: "1\n2\n3",
			`"path":"` + cwd + `/disk.txt","line":null`:           "disk\n",
		} {
			var got wire.ReadFileResult
			require.NoError(t, json.Unmarshal(read(more).Result, &got), more)
			require.Equal(t, want, got.Content, more)
		}
		for more, code := range map[string]int{
			`"path":"` + cwd + `/none"`:      -32002,
			`"path":"open.txt"`:              -32602,
			`"path":7`:                       -32602,
			`"path":"/a\u0000b"`:             -32602,
			`"path":"` + cwd + `/image.png"`: -32602,
		} {
			require.Equal(t, code, read(more).Error.Code, more)
		}
		m := w.agent.ask("fs/read_text_file", `{"sessionId":"other","path":"`+cwd+`/open.txt"}`)
		require.Equal(t, -32602, m.Error.Code)
	})
}

func (w *world) write(path, text string) wire.Envelope {
	b, _ := json.Marshal(text)
	return w.agent.ask("fs/write_text_file", `{"sessionId":"`+session+`","path":"`+path+`","content":`+string(b)+`}`)
}

// Every write is shown first, and only what was shown is written.
func TestWritesOfTheAgent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := ready(t, "omp-like")
		w.host.open[cwd+"/open.txt"] = "before\n"
		require.NoError(t, afero.WriteFile(w.fs, cwd+"/open.txt", []byte("on disk\n"), 0o600))
		require.Contains(t, w.write(cwd+"/x", "x").Error.Message, "no turn is running")
		r := w.prompt("one")
		w.agent.update(`{"sessionUpdate":"tool_call","toolCallId":"c","kind":"edit","rawInput":{"path":"open.txt"}}`)
		require.Equal(t, "null", string(w.write(cwd+"/open.txt", "after\n").Result))
		require.Equal(t, "after\n", w.host.open[cwd+"/open.txt"])
		disk, err := afero.ReadFile(w.fs, cwd+"/open.txt")
		require.NoError(t, err)
		require.Equal(t, "on disk\n", string(disk), "the user saves it")

		require.Equal(t, "null", string(w.write(cwd+"/sub/new.txt", "new\n").Result))
		disk, err = afero.ReadFile(w.fs, cwd+"/sub/new.txt")
		require.NoError(t, err)
		require.Equal(t, "new\n", string(disk))

		require.Equal(t, "null", string(w.write(cwd+"/../../outside", "x").Result))
		require.Equal(t, "/home/outside", w.host.asked[2].Path, "the gate is asked about the file itself")

		w.host.permit = func(context.Context, engine.Call) error { return errNo }
		require.Contains(t, w.write(cwd+"/open.txt", "again\n").Error.Message, "no")
		require.Equal(t, "after\n", w.host.open[cwd+"/open.txt"])
		for _, c := range w.host.asked {
			require.Equal(t, engine.Changes, c.Effect)
		}
		require.Equal(t, "c", w.host.asked[0].ID)
		require.Len(t, w.host.asked, 4)

		for params, code := range map[string]int{
			`{"sessionId":"other","path":"/x","content":""}`:          -32602,
			`{"sessionId":"` + session + `","path":"/x"}`:             -32602,
			`{"sessionId":"` + session + `","path":"x","content":""}`: -32602,
			`[]`: -32602,
		} {
			require.Equal(t, code, w.agent.ask("fs/write_text_file", params).Error.Code, params)
		}
		w.agent.answer(r.m, ended)
		<-r.out
	})
}

// An agent that asked for one text and writes another one writes nothing.
func TestAWriteThatWasNotShown(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := ready(t, "claude")
		w.prompt("one")
		got := w.agent.ask("session/request_permission", permission(`{"toolCallId":"c","kind":"edit","content":[{"type":"diff","path":"`+cwd+`/x","newText":"shown"}]}`, options))
		require.Contains(t, string(got.Result), "yes")
		require.Contains(t, w.write(cwd+"/x", "something else").Error.Message, "This is not what was shown.")
		exists, err := afero.Exists(w.fs, cwd+"/x")
		require.NoError(t, err)
		require.False(t, exists)
		require.Len(t, w.host.asked, 1)
		// Without a question before, this write is one of its own.
		require.Equal(t, "null", string(w.write(cwd+"/x", "shown").Result))
	})
}

// Links are followed before the question, and again before the write.
func TestLinksOfTheAgent(t *testing.T) {
	t.Parallel()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	folder, outside := filepath.Join(dir, "folder"), filepath.Join(dir, "outside")
	require.NoError(t, os.Mkdir(folder, 0o700))
	require.NoError(t, os.Mkdir(outside, 0o700))
	if err := os.Symlink(outside, filepath.Join(folder, "link")); err != nil {
		t.Skip("no links: ", err)
	}
	require.NoError(t, os.WriteFile(filepath.Join(outside, "a.txt"), []byte("a"), 0o600))

	fs := afero.NewOsFs()
	w := &world{T: t, agent: newAgent(t), host: newHost(fs), fs: fs, place: engine.Place{Cwd: folder}}
	w.e = acp.New(engine.Program{Name: "x", Path: "/bin/agent"}, acp.Options{
		Start: func(context.Context, child.Config) (acp.Process, error) { return w.agent, nil },
	})
	t.Cleanup(func() { _ = w.e.Close(context.Background()) })
	w.openNew()
	w.prompt("one")
	require.Nil(t, w.write(filepath.Join(folder, "link", "a.txt"), "b").Error)
	require.Equal(t, filepath.Join(outside, "a.txt"), w.host.asked[0].Path)

	// The path leads elsewhere when the user has answered.
	w.host.permit = func(context.Context, engine.Call) error {
		require.NoError(t, os.Remove(filepath.Join(folder, "link")))
		return os.Mkdir(filepath.Join(folder, "link"), 0o700)
	}
	require.Contains(t, w.write(filepath.Join(folder, "link", "a.txt"), "c").Error.Message, "leads to another file now")
	b, err := os.ReadFile(filepath.Join(outside, "a.txt"))
	require.NoError(t, err)
	require.Equal(t, "b", string(b))
	require.NoFileExists(t, filepath.Join(folder, "link", "a.txt"))
	w.host.permit = nil
	require.NotNil(t, w.write(folder, "a directory").Error)
}

// Rows 11, 13, 42, and floods.
// Proves: EF-41, EF-42
func TestHostileAgents(t *testing.T) {
	t.Parallel()
	t.Run("odd messages", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			w := ready(t, "claude")
			r := w.prompt("one")
			for _, line := range []string{
				`null`, `[]`, `"x"`, `{}`, `{"method":5}`, `{"id":{},"method":"x"}`, `{bad`, "\xff\x00", `{"id":77,"result":{}}`, `{"id":1,"result":{}}`,
				`{"method":"session/update"}`, `{"method":"session/update","params":5}`, `{"method":"session/update","params":{"sessionId":7,"update":[]}}`,
				`{"method":"unknown/thing"}`, `{"method":"$/cancel_request","params":{"requestId":5}}`, strings.Repeat(`[`, 20_000),
			} {
				w.agent.raw(line)
			}
			for _, u := range []string{
				`null`, `5`, `{"sessionUpdate":"tool_call"}`, `{"sessionUpdate":"tool_call","toolCallId":5}`, `{"sessionUpdate":"tool_call","toolCallId":"` + strings.Repeat("x", 1000) + `"}`,
				`{"sessionUpdate":"agent_message_chunk"}`, `{"sessionUpdate":"agent_message_chunk","content":[]}`, `{"sessionUpdate":"agent_message_chunk","content":{"type":"image","data":"x"}}`,
				`{"sessionUpdate":"plan","entries":{}}`, `{"sessionUpdate":"usage_update","used":"x","size":-5}`, `{"sessionUpdate":"available_commands_update","availableCommands":{}}`,
				`{"sessionUpdate":"config_option_update","configOptions":5}`, `{"sessionUpdate":"current_mode_update","currentModeId":5}`, `{"sessionUpdate":5}`, `{"sessionUpdate":"odd"}`,
			} {
				w.agent.update(u)
			}
			m := w.agent.ask("terminal/create", `{}`)
			require.Equal(t, -32601, m.Error.Code)
			w.agent.raw(`{"id":null,"method":"unknown"}`)
			require.Equal(t, "null", string(w.agent.expect("").ID))
			w.agent.answer(r.m, ended)
			require.NoError(t, (<-r.out).Err)
			require.Equal(t, []string{"user one", "assistant [image] /stop"}, w.host.roles(t))
		})
	})
	t.Run("requests without end", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			w := ready(t, "claude")
			w.host.permit = func(ctx context.Context, _ engine.Call) error {
				<-ctx.Done()
				return ctx.Err()
			}
			r := w.prompt("one")
			for range 100 {
				w.agent.request("session/request_permission", permission(`{"toolCallId":"c"}`, options))
			}
			synctest.Wait()
			require.Len(t, w.agent.got, 100-64)
			require.Equal(t, "Too many requests at once.", (<-w.agent.got).Error.Message)
			r.cancel()
			w.agent.answer(r.m, `{"stopReason":"cancelled"}`)
			<-r.out
		})
	})
	t.Run("text without end", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			w := ready(t, "claude")
			w.e.Bound(1000, 10, 1000)
			r := w.prompt("one")
			text := strings.Repeat("x", 100)
			for range 20 {
				w.agent.say("a", text)
			}
			for i := range 50 {
				w.agent.update(`{"sessionUpdate":"tool_call","status":"completed","toolCallId":"` + string(rune('a'+i)) + `","rawInput":{"a":"` + text + text + `"}}`)
			}
			w.agent.answer(r.m, ended)
			out := <-r.out
			require.Equal(t, "stop", out.StopReason)
			messages := w.host.messages()
			require.Contains(t, messages[1], strings.Repeat("x", 1000)+`\n\n[The rest was left out.]`)
			require.Len(t, messages, 2+2*10-1, "the first call belongs to the answer")
			require.Equal(t, 4, strings.Count(strings.Join(messages, ""), `{"a":"`+text), "arguments that are too large are left out")
		})
	})
	t.Run("a slow session file", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			w := ready(t, "claude")
			w.host.message = func(json.RawMessage) { pass(900 * time.Millisecond) }
			r := w.prompt("one")
			w.agent.say("a", "1")
			w.agent.say("b", "2")
			w.agent.answer(r.m, ended)
			<-r.out
			require.Equal(t, []string{"user one", "assistant 1 /stop", "assistant 2 /stop"}, w.host.roles(t))
		})
	})
}
