package commands_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/agent/event"
	"github.com/xcsh-ls/xcsh-ls/commands"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/internal/leaktest"
	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// gate is a file system in which reading one file from its start waits until open is called. Reading from its end does not.
type gate struct {
	afero.Fs
	path string
	open chan struct{}
	read chan struct{} // closed when a reader waits

	once sync.Once
	mu   sync.Mutex
	fail error // of the reading that waited; guarded by mu
	held int   // open files; guarded by mu
}

func newGate(path string) *gate {
	return &gate{Fs: afero.NewMemMapFs(), path: path, open: make(chan struct{}), read: make(chan struct{})}
}

func (g *gate) Open(name string) (afero.File, error) {
	f, err := g.Fs.Open(name)
	if err != nil || name != g.path {
		return f, err
	}
	g.add(1)
	return &gatedFile{File: f, gate: g}, nil
}

func (g *gate) add(n int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.held += n
}

type gatedFile struct {
	afero.File
	gate *gate
}

func (f *gatedFile) Read(b []byte) (int, error) {
	f.gate.once.Do(func() { close(f.gate.read) })
	<-f.gate.open
	f.gate.mu.Lock()
	err := f.gate.fail
	f.gate.mu.Unlock()
	if err != nil {
		return 0, err
	}
	return f.File.Read(b)
}

func (f *gatedFile) Close() error {
	f.gate.add(-1)
	return f.File.Close()
}

// heard are the events of a manager.
type heard struct {
	mu   sync.Mutex
	list []agent.Event // guarded by mu
}

func (h *heard) add(e agent.Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.list = append(h.list, e)
}

// names returns what the events were about, without those of the lists.
func (h *heard) names() (names []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, e := range h.list {
		switch e := e.(type) {
		case agent.SessionChanged:
			names = append(names, string(e.Reason)+" "+e.SessionID)
		case agent.SessionState:
			names = append(names, "state "+e.SessionID)
		case agent.RunEvent:
			if failed, ok := e.Event.(event.Error); ok {
				names = append(names, "error "+failed.Kind)
			}
		}
	}
	return names
}

// last returns the last SessionState event.
func (h *heard) last(t *testing.T) agent.SessionState {
	t.Helper()
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, e := range slices.Backward(h.list) {
		if state, ok := e.(agent.SessionState); ok {
			return state
		}
	}
	require.Fail(t, "there is no SessionState event")
	return agent.SessionState{}
}

const (
	late1 = "/work/late.jsonl"
	uuid  = "019ce210-7893-7fb8-9a3d-1e601c115a0b"
	old   = "0190000000000009"
)

// lateLines returns the lines of a session in a dialect: mode, model and thinking level at the beginning, then n prompts and
// answers, with a compaction before the last ten if compacted.
func lateLines(d session.Dialect, n int, compacted bool) []string {
	id := map[session.Dialect]string{session.Xcsh: id1, session.Pi: uuid, session.Omp: uuid}[d]
	header := strings.TrimSuffix(st.Header(id, "/w"), "}")
	lines := []string{header + `,"title":"From the header"}`}
	if d == session.Omp {
		lines = []string{`{"type":"title","v":1,"title":"From the slot","source":"auto","updatedAt":"2026-01-01T00:00:00.000Z","pad":"   "}`, st.Header(id, "/w")}
	}
	at := `"timestamp":"2026-01-01T00:00:00.000Z"`
	lines = append(
		lines,
		`{"type":"model_change","id":"00000001","parentId":null,`+at+`,"provider":"p","modelId":"m","model":"p/m","role":"default"}`,
		`{"type":"model_change","id":"00000002","parentId":"00000001",`+at+`,"model":"p/small","role":"smol"}`,
		`{"type":"thinking_level_change","id":"00000003","parentId":"00000002",`+at+`,"thinkingLevel":"high"}`,
		`{"type":"mode_change","id":"00000004","parentId":"00000003",`+at+`,"mode":"none"}`,
	)
	parent := "00000004"
	for i := range n {
		if compacted && i == n-10 {
			lines = append(lines, fmt.Sprintf(`{"type":"compaction","id":"c0c0c0c0","parentId":%q,%s,"summary":"so far","firstKeptEntryId":%q,"tokensBefore":1}`, parent, at, parent))
			parent = "c0c0c0c0"
		}
		ask, answer := fmt.Sprintf("a%07x", i), fmt.Sprintf("b%07x", i)
		lines = append(lines, st.User(ask, parent, fmt.Sprintf("prompt %d %s", i, strings.Repeat("x", 200))), st.Assistant(answer, ask, fmt.Sprint("answer ", i)))
		parent = answer
	}
	return lines
}

// lateEnv returns an environment whose client takes late values, with a live session of its own, in which every file is
// large.
func lateEnv(t *testing.T, g *gate, lines []string) (env *commands.Env, events *heard) {
	t.Helper()
	write(t, g.Fs, file1, talk(old)...)
	write(t, g.Fs, g.path, lines...)
	env = newEnv(g, func(c *agent.Config) { c.EarlyFrom = 1 })
	do(t, env, "xcsh.resume", args{"target": file1})
	env.Late, events = true, &heard{}
	cancel := env.Sessions.Subscribe(events.add)
	t.Cleanup(func() {
		cancel()
		require.NoError(t, env.Sessions.Close(context.Background()))
		g.mu.Lock()
		defer g.mu.Unlock()
		require.Zero(t, g.held, "files are still open")
	})
	return env, events
}

// field returns a member of a result by its path.
func field(v any, path ...string) any {
	for _, name := range path {
		m, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		v = m[name]
	}
	return v
}

// requireContained requires that every field of early that is not pending has the value of whole.
func requireContained(t *testing.T, early, whole map[string]any) {
	t.Helper()
	var pending []any
	if list, ok := early["pending"].([]any); ok {
		pending = list
	}
	for name, value := range early {
		if name == "pending" {
			continue
		}
		if slices.Contains(pending, any(name)) {
			require.Nil(t, value, name)
			continue
		}
		require.Equal(t, whole[name], value, name)
	}
}

// Only what does not depend on the rest of the file is shown, and everything else waits.
// Proves: F-18
func TestALargeSessionIsShownBeforeItIsRead(t *testing.T) {
	for _, d := range []session.Dialect{session.Xcsh, session.Pi, session.Omp} {
		for _, compacted := range []bool{false, true} {
			t.Run(fmt.Sprint(d, compacted), func(t *testing.T) {
				defer leaktest.Begin(t)()
				g := newGate(late1)
				env, events := lateEnv(t, g, lateLines(d, 60, compacted))
				result := do(t, env, "xcsh.resume", args{"target": late1})
				<-g.read
				early, ok := result["session"].(map[string]any)
				require.True(t, ok)
				require.Equal(t, true, result["switched"])
				require.Nil(t, result["summary"])
				require.Empty(t, result["repairs"])
				require.Subset(t, result["pending"], []any{"usage", "summary", "repairs"})
				require.Nil(t, early["usage"])

				state := do(t, env, "xcsh.state", nil)
				require.Equal(t, early, state)
				snapshot := do(t, env, "xcsh.snapshot", args{"last": 5})
				require.Len(t, snapshot["messages"], 5)
				require.Nil(t, snapshot["contextUsage"])
				page := do(t, env, "xcsh.messages", args{"limit": 5})
				require.Equal(t, snapshot["messages"], page["messages"])

				type answer struct {
					raw json.RawMessage
					err error
				}
				waiting := make(chan answer)
				go func() {
					raw, err := run(context.Background(), env, "xcsh.messages", args{"cursor": field(page, "older", "cursor"), "limit": 5})
					waiting <- answer{raw, err}
				}()
				select {
				case <-waiting:
					require.Fail(t, "an older page is not known yet")
				default:
				}
				close(g.open)
				older := <-waiting
				require.NoError(t, older.err)
				stats := do(t, env, "xcsh.stats", nil)
				require.NotNil(t, stats)

				require.NotContains(t, strings.Join(events.names(), "\n"), "reload")
				whole := do(t, env, "xcsh.state", nil)
				require.NotContains(t, whole, "pending")
				requireContained(t, early, whole)
				late := events.last(t)
				raw, err := json.Marshal(late.State)
				require.NoError(t, err)
				var sent map[string]any
				require.NoError(t, json.Unmarshal(raw, &sent))
				require.Equal(t, whole, sent)
				require.NotNil(t, late.Summary)

				all := do(t, env, "xcsh.snapshot", nil)
				messages, ok := all["messages"].([]any)
				require.True(t, ok)
				n := len(messages)
				require.Equal(t, messages[n-5:], snapshot["messages"])
				var before map[string]any
				require.NoError(t, json.Unmarshal(older.raw, &before))
				require.Equal(t, messages[n-10:n-5], before["messages"], "a cursor of an early page counts later")
			})
		}
	}
}

// A client that did not ask for late values gets what it always got.
func TestOtherClientsWaitUntilASessionIsRead(t *testing.T) {
	t.Parallel()
	g := newGate(late1)
	close(g.open)
	env, events := lateEnv(t, g, lateLines(session.Xcsh, 60, true))
	env.Late = false
	result := do(t, env, "xcsh.resume", args{"target": late1})
	require.NotContains(t, result, "pending")
	require.NotNil(t, field(result, "session", "usage"))
	require.NotNil(t, result["summary"])
	require.Equal(t, []string{"resume " + id1}, events.names())
	require.Nil(t, env.Sessions.Live("/w").Reading())
}

// A session that was shown and cannot be read leaves the folder where it was, and commands that waited for it are not run in
// the previous session.
// Proves: O-060
func TestASessionThatWasShownCannotBeRead(t *testing.T) {
	for name, fail := range map[string]func(t *testing.T, g *gate){
		"fault": func(_ *testing.T, g *gate) {
			g.mu.Lock()
			defer g.mu.Unlock()
			g.fail = errors.New("the disk is gone")
		},
		"damaged": func(t *testing.T, g *gate) {
			t.Helper()
			require.NoError(t, afero.WriteFile(g.Fs, late1, []byte(strings.Repeat("noise\n", 100)), 0o600))
		},
	} {
		t.Run(name, func(t *testing.T) {
			defer leaktest.Begin(t)()
			g := newGate(late1)
			env, events := lateEnv(t, g, lateLines(session.Xcsh, 60, true))
			result := do(t, env, "xcsh.resume", args{"target": late1})
			require.NotEmpty(t, result["pending"])
			<-g.read
			waits := env.Sessions.Live("/w").Reading()
			waiting := make(chan error)
			go func() {
				_, err := run(context.Background(), env, "xcsh.label", args{"entryId": "b0000003", "label": "x"})
				waiting <- err
			}()
			fail(t, g)
			previous := read(t, g.Fs, file1)
			close(g.open)
			require.Error(t, waits.Wait(t.Context()))
			// It waited, or came after the end, when the previous session has no such entry.
			require.Error(t, <-waiting)
			require.Equal(t, previous, read(t, g.Fs, file1))
			require.Equal(t, old, do(t, env, "xcsh.state", nil)["sessionId"])
			names := events.names()
			require.Equal(t, []string{"resume " + id1, "resume " + old}, names[:2])
			require.Contains(t, names[2], "error ")
		})
	}
}

func TestAnotherSessionEndsTheReading(t *testing.T) {
	for name, change := range map[string]func(ctx context.Context, env *commands.Env) error{
		"new": func(ctx context.Context, env *commands.Env) error {
			_, err := run(ctx, env, "xcsh.new", nil)
			return err
		},
		"resume": func(ctx context.Context, env *commands.Env) error {
			_, err := run(ctx, env, "xcsh.resume", args{"target": file1})
			return err
		},
		"close": func(ctx context.Context, env *commands.Env) error { return env.Sessions.CloseFolder(ctx, "/w") },
	} {
		t.Run(name, func(t *testing.T) {
			defer leaktest.Begin(t)()
			g := newGate(late1)
			env, events := lateEnv(t, g, lateLines(session.Pi, 60, false))
			do(t, env, "xcsh.resume", args{"target": late1})
			<-g.read
			reading := env.Sessions.Live("/w").Reading()
			cancelled, cancel := context.WithCancel(t.Context())
			cancel()
			require.Error(t, change(cancelled, env), "it waits until the file is not read any more")
			done := make(chan error)
			go func() { done <- change(context.Background(), env) }()
			close(g.open)
			requireKind(t, fault.Stale, reading.Wait(t.Context()))
			require.NoError(t, <-done)
			require.NotContains(t, strings.Join(events.names(), "\n"), "state ")
			require.Equal(t, []string{"resume " + uuid, "resume " + old}, events.names()[:2])
			if live := env.Sessions.Live("/w"); live != nil {
				require.Nil(t, live.Reading())
			}
		})
	}
}

// Cancelling a command that waits ends the command and not the reading.
func TestACommandThatWaitsForASessionCanBeCancelled(t *testing.T) {
	defer leaktest.Begin(t)()
	g := newGate(late1)
	env, _ := lateEnv(t, g, lateLines(session.Omp, 60, true))
	do(t, env, "xcsh.resume", args{"target": late1})
	<-g.read
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := run(ctx, env, "xcsh.stats", nil)
	requireKind(t, fault.Cancelled, err)
	close(g.open)
	require.NotNil(t, do(t, env, "xcsh.stats", nil))
	require.Equal(t, uuid, do(t, env, "xcsh.state", nil)["sessionId"])
}

// What another program does to the file between the two readings is in the end shown, and the client is notified.
// Proves: F-18
func TestAFileChangesBetweenTheEarlyAndTheWholeReading(t *testing.T) {
	for name, change := range map[string]struct {
		lines  func(lines []string) []string
		reload bool
	}{
		"appended": {func(l []string) []string { return append(l, st.User("ffffffff", "b000003b", "more")) }, true},
		"cut":      {func(l []string) []string { return append(l[:7:7], l[9:]...) }, true},
		"behind the compaction": {func(l []string) []string {
			l = slices.Clone(l)
			l[9] = strings.Replace(l[9], "prompt", "PROMPT", 1)
			return l
		}, false},
		"edited": {func(l []string) []string {
			l = slices.Clone(l)
			l[len(l)-1] = strings.Replace(l[len(l)-1], "answer", "ANSWER", 1)
			return l
		}, true},
		"another": {func([]string) []string { return talk("0190000000000077") }, true},
	} {
		t.Run(name, func(t *testing.T) {
			defer leaktest.Begin(t)()
			g := newGate(late1)
			lines := lateLines(session.Xcsh, 60, true)
			env, events := lateEnv(t, g, lines)
			do(t, env, "xcsh.resume", args{"target": late1})
			<-g.read
			changed := change.lines(lines)
			write(t, g.Fs, late1, changed...)
			close(g.open)
			do(t, env, "xcsh.stats", nil)
			require.Equal(t, change.reload, strings.Contains(strings.Join(events.names(), "\n"), "reload"), events.names())
			got := do(t, env, "xcsh.snapshot", args{"last": 3})

			plain := afero.NewMemMapFs()
			write(t, plain, late1, changed...)
			other := newEnv(plain)
			do(t, other, "xcsh.resume", args{"target": late1})
			want := do(t, other, "xcsh.snapshot", args{"last": 3})
			require.Equal(t, want["messages"], got["messages"])
			require.Equal(t, field(want, "state", "usage"), field(got, "state", "usage"))
		})
	}
}
