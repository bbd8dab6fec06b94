package library_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
	"github.com/xcsh-ls/xcsh-ls/internal/sessiontest/kit"
	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/library"
)

// recentDiffers names the vectors that get a different name than in xcsh, and why.
var recentDiffers = map[string]struct{ why, name string }{
	"long prompt > 4096 bytes": {"more than 4096 bytes are read, so the prompt is seen", strings.Repeat("y", 39) + "…"},
	"header > 4096 bytes":      {"the first line is read whole, so the session is not missing", strings.Repeat("z", 39) + "…"},
}

// TestSessionNameVectors compares with the names and descriptions of xcsh itself.
// Proves, F-37 (names)
func TestSessionNameVectors(t *testing.T) {
	t.Parallel()
	var cases []struct {
		Label  string
		Lines  []string
		Recent *struct{ Name, FullName string }
		List   struct {
			ID, Cwd, FirstMessage, AllMessagesText string
			Title                                  *string
			MessageCount                           int
		}
	}
	kit.ReadJSON(t, filepath.Join(kit.Fixtures, "xcsh/session-names.json"), &cases)
	for _, c := range cases {
		t.Run(c.Label, func(t *testing.T) {
			t.Parallel()
			lines := c.Lines
			switch c.Label { // the vectors' file abbreviates these lines
			case "long prompt > 4096 bytes":
				lines = []string{lines[0], `{"type":"message","id":"aaaaaaaa","parentId":null,"timestamp":"2026-01-01T00:00:01.000Z","message":{"role":"user","content":"` + strings.Repeat("y", 5000) + `","timestamp":1}}`}
				c.List.FirstMessage, c.List.AllMessagesText = strings.Repeat("y", 5000), strings.Repeat("y", 5000)
			case "header > 4096 bytes":
				require.NotNil(t, c.List.Title)
				lines = []string{`{"type":"session","version":3,"id":"0123456789abcdef","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w","title":"` + *c.List.Title + `"}`, lines[1]}
				require.Greater(t, len(lines[0]), 4096)
			}
			fs := afero.NewMemMapFs()
			kit.PutSession(t, fs, kit.SessionsRoot+"/--w--/a.jsonl", strings.Join(lines, "\n")+"\n", 0)
			f := kit.NewFinder(fs)

			recent, err := f.Recent(t.Context(), "/w", 0)
			require.NoError(t, err)
			require.Len(t, recent, 1)
			if differs, ok := recentDiffers[c.Label]; ok {
				require.Equal(t, differs.name, recent[0].Name, differs.why)
			} else {
				require.Equal(t, c.Recent.Name, recent[0].Name)
				require.Equal(t, c.Recent.FullName, recent[0].FullName)
			}

			infos, problems, err := f.List(t.Context(), "/w", library.ListOptions{IncludeEmpty: true, AllText: true})
			require.NoError(t, err)
			require.Empty(t, problems)
			require.Len(t, infos, 1)
			got := infos[0]
			require.Equal(t, c.List.Title != nil, got.HasTitle)
			if c.List.Title != nil {
				require.Equal(t, *c.List.Title, got.Title)
			}
			require.Equal(t, []any{c.List.ID, c.List.Cwd, c.List.FirstMessage, c.List.AllMessagesText, c.List.MessageCount},
				[]any{got.ID, got.Cwd, got.FirstMessage, got.AllText, got.MessageCount})
		})
	}
}

// Proves
func TestRecentNames(t *testing.T) {
	t.Parallel()
	rockets := strings.Repeat("🚀", 30)
	for _, c := range []struct{ name, content, want string }{
		{"forty units fit", titled("i", "/w", strings.Repeat("x", 40)), strings.Repeat("x", 40)},
		{"forty-one do not", titled("i", "/w", strings.Repeat("x", 41)), strings.Repeat("x", 39) + "…"},
		{"a character is not cut in half", titled("i", "/w", rockets), strings.Repeat("🚀", 19) + "…"},
		{"an ellipsis after an odd unit", titled("i", "/w", "x"+rockets), "x" + strings.Repeat("🚀", 19) + "…"},
		{"control characters and what follows a line", titled("i", "/w", "My \atitle\x7f\u0085\u009f\nsecond"), "My title"},
		{"outer space of every kind", titled("i", "/w", "\u00a0\ufeff name \u3000"), "name"},
		{"a title of nothing falls to the id", titled("the-id", "/w", "\x01\x02"), "the-id"},
		{"an id of nothing falls to the file", kit.Chat("\x01", "/w"), "a"},
		{"a torn first line is no header", `{"type":"session","id":"x` + "\n", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			fs := afero.NewMemMapFs()
			kit.PutSession(t, fs, kit.SessionsRoot+"/--w--/a.jsonl", c.content, 0)
			recent, err := kit.NewFinder(fs).Recent(t.Context(), "/w", 0)
			require.NoError(t, err)
			if c.want == "" {
				require.Empty(t, recent)
				return
			}
			require.Equal(t, c.want, recent[0].Name)
			require.LessOrEqual(t, rawjson.UTF16Len(recent[0].Name), 40)
			require.True(t, utf8.ValidString(recent[0].Name))
		})
	}
}

// Proves: X-134
func TestRecentReadsFarEnough(t *testing.T) {
	t.Parallel()
	image := func(size int) string {
		return fmt.Sprintf(`{"type":"message","id":"i","parentId":null,"message":{"role":"user","content":[{"type":"image","data":"%s"},{"type":"text","text":"see"}]}}`+"\n", strings.Repeat("A", size))
	}
	for _, c := range []struct{ name, content, want string }{
		{"a header of 100 kB", titled("i", "/w", strings.Repeat("z", 100_000)), strings.Repeat("z", 39) + "…"},
		{"a prompt behind an image of 500 kB", kit.Chat("i", "/w") + image(500_000), "see"},
		{"a prompt behind an image of 5 MB is too far", kit.Chat("the-id", "/w") + image(5_000_000), "the-id"},
		{"a header of 2 MB is no header a program writes", titled("i", "/w", strings.Repeat("z", 2_000_000)), ""},
		{"pi's name among the first entries", kit.Chat("i", "/w", "hello") + `{"type":"session_info","id":"n","name":"given"}` + "\n", "given"},
		{"omp's slot goes before the header", `{"type":"title","v":1,"title":"slot","updatedAt":"x","pad":" "}` + "\n" + titled("i", "/w", "head"), "slot"},
		{"omp's empty slot leaves the prompt", `{"type":"title","v":1,"title":"","updatedAt":"x","pad":" "}` + "\n" + titled("i", "/w", "head"), "hello"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			fs := afero.NewMemMapFs()
			kit.PutSession(t, fs, kit.SessionsRoot+"/--w--/a.jsonl", c.content, 0)
			recent, err := kit.NewFinder(fs).Recent(t.Context(), "/w", 0)
			require.NoError(t, err)
			if c.want == "" {
				require.Empty(t, recent)
				return
			}
			require.Len(t, recent, 1)
			require.Equal(t, c.want, recent[0].Name)
		})
	}
}

// countingFs counts the bytes that are read.
type countingFs struct {
	afero.Fs
	read *int
}

type countingFile struct {
	afero.File
	read *int
}

func (c countingFs) Open(name string) (afero.File, error) {
	f, err := c.Fs.Open(name)
	return countingFile{f, c.read}, err
}

func (c countingFile) Read(p []byte) (int, error) {
	n, err := c.File.Read(p)
	*c.read += n
	return n, err
}

// Proves: X-134
func TestRecentReadsOnlyTheBeginning(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	huge := kit.Chat("i", "/w", "hello") + strings.Repeat(kit.Chat("i", "/w", strings.Repeat("x", 100_000)), 100)
	for i := range 10 {
		kit.PutSession(t, fs, fmt.Sprintf("%s/--w--/%d.jsonl", kit.SessionsRoot, i), huge, time.Duration(i)*time.Minute)
	}
	read := 0
	recent, err := kit.NewFinder(countingFs{fs, &read}).Recent(t.Context(), "/w", 2)
	require.NoError(t, err)
	require.Len(t, recent, 2)
	require.LessOrEqual(t, read, 2*64<<10)
}

// Proves
func TestRecentOrderAndLimit(t *testing.T) {
	t.Parallel()
	kit.OnEveryFs(t, func(t *testing.T, fs afero.Fs) {
		for name, ago := range map[string]time.Duration{"a": time.Minute, "b": time.Minute, "c": time.Hour, "d": 0, "e": 48 * time.Hour} {
			kit.PutSession(t, fs, kit.SessionsRoot+"/--w--/"+name+".jsonl", kit.Chat(name, "/w"), ago)
		}
		kit.PutSession(t, fs, kit.SessionsRoot+"/--w--/junk.jsonl", "junk", 0)
		f := kit.NewFinder(fs)
		for limit, want := range map[int]string{0: "dba", 1: "d", 4: "dbac", 99: "dbace"} {
			recent, err := f.Recent(t.Context(), "/w", limit)
			require.NoError(t, err)
			ids := ""
			for _, r := range recent {
				ids += r.ID
			}
			require.Equal(t, want, ids)
		}
		path, ok, err := f.MostRecent(t.Context(), "/w", session.Xcsh)
		require.NoError(t, err)
		require.True(t, ok, "a session of only a header counts")
		require.Equal(t, kit.SessionsRoot+"/--w--/d.jsonl", path)
	})
}

// Proves: X-140
func TestTimeAgo(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	for _, c := range []struct {
		ago  time.Duration
		want string
	}{
		{-time.Hour, "just now"},
		{0, "just now"},
		{time.Minute - 1, "just now"},
		{time.Minute, "1m ago"},
		{time.Hour - 1, "59m ago"},
		{time.Hour, "1h ago"},
		{day - 1, "23h ago"},
		{day, "1d ago"},
		{7*day - 1, "6d ago"},
		{7 * day, "11/13/2026"},
		{400 * day, "10/16/2025"},
	} {
		fs := afero.NewMemMapFs()
		kit.PutSession(t, fs, kit.SessionsRoot+"/--w--/a.jsonl", kit.Chat("a", "/w", "hello"), c.ago)
		f := kit.NewFinder(fs)
		recent, err := f.Recent(t.Context(), "/w", 0)
		require.NoError(t, err)
		require.Equal(t, c.want, recent[0].TimeAgo)
		info, err := f.Describe(recent[0].Path)
		require.NoError(t, err)
		require.Equal(t, c.want, info.TimeAgo)
	}
}

func TestTheDateOfAnOldSession(t *testing.T) {
	t.Parallel()
	zone := time.FixedZone("somewhere", -7*3600)
	now := time.Date(12026, 3, 4, 5, 6, 7, 0, zone)
	for _, at := range []time.Time{{}, time.Date(999, 12, 31, 23, 0, 0, 0, zone), time.Date(1000, 1, 1, 0, 0, 0, 0, zone), time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC), time.Date(10001, 10, 12, 0, 0, 0, 0, zone)} {
		require.Equal(t, at.In(zone).Format("1/2/2006"), library.TimeAgo(at, now))
	}
}
