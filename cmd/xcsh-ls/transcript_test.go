package main_test

import (
	"encoding/json"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/lsptest"
)

// The server notifies the client that a visible transcript is stale when its session grows, once each
// time, and not when nothing changed.
// Proves: E-09
func TestVisibleTranscriptIsRefreshed(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	put(t, fs, talk()...)
	ed := lsptest.Start(t, memoryServer(t, fs))
	ed.Initialize(lsptest.Fields{
		"workspaceFolders": []lsptest.Fields{{"uri": "file:///w", "name": "w"}},
		"capabilities":     lsptest.Fields{"workspace": lsptest.Fields{"textDocumentContent": lsptest.Fields{}}},
	})
	state := do(t, ed, "xcsh.resume", lsptest.Fields{"target": "0190000000000001"})
	var resumed struct{ Session struct{ File string } }
	require.NoError(t, json.Unmarshal(state, &resumed))
	uri := "xcsh://" + resumed.Session.File + ".md"
	shown := func() string {
		content, err := ed.Call("workspace/textDocumentContent", lsptest.Fields{"uri": uri})
		require.Nil(t, err)
		return string(content)
	}
	require.NotContains(t, shown(), "Chapter")
	for _, label := range []string{"Chapter one", "Chapter two"} {
		do(t, ed, "xcsh.label", lsptest.Fields{"entryId": "aaaaaaaa", "label": label})
		refresh := ed.WaitRequest("workspace/textDocumentContent/refresh")
		require.JSONEq(t, `{"uri":"`+uri+`"}`, string(refresh.Params))
		refresh.Reply(nil)
		require.Contains(t, shown(), label)
	}
}
