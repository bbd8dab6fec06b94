package lsp_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/agent/asking"
	"github.com/xcsh-ls/xcsh-ls/agent/event"
	"github.com/xcsh-ls/xcsh-ls/commands"
	"github.com/xcsh-ls/xcsh-ls/internal/lsptest"
	"github.com/xcsh-ls/xcsh-ls/lsp"
)

// formed is the result of a form.
type formed struct {
	answers agent.Answers
	err     error
}

// startForms starts a server and returns the function that asks the user a form, nil if there is none.
func startForms(t *testing.T, params lsptest.Fields) (*lsptest.Editor, func(agent.Question) <-chan formed) {
	t.Helper()
	f := newFixture(t)
	clients := make(chan lsp.Client, 1)
	open := f.options.Open
	f.options.Open = func(ctx context.Context, s lsp.Settings, c lsp.Client) (lsp.Backend, error) {
		clients <- c
		return open(ctx, s, c)
	}
	ed := lsptest.Start(t, f.options)
	ed.Initialize(params)
	c := receive(t, clients)
	require.True(t, c.CanAsk())
	if c.AskForm == nil {
		return ed, nil
	}
	return ed, func(q agent.Question) <-chan formed {
		done := make(chan formed, 1)
		go func() {
			answers, err := c.AskForm(t.Context(), agent.Asked{Cwd: "/w", SessionID: "s1", Question: q})
			done <- formed{answers, err}
		}()
		return done
	}
}

func databaseQuestion() agent.Question {
	return agent.Question{ID: "c1", From: asking.Model, Fields: []asking.Field{{
		ID: "db", Title: "Which database?\x1b", Header: "DB", Options: []asking.Option{{Label: "SQLite", Description: "a file"}, {Label: "PostgreSQL", Preview: "p"}},
		Recommended: new(0), Other: true,
	}}}
}

func TestAClientWithAnInterfaceIsAskedWholeForms(t *testing.T) {
	t.Parallel()
	ed, ask := startForms(t, lsptest.Fields{"initializationOptions": lsptest.Fields{"ui": lsptest.Fields{"hooks": true}}})

	done := ask(databaseQuestion())
	request := ed.WaitRequest(lsp.MethodAsk)
	require.JSONEq(t, `{"cwd":"/w","sessionId":"s1","id":"c1","from":"model","questions":[{"id":"db","question":"Which database?\\u001b","header":"DB","kind":"choice",
		"options":[{"label":"SQLite","description":"a file"},{"label":"PostgreSQL","preview":"p"}],"recommended":0,"other":true}]}`, string(request.Params))
	request.Reply(json.RawMessage(`{"answers":[{"id":"db","selected":["SQLite"]}]}`))
	require.Equal(t, formed{answers: agent.Answers{List: []asking.Answer{{ID: "db", Selected: []string{"SQLite"}}}}}, receive(t, done))

	done = ask(databaseQuestion())
	ed.WaitRequest(lsp.MethodAsk).Reply(nil)
	require.Equal(t, formed{answers: agent.Answers{Cancelled: true}}, receive(t, done), "closed")

	done = ask(databaseQuestion())
	ed.WaitRequest(lsp.MethodAsk).Reply(json.RawMessage(`{"declined":true}`))
	require.Equal(t, formed{answers: agent.Answers{Declined: true}}, receive(t, done))

	done = ask(databaseQuestion())
	ed.WaitRequest(lsp.MethodAsk).Fail(-32601, "unknown")
	require.ErrorIs(t, receive(t, done).err, asking.ErrElsewhere, "it shows the questions of events")
	require.ErrorIs(t, receive(t, ask(databaseQuestion())).err, asking.ErrElsewhere, "it is not asked again")
}

func TestOtherClientsAreAskedByMessageBoxes(t *testing.T) {
	t.Parallel()
	_, ask := startForms(t, nil)
	require.Nil(t, ask)

	q := questioning(t, nil)
	q.ask(event.Question{
		ID: "ask1", From: "model", Method: "select", Title: "Which?", Options: []string{"a", "b"}, Descriptions: []string{"first", ""}, Recommended: new(1),
		Other: true, Number: 1, Of: 2,
	})
	q.ed.AnswerQuestion("Which?\na: first\nRecommended: b", "b")
	want := answerOf("ask1")
	want.Value = new("b")
	require.Equal(t, want, receive(t, q.answers))

	q.ask(event.Question{ID: "ask2", From: "server", Method: "select", Title: "Which?", Message: "docs asks", Options: []string{"a", "b", "c"}, Multi: true})
	q.ed.AnswerQuestion("docs asks\nWhich?", "c")
	q.ed.AnswerQuestion("docs asks\nWhich?\nSelected: c", "a")
	q.ed.AnswerQuestion("docs asks\nWhich?\nSelected: c, a", "Done")
	want = answerOf("ask2")
	want.Values = []string{"c", "a"}
	require.Equal(t, want, receive(t, q.answers))

	q.ask(event.Question{ID: "ask3", From: "model", Method: "select", Title: "Which?", Options: []string{"a"}, Multi: true})
	q.ed.AnswerQuestion("Which?", "")
	require.Equal(t, commands.AnswerArgs{Folder: commands.Folder{Cwd: "/w"}, ID: "ask3", Cancelled: true}, receive(t, q.answers))
}
