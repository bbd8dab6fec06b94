package agent_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/agent/approval"
	"github.com/xcsh-ls/xcsh-ls/agent/change/wire"
	"github.com/xcsh-ls/xcsh-ls/agent/event"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
)

// hostile makes a session whose records say that files which steer other programs, or hold secrets, had other contents.
func hostile(t *testing.T, fs afero.Fs, paths ...string) *recorder {
	t.Helper()
	r := newRecorder(t, fs)
	lines := []string{st.Header("0123456789abcdef", "/w"), st.User("aaaaaaaa", "", "one")}
	parent := "aaaaaaaa"
	require.NoError(t, fs.MkdirAll(filepath.Dir(r.path), 0o700))
	for i, path := range paths {
		id := "rec0000" + string(rune('1'+i))
		lines = append(lines, r.line(id, parent, "aaaaaaaa", path, "evil\n", "good\n"))
		parent = id
		if !filepath.IsAbs(path) {
			path = filepath.Join("/w", path)
		}
		require.NoError(t, fs.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, afero.WriteFile(fs, path, []byte("good\n"), 0o644))
	}
	lines = append(lines, st.Assistant("bbbbbbbb", parent, "two"))
	require.NoError(t, afero.WriteFile(fs, r.path, []byte(st.File(lines...)), 0o600))
	return r
}

func TestProtectedFilesAreNotRewound(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	r := hostile(t, fs, ".git/hooks/pre-commit", "/home/u/.ssh/rc", "/keys/models.json", "/home/u/secret", "plain")
	all := wire.RewindArgs{Before: new("aaaaaaaa")}
	open := func(mode approval.Mode) *agent.Session {
		s := newWorld(t, fs, func(c *agent.Config) {
			c.Approval, c.Protected = mode, []string{"/keys"}
			c.Sensitive = func(path string) bool { return path == filepath.FromSlash("/home/u/secret") }
		}).live(t, "/w")
		_, err := s.Switch(t.Context(), r.path)
		require.NoError(t, err)
		return s
	}
	s := open(approval.Ask)
	plan, err := s.Rewind(t.Context(), all)
	require.NoError(t, err)
	require.Equal(t, 4, plan.Conflicts)
	require.Empty(t, *plan.PlanToken)
	var denied []string
	for _, p := range plan.Plan {
		if p.Action == wire.Conflict {
			require.Equal(t, wire.Denied, p.Reason)
			require.NotEmpty(t, p.Text)
			denied = append(denied, p.Path)
		}
	}
	_, err = s.Rewind(t.Context(), wire.RewindArgs{Before: new("aaaaaaaa"), DryRun: new(false)})
	require.Equal(t, fault.Conflict, fault.KindOf(err))
	for _, path := range denied {
		require.Equal(t, "good\n", content(t, fs, path))
	}
	rewindTo(t, s, wire.RewindArgs{Before: new("aaaaaaaa"), Except: denied})
	require.Equal(t, "evil\n", content(t, fs, "/w/plain"))
	require.Equal(t, "good\n", content(t, fs, "/w/.git/hooks/pre-commit"))

	// Who allowed every edit without a question also gets the folder's own files back that steer other programs, but never those of
	// a repository, credentials, or files elsewhere: the session file is not trusted.
	plan, err = open(approval.Yolo).Rewind(t.Context(), all)
	require.NoError(t, err)
	require.Equal(t, 3, plan.Conflicts)
}

// Paths of the arguments may be relative to the folder: one that is left out must not be rewound because of its form.
func TestPathsRelativeToTheFolder(t *testing.T) {
	t.Parallel()
	w, s, _ := rewinding(t)
	rewindTo(t, s, wire.RewindArgs{Before: new("cccccccc"), Except: []string{"./a"}})
	require.Equal(t, "A\nb\nc\nd\nE\n", content(t, w.fs, "/w/a"))
	require.Equal(t, "none", content(t, w.fs, "/w/new"))
}

// Proves: RW-08
func TestAStalePlanNamesThePath(t *testing.T) {
	t.Parallel()
	w, s, _ := rewinding(t)
	a := wire.RewindArgs{Before: new("cccccccc")}
	plan, err := s.Rewind(t.Context(), a)
	require.NoError(t, err)
	require.NoError(t, afero.WriteFile(w.fs, "/w/new", []byte("mine\n"), 0o644))
	a.PlanToken = *plan.PlanToken
	_, err = s.Rewind(t.Context(), a)
	require.Equal(t, fault.Stale, fault.KindOf(err))
	f, _ := errors.AsType[*fault.Error](err)
	require.Equal(t, filepath.FromSlash("/w/new"), f.Data["path"])
	require.Equal(t, "A\nb\nc\nd\nE\n", content(t, w.fs, "/w/a"))
}

// A journal that could not be removed is ended later, without taking back what the user did since, and without a second record.
// Proves: RW-06
func TestARewindWhoseJournalStays(t *testing.T) {
	t.Parallel()
	base := afero.NewMemMapFs()
	r := newRecorder(t, base)
	r.write()
	faulty := &st.FaultFs{Fs: base, At: 1, Mode: st.Dead, On: func(op, name string) bool {
		return op == "remove" && strings.HasSuffix(name, "rewind.commit.json")
	}}
	pointers := func(c *agent.Config) { c.Changes.Pointers = "/own/rewinds" }
	w := newWorld(t, faulty, pointers)
	s := w.live(t, "/w")
	_, err := s.Switch(t.Context(), r.path)
	require.NoError(t, err)
	done := rewindTo(t, s, wire.RewindArgs{Before: new("cccccccc")})
	require.True(t, faulty.Fired())
	require.NoError(t, afero.WriteFile(base, "/w/a", []byte("mine\n"), 0o644))

	next := newWorld(t, base, pointers)
	c, err := next.ChangesOf(t.Context(), r.path, wire.ChangesQuery{})
	require.NoError(t, err)
	require.True(t, c.Interrupted)
	require.NoError(t, w.Close(t.Context()))
	_, err = next.RecoverRewinds(t.Context())
	require.NoError(t, err)
	require.Equal(t, "mine\n", content(t, base, "/w/a"))
	require.Equal(t, "none", content(t, base, "/w/new"))
	require.Equal(t, 1, strings.Count(content(t, base, r.path), `"undoes"`))
	c, err = next.ChangesOf(t.Context(), r.path, wire.ChangesQuery{Since: "session"})
	require.NoError(t, err)
	require.False(t, c.Interrupted)
	require.Equal(t, done.ID, c.Rewinds[0].ID)
}

// interruptedRewind returns files as a process left them that died between the decision of a rewind and its first swap.
func interruptedRewind(t *testing.T) (left afero.Fs, path string) {
	t.Helper()
	base := afero.NewMemMapFs()
	r := newRecorder(t, base)
	r.write()
	dead := false
	faulty := &st.FaultFs{Fs: base, At: 1, Mode: st.Dead, On: func(op, name string) bool {
		dead = dead || op == "rename" && strings.Contains(name, ".xcsh-") || op == "rename" && filepath.ToSlash(name) == "/w/new"
		return dead
	}}
	w := newWorld(t, faulty, func(c *agent.Config) { c.Changes.Pointers = "/own/rewinds" })
	s := w.live(t, "/w")
	_, err := s.Switch(t.Context(), r.path)
	require.NoError(t, err)
	_, err = s.Rewind(t.Context(), wire.RewindArgs{Before: new("cccccccc"), DryRun: new(false)})
	require.Error(t, err)
	require.True(t, faulty.Fired())
	return copied(t, base), r.path
}

// A recovery at the start of a program has no session that a client knows: it says what it did, and announces nothing later.
// Proves: RW-05 (at the start)
func TestARecoveryAtTheStartLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	left, path := interruptedRewind(t)
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, left, func(c *agent.Config) { c.Changes.Pointers = "/own/rewinds" })
		notes, err := w.RecoverRewinds(t.Context())
		require.NoError(t, err)
		require.Equal(t, []string{"An interrupted rewind was completed."}, notes)
		require.Equal(t, "A\nb\nc\nd\ne\n", content(t, left, "/w/a"))
		require.Equal(t, "none", content(t, left, "/w/new"))
		require.Equal(t, 1, strings.Count(content(t, left, path), `"undoes"`))
		<-time.After(time.Second) // of the bubble's clock
		synctest.Wait()
		require.Empty(t, runEvents[event.ChangesChanged](w))
		require.NoError(t, w.Close(t.Context()))
	})
}
