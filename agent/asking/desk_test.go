package asking_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/asking"
	"github.com/xcsh-ls/xcsh-ls/agent/event"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

// asker asks a form and lets the test follow its events.
type asker struct {
	desk   asking.Desk
	events chan event.Event
	result chan asking.Answers
	err    error // set before result
}

func ask(t *testing.T, f asking.Form, show asking.Shower) (*asker, context.CancelFunc) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	a := &asker{events: make(chan event.Event, 64), result: make(chan asking.Answers, 1)}
	go func() {
		got, err := a.desk.Ask(ctx, f, show, func(e event.Event) { a.events <- e })
		a.err = err
		a.result <- got
	}()
	return a, cancel
}

// question waits for the next question.
func (a *asker) question(t *testing.T) event.Question {
	t.Helper()
	for e := range a.events {
		if asked, ok := e.(event.QuestionAsked); ok {
			return asked.Question
		}
	}
	return event.Question{}
}

func database() asking.Field {
	return asking.Field{ID: "db", Title: "Which database?", Options: []asking.Option{{Label: "SQLite", Description: "a file"}, {Label: "PostgreSQL"}}, Recommended: new(0), Other: true}
}

func TestTheFieldsOfAFormAreAskedOneAfterTheOther(t *testing.T) {
	t.Parallel()
	a, _ := ask(t, asking.Form{From: asking.Server, Message: "docs asks", Fields: []asking.Field{
		database(),
		{ID: "features", Title: "Which features?", Options: []asking.Option{{Label: "a"}, {Label: "b"}, {Label: "c"}}, Multi: true, Other: true},
		{ID: "port", Title: "Which port?", Kind: asking.Integer, Initial: "80"},
		{ID: "ok", Title: "Sure?", Kind: asking.Boolean},
		{ID: "name", Title: "Your name?", Kind: asking.Text, Optional: true},
	}}, nil)
	q := a.question(t)
	require.Equal(t, event.Question{
		ID: "ask1", Method: "select", From: "server", Title: "Which database?", Message: "docs asks", Options: []string{"SQLite", "PostgreSQL"},
		Descriptions: []string{"a file", ""}, Recommended: new(0), Other: true, Number: 1, Of: 5,
	}, q)
	require.Equal(t, []event.Question{q}, a.desk.Questions(), "one at a time")
	answer := func(id string, answer asking.Reply) {
		known, err := a.desk.Answer(id, answer)
		require.NoError(t, err)
		require.True(t, known)
	}
	answer(q.ID, asking.Reply{Value: "a own one"})
	q = a.question(t)
	require.True(t, q.Multi)
	answer(q.ID, asking.Reply{Values: []string{"c", "a"}, Value: "more"})
	q = a.question(t)
	require.Equal(t, "80", q.Prefill)
	_, err := a.desk.Answer(q.ID, asking.Reply{Value: "eighty"})
	require.EqualError(t, err, "The answer must be a whole number.")
	answer(q.ID, asking.Reply{Value: " 8080 "})
	q = a.question(t)
	require.Equal(t, "confirm", q.Method)
	answer(q.ID, asking.Reply{Confirmed: true})
	answer(a.question(t).ID, asking.Reply{})
	require.Equal(t, asking.Answers{List: []asking.Answer{
		{ID: "db", Selected: []string{}, Custom: "a own one"},
		{ID: "features", Selected: []string{"c", "a"}, Custom: "more"},
		{ID: "port", Selected: []string{}, Custom: "8080"},
		{ID: "ok", Selected: []string{"true"}},
		{ID: "name", Selected: []string{}},
	}}, <-a.result)
	require.Empty(t, a.desk.Questions())
	known, err := a.desk.Answer(q.ID, asking.Reply{})
	require.NoError(t, err)
	require.False(t, known, "it does not wait any more")
}

func TestTheFirstAnswerCounts(t *testing.T) {
	t.Parallel()
	form := asking.Form{From: asking.Model, Fields: []asking.Field{database()}}
	chosen := asking.Answers{List: []asking.Answer{{ID: "db", Selected: []string{"SQLite"}}}}

	t.Run("of a client that shows the form", func(t *testing.T) {
		t.Parallel()
		a, _ := ask(t, form, func(context.Context, asking.Form) (asking.Answers, error) { return chosen, nil })
		require.Equal(t, chosen, <-a.result)
		require.NoError(t, a.err)
		require.Empty(t, a.desk.Questions())
	})
	t.Run("of the question of the event", func(t *testing.T) {
		t.Parallel()
		removed := make(chan struct{})
		a, _ := ask(t, form, func(ctx context.Context, _ asking.Form) (asking.Answers, error) {
			<-ctx.Done()
			close(removed)
			return asking.Answers{}, ctx.Err()
		})
		_, err := a.desk.Answer(a.question(t).ID, asking.Reply{Value: "SQLite"})
		require.NoError(t, err)
		require.Equal(t, chosen, <-a.result)
		<-removed
	})
	t.Run("not of a client that does not show forms", func(t *testing.T) {
		t.Parallel()
		a, _ := ask(t, form, func(context.Context, asking.Form) (asking.Answers, error) {
			return asking.Answers{}, asking.ErrElsewhere
		})
		_, err := a.desk.Answer(a.question(t).ID, asking.Reply{Value: "SQLite"})
		require.NoError(t, err)
		require.Equal(t, chosen, <-a.result)
	})
	for name, answer := range map[string]asking.Answers{
		"none of the options":      {List: []asking.Answer{{ID: "db", Selected: []string{"Oracle"}}}},
		"two options":              {List: []asking.Answer{{ID: "db", Selected: []string{"SQLite", "PostgreSQL"}}}},
		"another question":         {List: []asking.Answer{{ID: "x", Selected: []string{"SQLite"}}}},
		"closed":                   {Cancelled: true},
		"an option and own answer": {List: []asking.Answer{{ID: "db", Selected: []string{"SQLite"}, Custom: "x"}}},
	} {
		t.Run(name+" is no answer", func(t *testing.T) {
			t.Parallel()
			a, _ := ask(t, form, func(context.Context, asking.Form) (asking.Answers, error) { return answer, nil })
			require.Equal(t, asking.Answers{Cancelled: true}, <-a.result)
		})
	}
	t.Run("a refusal", func(t *testing.T) {
		t.Parallel()
		a, _ := ask(t, form, func(context.Context, asking.Form) (asking.Answers, error) { return asking.Answers{Declined: true}, nil })
		require.Equal(t, asking.Answers{Declined: true}, <-a.result)
	})
}

func TestAnAbortedTurnRemovesItsQuestion(t *testing.T) {
	t.Parallel()
	a, abort := ask(t, asking.Form{Fields: []asking.Field{database()}}, nil)
	q := a.question(t)
	abort()
	require.Equal(t, asking.Answers{Cancelled: true}, <-a.result)
	require.Equal(t, event.QuestionGone{ID: q.ID}, <-a.events)
	require.Empty(t, a.desk.Questions())
}

func TestAFormThatCannotBeShownIsRefused(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 65<<10)
	for name, tc := range map[string]struct {
		fields []asking.Field
		want   string
	}{
		"no question":      {nil, "There is no question to ask."},
		"too many":         {make([]asking.Field, 21), "21 questions are too many to ask at once; ask at most 20."},
		"no text":          {[]asking.Field{{ID: "x", Title: " "}}, `The question "x" has no text.`},
		"no options":       {[]asking.Field{{ID: "x", Title: "?"}}, `The question "x" has no options.`},
		"too many options": {[]asking.Field{{ID: "x", Title: "?", Options: make([]asking.Option, 501)}}, `The question "x" has more than 500 options.`},
		"a long option":    {[]asking.Field{{ID: "x", Title: "?", Options: []asking.Option{{Label: long}}}}, `An option of the question "x" is longer than 64 KB.`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var desk asking.Desk
			_, err := desk.Ask(t.Context(), asking.Form{Fields: tc.fields}, nil, func(event.Event) { t.Error("it was shown") })
			require.EqualError(t, err, tc.want)
			require.True(t, fault.Is(err, fault.InvalidArgument))
		})
	}
}

// The texts of a question are those of a model or a server.
func TestAQuestionIsSafeToShow(t *testing.T) {
	t.Parallel()
	a, _ := ask(t, asking.Form{Message: "a\x1b[2J\nb", Fields: []asking.Field{{
		ID: "x", Title: "a\nb\u202e", Options: []asking.Option{{Label: "l", Description: "d\x07", Preview: "p"}}, Recommended: new(7),
	}}}, nil)
	q := a.question(t)
	require.NotContains(t, q.Title+q.Message+q.Descriptions[0], "\x1b")
	require.NotContains(t, q.Title, "\n")
	require.NotContains(t, q.Title, "\u202e")
	require.NotContains(t, q.Descriptions[0], "\x07")
	require.Contains(t, q.Descriptions[0], "\np")
	require.Nil(t, q.Recommended, "there is no such option")
}
