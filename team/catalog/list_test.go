package catalog_test

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/library"
	"github.com/xcsh-ls/xcsh-ls/team"
	"github.com/xcsh-ls/xcsh-ls/team/publish"
)

// TestLocalAndRemoteSessionsAreOneLine: a file is the session that it is sent to, or the first free variant of its id.
func TestLocalAndRemoteSessionsAreOneLine(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sent := w.open(w.ann, "sent", "Sent", team.Shared)
	variant := w.fork(w.ann, sent)
	pulled := w.open(w.ann, "pulled", "Pulled", team.Shared)
	w.open(w.ann, "hidden", "Hidden", team.Private)
	remote := w.open(w.ann, "remote", "Remote", team.Shared)
	elsewhere := w.open(w.ann, "elsewhere", "Elsewhere", team.Shared)
	w.local[elsewhere] = true // of a file that is not in the list
	w.states["/s/sent"] = publish.State{Phase: publish.Pending, SID: variant, Unsent: 7}
	local := []library.Info{{Path: "/s/sent", ID: "sent"}, {Path: "/s/pulled", ID: "pulled"}, {Path: "/s/mine", ID: "mine"}, {Path: "/s/copy", ID: "pulled"}}
	infos := w.list("", local...)
	require.Equal(t, []string{remote.String(), sent.String()}, sids(infos), "the latest first")
	require.Equal(t, library.Team{SID: variant.String(), Owner: "ann", Variant: 1, Visible: "team", Writer: "laptop of ann", WriterLeftMs: local[0].Team.WriterLeftMs, Unsent: 7}, *local[0].Team)
	require.Positive(t, local[0].Team.WriterLeftMs)
	require.Equal(t, pulled.String(), local[1].Team.SID)
	require.Nil(t, local[2].Team)
	require.Nil(t, local[3].Team, "one session is one line")
	require.Equal(t, library.Info{
		ID: "remote", Title: "Remote", Name: "Remote", HasTitle: true, FirstMessage: "(no messages)", Origin: "pi",
		Created: "2026-01-01T00:00:00.000Z", Modified: infos[0].Modified, ModTime: infos[0].ModTime, TimeAgo: infos[0].TimeAgo,
		Team: &library.Team{SID: remote.String(), Owner: "ann", Visible: "team", Remote: true},
	}, infos[0])
	require.Equal(t, "55m ago", infos[0].TimeAgo)
	again := []library.Info{{Path: "/s/sent", ID: "sent"}, {Path: "/s/unknown", ID: "x"}}
	w.states["/s/unknown"] = publish.State{SID: team.NewSID(), Unsent: 1}
	w.c.Mark(again)
	require.Equal(t, local[0].Team, again[0].Team)
	require.EqualValues(t, 1, again[1].Team.Unsent)
}

// TestNewerBytesAreCounted of a file that is sent and of one that is behind.
func TestNewerBytesAreCounted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sid := w.open(w.ann, "a", "A", team.Shared)
	line := []byte("0123456789\n")
	_, err := w.ann.Append(t.Context(), team.Append{SID: sid, Gen: 1, Sum: team.EmptySum, Bytes: line, New: team.SumOf(line)})
	require.NoError(t, err)
	local := []library.Info{{Path: "/s/a", ID: "a"}}
	for newer, state := range map[int64]publish.State{
		0: {Phase: publish.Sent, SID: sid, Agreed: 11}, 4: {Phase: publish.Sent, SID: sid, Agreed: 7}, 5: {Phase: publish.Behind, SID: sid, Newer: 5},
	} {
		w.states["/s/a"] = state
		require.Empty(t, w.list("", local...))
		require.Equal(t, newer, local[0].Team.Newer)
	}
}

// TestAListCreatesNoProject, and sends no key.
func TestAListCreatesNoProject(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.server.Member("lea", "other", 3)
	lea := w.connect("lea")
	w.setStore(lea)
	require.Empty(t, w.list(""))
	projects, err := lea.Projects(t.Context())
	require.NoError(t, err)
	require.Empty(t, projects)
	remote, problems, err := w.c.List(t.Context(), "/elsewhere", "", nil)
	require.NoError(t, err)
	require.Empty(t, problems)
	require.Empty(t, remote)
}

// TestAStoreThatDoesNotAnswerDelaysNoList: the list has what was last seen, and the caller is notified of the rest.
func TestAStoreThatDoesNotAnswerDelaysNoList(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first := w.open(w.ann, "first", "First", team.Shared)
	require.Equal(t, []string{first.String()}, sids(w.list("")))
	w.c.Close()
	w.start()
	s := &slow{w.connect("kim"), make(chan struct{})}
	w.setStore(s)
	second := w.open(w.ann, "second", "Second", team.Shared)
	w.clock.setLate(true)
	for range 2 { // callers share the call
		remote, problems, err := w.c.List(t.Context(), cwd, "", nil)
		require.NoError(t, err)
		require.Len(t, problems, 1)
		require.EqualValues(t, fault.Offline, problems[0].Kind)
		require.Equal(t, []string{first.String()}, sids(remote))
	}
	close(s.open)
	require.Equal(t, key, <-w.changed)
	w.clock.setLate(false)
	require.Equal(t, []string{second.String(), first.String()}, sids(w.list("")))
	require.Empty(t, w.changed)
}

// TestWithoutANetworkTheListIsThatOfBefore, also in the next process.
func TestWithoutANetworkTheListIsThatOfBefore(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sid := w.open(w.ann, "a", "A", team.Shared)
	require.Len(t, w.list(""), 1)
	names, err := afero.ReadDir(w.fs, dir)
	require.NoError(t, err)
	require.Len(t, names, 1)
	require.EqualValues(t, 0o600, names[0].Mode().Perm())
	w.setOffline(unreachable())
	for range 2 {
		remote, problems, err := w.c.List(t.Context(), cwd, "", nil)
		require.NoError(t, err)
		require.Equal(t, []string{sid.String()}, sids(remote))
		require.Equal(t, []session.Problem{{Kind: "offline", Message: unreachable().Error()}}, problems)
		w.c.Close()
		w.start()
	}
	w.setOffline(fault.New(fault.Refused, "The team store does not know the role kim."))
	_, problems, err := w.c.List(t.Context(), cwd, "", nil)
	require.NoError(t, err)
	require.EqualValues(t, fault.Refused, problems[0].Kind)
	for _, damaged := range []string{"", "{", `{"Key":"` + key + `","Rows":[{"SID":"x"}]}`, `{"Key":"other"}`} {
		require.NoError(t, afero.WriteFile(w.fs, dir+"/"+names[0].Name(), []byte(damaged), 0o600))
		w.start()
		remote, _, err := w.c.List(t.Context(), cwd, "", nil)
		require.NoError(t, err)
		require.Empty(t, remote)
	}
	w.fs = afero.NewReadOnlyFs(w.fs)
	w.setOffline(nil)
	w.start()
	require.Len(t, w.list(""), 1, "a disk that cannot be written costs no list")
}

// TestPollingAnnouncesChanges while a list may be shown, and ends then.
func TestPollingAnnouncesChanges(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.open(w.ann, "a", "A", team.Shared)
	require.Len(t, w.list(""), 1)
	b := w.open(w.ann, "b", "B", team.Shared)
	w.clock.ticks <- time.Time{}
	require.Equal(t, key, <-w.changed)
	require.Equal(t, []string{b.String(), a.String()}, sids(w.list("")))
	require.NoError(t, w.ann.Delete(t.Context(), a, false))
	w.clock.ticks <- time.Time{}
	require.Equal(t, key, <-w.changed)
	require.Equal(t, []string{b.String()}, sids(w.list("")))
	w.clock.pass(time.Hour)
	w.clock.ticks <- time.Time{} // ends the polling
	w.c.Close()
	require.Empty(t, w.changed)
	select {
	case w.clock.ticks <- time.Time{}:
		t.Fatal("the polling goes on")
	default:
	}
	_, problems, err := w.c.List(t.Context(), cwd, "", nil)
	require.NoError(t, err)
	require.Len(t, problems, 1, "a closed catalog has what was last seen")
}

// hostile is a store whose users wrote what they liked, and whose server does not keep to its promises.
type hostile struct {
	team.Store
	rows []team.Info
	n    int
}

func (h *hostile) List(context.Context, team.ListQuery) ([]team.Info, error) {
	h.n++
	return h.rows, nil
}

func (h *hostile) Mine(context.Context, team.ListQuery) ([]team.Info, error) { return h.rows, nil }

func (h *hostile) Changes(_ context.Context, _ int, since team.Cursor) ([]team.Info, team.Cursor, error) {
	if since == math.MaxUint64 {
		return nil, 1, nil
	}
	return h.rows, 1, nil
}

func (h *hostile) Search(context.Context, []int, string, int) (hits []team.Hit, err error) {
	for _, r := range h.rows {
		hits = append(hits, team.Hit{SID: r.SID, Entry: "e\x1b", Excerpt: strings.Repeat("<b>\x1b]0;x\a\u202e</b>", 1000)})
	}
	return hits, nil
}

func (h *hostile) Infos(context.Context, []team.SID) ([]team.Info, error) { return h.rows, nil }

// TestHostileAnswersAreBoundedAndCleaned in lists, searches and files.
func TestHostileAnswersAreBoundedAndCleaned(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	bad := strings.Repeat("\x1b[2J\u202e\xff", 1<<16)
	h := &hostile{Store: w.connect("kim")}
	same := team.NewSID()
	for i := range 5000 {
		sid := same
		if i%2 == 0 {
			sid = team.NewSID()
		}
		h.rows = append(h.rows, team.Info{
			SID: sid, Title: bad, FirstPrompt: bad, Owner: bad, Writer: bad, HeaderID: bad, Messages: -1, Bytes: math.MinInt64, Variant: -1,
			Cost: math.NaN(), WriterLeft: time.Minute, Dialect: session.Dialect(77), Created: time.Time{}.AddDate(-5, 0, 0), Modified: time.Unix(1<<40, 0),
		})
	}
	w.setStore(h)
	local := []library.Info{{Path: "/s/a", ID: bad}}
	check := func(infos []library.Info) {
		t.Helper()
		require.NotEmpty(t, infos)
		require.LessOrEqual(t, len(infos), 1000)
		require.Len(t, slices.Compact(slices.Sorted(slices.Values(sids(infos)))), len(infos), "no session is there twice")
		for _, i := range infos {
			text := strings.Join([]string{i.Title, i.Name, i.FirstMessage, i.ID, i.Team.Owner, i.Team.Writer, i.EntryID}, "")
			if i.Snippet != nil {
				text += i.Snippet.Text
				require.LessOrEqual(t, len(i.Snippet.Ranges), 50)
			}
			require.NotContains(t, text, "\x1b")
			require.NotContains(t, text, "\u202e")
			require.NotContains(t, text, "\a")
			require.LessOrEqual(t, len(text), 20_000)
			require.Zero(t, i.MessageCount)
			require.Zero(t, i.Size)
			require.Equal(t, "xcsh", i.Origin)
		}
	}
	check(w.list("", local...))
	require.Less(t, h.n, 25)
	check(w.list("", local...)) // by Changes
	check(w.list("x"))
	found, err := w.c.Search(t.Context(), cwd, "x")
	require.NoError(t, err)
	check(found)
	mine, err := w.c.Mine(t.Context())
	require.NoError(t, err)
	require.LessOrEqual(t, len(mine), 1000)
	names, err := afero.ReadDir(w.fs, dir)
	require.NoError(t, err)
	require.Len(t, names, 1)
	require.Less(t, names[0].Size(), int64(1<<20))
}

// TestAnEndedContextEndsTheList.
func TestAnEndedContextEndsTheList(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := &slow{w.connect("kim"), make(chan struct{})}
	w.setStore(s)
	ctx, stop := context.WithCancel(t.Context())
	stop()
	_, _, err := w.c.List(ctx, cwd, "", nil)
	require.True(t, fault.Is(err, fault.Cancelled))
	_, err = w.c.Find(ctx, cwd, "a")
	require.True(t, fault.Is(err, fault.Cancelled))
}

// TestAllWaitsForTheStore, unlike a list, and returns its errors.
func TestAllWaitsForTheStore(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sid := w.open(w.ann, "a", "A", team.Shared)
	infos, err := w.c.All(t.Context(), cwd)
	require.NoError(t, err)
	require.Equal(t, []string{sid.String()}, sids(infos))
	w.setOffline(fault.New(fault.Offline, "The team store cannot be reached (test)."))
	_, err = w.c.All(t.Context(), cwd)
	require.True(t, fault.Is(err, fault.Offline), "%v", err)
	infos, err = w.c.All(t.Context(), "/without/a/project")
	require.NoError(t, err)
	require.Empty(t, infos)
}

// TestEachFaultOfTheFileOfSeenSessions costs neither a list nor the file of before.
func TestEachFaultOfTheFileOfSeenSessions(t *testing.T) {
	t.Parallel()
	for _, mode := range []st.Mode{st.Once, st.Dead, st.Short} {
		for at, fired := 1, true; fired; at++ {
			w := newWorld(t)
			first := w.open(w.ann, "a", "A", team.Shared)
			_, err := w.c.All(t.Context(), cwd)
			require.NoError(t, err)
			second := w.open(w.ann, "b", "B", team.Shared)

			broken := &st.FaultFs{Fs: w.fs, At: at, Mode: mode, Reads: true}
			disk := w.fs
			w.fs = broken
			w.start()
			infos, err := w.c.All(t.Context(), cwd)
			require.NoError(t, err)
			require.ElementsMatch(t, []string{first.String(), second.String()}, sids(infos), "of the store")
			fired = broken.Fired()

			w.fs = disk
			w.setOffline(fault.New(fault.Offline, "The team store cannot be reached (test)."))
			w.start()
			infos, problems, err := w.c.List(t.Context(), cwd, "", nil)
			require.NoError(t, err)
			require.Len(t, problems, 1)
			require.Contains(t, sids(infos), first.String(), "the file of before or the new one, never half of it")
		}
	}
}
