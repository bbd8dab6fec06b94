package lsp_test

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/agent/event"
	"github.com/xcsh-ls/xcsh-ls/commands"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/internal/lsptest"
)

// questioned is a server whose engine's extension asks questions. The test gets the answers.
type questioned struct {
	f       *fixture
	ed      *lsptest.Editor
	answers chan commands.AnswerArgs
	seq     uint64
}

func questioning(t *testing.T, params lsptest.Fields) *questioned {
	t.Helper()
	q := &questioned{f: newFixture(t), answers: make(chan commands.AnswerArgs, 8)}
	q.f.options.Commands = commands.NewTable(
		commands.New(commands.Spec{Name: "test.echo"}, func(_ context.Context, _ *commands.Env, a textArgs) (textArgs, error) { return a, nil }),
		commands.New(commands.Spec{Name: commands.AnswerName}, func(_ context.Context, _ *commands.Env, a commands.AnswerArgs) (none, error) {
			q.answers <- a
			switch a.ID {
			case "gone":
				return none{}, fault.New(fault.NotFound, "No question has the id %q.", a.ID)
			case "broken":
				return none{}, fault.New(fault.IO, "It is broken.")
			}
			return none{}, nil
		}))
	q.ed = lsptest.Start(t, q.f.options)
	q.ed.Initialize(params)
	q.sync(t)
	return q
}

// sync returns when the server has handled everything before.
func (q *questioned) sync(t *testing.T) {
	t.Helper()
	_, err := q.ed.Exec("test.echo", nil)
	require.Nil(t, err)
}

func (q *questioned) emit(e event.Event) {
	q.seq++
	q.f.live.emit(agent.RunEvent{Cwd: "/w", SessionID: "s", Seq: q.seq, Event: e})
}

func (q *questioned) ask(of event.Question) { q.emit(event.QuestionAsked{Question: of}) }

func answerOf(id string) commands.AnswerArgs {
	return commands.AnswerArgs{Folder: commands.Folder{Cwd: "/w"}, ID: id}
}

// The questions of an engine's extension with few answers are message boxes, whose buttons are the answers.
func TestAMessageBoxAsksForAnExtension(t *testing.T) {
	t.Parallel()
	value := func(id, v string) commands.AnswerArgs { a := answerOf(id); a.Value = &v; return a }
	confirmed := func(id string, v bool) commands.AnswerArgs { a := answerOf(id); a.Confirmed = &v; return a }
	closed := func(id string) commands.AnswerArgs { a := answerOf(id); a.Cancelled = true; return a }
	for name, tc := range map[string]struct {
		question event.Question
		text     string
		answers  []string
		want     commands.AnswerArgs
	}{
		"select":         {event.Question{ID: "q", Method: "select", Title: "Which?", Options: []string{"a", "b"}}, "Which?", []string{"b"}, value("q", "b")},
		"an empty value": {event.Question{ID: "q", Method: "select", Title: "Which?", Options: []string{"a", ""}}, "Which?", []string{""}, closed("q")},
		"many options": {
			event.Question{ID: "q", Method: "select", Title: "Which?", Options: []string{"1", "2", "3", "4", "5", "6", "7\n8"}},
			"Which?",
			[]string{"More…", `7\n8`},
			value("q", "7\n8"),
		},
		"closed":     {event.Question{ID: "q", Method: "select", Title: "Which?", Options: []string{"a"}}, "Which?", []string{""}, closed("q")},
		"yes":        {event.Question{ID: "q", Method: "confirm", Title: "Go?", Message: "Really."}, "Go?\nReally.", []string{"Yes"}, confirmed("q", true)},
		"no":         {event.Question{ID: "q", Method: "confirm", Title: "Go?"}, "Go?", []string{"No"}, confirmed("q", false)},
		"no options": {event.Question{ID: "q", Method: "select", Title: "Which?"}, "", nil, closed("q")},
		"unknown":    {event.Question{ID: "q", Method: "dance", Title: "Shall we?"}, "", nil, closed("q")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			q := questioning(t, nil)
			q.ask(tc.question)
			for _, answer := range tc.answers {
				q.ed.AnswerQuestion(tc.text, answer)
			}
			require.Equal(t, tc.want, receive(t, q.answers))
		})
	}
}

// A question that does not wait any more is cancelled, and its answer is not sent.
func TestAQuestionOfAnExtensionIsWithdrawn(t *testing.T) {
	t.Parallel()
	q := questioning(t, nil)
	q.ask(event.Question{ID: "q1", Method: "confirm", Title: "First?"})
	first := q.ed.WaitRequest("window/showMessageRequest")
	q.ask(event.Question{ID: "q2", Method: "confirm", Title: "Second?"})
	second := q.ed.WaitRequest("window/showMessageRequest")
	q.emit(event.QuestionGone{ID: "q1"})
	require.JSONEq(t, `{"id":`+string(first.ID)+`}`, string(q.ed.WaitNotification("$/cancelRequest")))
	q.emit(event.QuestionGone{ID: "q1"})
	q.emit(event.QuestionGone{ID: "never asked"})
	second.Reply(lsptest.Fields{"title": "Yes"})
	require.Equal(t, "q2", receive(t, q.answers).ID)
	q.sync(t)
	require.Empty(t, q.answers)
}

// The answer to an input is the text of a file, and the proposed text is in it at first.
func TestAFileAsksForAnExtension(t *testing.T) {
	t.Parallel()
	for _, method := range []string{"input", "editor"} {
		t.Run(method, func(t *testing.T) {
			t.Parallel()
			q := questioning(t, lsptest.Fields{"capabilities": showsDocuments})
			q.ask(event.Question{ID: "q", Method: method, Title: "Line one?\n--> two", Placeholder: "a hint", Prefill: "proposed"})
			w := writer{Editor: q.ed, t: t, f: q.f}
			path := w.shown()
			require.Equal(t, "proposed\n<!-- Line one?\\n→ two: a hint Write above this line and save. Save nothing above it to cancel. -->\n", w.read(path))
			w.prepend(path, "mine ")
			q.ed.Save(path)
			got := receive(t, q.answers)
			require.NotNil(t, got.Value)
			require.Equal(t, "mine proposed", *got.Value)
			require.NoFileExists(t, path)

			q.ask(event.Question{ID: "q", Method: method, Title: "Why?"})
			path = w.shown()
			q.emit(event.QuestionGone{ID: "q"})
			require.Eventually(t, func() bool { _, err := os.Stat(path); return os.IsNotExist(err) }, 20*time.Second, time.Millisecond)
			q.sync(t)
			require.Empty(t, q.answers)
		})
	}
}

// A client with its own interface gets only the events. One that cannot ask cancels the question, so that the extension goes on.
func TestWhoIsAskedForAnExtension(t *testing.T) {
	t.Parallel()
	q := questioning(t, wantsHooks)
	q.ask(event.Question{ID: "q", Method: "input", Title: "Name?", Placeholder: "p", Until: 5})
	require.JSONEq(t, `{"cwd":"/w","sessionId":"s","seq":1,"event":{"type":"question_asked","id":"q","method":"input","title":"Name?","placeholder":"p","until":5}}`,
		string(q.ed.WaitNotification("xcsh/event")))
	q.emit(event.QuestionGone{ID: "q"})
	require.JSONEq(t, `{"cwd":"/w","sessionId":"s","seq":2,"event":{"type":"question_gone","id":"q"}}`, string(q.ed.WaitNotification("xcsh/event")))
	require.Zero(t, requests(q.ed))
	require.Empty(t, q.answers)

	plain := questioning(t, nil)
	plain.ask(event.Question{ID: "q", Method: "confirm", Title: "Go?"})
	plain.ed.WaitRequest("window/showMessageRequest").Fail(-32601, "no such method")
	require.True(t, receive(t, plain.answers).Cancelled)
}

// That a question was answered elsewhere is no failure; any other one is shown.
func TestAnAnswerThatFails(t *testing.T) {
	t.Parallel()
	q := questioning(t, nil)
	q.ask(event.Question{ID: "gone", Method: "confirm", Title: "Go?"})
	q.ed.AnswerQuestion("Go?", "Yes")
	receive(t, q.answers)
	q.ask(event.Question{ID: "broken", Method: "confirm", Title: "Go?"})
	q.ed.AnswerQuestion("Go?", "Yes")
	receive(t, q.answers)
	require.JSONEq(t, `{"type":1,"message":"It is broken."}`, string(q.ed.WaitNotification("window/showMessage")))
}

// A warning of an extension is shown to every user; a notice is only an event.
func TestNoticesThatAskForAttention(t *testing.T) {
	t.Parallel()
	q := questioning(t, wantsHooks)
	q.emit(event.Notice{Text: "quiet"})
	q.emit(event.Notice{Text: "look", Level: event.Warning})
	require.JSONEq(t, `{"type":2,"message":"look"}`, string(q.ed.WaitNotification("window/showMessage")))
	q.emit(event.Notice{Text: "bad\x1b[2J", Level: event.Failure})
	require.JSONEq(t, `{"type":1,"message":"bad\\u001b[2J"}`, string(q.ed.WaitNotification("window/showMessage")))
}
