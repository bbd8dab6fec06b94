package teamtest

import (
	"strings"
	"sync"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/team"
)

func appendGrows(s *scene) {
	sid := s.open(s.ann, "abc", team.Shared)
	t := s.try(s.ann, next(sid, s.tip(s.ann, sid), "", "one\n"))
	require.Equal(s, team.OK, t.Code)
	require.Equal(s, 1, t.Gen)
	require.EqualValues(s, 4, t.Len)
	require.Equal(s, sumOf("one\n"), t.Sum)
	require.EqualValues(s, 1, t.Fence)
	require.False(s, t.Device.IsZero())
	require.Equal(s, 30*time.Second, t.Left)
	require.False(s, t.Heard)

	u := s.try(s.ann, next(sid, t, "one\n", "two\n"))
	require.Equal(s, team.OK, u.Code)
	require.EqualValues(s, 1, u.Fence, "the writer stays")
	require.Equal(s, "one\ntwo\n", s.body(s.kim, sid, 1))
	require.Equal(s, u.Device, s.tip(s.kim, sid).Device)
}

func appendSame(s *scene) {
	sid := s.open(s.ann, "abc", team.Shared)
	a := next(sid, s.tip(s.ann, sid), "", "one\n")
	first := s.try(s.ann, a)
	again := s.try(s.ann, a)
	require.Equal(s, team.Same, again.Code)
	require.Equal(s, first.Len, again.Len)
	require.Equal(s, team.Same, s.try(s.kim, a).Code, "another server on the machine sent it")
	require.Equal(s, "one\n", s.body(s.ann, sid, 1))
}

func appendCodes(s *scene) {
	sid := s.open(s.ann, "abc", team.Shared)
	s.push(s.ann, sid, "", "one\n", "two\n")
	now := s.tip(s.ann, sid)
	for code, change := range map[team.Code]func(*team.Append){
		team.Ahead:    func(a *team.Append) { a.Len, a.Sum = 4, sumOf("one\n") },
		team.Short:    func(a *team.Append) { a.Len = 12 },
		team.Differs:  func(a *team.Append) { a.Sum = sumOf("other") },
		team.OtherGen: func(a *team.Append) { a.Gen = 2 },
		team.Fenced:   func(a *team.Append) { a.Fence-- },
	} {
		a := next(sid, now, "one\ntwo\n", "three\n")
		change(&a)
		got := s.try(s.ann, a)
		require.Equal(s, code, got.Code)
		require.Equal(s, now.Len, got.Len, "%s says what the store has", code)
		require.Equal(s, now.Sum, got.Sum)
	}
	unknown := next(team.NewSID(), now, "one\ntwo\n", "three\n")
	s.requireGone(s.ann.Append(s.Context(), unknown))
	require.Equal(s, "one\ntwo\n", s.body(s.ann, sid, 1))
	require.NoError(s, s.ann.Delete(s.Context(), sid, false))
	s.requireGone(s.ann.Append(s.Context(), next(sid, now, "one\ntwo\n", "three\n")))
}

func appendEmpty(s *scene) {
	sid := s.open(s.ann, "abc", team.Shared)
	for range 2 {
		_, err := s.ann.Append(s.Context(), next(sid, s.tip(s.ann, sid), "", ""))
		s.requireKind(fault.InvalidArgument, err)
	}
	err := s.ann.Stage(s.Context(), team.Stage{SID: sid, Gen: 2, Was: team.EmptySum, Sum: team.EmptySum})
	s.requireKind(fault.InvalidArgument, err)
	s.push(s.ann, sid, "", "one\n")
}

func bytesAreExact(s *scene) {
	sid := s.open(s.ann, "abc", team.Shared)
	all := make([]byte, 256)
	for i := range all {
		all[i] = byte(i)
	}
	want := s.push(s.ann, sid, "", "\x00\xff\xfe\n", `{"text":"\u0000 \ud800"}`+"\r\n", string(all), strings.Repeat("long ", 200_000)+"\n", "\n")
	require.Equal(s, want, s.body(s.kim, sid, 1))
}

// atOnce calls f for i from 0 to 7 in goroutines, and returns when all have ended.
func atOnce(f func(i int)) {
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() { f(i) })
	}
	all.Wait()
}

func appendAtOnce(s *scene) {
	sid := s.open(s.ann, "abc", team.Shared)
	a := next(sid, s.tip(s.ann, sid), "", "one\n")
	var codes [8]team.Code
	atOnce(func(i int) {
		t, err := s.ann.Append(s.Context(), a)
		assert.NoError(s, err)
		codes[i] = t.Code
	})
	count := map[team.Code]int{}
	for _, code := range codes {
		count[code]++
	}
	require.Equal(s, map[team.Code]int{team.OK: 1, team.Same: 7}, count)
	require.Equal(s, "one\n", s.body(s.ann, sid, 1))
}

func appendRace(s *scene) {
	sid := s.open(s.ann, "abc", team.Shared)
	begin := s.tip(s.ann, sid)
	var codes [8]team.Code
	texts := []string{"one\n", "two\n", "three\n", "four\n", "five\n", "six\n", "seven\n", "eight\n"}
	atOnce(func(i int) {
		l := s.ann
		if i%2 == 1 {
			l = s.kim
		}
		t, err := l.Append(s.Context(), next(sid, begin, "", texts[i]))
		assert.NoError(s, err)
		codes[i] = t.Code
	})
	winner := ""
	for i, code := range codes {
		if code == team.OK {
			require.Empty(s, winner, "only one append may win")
			winner = texts[i]
			continue
		}
		require.Equal(s, team.Ahead, code)
	}
	require.NotEmpty(s, winner)
	require.Equal(s, winner, s.body(s.ann, sid, 1))
}

func leaseExcludes(s *scene) {
	sid := s.open(s.ann, "abc", team.Shared)
	body := s.push(s.ann, sid, "", "one\n")
	a := next(sid, s.tip(s.kim, sid), body, "two\n")
	require.Equal(s, team.Fenced, s.try(s.kim, a).Code)
	s.Advance(s, 20*time.Second) // the rest is for a slow machine
	require.Equal(s, team.Fenced, s.try(s.kim, a).Code)
	s.Advance(s, 11*time.Second)
	require.Zero(s, s.tip(s.kim, sid).Left)
	t := s.try(s.kim, a)
	require.Equal(s, team.OK, t.Code)
	require.EqualValues(s, 2, t.Fence)
}

func appendExtends(s *scene) {
	sid := s.open(s.ann, "abc", team.Shared)
	body := s.push(s.ann, sid, "", "one\n")
	s.Advance(s, 20*time.Second)
	body = s.push(s.ann, sid, body, "two\n")
	s.Advance(s, 20*time.Second)
	require.Equal(s, team.Fenced, s.try(s.kim, next(sid, s.tip(s.kim, sid), body, "three\n")).Code)
}

func leaseLife(s *scene) {
	ctx, sid := s.Context(), s.open(s.ann, "abc", team.Shared)
	mine, err := s.ann.Lease(ctx, sid, false)
	require.NoError(s, err)
	require.Equal(s, team.OK, mine.Code)
	require.EqualValues(s, 1, mine.Fence)

	busy, err := s.kim.Lease(ctx, sid, false)
	require.NoError(s, err)
	require.Equal(s, team.Busy, busy.Code)
	require.Equal(s, mine.Device, busy.Device)
	require.Greater(s, busy.Left, 20*time.Second)

	s.Advance(s, 20*time.Second)
	mine, err = s.ann.Lease(ctx, sid, false)
	require.NoError(s, err)
	require.EqualValues(s, 1, mine.Fence, "renewed")
	require.Greater(s, mine.Left, 29*time.Second)

	theirs, err := s.kim.Lease(ctx, sid, true)
	require.NoError(s, err)
	require.Equal(s, team.OK, theirs.Code)
	require.EqualValues(s, 2, theirs.Fence)
	busy, err = s.ann.Lease(ctx, sid, false)
	require.NoError(s, err)
	require.Equal(s, team.Busy, busy.Code)

	require.NoError(s, s.ann.Release(ctx, sid, mine.Fence))
	require.NoError(s, s.kim.Release(ctx, sid, mine.Fence))
	require.Equal(s, theirs.Device, s.tip(s.ann, sid).Device, "neither another device nor an old fence releases")
	require.NoError(s, s.kim.Release(ctx, sid, theirs.Fence))
	free := s.tip(s.ann, sid)
	require.True(s, free.Device.IsZero())
	require.Zero(s, free.Left)
	mine, err = s.ann.Lease(ctx, sid, false)
	require.NoError(s, err)
	require.EqualValues(s, 3, mine.Fence, "a fence never shrinks")
}

func sleeperIsFenced(s *scene) {
	sid := s.open(s.ann, "abc", team.Shared)
	body := s.push(s.ann, sid, "", "one\n")
	asleep := next(sid, s.tip(s.ann, sid), body, "late\n")
	s.Advance(s, time.Hour)
	lease, err := s.kim.Lease(s.Context(), sid, false)
	require.NoError(s, err)
	require.Equal(s, team.OK, lease.Code)
	require.Equal(s, team.Fenced, s.try(s.ann, asleep).Code)
	body = s.push(s.kim, sid, body, "two\n")
	require.Equal(s, team.Ahead, s.try(s.ann, asleep).Code)
	require.Equal(s, body, s.body(s.ann, sid, 1))
}
