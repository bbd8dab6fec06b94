package library_test

import (
	"strings"
	"testing"
	"time"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
	"github.com/xcsh-ls/xcsh-ls/internal/sessiontest/kit"
	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/library"
)

// titledHeader is a header whose title a user gave.
func titledHeader(title string) string {
	return strings.Replace(st.Header("0123456789abcdef", "/w"), `"cwd"`, `"title":"`+title+`","titleSource":"user","cwd"`, 1)
}

func info(id, parent, name, more string) string {
	return `{"type":"session_info","id":"` + id + `","parentId":"` + parent + `","timestamp":"2026-01-01T00:00:09.000Z","name":"` + name + `"` + more + `}`
}

// A rename by pi is in an entry, wherever the conversation went on from there. Lists, cached
// lists and the short list of recent sessions have it.
func TestAllListsShowALaterRenameByPi(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	f := newRemembering(fs)
	path := kit.SessionsRoot + "/--w--/a.jsonl"
	lines := []string{titledHeader("old"), st.User("aaaaaaaa", "", "hi"), st.Assistant("bbbbbbbb", "aaaaaaaa", strings.Repeat("x", 100_000))}
	names := func() (list, cached, recent string) {
		kit.PutSession(t, fs, path, st.File(lines...), 0)
		for _, name := range []*string{&list, &cached} {
			infos, _, err := f.List(t.Context(), "/w", library.ListOptions{})
			require.NoError(t, err)
			require.Len(t, infos, 1)
			*name = infos[0].Title + "/" + infos[0].Name
		}
		few, err := f.Recent(t.Context(), "/w", 0)
		require.NoError(t, err)
		require.Len(t, few, 1)
		return list, cached, few[0].FullName
	}
	require1 := func(title, name string) {
		t.Helper()
		list, cached, recent := names()
		require.Equal(t, []string{title + "/" + name, title + "/" + name, name}, []string{list, cached, recent})
	}
	require1("old", "old")
	lines = append(lines, info("cccccccc", "bbbbbbbb", "old", `,"inHeader":true`))
	require1("old", "old")
	lines = append(lines, info("dddddddd", "cccccccc", "by pi", ""))
	require1("by pi", "by pi")
	lines = append(lines, st.Assistant("eeeeeeee", "dddddddd", strings.Repeat(`a "session_info" is an entry; `, 20_000)))
	require1("by pi", "by pi")
	lines = append(lines, info("ffffffff", "eeeeeeee", "", ""))
	require1("", "hi")
	lines[0] = titledHeader("new")
	lines = append(lines, info("00000001", "ffffffff", "new", `,"inHeader":true`))
	require1("new", "new")
}

// The end of a file of any content is read in bounded blocks.
func TestRecentReadsABoundedPartOfTheEnd(t *testing.T) {
	t.Parallel()
	for name, file := range map[string]string{
		"a line longer than the reach":  st.File(titledHeader("head"), info("aaaaaaaa", "", "far", ""), st.User("bbbbbbbb", "aaaaaaaa", strings.Repeat("y", 9<<20))),
		"no line end":                   titledHeader("head") + "\n" + strings.Repeat(`"session_info"`, 700_000),
		"an incomplete line at the end": st.File(titledHeader("head")) + `{"type":"session_info","name":"cut`,
		"the word in another place":     st.File(titledHeader("head"), `{"type":"custom","id":"aaaaaaaa","parentId":null,"x":"session_info"}`),
		"only newlines":                 titledHeader("head") + strings.Repeat("\n", 9<<20),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fs := afero.NewMemMapFs()
			kit.PutSession(t, fs, kit.SessionsRoot+"/--w--/a.jsonl", file, 0)
			recent, err := kit.NewFinder(fs).Recent(t.Context(), "/w", 0)
			require.NoError(t, err)
			require.Len(t, recent, 1)
			require.Equal(t, "head", recent[0].FullName)
		})
	}
}

// omp writes a short summary into every compaction.
func TestShortSummariesOfOmpAreNoTitles(t *testing.T) {
	t.Parallel()
	compaction := `{"type":"compaction","id":"cccccccc","parentId":"aaaaaaaa","timestamp":"2026-01-01T00:00:09.000Z","summary":"long","shortSummary":"short","firstKeptEntryId":"aaaaaaaa","tokensBefore":1}`
	usage := `{"type":"model_usage","id":"dddddddd","parentId":"cccccccc","timestamp":"2026-01-01T00:00:10.000Z"}`
	uuid := st.Header("01a1f87d-6abc-7705-94f4-66b493a87dbc", "/w")
	user := st.User("aaaaaaaa", "", "what is this?")
	for name, c := range map[string]struct {
		dialect session.Dialect
		lines   []string
		want    string
	}{
		"in omp's directory":       {session.Omp, []string{uuid, user, compaction}, ""},
		"omp's by its entries":     {session.Xcsh, []string{uuid, user, compaction, usage}, ""},
		"xcsh's":                   {session.Xcsh, []string{st.Header("0123456789abcdef", "/w"), user, compaction}, "short"},
		"omp's slot without title": {session.Omp, []string{`{"type":"title","v":1,"title":"","updatedAt":"x","pad":" "}`, uuid, user, compaction}, ""},
	} {
		fs := afero.NewMemMapFs()
		kit.PutSession(t, fs, "/s/a.jsonl", st.File(c.lines...), time.Minute)
		got, err := describe(fs, "/s/a.jsonl", c.dialect)
		require.NoError(t, err)
		require.Equal(t, c.want, got.Title, name)
		if c.want == "" {
			require.Equal(t, "what is this?", got.Name, name)
		}
	}
}

// A session that begins with an attached file has the name of the user's words.
func TestSessionsAreNamedByTheUsersWords(t *testing.T) {
	t.Parallel()
	file := `<file path=\"a.go\">\npackage needle\n</file>\n\n`
	for name, message := range map[string]string{
		"one text":      `"` + file + `what is this?"`,
		"one block":     `[{"type":"text","text":"` + file + `what is this?"}]`,
		"two blocks":    `[{"type":"text","text":"` + file + `"},{"type":"text","text":"what is this?"}]`,
		"two files":     `[{"type":"text","text":"` + file + file + `what is this?"}]`,
		"a file of pi":  `[{"type":"text","text":"<file name=\"/w/a.go\">\npackage needle\n</file>\nwhat is this?"}]`,
		"no attachment": `"what is this?"`,
	} {
		fs := afero.NewMemMapFs()
		line := `{"type":"message","id":"aaaaaaaa","parentId":null,"timestamp":"2026-01-01T00:00:01.000Z","message":{"role":"user","content":` + message + `,"timestamp":1}}`
		kit.PutSession(t, fs, kit.SessionsRoot+"/--w--/a.jsonl", st.File(st.Header("0123456789abcdef", "/w"), line), 0)
		f := kit.NewFinder(fs)
		query := "needle"
		if name == "no attachment" {
			query = "what"
		}
		infos, _, err := f.List(t.Context(), "/w", library.ListOptions{Query: query})
		require.NoError(t, err)
		require.Len(t, infos, 1, "%s: the file's content can be found", name)
		require.Equal(t, "what is this?", infos[0].Name, name)
		require.Equal(t, "what is this?", infos[0].FirstMessage, name)
		recent, err := f.Recent(t.Context(), "/w", 0)
		require.NoError(t, err)
		require.Equal(t, "what is this?", recent[0].FullName, name)
	}
}

// Entries for this program's own use are neither entries nor branches of a list.
func TestOwnEntriesAreNotCounted(t *testing.T) {
	t.Parallel()
	own := func(id, parent string) string {
		return `{"type":"custom","customType":"xcsh-ls.toolStart","data":{"toolCallId":"c"},"id":"` + id + `","parentId":"` + parent + `","timestamp":"2026-01-01T00:00:01.000Z"}`
	}
	theirs := strings.Replace(own("cccccccc", "bbbbbbbb"), "xcsh-ls.", "xcsh.", 1)
	header, one, two := st.Header("0123456789abcdef", "/w"), st.User("aaaaaaaa", "", "one"), st.Assistant("bbbbbbbb", "aaaaaaaa", "two")
	for name, c := range map[string]struct {
		lines             []string
		entries, branches int
	}{
		"none":                       {[]string{header, one, two}, 2, 1},
		"another program's":          {[]string{header, one, two, theirs}, 3, 1},
		"at the end":                 {[]string{header, one, two, own("cccccccc", "bbbbbbbb")}, 2, 1},
		"between":                    {[]string{header, one, two, own("cccccccc", "bbbbbbbb"), st.User("dddddddd", "cccccccc", "x")}, 3, 1},
		"two in a row":               {[]string{header, one, two, own("cccccccc", "bbbbbbbb"), own("dddddddd", "cccccccc"), st.User("eeeeeeee", "dddddddd", "x")}, 3, 1},
		"the title":                  {[]string{header, one, info("cccccccc", "aaaaaaaa", "x", `,"inHeader":true`), st.Assistant("dddddddd", "cccccccc", "x")}, 2, 1},
		"left beside a branch":       {[]string{header, one, own("cccccccc", "aaaaaaaa"), two}, 2, 1},
		"with a branch on each side": {[]string{header, one, own("cccccccc", "aaaaaaaa"), two, st.Assistant("dddddddd", "cccccccc", "x")}, 3, 2},
		"first":                      {[]string{header, strings.Replace(own("cccccccc", ""), `"parentId":""`, `"parentId":null`, 1), st.User("dddddddd", "cccccccc", "x")}, 1, 1},
	} {
		got := describeLines(t, c.lines...)
		require.Equal(t, c.entries, got.Entries, name)
		require.Equal(t, c.branches, got.Branches, name)
	}
}
