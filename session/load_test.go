package session_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/racetest"
	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
	"github.com/xcsh-ls/xcsh-ls/internal/sessiontest/kit"
	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/paging"
)

// lenientDiffers lists the vectors from which more is recovered than by xcsh's reader, with
// the reason and the values.
var lenientDiffers = map[string]struct{ why, values string }{
	"torn_mid_colon_then_one":   {"a torn line must not swallow the good line after it", `[{"h":1},{"a":2}]`},
	"torn_mid_array_then_one":   {"a torn line must not swallow the good line after it", `[{"h":1},{"x":1}]`},
	"cr_only":                   {"further values of a line are kept", `[{"h":1},{"a":1},{"a":2}]`},
	"two_values_one_line":       {"further values of a line are kept", `[{"h":1},{"a":1},{"b":2},{"c":3}]`},
	"two_values_one_line_space": {"further values of a line are kept", `[{"h":1},{"a":1},{"b":2},{"c":3}]`},
	"two_values_eof":            {"further values of a line are kept", `[{"h":1},{"a":1},{"b":2}]`},
}

// TestLenientVectors compares with the values that xcsh's own reader returned.
// Proves: X-051, X-052 (torn_tail_*), X-053, X-054, X-055, X-056 (two_values_*)
func TestLenientVectors(t *testing.T) {
	t.Parallel()
	var cases []struct {
		Name   string            `json:"name"`
		Input  string            `json:"input"`
		Values []json.RawMessage `json:"values"`
	}
	kit.ReadJSON(t, filepath.Join(kit.Fixtures, "xcsh/jsonl-lenient.json"), &cases)
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			want, err := json.Marshal(c.Values)
			require.NoError(t, err)
			if d := lenientDiffers[c.Name]; d.why != "" {
				want = []byte(d.values)
			}
			whole, problems, err := session.ScanValues(strings.NewReader(c.Input))
			require.NoError(t, err)
			require.JSONEq(t, string(want), string(rawjson.Array(whole)))
			// Reading one byte at a time must give the same result as reading all at once.
			byByte, again, err := session.ScanValues(iotest.OneByteReader(strings.NewReader(c.Input)))
			require.NoError(t, err)
			require.Equal(t, whole, byByte)
			require.Equal(t, problems, again)
		})
	}
	values, problems, err := session.ScanValues(strings.NewReader("\xEF\xBB\xBF{\"a\":1}\r\n\r\n{\"b\":2}\r\n"))
	require.NoError(t, err)
	require.JSONEq(t, `[{"a":1},{"b":2}]`, string(rawjson.Array(values)), "a byte order mark costs no line")
	require.Len(t, problems, 1)
}

// Proves: X-051, X-052 (the finding; torn tail), X-056
func TestEveryOddityIsReportedWithItsLine(t *testing.T) {
	t.Parallel()
	header := st.Header("0123456789abcdef", "/w")
	for name, c := range map[string]struct {
		body string
		kind session.ProblemKind
		line int
		lost bool
	}{
		"garbage":             {"garbage\n", session.MalformedLine, 2, true},
		"NUL block":           {"\x00\x00\n", session.MalformedLine, 2, true},
		"torn middle":         {`{"type":"message","id":"x` + "\n" + st.User("a", "", "q") + "\n", session.MalformedLine, 2, true},
		"torn tail":           {st.User("a", "", "q") + "\n" + `{"type":"mess`, session.TornTail, 3, true},
		"no final newline":    {st.User("a", "", "q"), session.MissingNewline, 2, false},
		"null line":           {"null\n", session.NotAnEntry, 2, false},
		"number":              {"42\n", session.NotAnEntry, 2, false},
		"object, no type":     {"{}\n", session.NotAnEntry, 2, false},
		"two on a line":       {st.User("a", "", "q") + st.User("b", "a", "r") + "\n", session.ExtraValue, 2, false},
		"trailing garbage":    {st.User("a", "", "q") + " xx\n", session.MalformedLine, 2, true},
		"second header":       {st.Header("x", "/w") + "\n", session.ExtraHeader, 2, false},
		"duplicate id":        {st.User("a", "", "q") + "\n" + st.User("a", "", "r") + "\n", session.DuplicateID, 3, false},
		"missing id":          {`{"type":"message","parentId":null,"message":{"role":"user","content":"q"}}` + "\n", session.MissingID, 2, false},
		"line after a span":   {"{\n\"type\":\n\"custom\",\"id\":\"x\"}\nbad\n", session.MalformedLine, 5, true},
		"control in a string": {"{\"type\":\"x\ty\"}\n", session.MalformedLine, 2, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			doc, err := session.Parse([]byte(header + "\n" + c.body))
			require.NoError(t, err)
			require.NotEmpty(t, doc.Problems())
			p := doc.Problems()[0]
			require.Equal(t, c.kind, p.Kind)
			require.Equal(t, c.line, p.Line)
			require.Equal(t, c.lost, p.Lost)
			require.NotEmpty(t, p.Message)
		})
	}
}

func TestUnclosedBracketsDoNotTakeQuadraticTime(t *testing.T) {
	t.Parallel()
	racetest.Large(t)
	// Every line is the beginning of a value that never ends. Without a budget each
	// would be tried up to the end of the file: 10^11 steps.
	hostile := st.Header("0123456789abcdef", "/w") + "\n" + strings.Repeat(`[{"a":`+"\n", 300_000) + st.User("aaaaaaaa", "", "still here") + "\n"
	doc, err := session.Parse([]byte(hostile))
	require.NoError(t, err)
	require.Equal(t, 1, doc.Len())
}

func TestValuesLongerThanAReadBlock(t *testing.T) {
	t.Parallel()
	racetest.Large(t)
	long := strings.Repeat("x", 5<<20)
	written := []string{st.Header("0123456789abcdef", "/w"), st.User("aaaaaaaa", "", long), st.Assistant("bbbbbbbb", "aaaaaaaa", "ok")}
	// Lines of every length around the block boundaries.
	for i := range 6_000 {
		written = append(written, st.User(fmt.Sprintf("%08x", i), "bbbbbbbb", strings.Repeat("z", i)))
	}
	doc, err := session.Parse([]byte(st.File(written...)))
	require.NoError(t, err)
	require.Empty(t, doc.Problems())
	require.Equal(t, len(written)-1, doc.Len())
	for i := range doc.Len() {
		e, err := doc.Entry(i)
		require.NoError(t, err)
		require.Equal(t, written[i+1], string(e.Raw))
	}
}

// TestBigFilesAreIndexedNotHeld reads a file that is too large to be kept in memory.
// Proves: F-18
func TestBigFilesAreIndexedNotHeld(t *testing.T) {
	t.Parallel()
	st.RunStorage(t, func(t *testing.T, fs afero.Fs) {
		lines := []string{st.Header("0123456789abcdef", "/w")}
		parent := ""
		for i := range 10_000 {
			id := fmt.Sprintf("%08x", i)
			lines = append(lines, st.User(id, parent, strings.Repeat("y", 1000)+id))
			parent = id
		}
		kit.Put(t, fs, kit.Filed, st.File(lines...))
		l, err := kit.NewStore(fs).Open(kit.Filed)
		require.NoError(t, err)
		require.Len(t, contextTexts(t, l), 10_000)
		kit.MustAppend(t, l, kit.Say("assistant", "done"))
		require.NoError(t, l.View(func(d *session.Document, _ session.Leaf) error {
			e, err := d.Entry(7_777)
			require.NoError(t, err)
			require.Equal(t, lines[7_778], string(e.Raw))
			return nil
		}))
		_, err = l.SetTitle(session.Title{Text: "big"})
		require.NoError(t, err)
		require.NoError(t, l.Close())
		after := kit.Content(t, fs, kit.Filed)
		require.Contains(t, after[:300], `"title":"big"`)
		require.Equal(t, 10_003, strings.Count(after, "\n"))
	})
}

// TestMigrationVectors compares with the files that pi wrote after migrating. pi draws
// random ids, so they are compared by position.
// Proves, X-043 (v1-compaction-index-0, -forward), X-044, X-045 (v2-tree), X-046 (v2-tree, v1-ids-present), X-062
func TestMigrationVectors(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join(kit.Fixtures, "pi/*.migrated.jsonl"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, migrated := range files {
		t.Run(filepath.Base(migrated), func(t *testing.T) {
			t.Parallel()
			want, err := session.Load(kit.DiskFixtures(), migrated)
			require.NoError(t, err)
			source := strings.TrimSuffix(migrated, ".migrated.jsonl") + ".jsonl"
			original, err := os.ReadFile(source)
			require.NoError(t, err)
			fs := afero.NewMemMapFs()
			kit.Put(t, fs, kit.Filed, string(original))
			doc, err := session.Load(fs, kit.Filed)
			require.NoError(t, err)
			require.Equal(t, lines(t, want), lines(t, doc))
			for i := range doc.Len() {
				e, err := doc.Entry(i)
				require.NoError(t, err)
				id, _ := rawjson.GetString(e.Raw, "id")
				require.Equal(t, id, doc.ID(i), "the tree has the id of the line")
			}

			// The file after the first append must read the same.
			l, err := kit.NewStore(fs).Open(kit.Filed)
			require.NoError(t, err)
			kit.MustAppend(t, l, kit.Say("user", "more"))
			written, err := session.Load(fs, kit.Filed)
			require.NoError(t, err)
			require.Equal(t, session.CurrentVersion, written.Header().Version)
			got := lines(t, written)
			require.Equal(t, lines(t, want), got[:len(got)-1])
		})
	}
}

var hexID = regexp.MustCompile(`"[0-9a-f]{8}"`)

// lines returns the entries of a document with every 8-digit id replaced by the number of
// its first appearance.
func lines(t *testing.T, d *session.Document) []string {
	t.Helper()
	seen := map[string]string{}
	var out []string
	for i := range d.Len() {
		e, err := d.Entry(i)
		require.NoError(t, err)
		out = append(out, hexID.ReplaceAllStringFunc(string(e.Raw), func(id string) string {
			if seen[id] == "" {
				seen[id] = fmt.Sprintf(`"#%d"`, len(seen))
			}
			return seen[id]
		}))
	}
	return out
}

func TestMigratedIDsAreTheSameAtEveryOpening(t *testing.T) {
	t.Parallel()
	var first []string
	for range 3 {
		doc, err := session.Load(kit.DiskFixtures(), filepath.Join(kit.Fixtures, "pi/v1-compaction.jsonl"))
		require.NoError(t, err)
		var ids []string
		for i := range doc.Len() {
			e, err := doc.Entry(i)
			require.NoError(t, err)
			ids = append(ids, e.ID)
		}
		if first == nil {
			first = ids
		}
		require.Equal(t, first, ids)
	}
}

// FuzzLoad feeds arbitrary bytes: reading never panics, never miscounts the bytes, and can
// build a context and a tree of whatever it accepts.
// Proves: X-063, F-20
func FuzzLoad(f *testing.F) {
	for _, pattern := range []string{"pi/odd-*.jsonl", "omp/*.jsonl", "pi/v*.jsonl"} {
		files, _ := filepath.Glob(filepath.Join(kit.Fixtures, pattern))
		for _, file := range files {
			if b, err := os.ReadFile(file); err == nil && len(b) < 8<<10 {
				f.Add(b)
			}
		}
	}
	f.Add([]byte(st.Header("x", "/w") + "\n{\"type\":\"message\"}\n" + `{"type":"compaction","id":"c","firstKeptEntryId":"c"}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		size, newline, err := session.ScannedBytes(bytes.NewReader(b))
		require.NoError(t, err)
		require.Equal(t, int64(len(b)), size)
		require.Equal(t, len(b) == 0 || b[len(b)-1] == '\n', newline)
		doc, err := session.Parse(b)
		if err != nil {
			return
		}
		_, _, err = session.BuildContext(doc, session.AtLast(), nil)
		require.NoError(t, err)
		order, err := paging.Ordered(doc)
		require.NoError(t, err)
		require.LessOrEqual(t, len(order), doc.Len())
	})
}

// FuzzAppend opens arbitrary bytes as a session and appends to it: every existing byte is
// preserved, and the new entries can be read.
// Proves: F-02
func FuzzAppend(f *testing.F) {
	f.Add([]byte(kit.Conversation()), "tail")
	f.Add([]byte(kit.Conversation()), `{"type":"message","content":[`)
	f.Add([]byte(strings.ReplaceAll(kit.Conversation(), "\n", "\r\n")), "\x00")
	f.Fuzz(func(t *testing.T, b []byte, tail string) {
		fs := afero.NewMemMapFs()
		before := string(b) + tail
		kit.Put(t, fs, kit.Filed, before)
		l, err := kit.NewStore(fs).Open(kit.Filed)
		if err != nil {
			require.Equal(t, before, kit.Content(t, fs, kit.Filed))
			return
		}
		if v := l.Header().Version; v != session.CurrentVersion {
			return
		}
		kit.MustAppend(t, l, kit.Say("user", "first"))
		last := kit.MustAppend(t, l, kit.Say("assistant", "second"))
		require.NoError(t, l.Close())
		after := kit.Content(t, fs, kit.Filed)
		require.True(t, strings.HasPrefix(after, before))
		doc, err := session.Load(fs, kit.Filed)
		require.NoError(t, err)
		require.Equal(t, last, doc.LeafID(session.AtLast()))
	})
}

// Proves: X-045
func TestTheOldNameOfARoleIsReplaced(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	kit.Put(t, fs, kit.Filed, strings.Replace(kit.Conversation(), `"version":3`, `"version":2`, 1)+
		`{"type":"message","id":"cccccccc","parentId":"bbbbbbbb","timestamp":"2026-01-01T00:00:03.000Z","message":{"role":"hookMessage","customType":"x","content":"three"}}`+"\n")
	l, err := kit.NewStore(fs).Open(kit.Filed)
	require.NoError(t, err)
	ctx, _, err := l.Context()
	require.NoError(t, err)
	require.JSONEq(t, `{"role":"custom","customType":"x","content":"three"}`, string(ctx.Messages[2]))
	kit.MustAppend(t, l, kit.Say("user", "four"))
	require.NotContains(t, kit.Content(t, fs, kit.Filed), "hookMessage")
}

// Proves: X-083
func TestAModelOfAnotherRoleHidesNoAnswer(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	kit.Put(t, fs, kit.Filed, st.File(st.Header("0123456789abcdef", "/w"), st.User("aaaaaaaa", "", "one"),
		`{"type":"message","id":"bbbbbbbb","parentId":"aaaaaaaa","timestamp":"2026-01-01T00:00:02.000Z","message":{"role":"assistant","provider":"p","model":"m","content":[]}}`,
		`{"type":"model_change","id":"cccccccc","parentId":"bbbbbbbb","timestamp":"2026-01-01T00:00:03.000Z","model":"p/small","role":"smol"}`))
	doc, err := session.Load(fs, kit.Filed)
	require.NoError(t, err)
	state, err := doc.ContextState(session.AtLast())
	require.NoError(t, err)
	require.Equal(t, map[string]string{"default": "p/m", "smol": "p/small"}, state.Models)
}
