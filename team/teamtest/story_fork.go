package teamtest

import (
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/team"
)

// fork forks and returns the answer.
func (s *scene) fork(l Login, sid team.SID, at int64, as team.SID) team.Tip {
	s.Helper()
	t, err := l.Fork(s.Context(), team.Forking{SID: sid, Gen: 1, At: at, New: as, Head: []byte(`{"id":"abc"}` + "\n")})
	require.NoError(s, err)
	return t
}

func forkShares(s *scene) {
	sid, as := s.open(s.ann, "abc", team.Shared), team.NewSID()
	body := s.push(s.ann, sid, "", "one\n", "two\n", "three\n")
	t := s.fork(s.kim, sid, 8, as)
	require.Equal(s, team.OK, t.Code)
	require.EqualValues(s, 8, t.Len)
	require.Equal(s, sumOf("one\ntwo\n"), t.Sum)
	require.EqualValues(s, 1, t.Fence)
	require.False(s, t.Device.IsZero())

	other := s.push(s.kim, as, "one\ntwo\n", "four\n")
	require.Equal(s, other, s.body(s.ann, as, 1))
	require.Equal(s, body, s.body(s.kim, sid, 1), "the origin is not changed")
	known, err := s.ann.Open(s.Context(), s.opening("abc"))
	require.NoError(s, err)
	require.Len(s, known, 2)
	require.Equal(s, []int{0, 1}, []int{known[0].Variant, known[1].Variant})
	require.Equal(s, as, known[1].SID)
	require.NotEqual(s, known[0].Owner, known[1].Owner, "a fork belongs to the user who forked")
	h, err := s.ann.Head(s.Context(), as)
	require.NoError(s, err)
	require.Equal(s, `{"id":"abc"}`+"\n", string(h.Bytes))
	require.Equal(s, 1, h.Variant)

	empty := s.fork(s.ann, as, 0, team.NewSID())
	require.Equal(s, team.OK, empty.Code)
	require.Zero(s, empty.Len)
	require.Equal(s, team.EmptySum, empty.Sum)
}

func forkOnce(s *scene) {
	sid, as := s.open(s.ann, "abc", team.Shared), team.NewSID()
	s.push(s.ann, sid, "", "one\n")
	atOnce(func(int) {
		t, err := s.kim.Fork(s.Context(), team.Forking{SID: sid, Gen: 1, At: 4, New: as})
		if assert.NoError(s, err) {
			assert.Equal(s, team.OK, t.Code)
		}
	})
	body := s.push(s.kim, as, "one\n", "two\n")
	again := s.fork(s.kim, sid, 4, as)
	require.Equal(s, team.OK, again.Code)
	require.EqualValues(s, len(body), again.Len)
	known, err := s.ann.Open(s.Context(), s.opening("abc"))
	require.NoError(s, err)
	require.Len(s, known, 2)

	require.NoError(s, s.kim.Delete(s.Context(), as, false))
	s.requireGone(s.kim.Fork(s.Context(), team.Forking{SID: sid, Gen: 1, At: 4, New: as}))
}

func forkAtEnd(s *scene) {
	sid := s.open(s.ann, "abc", team.Shared)
	s.push(s.ann, sid, "", "one\n", "two\n")
	for _, at := range []int64{1, 5, 9, 1 << 40, -1} {
		as := team.NewSID()
		t := s.fork(s.kim, sid, at, as)
		require.Equal(s, team.Differs, t.Code, at)
		require.EqualValues(s, 8, t.Len)
		s.requireGone(s.kim.Tip(s.Context(), as))
	}
}

// stage puts texts beside the body as generation 2.
func (s *scene) stage(l Login, sid team.SID, texts ...string) (staged string) {
	s.Helper()
	for _, text := range texts {
		p := team.Stage{SID: sid, Gen: 2, Off: int64(len(staged)), Was: sumOf(staged), Bytes: []byte(text), Sum: sumOf(staged + text)}
		require.NoError(s, l.Stage(s.Context(), p))
		staged += text
	}
	return staged
}

// publishing returns the call that replaces the body of t by the staged generation 2.
func publishing(sid team.SID, t team.Tip, staged string) team.Publish {
	return team.Publish{
		SID: sid, WasGen: t.Gen, WasLen: t.Len, WasSum: t.Sum, Gen: 2, Len: int64(len(staged)), Sum: sumOf(staged), Fence: t.Fence,
	}
}

// publish publishes and returns the answer.
func (s *scene) publish(l Login, p team.Publish) team.Tip {
	s.Helper()
	t, err := l.Publish(s.Context(), p)
	require.NoError(s, err)
	return t
}

func generationReplaces(s *scene) {
	sid := s.open(s.ann, "abc", team.Shared)
	body := s.push(s.ann, sid, "", "one\n", "two\n")
	old := s.tip(s.ann, sid)
	staged := s.stage(s.ann, sid, "1\n", "2\n")
	require.Equal(s, body, s.body(s.kim, sid, 1), "until it is published, the old body counts")
	require.Equal(s, old.Len, s.tip(s.kim, sid).Len)

	p := publishing(sid, old, staged)
	t := s.publish(s.ann, p)
	require.Equal(s, team.OK, t.Code)
	require.Equal(s, 2, t.Gen)
	require.EqualValues(s, len(staged), t.Len)
	require.Equal(s, team.Same, s.publish(s.ann, p).Code)
	require.Equal(s, staged, s.body(s.kim, sid, 2))
	require.Equal(s, body, s.body(s.kim, sid, 1), "the old body is kept")
	require.Equal(s, team.OtherGen, s.try(s.ann, next(sid, old, body, "three\n")).Code)
	staged = s.push(s.ann, sid, staged, "3\n")
	require.Equal(s, staged, s.body(s.kim, sid, 2))
}

func publishCompares(s *scene) {
	sid := s.open(s.ann, "abc", team.Shared)
	s.push(s.ann, sid, "", "one\n")
	now := s.tip(s.ann, sid)
	staged := s.stage(s.ann, sid, "1\n", "2\n")
	for name, change := range map[string]func(*team.Publish){
		"another length":     func(p *team.Publish) { p.WasLen++ },
		"another sum":        func(p *team.Publish) { p.WasSum = sumOf("x") },
		"another generation": func(p *team.Publish) { p.WasGen = 2 },
		"incomplete":         func(p *team.Publish) { p.Len++ },
		"a wrong new sum":    func(p *team.Publish) { p.Sum = sumOf("x") },
		"not staged":         func(p *team.Publish) { p.Gen = 3 },
		"an old generation":  func(p *team.Publish) { p.Gen = 1 },
		"empty":              func(p *team.Publish) { p.Len = 0 },
	} {
		p := publishing(sid, now, staged)
		change(&p)
		require.Equal(s, team.Differs, s.publish(s.ann, p).Code, name)
	}
	require.Equal(s, team.Fenced, s.publish(s.kim, publishing(sid, now, staged)).Code)
	p := publishing(sid, now, staged)
	p.Fence++
	require.Equal(s, team.Fenced, s.publish(s.ann, p).Code)
	require.Equal(s, "one\n", s.body(s.kim, sid, 1))

	empty := publishing(sid, now, "")
	t := s.publish(s.ann, empty)
	require.Equal(s, team.OK, t.Code, "every entry was removed")
	require.Zero(s, t.Len)
	require.Empty(s, s.body(s.ann, sid, 2), "the staged pieces behind its end are removed")
	s.push(s.ann, sid, "", "one again\n")
}

func stagingDoesNotMix(s *scene) {
	sid := s.open(s.ann, "abc", team.Shared)
	s.push(s.ann, sid, "", "one\n")
	s.stage(s.ann, sid, "1\n")
	theirs := s.stage(s.kim, sid, "A\n", "B\n")
	mine := team.Stage{SID: sid, Gen: 2, Off: 2, Was: sumOf("1\n"), Bytes: []byte("2\n"), Sum: sumOf("1\n2\n")}
	s.requireKind(fault.Stale, s.ann.Stage(s.Context(), mine))
	mine.Gen = 1
	s.requireKind(fault.Stale, s.ann.Stage(s.Context(), mine))
	last := team.Stage{SID: sid, Gen: 2, Off: 2, Was: sumOf("A\n"), Bytes: []byte("B\n"), Sum: sumOf("A\nB\n")}
	require.NoError(s, s.kim.Stage(s.Context(), last), "a repeated piece")
	lease, err := s.kim.Lease(s.Context(), sid, true)
	require.NoError(s, err)
	require.Equal(s, team.OK, s.publish(s.kim, publishing(sid, lease, theirs)).Code)
	require.Equal(s, theirs, s.body(s.ann, sid, 2))
}
