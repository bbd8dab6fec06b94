package session_test

import (
	"math/rand"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/session"
)

// TestFuzzyScoreVectors compares with the scores that xcsh itself gave.
func TestFuzzyScoreVectors(t *testing.T) {
	t.Parallel()
	var cases []struct {
		Query, Text string
		Matches     bool
		Score       float64
	}
	readJSON(t, filepath.Join(fixtures, "xcsh/fuzzy-score.json"), &cases)
	for _, c := range cases {
		score, ok := session.FuzzyScore(c.Query, c.Text)
		require.Equal(t, c.Matches, ok, "%q in %q", c.Query, c.Text)
		if ok {
			require.InDelta(t, c.Score, score, 0, "%q in %q", c.Query, c.Text)
		}
	}
}

func TestFuzzyFilterVectors(t *testing.T) {
	t.Parallel()
	var cases []struct {
		Query         string
		Items, Result []string
	}
	readJSON(t, filepath.Join(fixtures, "xcsh/fuzzy-filter.json"), &cases)
	for _, c := range cases {
		got := session.FuzzyFilter(c.Query, c.Items, func(s string) string { return s })
		require.Equal(t, c.Result, got, c.Query)
	}
}

func TestFuzzyScoreCountsUTF16(t *testing.T) {
	t.Parallel()
	// The rocket is two units: x stands at position 2, after a gap of none.
	score, ok := session.FuzzyScore("x", "🚀x")
	require.True(t, ok)
	require.InDelta(t, 0.2, score, 0)
	_, ok = session.FuzzyScore("🚀🚀", "🚀")
	require.False(t, ok)
}

func TestSearchLooksAtEveryField(t *testing.T) {
	t.Parallel()
	info := session.Info{ID: "qqid", Title: "wwtitle", Cwd: "/eecwd", FirstMessage: "rrfirst", AllText: "ttall", Path: "/yypath"}
	for _, query := range []string{"qqid", "WWTITLE", "eecwd", "rrfirst", "ttall", "yypath", "qqid yypath", "  ttall\tqqid ", "qid wtle"} {
		require.Len(t, session.Search(query, []session.Info{info, {ID: "zz"}}), 1, query)
	}
	for _, query := range []string{"nope!", "qqid nope!", "zz qqid"} {
		require.Empty(t, session.Search(query, []session.Info{info, {ID: "zz"}}), query)
	}
	require.Equal(t, []session.Info{{ID: "b"}, {ID: "a"}}, session.Search(" \t", []session.Info{{ID: "b"}, {ID: "a"}}), "a blank query changes nothing")
}

func TestSearchPutsWordsBeforeLetters(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("lorem ipsum dolor sit amet ", 50)
	letters := session.Info{ID: "letters", AllText: "l-o-g-i-n l-o-g-i-n"}
	spoken := session.Info{ID: "spoken", AllText: long + "the login fails"}
	titled := session.Info{ID: "titled", Title: "Fix the login", AllText: long}
	got := session.Search("login", []session.Info{letters, spoken, titled})
	require.Equal(t, []string{"titled", "spoken", "letters"}, []string{got[0].ID, got[1].ID, got[2].ID})
}

// TestSearchKeepsAllAndOnlyMatches: Search reorders what the original filter finds.
func TestSearchKeepsAllAndOnlyMatches(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewSource(1))
	word := func() string {
		b := make([]rune, 1+random.Intn(5))
		for i := range b {
			b[i] = []rune("abcÄé🚀-_ .A")[random.Intn(11)]
		}
		return string(b)
	}
	for range 300 {
		var infos []session.Info
		for i := range 8 {
			infos = append(infos, session.Info{ID: string(rune('a' + i)), Title: word(), FirstMessage: word(), AllText: word() + " " + word()})
		}
		query := word() + " " + word()
		var want []string
		for _, i := range infos {
			text := i.ID + " " + i.Title + " " + i.FirstMessage + " " + i.AllText
			all := true
			for w := range strings.FieldsSeq(query) {
				_, ok := session.FuzzyScore(w, text)
				all = all && ok
			}
			if all {
				want = append(want, i.ID)
			}
		}
		var got []string
		for _, i := range session.Search(query, infos) {
			got = append(got, i.ID)
		}
		slices.Sort(got)
		require.Equal(t, want, got, query)
	}
}
