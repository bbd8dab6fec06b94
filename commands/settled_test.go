package commands_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/commands"
	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
)

// gateFs keeps what reads a file beside the session itself waiting until the gate is opened.
type gateFs struct {
	afero.Fs
	gate   chan struct{} // nil: nothing waits
	opened atomic.Int64
}

func (g *gateFs) Open(name string) (afero.File, error) {
	f, err := g.Fs.Open(name)
	if err != nil || name != file1 || g.gate == nil || g.opened.Add(1) == 1 {
		return f, err
	}
	return &waitingFile{f, g.gate}, nil
}

type waitingFile struct {
	afero.File
	gate chan struct{}
}

func (f *waitingFile) ReadAt(b []byte, off int64) (int, error) {
	<-f.gate
	return f.File.ReadAt(b, off)
}

// largeTalk returns the lines of a session of nine megabytes with a short context.
func largeTalk() []string {
	lines := []string{st.Header(id1, "/w")}
	parent := ""
	add := func(line func(id, parent string) string) {
		id := fmt.Sprintf("%08x", 0xA0000000+len(lines))
		lines = append(lines, line(id, parent))
		parent = id
	}
	for range 92 {
		add(func(id, parent string) string { return st.User(id, parent, strings.Repeat("x", 100_000)+" 7") })
	}
	add(func(id, parent string) string {
		return fmt.Sprintf(`{"type":"compaction","id":%q,"parentId":%q,"timestamp":"2026-01-01T00:00:00.000Z","summary":"s","firstKeptEntryId":%q,"tokensBefore":5}`, id, parent, id)
	})
	for n := range 40 {
		add(func(id, parent string) string {
			return st.Assistant(id, parent, fmt.Sprint("answer ", n, strings.Repeat("y", 200)))
		})
	}
	return lines
}

// early returns an environment in which a large session was resumed, and its comparison waits at the gate.
func early(t *testing.T, differs bool) (env *commands.Env, gate chan struct{}, resumed map[string]any) {
	t.Helper()
	g := &gateFs{Fs: afero.NewMemMapFs()}
	env = newEnv(g, func(c *agent.Config) {
		c.Store.IndexDir, c.Store.CompareFirst = "/home/u/.cache/index", 1
	})
	write(t, g, file1, largeTalk()...)
	d, err := env.Store.Load(file1)
	require.NoError(t, err)
	require.NoError(t, d.Close())
	if differs {
		content := []byte(read(t, g, file1))
		content[bytes.Index(content[4_500_000:], []byte(" 7"))+4_500_001] = '8'
		f, err := g.OpenFile(file1, os.O_RDWR, 0)
		require.NoError(t, err)
		_, err = f.WriteAt(content, 0)
		require.NoError(t, err)
		require.NoError(t, f.Close())
	}
	g.gate = make(chan struct{})
	gate = g.gate
	resumed = do(t, env, "xcsh.resume", args{"target": file1})
	synctest.Wait()
	g.gate = nil
	return env, gate, resumed
}

// Only what shows the newest context is answered before all bytes of the session were compared.
func TestOnlyTheNewestContextIsShownEarly(t *testing.T) {
	t.Parallel()
	shown := []string{"xcsh.resume", "xcsh.continue", "xcsh.state", "xcsh.snapshot", "xcsh.messages"}
	other := []string{ // nothing of the live session
		"xcsh.new", "xcsh.list", "xcsh.recent", "xcsh.resolve", "xcsh.exists", "xcsh.history", "xcsh.abort", "xcsh.models", "xcsh.providers", "xcsh.team.status",
	}
	var early []string
	for _, s := range commands.Default.Specs() {
		if s.Early {
			early = append(early, s.Name)
		}
	}
	require.ElementsMatch(t, append(shown, other...), early)
}

// What a command other than these answers is what it answers about a session that was read whole, and an event corrects
// what was shown before.
func TestCommandsWaitForTheComparison(t *testing.T) {
	t.Parallel()
	for _, differs := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			env, gate, resumed := early(t, differs)
			var mu sync.Mutex
			var reasons []agent.Reason
			defer env.Sessions.Subscribe(func(e agent.Event) {
				mu.Lock()
				defer mu.Unlock()
				if c, ok := e.(agent.SessionChanged); ok {
					reasons = append(reasons, c.Reason)
				}
			})()
			for _, name := range []string{"xcsh.state", "xcsh.snapshot", "xcsh.messages"} {
				do(t, env, name, nil)
			}
			calls := map[string]args{
				"xcsh.stats": nil, "xcsh.tree": {"limit": 5}, "xcsh.entries": {"limit": 5}, "xcsh.info": nil, "xcsh.context": nil,
				"xcsh.label": {"entryId": "a0000003", "label": "kept"},
			}
			answers := map[string]json.RawMessage{}
			var work sync.WaitGroup
			for name, a := range calls {
				work.Go(func() {
					raw, err := run(t.Context(), env, name, a)
					if err != nil {
						t.Error(name, err)
					}
					mu.Lock()
					defer mu.Unlock()
					answers[name] = raw
				})
			}
			synctest.Wait()
			mu.Lock()
			require.Empty(t, answers, "they wait")
			require.Empty(t, reasons)
			mu.Unlock()
			require.NotContains(t, read(t, env.Fs, file1), "kept")
			close(gate)
			work.Wait()
			synctest.Wait()
			require.Contains(t, read(t, env.Fs, file1), "kept")
			require.Equal(t, differs, len(reasons) > 0 && reasons[0] == agent.ReasonReload, reasons)
			whole := newEnv(env.Fs)
			again := do(t, whole, "xcsh.resume", args{"target": file1})
			counts := func(result map[string]any) any {
				summary, _ := result["summary"].(map[string]any)
				structured, _ := summary["structured"].(map[string]any)
				return structured["counts"]
			}
			require.NotEmpty(t, counts(resumed))
			require.Equal(t, counts(resumed), counts(again))
			require.NoError(t, env.Sessions.Close(t.Context()))
			require.NoError(t, whole.Sessions.Close(t.Context()))
		})
	}
}

// A waiting command ends with its call, and so does the comparison with the server.
func TestAWaitingCommandIsCancelled(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		env, gate, _ := early(t, true)
		ctx, cancel := context.WithCancel(t.Context())
		var err error
		var work sync.WaitGroup
		work.Go(func() { _, err = run(ctx, env, "xcsh.tree", args{"limit": 5}) })
		synctest.Wait()
		cancel()
		work.Wait()
		require.ErrorContains(t, err, "cancelled")
		work.Go(func() {
			if err := env.Sessions.Close(t.Context()); err != nil {
				t.Error(err)
			}
		})
		synctest.Wait()
		close(gate) // the one read that is under way
		work.Wait()
		require.NotContains(t, read(t, env.Fs, file1), "kept")
	}) // no goroutine is left
}
