package commands_test

import (
	"context"
	"iter"
	"strings"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/agent/provider/catalog"
	"github.com/xcsh-ls/xcsh-ls/commands"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

// argumentsFor returns arguments with which a command that may run returns without asking.
func argumentsFor(spec commands.Spec) args {
	known := fields(spec.Args)
	a := args{}
	for name, value := range map[string]any{"target": file1, "path": "/w/out.html", "scope": "all", "id": "0"} {
		if _, ok := known[name]; ok {
			a[name] = value
		}
	}
	return a
}

// In a restricted workspace, every command either needs trust and is refused, or runs and
// leaves every session as it is.
func TestEveryCommandInARestrictedWorkspace(t *testing.T) {
	t.Parallel()
	for _, spec := range commands.Default.Specs() {
		t.Run(spec.Name, func(t *testing.T) {
			t.Parallel()
			fs := afero.NewMemMapFs()
			write(t, fs, file1, talk(id1)...)
			write(t, fs, strings.TrimSuffix(file1, ".jsonl")+"/0.bash.log", "output")
			require.NoError(t, fs.MkdirAll("/w", 0o700))
			env := newEnv(fs)
			env.Restricted = func() bool { return true }
			before := tree(t, fs)
			a := argumentsFor(spec)
			if _, ok := fields(spec.Args)["source"]; ok {
				a["source"] = file1
			}
			_, err := run(t.Context(), env, spec.Name, a)
			after := tree(t, fs)
			if spec.Flags.Has(commands.NeedsTrust) {
				requireKind(t, fault.Denied, err)
				require.Equal(t, before, after)
				require.Nil(t, env.Sessions.Live("/w"), "no session was opened")
				return
			}
			switch spec.Name {
			case "xcsh.change":
				requireKind(t, fault.NotFound, err) // the session changed no file
			case "xcsh.team.follow":
				requireKind(t, fault.Refused, err) // there is no team store
			default:
				require.NoError(t, err)
			}
			if spec.Flags.Has(commands.ReadOnly) {
				require.Equal(t, before, after)
				return
			}
			require.Subset(t, after, before)
			require.Len(t, after, len(before)+1, "one file was written")
		})
	}
}

func TestATrustedWorkspaceIsNotRestricted(t *testing.T) {
	t.Parallel()
	env := newEnv(afero.NewMemMapFs())
	env.Restricted = func() bool { return false }
	do(t, env, "xcsh.new", nil)
}

// A command that needs a file fails in an in-memory session before the user is asked for anything.
func TestEveryCommandThatNeedsAFileInMemory(t *testing.T) {
	t.Parallel()
	env := newEnv(afero.NewMemMapFs(), func(c *agent.Config) { c.InMemory = true })
	env.UI = noQuestions{t: t}
	want := map[string]string{
		"xcsh.resume":     "--resume requires session persistence",
		"xcsh.fork":       "Fork failed (session not persisted or cancelled)",
		"xcsh.export":     "Cannot export in-memory session to HTML",
		"xcsh.share":      "Cannot export in-memory session to HTML",
		"xcsh.transcript": "The session is in memory only; xcsh.dump returns its text.",
		"xcsh.move":       "Cannot move an in-memory session",
	}
	for _, spec := range commands.Default.Specs() {
		if !spec.Flags.Has(commands.NeedsPersistent) {
			require.NotContains(t, want, spec.Name)
			continue
		}
		_, err := run(t.Context(), env, spec.Name, nil)
		requireKind(t, fault.NotPersistent, err)
		require.EqualError(t, err, want[spec.Name])
	}
	_, err := run(t.Context(), env, "xcsh.fork", args{"source": "missing"})
	requireKind(t, fault.NotPersistent, err)
	require.EqualError(t, err, "--fork requires session persistence")
}

// While a turn runs, each command with NeedsIdle is refused before the user is asked for
// anything.
func TestEveryCommandThatNeedsAnIdleSession(t *testing.T) {
	t.Parallel()
	w := envWithRunningTurn(t)
	w.UI = noQuestions{t: t}
	refused := 0
	for _, spec := range commands.Default.Specs() {
		if spec.Flags.Has(commands.NeedsIdle) {
			_, err := run(t.Context(), w, spec.Name, nil)
			requireKind(t, fault.Busy, err)
			require.Contains(t, err.Error(), "Wait for the current response to finish or abort it before ")
			require.False(t, strings.HasSuffix(err.Error(), "before ."), spec.Name)
			refused++
		}
	}
	require.Equal(t, 6, refused)
	do(t, w, "xcsh.rename", args{"title": "while a turn runs"})
}

// envWithRunningTurn returns an Env whose session in /w has a turn that ends with the test.
func envWithRunningTurn(t *testing.T) *commands.Env {
	t.Helper()
	fs := afero.NewMemMapFs()
	model := silentModel{asked: make(chan struct{})}
	env := newEnv(fs, withDemo(fs), func(c *agent.Config) {
		c.Models = &catalog.Catalog{
			Fs: fs, AgentDirs: []string{agentDir}, Getenv: func(string) string { return "" },
			Services: map[provider.API]provider.Provider{provider.Scripted: model},
		}
	})
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = run(ctx, env, "xcsh.prompt", args{"text": "x"})
	}()
	t.Cleanup(func() {
		stop()
		<-ended
	})
	<-model.asked
	return env
}

// silentModel closes asked with the first request and answers nothing until the turn is stopped.
type silentModel struct{ asked chan struct{} }

func (m silentModel) Stream(ctx context.Context, _ provider.Request) iter.Seq[provider.Event] {
	return func(func(provider.Event) bool) {
		close(m.asked)
		<-ctx.Done()
	}
}

// noQuestions is a UI that fails the test if a command asks the user.
type noQuestions struct {
	commands.Headless
	t *testing.T
}

func (n noQuestions) Ask(_ context.Context, q commands.Question) (int, error) {
	n.t.Errorf("asked %q", q.Text)
	return commands.Unasked, nil
}

func (n noQuestions) Input(_ context.Context, r commands.InputRequest) (string, bool, error) {
	n.t.Errorf("asked %q", r.Title)
	return "", false, nil
}
