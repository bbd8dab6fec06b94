package lsp_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/lsptest"
)

// A large change followed by a small one: the small one takes less time to decode
// and would win if notifications overlapped.
func TestChangesApplyInTheOrderSent(t *testing.T) {
	t.Parallel()
	unixPaths(t)
	f := newFixture(t)
	ed := f.start(t)
	docs := receive(t, f.docs)
	large := strings.Repeat("0123456789abcde\n", largeText/16)
	ed.Open("/w/a.txt", "")
	for i := range 50 {
		ed.Change("/w/a.txt", 2*i+2, large)
		ed.Change("/w/a.txt", 2*i+3, strconv.Itoa(i))
		// Any request is a barrier for the notifications before it.
		_, err := ed.Exec("test.echo", nil)
		require.Nil(t, err)
		doc, ok := docs.Lookup("/w/a.txt")
		require.True(t, ok)
		require.Equal(t, strconv.Itoa(i), doc.Text)
		require.EqualValues(t, 2*i+3, doc.Version)
	}
}

func TestEveryRequestSeesTheNotificationsBeforeIt(t *testing.T) {
	t.Parallel()
	unixPaths(t)
	f := newFixture(t)
	ed := f.start(t)
	for i := range 200 {
		path := "/w/" + strconv.Itoa(i)
		ed.Notify("workspace/didChangeWorkspaceFolders", lsptest.Fields{"event": lsptest.Fields{
			"added": []any{lsptest.Fields{"uri": lsptest.URI(path), "name": "w"}}, "removed": []any{},
		}})
		res, err := ed.Exec("test.folders", nil)
		require.Nil(t, err)
		require.Contains(t, decode[folderList](t, res).Folders, path)
	}
}

// Notifications about the work of a request are sent before its answer.
// Proves: X-200
func TestEventsComeBeforeTheAnswer(t *testing.T) {
	t.Parallel()
	unixPaths(t)
	f := newFixture(t)
	ed := f.start(t)
	for range 100 {
		start := len(ed.Messages())
		_, err := ed.Exec("test.change", lsptest.Fields{"text": "/w"})
		require.Nil(t, err)
		var methods []string
		for _, m := range ed.Messages()[start:] {
			methods = append(methods, m.Method)
		}
		last := len(methods) - 1
		require.Empty(t, methods[last], "the answer")
		require.Contains(t, methods[:last], "xcsh/sessionChanged")
		require.Contains(t, methods[:last], "xcsh/sessionsChanged")
	}
}
