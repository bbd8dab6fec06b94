package main

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/change/wire"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/internal/lsptest"
	"github.com/xcsh-ls/xcsh-ls/internal/providertest"
)

// quickfixes returns the titles and the commands of the code actions in a line of a document, from 0.
func quickfixes(t *testing.T, ed *lsptest.Editor, path string, line int) (titles []string, run []lsptest.Fields) {
	t.Helper()
	at := lsptest.Fields{"line": line, "character": 0}
	raw, failure := ed.Call("textDocument/codeAction", lsptest.Fields{
		"textDocument": lsptest.Fields{"uri": lsptest.URI(path)}, "range": lsptest.Fields{"start": at, "end": at},
		"context": lsptest.Fields{"diagnostics": []any{}},
	})
	require.Nil(t, failure)
	var actions []struct {
		Title     string
		Command   string
		Arguments []any
	}
	require.NoError(t, json.Unmarshal(raw, &actions))
	for _, a := range actions {
		titles = append(titles, a.Title)
		run = append(run, lsptest.Fields{"command": a.Command, "arguments": a.Arguments})
	}
	return titles, run
}

// makeEdits makes the edits that the server asks for, as the versions given, and reports them.
func makeEdits(t *testing.T, ed *lsptest.Editor, versions map[string]int) {
	t.Helper()
	request := ed.WaitRequest("workspace/applyEdit")
	var edit applied
	require.NoError(t, json.Unmarshal(request.Params, &edit))
	require.Len(t, edit.Edit.DocumentChanges, len(versions))
	for _, change := range edit.Edit.DocumentChanges {
		for path, version := range versions {
			if change.TextDocument.URI != lsptest.URI(path) {
				continue
			}
			require.Len(t, change.Edits, 1)
			ed.ChangeWith(path, version, lsptest.Fields{"range": change.Edits[0].Range, "text": change.Edits[0].NewText})
		}
	}
	request.Reply(lsptest.Fields{"applied": true})
}

// In a client without a plugin, code actions keep and undo changes of a turn in an open document and in a file. Redo restores them, in
// the document and on disk.
func TestChangesOfATurnInAPlainEditor(t *testing.T) {
	t.Parallel()
	m := newMachine(t, provider.AnthropicMessages)
	open, closed := m.path("open.txt"), m.path("closed.txt")
	m.write(open, "1\n2\n3\n4\n5\n6\n7\n")
	m.write(closed, "one\n")
	edits := []any{map[string]any{"oldText": "2\n", "newText": "two\n"}, map[string]any{"oldText": "6\n", "newText": "six\n"}}
	m.Script(
		"m", providertest.Reply{ToolCalls: calls("edit", map[string]any{"path": "open.txt", "edits": edits})},
		providertest.Reply{ToolCalls: calls("write", map[string]any{"path": "closed.txt", "content": "uno\n"})},
		providertest.Reply{Text: "Done."},
	)
	ed := m.edit(lsptest.Fields{"approval": "yolo"})
	ed.Open(open, "1\n2\n3\n4\n5\n6\n7\n")
	titles, _ := quickfixes(t, ed, open, 1)
	require.Empty(t, titles)
	turn := ed.BeginExec("xcsh.prompt", lsptest.Fields{"text": "change them"})
	makeEdits(t, ed, map[string]int{open: 2})
	_, failure := turn.Wait()
	require.Nil(t, failure)

	titles, run := quickfixes(t, ed, open, 1)
	require.Equal(t, []string{"xcsh: undo this change", "xcsh: keep this change"}, titles)
	undo := ed.Begin("workspace/executeCommand", run[0])
	makeEdits(t, ed, map[string]int{open: 3})
	raw, failure := undo.Wait()
	require.Nil(t, failure)
	var rewound wire.RewindResult
	require.NoError(t, json.Unmarshal(raw, &rewound))
	require.True(t, *rewound.Rewound)
	require.Equal(t, []string{open}, rewound.Unsaved)
	titles, _ = quickfixes(t, ed, open, 1)
	require.Empty(t, titles, "it is undone")

	titles, run = quickfixes(t, ed, open, 5)
	require.Len(t, titles, 2)
	raw, failure = ed.Call("workspace/executeCommand", run[1])
	require.Nil(t, failure)
	require.Contains(t, string(raw), `"kept":1`)
	titles, _ = quickfixes(t, ed, open, 5)
	require.Empty(t, titles, "it is kept")

	ed.Open(closed, "uno\n")
	titles, _ = quickfixes(t, ed, closed, 0)
	require.Len(t, titles, 2)
	ed.Close(closed)
	redo := ed.BeginExec("xcsh.rewind", lsptest.Fields{"redo": "", "dryRun": false})
	makeEdits(t, ed, map[string]int{open: 4})
	_, failure = redo.Wait()
	require.Nil(t, failure)

	// All of the turn: the document in the editor, the file on disk.
	raw, failure = ed.Exec("xcsh.changes", lsptest.Fields{"since": "turn"})
	require.Nil(t, failure)
	var changes wire.Changes
	require.NoError(t, json.Unmarshal(raw, &changes))
	require.Len(t, changes.Files, 2)
	all := lsptest.Fields{"before": changes.PromptID, "dryRun": false}
	rewind := ed.BeginExec("xcsh.rewind", all)
	request := ed.WaitRequest("workspace/applyEdit")
	var edit applied
	require.NoError(t, json.Unmarshal(request.Params, &edit))
	require.Len(t, edit.Edit.DocumentChanges, 1)
	require.Len(t, edit.Edit.DocumentChanges[0].Edits, 2, "the lines between are not touched")
	ed.Change(open, 5, "1\n2\n3\n4\n5\n6\n7\n")
	request.Reply(lsptest.Fields{"applied": true})
	_, failure = rewind.Wait()
	require.Nil(t, failure)
	content, err := os.ReadFile(closed)
	require.NoError(t, err)
	require.Equal(t, "one\n", string(content))
	titles, _ = quickfixes(t, ed, open, 5)
	require.Empty(t, titles)
}

// A rewind that the editor refuses changes no file.
// Proves: RW-30
func TestARewindThatTheEditorRefuses(t *testing.T) {
	t.Parallel()
	m := newMachine(t, provider.AnthropicMessages)
	open, closed := m.path("open.txt"), m.path("closed.txt")
	m.write(open, "one\n")
	m.write(closed, "one\n")
	m.Script(
		"m", providertest.Reply{ToolCalls: calls("write", map[string]any{"path": "open.txt", "content": "two\n"})},
		providertest.Reply{ToolCalls: calls("write", map[string]any{"path": "closed.txt", "content": "two\n"})},
		providertest.Reply{Text: "Done."},
	)
	ed := m.edit(lsptest.Fields{"approval": "yolo"})
	ed.Open(open, "one\n")
	turn := ed.BeginExec("xcsh.prompt", lsptest.Fields{"text": "change them"})
	makeEdits(t, ed, map[string]int{open: 2})
	_, failure := turn.Wait()
	require.Nil(t, failure)
	raw, failure := ed.Exec("xcsh.changes", nil)
	require.Nil(t, failure)
	var changes wire.Changes
	require.NoError(t, json.Unmarshal(raw, &changes))

	rewind := ed.BeginExec("xcsh.rewind", lsptest.Fields{"before": changes.PromptID, "dryRun": false})
	ed.WaitRequest("workspace/applyEdit").Reply(lsptest.Fields{"applied": false, "failureReason": "It is locked."})
	_, failure = rewind.Wait()
	require.NotNil(t, failure)
	require.Equal(t, "denied", failure.Kind())
	content, err := os.ReadFile(closed)
	require.NoError(t, err)
	require.Equal(t, "two\n", string(content))
	raw, failure = ed.Exec("xcsh.changes", nil)
	require.Nil(t, failure)
	var after wire.Changes
	require.NoError(t, json.Unmarshal(raw, &after))
	require.Equal(t, changes.Files, after.Files)
}
