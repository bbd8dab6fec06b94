package lsp_test

import (
	"context"
	"io/fs"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/engine"
	"github.com/xcsh-ls/xcsh-ls/agent/tool"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/internal/lsptest"
	"github.com/xcsh-ls/xcsh-ls/lsp"
	"github.com/xcsh-ls/xcsh-ls/lsp/textdoc"
)

// Applying the computed edit gives the new text in every encoding. The edit starts and ends at the
// beginning of a line, or at the end of the text.
func checkDifference(t *testing.T, old, new string) {
	t.Helper()
	start, end, inserted := lsp.Difference(old, new)
	require.Equal(t, new, old[:start]+inserted+old[end:], "%q to %q", old, new)
	for _, at := range []int{start, end} {
		require.True(t, at == 0 || at == len(old) || old[at-1] == '\n', "%q to %q at %d", old, new, at)
	}
	if old == new {
		require.Equal(t, start, end)
		require.Empty(t, inserted)
	}
	if !utf8.ValidString(old) {
		return // an open document never is
	}
	for _, enc := range []textdoc.Encoding{textdoc.UTF8, textdoc.UTF16, textdoc.UTF32} {
		from, to := textdoc.PositionAt(old, start, enc), textdoc.PositionAt(old, end, enc)
		require.Equal(t, new, lsp.ApplyChange(old, from, to, inserted, enc), "%q to %q in %s", old, new, enc)
	}
}

func TestDifference(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ old, new, replaced, inserted string }{
		"nothing":                {"a\nb\n", "a\nb\n", "", ""},
		"a line":                 {"a\nb\nc\n", "a\nB\nc\n", "b\n", "B\n"},
		"the first line":         {"a\nb\n", "A\nb\n", "a\n", "A\n"},
		"the last line":          {"a\nb", "a\nB", "b", "B"},
		"a line is added":        {"a\nc\n", "a\nb\nc\n", "", "b\n"},
		"a removed line":         {"a\nb\nc\n", "a\nc\n", "b\n", ""},
		"a line like its next":   {"a\na\n", "a\na\na\n", "", "a\n"},
		"everything":             {"a\n", "", "a\n", ""},
		"an empty text":          {"", "a\n", "", "a\n"},
		"the last line's end":    {"a\nb", "a\nb\n", "b", "b\n"},
		"two lines far apart":    {"a\nb\nc\nd\n", "A\nb\nc\nD\n", "a\nb\nc\nd\n", "A\nb\nc\nD\n"},
		"line ends of Windows":   {"a\r\nb\r\n", "a\r\nB\r\n", "b\r\n", "B\r\n"},
		"another kind of end":    {"a\r\nb\n", "a\nb\n", "a\r\n", "a\n"},
		"line ends of old Macs":  {"a\rb\rc", "a\rB\rc", "a\rb\rc", "a\rB\rc"},
		"many bytes a character": {"ä\n😀b\nz\n", "ä\n😀c\nz\n", "😀b\n", "😀c\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			start, end, inserted := lsp.Difference(tc.old, tc.new)
			require.Equal(t, tc.replaced, tc.old[start:end])
			require.Equal(t, tc.inserted, inserted)
			checkDifference(t, tc.old, tc.new)
		})
	}
}

func FuzzDifference(f *testing.F) {
	f.Add("", "a")
	f.Add("a\nb\nc\n", "a\nB\nc")
	f.Add("a\r\nb\rc\n\n", "a\nb\r\rc\r\n")
	f.Add("ä\n😀\n", "ä\n😀😀\n")
	f.Add("\xff\n\xfe", "\xff\n")
	f.Add(strings.Repeat("a\n", 9), strings.Repeat("a\n", 7))
	f.Fuzz(checkDifference)
}

// editor is an editor and the workspace of the server's tools.
type editor struct {
	*lsptest.Editor
	files tool.Workspace
	disk  afero.Fs
}

// startEditing starts a server for a client with the given workspace capabilities.
func startEditing(t *testing.T, workspace lsptest.Fields) editor {
	t.Helper()
	return startEditingWith(t, workspace, nil, nil)
}

// startEditingWith is startEditing for a client with the given window capabilities and initializationOptions.
func startEditingWith(t *testing.T, workspace, window, options lsptest.Fields) editor {
	t.Helper()
	return startEditingBy(t, nil, nil, lsptest.Fields{"initializationOptions": options, "capabilities": lsptest.Fields{
		"workspace": workspace, "window": window, "general": lsptest.Fields{"positionEncodings": []string{"utf-16"}},
	}})
}

// startEditingBy starts a server with the given parameters of initialize. adjust, unless it is nil, gets the server before it starts,
// and opened gets what the server offers to the backend.
func startEditingBy(t *testing.T, adjust func(*fixture), opened func(lsp.Client, afero.Fs), params lsptest.Fields) editor {
	t.Helper()
	unixPaths(t)
	f := newFixture(t)
	if adjust != nil {
		adjust(f)
	}
	disk := afero.NewMemMapFs()
	files := make(chan tool.Workspace, 1)
	open := f.options.Open
	f.options.Open = func(ctx context.Context, s lsp.Settings, c lsp.Client) (lsp.Backend, error) {
		files <- c.Workspace(diskFiles(disk))
		if opened != nil {
			opened(c, disk)
		}
		return open(ctx, s, c)
	}
	ed := lsptest.Start(t, f.options)
	ed.Initialize(params)
	return editor{ed, receive(t, files), disk}
}

func diskFiles(disk afero.Fs) tool.Workspace { return tool.Local{Fs: disk} }

// can are the capabilities of a client that makes versioned edits.
func can() lsptest.Fields {
	return lsptest.Fields{"applyEdit": true, "workspaceEdit": lsptest.Fields{"documentChanges": true}}
}

// sync waits until the server has handled the notifications so far.
func (e editor) sync(t *testing.T) {
	t.Helper()
	_, err := e.Exec("test.echo", nil)
	require.Nil(t, err)
}

// show opens a document and returns it as a tool reads it.
func (e editor) show(t *testing.T, path, text string) tool.File {
	t.Helper()
	e.Open(path, text)
	return e.read(t, path)
}

func (e editor) read(t *testing.T, path string) tool.File {
	t.Helper()
	e.sync(t)
	file, err := e.files.ReadFile(t.Context(), path)
	require.NoError(t, err)
	return file
}

// written is the result of a write.
type written struct {
	saved tool.Saved
	err   error
}

// write starts writing a file.
func (e editor) write(ctx context.Context, path string, was tool.File, content string) <-chan written {
	done := make(chan written, 1)
	go func() {
		saved, err := e.files.WriteFile(ctx, "Edit it", path, was, []byte(content))
		done <- written{saved, err}
	}()
	return done
}

func requireFault(t *testing.T, kind fault.Kind, text string, w written) {
	t.Helper()
	require.Error(t, w.err)
	require.Equal(t, kind, fault.KindOf(w.err), w.err)
	require.Contains(t, w.err.Error(), text)
}

func TestReadingGoesBeforeTheDisk(t *testing.T) {
	t.Parallel()
	e := startEditing(t, nil)
	require.NoError(t, afero.WriteFile(e.disk, "/w/a", []byte("saved"), 0o600))
	require.Equal(t, tool.File{Content: []byte("saved"), Exists: true}, onDisk(t, e.read(t, "/w/a")))
	require.Equal(t, tool.File{Content: []byte("saved"), Exists: true, Open: true, Version: 1}, e.show(t, "/w/a", "saved"))
	e.Change("/w/a", 5, "typed")
	require.Equal(t, tool.File{Content: []byte("typed"), Exists: true, Open: true, Dirty: true, Version: 5}, e.read(t, "/w/a"))
	require.Equal(t, tool.File{Content: []byte("new"), Exists: true, Open: true, Dirty: true, Version: 1}, e.show(t, "/w/new", "new"))
	require.Equal(t, []string{"/w/a", "/w/new"}, e.files.(engine.Desk).Unsaved(t.Context()))
	e.Close("/w/a")
	require.Equal(t, tool.File{Content: []byte("saved"), Exists: true}, onDisk(t, e.read(t, "/w/a")))
	require.Equal(t, []string{"/w/new"}, e.files.(engine.Desk).Unsaved(t.Context()))
	_, err := e.files.ReadFile(t.Context(), "/w/none")
	require.ErrorIs(t, err, fs.ErrNotExist)
}

// onDisk checks that a file is known to be on disk, and returns its other fields.
func onDisk(t *testing.T, f tool.File) tool.File {
	t.Helper()
	require.NotNil(t, f.Info)
	f.Info = nil
	return f
}

func TestAnEditHasTheFormThatTheClientSupports(t *testing.T) {
	t.Parallel()
	const change = `{"range":{"start":{"line":1,"character":0},"end":{"line":1,"character":3}},"newText":"😀c"`
	for name, tc := range map[string]struct {
		workspace lsptest.Fields
		edit      string
	}{
		"with versions": {can(), `{"documentChanges":[{"textDocument":{"uri":"file:///w/a%20b","version":3},"edits":[` + change + `}]}]}`},
		"with versions and names": {
			lsptest.Fields{"applyEdit": true, "workspaceEdit": lsptest.Fields{"documentChanges": true, "changeAnnotationSupport": lsptest.Fields{}}},
			`{"documentChanges":[{"textDocument":{"uri":"file:///w/a%20b","version":3},"edits":[` + change + `,"annotationId":"xcsh"}]}],"changeAnnotations":{"xcsh":{"label":"Edit it"}}}`,
		},
		"with neither": {lsptest.Fields{"applyEdit": true}, `{"changes":{"file:///w/a%20b":[` + change + `}]}}`},
		"with names it cannot use": {
			lsptest.Fields{"applyEdit": true, "workspaceEdit": lsptest.Fields{"changeAnnotationSupport": lsptest.Fields{}}},
			`{"changes":{"file:///w/a%20b":[` + change + `}]}}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := startEditing(t, tc.workspace)
			e.Open("/w/a b", "")
			e.Change("/w/a b", 3, "ä\n😀b")
			done := e.write(t.Context(), "/w/a b", e.read(t, "/w/a b"), "ä\n😀c")
			r := e.WaitRequest("workspace/applyEdit")
			require.JSONEq(t, `{"label":"Edit it","edit":`+tc.edit+`}`, string(r.Params))
			r.Reply(lsptest.Fields{"applied": true})
			require.Equal(t, written{tool.Saved{Buffer: true}, nil}, receive(t, done))
			require.Equal(t, "ä\n😀c", string(e.read(t, "/w/a b").Content), "before the client reports it")
		})
	}
}

// The second of two edits in a row names the version after the first.
func TestTheSecondEditIsForTheNextVersion(t *testing.T) {
	t.Parallel()
	e := startEditing(t, can())
	was := e.show(t, "/w/a", "one\n")
	done := e.write(t.Context(), "/w/a", was, "two\n")
	e.WaitRequest("workspace/applyEdit").Reply(lsptest.Fields{"applied": true})
	require.NoError(t, receive(t, done).err)
	done = e.write(t.Context(), "/w/a", e.read(t, "/w/a"), "three\n")
	for range 20 { // the write has time to be wrong
		e.sync(t)
	}
	e.Change("/w/a", 2, "two\n")
	r := e.WaitRequest("workspace/applyEdit")
	require.Contains(t, string(r.Params), `"version":2`)
	e.Change("/w/a", 3, "three\n")
	r.Reply(lsptest.Fields{"applied": true})
	require.NoError(t, receive(t, done).err)
	file := e.read(t, "/w/a")
	require.Equal(t, "three\n", string(file.Content))
	require.EqualValues(t, 3, file.Version)
}

func TestEditsThatAreNotMade(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		meanwhile func(e editor, r lsptest.Request)
		kind      fault.Kind
		text      string
		left      string
	}{
		"refused with a reason": {
			func(_ editor, r lsptest.Request) {
				r.Reply(lsptest.Fields{"applied": false, "failureReason": "It is locked."})
			},
			fault.Denied, "The editor refused to change /w/a. It is locked.", "one\n",
		},
		"refused": {
			func(_ editor, r lsptest.Request) { r.Reply(lsptest.Fields{"applied": false}) },
			fault.Denied, "The editor refused to change /w/a.", "one\n",
		},
		"null": {func(_ editor, r lsptest.Request) { r.Reply(nil) }, fault.Denied, "refused", "one\n"},
		"not supported after all": {
			func(_ editor, r lsptest.Request) { r.Fail(-32601, "unknown method") },
			fault.IO, "The editor did not change /w/a: unknown method.", "one\n",
		},
		"failed": {func(_ editor, r lsptest.Request) { r.Fail(-32603, "broken") }, fault.IO, "broken", "one\n"},
		"the user typed first": {
			func(e editor, r lsptest.Request) {
				e.Change("/w/a", 2, "typed\n")
				r.Reply(lsptest.Fields{"applied": false, "failureReason": "newer"})
			}, fault.Stale, "was changed since it was read", "typed\n",
		},
		"dropped, but reported as applied": {
			func(e editor, r lsptest.Request) {
				e.Change("/w/a", 2, "typed\n")
				r.Reply(lsptest.Fields{"applied": true})
			}, fault.Stale, "read it again", "typed\n",
		},
		"closed meanwhile": {
			func(e editor, r lsptest.Request) {
				e.Close("/w/a")
				r.Reply(lsptest.Fields{"applied": false})
			}, fault.Stale, "was changed since it was read", "disk\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := startEditing(t, can())
			require.NoError(t, afero.WriteFile(e.disk, "/w/a", []byte("disk\n"), 0o600))
			done := e.write(t.Context(), "/w/a", e.show(t, "/w/a", "one\n"), "two\n")
			tc.meanwhile(e, e.WaitRequest("workspace/applyEdit"))
			requireFault(t, tc.kind, tc.text, receive(t, done))
			require.Equal(t, tc.left, string(e.read(t, "/w/a").Content))
			content, err := afero.ReadFile(e.disk, "/w/a")
			require.NoError(t, err)
			require.Equal(t, "disk\n", string(content))
		})
	}
}

// A write applies only to the text that was read.
func TestAWriteOfAChangedText(t *testing.T) {
	t.Parallel()
	e := startEditing(t, can())
	require.NoError(t, afero.WriteFile(e.disk, "/w/a", []byte("one\n"), 0o600))
	closed := e.read(t, "/w/a")
	shown := e.show(t, "/w/a", "one\n")
	requireFault(t, fault.Stale, "/w/a", receive(t, e.write(t.Context(), "/w/a", closed, "two\n")))
	e.Change("/w/a", 2, "typed\n")
	e.sync(t)
	requireFault(t, fault.Stale, "/w/a", receive(t, e.write(t.Context(), "/w/a", shown, "two\n")))
	e.Close("/w/a")
	e.sync(t)
	requireFault(t, fault.Stale, "/w/a", receive(t, e.write(t.Context(), "/w/a", shown, "two\n")))
	require.Equal(t, written{}, receive(t, e.write(t.Context(), "/w/a", closed, "two\n")), "as it was read")
	content, err := afero.ReadFile(e.disk, "/w/a")
	require.NoError(t, err)
	require.Equal(t, "two\n", string(content))
}

func TestAClientThatCannotEdit(t *testing.T) {
	t.Parallel()
	e := startEditing(t, lsptest.Fields{"workspaceEdit": lsptest.Fields{"documentChanges": true}})
	was := e.show(t, "/w/a", "one\n")
	requireFault(t, fault.Denied, "/w/a is open in the editor, which does not support changing it. Close it first.",
		receive(t, e.write(t.Context(), "/w/a", was, "two\n")))
	require.Equal(t, written{saved: tool.Saved{Buffer: true}}, receive(t, e.write(t.Context(), "/w/a", was, "one\n")), "nothing to do")
	require.Equal(t, written{}, receive(t, e.write(t.Context(), "/w/b", tool.File{}, "new\n")))
	require.Equal(t, "new\n", string(e.read(t, "/w/b").Content))
}

// If the context ends, the request to the editor is cancelled.
func TestAnEditThatIsCancelled(t *testing.T) {
	t.Parallel()
	e := startEditing(t, can())
	was := e.show(t, "/w/a", "one\n")
	ctx, cancel := context.WithCancel(t.Context())
	done := e.write(ctx, "/w/a", was, "two\n")
	r := e.WaitRequest("workspace/applyEdit")
	cancel()
	require.ErrorIs(t, receive(t, done).err, context.Canceled)
	require.JSONEq(t, `{"id":`+string(r.ID)+`}`, string(e.WaitNotification("$/cancelRequest")))
	require.Equal(t, "one\n", string(e.read(t, "/w/a").Content))
	require.ErrorIs(t, receive(t, e.write(ctx, "/w/a", was, "two\n")).err, context.Canceled)
}

func TestClip(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		text string
		n    int
		want string
	}{
		{"", 0, ""},
		{"abc", 3, "abc"},
		{"abcd", 3, "a… 2 bytes …d"},
		{"abcdef", 4, "ab… 2 bytes …ef"},
		{"aäb", 2, "a… 2 bytes …b"},
		{"a😀b", 4, "a… 4 bytes …b"},
		{"😀", 3, "… 4 bytes …"},
		{"\xbf\xbf\xbf", 2, "… 3 bytes …"},
	} {
		require.Equal(t, tc.want, lsp.Clip(tc.text, tc.n), "%q at %d", tc.text, tc.n)
	}
}
