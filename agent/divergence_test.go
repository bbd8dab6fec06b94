package agent_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/agent/event"
	"github.com/xcsh-ls/xcsh-ls/agent/hook"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/agent/tool"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/internal/providertest"
	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/library"
)

// twoPrograms is a session that another program has open too, at the entry bbbbbbbb.
type twoPrograms struct {
	*world
	t     *testing.T
	fs    afero.Fs
	path  string
	live  *agent.Session
	model *models
}

// diverged returns a session in which the user asked "my question" here, and another program
// "their question" from the entry before it. The user's second prompt notices that.
func diverged(t *testing.T, options ...option) twoPrograms {
	t.Helper()
	p := twoPrograms{t: t, fs: afero.NewMemMapFs()}
	p.path = put(t, p.fs, "a", "0123456789abcdef", "/w")
	p.model = scripted(providertest.Reply{Text: "my answer"}, providertest.Reply{Text: "my second answer"}, providertest.Reply{Text: "my third answer"})
	p.world = newWorld(t, p.fs, append(options, withModel(p.model))...)
	t.Cleanup(func() { require.NoError(t, p.Close(context.WithoutCancel(t.Context()))) })
	p.live = p.world.live(t, "/w")
	_, err := p.live.Switch(t.Context(), p.path)
	require.NoError(t, err)
	prompt(t, p.live, "my question")
	p.write(st.User("f0000001", "bbbbbbbb", "their question"), st.Assistant("f0000002", "f0000001", "their answer"))
	require.Empty(t, eventsOf[event.ForeignBranch](p.world))
	prompt(t, p.live, "my second question")
	return p
}

// write appends lines as another program.
func (p twoPrograms) write(lines ...string) {
	p.t.Helper()
	appendTo(p.t, p.fs, p.path, lines...)
}

func appendTo(t *testing.T, fs afero.Fs, path string, lines ...string) {
	t.Helper()
	f, err := fs.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	require.NoError(t, err)
	_, err = f.WriteString(st.File(lines...))
	require.NoError(t, err)
	require.NoError(t, f.Close())
}

// sent are the texts of the last request.
func (p twoPrograms) sent() string {
	p.t.Helper()
	reqs := p.model.Requests()
	text, err := json.Marshal(reqs[len(reqs)-1].Messages)
	require.NoError(p.t, err)
	return string(text)
}

func (p twoPrograms) snapshot() agent.Snapshot {
	p.t.Helper()
	snap, err := p.live.Snapshot(p.t.Context())
	require.NoError(p.t, err)
	return snap
}

func (p twoPrograms) choose(c agent.BranchChoice) agent.Outcome {
	p.t.Helper()
	out, err := p.live.ChooseBranch(p.t.Context(), "f0000001", c)
	require.NoError(p.t, err)
	return out
}

var theirs = agent.ForeignBranch{
	BranchID: "f0000001", EntryID: "f0000002", Entries: 2, Prompt: "their question", Text: "Another program continued on another branch.",
}

// A turn of another program does not take the user's last question from the model, and the user
// learns of it once.
func TestAnotherProgramsTurnLeavesTheUsersConversation(t *testing.T) {
	t.Parallel()
	p := diverged(t)
	for _, text := range []string{"my question", "my answer", "my second question"} {
		assert.Contains(t, p.sent(), text)
	}
	assert.NotContains(t, p.sent(), "their")
	require.Equal(t, []event.ForeignBranch{event.ForeignBranch(theirs)}, eventsOf[event.ForeignBranch](p.world))
	require.Equal(t, &theirs, p.snapshot().Foreign, "a panel that opens later shows it")

	require.NoError(t, p.live.Rename(t.Context(), "title"))
	require.Len(t, eventsOf[event.ForeignBranch](p.world), 1, "nothing new")
	p.write(st.User("f0000003", "f0000002", "their next"))
	require.NoError(t, p.live.Rename(t.Context(), "other title"))
	grown := eventsOf[event.ForeignBranch](p.world)
	require.Len(t, grown, 2)
	require.Equal(t, "f0000001", grown[1].BranchID)
	require.Equal(t, "f0000003", grown[1].EntryID)
	require.Equal(t, 3, grown[1].Entries)
	require.Equal(t, "their next", grown[1].Prompt)
}

func TestFollowingAnotherProgram(t *testing.T) {
	t.Parallel()
	p := diverged(t)
	require.True(t, p.choose(agent.FollowBranch).Changed)
	require.Equal(t, "f0000002", *state(t, p.live).LeafID)
	require.Nil(t, p.snapshot().Foreign)
	reports := eventsOf[event.ForeignBranch](p.world)
	require.Equal(t, event.ForeignBranch{}, reports[len(reports)-1])

	p.write(st.User("f0000003", "f0000002", "their next"))
	prompt(t, p.live, "my third question")
	assert.Contains(t, p.sent(), "their next")
	assert.NotContains(t, p.sent(), "my question")
	_, err := p.live.ChooseBranch(t.Context(), "", agent.FollowBranch)
	require.Equal(t, fault.NotFound, fault.KindOf(err), "there is nothing to decide any more")
}

func TestStayingOnTheOwnBranch(t *testing.T) {
	t.Parallel()
	p := diverged(t)
	require.False(t, p.choose(agent.StayOnBranch).Changed)
	require.Nil(t, p.snapshot().Foreign)
	p.write(st.User("f0000003", "f0000002", "their next"))
	prompt(t, p.live, "my third question")
	assert.NotContains(t, p.sent(), "their")
	reports := eventsOf[event.ForeignBranch](p.world)
	require.Len(t, reports, 2)
	require.Equal(t, event.ForeignBranch{}, reports[1], "the branch that was decided about is not reported again")

	p.write(st.User("e0000001", "bbbbbbbb", "once more"))
	require.NoError(t, p.live.Rename(t.Context(), "title"))
	reports = eventsOf[event.ForeignBranch](p.world)
	require.Len(t, reports, 3, "another branch is")
	require.Equal(t, "e0000001", reports[2].BranchID)
}

// The user's conversation continues in a new file. The other program's file stays as it is.
func TestForkingFromAnotherProgram(t *testing.T) {
	t.Parallel()
	p := diverged(t)
	before, err := afero.ReadFile(p.fs, p.path)
	require.NoError(t, err)
	require.True(t, p.choose(agent.ForkBranch).Changed)
	require.NotEqual(t, p.path, p.live.File())
	after, err := afero.ReadFile(p.fs, p.path)
	require.NoError(t, err)
	require.Equal(t, string(before), string(after))
	require.Nil(t, p.snapshot().Foreign)
	fork, err := afero.ReadFile(p.fs, p.live.File())
	require.NoError(t, err)
	require.NotContains(t, string(fork), "their")

	p.write(st.User("f0000003", "f0000002", "their next"))
	prompt(t, p.live, "my third question")
	for _, text := range []string{"my question", "my second answer", "my third question"} {
		assert.Contains(t, p.sent(), text)
	}
}

// A hook can prevent that the leaf follows.
func TestAHookCancelsFollowing(t *testing.T) {
	t.Parallel()
	h := &veto{}
	p := diverged(t, func(c *agent.Config) { c.Hooks = []hook.Hook{h} })
	leaf := *state(t, p.live).LeafID
	h.cancel = hook.BeforeTree
	out := p.choose(agent.FollowBranch)
	require.False(t, out.Changed)
	require.NotEmpty(t, out.CancelledBy)
	require.Equal(t, leaf, *state(t, p.live).LeafID)
	require.Equal(t, &theirs, p.snapshot().Foreign)
}

// While a turn runs nothing is reported and the leaf does not move: following and forking are
// refused, and staying is remembered.
func TestNoChoiceDisturbsARunningTurn(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	path := put(t, fs, "a", "0123456789abcdef", "/w")
	inside, release := make(chan struct{}), make(chan struct{})
	wait := tool.Tool{Tool: provider.Tool{Name: "look"}, Run: func(context.Context, tool.Env, json.RawMessage) (tool.Result, error) {
		inside <- struct{}{}
		<-release
		return tool.TextResult("seen"), nil
	}}
	m := scripted(providertest.Reply{ToolCalls: []providertest.Call{{Name: "look"}}}, providertest.Reply{ToolCalls: []providertest.Call{{Name: "look"}}}, providertest.Reply{Text: "my answer"})
	w := newWorld(t, fs, withModel(m), withTools(wait))
	s := w.live(t, "/w")
	_, err := s.Switch(t.Context(), path)
	require.NoError(t, err)
	done := promptInBackground(t, s, "my question")
	<-inside
	appendTo(t, fs, path, st.User("f0000001", "bbbbbbbb", "their question"))
	release <- struct{}{}
	<-inside // the result of the first call is recorded, so that theirs is known
	for _, c := range []agent.BranchChoice{agent.FollowBranch, agent.ForkBranch} {
		_, err := s.ChooseBranch(t.Context(), "", c)
		require.Equal(t, fault.Busy, fault.KindOf(err), c)
	}
	require.Empty(t, eventsOf[event.ForeignBranch](w))
	snap, err := s.Snapshot(t.Context())
	require.NoError(t, err)
	require.Nil(t, snap.Foreign)
	release <- struct{}{}
	<-done
	reports := eventsOf[event.ForeignBranch](w)
	require.Len(t, reports, 1)
	require.Equal(t, "f0000001", reports[0].BranchID)
	require.Equal(t, []string{"session", "user", "assistant", "user", "model_change", "thinking_level_change", "user", "assistant", "user", "toolResult", "assistant", "toolResult", "assistant"}, withoutCustom(lines(t, fs, s)))
	require.NoError(t, w.Close(t.Context()))
}

func withoutCustom(types []string) (out []string) {
	for _, typ := range types {
		if typ != "custom" {
			out = append(out, typ)
		}
	}
	return out
}

// The server notices another program's lines by itself, while the session is idle, and names the
// program by its directory.
func TestAnIdleSessionReportsPisBranch(t *testing.T) {
	t.Parallel()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	places := library.AgentPlaces(filepath.Join(dir, ".pi", "agent"))
	sessions := filepath.Join(places.Sessions, "--w--")
	require.NoError(t, os.MkdirAll(sessions, 0o700))
	const id = "00000000-0000-4000-8000-000000000000"
	path := filepath.Join(sessions, "2026-01-01T00-00-00-000Z_"+id+".jsonl")
	content := st.File(st.Header(id, "/w"), st.User("aaaaaaaa", "", "one"), st.Assistant("bbbbbbbb", "aaaaaaaa", "two"), st.User("cccccccc", "bbbbbbbb", "three"))
	require.NoError(t, os.WriteFile(path, []byte(content), 0o600))

	fs := afero.NewOsFs()
	finder := library.Finder{
		Fs: fs, Home: dir, Temp: "/tmp", Now: time.Now,
		Roots: []library.Root{library.OwnRoot(library.AgentPlaces(filepath.Join(dir, "own"))), {Places: places, Dialect: session.Pi}},
	}
	m := agent.NewManager(agent.Config{Storage: agent.Storage{
		Store:  session.NewStore(session.StoreConfig{Fs: fs, DirFor: finder.DirFor, RootFor: finder.FileRoot}),
		Finder: finder, Watch: true,
	}})
	t.Cleanup(func() { require.NoError(t, m.Close(context.WithoutCancel(t.Context()))) })
	reports := make(chan event.ForeignBranch, 1000)
	m.Subscribe(func(e agent.Event) {
		if run, ok := e.(agent.RunEvent); ok {
			if b, ok := run.Event.(event.ForeignBranch); ok {
				reports <- b
			}
		}
	})
	s, err := m.Session(t.Context(), "/w")
	require.NoError(t, err)
	_, err = s.Switch(t.Context(), path)
	require.NoError(t, err)

	// The watch begins on a goroutine of its own, so pi continues until it is noticed.
	written, parent := 0, "bbbbbbbb"
	var b event.ForeignBranch
	require.Eventually(t, func() bool {
		id := fmt.Sprintf("f%07d", written)
		appendTo(t, fs, path, st.User(id, parent, "pi asks"))
		written, parent = written+1, id
		select {
		case b = <-reports:
			return true
		case <-time.After(5 * settleForTest):
			return false
		}
	}, 20*time.Second, settleForTest)
	require.Equal(t, "pi", b.Program)
	require.Equal(t, "pi continued on another branch.", b.Text)
	require.Equal(t, "f0000000", b.BranchID)
	require.Equal(t, "cccccccc", *state(t, s).LeafID)
	require.Less(t, len(reports), written, "a report per change, not per line")
}
