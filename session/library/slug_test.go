package library_test

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/sessiontest/kit"
	"github.com/xcsh-ls/xcsh-ls/session/library"
)

// Proves, AB-024, AB-025, AB-026
func TestSlugs(t *testing.T) {
	t.Parallel()
	const id, fallback = "0190ABcd-0000-7000", "session-0190abcd"
	for title, want := range map[string]string{
		"My Session With Spaces!":           "my-session-with-spaces",
		"--x--":                             "x",
		"UPPER":                             "upper",
		"café":                              "caf",
		strings.Repeat("a", 70):             strings.Repeat("a", 64),
		strings.Repeat("a", 63) + "!b":      strings.Repeat("a", 63),
		"NUL\x00inside":                     "nul-inside",
		"last session":                      "last-session",
		".hidden":                           "hidden",
		" ..-. x":                           "x",
		"trailing. ":                        "trailing",
		"a..b":                              "a.b",
		"a/b":                               "a-b",
		`a\b`:                               "a-b",
		"v1.2_rc":                           "v1.2_rc",
		"ＦＵＬＬ width":                        "full-width",
		"ﬁne":                               "fine",
		"İstanbul":                          "stanbul",
		"\u212Aelvin":                       "kelvin",
		"日本語 notes":                         "notes",
		"console":                           "console",
		"com10":                             "com10",
		"indexes":                           "indexes",
		"x\x1b]0;y\x07z":                    "x-0-y-z",
		"a\u202Eb":                          "a-b",
		"日本語":                               fallback,
		"!!!":                               fallback,
		"  ":                                fallback,
		"":                                  fallback,
		"..":                                fallback,
		"con":                               fallback,
		"CON.txt":                           fallback,
		"com0":                              fallback,
		"COM5":                              fallback,
		"COM¹":                              fallback,
		"lpt9":                              fallback,
		"LPT³.log":                          fallback,
		"nul.":                              fallback,
		"CONIN$":                            fallback,
		"conout$.x":                         fallback,
		"index":                             fallback,
		"index!":                            fallback,
		"Metadata":                          fallback,
		"last_session":                      fallback,
		"\xff\xfe":                          fallback,
		strings.Repeat("!", 100000) + "end": "end",
	} {
		require.Equal(t, want, library.Slug(title, id), "%q", title)
	}
	require.Equal(t, "session", library.Slug("", "日本"))
	require.Equal(t, "session-ab", library.Slug("", "../ab"))
}

var slugForm = regexp.MustCompile(`^[a-z0-9_]([a-z0-9_.-]{0,62}[a-z0-9_])?$`)

// Proves: A-018, AB-024
func FuzzSlug(f *testing.F) {
	f.Add("My Session", "0190")
	f.Add("\xff..con.txt", "../..")
	f.Fuzz(func(t *testing.T, title, id string) {
		slug := library.Slug(title, id)
		require.Regexp(t, slugForm, slug)
		require.NotContains(t, slug, "..")
		if library.Slug(title, "other") == slug {
			require.Equal(t, slug, library.Slug(slug, id), "a slug is its own")
		}
	})
}

func TestSameName(t *testing.T) {
	t.Parallel()
	for _, same := range [][2]string{{"My Talk", " my  talk\n"}, {"My Talk", "my-talk!"}, {"ÄRGER", "ärger"}} {
		require.True(t, library.SameName(same[0], same[1]), "%q", same)
	}
	for _, not := range [][2]string{{"café", "caf"}, {"日本", "中国"}, {"a", "b"}, {"!!!", "???"}} {
		require.False(t, library.SameName(not[0], not[1]), "%q", not)
	}
}

// createdAt is a chat with a title, created at a time of day.
func createdAt(id, cwd, title, created string) string {
	text := strings.Replace(kit.Chat(id, cwd, "hello"), "10:00:00", created, 1)
	return strings.Replace(text, `"cwd":`, `"title":"`+title+`","cwd":`, 1)
}

// slugStore is a store with colliding titles.
func slugStore(t *testing.T) (library.Finder, func(dir, name string) string) {
	t.Helper()
	fs := afero.NewMemMapFs()
	at := func(dir, name string) string { return kit.SessionsRoot + "/" + dir + "/" + name + ".jsonl" }
	put := func(dir, name, cwd, title, created string, ago time.Duration) {
		kit.PutSession(t, fs, at(dir, name), createdAt(name, cwd, title, created), ago)
	}
	put("--w--", "newer", "/w", "Talk", "12:00:00", 3*time.Hour)
	put("--w--", "oldest", "/w", "talk!", "09:00:00", 1*time.Hour)
	put("--w--", "newest", "/w", "TALK", "13:00:00", 2*time.Hour)
	put("--w--", "two", "/w", "Talk 2", "23:00:00", 4*time.Hour)
	put("--w--", "alone", "/w", "Another", "08:00:00", 5*time.Hour)
	put("--v--", "elsewhere", "/v", "Talk", "08:00:00", 6*time.Hour)
	return kit.NewFinder(fs), at
}

func slugsOf(infos []library.Info) map[string]string {
	slugs := map[string]string{}
	for _, i := range infos {
		slugs[i.ID] = i.Slug
	}
	return slugs
}

// A slug is unique in its folder; a title that only one session has keeps its own.
// Proves: AB-024
func TestSlugsAreUniquePerFolder(t *testing.T) {
	t.Parallel()
	f, _ := slugStore(t)
	want := map[string]string{"oldest": "talk", "newer": "talk-3", "newest": "talk-4", "two": "talk-2", "alone": "another"}
	infos, _, err := f.List(t.Context(), "/w", library.ListOptions{})
	require.NoError(t, err)
	require.Equal(t, want, slugsOf(infos))
	infos, _, err = f.List(t.Context(), "/w", library.ListOptions{Query: "newest"})
	require.NoError(t, err)
	require.Less(t, len(infos), len(want))
	for id, slug := range slugsOf(infos) {
		require.Equal(t, want[id], slug, "what is not shown counts")
	}
	want["elsewhere"] = "talk"
	infos, _, err = f.ListAll(t.Context(), library.ListOptions{})
	require.NoError(t, err)
	require.Equal(t, want, slugsOf(infos))
	var streamed []library.Info
	_, _, err = f.List(t.Context(), "/w", library.ListOptions{Each: func(i library.Info) { streamed = append(streamed, i) }})
	require.NoError(t, err)
	require.Len(t, streamed, 5)
	for _, i := range streamed {
		require.Empty(t, i.Slug, "told before it is known who else has it")
	}
}

func TestLongSlugsAreNumberedToo(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	long := strings.Repeat("a", 61) + "-bc"
	kit.PutSession(t, fs, kit.SessionsRoot+"/--w--/1.jsonl", createdAt("1", "/w", long, "08:00:00"), 0)
	kit.PutSession(t, fs, kit.SessionsRoot+"/--w--/2.jsonl", createdAt("2", "/w", long, "09:00:00"), 0)
	infos, _, err := kit.NewFinder(fs).List(t.Context(), "/w", library.ListOptions{})
	require.NoError(t, err)
	require.Equal(t, map[string]string{"1": long, "2": strings.Repeat("a", 61) + "-2"}, slugsOf(infos))
}

// Proves: AB-032
func TestResolveASlug(t *testing.T) {
	t.Parallel()
	f, at := slugStore(t)
	for _, c := range []struct{ cwd, target, want string }{
		{"/w", "talk-3", at("--w--", "newer")},
		{"/w", " TALK-4 ", at("--w--", "newest")},
		{"/w", "talk-2", at("--w--", "two")},
		{"/v", "talk", at("--v--", "elsewhere")},
		{"/v", "another", at("--w--", "alone")},
		{"/v", "talk-4", at("--w--", "newest")},
	} {
		r, err := f.Resolve(t.Context(), c.cwd, c.target, library.ResolveOptions{})
		require.NoError(t, err)
		info, err := r.One()
		require.NoError(t, err, c.target)
		require.Equal(t, c.want, info.Path, c.target)
		require.Equal(t, strings.ToLower(strings.TrimSpace(c.target)), info.Slug)
	}
	// A whole title is stronger than a slug that reads the same.
	r, err := f.Resolve(t.Context(), "/w", "talk", library.ResolveOptions{})
	require.NoError(t, err)
	require.Len(t, r.Matches, 4)
	require.NotEqual(t, at("--w--", "oldest"), r.Matches[0].Path)
}

// TestReservedSlugsAreFoundByTheirBeginnings: every reserved one, and what is almost one.
func TestReservedSlugsAreFoundByTheirBeginnings(t *testing.T) {
	t.Parallel()
	found := 0
	for _, stem := range []string{"con", "prn", "aux", "nul", "com", "lpt", "conin", "conin-", "conout", "conout-", "index", "metadata", "last_session", "i", "", "session"} {
		for _, end := range []string{"", "0", "9", "10", ".", ".txt", "a", "-", "-1"} {
			fast, slow := library.IsReserved(stem + end)
			require.Equal(t, slow, fast, stem+end)
			if slow {
				found++
			}
		}
	}
	require.Greater(t, found, 20)
}
