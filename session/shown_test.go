package session_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/racetest"
	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
	"github.com/xcsh-ls/xcsh-ls/internal/sessiontest/kit"
	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/paging"
)

// ownEntry is an entry that is not shown.
func ownEntry(id, parent string) string {
	p := `null`
	if parent != "" {
		p = `"` + parent + `"`
	}
	return `{"type":"custom","customType":"xcsh-ls.toolStart","data":{"toolCallId":"c"},"id":"` + id + `","parentId":` + p + `,"timestamp":"2026-01-01T00:00:02.000Z"}`
}

func parse(t *testing.T, lines ...string) *session.Document {
	t.Helper()
	doc, err := session.Parse([]byte(st.File(lines...)))
	require.NoError(t, err)
	return doc
}

// shownTree is the tree as clients see it: "id<parent", parents first.
func shownTree(t *testing.T, d *session.Document) string {
	t.Helper()
	order, err := paging.Ordered(d)
	require.NoError(t, err)
	parents := d.ShownParents()
	var nodes []string
	for _, i := range order {
		parent := "-"
		if p := parents[i]; p >= 0 {
			parent = d.ID(p)[:1]
		}
		nodes = append(nodes, d.ID(i)[:1]+"<"+parent)
	}
	return strings.Join(nodes, " ")
}

// Hidden entries are in no tree; their children belong to the nearest entry above that is shown.
func TestOwnEntriesAreNotShown(t *testing.T) {
	t.Parallel()
	id := func(letter string) string { return strings.Repeat(letter, 8) }
	header := st.Header("0123456789abcdef", "/w")
	user := func(letter, parent string) string {
		if parent != "" {
			parent = id(parent)
		}
		return st.User(id(letter), parent, letter)
	}
	own := func(letter, parent string) string {
		if parent != "" {
			parent = id(parent)
		}
		return ownEntry(id(letter), parent)
	}
	for name, c := range map[string]struct {
		lines      []string
		tree, leaf string
	}{
		"none":                  {[]string{user("a", ""), user("b", "a")}, "a<- b<a", "b"},
		"between":               {[]string{user("a", ""), own("b", "a"), user("c", "b")}, "a<- c<a", "c"},
		"the leaf":              {[]string{user("a", ""), own("b", "a"), own("c", "b")}, "a<-", "a"},
		"the root":              {[]string{own("a", ""), user("b", "a")}, "b<-", "b"},
		"nothing else":          {[]string{own("a", ""), own("b", "a")}, "", ""},
		"branches below it":     {[]string{user("a", ""), own("b", "a"), user("c", "b"), user("d", "b"), user("e", "a")}, "a<- c<a d<a e<a", "e"},
		"the parent comes last": {[]string{user("c", "b"), user("d", "b"), own("b", "a"), user("a", "")}, "a<- c<a d<a", "a"},
		"a cycle of its own":    {[]string{own("a", "b"), own("b", "a"), user("c", "b")}, "c<-", "c"},
		"a cycle with it":       {[]string{user("a", "b"), own("b", "a"), user("c", "b")}, "a<a c<a", "c"},
		"an orphan":             {[]string{own("b", "f"), user("c", "b")}, "c<-", "c"},
		"its own parent":        {[]string{own("b", "b"), user("c", "b")}, "c<-", "c"},
	} {
		doc := parse(t, append([]string{header}, c.lines...)...)
		require.Equal(t, c.tree, shownTree(t, doc), name)
		leaf := doc.LeafID(session.AtLast())
		require.Equal(t, c.leaf, leaf[:min(1, len(leaf))], name)
	}
}

// A hostile file has long chains of hidden entries with a child at each of them.
func TestLongChainsOfHiddenEntriesTakeLinearTime(t *testing.T) {
	t.Parallel()
	racetest.Large(t)
	const n = 30_000
	lines := []string{st.Header("0123456789abcdef", "/w"), st.User("aaaaaaaa", "", "hi")}
	parent := "aaaaaaaa"
	for i := range n {
		self := fmt.Sprintf("%08x", i)
		lines = append(lines, ownEntry(self, parent))
		parent = self
	}
	for i := range n {
		lines = append(lines, fmt.Sprintf(`{"type":"label","id":"%08x","parentId":"%08x","timestamp":"x","targetId":"aaaaaaaa"}`, n+i, i))
	}
	doc := parse(t, lines...)
	var parents []int
	requireFast(t, func() { parents = doc.ShownParents() })
	for i, p := range parents {
		if i > 0 {
			require.Equal(t, 0, p)
		}
	}
	require.Equal(t, n+1, strings.Count(shownTree(t, doc), "<"))
}

// Labelling and going to a hidden entry works: commands of other clients may name it.
func TestHiddenEntriesCanBeNamed(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	before := kit.Conversation() + ownEntry("cccccccc", "bbbbbbbb") + "\n"
	kit.Put(t, fs, kit.Filed, before)
	l, err := kit.NewStore(fs).Open(kit.Filed)
	require.NoError(t, err)
	require.Equal(t, "bbbbbbbb", l.LeafID())
	require.NoError(t, l.Branch("cccccccc"))
	id, err := l.SetLabel("cccccccc", "here")
	require.NoError(t, err)
	require.NoError(t, l.View(func(d *session.Document, leaf session.Leaf) error {
		require.Equal(t, "a<- b<a "+id[:1]+"<b", shownTree(t, d))
		path := d.PathTo(leaf)
		require.Len(t, path, 4, "the chain of parents is complete")
		labels, err := d.Labels()
		require.Equal(t, map[string]string{"cccccccc": "here"}, labels)
		return err
	}))
	require.NoError(t, l.Close())
	require.True(t, strings.HasPrefix(kit.Content(t, fs, kit.Filed), before))
	require.Contains(t, kit.Content(t, fs, kit.Filed), `"parentId":"cccccccc"`)
}

// Index, adopted lines, forks and copies of the index agree about what is hidden.
func TestEveryWayToReadAnEntryHidesIt(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	kit.Put(t, fs, kit.Filed, kit.Conversation())
	s := kit.NewStore(fs)
	l, err := s.Open(kit.Filed)
	require.NoError(t, err)
	hidden := func(l *session.Log) (ids []string) {
		require.NoError(t, l.View(func(d *session.Document, _ session.Leaf) error {
			for i := range d.Len() {
				if d.Hidden(i) {
					ids = append(ids, d.ID(i))
				}
			}
			return nil
		}))
		return ids
	}
	ours := kit.MustAppend(t, l, session.DraftCustom("xcsh-ls.toolStart", []byte(`{}`)))
	kit.MustAppend(t, l, session.DraftCustom("other", []byte(`{"customType":"xcsh-ls.toolStart"}`)))
	kit.MustAppend(t, l, session.DraftCustom("xcsh-ls.import.tool", []byte(`{}`)))
	kit.Put(t, fs, kit.Filed, kit.Content(t, fs, kit.Filed)+ownEntry("not hexadecimal", ours)+"\n")
	_, err = l.Refresh()
	require.NoError(t, err)
	want := []string{ours, "not hexadecimal"}
	require.Equal(t, want, hidden(l))
	_, err = l.SetTitle(session.Title{Text: "T", Source: "user"})
	require.NoError(t, err)
	fork, err := s.Fork(l)
	require.NoError(t, err)
	require.Equal(t, want, hidden(fork)[:2])
	require.Len(t, hidden(fork), 3, "and the title")
	at, _, err := s.ForkAt(l, ours, session.AtIt)
	require.NoError(t, err)
	require.Equal(t, want[:1], hidden(at))
	require.Empty(t, at.Title().Text)
}

// A fork of a large file takes over the index of its source.
func TestAForkOfALargeFileHidesTheSameEntries(t *testing.T) {
	t.Parallel()
	racetest.Large(t)
	fs := afero.NewMemMapFs()
	kit.Put(t, fs, kit.Filed, kit.Conversation()+ownEntry("cccccccc", "bbbbbbbb")+"\n"+st.User("dddddddd", "cccccccc", strings.Repeat("x", 9<<20))+"\n")
	s := kit.NewStore(fs)
	l, err := s.Open(kit.Filed)
	require.NoError(t, err)
	fork, err := s.Fork(l)
	require.NoError(t, err)
	require.NoError(t, fork.View(func(d *session.Document, _ session.Leaf) error {
		require.Equal(t, "a<- b<a d<b", shownTree(t, d))
		return nil
	}))
	require.NoError(t, fork.Close())
	require.NoError(t, l.Close())
}

// Another program that has not read our title continues the conversation, not a branch of it.
func TestATitleIsNoStepOfTheConversation(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	kit.Put(t, fs, kit.Filed, kit.Conversation())
	l, err := kit.NewStore(fs).Open(kit.Filed)
	require.NoError(t, err)
	_, err = l.SetTitle(session.Title{Text: "T", Source: "user"})
	require.NoError(t, err)
	kit.Put(t, fs, kit.Filed, kit.Content(t, fs, kit.Filed)+st.User("cccccccc", "bbbbbbbb", "by pi")+"\n")
	_, err = l.Refresh()
	require.NoError(t, err)
	require.Equal(t, "cccccccc", l.LeafID())
	_, diverged := l.ForeignBranch()
	require.False(t, diverged)
	require.Equal(t, []string{"one", "two", "by pi"}, contextTexts(t, l))
}
