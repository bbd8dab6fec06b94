package teamtest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/team"
)

// list returns the first sessions of a list.
func (s *scene) list(l Login) []team.Info {
	s.Helper()
	infos, err := l.List(s.Context(), team.ListQuery{Project: s.project, Limit: 100})
	require.NoError(s, err)
	return infos
}

func headRevision(s *scene) {
	ctx, sid := s.Context(), s.open(s.ann, "abc", team.Shared)
	h := team.Head{Bytes: []byte("new head\n"), Rev: 1, Title: "New", FirstPrompt: "first", Messages: 3, Cost: 1.25}
	rev, err := s.ann.SetHead(ctx, sid, h)
	require.NoError(s, err)
	require.Equal(s, 2, rev)
	_, err = s.kim.SetHead(ctx, sid, h)
	s.requireKind(fault.Stale, err)
	h.Rev, h.Messages = 2, 4
	rev, err = s.kim.SetHead(ctx, sid, h)
	require.NoError(s, err)
	require.Equal(s, 2, rev, "equal bytes are the same revision")

	got, err := s.kim.Head(ctx, sid)
	require.NoError(s, err)
	require.Equal(s, "new head\n", string(got.Bytes))
	require.Equal(s, 2, got.Rev)
	info := s.list(s.ann)[0]
	require.Equal(s, []any{"New", "first", 4, 1.25}, []any{info.Title, info.FirstPrompt, info.Messages, info.Cost})

	_, err = s.ann.Head(ctx, team.NewSID())
	s.requireKind(fault.NotFound, err)
}

func plainTexts(s *scene) {
	o := s.opening("abc")
	o.Title = "a\x00b\xff"
	known, err := s.ann.Open(s.Context(), o)
	require.NoError(s, err)
	require.Equal(s, "ab\uFFFD", s.list(s.ann)[0].Title)
	_, err = s.ann.SetHead(s.Context(), known[0].SID, team.Head{Rev: 1, Title: "\x00t\xfe", FirstPrompt: strings.Repeat("é\x00", 300)})
	require.NoError(s, err)
	require.Equal(s, "t\uFFFD", s.list(s.ann)[0].Title)
	require.Equal(s, strings.Repeat("é", 200), s.list(s.ann)[0].FirstPrompt)
	require.NoError(s, s.ann.Said(s.Context(), known[0].SID, 0, 1, []team.Text{{Entry: "\x00e\xff", Body: "nul\x00 word \xff"}}))
	hits, err := s.kim.Search(s.Context(), []int{s.project}, "wo\x00rd", 10)
	require.NoError(s, err)
	require.Len(s, hits, 1)
	require.Equal(s, "e\uFFFD", hits[0].Entry)
}

func listPages(s *scene) {
	var want []team.SID
	for i := range 10 {
		want = append(want, s.open(s.ann, fmt.Sprintf("id%d", i), team.Shared))
	}
	s.open(s.kim, "hidden", team.Private)
	slices.Reverse(want)
	var got []team.SID
	q := team.ListQuery{Project: s.project, Limit: 3}
	for range 4 {
		page, err := s.ann.List(s.Context(), q)
		require.NoError(s, err)
		for _, i := range page {
			got = append(got, i.SID)
			q.Before, q.BeforeSID = i.Modified, i.SID
		}
	}
	require.Equal(s, want, got)
	page, err := s.ann.List(s.Context(), q)
	require.NoError(s, err)
	require.Empty(s, page)
}

func listWriter(s *scene) {
	sid := s.open(s.ann, "abc", team.Shared)
	body := s.push(s.kim, sid, "", "one\n")
	i := s.list(s.ann)[0]
	require.InDelta(s, 30*time.Second, i.WriterLeft, float64(25*time.Second))
	i.WriterLeft, i.Modified = 0, time.Time{}
	i.Created = i.Created.UTC()
	require.Equal(s, team.Info{
		SID: sid, Project: s.project, Owner: "ann", Visible: team.Shared, HeaderID: "abc", Dialect: session.Pi, Title: "Title of abc",
		Bytes: int64(len(body)), Created: s.opening("").Created, Writer: "laptop of kim",
	}, i)
	s.Advance(s, time.Minute)
	require.Empty(s, s.list(s.ann)[0].Writer)
	require.Zero(s, s.list(s.ann)[0].WriterLeft)
}

func changesWithoutGaps(s *scene) {
	writing, stop := context.WithCancel(s.Context())
	var opened [8][]team.SID
	followed := make(chan map[team.SID]bool)
	go func() {
		seen := map[team.SID]bool{}
		var cursor team.Cursor
		for last := false; ; {
			infos, next, err := s.kim.Changes(s.Context(), s.project, cursor)
			if assert.NoError(s, err) {
				assert.GreaterOrEqual(s, next, cursor)
			}
			cursor = next
			for _, i := range infos {
				seen[i.SID] = true
			}
			if last || err != nil {
				followed <- seen
				return
			}
			last = writing.Err() != nil // one more call after the last writer
		}
	}()
	atOnce(func(w int) {
		for i := range 6 {
			o := s.opening(fmt.Sprintf("w%di%d", w, i))
			_, err := s.ann.Open(s.Context(), o)
			if assert.NoError(s, err) {
				opened[w] = append(opened[w], o.SID)
			}
		}
	})
	stop()
	seen := <-followed
	for _, sid := range slices.Concat(opened[:]...) {
		require.True(s, seen[sid])
	}
	require.Len(s, seen, 48)
}

func changesOfDeletion(s *scene) {
	ctx, sid := s.Context(), s.open(s.ann, "abc", team.Shared)
	infos, cursor, err := s.kim.Changes(ctx, s.project, 0)
	require.NoError(s, err)
	require.Len(s, infos, 1)
	require.False(s, infos[0].Deleted)
	require.NoError(s, s.ann.Delete(ctx, sid, false))
	infos, cursor, err = s.kim.Changes(ctx, s.project, cursor)
	require.NoError(s, err)
	require.Len(s, infos, 1)
	require.True(s, infos[0].Deleted)
	require.Equal(s, sid, infos[0].SID)
	require.Empty(s, s.list(s.kim))
	require.NoError(s, s.ann.Delete(ctx, sid, true))
	infos, _, err = s.kim.Changes(ctx, s.project, cursor)
	require.NoError(s, err)
	require.Len(s, infos, 1)
	require.False(s, infos[0].Deleted)
}

func tipsChange(s *scene) {
	ctx := s.Context()
	one, two := s.open(s.ann, "one", team.Shared), s.open(s.ann, "two", team.Shared)
	both := []team.SID{one, two, team.NewSID()}
	lengths, cursor, err := s.kim.Tips(ctx, both, 0)
	require.NoError(s, err)
	require.ElementsMatch(s, []team.Length{{SID: one, Gen: 1}, {SID: two, Gen: 1}}, lengths)
	body := ""
	for _, text := range []string{"a\n", "bb\n"} {
		body = s.push(s.ann, two, body, text)
		lengths, cursor, err = s.kim.Tips(ctx, both, cursor)
		require.NoError(s, err)
		require.Contains(s, lengths, team.Length{SID: two, Gen: 1, Len: int64(len(body))})
	}
	lengths, _, err = s.kim.Tips(ctx, nil, 0)
	require.NoError(s, err)
	require.Empty(s, lengths)
}

func followerIsHeard(s *scene) {
	sid := s.open(s.ann, "abc", team.Shared)
	body := s.push(s.ann, sid, "", "one\n")
	require.NoError(s, s.login("reader", 1).Follow(s.Context(), []team.SID{sid, team.NewSID()}))
	require.True(s, s.tip(s.ann, sid).Heard)
	t := s.try(s.ann, next(sid, s.tip(s.ann, sid), body, "two\n"))
	require.True(s, t.Heard)
	s.Advance(s, 91*time.Second)
	t = s.try(s.ann, next(sid, t, body+"two\n", "three\n"))
	require.Equal(s, team.OK, t.Code)
	require.False(s, t.Heard)
}

func earWakes(s *scene) {
	sid := s.open(s.ann, "abc", team.Shared)
	woken := make(chan team.SID)
	hearing, stop := context.WithCancel(s.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- s.kim.Ear(hearing, func(sid team.SID) {
			select {
			case woken <- sid:
			case <-hearing.Done():
			}
		})
	}()
	again := time.NewTicker(20 * time.Millisecond) // the ear may not listen yet
	defer again.Stop()
	for got := false; !got; {
		s.ann.Tell(s.Context(), sid, 12)
		select {
		case heard := <-woken:
			got = heard == sid // a notification of an earlier story can come first
		case <-again.C:
		case err := <-ended:
			require.Fail(s, "the ear ended", "%v", err)
		}
	}
	stop()
	s.requireKind(fault.Cancelled, <-ended)
}

// mineOfAllProjects: the page after page list of ann's sessions has those of two projects, private and deleted ones, and none of kim.
func mineOfAllProjects(s *scene) {
	ctx := s.Context()
	ann := s.login("lister", 2) // in no other story
	other, err := ann.Project(ctx, s.team, "name:other", "Other")
	require.NoError(s, err)
	var want []team.SID
	for i, visible := range []team.Visibility{team.Shared, team.Private, team.Shared} {
		want = append(want, s.open(ann, fmt.Sprintf("mine%d", i), visible))
	}
	o := s.opening("elsewhere")
	o.Project = other.ID
	_, err = ann.Open(ctx, o)
	require.NoError(s, err)
	want = append(want, o.SID)
	s.open(s.kim, "kims", team.Shared)
	require.NoError(s, ann.Delete(ctx, want[2], false))
	slices.Reverse(want)

	var got []team.SID
	q := team.ListQuery{Limit: 3}
	for range 2 {
		page, err := ann.Mine(ctx, q)
		require.NoError(s, err)
		for _, i := range page {
			require.Equal(s, i.SID == want[1], i.Deleted)
			got = append(got, i.SID)
			q.Before, q.BeforeSID = i.Modified, i.SID
		}
	}
	require.Equal(s, want, got)
	s.Member(s, "lister", s.team, 0)
	s.Member(s, "lister", s.team+"-x", 2)
	page, err := ann.Mine(ctx, team.ListQuery{Limit: 10})
	require.NoError(s, err)
	require.Empty(s, page, "not those of a team that the user left")
}

func infosByID(s *scene) {
	ctx := s.Context()
	shared, private, deleted := s.open(s.ann, "abc", team.Shared), s.open(s.ann, "def", team.Private), s.open(s.ann, "ghi", team.Shared)
	require.NoError(s, s.ann.Delete(ctx, deleted, false))
	all := []team.SID{shared, private, deleted, team.NewSID()}
	for login, want := range map[Login][]team.SID{s.ann: {shared, private}, s.kim: {shared}} {
		infos, err := login.Infos(ctx, all)
		require.NoError(s, err)
		var got []team.SID
		for _, i := range infos {
			got = append(got, i.SID)
			if i.SID == shared {
				require.Equal(s, []any{"abc", "Title of abc", s.project}, []any{i.HeaderID, i.Title, i.Project})
			}
		}
		require.ElementsMatch(s, want, got)
	}
	none, err := s.ann.Infos(ctx, nil)
	require.NoError(s, err)
	require.Empty(s, none)
}

func projectsOfTeams(s *scene) {
	mine := team.Project{ID: s.project, Team: s.team, Key: "name:web"}
	s.Member(s, "outsider", s.team+"-x", 3)
	outsider := s.device("outsider")
	theirs, err := outsider.Project(s.Context(), s.team+"-x", "name:web", "Web")
	require.NoError(s, err)
	for login, want := range map[Login][2]team.Project{s.kim: {mine, theirs}, outsider: {theirs, mine}} {
		projects, err := login.Projects(s.Context())
		require.NoError(s, err)
		require.Contains(s, projects, want[0])
		require.NotContains(s, projects, want[1])
	}
}
