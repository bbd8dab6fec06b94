package agent_test

import (
	"math/rand"
	"sync"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/agent/change/wire"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/internal/providertest"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// withIDs gives the sessions of a server other ids than those of another one.
func withIDs(seed int64) option {
	return func(c *agent.Config) {
		f := c.Finder
		c.Store = session.NewStore(session.StoreConfig{
			Fs: f.Fs, Now: f.Now, Random: rand.New(rand.NewSource(seed)), DirFor: f.DirFor, RootFor: f.FileRoot,
		})
	}
}

// replaced is an answer that replaces a text of /w/a.
func replaced(t *testing.T, from, to string) providertest.Reply {
	t.Helper()
	return answerOf(t, "edit", fields{"path": "a", "edits": []fields{{"oldText": from, "newText": to}}})
}

// inOneFolder are two sessions of two servers in one folder, whose models do the edits given: one edit per prompt.
func inOneFolder(t *testing.T, first, second [][2]string) (fs afero.Fs, one, two *agent.Session) {
	t.Helper()
	fs = afero.NewMemMapFs()
	require.NoError(t, afero.WriteFile(fs, "/w/a", []byte("1\n2\n3\n4\n5\n6\n7\n"), 0o644))
	var sessions []*agent.Session
	for i, edits := range [][][2]string{first, second} {
		var replies []providertest.Reply
		for _, e := range edits {
			replies = append(replies, replaced(t, e[0], e[1]), providertest.Reply{Text: "Done."})
		}
		_, s := editing(t, fs, "/w", replies, withIDs(int64(i+1)))
		sessions = append(sessions, s)
	}
	return fs, sessions[0], sessions[1]
}

// wholeOf returns the arguments that take back everything that a session did.
func wholeOf(t *testing.T, s *agent.Session) wire.RewindArgs {
	t.Helper()
	c, err := s.Changes(t.Context(), wire.ChangesQuery{Since: "session"})
	require.NoError(t, err)
	return wire.RewindArgs{Records: c.Files[0].Records}
}

// The lines of another session are like the user's: a rewind keeps them, and does not know the records of the other session.
// Proves: RW-33
func TestTwoSessionsInOneFolder(t *testing.T) {
	t.Parallel()
	fs, one, two := inOneFolder(t, [][2]string{{"1", "one"}, {"3", "three"}}, [][2]string{{"7", "seven"}, {"three", "drei"}})
	prompt(t, one, "go")
	prompt(t, two, "go")
	_, err := one.Rewind(t.Context(), wire.RewindArgs{Records: wholeOf(t, two).Records})
	require.Equal(t, fault.NotFound, fault.KindOf(err), "%v", err)
	done := rewindTo(t, one, wholeOf(t, one))
	require.Equal(t, "1\n2\n3\n4\n5\n6\nseven\n", content(t, fs, "/w/a"))
	rewindTo(t, one, wire.RewindArgs{Redo: &done.ID})
	require.Equal(t, "one\n2\n3\n4\n5\n6\nseven\n", content(t, fs, "/w/a"))

	// Both changed a line: who did first has to wait until the other took it back.
	prompt(t, one, "go on")
	prompt(t, two, "go on")
	const both = "one\n2\ndrei\n4\n5\n6\nseven\n"
	require.Equal(t, both, content(t, fs, "/w/a"))
	plan, err := one.Rewind(t.Context(), wholeOf(t, one))
	require.NoError(t, err)
	require.Equal(t, 1, plan.Conflicts)
	require.Equal(t, wire.Overlaps, plan.Plan[0].Reason)
	require.Equal(t, []wire.Range{{Start: 3, End: 3}}, plan.Plan[0].Places)
	refused := wholeOf(t, one)
	refused.DryRun = new(false)
	_, err = one.Rewind(t.Context(), refused)
	require.Equal(t, fault.Conflict, fault.KindOf(err))
	require.Equal(t, both, content(t, fs, "/w/a"))

	rewindTo(t, two, wholeOf(t, two))
	require.Equal(t, "one\n2\nthree\n4\n5\n6\n7\n", content(t, fs, "/w/a"))
	rewindTo(t, one, wholeOf(t, one))
	require.Equal(t, "1\n2\n3\n4\n5\n6\n7\n", content(t, fs, "/w/a"))
}

// Two sessions take back their changes of one file at the same time: both succeed, or one of them is stale and changes nothing.
// Proves: RW-33 (at once), RW-34 (two sessions)
func TestTwoSessionsRewindAtOnce(t *testing.T) {
	t.Parallel()
	for range 20 {
		fs, one, two := inOneFolder(t, [][2]string{{"1", "one"}}, [][2]string{{"7", "seven"}})
		prompt(t, one, "go")
		prompt(t, two, "go")
		want := map[bool]map[bool]string{
			true:  {true: "1\n2\n3\n4\n5\n6\n7\n", false: "1\n2\n3\n4\n5\n6\nseven\n"},
			false: {true: "one\n2\n3\n4\n5\n6\n7\n"},
		}
		sessions, errs := []*agent.Session{one, two}, make([]error, 2)
		var running sync.WaitGroup
		for i, s := range sessions {
			a := wholeOf(t, s)
			a.DryRun = new(false)
			running.Go(func() { _, errs[i] = s.Rewind(t.Context(), a) })
		}
		running.Wait()
		for _, err := range errs {
			if err != nil {
				require.Equal(t, fault.Stale, fault.KindOf(err), "%v", err)
			}
		}
		require.Equal(t, want[errs[0] == nil][errs[1] == nil], content(t, fs, "/w/a"))
	}
}
