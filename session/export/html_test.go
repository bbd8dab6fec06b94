package export_test

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"html"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/session/export"
)

func TestHTMLGolden(t *testing.T) {
	t.Parallel()
	got := page(t, sample(t))
	requireInert(t, got)
	golden(t, "sample.html", got)
}

func TestHTMLOfNothing(t *testing.T) {
	t.Parallel()
	got := page(t, export.Doc{})
	requireInert(t, got)
	golden(t, "empty.html", got)
}

// sessionData decodes the data block of a page.
func sessionData(t *testing.T, page string) string {
	t.Helper()
	_, rest, ok := strings.Cut(page, `<script id="session-data" type="application/json">`)
	require.True(t, ok)
	block, _, ok := strings.Cut(rest, "</script>")
	require.True(t, ok)
	b, err := base64.StdEncoding.DecodeString(block)
	require.NoError(t, err)
	return string(b)
}

func TestHTMLDataBlockKeepsBytes(t *testing.T) {
	t.Parallel()
	lines := readLines(t, "sample.jsonl")
	var joined []string
	for _, l := range lines[1:] {
		joined = append(joined, string(l))
	}
	want := `{"header":` + string(lines[0]) + `,"entries":[` + strings.Join(joined, ",") +
		`],"leafId":"a0000019","systemPrompt":"You are a test agent.","tools":[{"name":"bash","description":"Run a command.","parameters":{"type":"object"}}]}`
	require.Equal(t, want, sessionData(t, page(t, sample(t))))
}

func TestHTMLDataBlockWithoutOptionalParts(t *testing.T) {
	t.Parallel()
	d := export.Doc{Entries: entries(raws(`{"id":"a"}`, `{"torn":`, "{\"x\":\"\xff\\ud800\"}"))}
	require.Equal(t, "{\"header\":null,\"entries\":[{\"id\":\"a\"},{\"x\":\"\xff\\ud800\"}],\"leafId\":null}", sessionData(t, page(t, d)))
	d.Tools = []export.Tool{{Name: "a", Parameters: json.RawMessage("{")}, {Name: "b"}}
	require.True(t, json.Valid([]byte(sessionData(t, page(t, d)))))
}

// body is the text of the page as a reader sees it, tags and data block removed.
func body(page string) string {
	page, _, _ = strings.Cut(page, `<script id="session-data"`)
	_, page, _ = strings.Cut(page, "</style>")
	return html.UnescapeString(regexp.MustCompile(`<[^>]*>`).ReplaceAllString(page, ""))
}

func TestHTMLShowsTheActivePathAndListsTheRest(t *testing.T) {
	t.Parallel()
	got := page(t, sample(t))
	path, others, ok := strings.Cut(got, `id="other-branches"`)
	require.True(t, ok)
	require.NotContains(t, path, "That led nowhere.")
	require.Contains(t, others, "That led nowhere.")
	require.Contains(t, others, "2 entries not on the active path")
	require.NotContains(t, others, "Let me look.")
	require.Contains(t, path, `<a href="#entry-a0000003"><span class="number">1</span>`)
	require.Contains(t, path, `<span class="label" title="Label">first look</span>`)
	require.Contains(t, body(got), "$0.0123 ($0.5123 with other branches)")
	require.Contains(t, body(got), "2 user · 2 assistant · 2 tool calls")
	require.Contains(t, body(got), "1,200 in · 80 out · 4,000 cache read")
}

func TestHTMLWithoutPathShowsEverything(t *testing.T) {
	t.Parallel()
	d := sample(t)
	d.PathIDs = nil
	require.NotContains(t, page(t, d), `id="other-branches"`)
	d.PathIDs = map[string]bool{}
	require.Contains(t, body(page(t, d)), "This conversation has no entries.")
}

func user(id, content string) string {
	return `{"type":"message","id":` + id + `,"message":{"role":"user","content":` + content + `}}`
}

func TestHTMLAnchors(t *testing.T) {
	t.Parallel()
	d := export.Doc{
		PathIDs: map[string]bool{"dup": true, "": true, "a b": true},
		Entries: entries(raws(
			user(`"dup"`, `"the first"`), user(`"dup"`, `"the last counts"`), user(`""`, `"no id"`),
			user(`7`, `"number"`), user(`"a b"`, `"odd id"`), user(`"`+strings.Repeat("x", 65)+`"`, `"long id"`), `null`, `[]`,
		)),
	}
	got := page(t, d)
	requireInert(t, got)
	path, others, _ := strings.Cut(got, `id="other-branches"`)
	require.Contains(t, path, `id="entry-dup"`)
	require.Contains(t, path, "the last counts")
	require.Contains(t, path, `id="entry-.4"`)
	for _, id := range []string{"0", "2", "3", "5", "6", "7"} {
		require.Contains(t, others, `id="entry-.`+id+`"`)
	}
	require.Contains(t, others, "the first")
}

func TestHTMLImages(t *testing.T) {
	t.Parallel()
	b64 := func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }
	png := b64("\x89PNG\r\n\x1a\n0123456789")
	for name, c := range map[string]struct {
		mime, data string
		shown      bool
	}{
		"png":                     {"image/png", png, true},
		"jpeg":                    {"image/jpeg", b64("\xFF\xD8\xFF\xE0 0123456789"), true},
		"gif":                     {"image/gif", b64("GIF89a 0123456789"), true},
		"webp":                    {"image/webp", b64("RIFF0000WEBPVP8 "), true},
		"svg":                     {"image/svg+xml", b64("<svg onload=alert(1)></svg>"), false},
		"svg called png":          {"image/png", b64("<svg onload=alert(1)></svg>"), false},
		"html":                    {"text/html", b64("<script>alert(1)</script>"), false},
		"type with parameters":    {"image/png;charset=x", png, false},
		"type in capitals":        {"IMAGE/PNG", png, false},
		"attribute break in type": {`image/png" onerror="alert(1)`, png, false},
		"attribute break in data": {"image/png", png + `" onerror="alert(1)`, false},
		"line breaks":             {"image/png", png[:8] + "\n" + png[8:], false},
		"URL alphabet":            {"image/png", strings.NewReplacer("+", "-", "/", "_").Replace(b64("\x89PNG\xFF\xEF\xBE\xFF\xEF\xBE\xFF\xEF\xBE")), false},
		"blob reference":          {"image/png", "blob:sha256:00ff", false},
		"URL":                     {"image/png", "https://example.invalid/x.png", false},
		"too short":               {"image/png", b64("\x89PNG"), false},
		"nothing":                 {"image/png", "", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			block := `[{"type":"image","mimeType":` + strconv.Quote(c.mime) + `,"data":` + strconv.Quote(c.data) + `}]`
			got := page(t, export.Doc{Entries: entries(raws(user(`"a"`, block)))})
			requireInert(t, got)
			require.Equal(t, c.shown, strings.Contains(got, "<img "))
			require.Equal(t, !c.shown, strings.Contains(got, `class="placeholder"`))
		})
	}
}

// Control characters, broken UTF-8 and marks that reorder text are shown or dropped,
// so that what a reader sees is what was said.
func TestHTMLCleansText(t *testing.T) {
	t.Parallel()
	got := page(t, export.Doc{Entries: entries(raws(
		user(`"a"`, `"nul\u0000 esc\u001b[2J \u001b[1;31mred\u001b[0m bell\u0007 \r\nlone\ud800. rlo\u202e\u2066. c1\u009b. del\u007f tab\tend"`),
		user(`"b"`, "\"bad\xff\xfe\""),
	))})
	requireInert(t, got)
	require.Contains(t, body(got), "nul␀ esc␛[2J red bell␇ \nlone\uFFFD. rlo. c1\uFFFD. del␡ tab\tend")
	require.Contains(t, body(got), "bad\uFFFD")
}

func TestHTMLTextStartingWithLineBreakKeepsIt(t *testing.T) {
	t.Parallel()
	got := page(t, export.Doc{SystemPrompt: "\nx"})
	require.Contains(t, got, "<pre dir=\"auto\">\n\nx</pre>") // browsers drop the first one
}

func TestHTMLReadErrorEndsThePage(t *testing.T) {
	t.Parallel()
	errRead := errors.New("gone")
	err := export.HTML(&strings.Builder{}, export.Doc{Entries: func(yield func(json.RawMessage, error) bool) {
		_ = yield(json.RawMessage(user(`"a"`, `"x"`)), nil) && yield(nil, errRead)
	}}, export.HTMLOptions{})
	require.ErrorIs(t, err, errRead)
}

func TestHTMLOddShapes(t *testing.T) {
	t.Parallel()
	var lines []string
	types := strings.Fields("message custom_message compaction branch_summary model_change thinking_level_change service_tier_change mode_change context_change label session_info title_change custom session_init mcp_tool_selection ttsr_injection unknown")
	roles := strings.Fields("user developer system assistant toolResult bashExecution pythonExecution custom hookMessage branchSummary compactionSummary fileMention unknown")
	for _, v := range []string{`null`, `7`, `-1e999`, `true`, `""`, `[]`, `{}`, `[null,[],{"type":7},{"type":"toolCall","arguments":[1,"a"]},{"type":"image"},{"type":"thinking"}]`} {
		for _, typ := range types {
			lines = append(lines, `{"type":"`+typ+`","id":`+v+`,"timestamp":`+v+`,"message":`+v+`,"summary":`+v+`,"data":`+v+`,"content":`+v+`,"tokensBefore":`+v+`,"label":`+v+`}`)
		}
		for _, role := range roles {
			lines = append(lines, `{"type":"message","message":{"role":"`+role+`","content":`+v+`,"files":`+v+`,"usage":`+v+`,"exitCode":`+v+`,"meta":`+v+`,"toolName":`+v+`}}`)
		}
	}
	requireInert(t, page(t, export.Doc{Entries: entries(raws(lines...))}))
	requireInert(t, page(t, export.Doc{Entries: entries(raws(lines...)), PathIDs: map[string]bool{}}))
}
