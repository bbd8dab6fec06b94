package session_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
	"github.com/xcsh-ls/xcsh-ls/session"
)

const (
	maxChars  = session.MaxPersistChars
	keptChars = maxChars - 47
	// escapedNotice is the notice as it appears in a line.
	escapedNotice = `\n\n[Session persistence truncated large content]`
)

// Proves: X-120
func TestTruncationNoticeIsThatOfThePrograms(t *testing.T) {
	t.Parallel()
	require.Equal(t, "\n\n[Session persistence truncated large content]", session.TruncationNotice)
	require.Equal(t, 47, rawjson.UTF16Len(session.TruncationNotice))
}

// prepared prepares a line without images to store, and checks the properties of every
// result: the input is not modified, the output is one JSON value, and preparing it again
// changes nothing.
func prepared(t *testing.T, line string) string {
	t.Helper()
	in := []byte(line)
	out, err := session.Prepare(in, nil)
	require.NoError(t, err)
	equalText(t, line, string(in)) // the input is not modified
	require.True(t, rawjson.Valid(out), "the output is JSON")
	again, err := session.Prepare(out, nil)
	require.NoError(t, err)
	require.True(t, sameMemory(out, again), "a prepared line is returned as it is")
	return string(out)
}

// sameMemory reports whether two slices are the same memory.
func sameMemory(a, b []byte) bool {
	return len(a) == len(b) && unsafe.SliceData(a) == unsafe.SliceData(b)
}

// equalText is require.Equal for texts too long to be printed.
func equalText(t *testing.T, want, got string) {
	t.Helper()
	if want == got {
		return
	}
	i := 0
	for i < min(len(want), len(got)) && want[i] == got[i] {
		i++
	}
	around := func(s string) string { return s[max(0, i-20):min(len(s), i+60)] }
	require.Failf(t, "texts differ", "at byte %d (lengths %d and %d)\nwant …%s…\n got …%s…", i, len(want), len(got), around(want), around(got))
}

// Proves, F-19
func TestPrepareCutsTextLongerThanTheLimit(t *testing.T) {
	t.Parallel()
	a := func(n int) string { return strings.Repeat("a", n) }
	for _, c := range []struct{ name, in, out string }{
		{"a text of exactly the limit is untouched", a(maxChars), a(maxChars)},
		{"one unit more is cut to the limit, notice included", a(maxChars + 1), a(keptChars) + escapedNotice},
		{"two million characters are cut to the limit", a(2_000_000), a(keptChars) + escapedNotice},
		{"two-byte characters count once", strings.Repeat("é", maxChars), strings.Repeat("é", maxChars)},
		{"two-byte characters are cut whole", strings.Repeat("é", maxChars+1), strings.Repeat("é", keptChars) + escapedNotice},
		{"300 000 emoji are 600 000 units", strings.Repeat("😀", 300_000), strings.Repeat("😀", keptChars/2) + escapedNotice},
		{"250 000 emoji are exactly the limit", strings.Repeat("😀", 250_000), strings.Repeat("😀", 250_000)},
		{"an emoji across the cut goes as a whole", a(keptChars-1) + "😀" + a(1000), a(keptChars-1) + escapedNotice},
		{"an emoji that ends at the cut stays", a(keptChars-2) + "😀" + a(1000), a(keptChars-2) + "😀" + escapedNotice},
		{"an escaped pair across the cut goes as a whole", a(keptChars-1) + `\ud83d\uDE00` + a(1000), a(keptChars-1) + escapedNotice},
		{"an escaped pair that ends at the cut stays", a(keptChars-2) + `\uD83D\ude00` + a(1000), a(keptChars-2) + `\uD83D\ude00` + escapedNotice},
		{"a lone surrogate at the cut is a character of its own", a(keptChars-1) + `\ud83d` + a(1000), a(keptChars-1) + `\ud83d` + escapedNotice},
		{"two high surrogates are no pair", a(keptChars-1) + `\ud83d\ud83d` + a(1000), a(keptChars-1) + `\ud83d` + escapedNotice},
		{"two low surrogates are no pair", a(keptChars-1) + `\ude00\ude00` + a(1000), a(keptChars-1) + `\ude00` + escapedNotice},
		{"an escape counts once", strings.Repeat(`\n`, maxChars), strings.Repeat(`\n`, maxChars)},
		{"an escape is not torn", strings.Repeat(`\n`, maxChars+1), strings.Repeat(`\n`, keptChars) + escapedNotice},
		{"a Unicode escape is not torn", strings.Repeat(`\u00e9`, maxChars+1), strings.Repeat(`\u00e9`, keptChars) + escapedNotice},
		{"a backslash before the cut is not the cut's", strings.Repeat(`\\`, maxChars+1), strings.Repeat(`\\`, keptChars) + escapedNotice},
		{"quotes do not end the text", strings.Repeat(`\"`, maxChars+1), strings.Repeat(`\"`, keptChars) + escapedNotice},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			line := func(s string) string { return `{ "a" : 1.0, "text": "` + s + `" ,"b":[]}` }
			equalText(t, line(c.out), prepared(t, line(c.in)))
			text, _ := rawjson.GetString([]byte(prepared(t, line(c.in))), "text")
			require.LessOrEqual(t, rawjson.UTF16Len(text), maxChars)
		})
	}
}

func TestPrepareCutsWhereverATextStands(t *testing.T) {
	t.Parallel()
	long, short := strings.Repeat("x", maxChars+1), strings.Repeat("x", keptChars)+escapedNotice
	for name, line := range map[string]string{
		"in a header":                    `{"type":"session","title":"%s"}`,
		"in a message's text":            `{"message":{"content":[{"type":"text","text":"%s"}]}}`,
		"in a tool's details":            `{"message":{"details":{"rows":[["%s"]]}}}`,
		"in data that is no image":       `{"data":"%s","type":"file"}`,
		"in a result that is no image":   `{"result":"%s","type":"call"}`,
		"under an image URL that is web": `{"image_url":"https://e.org/%s"}`,
		"in a shadowed member":           `{"data":"%s","data":null}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := short
			if strings.Contains(line, "e.org") {
				want = short[len("https://e.org/"):]
			}
			equalText(t, fmt.Sprintf(line, want), prepared(t, fmt.Sprintf(line, long)))
		})
	}
}

// Proves: X-124, F-16 (on disk)
func TestPrepareEmptiesSignaturesThatAreTooLong(t *testing.T) {
	t.Parallel()
	for _, key := range []string{"thinkingSignature", "thoughtSignature", "textSignature"} {
		line := func(s string) string { return `{"content":[{"` + key + `":"` + s + `","thinking":"t"}]}` }
		fits := strings.Repeat("s", maxChars)
		equalText(t, line(fits), prepared(t, line(fits)))
		equalText(t, line(""), prepared(t, line(fits+"s")))
	}
}

// prepareRules are the rules that need no long text: input, output ("" for unchanged).
var prepareRules = []struct{ name, in, out string }{
	{"a removed member takes the comma before it", `{"a":1,"partialJson":"x"}`, `{"a":1}`},
	{"a removed first member takes the comma behind it", `{"partialJson":"x","a":1}`, `{"a":1}`},
	{"a removed only member leaves an empty object", `{"partialJson":"x"}`, `{}`},
	{"several removed members leave the rest", `{"partialJson":1,"jsonlEvents":[],"a":1,"jsonlEvents":{},"partialJson":2,"b":2,"partialJson":3}`, `{"a":1,"b":2}`},
	{"only removed members leave an empty object", `{ "partialJson":1 , "jsonlEvents":[{"a":"}"}] }`, `{  }`},
	{"members are removed at any depth", `{"m":[[{"x":{"partialJson":"{\"a\":","k":"}"}}]]}`, `{"m":[[{"x":{"k":"}"}}]]}`},
	{"a key may be written with escapes", `{"partial\u004ason":"x","a":1}`, `{"a":1}`},
	{"a text that names a transient member stays", `{"a":"partialJson","b":["jsonlEvents"]}`, ""},
	{"similar keys stay", `{"partialjson":1,"jsonlEvents2":2,"xpartialJson":3}`, ""},
	{"the other members keep their bytes", `{ "b":1.0,"n":12345678901234567890, "z":"\ud800\/", "jsonlEvents":[] ,"e":1E5 }`, `{ "b":1.0,"n":12345678901234567890, "z":"\ud800\/" ,"e":1E5 }`},

	{"a wrong line count is left alone when nothing changed", `{"content":"a\nb","lineCount":7}`, ""},
	{"a removed member corrects the line count", `{"content":"a\nb","lineCount":7,"jsonlEvents":[]}`, `{"content":"a\nb","lineCount":2}`},
	{"a trailing newline is a piece of its own", `{"lineCount":1,"content":"a\n","jsonlEvents":[]}`, `{"lineCount":2,"content":"a\n"}`},
	{"an empty content is one line", `{"lineCount":9,"content":"","jsonlEvents":[]}`, `{"lineCount":1,"content":""}`},
	{"a change deep inside corrects the count too", `{"content":"a","lineCount":0,"d":[{"partialJson":1}]}`, `{"content":"a","lineCount":1,"d":[{}]}`},
	{"a change outside does not", `{"file":{"content":"a","lineCount":0},"partialJson":1}`, `{"file":{"content":"a","lineCount":0}}`},
	{"newlines may be escaped by number", `{"content":"a\u000Ab\\nc\\\u000ad","lineCount":0,"partialJson":1}`, `{"content":"a\u000Ab\\nc\\\u000ad","lineCount":3}`},
	{"a count that is right keeps its spelling", `{"content":"a","lineCount":1.0,"partialJson":1}`, `{"content":"a","lineCount":1.0}`},
	{"a count that is no number stays", `{"content":"a","lineCount":"5","partialJson":1}`, `{"content":"a","lineCount":"5"}`},
	{"a content that is a list has no lines", `{"content":["a"],"lineCount":5,"partialJson":1}`, `{"content":["a"],"lineCount":5}`},
	{"the last of several contents counts", `{"content":"a\nb","content":[],"lineCount":5,"partialJson":1}`, `{"content":"a\nb","content":[],"lineCount":5}`},
	{"the last of several counts is corrected", `{"content":"a","lineCount":5,"lineCount":6,"partialJson":1}`, `{"content":"a","lineCount":5,"lineCount":1}`},
}

// Proves: X-122
func TestPrepareRules(t *testing.T) {
	t.Parallel()
	for _, c := range prepareRules {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if c.out == "" {
				c.out = c.in
			}
			require.Equal(t, c.out, prepared(t, c.in))
		})
	}
}

// Proves: X-123
func TestPrepareCountsTheLinesOfACutContent(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, in, out string
		lines         int
	}{
		{"the notice adds two", strings.Repeat("a", maxChars+1), strings.Repeat("a", keptChars), 3},
		{"only kept lines count", strings.Repeat(`ab\n`, 200_000), strings.Repeat(`ab\n`, keptChars/3), keptChars/3 + 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			line := func(text string, lines int) string {
				return fmt.Sprintf(`{"files":[{"content":"%s","lineCount":%d}]}`, text, lines)
			}
			require.Zero(t, keptChars%3, "the cut falls between lines")
			equalText(t, line(c.out+escapedNotice, c.lines), prepared(t, line(c.in, 1)))
		})
	}
	shadowed := `{"content":"%s","content":"a\nb","lineCount":%d}`
	equalText(t, fmt.Sprintf(shadowed, strings.Repeat("a", keptChars)+escapedNotice, 2),
		prepared(t, fmt.Sprintf(shadowed, strings.Repeat("a", maxChars+1), 9)))
	replaced := `{"content":"%s","content":[],"lineCount":9}`
	equalText(t, fmt.Sprintf(replaced, strings.Repeat("a", keptChars)+escapedNotice),
		prepared(t, fmt.Sprintf(replaced, strings.Repeat("a", maxChars+1))))
}

func TestPrepareReturnsAnOrdinaryLineItself(t *testing.T) {
	t.Parallel()
	for _, line := range []string{
		`{}`, ` {"a" : [ ] } `, ordinaryLine(2000),
		`{"image_url":"blob:sha256:00"}`, `{"image_url":{"url":"x"}}`, `{"ke\\y":"\ud800"}`, `{"data":null,"result":1}`,
		`{"text":"` + strings.Repeat("x", maxChars) + `"}`,
	} {
		in := []byte(line)
		out, err := session.Prepare(in, nil)
		require.NoError(t, err)
		require.True(t, sameMemory(in, out), "%.80s", line)
	}
}

// TestPrepareAllocatesNothingForAnOrdinaryLine counts allocations, so it runs alone.
func TestPrepareAllocatesNothingForAnOrdinaryLine(t *testing.T) {
	line := []byte(ordinaryLine(2000))
	require.Zero(t, testing.AllocsPerRun(100, func() { _, _ = session.Prepare(line, nil) }))
}

func TestPrepareKeepsValuesNestedTooDeeply(t *testing.T) {
	t.Parallel()
	nested := func(levels int, core string) string {
		return `{"a":` + strings.Repeat("[", levels) + core + strings.Repeat("]", levels) + `}`
	}
	require.Equal(t, nested(900, `{}`), prepared(t, nested(900, `{"partialJson":1}`)))
	deep := nested(1500, `{"partialJson":1}`)
	require.Equal(t, deep, prepared(t, deep))
	equalText(t, nested(1_000_000, `0`)[:100], prepared(t, `{"partialJson":1,`+nested(1_000_000, `0`)[1:])[:100])
	objects := strings.Repeat(`{"a":`, 1_000_000) + `1` + strings.Repeat("}", 1_000_000)
	equalText(t, objects, prepared(t, `{"jsonlEvents":0,`+objects[1:]))
}

func TestPrepareDoesNotPanicOnInvalidJSON(t *testing.T) {
	t.Parallel()
	line := `{"type":"image","content":[{"data":"AAAA\u00e9","image_url":"data:image/png;base64,AA"}],"lineCount":1,"partialJson":{"a":[1]}}`
	for i := range len(line) {
		for _, torn := range []string{line[:i], line[:i] + line[i+1:], line[i:]} {
			_, err := session.PrepareWithin([]byte(torn), nil, 60, 2)
			require.NoError(t, err)
		}
	}
}

// ordinaryLine returns a message line of about n bytes that no rule applies to.
func ordinaryLine(n int) string {
	text := strings.Repeat(`some ordinary text of a \"tool\" result\n`, max(1, n/41))
	return `{"type":"message","id":"0a1b2c3d","parentId":"9f8e7d6c","timestamp":"2026-01-01T00:00:00.000Z",` +
		`"message":{"role":"toolResult","toolCallId":"t1","toolName":"read","content":[{"type":"text","text":"` + text + `"}],` +
		`"details":{"rows":[1,2.50,3],"ok":true},"isError":false,"timestamp":1767225600000}}`
}

// FuzzPrepare runs the rules with short limits, so that small inputs reach them.
func FuzzPrepare(f *testing.F) {
	const text, image = 80, 8 // a reference has 76
	for _, c := range prepareRules {
		f.Add([]byte(c.in))
	}
	for _, s := range []string{ // text and images long enough for a rule
		`{"content":[{"type":"image","data":"QUJDREVGRw=="},[{"data":"QUJDREVGRw","type":"image"}]],"lineCount":2}`,
		`{"content":"` + strings.Repeat(`\ud83d\ude00`, 60) + `","lineCount":1}`,
		`{"content":"` + strings.Repeat("😀", 60) + `","textSignature":"` + strings.Repeat("s", 81) + `"}`,
		`{"image_url":"data:image/png;base64,QUJD","x":["` + strings.Repeat("é\\n", 50) + `"]}`,
		`{"images":[{"mimeType":"image/png","data":"` + strings.Repeat("QUJD", 20) + `","lineCount":0,"content":""}]}`,
		`{"type":"image_generation_call","result":"` + strings.Repeat("QUJD", 20) + `"}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		before := bytes.Clone(line)
		sink := memoryBlobs{}
		out, err := session.PrepareWithin(line, sink, text, image)
		require.NoError(t, err)
		require.Equal(t, before, line, "the input is modified")
		if n, st := rawjson.Scan(line); st != rawjson.Complete || len(bytes.TrimLeft(line[n:], " \t\r\n")) > 0 || rawjson.Kind(line) != '{' {
			return
		}
		require.True(t, rawjson.Valid(out), "%s", out)
		if bytes.Equal(line, out) {
			require.True(t, sameMemory(line, out), "an unchanged line is copied")
		}
		again, err := session.PrepareWithin(out, sink, text, image)
		require.NoError(t, err)
		require.Equal(t, string(out), string(again))
		var v any
		if json.Unmarshal(out, &v) == nil {
			requireShort(t, v, "", text)
		}
		if bytes.Contains(line, []byte("blob:sha256:")) {
			return // made up by the fuzzer: such a reference points to nothing
		}
		_, missing := session.ResolveBlobs(out, sink)
		require.Zero(t, missing, "%s", out)
	})
}

// requireShort fails on a text of more than limit units, except for images that stay inline
// because they cannot be decoded or resolved, and for formerly transient members.
func requireShort(t *testing.T, v any, key string, limit int) {
	t.Helper()
	switch v := v.(type) {
	case string:
		if key != "data" && key != "result" && !strings.HasPrefix(v, "data:image/") && !strings.HasPrefix(v, "blob:sha256:") {
			require.LessOrEqual(t, rawjson.UTF16Len(v), limit)
		}
	case []any:
		for _, item := range v {
			requireShort(t, item, key, limit)
		}
	case map[string]any:
		require.NotContains(t, v, "partialJson")
		require.NotContains(t, v, "jsonlEvents")
		for k, item := range v {
			requireShort(t, item, k, limit)
		}
	}
}

func BenchmarkPrepare(b *testing.B) {
	image := strings.Repeat("iVBORw0K", 1_300_000/8)
	for _, c := range []struct{ name, line string }{
		{"message of 500 bytes", ordinaryLine(200)},
		{"message of 2 KB", ordinaryLine(1700)},
		{"tool result of 400 KB", ordinaryLine(400_000)},
		{"tool result of 2 MB", ordinaryLine(2_000_000)},
		{"image of 1.3 MB", `{"type":"message","message":{"role":"user","content":[{"type":"image","mimeType":"image/png","data":"` + image + `"}]}}`},
	} {
		b.Run(c.name, func(b *testing.B) {
			line, sink := []byte(c.line), hashOnly{}
			b.SetBytes(int64(len(line)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := session.Prepare(line, sink); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
