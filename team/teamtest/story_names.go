package teamtest

import (
	"slices"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/team"
)

func teamsOfUser(s *scene) {
	of := func(l Login) (found []team.Membership) {
		teams, err := l.Teams(s.Context())
		require.NoError(s, err)
		require.True(s, slices.IsSortedFunc(teams, func(a, b team.Membership) int { return slices.Compare([]rune(a.Team), []rune(b.Team)) }))
		for _, m := range teams {
			if m.Team == s.team {
				found = append(found, m)
			}
		}
		return found
	}
	require.Equal(s, []team.Membership{{Team: s.team, Level: 2, Readers: 2}}, of(s.ann))
	reader := s.login("reader", 1)
	require.Equal(s, []team.Membership{{Team: s.team, Level: 1, Readers: 3}}, of(reader))
	s.Member(s, "outsider", s.team+"-x", 3)
	require.Empty(s, of(s.device("outsider")))
	gone := s.login("quitter", 1)
	s.Leave(s, "quitter")
	require.Empty(s, of(gone))
	require.Equal(s, 3, of(s.ann)[0].Readers, "users who left read nothing")
	s.Member(s, "reader", s.team, 0)
	require.Equal(s, 2, of(s.ann)[0].Readers)
	require.Empty(s, of(reader))
}

func writerHasName(s *scene) {
	of := func(l Login, sid team.SID) team.Writer {
		w, err := l.Writer(s.Context(), sid)
		require.NoError(s, err)
		return w
	}
	sid := s.open(s.ann, "abc", team.Shared)
	require.Zero(s, of(s.ann, sid))
	tip, err := s.ann.Lease(s.Context(), sid, false)
	require.NoError(s, err)
	w := of(s.kim, sid)
	require.Greater(s, w.Left, 20*time.Second)
	w.Left = 0
	require.Equal(s, team.Writer{Device: tip.Device, Label: "laptop of ann", Owner: "ann"}, w)
	require.True(s, of(s.device("ann"), sid).Mine, "another device of the user")
	s.Advance(s, 31*time.Second)
	require.Equal(s, w, of(s.kim, sid), "the last writer, without time")
	require.NoError(s, s.ann.Release(s.Context(), sid, tip.Fence))
	require.Zero(s, of(s.kim, sid))

	hidden := s.open(s.ann, "hidden", team.Private)
	_, err = s.ann.Lease(s.Context(), hidden, false)
	require.NoError(s, err)
	require.True(s, of(s.ann, hidden).Mine)
	require.Zero(s, of(s.kim, hidden))
	require.Zero(s, of(s.kim, team.NewSID()))
}
