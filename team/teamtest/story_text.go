package teamtest

import (
	"context"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/team"
)

// entries searches and returns the entries that were found.
func (s *scene) entries(l Login, query string) (found []string) {
	s.Helper()
	hits, err := l.Search(s.Context(), []int{s.project}, query, 10)
	require.NoError(s, err)
	for _, h := range hits {
		found = append(found, h.Entry)
	}
	return found
}

func searchFinds(s *scene) {
	ctx, sid := s.Context(), s.open(s.ann, "abc", team.Shared)
	texts := []team.Text{
		{Off: 0, Kind: team.PromptText, Entry: "e1", Body: "Why does the parser fail on an empty line?"},
		{Off: 100, Kind: team.AnswerText, Entry: "e2", Body: "The parser reads a line before it looks."},
		{Off: 200, Kind: team.SummaryText, Entry: "e3", Body: "Something else entirely."},
	}
	for range 2 { // a repeated call files nothing twice
		require.NoError(s, s.ann.Said(ctx, sid, 0, 300, texts))
	}
	require.Equal(s, []string{"e2", "e1"}, s.entries(s.kim, "PARSER line"))
	require.Equal(s, []string{"e1"}, s.entries(s.kim, `"empty line"`))
	require.Equal(s, []string{"e2"}, s.entries(s.kim, "parser -empty"))
	require.Empty(s, s.entries(s.kim, "parsers"))
	hits, err := s.kim.Search(ctx, []int{s.project}, "entirely", 10)
	require.NoError(s, err)
	require.Len(s, hits, 1)
	require.Equal(s, team.Hit{SID: sid, Off: 200, Kind: team.SummaryText, Entry: "e3", Excerpt: hits[0].Excerpt}, hits[0])
	require.Contains(s, hits[0].Excerpt, "<b>entirely</b>")

	require.NoError(s, s.ann.Said(ctx, sid, 100, 200, []team.Text{{Off: 150, Entry: "e4", Body: "the lexer"}}))
	require.Equal(s, []string{"e1"}, s.entries(s.kim, "parser"))
	require.Equal(s, []string{"e4"}, s.entries(s.kim, "lexer"))
	require.NoError(s, s.ann.Said(ctx, sid, 0, 200, nil))
	require.Empty(s, s.entries(s.kim, "lexer"))
	require.Equal(s, []string{"e3"}, s.entries(s.kim, "something"))
}

func searchHides(s *scene) {
	private, shared := s.open(s.ann, "abc", team.Private), s.open(s.ann, "def", team.Shared)
	for _, sid := range []team.SID{private, shared} {
		require.NoError(s, s.ann.Said(s.Context(), sid, 0, 10, []team.Text{{Entry: sid.String(), Body: "needle"}}))
	}
	require.ElementsMatch(s, []string{private.String(), shared.String()}, s.entries(s.ann, "needle"))
	require.Equal(s, []string{shared.String()}, s.entries(s.kim, "needle"))
	s.Member(s, "outsider", s.team+"-x", 3)
	require.Empty(s, s.entries(s.device("outsider"), "needle"))
	require.NoError(s, s.ann.Delete(s.Context(), shared, false))
	require.Empty(s, s.entries(s.kim, "needle"))
}

func blobsAreShared(s *scene) {
	ctx := s.Context()
	one, two := s.open(s.ann, "one", team.Shared), s.open(s.kim, "two", team.Shared)
	image, other := []byte("\x89PNG image of "+s.team), sumOf("other")
	lacking, err := s.ann.Lacks(ctx, s.project, one, []team.Sum{team.SumOf(image), other})
	require.NoError(s, err)
	require.ElementsMatch(s, []team.Sum{team.SumOf(image), other}, lacking)
	for range 2 {
		require.NoError(s, s.ann.PutBlob(ctx, s.project, one, image))
	}
	lacking, err = s.kim.Lacks(ctx, s.project, two, []team.Sum{team.SumOf(image), other})
	require.NoError(s, err)
	require.Equal(s, []team.Sum{other}, lacking, "named by the second session without being sent again")

	require.NoError(s, s.ann.Delete(ctx, one, false))
	n, err := s.ann.Purge(ctx, s.project, true)
	require.NoError(s, err)
	require.Equal(s, 1, n)
	got, err := s.ann.Blob(ctx, s.project, team.SumOf(image))
	require.NoError(s, err, "the second session names it")
	require.Equal(s, image, got)
	_, err = s.ann.Blob(ctx, s.project, other)
	s.requireKind(fault.NotFound, err)
}

func blobsAreHidden(s *scene) {
	ctx := s.Context()
	private, shared := s.open(s.ann, "abc", team.Private), s.open(s.kim, "def", team.Shared)
	image := []byte("secret image of " + s.team)
	require.NoError(s, s.ann.PutBlob(ctx, s.project, private, image))
	_, err := s.kim.Blob(ctx, s.project, team.SumOf(image))
	s.requireKind(fault.NotFound, err)
	lacking, err := s.kim.Lacks(ctx, s.project, shared, []team.Sum{team.SumOf(image)})
	require.NoError(s, err)
	require.Len(s, lacking, 1, "the answer does not reveal that the store has it")
	require.NoError(s, s.kim.PutBlob(ctx, s.project, shared, image))
	got, err := s.kim.Blob(ctx, s.project, team.SumOf(image))
	require.NoError(s, err)
	require.Equal(s, image, got)

	other, err := s.kim.Project(ctx, s.team, "name:other", "Other")
	require.NoError(s, err)
	_, err = s.kim.Blob(ctx, other.ID, team.SumOf(image))
	s.requireKind(fault.NotFound, err)
	s.requireKind(fault.Denied, s.kim.PutBlob(ctx, other.ID, shared, image))

	require.NoError(s, s.kim.Delete(ctx, shared, false))
	_, err = s.kim.Purge(ctx, s.project, true)
	require.NoError(s, err)
	got, err = s.ann.Blob(ctx, s.project, team.SumOf(image))
	require.NoError(s, err, "a purge of one user keeps the images of another's private session")
	require.Equal(s, image, got)
}

func deleteAndRestore(s *scene) {
	ctx, sid := s.Context(), s.open(s.ann, "abc", team.Shared)
	body := s.push(s.ann, sid, "", "one\n")
	for range 2 {
		require.NoError(s, s.ann.Delete(ctx, sid, false))
		s.requireGone(s.kim.Tip(ctx, sid))
		require.Empty(s, s.body(s.kim, sid, 1))
	}
	for range 2 {
		require.NoError(s, s.ann.Delete(ctx, sid, true))
		require.Equal(s, body, s.body(s.kim, sid, 1))
	}
	s.push(s.ann, sid, body, "two\n")
	lease := s.tip(s.ann, sid)
	require.NoError(s, s.ann.Delete(ctx, sid, true))
	require.Equal(s, lease.Device, s.tip(s.ann, sid).Device, "a restore of a session that is not deleted changes nothing")
}

func deleteRights(s *scene) {
	ctx, sid := s.Context(), s.open(s.ann, "abc", team.Shared)
	s.requireKind(fault.Denied, s.kim.Delete(ctx, sid, false))
	s.requireKind(fault.Denied, s.login("reader", 1).Delete(ctx, sid, false))
	require.Equal(s, team.OK, s.tip(s.kim, sid).Code)
	require.NoError(s, s.login("admin", 3).Delete(ctx, sid, false))
	s.requireKind(fault.Denied, s.kim.Delete(ctx, sid, true))
	require.NoError(s, s.ann.Delete(ctx, sid, true))
	s.requireKind(fault.Denied, s.ann.Delete(ctx, team.NewSID(), false))
}

func purgeDestroys(s *scene) {
	ctx := s.Context()
	old, kept, theirs := s.open(s.ann, "old", team.Shared), s.open(s.ann, "kept", team.Shared), s.open(s.kim, "theirs", team.Shared)
	s.push(s.ann, old, "", "one\n")
	require.NoError(s, s.ann.Delete(ctx, old, false))
	require.NoError(s, s.kim.Delete(ctx, theirs, false))
	purge := func(l Login, now bool) int {
		n, err := l.Purge(ctx, s.project, now)
		require.NoError(s, err)
		return n
	}
	require.Zero(s, purge(s.ann, false), "the trash keeps it for 30 days")
	s.Advance(s, 31*24*time.Hour)
	require.Equal(s, 1, purge(s.ann, false))
	s.requireKind(fault.Denied, s.ann.Delete(ctx, old, true))
	require.Equal(s, team.OK, s.tip(s.ann, kept).Code)
	require.NoError(s, s.kim.Delete(ctx, theirs, true))
	require.NoError(s, s.kim.Delete(ctx, theirs, false))
	require.Equal(s, 1, purge(s.login("admin", 3), true))
	require.NotEqual(s, old, s.open(s.ann, "old", team.Shared), "the id is free again")
}

func closedAndCancelled(s *scene) {
	sid := s.open(s.ann, "abc", team.Shared)
	ended, end := context.WithCancel(s.Context())
	end()
	_, err := s.ann.Tip(ended, sid)
	s.requireKind(fault.Cancelled, err)
	s.requireKind(fault.Cancelled, s.ann.Ear(ended, func(team.SID) {}))
	l := s.device("ann")
	require.NoError(s, l.Close())
	_, err = l.Tip(s.Context(), sid)
	s.requireKind(fault.Offline, err)
	_, err = s.connect("ann").Append(s.Context(), next(sid, team.Tip{}, "", "x\n"))
	s.requireKind(fault.Internal, err)
}
