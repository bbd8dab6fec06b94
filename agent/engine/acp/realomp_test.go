//go:build peers

package acp_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/engine"
	"github.com/xcsh-ls/xcsh-ls/agent/engine/acp"
	"github.com/xcsh-ls/xcsh-ls/internal/echomodel"
	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
	files "github.com/xcsh-ls/xcsh-ls/session"
)

func ompProgram(t *testing.T, m *echomodel.Service, r *real) {
	agent := filepath.Join(r.home(), ".omp", "agent")
	require.NoError(t, os.MkdirAll(agent, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(agent, "models.json"), []byte(`{"providers":{"mock":{"baseUrl":"`+m.URL+`","apiKey":"k","api":"anthropic-messages","models":[`+
		`{"id":"mock-large","name":"mock-large","reasoning":true,"input":["text","image"],"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0},"contextWindow":200000,"maxTokens":8192}]}}}`), 0o600))
}

func ompInstalled(t *testing.T) (bun, cli string) {
	t.Helper()
	arch := map[string]string{"amd64": "x64", "arm64": "aarch64"}[runtime.GOARCH]
	return installed(t, "XCSH_BUN", "@oven", "bun-"+runtime.GOOS+"-"+arch, "bin", "bun"), installed(t, "XCSH_OMP", "@oh-my-pi", "pi-coding-agent", "dist", "cli.js")
}

func TestRealOmp(t *testing.T) {
	t.Parallel()
	r, m := newOmp(t)
	opened := r.open()
	r.host.message = func(m json.RawMessage) { r.await(opened.File, m) }
	require.Equal(t, "mock/mock-large", opened.Model.String())
	require.FileExists(t, opened.File)

	// An open document is read as the editor has it, and changed there.
	r.host.open[r.path("open.txt")] = "unsaved\n"
	require.NoError(t, os.WriteFile(r.path("open.txt"), []byte("on disk\n"), 0o600))
	r.run(`[[tool:read {"path":"open.txt"}]]`)
	require.Contains(t, m.Seen(), "unsaved")
	r.run(`[[tool:write {"path":"open.txt","content":"by the model\n"}]]`)
	require.Equal(t, "by the model\n", r.host.open[r.path("open.txt")])
	require.Len(t, r.host.asked, 1)
	require.Equal(t, engine.Changes, r.host.asked[0].Effect)
	disk, err := os.ReadFile(r.path("open.txt"))
	require.NoError(t, err)
	require.Equal(t, "on disk\n", string(disk))

	r.run(`[[tool:write {"path":"new.txt","content":"new\n"}]]`)
	require.FileExists(t, r.path("new.txt"))
	r.run(`[[tool:bash {"command":"echo hi > made.txt"}]]`)
	require.FileExists(t, r.path("made.txt"))
	require.Equal(t, "bash", r.host.asked[2].Tool)
	r.host.permit = func(context.Context, engine.Call) error { return errNo }
	r.run(`[[tool:bash {"command":"echo hi > made2.txt"}]]`)
	require.NoFileExists(t, r.path("made2.txt"))
	r.run(`[[tool:write {"path":"new.txt","content":"again\n"}]]`)
	disk, err = os.ReadFile(r.path("new.txt"))
	require.NoError(t, err)
	require.Equal(t, "new\n", string(disk))
	r.host.permit = nil

	// Cancelled, then continued.
	require.Equal(t, "aborted", r.interrupted(m, "[[endless]] one", func(cancel func()) { cancel() }).StopReason)
	r.run("[[]] again")
	_, err = r.e.Compact(t.Context(), "")
	require.Error(t, err, "it is too small")
	require.NoError(t, r.e.Reread(t.Context()))
	r.run("after reading again")
	r.close()

	// The same session in a new process.
	r.place.File, r.place.ID = opened.File, idOf(t, opened.File)
	r.host.message = nil
	r.host.notes()
	again := r.open()
	require.Equal(t, opened.File, again.File)
	require.Empty(t, r.host.notes())
	before, err := os.ReadFile(opened.File)
	require.NoError(t, err)
	r.run("and again")
	after, err := os.ReadFile(opened.File)
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(string(after), string(before)))
	t.Logf("what omp writes: %s", summary(t, after))
	r.close()
	readable(t, opened.File)
}

// What omp had said before it was killed, or its input ended in a run, is in the session, and omp continues it.
func TestRealOmpThatEndsInARun(t *testing.T) {
	t.Parallel()
	r, m := newOmp(t)
	opened := r.open()
	r.run("[[]] before all")
	out := r.interrupted(m, "[[endless]] killed", func(func()) { require.NoError(t, r.child.Kill()) })
	require.EqualError(t, out.Err, "omp was ended by a signal: killed.")
	require.Equal(t, "error", out.StopReason)
	<-r.e.Done()
	require.Equal(t, []string{"user [[]] before all", "assistant Echo: [[]] before all", "user [[endless]] killed"}, readable(t, opened.File))

	r.place.File, r.place.ID = opened.File, idOf(t, opened.File)
	r.open()
	r.run("[[]] after the kill")
	said, _ := m.Conversation()
	require.Contains(t, said, "before all")
	require.Contains(t, said, "after the kill")
	out = r.interrupted(m, "[[endless]] ended", func(func()) {
		go func() { _ = r.e.Close(context.WithoutCancel(t.Context())) }()
	})
	<-r.e.Done()
	require.NoError(t, r.e.Err())
	require.NotEqual(t, "stop", out.StopReason)
	lines := readable(t, opened.File)
	t.Logf("after the end of the input: %q", lines)
	require.Contains(t, lines, "user [[endless]] ended")
	require.Contains(t, lines, "assistant Echo: [[]] after the kill")

	r.open()
	r.run("[[]] last")
	said, _ = m.Conversation()
	for _, text := range []string{"before all", "after the kill", "ended", "last"} {
		require.Contains(t, said, text)
	}
	r.close()
	lines = readable(t, opened.File)
	require.Equal(t, "assistant Echo: [[]] last", lines[len(lines)-1])
}

// The MCP servers of a client are started by omp.
func TestRealOmpWithServersOfTheClient(t *testing.T) {
	t.Parallel()
	r, m := newOmp(t)
	r.poke(m, "mcp__t_poke", `[[tool:write {"path":"xd://mcp__t_poke","content":"{\"x\":\"me\"}"}]]`)
}

// omp asks by itself for its shell only. Started by us, it asks for everything that runs something.
func TestRealOmpAsksForAllThatRuns(t *testing.T) {
	t.Parallel()
	r, m := newOmp(t)
	r.open()
	r.run("[[]] hello")
	_, tools := m.Conversation()
	require.Contains(t, strings.Join(tools, " "), "eval")
	r.host.permit = func(context.Context, engine.Call) error { return errNo }
	r.run(`[[tool:eval {"language":"js","title":"t","code":"await Bun.write('made.txt', 'x')"}]]`)
	require.NoFileExists(t, r.path("made.txt"))
	require.Len(t, r.host.asked, 1)
	require.Equal(t, engine.Runs, r.host.asked[0].Effect)
	r.host.permit = nil
	r.run(`[[tool:eval {"language":"js","title":"t","code":"await Bun.write('made.txt', 'x')"}]]`)
	require.FileExists(t, r.path("made.txt"))
	require.Len(t, r.host.asked, 2)
	r.close()
}

// newOmp is omp with the directory where it keeps the sessions of the folder.
func newOmp(t *testing.T) (*real, *echomodel.Service) {
	t.Helper()
	bun, cli := ompInstalled(t)
	m := echomodel.New(t)
	r := newReal(t, engine.Program{Name: "omp", Path: bun, Args: []string{cli, "--model", "mock/mock-large"}}, append(offline, "PI_NO_TITLE=1")...)
	ompProgram(t, m, r)
	// A session that would not be found again is refused. omp names the directory by the folder.
	r.e = acp.New(r.program, acp.Options{Env: r.env})
	_, err := r.e.Open(t.Context(), r.place, r.host)
	require.ErrorContains(t, err, "keeps its session elsewhere")
	dirs, err := filepath.Glob(filepath.Join(r.home(), ".omp", "agent", "sessions", "*"))
	require.NoError(t, err)
	require.Len(t, dirs, 1)
	r.place.Dir = dirs[0]
	return r, m
}

// readable returns the conversation in a session file as our reader sees it. It must find no fault with the file.
func readable(t *testing.T, path string) (lines []string) {
	t.Helper()
	doc, err := files.NewStore(files.StoreConfig{Fs: afero.NewOsFs()}).Load(path)
	require.NoError(t, err)
	defer doc.Close()
	require.Empty(t, doc.Problems())
	for _, i := range doc.PathTo(files.AtLast()) {
		if role := doc.Role(i); role == "user" || role == "assistant" {
			e, err := doc.Entry(i)
			require.NoError(t, err)
			text, _ := echomodel.Texts(rawjson.Get(e.Message(), "content"))
			lines = append(lines, role+" "+text)
		}
	}
	return lines
}

// await waits until the session file has the message that was reported, as a host does.
func (r *real) await(file string, reported json.RawMessage) {
	for range 200 {
		raw, err := os.ReadFile(file)
		require.NoError(r, err)
		n := 0
		for line := range strings.Lines(string(raw)) {
			var e struct {
				Type    string
				Message json.RawMessage
			}
			if !strings.HasSuffix(line, "\n") || json.Unmarshal([]byte(line), &e) != nil || e.Type != "message" {
				continue
			}
			if n++; n > r.reported && engine.Resembles(e.Message, reported) {
				r.reported = n
				return
			}
		}
		pass(10 * time.Millisecond)
	}
	r.Errorf("not in the file: %s", reported)
}

// idOf returns the id in the header of a session file.
func idOf(t *testing.T, path string) string {
	raw, err := os.ReadFile(path)
	require.NoError(t, err)
	for line := range strings.Lines(string(raw)) {
		var h struct{ Type, ID string }
		if json.Unmarshal([]byte(line), &h) == nil && h.Type == "session" {
			return h.ID
		}
	}
	t.Fatal("no header in " + path)
	return ""
}

func summary(t *testing.T, raw []byte) string {
	var out []string
	for line := range strings.Lines(string(raw)) {
		var e struct {
			Type    string
			Message struct{ Role, StopReason string }
		}
		require.NoError(t, json.Unmarshal([]byte(line), &e))
		out = append(out, strings.Trim(e.Type+":"+e.Message.Role+"/"+e.Message.StopReason, ":/"))
	}
	return strings.Join(out, " ")
}
