package patched_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/change"
	"github.com/xcsh-ls/xcsh-ls/agent/change/patched"
	"github.com/xcsh-ls/xcsh-ls/agent/change/plan"
	"github.com/xcsh-ls/xcsh-ls/agent/change/wire"
)

const diff = "--- a.txt\n+++ a.txt\n@@ -1,3 +1,4 @@\n one\n-two\n+zwei\n+drei\n three\n@@ -9,2 +10,1 @@\n nine\n--- x\n"

func TestFilesOfCalls(t *testing.T) {
	t.Parallel()
	text := "x\ny\n"
	calls := []patched.Call{
		{ID: "c1", Entry: "e1", Path: "/p/a.txt", Patch: diff},
		{ID: "c2", Entry: "e2", Path: "/p/b", Edits: []patched.Edit{{Old: "x\n", New: "y\n"}}},
		{ID: "c3", Entry: "e3", Path: "/p/b", Wrote: &text},
	}
	files := patched.Files(calls, &plan.Plan{Paths: []plan.Path{
		{Path: "/p/a.txt", Action: wire.Merge, Now: plan.Now{Document: true, Dirty: true}}, {Path: "/p/b", Action: wire.Conflict, Reason: wire.Missing, Text: "No."},
	}}, true)
	require.Len(t, files, 2)
	require.Equal(t, "/p/a.txt", files[0].Path)
	require.Equal(t, []string{"e1"}, files[0].Records)
	require.Equal(t, [2]int{2, 2}, [2]int{files[0].Added, files[0].Removed})
	require.Len(t, files[0].Hunks, 2)
	require.Equal(t, "@@ -2 +2,2 @@\n-two\n+zwei\n+drei\n", files[0].Hunks[0].Text)
	require.Equal(t, "@@ -10 +10,0 @@\n--- x\n", files[0].Hunks[1].Text)
	require.Equal(t, "c1", files[0].Hunks[0].ToolCallID)
	require.Equal(t, "e1", files[0].Hunks[0].Record)
	require.True(t, files[0].Rewindable)
	require.True(t, files[0].Buffer)
	require.Equal(t, []string{"e2", "e3"}, files[1].Records)
	require.Equal(t, [2]int{3, 1}, [2]int{files[1].Added, files[1].Removed})
	require.False(t, files[1].Rewindable)
	require.Equal(t, wire.Missing, files[1].Reason)
}

func TestBeforeACall(t *testing.T) {
	t.Parallel()
	edits := func(texts ...string) (c patched.Call) {
		for i := 0; i < len(texts); i += 2 {
			c.Edits = append(c.Edits, patched.Edit{Old: texts[i], New: texts[i+1]})
		}
		return c
	}
	of := func(patch string) patched.Call { return patched.Call{Patch: patch} }
	opaque := edits("a", "b")
	opaque.Opaque = true
	const noEnd = "\\ No newline at end of file\n"
	for name, c := range map[string]struct {
		call   patched.Call
		now    string
		want   string
		reason string
	}{
		"a patch":                      {of(diff), "one\nzwei\ndrei\nthree\nfour\nnine\n", "one\ntwo\nthree\nfour\nnine\n-- x\n", ""},
		"CRLF":                         {of(diff), "one\r\nzwei\r\ndrei\r\nthree\r\nnine\r\n", "one\r\ntwo\r\nthree\r\nnine\r\n-- x\r\n", ""},
		"a byte order mark":            {of(diff), "\ufeffone\nzwei\ndrei\nthree\nnine\n", "\ufeffone\ntwo\nthree\nnine\n-- x\n", ""},
		"CRLF in the call":             {edits("a\r\nb", "c\r\nd"), "x\nc\nd\n", "x\na\nb\n", ""},
		"mixed line ends":              {edits("a\nb", "c\nd"), "x\r\nc\nd\n", "x\r\na\nb\n", ""},
		"twice there":                  {of(diff), "one\nzwei\ndrei\nthree\none\nzwei\ndrei\nthree\nnine\n", "", wire.Overlaps},
		"twice there, overlapping":     {edits("x", "aba"), "ababa\n", "", wire.Overlaps},
		"changed since":                {of(diff), "one\nzwei\nDREI\nthree\nnine\n", "", wire.Overlaps},
		"not whole lines":              {of("@@ -1 +1 @@\n-x\n+y\n"), "my\n", "", wire.Overlaps},
		"whole lines":                  {of("@@ -2 +2 @@\n-x\n+y\n"), "my\ny\n", "my\nx\n", ""},
		"an edit within a line":        {edits("1", "2"), "a = 2;\n", "a = 1;\n", ""},
		"several edits":                {edits("a", "A", "b", "B"), "AB\n", "ab\n", ""},
		"an edit of an edit":           {edits("a", "b", "b", "c"), "c\n", "a\n", ""},
		"the former text is ambiguous": {edits("a", "b"), "b a\n", "", wire.Overlaps},
		"edits that lead elsewhere":    {edits("a", "b", "a", "c"), "b c\n", "", wire.Overlaps},
		"a written file":               {patched.Call{Wrote: new(string)}, "", "", wire.Missing},
		"a form that is not known":     {opaque, "b\n", "", wire.Missing},
		"nothing":                      {patched.Call{}, "b\n", "", wire.Missing},
		"a removed text":               {edits("a", ""), "c\n", "", wire.Overlaps},
		"a removed line":               {of("@@ -1,2 +1 @@\n x\n-y\n"), "x\n", "x\ny\n", ""},
		"an added text":                {edits("", "c\n"), "c\n", "", wire.Overlaps},
		"no end":                       {of("@@ -1 +1 @@\n-a\n" + noEnd + "+b\n" + noEnd), "b", "a", ""},
		"no end before":                {of("@@ -1 +1 @@\n-a\n" + noEnd + "+b\n"), "b\n", "a", ""},
		"no end after":                 {of("@@ -1 +1 @@\n-a\n+b\n" + noEnd), "b", "a\n", ""},
		"no end, with context":         {of("@@ -1,2 +1,2 @@\n-a\n+b\n c\n" + noEnd), "b\nc", "a\nc", ""},
		"an end was added since":       {of("@@ -1 +1 @@\n-a\n+b\n" + noEnd), "b\nc\n", "", wire.Overlaps},
		"empty lines without a space":  {of("@@ -1,3 +1,3 @@\n-a\n+b\n\n c\n"), "b\n\nc\n", "a\n\nc\n", ""},
		"a patch of two files":         {of("--- a\n+++ a\n@@ -1 +1 @@\n-a\n+b\n--- c\n+++ c\n@@ -1 +1 @@\n-c\n+d\n"), "b\nd\n", "", wire.Missing},
		"a header that lies":           {of("@@ -1,2 +1 @@\n-a\n+b\n"), "b\n", "", wire.Missing},
		"more than the header says":    {of("@@ -1 +1 @@\n-a\n+b\n+c\n"), "b\nc\n", "", wire.Missing},
		"a header of numbers":          {of("@@ x @@\n+y\n"), "y\n", "", wire.Missing},
		"a negative header":            {of("@@ -1,-1 +1,-1 @@\n"), "y\n", "", wire.Missing},
		"not even a patch":             {of("@@ -1 +1 @@\nfoo"), "y\n", "", wire.Missing},
		"a patch goes first":           {patched.Call{Patch: "@@ -1 +1 @@\n-a\n+b\n", Edits: []patched.Edit{{Old: "q", New: "b"}}}, "b\n", "a\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, reason, text := c.call.Before([]byte(c.now))
			require.Equal(t, c.reason, reason)
			require.Equal(t, c.want, string(got))
			require.Equal(t, reason != "", text != "")
		})
	}
}

func TestRecordsOfCalls(t *testing.T) {
	t.Parallel()
	records := patched.Records([]patched.Call{
		{ID: "c1", Entry: "e1", Seq: 3, Prompt: "p", Tool: "edit", Path: "/p/a"},
		{ID: "c1", Entry: "e1", Seq: 3, Prompt: "p", Tool: "edit", Path: "/p/b"},
		{ID: "c2", Entry: "e2", Seq: 5, Prompt: "p", Tool: "write", Path: "/q"},
	}, "/p")
	require.Len(t, records, 2)
	require.Equal(t, []string{"/p/a", "/p/b"}, records[0].Paths())
	require.Equal(t, "e2", records[1].ID)
	require.Equal(t, 5, records[1].Seq)
	require.Equal(t, []string{change.LimitPatch}, records[1].Limits)
}

// A hostile patch is refused, or taken back so that it can be made again.
func FuzzBefore(f *testing.F) {
	f.Add(diff, "one\nzwei\ndrei\nthree\nnine\n", "a", "b")
	f.Add("", "\ufeffb\r\n", "a", "b")
	f.Add("@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n", "b\n", "", "")
	f.Fuzz(func(t *testing.T, patch, now, old, text string) {
		call := patched.Call{Path: "/p/a", Patch: patch, Edits: []patched.Edit{{Old: old, New: text}}}
		patched.Files([]patched.Call{call}, &plan.Plan{}, true)
		before, reason, _ := call.Before([]byte(now))
		if reason != "" {
			require.Nil(t, before)
			return
		}
		if patch == "" && !strings.ContainsAny(now+old+text, "\r\ufeff") {
			require.Equal(t, now, strings.Replace(string(before), old, text, 1))
		}
	})
}
