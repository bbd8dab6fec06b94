package main

import (
	"encoding/json"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/change/wire"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/internal/lsptest"
	"github.com/xcsh-ls/xcsh-ls/internal/providertest"
)

// Changes are shown as a document whose text the client requests, and so is a file without them. URIs of anything else get no text.
func TestChangesAsDocuments(t *testing.T) {
	t.Parallel()
	m := newMachine(t, provider.AnthropicMessages)
	path, secret := m.path("a b.txt"), m.path("secret.txt")
	m.write(path, "one\n")
	m.write(secret, "the secret\n")
	m.Script(
		"m", providertest.Reply{ToolCalls: calls("write", map[string]any{"path": "a b.txt", "content": "two\n"})},
		providertest.Reply{Text: "Done."},
	)
	ed := m.editWith(lsptest.Fields{"approval": "yolo"}, lsptest.Fields{
		"workspace": lsptest.Fields{"textDocumentContent": lsptest.Fields{}}, "window": lsptest.Fields{"showDocument": lsptest.Fields{"support": true}},
	})
	_, failure := ed.Exec("xcsh.prompt", lsptest.Fields{"text": "change it"})
	require.Nil(t, failure)
	ed.WaitEvent("changes_changed") // makes the shown documents stale
	text := func(uri string) string {
		t.Helper()
		raw, failure := ed.Call("workspace/textDocumentContent", lsptest.Fields{"uri": uri})
		require.Nil(t, failure, uri)
		var content struct{ Text string }
		require.NoError(t, json.Unmarshal(raw, &content))
		return content.Text
	}

	exec := ed.BeginExec("xcsh.changes", lsptest.Fields{"show": true, "hunks": true})
	shown := ed.WaitRequest("window/showDocument")
	var p struct {
		URI       string
		TakeFocus bool
	}
	require.NoError(t, json.Unmarshal(shown.Params, &p))
	shown.Reply(lsptest.Fields{"success": true})
	raw, failure := exec.Wait()
	require.Nil(t, failure)
	require.Regexp(t, `^xcsh:///.*\.jsonl/changes\.md\?since=turn$`, p.URI)
	require.Contains(t, text(p.URI), "-one\n+two\n")
	require.Contains(t, text(p.URI), `[a b.txt](`)

	var changes wire.Changes
	require.NoError(t, json.Unmarshal(raw, &changes))
	require.Len(t, changes.Files, 1)
	base := changes.Files[0].Base
	require.Equal(t, "one\n", text(base))
	require.Equal(t, "one\n", text("xcsh-change://"+base[len("xcsh-change:"):]), "with an empty host")

	session := changes.SessionID
	address := func(path, query string) string {
		return (&url.URL{Scheme: "xcsh-change", Path: path, RawQuery: query}).String()
	}
	for _, uri := range []string{
		address(secret, "session="+session), address("/etc/passwd", "session="+session), address(path, ""), address(path, "session=none"),
		address(path, "session=%zz"), address(path, "session=../../x"), "xcsh-change:a b.txt?session=" + session, "xcsh-change:", "xcsh-change:?session=" + session,
		"xcsh-change://host/x?session=" + session, "xcsh-change:/a%00b?session=" + session,
		"xcsh:/etc/passwd/changes.md", "xcsh:" + secret + "/changes.md", "xcsh:" + secret + ".jsonl/changes.md?since=turn",
		"xcsh:/changes.md", "xcsh:changes.md", "file://" + secret, "",
	} {
		raw, failure := ed.Call("workspace/textDocumentContent", lsptest.Fields{"uri": uri})
		require.NotNil(t, failure, "%s: %s", uri, raw)
		require.NotEqual(t, "internal", failure.Kind(), uri)
	}
}
