package lsp_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/lsptest"
	"github.com/xcsh-ls/xcsh-ls/lsp"
)

// edit returns a change of a range in the protocol's form.
func edit(line1, char1, line2, char2 int, text string) lsptest.Fields {
	pos := func(line, char int) lsptest.Fields { return lsptest.Fields{"line": line, "character": char} }
	return lsptest.Fields{"range": lsptest.Fields{"start": pos(line1, char1), "end": pos(line2, char2)}, "text": text}
}

func TestDocumentsFollowTheEditor(t *testing.T) {
	t.Parallel()
	unixPaths(t)
	f := newFixture(t)
	ed := f.start(t)
	docs := receive(t, f.docs)
	see := func() (lsp.Document, bool) {
		_, err := ed.Exec("test.echo", nil)
		require.Nil(t, err)
		return docs.Lookup("/w/a b.txt")
	}
	const path = "/w/a b.txt"
	uri := lsptest.URI(path)
	ed.Open(path, "one\ntwo\n")
	doc, ok := see()
	require.True(t, ok)
	require.Equal(t, lsp.Document{Path: path, URI: uri, LanguageID: "plaintext", Version: 1, Text: "one\ntwo\n"}, doc)

	ed.ChangeWith(path, 2, edit(0, 0, 0, 3, "eins"), edit(1, 0, 1, 3, "zwei"), edit(9, 0, 9, 0, "drei"))
	doc, _ = see()
	require.Equal(t, "eins\nzwei\ndrei", doc.Text)

	ed.ChangeWith(path, 2, lsptest.Fields{"text": "a version that is not newer"})
	ed.ChangeWith(path, 1, lsptest.Fields{"text": "an older one"})
	doc, _ = see()
	require.Equal(t, "eins\nzwei\ndrei", doc.Text)
	require.Equal(t, 2, f.logs.FilterMessageSnippet("not newer").Len())

	ed.ChangeWith(path, 5, edit(1, 4, 1, 0, "swapped"))
	doc, _ = see()
	require.Equal(t, "eins\nswapped\ndrei", doc.Text)
	require.EqualValues(t, 5, doc.Version)

	ed.Notify("textDocument/didChange", rawJSON(`{"textDocument":{"uri":"`+uri+`","version":null},"contentChanges":[{"range":null,"text":"no version"}]}`))
	doc, _ = see()
	require.Equal(t, "no version", doc.Text)
	require.EqualValues(t, 6, doc.Version)

	ed.Notify("textDocument/didSave", lsptest.Fields{"textDocument": lsptest.Fields{"uri": uri}})
	ed.Close(path)
	_, ok = see()
	require.False(t, ok)
	ed.Change(path, 9, "closed")
	_, ok = see()
	require.False(t, ok)
}

// An invalid range does not replace the whole text.
func TestChangesThatCannotBeReadChangeNothing(t *testing.T) {
	t.Parallel()
	unixPaths(t)
	f := newFixture(t)
	ed := f.start(t)
	docs := receive(t, f.docs)
	ed.Open("/w/a", "text")
	for _, change := range []string{
		`[{"range":{"start":{"line":"x","character":0},"end":{"line":0,"character":1}},"text":"bad"}]`,
		`[{"range":{"start":{"line":0.5,"character":0},"end":{"line":0,"character":1}},"text":"bad"}]`,
		`[{"range":"x","text":"bad"}]`,
		`[{"text":1}]`,
		`["bad"]`,
		`{}`,
		`"bad"`,
		`null`,
		`[]`,
	} {
		ed.Notify("textDocument/didChange", rawJSON(`{"textDocument":{"uri":"file:///w/a"},"contentChanges":`+change+`}`))
		_, err := ed.Exec("test.echo", nil)
		require.Nil(t, err)
		doc, _ := docs.Lookup("/w/a")
		require.Equal(t, "text", doc.Text, change)
	}
	require.Equal(t, 7, f.logs.FilterMessageSnippet("could not be handled").Len())
}

func TestOnlyFilesAreKept(t *testing.T) {
	t.Parallel()
	unixPaths(t)
	f := newFixture(t)
	ed := f.start(t)
	docs := receive(t, f.docs)
	for _, uri := range []string{"untitled:U", "vscode-remote://ssh/w/a", "git:/w/a", "/w/a", "", "file:w/a"} {
		ed.Notify("textDocument/didOpen", lsptest.Fields{"textDocument": lsptest.Fields{"uri": uri, "version": 1, "text": "x"}})
		ed.Notify("textDocument/didChange", lsptest.Fields{"textDocument": lsptest.Fields{"uri": uri}})
		ed.Notify("textDocument/didClose", lsptest.Fields{"textDocument": lsptest.Fields{"uri": uri}})
	}
	_, err := ed.Exec("test.echo", nil)
	require.Nil(t, err)
	for _, path := range []string{"/w/a", "U", "/U", "w/a", "/"} {
		_, ok := docs.Lookup(path)
		require.False(t, ok, path)
	}
}

func TestPositionsInTheNegotiatedEncoding(t *testing.T) {
	t.Parallel()
	unixPaths(t)
	for enc, char := range map[string]int{"utf-8": 4, "utf-16": 2, "utf-32": 1} {
		t.Run(enc, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			ed := lsptest.Start(t, f.options)
			res := ed.Initialize(lsptest.Fields{"capabilities": lsptest.Fields{
				"general": lsptest.Fields{"positionEncodings": []any{enc, nil, 1, "utf-16"}},
			}})
			require.Contains(t, string(res), `"positionEncoding":"`+enc+`"`)
			docs := receive(t, f.docs)
			ed.Open("/a", "😀b")
			ed.ChangeWith("/a", 2, edit(0, char, 0, char+1, "c"))
			_, err := ed.Exec("test.echo", nil)
			require.Nil(t, err)
			doc, _ := docs.Lookup("/a")
			require.Equal(t, "😀c", doc.Text)
		})
	}
}
