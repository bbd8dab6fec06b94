package lsp_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/lsptest"
)

func TestInitialFolders(t *testing.T) {
	t.Parallel()
	unixPaths(t)
	folder := func(uri string) any { return lsptest.Fields{"uri": uri, "name": "n"} }
	for name, tc := range map[string]struct {
		params lsptest.Fields
		want   []string
	}{
		"none":              {nil, nil},
		"folders":           {lsptest.Fields{"workspaceFolders": []any{folder("file:///b"), folder("file:///a")}}, []string{"/b", "/a"}},
		"folders win":       {lsptest.Fields{"workspaceFolders": []any{folder("file:///b")}, "rootUri": "file:///r"}, []string{"/b"}},
		"the same twice":    {lsptest.Fields{"workspaceFolders": []any{folder("file:///b"), folder("file:///x/../b/")}}, []string{"/b"}},
		"null folders":      {lsptest.Fields{"workspaceFolders": nil, "rootUri": "file:///r"}, []string{"/r"}},
		"root URI wins":     {lsptest.Fields{"rootUri": "file:///r", "rootPath": "/p"}, []string{"/r"}},
		"root path":         {lsptest.Fields{"rootUri": nil, "rootPath": "/p/"}, []string{"/p"}},
		"relative path":     {lsptest.Fields{"rootPath": "p"}, nil},
		"odd characters":    {lsptest.Fields{"workspaceFolders": []any{folder("file:///a%20b/%40c/d%23%25"), folder("file:///a b/@c/d%23%25")}}, []string{"/a b/@c/d#%"}},
		"other schemes":     {lsptest.Fields{"workspaceFolders": []any{folder("vscode-remote://ssh/x"), folder("untitled:U"), folder("x"), folder(""), folder("file:///ok")}}, []string{"/ok"}},
		"upper-case scheme": {lsptest.Fields{"rootUri": "FILE:///r"}, []string{"/r"}},
		"malformed entries": {lsptest.Fields{"workspaceFolders": []any{nil, 1, "x", lsptest.Fields{"uri": 1}, folder("file:///ok")}}, []string{"/ok"}},
		"a remote root":     {lsptest.Fields{"rootUri": "vscode-remote://ssh/x"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			ed := lsptest.Start(t, f.options)
			ed.Initialize(tc.params)
			require.Equal(t, tc.want, receive(t, f.settings).Folders)
			res, err := ed.Exec("test.folders", nil)
			require.Nil(t, err)
			require.Equal(t, tc.want, decode[folderList](t, res).Folders)
		})
	}
}

func TestFoldersChangeAtRunTime(t *testing.T) {
	t.Parallel()
	unixPaths(t)
	f := newFixture(t)
	ed := lsptest.Start(t, f.options)
	ed.Initialize(lsptest.Fields{"rootUri": "file:///a"})
	change := func(removed, added string) []string {
		ed.Notify("workspace/didChangeWorkspaceFolders", rawJSON(`{"event":{"removed":`+removed+`,"added":`+added+`}}`))
		res, err := ed.Exec("test.folders", nil)
		require.Nil(t, err)
		return decode[folderList](t, res).Folders
	}
	require.Equal(t, []string{"/a", "/b"}, change(`null`, `[{"uri":"file:///b","name":"b"},{"uri":"untitled:x"},{"uri":"file:///a/"}]`))
	require.Equal(t, []string{"/b"}, change(`[{"uri":"file:///a"}]`, `[]`))
	require.Equal(t, "/a", receive(t, f.live.closed))
	require.Equal(t, []string{"/b"}, change(`[{"uri":"file:///unknown"}]`, `[]`), "another folder, not closed")
	require.Equal(t, []string{"/c", "/b"}, change(`[{"uri":"file:///b"}]`, `[{"uri":"file:///c"},{"uri":"file:///b"}]`))
	require.Equal(t, []string{"/b"}, change(`[{"uri":"file:///c"}]`, `{}`))
	require.Equal(t, "/c", receive(t, f.live.closed), "and nothing in between")
	require.Nil(t, change(`[{"uri":"file:///b"}]`, `[]`))
	require.Equal(t, "/b", receive(t, f.live.closed))
	require.NotZero(t, f.logs.FilterMessageSnippet("not a file: URI").Len())
}
