package lsp_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/agent/event"
	"github.com/xcsh-ls/xcsh-ls/commands"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/internal/lsptest"
)

const branchQuestion = "pi continued on another branch. Follow it, stay on your branch, or fork your branch into a new session?\nNewest prompt there: theirs"

// branching is a server whose only command records the user's choices.
func branching(t *testing.T, params lsptest.Fields) (f *fixture, ed *lsptest.Editor, chosen chan commands.ChooseBranchArgs) {
	t.Helper()
	f = newFixture(t)
	chosen = make(chan commands.ChooseBranchArgs, 8)
	f.options.Commands = commands.NewTable(
		commands.New(commands.Spec{Name: "test.echo"}, func(_ context.Context, _ *commands.Env, a textArgs) (textArgs, error) { return a, nil }),
		commands.New(commands.Spec{Name: commands.ChooseBranchName}, func(_ context.Context, _ *commands.Env, a commands.ChooseBranchArgs) (none, error) {
			chosen <- a
			if a.Choice == agent.ForkBranch {
				return none{}, fault.New(fault.Busy, "Wait for the turn.")
			}
			return none{}, nil
		}))
	ed = lsptest.Start(t, f.options)
	ed.Initialize(params)
	_, err := ed.Exec("test.echo", nil)
	require.Nil(t, err)
	return f, ed, chosen
}

func (f *fixture) branch(cwd, branchID string, entries int) {
	e := event.ForeignBranch{BranchID: branchID, EntryID: "e", Entries: entries, Program: "pi", Prompt: "theirs", Text: "pi continued on another branch."}
	if branchID == "" {
		e = event.ForeignBranch{}
	}
	f.live.emit(agent.RunEvent{Cwd: cwd, SessionID: "s", Seq: 1, Event: e})
}

// requests counts the questions so far.
func requests(ed *lsptest.Editor) (n int) {
	for _, m := range ed.Messages() {
		if m.Method == "window/showMessageRequest" {
			n++
		}
	}
	return n
}

// Each button of the message box runs the command for the branch that was asked about.
func TestAMessageBoxAsksAboutAnotherProgramsBranch(t *testing.T) {
	t.Parallel()
	for title, want := range map[string]agent.BranchChoice{"Follow": agent.FollowBranch, "Stay": agent.StayOnBranch, "Fork": agent.ForkBranch} {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			f, ed, chosen := branching(t, nil)
			f.branch("/w", "b1", 1)
			ed.AnswerQuestion(branchQuestion, title)
			got := receive(t, chosen)
			require.Equal(t, commands.ChooseBranchArgs{Folder: commands.Folder{Cwd: "/w"}, Choice: want, BranchID: "b1"}, got)
			if want == agent.ForkBranch { // it fails
				require.JSONEq(t, `{"type":1,"message":"Wait for the turn."}`, string(ed.WaitNotification("window/showMessage")))
			}
		})
	}
}

// An unanswered question blocks nothing. It is asked once for a branch, however often that
// grows and whether or not the user closed it, and withdrawn when it is settled.
func TestAnUnansweredQuestionAboutABranchBlocksNothing(t *testing.T) {
	t.Parallel()
	f, ed, chosen := branching(t, nil)
	f.branch("/w", "b1", 1)
	open := ed.WaitRequest("window/showMessageRequest")
	for n := range 50 {
		f.branch("/w", "b1", 2+n)
	}
	_, err := ed.Exec("test.echo", nil)
	require.Nil(t, err)
	require.Equal(t, 1, requests(ed))

	f.branch("/w", "", 0)
	cancelled := ed.WaitNotification("$/cancelRequest")
	var p struct{ ID json.RawMessage }
	require.NoError(t, json.Unmarshal(cancelled, &p))
	id, encodeErr := json.Marshal(open.ID)
	require.NoError(t, encodeErr)
	require.Equal(t, string(id), string(p.ID))

	f.branch("/w", "b2", 1)
	ed.AnswerQuestion(branchQuestion, "")
	f.branch("/w", "b2", 2)
	f.branch("/v", "b2", 2) // another folder
	ed.WaitRequest("window/showMessageRequest")
	require.Equal(t, 3, requests(ed))

	// The folder has another session now: the question is about none that is live.
	f.live.emit(agent.SessionChanged{Cwd: "/v", SessionID: "t", Seq: 1, Reason: agent.ReasonTree})
	f.live.emit(agent.SessionChanged{Cwd: "/v", SessionID: "t", Seq: 2, Reason: agent.ReasonNew})
	ed.WaitNotification("$/cancelRequest")
	require.Empty(t, chosen)
	ed.Shutdown() // with nothing to wait for
}

// A client with its own interface gets only the event, and one without questions a message.
func TestWhoIsAskedAboutABranch(t *testing.T) {
	t.Parallel()
	f, ed, _ := branching(t, wantsHooks)
	f.branch("/w", "b1", 1)
	require.JSONEq(t, `{"cwd":"/w","sessionId":"s","seq":1,"event":{"type":"foreign_branch","branchId":"b1","entryId":"e","entries":1,
		"program":"pi","prompt":"theirs","text":"pi continued on another branch."}}`, string(ed.WaitNotification("xcsh/event")))
	f, plain, _ := branching(t, nil)
	f.branch("/w", "b1", 1)
	plain.WaitRequest("window/showMessageRequest").Fail(-32601, "no such method")
	require.JSONEq(t, `{"type":3,"message":"pi continued on another branch."}`, string(plain.WaitNotification("window/showMessage")))
	require.Zero(t, requests(ed))

	// In a workspace that the user has not trusted every choice would be refused.
	f, untrusted, _ := branching(t, lsptest.Fields{"initializationOptions": lsptest.Fields{"restricted": true}})
	f.branch("/w", "b1", 1)
	require.JSONEq(t, `{"type":3,"message":"pi continued on another branch."}`, string(untrusted.WaitNotification("window/showMessage")))
	require.Zero(t, requests(untrusted))
}
