package pi

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/tool"
)

func TestEditsAreAppliedAsPiDoes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ args, was, want, err string }{
		"one":                 {args: `{"path":"f","edits":[{"oldText":"b","newText":"x"}]}`, was: "a\nb\nc\n", want: "a\nx\nc\n"},
		"several":             {args: `{"path":"f","edits":[{"oldText":"c","newText":"3"},{"oldText":"a","newText":"1"}]}`, was: "a\nb\nc\n", want: "1\nb\n3\n"},
		"edits in a string":   {args: `{"path":"f","edits":"[{\"oldText\":\"b\",\"newText\":\"x\"}]"}`, was: "b", want: "x"},
		"one in a string":     {args: `{"path":"f","edits":"{\"oldText\":\"b\",\"newText\":\"x\"}"}`, was: "b", want: "x"},
		"one edit":            {args: `{"path":"f","edits":{"oldText":"b","newText":"x"}}`, was: "b", want: "x"},
		"beside the path":     {args: `{"path":"f","oldText":"b","newText":"x"}`, was: "b", want: "x"},
		"both":                {args: `{"path":"f","oldText":"b","newText":"x","edits":[{"oldText":"a","newText":"y"}]}`, was: "ab", want: "yx"},
		"CRLF":                {args: `{"path":"f","edits":[{"oldText":"b\nc","newText":"1\n2"}]}`, was: "a\r\nb\r\nc\r\n", want: "a\r\n1\r\n2\r\n"},
		"CRLF in part":        {args: `{"path":"f","edits":[{"oldText":"b\n","newText":"1\n2\n"}]}`, was: "a\r\nb\nc\r\n", want: "a\r\n1\n2\nc\r\n"},
		"CR":                  {args: `{"path":"f","edits":[{"oldText":"b","newText":"1\n2"}]}`, was: "a\rb\rc", want: "a\r1\r2\rc"},
		"a mark":              {args: `{"path":"f","edits":[{"oldText":"a","newText":"b"}]}`, was: "\uFEFFa\r\n", want: "\uFEFFb\r\n"},
		"CR and LF stay two":  {args: `{"path":"f","edits":[{"oldText":"x","newText":""}]}`, was: "a\rx\nb\n", want: "a\r\n\nb\n"},
		"quotes":              {args: `{"path":"f","edits":[{"oldText":"say \"hi\"","newText":"x"}]}`, was: "a  \nsay “hi” now\nb  \n", want: "a  \nx now\nb  \n"},
		"space at the end":    {args: `{"path":"f","edits":[{"oldText":"a\nb","newText":"x"}]}`, was: "a  \nb\nc \n", want: "x\nc \n"},
		"not there":           {args: `{"path":"f","edits":[{"oldText":"z","newText":"x"}]}`, was: "a", err: "could not find oldText in f"},
		"twice":               {args: `{"path":"f","edits":[{"oldText":"a","newText":"x"}]}`, was: "a a", err: "found 2 occurrences of oldText in f; it must be unique"},
		"twice if folded":     {args: `{"path":"f","edits":[{"oldText":"a'","newText":"x"}]}`, was: "a' a’", err: "found 2 occurrences of oldText in f; it must be unique"},
		"overlap":             {args: `{"path":"f","edits":[{"oldText":"ab","newText":"x"},{"oldText":"bc","newText":"y"}]}`, was: "abc", err: "edits[0].oldText and edits[1].oldText overlap in f"},
		"empty":               {args: `{"path":"f","edits":[{"oldText":"","newText":"x"}]}`, was: "abc", err: "oldText must not be empty in f"},
		"no change":           {args: `{"path":"f","edits":[{"oldText":"a","newText":"a"}]}`, was: "abc", err: "no changes made to f: the replacement is identical"},
		"not UTF-8":           {args: `{"path":"f","edits":[{"oldText":"a","newText":"b"}]}`, was: "a\xff", err: "could not edit file: f is not UTF-8 text"},
		"no edits":            {args: `{"path":"f","edits":[]}`, err: "the arguments of edit have no valid replacements"},
		"an edit of numbers":  {args: `{"path":"f","edits":[{"oldText":1,"newText":"x"}]}`, err: "the arguments of edit have no valid replacements"},
		"a string of nothing": {args: `{"path":"f","edits":"{"}`, err: "the arguments of edit have no valid replacements"},
		"no path":             {args: `{}`, err: "the arguments of edit have no path"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []byte
			edit, err := decodeEdit(json.RawMessage(c.args))
			if err == nil {
				got, err = edit.apply(tool.File{Exists: true, Content: []byte(c.was)})
			}
			if c.err != "" {
				require.EqualError(t, err, c.err)
				return
			}
			require.NoError(t, err)
			require.Equal(t, c.want, string(got))
		})
	}
	_, err := editing{path: "f"}.apply(tool.File{})
	require.EqualError(t, err, "could not edit file: f does not exist")
}

func TestAWriteReplacesTheFile(t *testing.T) {
	t.Parallel()
	w, err := decodeWrite(json.RawMessage(`{"path":"f","content":"c"}`))
	require.NoError(t, err)
	content, err := w.apply(tool.File{})
	require.NoError(t, err)
	require.Equal(t, "c", string(content))
	_, err = decodeWrite(json.RawMessage(`{"path":"f"}`))
	require.Error(t, err)
}

func TestPathsAreResolvedAsPiDoes(t *testing.T) {
	t.Setenv("HOME", "/home/u")
	for path, want := range map[string]string{
		"a/b.go": "/w/a/b.go", "../x": "/x", "/abs/./x": "/abs/x", "~/x": "/home/u/x", "~": "/home/u", "~other/x": "/w/~other/x",
		"@a.go": "/w/a.go", "@/a.go": "/a.go", "a\u00a0b": "/w/a b", "file:///a%20b": "/a b", "": "/w",
	} {
		got, err := resolvePath(path, "/w")
		require.NoError(t, err)
		require.Equal(t, filepath.FromSlash(want), got, path)
	}
	for _, path := range []string{"a\x00b", "file://host/x"} {
		_, err := resolvePath(path, "/w")
		require.Error(t, err)
	}
}

// Whatever a model sends, an edit changes only what it names.
func FuzzEdit(f *testing.F) {
	f.Add("a\r\nb\r\n", "b", "c")
	f.Add("a\rb", "a", "\n")
	f.Add("say “hi”  \n", `say "hi"`, "x")
	f.Fuzz(func(t *testing.T, was, old, new string) {
		c := editing{"f", []replacement{{old, new}}}
		got, err := c.apply(tool.File{Exists: true, Content: []byte(was)})
		if err != nil {
			return
		}
		require.True(t, utf8.ValidString(was))
		text := strings.TrimPrefix(was, bom)
		if !strings.Contains(text, "\r") && strings.Count(text, withLF(old)) == 1 {
			require.Equal(t, strings.Replace(text, withLF(old), withLF(new), 1), strings.TrimPrefix(string(got), bom))
		}
	})
}
