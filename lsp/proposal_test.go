package lsp_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/approval"
	"github.com/xcsh-ls/xcsh-ls/agent/tool"
	"github.com/xcsh-ls/xcsh-ls/internal/lsptest"
)

const proposedDiff = "--- a.go\n+++ a.go\n@@ -1 +1 @@\n-old\n+new\x1b[2J\u202e\n"

// The diff of a proposed change is shown as a document before the question, and removed after the answer.
func TestTheDiffIsShownBeforeTheQuestion(t *testing.T) {
	t.Parallel()
	ed, approve := startAsking(t, lsptest.Fields{"capabilities": showsDocuments})
	done := approve(t.Context(), call("edit", `{}`, tool.Preview{Title: "Edit a.go", Diff: proposedDiff}))
	shown := ed.WaitRequest("window/showDocument")
	path := lsptest.Path(t, decode[struct{ URI string }](t, shown.Params).URI)
	require.True(t, strings.HasSuffix(path, ".diff"), path)
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "--- a.go\n+++ a.go\n@@ -1 +1 @@\n-old\n+new\\u001b[2J\\u202e\n", string(content))
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	shown.Reply(lsptest.Fields{"success": true})
	asked := ed.WaitRequest("window/showMessageRequest")
	require.Equal(t, "Allow xcsh to edit a.go?", decode[struct{ Message string }](t, asked.Params).Message)
	chosen("Allow")(asked)
	require.Equal(t, decided{approval.Once, nil}, receive(t, done))
	require.NoFileExists(t, path)
}

// An editor that opens no documents gets the beginning of the diff in the question.
func TestTheDiffIsInTheQuestion(t *testing.T) {
	t.Parallel()
	for name, capabilities := range map[string]lsptest.Fields{"cannot show": {}, "does not show": showsDocuments} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ed, approve := startAsking(t, lsptest.Fields{"capabilities": capabilities})
			long := proposedDiff + strings.Repeat("+ääääääääää\n", 500)
			done := approve(t.Context(), call("edit", `{}`, tool.Preview{Title: "Edit a.go", Diff: long}))
			if len(capabilities) > 0 {
				ed.WaitRequest("window/showDocument").Reply(lsptest.Fields{"success": false})
			}
			asked := ed.WaitRequest("window/showMessageRequest")
			message := decode[struct{ Message string }](t, asked.Params).Message
			require.True(t, strings.HasPrefix(message, "Allow xcsh to edit a.go?\n--- a.go\n+++ a.go\n@@ -1 +1 @@\n-old\n+new\\u001b[2J\\u202e\n+ääääääääää\n"), message)
			require.Regexp(t, `\+ääääääääää\n… \d+ more bytes$`, message)
			require.Less(t, len(message), 2200)
			chosen("Deny")(asked)
			require.Equal(t, decided{approval.Deny, nil}, receive(t, done))
		})
	}
}
