package library_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math/rand"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf16"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
	"github.com/xcsh-ls/xcsh-ls/internal/sessiontest/kit"
	"github.com/xcsh-ls/xcsh-ls/session/library"
)

// searched returns the sessions that fit a query.
func searched(t testing.TB, f library.Finder, query string) []library.Info {
	t.Helper()
	infos, problems, err := f.ListAll(t.Context(), library.ListOptions{Query: query})
	require.NoError(t, err)
	require.Empty(t, problems)
	return infos
}

func idsOf(infos []library.Info) []string {
	ids := []string{}
	for _, i := range infos {
		ids = append(ids, i.ID)
	}
	return ids
}

// Proves: X-184
func TestSearchLooksAtEveryField(t *testing.T) {
	t.Parallel()
	kit.OnEveryFs(t, func(t *testing.T, fs afero.Fs) {
		f := kit.NewFinder(fs)
		content := strings.Replace(kit.Chat("qqid", "/eecwd", "rrfirst", "uuanswer", "ttLAST"), `"cwd"`, `"title":"wwtitle","cwd"`, 1)
		kit.PutSession(t, fs, kit.SessionsRoot+"/-x/yypath.jsonl", content, 0)
		kit.PutSession(t, fs, kit.SessionsRoot+"/-x/z.jsonl", kit.Chat("zz", "/z", "hello"), 0)
		for query, match := range map[string]library.Match{
			"qqid": library.MatchWords, "WWTITLE": library.MatchWords, "/eecwd": library.MatchWords, "rrfirst": library.MatchWords,
			"yypath": library.MatchWords, "qqid yypath": library.MatchWords,
			"uuANSWER": library.MatchText, "ttlast": library.MatchText, "  ttlast\tqqid uu": library.MatchText,
			"qid wtle": library.MatchLetters,
		} {
			found := searched(t, f, query)
			require.Equal(t, []string{"qqid"}, idsOf(found), query)
			require.Equal(t, match, found[0].Match, query)
		}
		for _, query := range []string{"nope!", "qqid nope!", "zz qqid", "uuls", "ttlast nope!"} {
			require.Empty(t, searched(t, f, query), query)
		}
		for _, blank := range []string{"", " \t"} {
			require.Equal(t, []string{"zz", "qqid"}, idsOf(searched(t, f, blank)), "a blank query leaves the list as it is")
		}
	})
}

func TestSearchPutsWordsBeforeLetters(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	f := kit.NewFinder(fs)
	long := strings.Repeat("lorem ipsum dolor sit amet ", 50)
	kit.PutSession(t, fs, kit.SessionsRoot+"/-x/1.jsonl", kit.Chat("letters", "/w", "l-o-g-i-n l-o-g-i-n"), 0)
	kit.PutSession(t, fs, kit.SessionsRoot+"/-x/2.jsonl", kit.Chat("spoken", "/w", "hm", long+"the login fails"), 0)
	kit.PutSession(t, fs, kit.SessionsRoot+"/-x/3.jsonl", titled("titled", "/w", "Fix the login"), time.Hour)
	require.Equal(t, []string{"titled", "spoken", "letters"}, idsOf(searched(t, f, "login")))
}

// TestSearchReadsOnlyMessages: tool results, thinking and the rest of the JSON are not
// part of the messages, though their bytes hold the word.
func TestSearchReadsOnlyMessages(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	f := kit.NewFinder(fs)
	kit.PutSession(t, fs, kit.SessionsRoot+"/-x/a.jsonl", kit.Chat("a", "/w", "hello")+
		`{"type":"message","id":"r","parentId":"e0","message":{"role":"toolResult","content":[{"type":"text","text":"needle-1"}]}}`+"\n"+
		`{"type":"message","id":"s","parentId":"r","message":{"role":"assistant","content":[{"type":"thinking","thinking":"needle-2"},{"type":"text","text":"no"}]}}`+"\n"+
		`{"type":"custom","id":"needle-3","parentId":"s","customType":"needle-4"}`+"\n", 0)
	for i := range 4 {
		require.Empty(t, searched(t, f, fmt.Sprintf("needle-%d", i+1)))
	}
}

// TestSearchReadsEscapes: a word is found however the program that wrote it escaped it.
// Proves: X-184
func TestSearchReadsEscapes(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	f := kit.NewFinder(fs)
	for i, text := range []string{
		`a\"b c\\d e\/f g/h`, `\u003cp\u003e caf\u00e9 it\u0027s`, `café größe \u65e5\u672c\u8a9e 🚀`, `日本語 \ud83d\ude80 GRÖSSE`,
	} {
		line := `{"type":"message","id":"x","parentId":"e0","message":{"role":"assistant","content":"` + text + `"}}` + "\n"
		kit.PutSession(t, fs, fmt.Sprintf("%s/-x/%d.jsonl", kit.SessionsRoot, i), kit.Chat(fmt.Sprint(i), "/w", "hello")+line, time.Duration(i)*time.Hour)
	}
	for query, want := range map[string][]string{
		`a"b`: {"0"}, `C\D`: {"0"}, "e/f": {"0"}, "g/h": {"0"}, "<P>": {"1"}, "it's": {"1"}, "CAFÉ": {"1", "2"},
		"größe": {"2"}, "grösse": {"3"}, "日本": {"2", "3"}, "🚀": {"2", "3"},
	} {
		require.ElementsMatch(t, want, idsOf(searched(t, f, query)), query)
	}
}

// TestSearchAcrossBlocks: files are searched in blocks, and words may cross their
// boundaries.
// Proves: X-184
func TestSearchAcrossBlocks(t *testing.T) {
	t.Parallel()
	kit.OnEveryFs(t, func(t *testing.T, fs afero.Fs) {
		f := kit.NewFinder(fs)
		const block = 128 << 10
		head := kit.Chat("a", "/w", "hello")
		line := func(text string) string {
			return `{"type":"message","id":"x","parentId":"e0","message":{"role":"assistant","content":"` + text + `"}}` + "\n"
		}
		begin := len(head) + strings.Index(line(""), `""`) + 1
		for _, blocks := range []int{1, 2} {
			for at := blocks*block - 8; at <= blocks*block+1; at++ {
				text := strings.Repeat("z", at-begin) + "Needle"
				kit.PutSession(t, fs, kit.SessionsRoot+"/-x/a.jsonl", head+line(text), 0)
				require.Len(t, searched(t, f, "neeDLE"), 1, "at %d", at)
				require.Len(t, searched(t, f, "neeDLE dle zzn"), 1, "at %d", at)
				require.Empty(t, searched(t, f, "needles"), "at %d", at)
			}
		}
		long := strings.Repeat("y", 2*block)
		kit.PutSession(t, fs, kit.SessionsRoot+"/-x/a.jsonl", head+line(long+"z"), 0)
		require.Len(t, searched(t, f, long[1:]+"z"), 1)
	})
}

// TestSearchKeepsAllAndOnlyMatches compares with a plain implementation of the rules, over
// the whole conversation, for random sessions and words, with and without a cache.
// Proves: X-185
func TestSearchKeepsAllAndOnlyMatches(t *testing.T) {
	t.Parallel()
	for name, storage := range map[string]func(t *testing.T) (afero.Fs, string){
		"memory": func(*testing.T) (afero.Fs, string) { return afero.NewMemMapFs(), "/" },
		"disk":   func(t *testing.T) (afero.Fs, string) { return afero.NewOsFs(), t.TempDir() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fs, top := storage(t)
			random := rand.New(rand.NewSource(1))
			for round := range 15 {
				f := newRemembering(fs)
				agent := filepath.Join(top, fmt.Sprint(round))
				f.Roots = []library.Root{library.OwnRoot(library.AgentPlaces(agent))}
				for i := range 8 {
					kit.PutSession(t, fs, filepath.Join(f.Roots[0].Sessions, "d", fmt.Sprintf("%d.jsonl", i)), randomChat(random, i), time.Duration(random.Intn(3))*time.Hour)
				}
				for range 15 {
					query := randomText(random, 1+random.Intn(2))
					if strings.TrimSpace(query) == "" {
						continue
					}
					want := plainSearch(t, f, query)
					for _, cache := range []string{"", filepath.Join(agent, "xcsh-ls")} {
						f.CacheDir = cache
						require.Equal(t, want, withoutSnippets(t, searched(t, f, query)), "%q", query)
					}
				}
			}
		})
	}
}

// withoutSnippets returns the sessions as a list has them without a query, after checks of what a query adds.
func withoutSnippets(t *testing.T, infos []library.Info) []library.Info {
	t.Helper()
	for n := range infos {
		i := &infos[n]
		require.Equal(t, map[bool]string{true: "fuzzy", false: "exact"}[i.Match == library.MatchLetters], i.Fits)
		if i.Match == library.MatchText {
			require.NotEmpty(t, i.EntryID)
		}
		if i.Snippet != nil {
			at, units := 0, len(utf16.Encode([]rune(i.Snippet.Text)))
			for _, r := range i.Snippet.Ranges {
				require.True(t, at <= r[0] && r[0] < r[1] && r[1] <= units, "%+v", i.Snippet)
				at = r[1]
			}
		}
		i.Fits, i.Snippet, i.EntryID = "", nil, ""
	}
	return infos
}

// plainlySimilar reports whether a text has the letters of a word, in order, among twice as many letters.
func plainlySimilar(word, text string) bool {
	w, all := []rune(strings.ToLower(word)), []rune(strings.ToLower(text))
	for from := range all {
		if n := len(w); n < 3 || n > 32 || all[from] != w[0] {
			continue
		}
		left := w
		for _, r := range all[from:min(len(all), from+2*len(w))] {
			if len(left) > 0 && r == left[0] {
				left = left[1:]
			}
		}
		if len(left) == 0 {
			return true
		}
	}
	return false
}

var searchAlphabet = []rune(`abcABCkKiI` + "\u212A\u0130" + `Äéß🚀日-_."\/<&'` + "\u2028")

func randomText(random *rand.Rand, words int) string {
	var b strings.Builder
	for w := range words {
		if w > 0 {
			b.WriteByte(' ')
		}
		for range 1 + random.Intn(3) {
			b.WriteRune(searchAlphabet[random.Intn(len(searchAlphabet))])
		}
	}
	return b.String()
}

// randomChat is written by encoders that escape differently.
func randomChat(random *rand.Rand, id int) string {
	lines := []string{fmt.Sprintf(`{"type":"session","version":3,"id":"%d","timestamp":"2026-11-20T10:00:00.000Z","cwd":"/w"}`, id)}
	for i := range random.Intn(5) {
		text := randomText(random, random.Intn(5))
		quoted := string(rawjson.Quote(text))
		switch random.Intn(3) {
		case 0:
			html, _ := json.Marshal(text) // a text can be encoded
			quoted = string(html)
		case 1:
			quoted = asciiOnly(quoted)
		}
		role := []string{"user", "assistant", "toolResult"}[random.Intn(3)]
		lines = append(lines, fmt.Sprintf(`{"type":"message","id":"m%d","parentId":null,"message":{"role":%q,"content":%s}}`, i, role, quoted))
	}
	return strings.Join(lines, "\n") + "\n"
}

func asciiOnly(quoted string) string {
	var b strings.Builder
	for _, r := range quoted {
		switch {
		case r < 0x80:
			b.WriteRune(r)
		case r < 0x10000:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x\u%04x`, 0xD800+(r-0x10000)>>10, 0xDC00+(r-0x10000)&0x3FF)
		}
	}
	return b.String()
}

// plainSearch is the search as its documentation has it.
func plainSearch(t *testing.T, f library.Finder, query string) []library.Info {
	t.Helper()
	f.CacheDir = ""
	infos, _, err := f.ListAll(t.Context(), library.ListOptions{AllText: true})
	require.NoError(t, err)
	asciiFold := func(s string) string {
		return strings.Map(func(r rune) rune {
			if lower := unicode.ToLower(r); r < 0x80 || lower >= 0x80 {
				return lower
			}
			return r
		}, s)
	}
	type rated struct {
		info  library.Info
		score float64
	}
	var found []rated
	for _, i := range infos {
		told := strings.Join(slices.DeleteFunc([]string{i.ID, i.Title, i.Cwd, i.FirstMessage, i.Path}, func(s string) bool { return s == "" }), " ")
		said := strings.Join(slices.DeleteFunc([]string{i.ID, i.Title, i.Cwd, i.FirstMessage, i.AllText, i.Path}, func(s string) bool { return s == "" }), " ")
		r := rated{info: i}
		r.info.Match = library.MatchWords
		text, similar := told, true
		for word := range strings.FieldsSeq(query) {
			switch {
			case strings.Contains(strings.ToLower(told), strings.ToLower(word)):
			case strings.Contains(asciiFold(i.AllText), asciiFold(word)):
				if r.info.Match == library.MatchWords {
					r.info.Match, text = library.MatchText, said
				}
			default:
				r.info.Match, text = library.MatchLetters, told
				similar = similar && plainlySimilar(word, told)
			}
		}
		fits := true
		for word := range strings.FieldsSeq(query) {
			score, ok := library.FuzzyScore(word, text)
			r.score += score
			fits = fits && ok
		}
		if fits && similar || r.info.Match != library.MatchLetters {
			r.info.AllText = ""
			found = append(found, r)
		}
	}
	slices.SortStableFunc(found, func(a, b rated) int {
		return cmp.Or(cmp.Compare(a.info.Match, b.info.Match), cmp.Compare(a.score, b.score))
	})
	sorted := make([]library.Info, len(found))
	for i, r := range found {
		sorted[i] = r.info
	}
	return sorted
}

func TestSearchNamesUnreadableFiles(t *testing.T) {
	t.Parallel()
	memory := afero.NewMemMapFs()
	f := newRemembering(memory)
	dir := kit.SessionsRoot + "/--w--"
	kit.PutSession(t, memory, dir+"/a.jsonl", kit.Chat("a", "/w", "hello", "needle"), time.Hour)
	kit.PutSession(t, memory, dir+"/b.jsonl", kit.Chat("b", "/w", "hello", "needle"), time.Hour)
	searched(t, f, "needle")
	f.Fs = deniedFs{memory, dir + "/a.jsonl"}
	infos, problems, err := f.ListAll(t.Context(), library.ListOptions{Query: "needle"})
	require.NoError(t, err)
	require.Equal(t, []string{"b"}, idsOf(infos))
	require.Len(t, problems, 1)
	require.Contains(t, problems[0].Message, dir+"/a.jsonl")
}

func TestSearchCanBeCancelled(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	f := kit.NewFinder(fs)
	for i := range 50 {
		kit.PutSession(t, fs, fmt.Sprintf("%s/--w--/%02d.jsonl", kit.SessionsRoot, i), kit.Chat("x", "/w", "hello", "needle"), 0)
	}
	ctx, cancel := context.WithCancel(t.Context())
	last := 0
	_, _, err := f.ListAll(ctx, library.ListOptions{Query: "needle", Progress: func(done, _ int) {
		if last = done; done == 3 {
			cancel()
		}
	}})
	require.Equal(t, fault.Cancelled, fault.KindOf(err))
	require.Less(t, last, 50)
}

// TestEachComesInOrder: sessions are passed in the order of the list, as far as it is known.
// Proves: X-156
func TestEachComesInOrder(t *testing.T) {
	t.Parallel()
	kit.OnEveryFs(t, func(t *testing.T, fs afero.Fs) {
		f := kit.NewFinder(fs)
		for i := range 60 {
			content := kit.Chat(fmt.Sprint(i), "/w", strings.Repeat("text ", i%7*1000))
			if i%10 == 3 {
				content = "damaged"
			}
			kit.PutSession(t, fs, fmt.Sprintf("%s/--w--/%02d.jsonl", kit.SessionsRoot, i), content, time.Duration(i*i%59)*time.Minute)
		}
		var told []library.Info
		infos, problems, err := f.ListAll(t.Context(), library.ListOptions{Each: func(i library.Info) { told = append(told, i) }})
		require.NoError(t, err)
		require.Len(t, problems, 6)
		require.Len(t, infos, 54)
		require.Equal(t, infos, told)
		_, _, err = f.ListAll(t.Context(), library.ListOptions{Query: "text", Each: func(library.Info) { t.Error("a search has no order before its end") }})
		require.NoError(t, err)
	})
}

// FuzzRawWord: for any text, rawWord finds the word in the JSON of a text that contains
// it.
func FuzzRawWord(f *testing.F) {
	f.Add("needle", `say "Needle"`)
	f.Add("größe", "GRÖßE")
	f.Add("k", "\u212A")
	f.Add(`<a\b>`, `x<A\B>`)
	f.Fuzz(func(t *testing.T, word, text string) {
		if strings.ContainsFunc(word, unicode.IsSpace) || word == "" {
			return
		}
		html, err := json.Marshal(text)
		require.NoError(t, err)
		folded := library.FoldCase(string([]rune(text)))
		holds := strings.Contains(folded, library.FoldCase(word))
		for _, encoded := range []string{string(html), string(rawjson.Quote(text)), asciiOnly(string(rawjson.Quote(text)))} {
			if !library.RawWordIn(word, []byte(encoded)) {
				require.False(t, holds, "%q in %s", word, encoded)
			}
		}
	})
}
