package tool_test

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/tool"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
)

// edits is JSON of replacements, given as old and new in turn.
func edits(t *testing.T, oldNew ...string) string {
	t.Helper()
	list := []map[string]string{}
	for i := 0; i < len(oldNew); i += 2 {
		list = append(list, map[string]string{"oldText": oldNew[i], "newText": oldNew[i+1]})
	}
	return object(t, "path", "x", "edits", list)
}

func TestEdit(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, before string
		edits        []string
		after        string
	}{
		{"one word", "a b c\n", []string{"b", "B"}, "a B c\n"},
		{"several, in any order", "one\ntwo\nthree\n", []string{"three", "3", "one", "1"}, "1\ntwo\n3\n"},
		{"each matches the original", "a b\n", []string{"a", "b", "b", "a"}, "b a\n"},
		{"side by side", "ab", []string{"a", "x", "b", "y"}, "xy"},
		{"something is taken out", "a\nb\nc\n", []string{"b\n", ""}, "a\nc\n"},
		{"lines are added", "a\nc\n", []string{"a\n", "a\nb\n"}, "a\nb\nc\n"},
		{"the line ends of the file are kept", "a\r\nb\r\nc\r\n", []string{"a\nb", "a\nx\nb"}, "a\r\nx\r\nb\r\nc\r\n"},
		{"the model sends other line ends", "a\nb\n", []string{"a\r\nb", "a\r\nx\r\nb"}, "a\nx\nb\n"},
		{"mixed line ends stay as they are", "a\r\nb\nc\r\nd\n", []string{"b\nc", "b\nc!"}, "a\r\nb\nc!\r\nd\n"},
		{"also within what is replaced", "a\r\nb\nc\r\n", []string{"a\nb\nc\n", "a\nb\nx\nc\n"}, "a\r\nb\nx\r\nc\r\n"},
		{"an added line ends as the one it begins on", "a\r\nb\n", []string{"a", "a1\na2"}, "a1\r\na2\r\nb\n"},
		{"a last line without an end", "a\r\nb", []string{"b", "b\nc"}, "a\r\nb\r\nc"},
		{"a file of old", "a\rb\r", []string{"a\nb", "a\nx\nb"}, "a\rx\rb\r"},
		{"a carriage return within a line", "a\rb\nc\n", []string{"b", "x"}, "a\rx\nc\n"},
		{"a carriage return that would meet a line feed", "a\rXX\nc\n", []string{"XX", ""}, "a\r\r\nc\n"},
		{"a byte order mark", "\ufeffa\r\nb\r\n", []string{"b", "x"}, "\ufeffa\r\nx\r\n"},
		{"bytes that are no characters", "caf\xe9 a\n", []string{"a\n", "b\n"}, "caf\xe9 b\n"},
		{"spaces at line ends", "if x {  \n\ty()\t\n}\n", []string{"if x {\n\ty()\n}", "if x {\n\tz()\n}"}, "if x {\n\tz()\n}\n"},
		{"only what was found changes", "“a”  \n“b”  \n“c”  \n", []string{`"b"`, `"x"`}, "“a”  \n\"x\"  \n“c”  \n"},
		{"dashes and spaces", "a – b\u00a0c\n", []string{"a - b c", "a - b d"}, "a - b d\n"},
		{"exact where that is possible", "\"a\" “a”\n", []string{`"a"`, "b"}, "b “a”\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, map[string]string{"x": c.before})
			w.ok("edit", edits(t, c.edits...))
			require.Equal(t, c.after, w.read("x"))
		})
	}
}

func TestEditTakesOtherForms(t *testing.T) {
	t.Parallel()
	for name, args := range map[string]string{
		"edits as a string":                `{"path":"x","edits":"[{\"oldText\":\"b\",\"newText\":\"B\"}]"}`,
		"one edit as a string":             `{"path":"x","edits":"{\"oldText\":\"b\",\"newText\":\"B\"}"}`,
		"one edit":                         `{"path":"x","edits":{"oldText":"b","newText":"B"}}`,
		"beside the path":                  `{"path":"x","oldText":"b","newText":"B"}`,
		"beside the path and an empty one": `{"path":"x","edits":[],"oldText":"b","newText":"B"}`,
		"oh-my-pi":                         `{"edits":[{"path":"x","old_text":"b","new_text":"B"}]}`,
		"oh-my-pi, every one":              `{"edits":[{"path":"x","old_text":"b","new_text":"B","all":true}]}`,
		"others":                           `{"file_path":"x","old_string":"b","new_string":"B","replace_all":false}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, map[string]string{"x": "a b c\n"})
			w.ok("edit", args)
			require.Equal(t, "a B c\n", w.read("x"))
		})
	}
	w := newWorld(t, map[string]string{"x": "b b\nb\n"})
	require.Equal(t, "Successfully replaced 3 blocks in x.", w.ok("edit", `{"path":"x","edits":[{"oldText":"b","newText":"bb","all":true}]}`))
	require.Equal(t, "bb bb\nbb\n", w.read("x"))
}

func TestEditRefuses(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]string{"x": "one\ntwo\ntwo\naaa\n", "dir/y": ""})
	for _, c := range []struct{ name, args, want string }{
		{"a text that is not there", edits(t, "four", "4"), "Could not find the text in x. It must match exactly, with all spaces and line breaks; read the file again if it may have changed."},
		{"one of several", edits(t, "one", "1", "four", "4"), "Could not find edits[1].oldText in x. It must match exactly, with all spaces and line breaks; read the file again if it may have changed."},
		{"a text that is there twice", edits(t, "two", "2"), "Found 2 occurrences of edits[0].oldText in x. It must be unique: add surrounding lines, or set all to replace every occurrence."},
		{"a text that is there twice, overlapping", edits(t, "aa", "b"), "Found 2 occurrences of edits[0].oldText in x. It must be unique: add surrounding lines, or set all to replace every occurrence."},
		{"edits that overlap", edits(t, "two\naaa", "x", "one\ntwo\ntwo", "y"), "edits[0] and edits[1] overlap in x. Merge them into one edit."},
		{"no text", edits(t, "", "x"), "edits[0].oldText must not be empty. To insert text, replace a line with itself and the new text; to create a file, use write."},
		{"only spaces", edits(t, "   ", "x"), "Could not find the text in x. It must match exactly, with all spaces and line breaks; read the file again if it may have changed."},
		{"no change", edits(t, "one", "one"), "No changes made to x: the replacements are identical to the existing text."},
		{"no edits", `{"path":"x","edits":[]}`, "edit needs at least one replacement in edits."},
		{"nothing", `{"path":"x"}`, `edit needs the parameter "edits".`},
		{"a string that is no list", `{"path":"x","edits":"oldText: a"}`, "edit: edits must be a list of {oldText, newText}; the string is not valid JSON."},
		{"half an edit", `{"path":"x","edits":[{"oldText":"one"}]}`, `edit: edits[0] needs the parameter "newText".`},
		{"a wrong type", `{"path":"x","edits":[{"oldText":1,"newText":"a"}]}`, `edit: "edits.0.oldText" must be a string, not this number.`},
		{"an unknown parameter", `{"path":"x","edits":[{"oldText":"a","newText":"a","line":3}]}`, `edit has no parameter "edits.0.line".`},
		{"another kind of edit", `{"path":"x","edits":[{"op":"replace","pos":"3#ab"}]}`, `edit replaces exact text: each of edits is {oldText, newText}, without "op".`},
		{"two files", `{"edits":[{"path":"x","old_text":"a","new_text":"b"},{"path":"y","old_text":"a","new_text":"b"}]}`, "edit changes one file at a time; make a separate call for each file."},
		{"a missing file", `{"path":"nope","oldText":"a","newText":"b"}`, "File not found: /w/nope"},
		{"a directory", `{"path":"dir","oldText":"a","newText":"b"}`, "/w/dir is a directory; use ls to list it."},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.want, w.in(t).refused("edit", c.args))
			require.Equal(t, "one\ntwo\ntwo\naaa\n", w.read("x"))
		})
	}
}

func TestEditReportsItsChanges(t *testing.T) {
	t.Parallel()
	before := "a\nb\nc\nd\ne\nf\ng\nh\ni\nj\nk\nl\nm\nn\n"
	w := newWorld(t, map[string]string{"x": before})
	p, err := w.tools["edit"].Preview(t.Context(), w.env, json.RawMessage(edits(t, "g\n", "G\nG2\n")))
	require.NoError(t, err)
	require.Equal(t, "Edit x", p.Title)
	require.Equal(t, []string{"/w/x"}, p.Paths)
	require.Equal(t, before, w.read("x"), "a preview changes nothing")

	r, err := w.call("edit", edits(t, "g\n", "G\nG2\n"))
	require.NoError(t, err)
	require.Equal(t, "Successfully replaced 1 block in x.", text(r))
	var d struct {
		Diff, Patch      string
		FirstChangedLine int
	}
	require.NoError(t, json.Unmarshal(r.Details, &d))
	require.Equal(t, p.Diff, d.Patch)
	require.Equal(t, "--- x\n+++ x\n@@ -3,9 +3,10 @@\n c\n d\n e\n f\n-g\n+G\n+G2\n h\n i\n j\n k\n", d.Patch)
	require.Equal(t, "    ...\n  3 c\n  4 d\n  5 e\n  6 f\n- 7 g\n+ 7 G\n+ 8 G2\n  8 h\n  9 i\n 10 j\n 11 k\n    ...", d.Diff)
	require.Equal(t, 7, d.FirstChangedLine)

	w.write("x", "“a”\n")
	require.Equal(t, "Successfully replaced 1 block in x. Some text matched only after ignoring spaces at line ends, the style of quotes, dashes and spaces, and the encoding of accents.",
		w.ok("edit", edits(t, `"a"`, `"b"`)))
}

func TestEditOfABufferReportsThatTheFileDiffers(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]string{"x": "on disk\n"})
	ed := &editor{Workspace: w.env.Files, buffers: map[string]string{"/w/x": "unsaved\n"}}
	w.env.Files = ed
	const note = " The change is in the editor's unsaved buffer; the file on disk does not change until the user saves it."
	require.Equal(t, "Successfully replaced 1 block in x."+note, w.ok("edit", edits(t, "unsaved", "edited")))
	require.Equal(t, "Successfully wrote 4 bytes to x."+note, w.ok("write", `{"path":"x","content":"new\n"}`))
	require.Equal(t, "new\n", ed.buffers["/w/x"])
	require.Equal(t, "on disk\n", w.read("x"))
	require.Equal(t, []string{"Edit x", "Write x"}, ed.labels)
}

// One call reads the other's result: no change is lost and no call has to be retried.
func TestOneWriterPerFileAtATime(t *testing.T) {
	t.Parallel()
	const n = 20
	var start strings.Builder
	for i := range n {
		fmt.Fprintf(&start, "<%d>\n", i)
	}
	w := newWorld(t, map[string]string{"x": start.String()})
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			args := edits(t, fmt.Sprintf("<%d>", i), fmt.Sprintf("[%d]", i))
			_, err := w.tools["edit"].Run(t.Context(), w.env, json.RawMessage(args))
			assert.NoError(t, err)
		})
	}
	all.Wait()
	require.NotContains(t, w.read("x"), "<")
}

func TestAFileThatChangesMeanwhileIsNotOverwritten(t *testing.T) {
	t.Parallel()
	st.RunStorage(t, func(t *testing.T, fsys afero.Fs) {
		local := tool.Local{Fs: fsys}
		require.NoError(t, afero.WriteFile(fsys, "/x", []byte("a\n"), 0o600))
		was, err := local.ReadFile(t.Context(), "/x")
		require.NoError(t, err)
		require.NoError(t, afero.WriteFile(fsys, "/x", []byte("b\n"), 0o600))
		_, err = local.WriteFile(t.Context(), "", "/x", was, []byte("c\n"))
		require.True(t, fault.Is(err, fault.Stale), "%v", err)
		require.Contains(t, err.Error(), "Read it again.")

		require.NoError(t, fsys.Remove("/x"))
		_, err = local.WriteFile(t.Context(), "", "/x", was, []byte("c\n"))
		require.True(t, fault.Is(err, fault.Stale), "%v", err)

		missing := tool.File{}
		require.NoError(t, afero.WriteFile(fsys, "/x", []byte("d\n"), 0o600))
		_, err = local.WriteFile(t.Context(), "", "/x", missing, []byte("c\n"))
		require.True(t, fault.Is(err, fault.Stale), "%v", err)
		content, err := afero.ReadFile(fsys, "/x")
		require.NoError(t, err)
		require.Equal(t, "d\n", string(content))
	})
}

// naive makes the edit in a text without any carriage returns.
func naive(text, from, to string) (string, bool) {
	if from == "" || strings.Count(text, from) != 1 || strings.Contains(text[strings.Index(text, from)+1:], from) || from == to {
		return "", false
	}
	return strings.Replace(text, from, to, 1), true
}

func FuzzEdit(f *testing.F) {
	f.Add("a\nb\nc\n", uint64(0b010), "b", "x\ny")
	f.Add("one\ntwo\nthree", uint64(0b101), "two\nth", "2\n")
	f.Add("\n\n\nx\n", uint64(math.MaxUint64), "\nx", "")
	f.Add("é\nè\n", uint64(1), "\n", "\n\n")
	f.Fuzz(func(t *testing.T, text string, ends uint64, from, to string) {
		if strings.ContainsAny(text+from+to, "\r\x00\ufeff\uFFFD") || !strings.Contains(text, "\n") {
			return
		}
		want, ok := naive(text, from, to)
		if !ok {
			return
		}
		// The text with an end of its own for each line.
		var raw strings.Builder
		for line := range strings.Lines(text) {
			body, ended := strings.CutSuffix(line, "\n")
			raw.WriteString(body)
			if ended {
				raw.WriteString([]string{"\n", "\r\n"}[ends&1])
				ends = ends>>1 | ends<<63
			}
		}
		w := newWorld(t, map[string]string{"x": raw.String()})
		w.ok("edit", edits(t, from, to))
		got := w.read("x")
		require.Equal(t, want, strings.ReplaceAll(got, "\r\n", "\n"))

		// Outside of the span every byte is the old one.
		at := strings.Index(text, from)
		before := rawLength(raw.String(), at)
		require.Equal(t, raw.String()[:before], got[:before])
		after := len(raw.String()) - rawLength(raw.String(), at+len(from))
		require.Equal(t, raw.String()[len(raw.String())-after:], got[len(got)-after:])
	})
}

// rawLength is how long the first n bytes of the text are in raw.
func rawLength(raw string, n int) int {
	i := 0
	for ; n > 0; n-- {
		if strings.HasPrefix(raw[i:], "\r\n") {
			i++
		}
		i++
	}
	return i
}

// Files from macOS may have decomposed characters, which models write composed.
func TestEditFindsComposedTextInADecomposedFile(t *testing.T) {
	t.Parallel()
	const decomposed = "cafe\u0301 \u1112\u1161\u11ab\nla\u0308ngere Zeile\nrest e\u0301\n"
	w := newWorld(t, map[string]string{"x": decomposed})
	w.ok("edit", `{"path":"x","edits":[{"oldText":"caf\u00e9 \ud55c\nl\u00e4ngere","newText":"tea\nl\u00e4ngere"}]}`)
	require.Equal(t, "tea\nl\u00e4ngere Zeile\nrest e\u0301\n", w.read("x"), "the rest keeps its bytes")

	w = newWorld(t, map[string]string{"x": "caf\u00e9\n"})
	w.ok("edit", `{"path":"x","edits":[{"oldText":"cafe\u0301","newText":"tea"}]}`)
	require.Equal(t, "tea\n", w.read("x"))

	w = newWorld(t, map[string]string{"x": "e\u0301\n"})
	_, err := w.call("edit", `{"path":"x","edits":[{"oldText":"e\u0300","newText":"a"}]}`)
	require.True(t, fault.Is(err, fault.NotFound), "another accent is another character")
}
