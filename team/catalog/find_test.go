package catalog_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/session/library"
	"github.com/xcsh-ls/xcsh-ls/team"
)

// TestATargetFindsTheStrongestKindOfMatch.
func TestATargetFindsTheStrongestKindOfMatch(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first := w.open(w.ann, "0123456789", "Parser", team.Shared)
	longer := w.open(w.ann, "01234567890", "parser", team.Shared)
	named := w.open(w.ann, "other", "01234", team.Shared)
	private := w.open(w.ann, "private", "Private", team.Private)
	for target, want := range map[string][]team.SID{
		first.String(): {first}, "0123456789": {first}, "01234567890": {longer}, "012345": {longer, first}, "01234": {named},
		longer.String()[:8]: {longer}, "PARSER": {longer, first}, "other": {named}, "pars": nil, "": nil, "private": nil, private.String(): nil,
		team.NewSID().String(): nil,
	} {
		found, err := w.c.Find(t.Context(), cwd, target)
		require.NoError(t, err, target)
		var texts []string
		for _, sid := range want {
			texts = append(texts, sid.String())
		}
		require.Equal(t, texts, sids(found), target)
	}
	w.setOffline(unreachable())
	found, err := w.c.Find(t.Context(), cwd, "other")
	require.NoError(t, err)
	require.Len(t, found, 1, "from memory")
	_, err = w.c.Find(t.Context(), cwd, "missing")
	require.True(t, fault.Is(err, fault.Offline))
}

// TestASessionOfAnotherProjectIsFoundByItsID.
func TestASessionOfAnotherProjectIsFoundByItsID(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.project = w.newProject("name:other")
	sid := w.open(w.ann, "a", "A", team.Shared)
	found, err := w.c.Find(t.Context(), cwd, sid.String())
	require.NoError(t, err)
	require.Equal(t, []string{sid.String()}, sids(found))
	require.True(t, found[0].Team.Remote)
}

// TestAUserFindsTheirSessionsInTheStoreAlone, those of all projects and of the trash.
func TestAUserFindsTheirSessionsInTheStoreAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	kim := w.connect("kim")
	w.open(w.ann, "ann", "Ann's", team.Shared)
	deleted := w.open(kim, "deleted", "Deleted", team.Shared)
	require.NoError(t, kim.Delete(t.Context(), deleted, false))
	w.project = w.newProject("name:other")
	other := w.open(kim, "other", "Other", team.Private)
	mine, err := w.c.Mine(t.Context())
	require.NoError(t, err)
	require.Len(t, mine, 2)
	require.Equal(t, []string{other.String(), "name:other", "core", "me"}, []string{mine[0].Info.Team.SID, mine[0].Project.Key, mine[0].Project.Team, mine[0].Info.Team.Visible})
	require.Equal(t, []any{deleted.String(), key, true}, []any{mine[1].Info.Team.SID, mine[1].Project.Key, mine[1].Info.Team.Deleted})
	w.setOffline(unreachable())
	_, err = w.c.Mine(t.Context())
	require.True(t, fault.Is(err, fault.Offline))
}

// file files a text of a session.
func (w *world) file(sid team.SID, text string) {
	w.t.Helper()
	require.NoError(w.t, w.ann.Said(w.t.Context(), sid, 0, 10, []team.Text{{Entry: "e1", Body: text}}))
}

// TestAQuerySearchesTheStore, and what the list shows.
func TestAQuerySearchesTheStore(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	text := w.open(w.ann, "text", "Text", team.Shared)
	w.file(text, "Why does the parser fail?")
	title := w.open(w.ann, "title", "The parser", team.Shared)
	w.open(w.ann, "none", "None", team.Shared)
	found := w.list("parser")
	require.Equal(t, []string{title.String(), text.String()}, sids(found))
	require.Nil(t, found[0].Snippet)
	require.Equal(t, "e1", found[1].EntryID)
	require.Equal(t, &library.Snippet{Text: "Why does the parser fail?", Ranges: [][2]int{{13, 19}}}, found[1].Snippet)
	searched, err := w.c.Search(t.Context(), cwd, "parser")
	require.NoError(t, err)
	require.Equal(t, []string{text.String()}, sids(searched))
	require.Equal(t, found[1].Snippet, searched[0].Snippet)
	_, err = w.c.Search(t.Context(), "/elsewhere", "parser")
	require.True(t, fault.Is(err, fault.NotFound))
	w.setOffline(unreachable())
	remote, problems, err := w.c.List(t.Context(), cwd, "the", nil)
	require.NoError(t, err)
	require.Len(t, problems, 1)
	require.Equal(t, []string{title.String()}, sids(remote), "by the titles that were seen")
}

// TestASearchFindsSessionsBeyondTheList.
func TestASearchFindsSessionsBeyondTheList(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	old := w.open(w.ann, "old", "Old", team.Shared)
	w.file(old, "needle")
	for i := range 1000 {
		w.open(w.ann, name("new%d", i), "New", team.Shared)
	}
	require.Len(t, w.list(""), 1000)
	require.Equal(t, []string{old.String()}, sids(w.list("needle")))
	found, err := w.c.Find(t.Context(), cwd, old.String())
	require.NoError(t, err)
	require.Len(t, found, 1)
}

// TestALateSearchIsInTheNextList, and is not made again for it.
func TestALateSearchIsInTheNextList(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sid := w.open(w.ann, "text", "Text", team.Shared)
	w.file(sid, "needle")
	w.list("")
	s := &slow{w.connect("kim"), make(chan struct{})}
	w.setStore(s)
	w.clock.setLate(true)
	remote, problems, err := w.c.List(t.Context(), cwd, "needle", nil)
	require.NoError(t, err)
	require.Len(t, problems, 1)
	require.Empty(t, remote)
	close(s.open)
	select {
	case <-w.changed:
	case <-time.After(time.Minute):
		t.Fatal("no notification")
	}
	s.open = make(chan struct{}) // another search would wait
	w.clock.setLate(false)
	require.Equal(t, []string{sid.String()}, sids(w.list("needle")))
}
