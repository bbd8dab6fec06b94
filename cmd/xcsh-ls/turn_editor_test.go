package main

import (
	"context"
	"encoding/json"
	"maps"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap/zaptest"

	"github.com/xcsh-ls/xcsh-ls/agent/event"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/commands"
	"github.com/xcsh-ls/xcsh-ls/internal/lsptest"
	"github.com/xcsh-ls/xcsh-ls/internal/providertest"
	"github.com/xcsh-ls/xcsh-ls/lsp"
)

// edit starts an editor in the machine's folder, with a server wired as in the program.
func (m *machine) edit(options lsptest.Fields) *lsptest.Editor {
	m.t.Helper()
	return m.editWith(options, lsptest.Fields{"workspace": lsptest.Fields{
		"applyEdit": true, "workspaceEdit": lsptest.Fields{"documentChanges": true, "changeAnnotationSupport": lsptest.Fields{}},
	}})
}

// editWith is edit for an editor with the given capabilities.
func (m *machine) editWith(options, capabilities lsptest.Fields) *lsptest.Editor {
	m.t.Helper()
	log := zaptest.NewLogger(m.t)
	all := lsptest.Fields{"agentDir": m.agentDir(), "roots": []string{}, "model": "fake/m"}
	maps.Copy(all, options)
	ed := lsptest.Start(m.t, lsp.Options{
		Version: "test", Commands: commands.Default, Manifest: commands.ManifestJSON, Log: log,
		Open: func(_ context.Context, s lsp.Settings, c lsp.Client) (lsp.Backend, error) {
			return openBackend(s, c, false, log)
		},
	})
	ed.Initialize(lsptest.Fields{
		"initializationOptions": all,
		"workspaceFolders":      []any{lsptest.Fields{"uri": lsptest.URI(m.work), "name": "w"}},
		"capabilities":          capabilities,
	})
	return ed
}

// do runs a command that must succeed.
func do(t *testing.T, ed *lsptest.Editor, command string) {
	t.Helper()
	_, failure := ed.Exec(command, nil)
	require.Nil(t, failure, command)
}

// applied holds the parameters of workspace/applyEdit as the server sends them.
type applied struct {
	Label string
	Edit  struct {
		DocumentChanges []struct {
			TextDocument struct {
				URI     string
				Version int
			}
			Edits []struct {
				Range        json.RawMessage
				NewText      string
				AnnotationID string
			}
		}
		ChangeAnnotations map[string]struct{ Label string }
	}
}

// A conversation in an editor: the model sees unsaved text and changes it in the editor, not on disk,
// after the user approved it.
// Proves: P-001
func TestTurnInAnEditor(t *testing.T) {
	t.Parallel()
	forEachFormat(t, func(t *testing.T, m *machine) {
		path := m.path("a.txt")
		m.write(path, "saved\n")
		edits := []any{map[string]any{"oldText": "not 😀 saved", "newText": "changed"}}
		m.Script(
			"m", providertest.Reply{Thinking: "hm", Text: "I look.", ToolCalls: calls("read", map[string]any{"path": "a.txt"})},
			providertest.Reply{ToolCalls: calls("edit", map[string]any{"path": "a.txt", "edits": edits})},
			providertest.Reply{ToolCalls: calls("read", map[string]any{"path": path})},
			providertest.Reply{Text: "Done."},
		)
		ed := m.edit(nil)
		ed.Open(path, "first\nnot saved\nlast\n")
		ed.ChangeWith(path, 7, lsptest.Fields{
			"range": lsptest.Fields{"start": lsptest.Fields{"line": 1, "character": 4}, "end": lsptest.Fields{"line": 1, "character": 4}}, "text": "😀 ",
		})
		turn := ed.BeginExec("xcsh.prompt", lsptest.Fields{"text": "change a.txt"})
		ed.AnswerQuestion("Allow xcsh to edit a.txt?\nFor this session: edits to files in this folder, except protected files\n"+
			"--- a.txt\n+++ a.txt\n@@ -1,3 +1,3 @@\n first\n-not 😀 saved\n+changed\n last\n", "Allow")

		request := ed.WaitRequest("workspace/applyEdit")
		var edit applied
		require.NoError(t, json.Unmarshal(request.Params, &edit))
		require.Len(t, edit.Edit.DocumentChanges, 1)
		change := edit.Edit.DocumentChanges[0]
		assert.Equal(t, "Edit a.txt", edit.Label)
		assert.Equal(t, lsptest.URI(path), change.TextDocument.URI)
		assert.Equal(t, 7, change.TextDocument.Version)
		require.Len(t, change.Edits, 1)
		assert.Equal(t, "changed\n", change.Edits[0].NewText)
		assert.JSONEq(t, `{"start":{"line":1,"character":0},"end":{"line":2,"character":0}}`, string(change.Edits[0].Range), "only the changed line is replaced")
		assert.Equal(t, "Edit a.txt", edit.Edit.ChangeAnnotations[change.Edits[0].AnnotationID].Label)
		request.Reply(lsptest.Fields{"applied": true})
		ed.ChangeWith(path, 8, lsptest.Fields{"range": change.Edits[0].Range, "text": change.Edits[0].NewText})

		raw, failure := turn.Wait()
		require.Nil(t, failure)
		var result struct {
			StopReason string
			Usage      provider.Usage
			Message    json.RawMessage
		}
		require.NoError(t, json.Unmarshal(raw, &result))
		assert.Equal(t, "stop", result.StopReason)
		assert.Equal(t, 80, result.Usage.Output, "the sum over all four answers")
		assert.Contains(t, string(result.Message), "Done.")
		assert.Equal(t, "saved\n", m.read(path), "the user saves the file")

		reqs := m.Requests()
		require.Len(t, reqs, 4)
		assert.Contains(t, lastResult(t, reqs[1]), "not 😀 saved", "the unsaved text")
		assert.Contains(t, lastResult(t, reqs[2]), "Successfully replaced 1 block")
		assert.Contains(t, lastResult(t, reqs[3]), "first\nchanged\nlast")
		requireWholeStory(t, ed, m)
		ed.Shutdown()
		ed.Exit()
	})
}

// requireWholeStory requires that the events report everything in the file, numbered without gaps, and
// that each message was on disk when its event was sent.
func requireWholeStory(t *testing.T, ed *lsptest.Editor, m *machine) {
	t.Helper()
	var ids, types []string
	next := uint64(1)
	deltas := map[event.UpdateType]string{}
	for _, message := range ed.Messages() {
		var p struct {
			Seq   uint64
			Event struct {
				Type, EntryID         string
				AssistantMessageEvent event.Update
			}
		}
		switch message.Method {
		case lsp.MethodEvent, lsp.MethodSessionChanged:
			require.NoError(t, json.Unmarshal(message.Params, &p))
		default:
			continue
		}
		require.Equal(t, next, p.Seq)
		next++
		types = append(types, p.Event.Type)
		if p.Event.Type == "message_end" {
			ids = append(ids, p.Event.EntryID)
		}
		u := p.Event.AssistantMessageEvent
		deltas[u.Type] += u.Delta
	}
	assert.Equal(t, "I look.Done.", deltas["text_delta"])
	assert.Equal(t, "hm", deltas["thinking_delta"])
	assert.Equal(t, "agent_end", types[len(types)-1], "before the response")
	file := m.read(m.sessionFile())
	for _, id := range ids {
		assert.Contains(t, file, `"id":"`+id+`"`)
	}
	assert.Len(t, ids, len(m.messages(m.sessionFile())))
}

// The model receives an error when the editor or the user refuses a change, and nothing changes.
func TestRefusalsInAnEditor(t *testing.T) {
	t.Parallel()
	m := newMachine(t, provider.AnthropicMessages)
	path := m.path("a.txt")
	m.write(path, "text\n")
	change := providertest.Reply{ToolCalls: calls("edit", map[string]any{"path": "a.txt", "edits": []any{map[string]any{"oldText": "text", "newText": "other"}}})}
	m.Script("m", change, change, change, providertest.Reply{Text: "Done."})
	ed := m.edit(lsptest.Fields{"ui": lsptest.Fields{"hooks": true}})
	ed.Open(path, "text\n")
	turn := ed.BeginExec("xcsh.prompt", lsptest.Fields{"text": "change a.txt"})

	request := ed.WaitRequest(lsp.MethodApprove)
	var p lsp.ApproveParams
	require.NoError(t, json.Unmarshal(request.Params, &p))
	assert.Equal(t, "edit", p.Tool)
	assert.Equal(t, "Edit a.txt", p.Title)
	assert.Contains(t, p.Diff, "-text\n+other\n")
	assert.Equal(t, []string{path}, p.Paths)
	request.Reply(lsptest.Fields{"decision": "deny"})

	ed.WaitRequest(lsp.MethodApprove).Reply(lsptest.Fields{"decision": "session"})
	ed.WaitRequest("workspace/applyEdit").Reply(lsptest.Fields{"applied": false, "failureReason": "It is read-only."})

	// Allowed for the session. The user types before the edit arrives.
	request = ed.WaitRequest("workspace/applyEdit")
	ed.Change(path, 2, "text typed\n")
	do(t, ed, "xcsh.state") // a response confirms that all earlier messages were processed
	request.Reply(lsptest.Fields{"applied": false, "failureReason": "The version is another one."})
	_, failure := turn.Wait()
	require.Nil(t, failure)

	reqs := m.Requests()
	require.Len(t, reqs, 4)
	assert.Contains(t, lastResult(t, reqs[1]), "denied this")
	assert.Contains(t, lastResult(t, reqs[2]), "The editor refused to change "+path+". It is read-only.")
	assert.Contains(t, lastResult(t, reqs[3]), path+" was changed since it was read; nothing was written.")
	assert.Equal(t, "text\n", m.read(path))
}

// A failure of the service reaches the editor as an error that programs can handle.
func TestFailureInAnEditor(t *testing.T) {
	t.Parallel()
	forEachFormat(t, func(t *testing.T, m *machine) {
		m.Script("m", providertest.Reply{Fault: providertest.RateLimited, RetryAfter: "90"})
		ed := m.edit(nil)
		_, failure := ed.Exec("xcsh.prompt", lsptest.Fields{"text": "hello"})
		require.NotNil(t, failure)
		assert.Equal(t, "provider", failure.Kind())
		assert.JSONEq(t, `{"kind":"provider","class":"rate_limit","status":429,"retryAfterMs":90000}`, string(failure.Data))
		assert.NotContains(t, failure.Message, "\n")
		assert.Contains(t, failure.Message, "the service asks to wait 1m30s, which is more than the limit of 1m0s")
		assert.Equal(t, "user assistant:error", roles(m.messages(m.sessionFile())))
		assert.NotContains(t, transcript(ed), fakeKey)

		// The next prompt works again.
		m.Script("m", providertest.Reply{Text: "Yes."})
		_, failure = ed.Exec("xcsh.prompt", lsptest.Fields{"text": "again?"})
		require.Nil(t, failure)
	})
}

// Cancelling the command stops the turn immediately, including the request to the service.
func TestCancelInAnEditor(t *testing.T) {
	t.Parallel()
	forEachFormat(t, func(t *testing.T, m *machine) {
		m.Script("m", providertest.Reply{Text: "a long answer", Hold: make(chan struct{})}, providertest.Reply{Text: "Done."})
		ed := m.edit(nil)
		turn := ed.BeginExec("xcsh.prompt", lsptest.Fields{"text": "hello"})
		for !strings.Contains(string(ed.WaitNotification(lsp.MethodEvent)), `"text_delta"`) {
			continue // until part of the answer has arrived
		}
		turn.Cancel()
		_, failure := turn.Wait()
		require.NotNil(t, failure)
		assert.Equal(t, "cancelled", failure.Kind())
		assert.Equal(t, -32800, failure.Code)
		<-m.Requests()[0].Ended
		assert.Equal(t, "user assistant:aborted", roles(m.messages(m.sessionFile())))
		_, failure = ed.Exec("xcsh.prompt", lsptest.Fields{"text": "again"})
		require.Nil(t, failure)
	})
}

// transcript returns everything that the server sent.
func transcript(ed *lsptest.Editor) string {
	var b strings.Builder
	for _, m := range ed.Messages() {
		b.Write(m.Params)
		b.Write(m.Result)
		if m.Error != nil {
			b.WriteString(m.Error.Message)
			b.Write(m.Error.Data)
		}
	}
	return b.String()
}
