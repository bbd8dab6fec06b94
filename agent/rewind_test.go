package agent_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/agent/change"
	"github.com/xcsh-ls/xcsh-ls/agent/change/wire"
	"github.com/xcsh-ls/xcsh-ls/agent/event"
	"github.com/xcsh-ls/xcsh-ls/agent/hook"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
)

// rewinding is a live session with two turns of records.
func rewinding(t *testing.T, options ...option) (*world, *agent.Session, *recorder) {
	t.Helper()
	fs := afero.NewMemMapFs()
	r := newRecorder(t, fs)
	r.write()
	w := newWorld(t, fs, append(options, func(c *agent.Config) { c.Changes.Pointers = "/own/rewinds" })...)
	s := w.live(t, "/w")
	_, err := s.Switch(t.Context(), r.path)
	require.NoError(t, err)
	return w, s, r
}

func content(t *testing.T, fs afero.Fs, path string) string {
	t.Helper()
	raw, err := afero.ReadFile(fs, path)
	if err != nil {
		return "none"
	}
	return string(raw)
}

// rewindTo plans and carries out.
func rewindTo(t *testing.T, s *agent.Session, a wire.RewindArgs) wire.RewindResult {
	t.Helper()
	plan, err := s.Rewind(t.Context(), a)
	require.NoError(t, err)
	require.Nil(t, plan.Rewound, "it is a plan")
	require.NotEmpty(t, *plan.PlanToken, "%+v", plan)
	a.PlanToken = *plan.PlanToken
	done, err := s.Rewind(t.Context(), a)
	require.NoError(t, err)
	require.True(t, *done.Rewound)
	return done
}

func TestRewindOfATurnAndItsRedo(t *testing.T) {
	t.Parallel()
	w, s, r := rewinding(t)
	before := content(t, w.fs, r.path)
	done := rewindTo(t, s, wire.RewindArgs{Before: new("cccccccc")})
	require.Equal(t, 2, done.Files)
	require.Equal(t, "three", done.EditorText)
	require.Equal(t, "A\nb\nc\nd\ne\n", content(t, w.fs, "/w/a"))
	require.Equal(t, "none", content(t, w.fs, "/w/new"))
	require.Equal(t, "y\n", content(t, w.fs, "/w/mine"))
	after := content(t, w.fs, r.path)
	require.True(t, strings.HasPrefix(after, before), "the session only grows")
	require.Contains(t, after[len(before):], `"undoes":["rec00003","rec00004"]`)
	require.Contains(t, after[len(before):], change.RewoundType, "the model is told")
	require.Equal(t, "dddddddd", parentIn(t, after, done.ID))

	again := rewindTo(t, s, wire.RewindArgs{Redo: new("")})
	require.Equal(t, "A\nb\nc\nd\nE\n", content(t, w.fs, "/w/a"))
	require.Equal(t, "x\n", content(t, w.fs, "/w/new"))
	require.NotEqual(t, done.ID, again.ID)
	_, err := s.Rewind(t.Context(), wire.RewindArgs{Redo: new("")})
	require.Equal(t, fault.NotFound, fault.KindOf(err))
	left, err := afero.ReadDir(w.fs, "/w")
	require.NoError(t, err)
	require.Len(t, left, 3, "nothing temporary is left")
	pointers, err := afero.Glob(w.fs, "/own/rewinds/*")
	require.NoError(t, err)
	require.Empty(t, pointers)

	var told []event.Rewound
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, e := range w.events {
		if e, ok := e.(agent.RunEvent); ok {
			if e, ok := e.Event.(event.Rewound); ok {
				told = append(told, e)
			}
		}
	}
	require.Equal(t, []event.Rewound{{ID: done.ID, Files: 2}, {ID: again.ID, Files: 2, Redo: true}}, told)
}

// parentIn returns the parent of an entry of a session file.
func parentIn(t *testing.T, file, id string) string {
	t.Helper()
	for line := range strings.Lines(file) {
		if strings.Contains(line, `"id":"`+id+`"`) {
			_, rest, _ := strings.Cut(line, `"parentId":"`)
			parent, _, _ := strings.Cut(rest, `"`)
			return parent
		}
	}
	require.Fail(t, "there is no entry "+id)
	return ""
}

// The conversation goes back with the files, and stays there after a restart.
func TestRewindOfTheConversation(t *testing.T) {
	t.Parallel()
	w, s, r := rewinding(t)
	done := rewindTo(t, s, wire.RewindArgs{Before: new("cccccccc"), Conversation: true})
	require.Equal(t, "three", done.EditorText)
	require.Equal(t, "bbbbbbbb", *state(t, s).LeafID)
	require.Equal(t, "A\nb\nc\nd\ne\n", content(t, w.fs, "/w/a"))
	require.NotContains(t, content(t, w.fs, r.path), change.RewoundType, "the model does not know what it did there")
	require.NoError(t, w.Close(t.Context()))

	again := newWorld(t, w.fs)
	live := again.live(t, "/w")
	_, err := live.Switch(t.Context(), r.path)
	require.NoError(t, err)
	require.Equal(t, "bbbbbbbb", *state(t, live).LeafID)
}

// Proves: RW-16
func TestWhatTheUserChangedStays(t *testing.T) {
	t.Parallel()
	w, s, _ := rewinding(t)
	require.NoError(t, afero.WriteFile(w.fs, "/w/a", []byte("A\nb\nmine\nc\nd\nE\n"), 0o644))
	rewindTo(t, s, wire.RewindArgs{Before: new("cccccccc")})
	require.Equal(t, "A\nb\nmine\nc\nd\ne\n", content(t, w.fs, "/w/a"))
}

// Proves: RW-08, RW-17
func TestAPlanThatIsStaleOrHasConflicts(t *testing.T) {
	t.Parallel()
	w, s, r := rewinding(t)
	plan, err := s.Rewind(t.Context(), wire.RewindArgs{Before: new("cccccccc")})
	require.NoError(t, err)
	require.NoError(t, afero.WriteFile(w.fs, "/w/a", []byte("mine\n"), 0o644))
	before := content(t, w.fs, r.path)
	_, err = s.Rewind(t.Context(), wire.RewindArgs{Before: new("cccccccc"), PlanToken: *plan.PlanToken})
	require.Equal(t, fault.Stale, fault.KindOf(err))

	plan, err = s.Rewind(t.Context(), wire.RewindArgs{Before: new("cccccccc")})
	require.NoError(t, err)
	require.Equal(t, 1, plan.Conflicts)
	require.Empty(t, *plan.PlanToken)
	_, err = s.Rewind(t.Context(), wire.RewindArgs{Before: new("cccccccc"), DryRun: new(false)})
	require.Equal(t, fault.Conflict, fault.KindOf(err))
	f, _ := errors.AsType[*fault.Error](err)
	require.Equal(t, []string{"/w/a"}, f.Data["paths"])
	require.Equal(t, before, content(t, w.fs, r.path))
	require.Equal(t, "x\n", content(t, w.fs, "/w/new"))

	rewindTo(t, s, wire.RewindArgs{Before: new("cccccccc"), Except: []string{"/w/a"}})
	require.Equal(t, "mine\n", content(t, w.fs, "/w/a"))
	require.Equal(t, "none", content(t, w.fs, "/w/new"))
}

// Proves: RW-46
func TestAHookCancelsARewind(t *testing.T) {
	t.Parallel()
	for _, name := range []hook.Name{hook.BeforeRewind, hook.BeforeTree} {
		v := &veto{cancel: name}
		w, s, r := rewinding(t, func(c *agent.Config) { c.Hooks = []hook.Hook{v} })
		before := content(t, w.fs, r.path)
		a := wire.RewindArgs{Before: new("cccccccc"), Conversation: true}
		plan, err := s.Rewind(t.Context(), a)
		require.NoError(t, err)
		a.PlanToken = *plan.PlanToken
		done, err := s.Rewind(t.Context(), a)
		require.NoError(t, err)
		require.False(t, *done.Rewound)
		require.Equal(t, "hook", done.CancelledBy, "as in every other result")
		require.Equal(t, before, content(t, w.fs, r.path))
		require.Equal(t, "x\n", content(t, w.fs, "/w/new"))
	}
}

// The disk fails at each step of a rewind. Afterwards all files are old or new, and the session says which.
// Proves: RW-10
func TestEachFailingStepOfARewind(t *testing.T) {
	t.Parallel()
	for _, mode := range []st.Mode{st.Once, st.Short} {
		for n := 1; ; n++ {
			base := afero.NewMemMapFs()
			r := newRecorder(t, base)
			r.write()
			armed := false
			faulty := &st.FaultFs{Fs: base, At: n, Mode: mode, On: func(string, string) bool { return armed }}
			w := newWorld(t, faulty, func(c *agent.Config) { c.Changes.Pointers = "/own/rewinds" })
			s := w.live(t, "/w")
			_, err := s.Switch(t.Context(), r.path)
			require.NoError(t, err)
			plan, err := s.Rewind(t.Context(), wire.RewindArgs{Before: new("cccccccc")})
			require.NoError(t, err)
			armed = true
			done, err := s.Rewind(t.Context(), wire.RewindArgs{Before: new("cccccccc"), PlanToken: *plan.PlanToken})
			fired := faulty.Fired()
			armed = false
			_, endErr := s.Rewind(t.Context(), wire.RewindArgs{Records: []string{"none"}, DryRun: new(false)}) // ends an interrupted rewind
			require.Equal(t, fault.NotFound, fault.KindOf(endErr), "step %d: %v", n, endErr)
			got := content(t, base, "/w/a") + content(t, base, "/w/new")
			recorded := strings.Count(content(t, base, r.path), `"undoes"`)
			switch got {
			case "A\nb\nc\nd\ne\nnone":
				require.LessOrEqual(t, recorded, 1)
			case "A\nb\nc\nd\nE\nx\n":
				require.Zero(t, recorded, "step %d", n)
				require.Error(t, err, "step %d", n)
			default:
				require.Failf(t, "half", "step %d: %q", n, got)
			}
			names, err := afero.ReadDir(base, "/w")
			require.NoError(t, err)
			for _, name := range names {
				require.False(t, strings.HasPrefix(name.Name(), "."), "step %d: %s is left", n, name.Name())
			}
			if !fired {
				require.True(t, *done.Rewound)
				break
			}
		}
	}
}

// Records and rewinds that do not exist can't be undone.
func TestARewindOfNothing(t *testing.T) {
	t.Parallel()
	_, s, _ := rewinding(t)
	for name, a := range map[string]wire.RewindArgs{
		"no such prompt": {Before: new("zzzzzzzz")}, "no such record": {Records: []string{"zz"}}, "no such call": {ToolCallID: "zz"},
		"no such rewind": {Redo: new("zz")}, "nothing pending": {Paths: []string{filepath.FromSlash("/w/none")}},
	} {
		_, err := s.Rewind(t.Context(), a)
		require.Equal(t, fault.NotFound, fault.KindOf(err), name)
	}
}
