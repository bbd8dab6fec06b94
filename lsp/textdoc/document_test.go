package textdoc_test

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/lsp/textdoc"
)

func TestFilePath(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the paths in this test are those of Unix")
	}
	for uri, want := range map[string]string{
		"file:///a/b":           "/a/b",
		"file:///a//b/./c/../":  "/a/b",
		"file:/a":               "/a",
		"file:///a%2Fb":         "/a/b",
		"file:///%F0%9F%98%80":  "/😀",
		"file:///":              "/",
		"file://localhost/a":    "/a",
		"file://host/a":         "",
		"file:":                 "",
		"file:a":                "",
		"":                      "",
		"/a":                    "",
		"http://x/a":            "",
		"untitled:/a":           "",
		"vscode-remote://ssh/x": "",
		"file:///a%00b":         "",
		"filex:///a":            "",
	} {
		got, ok := textdoc.Path(uri)
		require.Equal(t, want, got, uri)
		require.Equal(t, want != "", ok, uri)
	}
}
