package teamtest

import (
	"strings"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/team"
)

func helloDescribes(s *scene) {
	ann, err := s.ann.Hello(s.Context(), team.Device{ID: team.NewDeviceID(), Label: "desk"})
	require.NoError(s, err)
	kim, err := s.kim.Hello(s.Context(), team.Device{ID: team.NewDeviceID(), Label: "devbox"})
	require.NoError(s, err)
	require.Contains(s, ann.Speaks, team.Protocol)
	require.False(s, ann.StoreID.IsZero())
	require.Equal(s, ann.StoreID, kim.StoreID)
	require.Equal(s, 1, ann.Epoch)
	require.Equal(s, "ann", ann.Display)
	require.Equal(s, "kim", kim.Display)
	require.NotEqual(s, ann.User, kim.User)
	require.False(s, ann.Replica)
}

func helloRefuses(s *scene) {
	_, err := s.connect("stranger").Hello(s.Context(), team.Device{ID: team.NewDeviceID()})
	s.requireKind(fault.Refused, err)

	left := s.login("leaver", 3)
	sid := s.open(left, "abc", team.Shared)
	s.Leave(s, "leaver")
	_, err = left.Hello(s.Context(), team.Device{ID: team.NewDeviceID()})
	s.requireKind(fault.Refused, err)
	s.requireGone(left.Tip(s.Context(), sid))
	require.Equal(s, team.OK, s.tip(s.ann, sid).Code, "the session stays")
}

func labelsAreCut(s *scene) {
	label := strings.Repeat("é", 2*team.MaxLabel)
	_, err := s.ann.Hello(s.Context(), team.Device{ID: team.NewDeviceID(), Label: "a\x00\xff" + label})
	require.NoError(s, err)
	s.push(s.ann, s.open(s.ann, "abc", team.Shared), "", "line\n")
	infos, err := s.ann.List(s.Context(), team.ListQuery{Project: s.project, Limit: 1})
	require.NoError(s, err)
	require.Equal(s, "a\uFFFD"+label[:2*(team.MaxLabel-2)], infos[0].Writer)
}

func projectOnce(s *scene) {
	again, err := s.kim.Project(s.Context(), s.team, "name:web", "another display")
	require.NoError(s, err)
	require.Equal(s, team.Project{ID: s.project, Team: s.team, Key: "name:web"}, again)
	other, err := s.kim.Project(s.Context(), s.team, "git:github.com/acme/web#", "web")
	require.NoError(s, err)
	require.NotEqual(s, s.project, other.ID)

	reader := s.login("reader", 1)
	require.Equal(s, s.project, s.projectOf(reader))
	_, err = reader.Project(s.Context(), s.team, "name:new", "new")
	s.requireKind(fault.NotFound, err)
	s.Member(s, "outsider", s.team+"-x", 3)
	_, err = s.device("outsider").Project(s.Context(), s.team, "name:web", "web")
	s.requireKind(fault.NotFound, err)
}

func openOnce(s *scene) {
	o := s.opening("abc")
	known, err := s.ann.Open(s.Context(), o)
	require.NoError(s, err)
	require.Len(s, known, 1)
	require.Equal(s, o.SID, known[0].SID)
	require.Zero(s, known[0].Variant)
	require.Equal(s, team.Shared, known[0].Visible)

	again, err := s.ann.Open(s.Context(), o)
	require.NoError(s, err)
	require.Equal(s, known, again)
	o.SID = team.NewSID()
	again, err = s.kim.Open(s.Context(), o)
	require.NoError(s, err)
	require.Equal(s, known, again, "the second file with this id is the same session, of its first owner")
	s.requireGone(s.kim.Tip(s.Context(), o.SID))

	require.Equal(s, team.Tip{Code: team.OK, Gen: 1, Sum: team.EmptySum}, s.tip(s.kim, known[0].SID))
	h, err := s.kim.Head(s.Context(), known[0].SID)
	require.NoError(s, err)
	require.Equal(s, team.Head{Bytes: o.Head, Rev: 1, FileName: o.FileName, Dialect: session.Pi, HeaderID: "abc"}, h)
}

func openAtOnce(s *scene) {
	var found [8][]team.Known
	atOnce(func(i int) {
		o, l := s.opening("abc"), s.ann
		if i%2 == 1 {
			l = s.kim
		}
		var err error
		found[i], err = l.Open(s.Context(), o)
		assert.NoError(s, err)
	})
	for _, known := range found {
		require.Len(s, known, 1)
		require.Equal(s, found[0], known)
	}
}

func openDeleted(s *scene) {
	sid := s.open(s.ann, "abc", team.Shared)
	require.NoError(s, s.ann.Delete(s.Context(), sid, false))
	for _, l := range []Login{s.ann, s.kim} {
		known, err := l.Open(s.Context(), s.opening("abc"))
		require.NoError(s, err)
		require.Empty(s, known)
	}
	require.NoError(s, s.ann.Delete(s.Context(), sid, true))
	require.Equal(s, sid, s.open(s.kim, "abc", team.Shared))
}

func openReader(s *scene) {
	reader := s.login("reader", 1)
	_, err := reader.Open(s.Context(), s.opening("abc"))
	s.requireKind(fault.Denied, err)
	sid := s.open(s.ann, "abc", team.Shared)
	require.Equal(s, sid, s.open(reader, "abc", team.Shared))
}

func openHostile(s *scene) {
	for _, name := range []string{"../x.jsonl", "CON", ".jsonl", "a/b.jsonl", "x.jsonl\n", strings.Repeat("x", 4000) + ".jsonl", "é.jsonl"} {
		o := s.opening("abc")
		o.FileName = name
		_, err := s.ann.Open(s.Context(), o)
		s.requireKind(fault.InvalidArgument, err)
	}
	for _, id := range []string{"", strings.Repeat("x", 5000)} {
		o := s.opening("abc")
		o.HeaderID = id
		_, err := s.ann.Open(s.Context(), o)
		s.requireKind(fault.InvalidArgument, err)
	}
	infos, err := s.ann.List(s.Context(), team.ListQuery{Project: s.project, Limit: 10})
	require.NoError(s, err)
	require.Empty(s, infos)
}

func privateIsHidden(s *scene) {
	sid := s.open(s.ann, "abc", team.Private)
	s.push(s.ann, sid, "", "secret\n")
	for _, missing := range []team.SID{sid, team.NewSID()} {
		s.seesNothing(s.kim, missing)
		s.changesNothing(s.kim, missing)
	}
	admin := s.login("admin", 3)
	s.seesNothing(admin, sid)
	require.Equal(s, "secret\n", s.body(s.device("ann"), sid, 1), "another device of the owner reads it")
}

// seesNothing requires that no method reveals the session, which is in the story's project if anywhere.
func (s *scene) seesNothing(l Login, sid team.SID) {
	s.Helper()
	s.requireGone(l.Tip(s.Context(), sid))
	require.Empty(s, s.body(l, sid, 1))
	require.NoError(s, l.Back(s.Context(), sid, 1, 1<<40, 1<<20, func(team.Segment) error { s.Fatal("a segment"); return nil }))
	at, sum, err := l.SumAt(s.Context(), sid, 1, 1<<40)
	require.NoError(s, err)
	require.Zero(s, at)
	require.Equal(s, team.EmptySum, sum)
	_, err = l.Head(s.Context(), sid)
	s.requireKind(fault.NotFound, err)
	infos, err := l.List(s.Context(), team.ListQuery{Project: s.project, Limit: 10})
	require.NoError(s, err)
	require.Empty(s, infos)
	infos, _, err = l.Changes(s.Context(), s.project, 0)
	require.NoError(s, err)
	require.Empty(s, infos)
	lengths, _, err := l.Tips(s.Context(), []team.SID{sid}, 0)
	require.NoError(s, err)
	require.Empty(s, lengths)
}

// changesNothing requires that every method that writes refuses the session.
func (s *scene) changesNothing(l Login, sid team.SID) {
	s.Helper()
	ctx := s.Context()
	s.requireGone(l.Append(ctx, next(sid, team.Tip{Gen: 1, Sum: team.EmptySum}, "", "x\n")))
	s.requireGone(l.Lease(ctx, sid, true))
	require.NoError(s, l.Release(ctx, sid, 1))
	s.requireGone(l.Fork(ctx, team.Forking{SID: sid, Gen: 1, New: team.NewSID()}))
	s.requireKind(fault.Stale, l.Stage(ctx, team.Stage{SID: sid, Gen: 2, Was: team.EmptySum, Bytes: []byte("x\n"), Sum: sumOf("x\n")}))
	s.requireGone(l.Publish(ctx, team.Publish{SID: sid, WasGen: 1, WasSum: team.EmptySum, Gen: 2, Sum: team.EmptySum}))
	_, err := l.SetHead(ctx, sid, team.Head{Bytes: []byte("{}\n"), Rev: 1})
	s.requireKind(fault.Stale, err)
	s.requireKind(fault.Denied, l.Said(ctx, sid, 0, 10, []team.Text{{Body: "x"}}))
	s.requireKind(fault.Denied, l.PutBlob(ctx, s.project, sid, []byte("image")))
	lacking, err := l.Lacks(ctx, s.project, sid, []team.Sum{sumOf("image")})
	require.NoError(s, err)
	require.Equal(s, []team.Sum{sumOf("image")}, lacking)
	s.requireKind(fault.Denied, l.Delete(ctx, sid, false))
	s.requireKind(fault.Denied, l.Delete(ctx, sid, true))
	n, err := l.Compact(ctx, sid)
	require.NoError(s, err)
	require.Zero(s, n)
}

func hiddenIDGetsVariant(s *scene) {
	hidden := s.open(s.ann, "abc", team.Private)
	o := s.opening("abc")
	known, err := s.kim.Open(s.Context(), o)
	require.NoError(s, err)
	require.Len(s, known, 1)
	require.Equal(s, o.SID, known[0].SID)
	require.Equal(s, 1, known[0].Variant)
	both, err := s.ann.Open(s.Context(), s.opening("abc"))
	require.NoError(s, err)
	require.Len(s, both, 2)
	require.Equal(s, hidden, both[0].SID)

	// A fork takes a number that is free also among the hidden ones.
	fork, err := s.ann.Fork(s.Context(), team.Forking{SID: hidden, Gen: 1, New: team.NewSID()})
	require.NoError(s, err)
	require.Equal(s, team.OK, fork.Code, "a private fork")
	fork, err = s.kim.Fork(s.Context(), team.Forking{SID: o.SID, Gen: 1, New: team.NewSID()})
	require.NoError(s, err)
	require.Equal(s, team.OK, fork.Code, "behind a private fork")
}

func otherTeam(s *scene) {
	sid := s.open(s.ann, "abc", team.Shared)
	s.push(s.ann, sid, "", "line\n")
	s.Member(s, "outsider", s.team+"-x", 3)
	outsider := s.device("outsider")
	s.seesNothing(outsider, sid)
	s.changesNothing(outsider, sid)
	_, err := outsider.Open(s.Context(), s.opening("abc"))
	s.requireKind(fault.Denied, err)
	n, err := outsider.Purge(s.Context(), s.project, true)
	require.NoError(s, err)
	require.Zero(s, n)
	require.Equal(s, "line\n", s.body(s.ann, sid, 1))
}

func readerChangesNothing(s *scene) {
	sid := s.open(s.ann, "abc", team.Shared)
	s.push(s.ann, sid, "", "line\n")
	reader := s.login("reader", 1)
	s.changesNothing(reader, sid)
	require.Equal(s, "line\n", s.body(reader, sid, 1))
	require.Equal(s, team.OK, s.tip(reader, sid).Code)
}
