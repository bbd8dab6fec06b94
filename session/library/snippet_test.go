package library_test

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/sessiontest/kit"
	"github.com/xcsh-ls/xcsh-ls/session/library"
)

// marked returns the text of a snippet with its ranges in brackets.
func marked(s *library.Snippet) string {
	if s == nil {
		return ""
	}
	units := utf16.Encode([]rune(s.Text))
	var out []uint16
	at := 0
	for _, r := range s.Ranges {
		out = append(append(append(out, units[at:r[0]]...), '['), units[r[0]:r[1]]...)
		out = append(out, ']')
		at = r[1]
	}
	return string(utf16.Decode(append(out, units[at:]...)))
}

// A search says how a session fits, shows where, and names the message to go to.
func TestASearchShowsWhy(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	f := kit.NewFinder(fs)
	kit.PutSession(t, fs, kit.SessionsRoot+"/-x/1.jsonl", titled("named", "/w", "Fix the Parser"), 0)
	kit.PutSession(t, fs, kit.SessionsRoot+"/-x/2.jsonl", kit.Chat("asked", "/w", "Why does the 🚀 parser fail?", "hm"), time.Hour)
	long := strings.Repeat("lorem ipsum ", 40)
	kit.PutSession(t, fs, kit.SessionsRoot+"/-x/3.jsonl", kit.Chat("answered", "/w", "hello", "nothing", long+"the\nPARSER and\tits parser tests "+long), 2*time.Hour)
	kit.PutSession(t, fs, kit.SessionsRoot+"/-x/4.jsonl", kit.Chat("like", "/w", "the parrser"), 3*time.Hour)
	type found struct{ id, match, snippet, entry string }
	var got []found
	for _, i := range searched(t, f, "parser") {
		got = append(got, found{i.ID, i.Fits, marked(i.Snippet), i.EntryID})
	}
	require.Equal(t, []found{
		{"named", "exact", "Fix the [Parser]", ""},
		{"asked", "exact", "Why does the 🚀 [parser] fail?", "e0"},
		{"answered", "exact", "…ipsum lorem ipsum lorem ipsum the [PARSER] and its [parser] tests " + got[2].snippet[strings.Index(got[2].snippet, "lorem ipsum lorem ipsum lorem"):], "e2"},
		{"like", "fuzzy", "the [pa]r[rser]", "e0"},
	}, got)
	require.Less(t, len(got[2].snippet), 300)
}

// The snippet is from the message that has most of the words.
func TestASnippetHasMostWords(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	f := kit.NewFinder(fs)
	kit.PutSession(t, fs, kit.SessionsRoot+"/-x/1.jsonl", kit.Chat("a", "/w", "hello", "only alpha", "beta after alpha"), 0)
	found := searched(t, f, "alpha beta")
	require.Len(t, found, 1)
	require.Equal(t, "[beta] after [alpha]", marked(found[0].Snippet))
	require.Equal(t, "e2", found[0].EntryID)
}

// Letters that are far from each other are no match: almost any text has them somewhere.
func TestFarLettersAreNotSimilar(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	f := kit.NewFinder(fs)
	kit.PutSession(t, fs, kit.SessionsRoot+"/-x/1.jsonl", kit.Chat("a", "/w", "a puzzle: jazz, quick queues, exact axes; zoo, zebra, quartz, quit, box, fox"), 0)
	require.Empty(t, searched(t, f, "zzqqxx"))
	require.Empty(t, searched(t, f, "pzz puzzle zzqqxx"))
	require.NotEmpty(t, searched(t, f, "pzzl"))
	require.Empty(t, searched(t, f, "zq"), "almost anything is similar to two letters")
}

// Hostile texts make neither a snippet with control characters nor a slow search.
func TestSnippetsOfHostileTexts(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	f := kit.NewFinder(fs)
	kit.PutSession(t, fs, kit.SessionsRoot+"/-x/1.jsonl", kit.Chat("a", "/w", "hello", "needle\x1b[31m \u202Eneedle"+strings.Repeat("needle", 100_000)), 0)
	kit.PutSession(t, fs, kit.SessionsRoot+"/-x/2.jsonl", kit.Chat("b", "/w", strings.Repeat("ne", 500_000)), time.Hour)
	found := searched(t, f, "needle")
	require.Len(t, found, 1)
	require.NotContains(t, found[0].Snippet.Text, "\x1b")
	require.NotContains(t, found[0].Snippet.Text, "\u202E")
	require.Less(t, len(found[0].Snippet.Text), 400)
	require.LessOrEqual(t, len(found[0].Snippet.Ranges), 50)
	require.Empty(t, searched(t, f, fmt.Sprint(strings.Repeat("n", 5000), "x")))
}
