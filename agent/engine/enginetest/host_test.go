package enginetest_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/engine/child"
	"github.com/xcsh-ls/xcsh-ls/agent/engine/enginetest"
)

// limit is how long a line may take on a busy machine.
const limit = time.Minute

// mark is that of the bridge.
const mark = "xcsh-ls/1 test"

// hosted is a running double, or the program that it doubles.
type hosted struct {
	*child.Child
	t    *testing.T
	dir  string // of sessions
	cwd  string
	seen []line // all lines so far
}

// line is a line of the program.
type line struct {
	raw                                          string
	ID, Type, Command, Method, Error, StatusText string
	Title, Placeholder, StatusKey                string
	Success                                      bool
	Data                                         json.RawMessage
	Message                                      json.RawMessage
	AssistantMessageEvent                        struct{ Type string }
}

// place is a home directory, a folder and a directory of sessions.
type place struct{ home, cwd, sessions string }

func newPlace(t *testing.T) place {
	t.Helper()
	p := place{t.TempDir(), t.TempDir(), t.TempDir()}
	require.NoError(t, os.WriteFile(filepath.Join(p.cwd, "README.md"), []byte("# demo\nline2\n"), 0o600))
	return p
}

// hostIn runs a program.
func hostIn(t *testing.T, p place, program enginetest.Program, args ...string) *hosted {
	t.Helper()
	return hostWith(t, p, program, func(*child.Config) {}, args...)
}

func hostWith(t *testing.T, p place, program enginetest.Program, change func(*child.Config), args ...string) *hosted {
	t.Helper()
	args = slices.Concat(program.Args, []string{"--mode", "rpc", "--session-dir", p.sessions}, args)
	env := slices.Concat(os.Environ(), program.Env, []string{"HOME=" + p.home})
	config := child.Config{Name: "pi", Path: program.Path, Args: args, Env: env, Dir: p.cwd}
	change(&config)
	c, err := child.Start(t.Context(), config)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, c.Close(t.Context())) })
	return &hosted{Child: c, t: t, dir: p.sessions, cwd: p.cwd}
}

// host runs a program in a new place.
func host(t *testing.T, program enginetest.Program, args ...string) *hosted {
	t.Helper()
	return hostIn(t, newPlace(t), program, args...)
}

// bridged returns the program with a bridge.
func bridged(t *testing.T, program enginetest.Program) (with enginetest.Program, args []string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "bridge.ts")
	require.NoError(t, os.WriteFile(path, nil, 0o600))
	program.Env = append(program.Env, `XCSH_LS_HOST={"mark":"`+mark+`","files":true,"permit":true}`)
	return program, []string{"-e", path}
}

func (h *hosted) send(text string) {
	h.t.Helper()
	require.NoError(h.t, h.Write(h.t.Context(), []byte(text)))
}

// prompt sends a prompt with the id p.
func (h *hosted) prompt(text string) {
	h.t.Helper()
	message, err := json.Marshal(text)
	require.NoError(h.t, err)
	h.send(`{"id":"p","type":"prompt","message":` + string(message) + `}`)
}

// until receives lines to the first that matches, which it returns.
func (h *hosted) until(matches func(line) bool) line {
	h.t.Helper()
	late := time.After(limit)
	for {
		select {
		case raw, ok := <-h.Lines():
			require.True(h.t, ok, "it has ended: %s", h.Stderr())
			l := line{raw: string(raw)}
			_ = json.Unmarshal(raw, &l) // garbage has no members
			h.seen = append(h.seen, l)
			if matches(l) {
				return l
			}
		case <-late:
			require.FailNow(h.t, "the line did not come", "%s\n%s", h.Stderr(), h.kinds())
		}
	}
}

func (h *hosted) event(kind string) line {
	h.t.Helper()
	return h.until(func(l line) bool { return l.Type == kind })
}

func (h *hosted) response(id string) line {
	h.t.Helper()
	return h.until(func(l line) bool { return l.Type == "response" && l.ID == id })
}

// call sends a command and returns the data of its answer.
func (h *hosted) call(text string) json.RawMessage {
	h.t.Helper()
	h.send(`{"id":"c",` + strings.TrimPrefix(text, "{"))
	r := h.response("c")
	require.True(h.t, r.Success, r.raw)
	return r.Data
}

// run sends a prompt and returns the kinds of the lines to the end of the run.
func (h *hosted) run(text string) []string {
	h.t.Helper()
	from := len(h.seen)
	h.prompt(text)
	h.event("agent_settled")
	return kindsOf(h.seen[from:])
}

func (h *hosted) kinds() string { return strings.Join(kindsOf(h.seen), "\n") }

// kindsOf describes lines by their kinds only; deltas of one block are one.
func kindsOf(lines []line) (kinds []string) {
	for _, l := range lines {
		kind := l.Type
		var m struct {
			Role, StopReason string
		}
		_ = json.Unmarshal(l.Message, &m) // without a message
		switch {
		case l.Type == "response":
			kind += " " + l.Command
		case l.Type == "message_update":
			kind = l.AssistantMessageEvent.Type
		case m.Role != "":
			kind += " " + m.Role
			if l.Type == "message_end" && m.StopReason != "" {
				kind += "/" + m.StopReason
			}
		case l.Method != "":
			kind += " " + l.Method
		}
		if strings.HasSuffix(kind, "_delta") && len(kinds) > 0 && kinds[len(kinds)-1] == kind {
			continue
		}
		kinds = append(kinds, kind)
	}
	return kinds
}

// files returns the kinds of the entries of all session files, in the order of their names.
func (h *hosted) files() (all [][]string) {
	h.t.Helper()
	found, err := filepath.Glob(filepath.Join(h.dir, "*.jsonl"))
	require.NoError(h.t, err)
	for _, path := range found {
		all = append(all, fileKinds(h.t, path))
	}
	return all
}

func (h *hosted) sessionFile() string {
	h.t.Helper()
	var state struct{ SessionFile string }
	require.NoError(h.t, json.Unmarshal(h.call(`{"type":"get_state"}`), &state))
	return state.SessionFile
}

func fileKinds(t *testing.T, path string) (kinds []string) {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	parent := "null"
	for l := range bytes.Lines(text) {
		var e struct {
			Type, ID string
			ParentID json.RawMessage
			Message  struct{ Role, StopReason string }
		}
		require.NoError(t, json.Unmarshal(l, &e), string(l))
		kind := e.Type
		if e.Type == "message" {
			kind = strings.TrimSuffix(e.Message.Role+"/"+e.Message.StopReason, "/")
		}
		if e.Type != "session" {
			require.Equal(t, parent, string(e.ParentID), "the entries are a chain: %s", text)
			parent = `"` + e.ID + `"`
		}
		kinds = append(kinds, kind)
	}
	return kinds
}
