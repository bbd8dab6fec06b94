package acp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/event"
)

func TestReadLine(t *testing.T) {
	t.Parallel()
	r := bufio.NewReaderSize(strings.NewReader("a\r\n\n"+strings.Repeat("x", 50)+"\n"+strings.Repeat("y", 20)+"\nend"), 16)
	var got []string
	for {
		line, err := readLine(r, 30)
		if errors.Is(err, io.EOF) {
			break
		}
		if errors.Is(err, errTooLong) {
			got = append(got, "too long")
			continue
		}
		require.NoError(t, err)
		got = append(got, string(line))
	}
	require.Equal(t, []string{"a", "", "too long", strings.Repeat("y", 20), "end"}, got)

	r = bufio.NewReaderSize(strings.NewReader(strings.Repeat("x", 50)), 16)
	_, err := readLine(r, 30)
	require.ErrorIs(t, err, errTooLong)
	_, err = readLine(r, 30)
	require.ErrorIs(t, err, io.EOF)
}

func TestOutboxMergesWaitingUpdates(t *testing.T) {
	t.Parallel()
	o := newOutbox()
	piece := func(session, kind, message, text string) {
		o.put(&textPiece{session: session, kind: kind, message: message, text: []byte(text)})
	}
	progress := func(call, text string) {
		o.put(&toolProgress{key: call, params: updateParams{"s", toolUpdate{ID: call, Title: text}}})
	}
	piece("s", updateAgentChunk, "m", "one ")
	piece("s", updateAgentChunk, "m", "two")
	piece("s", updateThoughtChunk, "m", "hm")
	piece("s", updateAgentChunk, "n", "next")
	piece("t", updateAgentChunk, "n", "other session")
	progress("c", "1")
	progress("d", "2")
	progress("c", "3")
	o.put(notification("x", nil))
	progress("c", "4")
	o.close()
	piece("s", updateAgentChunk, "m", "too late")
	var b bytes.Buffer
	o.run(&b)
	var got []string
	for line := range strings.Lines(b.String()) {
		var m struct {
			Method string
			Params struct {
				Update struct {
					Content struct{ Text string }
					Title   string
				}
			}
		}
		require.NoError(t, json.Unmarshal([]byte(line), &m), line)
		got = append(got, m.Params.Update.Content.Text+m.Params.Update.Title)
	}
	require.Equal(t, []string{"one two", "hm", "next", "other session", "4", "2", ""}, got)

	o = newOutbox()
	progress = func(call, text string) {
		o.put(&toolProgress{key: call, params: updateParams{"s", toolUpdate{ID: call, Title: text}}})
	}
	progress("c", "1")
	_, ok := o.next()
	require.True(t, ok)
	progress("c", "2")
	_, ok = o.next()
	require.True(t, ok, "written updates are not merged")
}

func TestInvalidUTF8IsReplaced(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	require.NoError(t, write(&b, notification("x", map[string]json.RawMessage{"a": json.RawMessage("\"\xff<\"")})))
	require.Equal(t, "{\"jsonrpc\":\"2.0\",\"method\":\"x\",\"params\":{\"a\":\"\uFFFD<\"}}\n", b.String())
}

func TestPatchDiffs(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		patch string
		want  [][2]string // old and new text; "-" for no old text
	}{
		"two places": {
			"--- a\n+++ a\n@@ -1,2 +1,2 @@\n one\n-two\n+TWO\n@@ -9 +9,2 @@\n nine\n+ten\n", [][2]string{{"one\ntwo\n", "one\nTWO\n"}, {"nine\n", "nine\nten\n"}},
		},
		"a new file":      {"--- a\n+++ a\n@@ -0,0 +1,2 @@\n+one\n+two\n", [][2]string{{"-", "one\ntwo\n"}}},
		"a cut off space": {"@@ -1,2 +1,1 @@\n\n-x\n", [][2]string{{"\nx\n", "\n"}}},
		"no line end":     {"@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n\\ No newline at end of file\n", [][2]string{{"a\n", "b\n"}}},
		"nothing":         {"", nil},
		"no diff":         {"+1 one\n-2 two\n", nil},
		"an odd header":   {"@@ x @@\n+a", [][2]string{{"", "a"}}},
	} {
		var got [][2]string
		for _, d := range patchDiffs("/p", tc.patch) {
			require.Equal(t, "/p", d.Path)
			old := "-"
			if d.OldText != nil {
				old = *d.OldText
			}
			got = append(got, [2]string{old, *d.NewText})
		}
		require.Equal(t, tc.want, got, name)
	}
}

func TestTitlesAndPlacesOfCalls(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ tool, args, title, kind, path string }{
		{"bash", `{"command":"ls  -l\n && pwd"}`, "ls -l && pwd", "execute", ""},
		{"read", `{"path":"a/../b.txt"}`, "read a/../b.txt", "read", "/w/b.txt"},
		{"read", `{"file_path":"/x"}`, "read /x", "read", "/x"},
		{"grep", `{"pattern":"x.*"}`, "grep x.*", "search", ""},
		{"fetch", `{"url":"https://x"}`, "fetch https://x", "fetch", ""},
		{"read", `{"path":"https://x"}`, "read https://x", "read", ""},
		{"odd", `{"a":1}`, "odd", "other", ""},
		{"odd", `5`, "odd", "other", ""},
		{"", ``, "tool", "other", ""},
		{"bash", `{"command":"` + strings.Repeat("x", 300) + `"}`, strings.Repeat("x", 199) + "…", "execute", ""},
	} {
		require.Equal(t, tc.title, callTitle(tc.tool, []byte(tc.args)))
		require.Equal(t, tc.kind, kindOf(tc.tool))
		path := ""
		if l := locationsOf("/w", []byte(tc.args), nil); l != nil {
			path = l[0].Path
		}
		require.Equal(t, tc.path, path, tc.args)
	}
	require.Equal(t, 7, locationsOf("/w", []byte(`{"path":"a","offset":7}`), nil)[0].Line)
	require.Equal(t, 9, locationsOf("/w", []byte(`{"path":"a","offset":7}`), []byte(`{"firstChangedLine":9}`))[0].Line)
	require.Zero(t, locationsOf("/w", []byte(`{"path":"a","offset":-7}`), nil)[0].Line)
}

// FuzzParse: any input is parsed as a message or refused under an id that is valid in JSON-RPC.
// Proves: ACP-01
func FuzzParse(f *testing.F) {
	for _, line := range []string{
		`{"id":1,"method":"initialize"}`, `{"id":"a","result":null,"error":null}`, `{"error":5,"id":1}`, `[]`, `{`, `null`, `{"method":"x","id":null}`,
		`{"id":1,"id":{},"method":"x"}`, `{"ID":1,"Method":"x"}`, "\xff",
	} {
		f.Add([]byte(line))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		if line = bytes.TrimSpace(line); len(line) == 0 {
			return // skipped before
		}
		m, id, wrong := parse(line)
		require.True(t, isID(id))
		if wrong != nil {
			require.Contains(t, []int{codeParse, codeInvalidRequest}, wrong.Code)
			return
		}
		require.True(t, m.Method != "" || m.ID != nil && (m.Result != nil || m.Error != nil))
		out, err := encode(outgoing{JSONRPC: "2.0", ID: id, Error: toWire(refusal(codeNoMethod, "x", "%s", m.Method))})
		require.NoError(t, err)
		require.Equal(t, 1, bytes.Count(out, []byte("\n")), "an answer is one line")
	})
}

func TestDiffsOfResults(t *testing.T) {
	t.Parallel()
	patch := `{"patch":"--- a\n+++ a\n@@ -1 +1 @@\n-one\n+two\n"}`
	for name, tc := range map[string]struct {
		tool, args, details string
		want                [][2]string
	}{
		"the patch takes precedence": {"edit", `{"path":"a","edits":[{"oldText":"n","newText":"t"}]}`, patch, [][2]string{{"one\n", "two\n"}}},
		"without a patch":            {"edit", `{"path":"a","edits":[{"oldText":"n","newText":"t"},{"oldText":"x","newText":""}]}`, `{"diff":"-1 one"}`, [][2]string{{"n", "t"}, {"x", ""}}},
		"one edit beside a path":     {"edit", `{"path":"a","oldText":"n","newText":"t"}`, ``, [][2]string{{"n", "t"}}},
		"a whole file":               {"write", `{"path":"a","content":"all\n"}`, ``, [][2]string{{"-", "all\n"}}},
		"no path":                    {"edit", `{"oldText":"n","newText":"t"}`, patch, nil},
		"a tool that only reads":     {"read", `{"path":"a"}`, patch, nil},
		"arguments of other kind":    {"edit", `{"path":"a","edits":[5,{"oldText":1}]}`, `7`, nil},
	} {
		var got [][2]string
		for _, d := range diffsOf("/w", &shownCall{name: tc.tool, args: []byte(tc.args)}, []byte(tc.details)) {
			require.Equal(t, "/w/a", d.Path)
			old := "-"
			if d.OldText != nil {
				old = *d.OldText
			}
			got = append(got, [2]string{old, *d.NewText})
		}
		require.Equal(t, tc.want, got, name)
	}
}

// Proves: ACP-04
func TestCostOfASession(t *testing.T) {
	t.Parallel()
	o := newOutbox()
	s := &server{out: o, conn: newConn(o)}
	v := newView(s, "s", "/w")
	answer := func(usage string) {
		v.event(event.MessageEnd{Message: json.RawMessage(`{"role":"assistant","content":[],"usage":` + usage + `}`)})
	}
	answer(`{"input":1,"cost":{"total":0.5}}`) // the window is not known yet
	_, known := v.filled(7, 0)
	require.False(t, known)
	u, known := v.filled(7, 100)
	require.True(t, known)
	require.Equal(t, usageUpdate{updateUsage, 7, 100, &cost{0.5, "USD"}}, u)
	answer(`{"input":10,"output":5,"cacheRead":2,"cacheWrite":1,"cost":{"total":0.25}}`)
	answer(`{"input":0,"output":0}`)
	answer(`null`)
	v.event(event.MessageEnd{Message: json.RawMessage(`{"role":"user","content":"x"}`)})
	o.close()
	var b bytes.Buffer
	o.run(&b)
	require.Equal(t, 1, strings.Count(b.String(), "\n"), b.String())
	require.Contains(t, b.String(), `{"sessionUpdate":"usage_update","used":18,"size":100,"cost":{"amount":0.75,"currency":"USD"}}`)
}
