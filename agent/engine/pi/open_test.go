package pi

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/engine"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

func TestANewSessionGetsOurIdAndDirectory(t *testing.T) {
	t.Setenv("XCSH_SECRET", "1")
	f := newFake(t)
	e := f.engineOf(Options{})
	e.program.Args, e.program.Env = []string{"cli.js"}, []string{"A=b"}
	at := testPlace(t)
	at.Model, at.Thinking = "fake/m", "high"
	opened, err := e.Open(t.Context(), at, newHost(t))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, e.Close(context.Background())) })
	require.Equal(t, []string{
		"cli.js", "--mode", "rpc", "-e", e.bridge.path, "--session-dir", at.Dir, "--no-approve", "--session-id", fakeID,
		"--model", "fake/m", "--thinking", "high",
	}, f.cmd.Args)
	require.Equal(t, at.Cwd, f.cmd.Dir)
	require.Contains(t, f.cmd.Env, "A=b")
	settings := slices.DeleteFunc(slices.Clone(f.cmd.Env), func(v string) bool { return !strings.HasPrefix(v, "XCSH_") })
	require.Len(t, settings, 1, "variables of this program are not passed on")
	require.Contains(t, settings[0], `"files":true,"permit":true`)
	require.Equal(t, engine.Opened{
		File: f.file(), LeafID: "leaf0", Version: "1.5.2", Model: provider.Ref{Provider: "fake", ID: "m"}, Thinking: "medium",
	}, opened)
}

func TestAnExistingSessionIsOpenedInItsDirectory(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	e := f.engineOf(Options{})
	at := testPlace(t)
	at.File, at.Trusted, at.Model, at.Plain = filepath.Join(at.Dir, "s.jsonl"), true, "fake/m", true
	_, err := e.Open(t.Context(), at, newHost(t))
	require.NoError(t, err)
	require.Equal(t, []string{"--mode", "rpc", "--no-extensions", "-e", e.bridge.path, "--session-dir", at.Dir, "--approve", "--session", at.File}, f.cmd.Args)
	require.NoError(t, e.Close(t.Context()))
	require.NoDirExists(t, e.bridge.dir)
}

func TestTheBridgeIsInADirectoryOfTheUser(t *testing.T) {
	t.Parallel()
	one, err := writeBridge()
	require.NoError(t, err)
	defer one.remove()
	other, err := writeBridge()
	require.NoError(t, err)
	defer other.remove()
	require.NotEqual(t, one.dir, other.dir)
	require.NotEqual(t, one.mark, other.mark)
	require.Len(t, one.mark, len("xcsh-ls/1 ")+32, "128 bits")
	for path, mode := range map[string]fs.FileMode{one.dir: 0o700, one.path: 0o600} {
		info, err := os.Stat(path)
		require.NoError(t, err)
		require.Equal(t, mode, info.Mode().Perm())
	}
	content, err := os.ReadFile(one.path)
	require.NoError(t, err)
	require.Contains(t, string(content), hostVariable)
	require.Contains(t, string(content), "export default")
	require.LessOrEqual(t, strings.Count(string(content), "\n"), 180)
}

// Each way in which pi does not start has its sentence.
// Proves: EF-03, EF-04, EF-05, EF-07, EF-08, EF-11
func TestFailuresOfTheStart(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		play   func(f *fakePi)
		says   string
		reason any
	}{
		"exit code 1": {
			play: func(f *fakePi) {
				f.stderr = "Warning: x\nError: Model \"fake/none\" not found. Use --list-models\n"
				f.exit(exit{code: 1})
			},
			says: `pi ended while it started: Error: Model "fake/none" not found. Use --list-models`,
		},
		"a dialog at the start": {
			play: func(f *fakePi) {
				f.ui("d", "confirm", object{"title": "At start?", "message": "m"})
				f.exit(exit{})
			},
			says: "pi ended while it started: an extension asks “At start?” before pi can be answered.", reason: "extension",
		},
		"an extension": {
			play: func(f *fakePi) {
				f.stderr = "Error: Failed to load extension \"/home/u/x.ts\": ParseError\n"
				f.exit(exit{code: 1})
			},
			says: "The extension /home/u/x.ts could not be loaded into pi.", reason: "extension",
		},
		"the bridge": {
			play: func(f *fakePi) {
				f.stderr = "Error: Failed to load extension \"/tmp/a/xcsh-ls-host.ts\": ParseError\n"
				f.exit(exit{code: 1})
			},
			says: "The extension of xcsh-ls could not be loaded into pi.", reason: "bridge",
		},
		"old Node.js": {
			play: func(f *fakePi) {
				f.stderr = "SyntaxError: The requested module 'node:module' does not provide an export named 'x'\n    at a\n"
				f.exit(exit{code: 1})
			},
			says: "pi needs Node.js 22 or newer.", reason: "node",
		},
		"a signal": {
			play: func(f *fakePi) { f.exit(exit{code: -1, signal: "killed"}) },
			says: "pi ended while it started (signal: killed).",
		},
		"the gate is off": {
			play: func(f *fakePi) { f.hello(object{"permit": false}) },
			says: "pi cannot ask for permission any more.", reason: "bridge",
		},
		"another session": {
			play: func(f *fakePi) {
				f.on(func(c fakeCommand) bool {
					s := f.state()
					s["sessionFile"] = "/elsewhere/s.jsonl"
					f.ok(c, s)
					return c.typ() == "get_state"
				})
			},
			says: "pi opened another session: /elsewhere/s.jsonl.",
		},
		"garbage": {
			play: func(f *fakePi) {
				f.on(func(fakeCommand) bool { return true })
				for range maxGarbage {
					f.raw("Loading \x1b[31m…")
				}
			},
			says: "pi sends something else than it should: 100 lines in a row could not be read.",
		},
		"a line that is too long": {
			play: func(f *fakePi) {
				f.exit(exit{code: -1, err: fault.New(fault.Provider, "pi sent more than can be read at once")})
			},
			says: "pi sent more than can be read at once.",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t)
			f.mute = true
			e := f.engineOf(Options{})
			start := e.start
			e.start = func(ctx context.Context, cmd command) (process, error) {
				p, err := start(ctx, cmd)
				c.play(f)
				return p, err
			}
			_, err := e.Open(t.Context(), testPlace(t), newHost(t))
			require.EqualError(t, err, c.says)
			require.True(t, fault.Is(err, fault.Provider))
			var f2 *fault.Error
			require.ErrorAs(t, err, &f2)
			require.Equal(t, "engine", f2.Data["class"])
			require.Equal(t, c.reason, f2.Data["reason"])
			if f.stderr != "" {
				require.Equal(t, f.stderr, f2.Data["details"])
			}
			<-e.Done()
			require.Equal(t, err, e.Err())
			require.NoDirExists(t, e.bridge.dir)
			require.Error(t, e.Reread(t.Context()))
		})
	}
}

// Proves: EF-01
func TestAProgramThatIsGone(t *testing.T) {
	t.Parallel()
	e := New(engine.Program{Name: "pi", Path: "/nonexistent/pi"}, Options{})
	_, err := e.Open(t.Context(), testPlace(t), newHost(t))
	require.EqualError(t, err, "pi is not installed any more (it was at /nonexistent/pi).")
	<-e.Done()
	require.NoError(t, e.Close(t.Context()))
}

// Proves: EF-06
func TestASlowStartIsShownAndThenEnded(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t)
		f.on(func(fakeCommand) bool { return true })
		e := f.engineOf(Options{})
		h := newHost(t)
		opened := make(chan error, 1)
		at := engine.Place{Cwd: dir, Dir: dir, ID: fakeID}
		go func() {
			_, err := e.Open(t.Context(), at, h)
			opened <- err
		}()
		<-time.After(startNotice - time.Second)
		synctest.Wait()
		require.Empty(t, h.all())
		<-time.After(2 * time.Second)
		synctest.Wait()
		require.Equal(t, []string{`emit {"type":"notice","text":"Starting pi …"}`}, h.all())
		require.EqualError(t, <-opened, "pi did not answer within 60 seconds.")
	})
}

// Proves: EF-08
func TestAnEngineWithoutTheBridge(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t)
		f.mute = true
		at := engine.Place{Cwd: dir, Dir: dir, ID: fakeID, Permit: true}
		_, err := f.engineOf(Options{}).Open(t.Context(), at, newHost(t))
		require.EqualError(t, err, "pi cannot ask for permission: the extension of xcsh-ls did not report.")

		f = newFake(t)
		f.mute = true
		e := f.engineOf(Options{})
		at.Permit = false
		opened, err := e.Open(t.Context(), at, newHost(t))
		require.NoError(t, err)
		require.Len(t, opened.Notices, 1)
		require.Equal(t, engine.Can{Steer: true, Compact: true, Images: true, Models: true, Login: true}, e.Can())
		_, err = e.Move(t.Context(), "e", engine.Summary{})
		require.True(t, fault.Is(err, fault.Denied), "%v", err)
		require.NoError(t, e.Close(t.Context()))
	})
}

// Proves: EF-12
func TestAResponseInAHalfLineIsFound(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	half := false
	f.on(func(c fakeCommand) bool {
		if c.typ() != "get_available_models" {
			return false
		}
		half = true
		id, _ := c["id"].(string)
		f.raw(`{"half": {"id":"` + id + `","type":"response","command":"x","success":true,"data":{"models":[{"id":"m","provider":"p","name":"M","headers":{"a":"b"},"baseUrl":"u"}]}}`)
		return true
	})
	e := f.open(newHost(t))
	models, err := e.Models(t.Context())
	require.NoError(t, err)
	require.True(t, half)
	require.Equal(t, []provider.Info{{Model: provider.Model{ID: "m", Provider: "p", Name: "M"}, Available: true}}, models)
}

// A response that never comes is an error, and pi is ended if it does not answer at all.
// Proves: EF-12
func TestALostResponse(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t)
		e := f.engineOf(Options{})
		_, err := e.Open(t.Context(), engine.Place{Cwd: dir, Dir: dir, ID: fakeID, Permit: true}, newHost(t))
		require.NoError(t, err)
		f.on(func(c fakeCommand) bool { return c.typ() == "get_commands" })
		_, err = e.Commands(t.Context())
		require.EqualError(t, err, "pi did not answer get_commands.")
		_, err = e.Models(t.Context())
		require.NoError(t, err)
		f.on(func(fakeCommand) bool { return true })
		_, err = e.Commands(t.Context())
		require.Error(t, err)
		<-e.Done()
		require.EqualError(t, e.Err(), "pi does not answer any more.")
	})
}

func TestCloseIsNoFailure(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	e := f.open(newHost(t))
	require.NoError(t, e.Close(t.Context()))
	<-e.Done()
	require.NoError(t, e.Err())
	_, err := e.Models(t.Context())
	require.EqualError(t, err, "pi has been ended.")
	require.NoError(t, e.Close(t.Context()))

	unused := New(engine.Program{}, Options{})
	require.NoError(t, unused.Close(t.Context()))
	<-unused.Done()
	_, err = unused.Open(t.Context(), testPlace(t), newHost(t))
	require.Error(t, err)
}

// lingering is a pi whose output ends before it does.
type lingering struct {
	*fakePi
	over chan struct{}
}

func (l lingering) Exit() exit {
	<-l.over
	return l.fakePi.Exit()
}

// Until pi has ended, it may write to the session file, so that the engine has not ended either.
func TestTheEngineEndsWithTheProcess(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t)
		e, over := f.engineOf(Options{}), make(chan struct{})
		start := e.start
		e.start = func(ctx context.Context, cmd command) (process, error) {
			_, err := start(ctx, cmd)
			return lingering{f, over}, err
		}
		_, err := e.Open(t.Context(), engine.Place{Cwd: dir, Dir: dir, ID: fakeID, Permit: true}, newHost(t))
		require.NoError(t, err)
		closed := make(chan error, 1)
		go func() { closed <- e.Close(context.Background()) }()
		synctest.Wait()
		select {
		case <-e.Done():
			t.Error("the engine has ended before pi")
		default:
		}
		close(over)
		require.NoError(t, <-closed)
		<-e.Done()
	})
}
