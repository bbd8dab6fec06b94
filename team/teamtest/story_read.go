package teamtest

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/team"
)

// offsets reads and returns the offsets of the segments.
func (s *scene) offsets(sid team.SID, from int64, most int) (offs []int64) {
	s.Helper()
	require.NoError(s, s.kim.Read(s.Context(), sid, 1, from, most, func(seg team.Segment) error {
		offs = append(offs, seg.Off)
		return nil
	}))
	return offs
}

func readPart(s *scene) {
	sid := s.open(s.ann, "abc", team.Shared)
	s.push(s.ann, sid, "", "0123\n", "5678\n", "abcd\n", "efgh\n")
	require.Equal(s, []int64{0, 5, 10, 15}, s.offsets(sid, 0, 100))
	require.Equal(s, []int64{0}, s.offsets(sid, 0, 1))
	require.Equal(s, []int64{0, 5}, s.offsets(sid, 4, 6))
	require.Equal(s, []int64{5, 10}, s.offsets(sid, 5, 10))
	require.Equal(s, []int64{10, 15}, s.offsets(sid, 14, 100))
	require.Equal(s, []int64{15}, s.offsets(sid, 20, 100), "the last one, also at the end")
	require.Empty(s, s.body(s.kim, sid, 2), "a generation that does not exist")
}

func readError(s *scene) {
	sid := s.open(s.ann, "abc", team.Shared)
	s.push(s.ann, sid, "", "one\n", "two\n")
	stop := errors.New("enough")
	for name, read := range map[string]func(func(team.Segment) error) error{
		"read": func(each func(team.Segment) error) error { return s.ann.Read(s.Context(), sid, 1, 0, 100, each) },
		"back": func(each func(team.Segment) error) error { return s.ann.Back(s.Context(), sid, 1, 100, 100, each) },
	} {
		calls := 0
		err := read(func(team.Segment) error { calls++; return stop })
		require.Equal(s, stop, err, name)
		require.Equal(s, 1, calls, name)
	}
	require.Equal(s, "one\ntwo\n", s.body(s.ann, sid, 1), "the connection still works")
}

func readBack(s *scene) {
	sid := s.open(s.ann, "abc", team.Shared)
	s.push(s.ann, sid, "", "0123\n", "5678\n", "abcd\n")
	for _, c := range []struct {
		before int64
		most   int
		want   string
	}{
		{15, 100, "abcd\n5678\n0123\n"},
		{15, 6, "abcd\n5678\n"},
		{10, 1, "5678\n"},
		{11, 1, "abcd\n"},
		{0, 100, ""},
	} {
		var got strings.Builder
		require.NoError(s, s.kim.Back(s.Context(), sid, 1, c.before, c.most, func(seg team.Segment) error {
			got.Write(seg.Bytes)
			return nil
		}))
		require.Equal(s, c.want, got.String(), c)
	}
}

func sumAtEnds(s *scene) {
	sid := s.open(s.ann, "abc", team.Shared)
	s.push(s.ann, sid, "", "one\n", "two\n", "three\n")
	for at, want := range map[int64]string{0: "", 3: "", 4: "one\n", 7: "one\n", 8: "one\ntwo\n", 14: "one\ntwo\nthree\n", 1 << 40: "one\ntwo\nthree\n"} {
		end, sum, err := s.kim.SumAt(s.Context(), sid, 1, at)
		require.NoError(s, err)
		require.EqualValues(s, len(want), end, at)
		require.Equal(s, sumOf(want), sum, at)
	}
}

func compactKeeps(s *scene) {
	sid := s.open(s.ann, "abc", team.Shared)
	lines := make([]string, 20)
	for i := range lines {
		lines[i] = fmt.Sprintf("line %d\n", i)
	}
	body := s.push(s.ann, sid, "", lines...)
	n, err := s.ann.Compact(s.Context(), sid)
	require.NoError(s, err)
	require.Zero(s, n, "a device writes")

	s.Advance(s, time.Minute)
	n, err = s.kim.Compact(s.Context(), sid)
	require.NoError(s, err)
	require.Equal(s, 1, n)
	require.Equal(s, []int64{0}, s.offsets(sid, 0, 1<<20))
	require.Equal(s, body, s.body(s.ann, sid, 1))
	end, sum, err := s.ann.SumAt(s.Context(), sid, 1, 1<<40)
	require.NoError(s, err)
	require.EqualValues(s, len(body), end)
	require.Equal(s, sumOf(body), sum)
	body = s.push(s.ann, sid, body, "more\n")
	require.Equal(s, body, s.body(s.kim, sid, 1))
}
