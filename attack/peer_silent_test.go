//go:build unix

package attack

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/lsptest"
	"github.com/xcsh-ls/xcsh-ls/internal/providertest"
)

// silent starts the server for an editor that declares capabilities for requests but never responds.
func (v *victim) silent(options lsptest.Fields) *lsptest.Editor {
	v.t.Helper()
	return v.editWith(options, lsptest.Fields{
		"window": lsptest.Fields{"workDoneProgress": true, "showDocument": lsptest.Fields{"support": true}},
		"workspace": lsptest.Fields{
			"configuration": true, "applyEdit": true, "didChangeConfiguration": lsptest.Fields{"dynamicRegistration": true},
			"textDocumentContent": lsptest.Fields{},
		},
	})
}

// A command does not wait for an editor that never responds to window/workDoneProgress/create or
// workspace/configuration. After a few times the server stops sending these requests.
func TestAnEditorThatNeverAnswersBlocksNoCommand(t *testing.T) {
	t.Parallel()
	v := newVictim(t)
	v.Script("m", providertest.Reply{Text: "Hello."})
	ed := v.silent(nil)
	for range 4 {
		result, err := ed.Exec("xcsh.prompt", lsptest.Fields{"text": "go"})
		require.Nil(t, err)
		assert.Contains(t, string(result), `"stopReason":"stop"`)
	}
	requests := func() (n int) {
		for _, m := range ed.Messages() {
			if m.Method == "window/workDoneProgress/create" {
				n++
			}
		}
		return n
	}
	before := requests()
	require.Positive(t, before)
	_, err := ed.Exec("xcsh.prompt", lsptest.Fields{"text": "go"})
	require.Nil(t, err)
	require.Equal(t, before, requests(), "the editor is asked for a progress again")
	ed.Shutdown()
	ed.Exit()
}

// A tool that waits for the editor to apply its edit can be stopped, and so can a question to the user.
func TestCallsThatWaitForTheEditorCanBeStopped(t *testing.T) {
	t.Parallel()
	v := newVictim(t)
	v.write(v.path("a.txt"), "one\n")
	v.does(call("edit", map[string]any{"path": "a.txt", "edits": []any{map[string]any{"oldText": "one", "newText": "two"}}}))
	ed := v.silent(lsptest.Fields{"approval": "yolo"})
	ed.Open(v.path("a.txt"), "one\n")
	prompt := ed.BeginExec("xcsh.prompt", lsptest.Fields{"text": "go"})
	ed.WaitRequest("workspace/applyEdit")
	_, err := ed.Exec("xcsh.abort", nil)
	require.Nil(t, err)
	result, err := prompt.Wait()
	require.Nil(t, err)
	assert.Contains(t, string(result), `"stopReason":"aborted"`)
	ed.Shutdown()
	ed.Exit()
}

// With the maximum number of requests in flight, commands that stop a turn still work.
func TestStoppingIsNeverRefusedAsBusy(t *testing.T) {
	t.Parallel()
	const more = 300 // more than the server handles at once
	v := newVictim(t)
	v.Script("m", providertest.Reply{Text: "a long answer", Hold: make(chan struct{})})
	ed := v.edit(nil)
	prompt := ed.BeginExec("xcsh.prompt", lsptest.Fields{"text": "go"})
	ed.WaitEvent("message_update")
	var questions []*lsptest.Pending
	for range more {
		questions = append(questions, ed.BeginExec("xcsh.setApproval", nil))
	}
	_, err := questions[more-1].Wait()
	require.NotNil(t, err)
	require.Equal(t, "busy", err.Kind())

	result, err := ed.Exec("xcsh.abort", nil)
	require.Nil(t, err)
	var aborted struct{ Aborted bool }
	require.NoError(t, json.Unmarshal(result, &aborted))
	assert.True(t, aborted.Aborted)
	result, err = prompt.Wait()
	require.Nil(t, err)
	assert.Contains(t, string(result), `"stopReason":"aborted"`)

	questions[0].Cancel()
	_, err = questions[0].Wait()
	require.NotNil(t, err)
	assert.Equal(t, "cancelled", err.Kind())
	ed.Shutdown()
	ed.Exit()
	assert.Empty(t, v.locks())
}
