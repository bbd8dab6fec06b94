package main_test

import (
	"encoding/json"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/commands"
	"github.com/xcsh-ls/xcsh-ls/internal/lsptest"
	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
)

const sharedFile = "/home/u/.pi/agent/sessions/--w--/2026-01-01T00-00-00-000Z_0190000000000001.jsonl"

// sharedSession is an editor in a session of pi's directory that pi has open, too: pi is at the entry
// bbbbbbbb and continues from there while the user's first turn is over. A second prompt notices it.
func sharedSession(t *testing.T) (ed *lsptest.Editor, fs afero.Fs) {
	t.Helper()
	fs = afero.NewMemMapFs()
	require.NoError(t, fs.MkdirAll("/w", 0o755))
	putText(t, fs, sharedFile, st.File(st.Header("0190000000000001", "/w"), st.User("aaaaaaaa", "", "one"), st.Assistant("bbbbbbbb", "aaaaaaaa", "two")))
	ed = ask(t, memoryServer(t, fs), lsptest.Fields{"roots": []string{"/home/u/.pi/agent"}}, nil)
	_, err := ed.Exec("xcsh.resume", lsptest.Fields{"target": "0190000000000001"})
	require.Nil(t, err)
	_, err = ed.Exec("xcsh.prompt", lsptest.Fields{"text": "my question"})
	require.Nil(t, err)
	putText(t, fs, sharedFile, textOf(t, fs, sharedFile)+st.File(st.User("f0000001", "bbbbbbbb", "pi's question"), st.Assistant("f0000002", "f0000001", "pi's answer")))
	_, err = ed.Exec("xcsh.prompt", lsptest.Fields{"text": "my second question"})
	require.Nil(t, err)
	return ed, fs
}

func contextOf(t *testing.T, ed *lsptest.Editor) string {
	t.Helper()
	raw, err := ed.Exec("xcsh.context", nil)
	require.Nil(t, err)
	return string(raw)
}

func TestPiContinuesOnAnotherBranch(t *testing.T) {
	t.Parallel()
	ed, fs := sharedSession(t)
	ed.WaitRequest("window/showMessageRequest") // it stays open, which blocks nothing below
	before := textOf(t, fs, sharedFile)
	require.Contains(t, contextOf(t, ed), "my question")
	require.NotContains(t, contextOf(t, ed), "pi's")
	require.Equal(t, "pi continued on another branch.", waitEvent(t, ed, "foreign_branch").Text)
	raw, err := ed.Exec("xcsh.snapshot", nil)
	require.Nil(t, err)
	var snapshot agent.Snapshot
	require.NoError(t, json.Unmarshal(raw, &snapshot))
	require.Equal(t, &agent.ForeignBranch{
		BranchID: "f0000001", EntryID: "f0000002", Entries: 2, Program: "pi", Prompt: "pi's question", Text: "pi continued on another branch.",
	}, snapshot.Foreign)

	_, err = ed.Exec("xcsh.chooseBranch", lsptest.Fields{"choice": "both"})
	require.Equal(t, "invalidArgument", err.Kind())
	_, err = ed.Exec("xcsh.chooseBranch", lsptest.Fields{"choice": "follow", "branchId": "f0000009"})
	require.Equal(t, "notFound", err.Kind())
	raw, err = ed.Exec("xcsh.chooseBranch", lsptest.Fields{"choice": "fork", "branchId": "f0000001"})
	require.Nil(t, err)
	var result commands.ChooseBranchResult
	require.NoError(t, json.Unmarshal(raw, &result))
	require.True(t, result.Changed)
	require.NotEqual(t, sharedFile, *result.Session.File)
	require.Equal(t, before, textOf(t, fs, sharedFile), "pi keeps its file as it is")
	fork := textOf(t, fs, *result.Session.File)
	require.Contains(t, fork, "my second question")
	require.NotContains(t, fork, "pi's")
	require.Contains(t, contextOf(t, ed), "my question")
}

// Without a plugin the question is a message box, which blocks no command.
func TestPlainEditorsAreAskedAboutPisBranch(t *testing.T) {
	t.Parallel()
	ed, fs := sharedSession(t)
	require.Contains(t, contextOf(t, ed), "my question")
	ed.AnswerQuestion("pi continued on another branch. Follow it, stay on your branch, or fork your branch into a new session?\nNewest prompt there: pi's question", "Follow")
	for { // the follow is announced
		var p struct{ Reason string }
		require.NoError(t, json.Unmarshal(ed.WaitNotification("xcsh/sessionChanged"), &p))
		if p.Reason == "tree" {
			break
		}
	}
	require.Contains(t, contextOf(t, ed), "pi's question")
	require.NotContains(t, contextOf(t, ed), "my question")
	_, err := ed.Exec("xcsh.prompt", lsptest.Fields{"text": "after pi"})
	require.Nil(t, err)
	require.Contains(t, textOf(t, fs, sharedFile), `"parentId":"f0000002"`, "the next entry continues pi's branch")
}
