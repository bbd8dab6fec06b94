package agent_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/change/wire"
	"github.com/xcsh-ls/xcsh-ls/agent/event"
	"github.com/xcsh-ls/xcsh-ls/internal/providertest"
)

// Records within 300 ms are one event, each later change is another one, and its counts are those of xcsh.changes at that moment.
// The folder is its own: locks of files are those of the process, and must not be shared with other bubbles.
func TestChangesAreAnnouncedOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		fs := afero.NewMemMapFs()
		require.NoError(t, afero.WriteFile(fs, "/announced/a", []byte("1\n2\n3\n"), 0o644))
		w, s := editing(t, fs, "/announced", []providertest.Reply{
			answerOf(t, "write", fields{"path": "b", "content": "x\ny\n"}, "edit", fields{"path": "a", "edits": []fields{{"oldText": "1", "newText": "one"}}}),
			answerOf(t, "edit", fields{"path": "a", "edits": []fields{{"oldText": "3", "newText": "three"}}}),
			{Text: "Done."},
			{Text: "Nothing to do."},
		})
		seen := 0
		// next returns the only event since the last call.
		next := func() event.ChangesChanged {
			t.Helper()
			<-time.After(time.Second) // of the bubble's clock
			synctest.Wait()
			events := runEvents[event.ChangesChanged](w)
			require.Len(t, events, seen+1)
			seen = len(events)
			e := events[seen-1]
			c, err := s.Changes(t.Context(), wire.ChangesQuery{Since: "session"})
			require.NoError(t, err)
			require.Equal(t, c.Totals, e.Totals)
			require.Equal(t, paths(c), e.Paths)
			return e
		}
		quiet := func() {
			t.Helper()
			<-time.After(time.Second)
			synctest.Wait()
			require.Len(t, runEvents[event.ChangesChanged](w), seen)
		}
		prompt(t, s, "go")
		require.Empty(t, runEvents[event.ChangesChanged](w), "it waits for more")
		e := next()
		require.Equal(t, wire.Totals{Files: 2, Added: 4, Removed: 2, Pending: 3}, e.Totals)
		require.Equal(t, []string{"/announced/a", "/announced/b"}, e.Paths)
		newest := e.Record
		require.NotEmpty(t, newest)

		prompt(t, s, "on")
		quiet()

		c, err := s.Changes(t.Context(), wire.ChangesQuery{Since: "session", Path: "/announced/a"})
		require.NoError(t, err)
		require.Equal(t, newest, c.Files[0].Records[len(c.Files[0].Records)-1], "the newest record")
		_, err = s.Keep(t.Context(), wire.KeepArgs{Hunks: []wire.HunkRef{{Path: "/announced/a", Hunk: c.Files[0].Hunks[0].Hunk}}})
		require.NoError(t, err)
		e = next()
		require.Empty(t, e.Record, "nothing was recorded")
		require.Equal(t, 2, e.Totals.Pending)

		done := rewindTo(t, s, wire.RewindArgs{Paths: []string{"/announced/b"}})
		e = next()
		require.Equal(t, done.ID, e.Record)
		require.Equal(t, 1, e.Totals.Pending)

		_, err = s.Keep(t.Context(), wire.KeepArgs{All: true})
		require.NoError(t, err)
		require.Zero(t, next().Totals.Pending)
		_, err = s.Keep(t.Context(), wire.KeepArgs{All: true})
		require.NoError(t, err)
		quiet()
		require.NoError(t, w.Close(t.Context()))
	})
}

// A session that ends drops what it has not announced, and announces nothing of its own afterwards.
func TestAnEndedSessionAnnouncesNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w, s := editing(t, afero.NewMemMapFs(), "/announced", []providertest.Reply{answerOf(t, "write", fields{"path": "b", "content": "x\n"}), {Text: "Done."}})
		prompt(t, s, "go")
		require.NoError(t, w.Close(t.Context()))
		<-time.After(time.Second)
		synctest.Wait()
		require.Empty(t, runEvents[event.ChangesChanged](w))
		require.NotNil(t, w.ended()[0].Changes)
	})
}
