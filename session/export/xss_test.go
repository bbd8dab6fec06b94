package export_test

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/session/export"
)

// payloads are ways out of the place a string has in a page.
var payloads = []string{
	`<script>alert(1)</script>`,
	`"><img src=x onerror=alert(1)>`,
	`' onmouseover='alert(1)`,
	"` onfocus=alert(1) autofocus x=`",
	`javascript:alert(1)`,
	`data:text/html,<script>alert(1)</script>`,
	`</script><script>alert(1)</script>`,
	`</style><svg onload=alert(1)>`,
	`</title></pre></details></article></main><iframe srcdoc="<script>alert(1)</script>">`,
	`<!--`, `--!><script>alert(1)</script>`, `]]>`, `<![CDATA[`, `<?xml `,
	"\u2028\u2029alert(1)", "\x00<\x00script>", "\uFEFF+ADw-script+AD4-",
	`{{.}}{{template "item"}}`, `&lt;script&gt;&#60;&amp`, `\u003cscript\u003e`, `*/ } body { background: url(//x) } /*`,
	`<a href="https://example.invalid/">x</a>`, `"><meta http-equiv=refresh content="0;url=//x">`, `"><base href=//x>`,
	`<!-- <script> </script> --> </SCRIPT/x> <!--<script>`, "<scr\x00ipt></script\x0b><script>alert(1)// </script",
	"\xff\xfe<b>", "\u202E\u2066\u061c\u200f<img>", "\x1b]8;;javascript:alert(1)\x07x",
}

// poison returns copies of v in which every string, key included, is the payload; and for
// each string one copy in which only that one is. all keeps type and role, so that the
// entry still reaches the code that shows it.
func poison(v any, payload string) (all any, each []any) {
	switch v := v.(type) {
	case string:
		return payload, []any{payload}
	case []any:
		out := make([]any, len(v))
		for i := range v {
			one, more := poison(v[i], payload)
			out[i] = one
			for _, m := range more {
				c := slices.Clone(v)
				c[i] = m
				each = append(each, c)
			}
		}
		return out, each
	case map[string]any:
		return poisonObject(v, payload)
	}
	return v, nil
}

func poisonObject(v map[string]any, payload string) (any, []any) {
	out := map[string]any{}
	var each []any
	with := func(drop, key string, val any) map[string]any {
		c := map[string]any{key: val}
		for k, old := range v {
			if k != drop && k != key {
				c[k] = old
			}
		}
		return c
	}
	for key, val := range v {
		one, more := poison(val, payload)
		out[key] = one
		if key == "type" || key == "role" {
			out[key] = val
		}
		for _, m := range more {
			each = append(each, with(key, key, m))
		}
		each = append(each, with(key, payload, val))
	}
	if _, ok := v["arguments"]; ok {
		out["arguments"] = map[string]any{payload: payload}
	}
	return out, each
}

// poisoned returns every entry of the sample poisoned in every way.
func poisoned(t *testing.T, payload string) []json.RawMessage {
	t.Helper()
	var lines []json.RawMessage
	for _, l := range readLines(t, "sample.jsonl") {
		var v any
		require.NoError(t, json.Unmarshal(l, &v))
		all, each := poison(v, payload)
		for _, p := range append(each, all) {
			lines = append(lines, encode(t, p))
		}
	}
	return lines
}

// encode leaves < and > as they are, and invalid UTF-8 too.
func encode(t *testing.T, v any) json.RawMessage {
	t.Helper()
	switch v := v.(type) {
	case string:
		out := []byte{'"'}
		for i := range len(v) {
			switch c := v[i]; {
			case c == '"' || c == '\\':
				out = append(out, '\\', c)
			case c < 0x20:
				out = append(out, `\u00`...)
				out = append(out, "0123456789abcdef"[c>>4], "0123456789abcdef"[c&15])
			default:
				out = append(out, c)
			}
		}
		return append(out, '"')
	case []any:
		out := json.RawMessage("[")
		for i, e := range v {
			if i > 0 {
				out = append(out, ',')
			}
			out = append(out, encode(t, e)...)
		}
		return append(out, ']')
	case map[string]any:
		out := json.RawMessage("{")
		for k, e := range v {
			if len(out) > 1 {
				out = append(out, ',')
			}
			out = append(append(append(out, encode(t, k)...), ':'), encode(t, e)...)
		}
		return append(out, '}')
	}
	b, err := json.Marshal(v)
	require.NoError(t, err)
	return b
}

// poisonedDoc is a document in which every string is the payload, once individually and once all
// together.
func poisonedDoc(t *testing.T, payload string) export.Doc {
	t.Helper()
	lines := poisoned(t, payload)
	require.Greater(t, len(lines), 300)
	return export.Doc{
		Header:  encode(t, map[string]any{"type": "session", "id": payload, "cwd": payload, "timestamp": payload, "title": payload}),
		Entries: entries(lines), LeafID: payload, Labels: map[string]string{payload: payload, "a0000004": payload},
		Model: payload, ThinkingLevel: payload, SystemPrompt: payload, Title: payload, FileName: payload,
		Tools: []export.Tool{{Name: payload, Description: payload, Parameters: encode(t, map[string]any{payload: payload})}},
	}
}

// Whichever string of a session an attacker controls, it stays in its data block, in the title or in the footer. A
// browser test covers the viewer's output.
// Proves: O-016, F-14
func TestHTMLInertForEveryField(t *testing.T) {
	t.Parallel()
	for i, payload := range payloads {
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			t.Parallel()
			var out strings.Builder
			require.NoError(t, export.HTML(&out, poisonedDoc(t, payload), export.HTMLOptions{AppName: payload, GeneratedAt: payload, Theme: payload}))
			requireInert(t, out.String())
		})
	}
}
