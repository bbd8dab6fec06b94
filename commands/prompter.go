package commands

import (
	"context"

	"github.com/xcsh-ls/xcsh-ls/agent/engine"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

// need is a missing argument and how to ask the user for it.
type need struct {
	question string // "Select a model"
	nothing  string // message of the Cancelled error if the user closes the question: "No model selected"
	input    Input
	field    string
	choices  any // for a client's own picker; nil if the client finds them itself

	names func(ctx context.Context) ([]engine.Command, error) // see [InputRequest]
}

// fault returns the error for a client that asks the user itself or cannot ask.
func (n need) fault() *fault.Error {
	f := fault.New(fault.ArgumentNeeded, "%s", n.question).With("input", n.input).With("field", n.field)
	if n.choices != nil {
		f = f.With("choices", n.choices)
	}
	return f
}

// unanswered returns the error for a result of [UI.Ask], nil if it is a choice.
func (n need) unanswered(answer int) error {
	switch {
	case answer >= 0:
		return nil
	case answer == Unasked:
		return n.fault()
	default:
		return fault.New(fault.Cancelled, "%s", n.nothing)
	}
}

// prompter asks the user: for missing arguments, to choose among several, and to confirm.
type prompter struct {
	ui          UI
	clientPicks bool // the client has its own pickers: it gets an ArgumentNeeded error
}

// text asks for a text.
func (p prompter) text(ctx context.Context, n need, hint, initial string) (string, error) {
	if p.clientPicks {
		return "", n.fault()
	}
	text, ok, err := p.ui.Input(ctx, InputRequest{Title: n.question, Hint: hint, Initial: initial, Names: n.names})
	switch {
	case err != nil:
		return "", err
	case !ok:
		return "", n.fault()
	case text == "":
		return "", fault.New(fault.Cancelled, "%s", n.nothing)
	}
	return text, nil
}

// question asks the user to choose one of a few answers. The server asks it even if the client
// has its own pickers, which are only for missing arguments.
func (p prompter) question(ctx context.Context, text string, answers ...string) (int, error) {
	return p.ui.Ask(ctx, Question{Text: text, Choices: answers})
}

// confirm asks the user to confirm with a button. It returns needed if the user cannot be asked,
// and declined if they do anything else.
func (p prompter) confirm(ctx context.Context, text, button string, needed, declined error) error {
	return p.decide(ctx, text, button, "Cancel", needed, declined)
}

// decide is confirm with another text on the button that declines.
func (p prompter) decide(ctx context.Context, text, yes, no string, needed, declined error) error {
	answer, err := p.question(ctx, text, yes, no)
	switch {
	case err != nil:
		return err
	case answer == Unasked:
		return needed
	case answer != 0:
		return declined
	}
	return nil
}

// choose asks for one of items, which must not be empty.
func choose[T any](ctx context.Context, p prompter, n need, items []T, title func(T) string) (T, error) {
	var none T
	if p.clientPicks {
		return none, n.fault()
	}
	i, err := p.choice(ctx, n.question, titlesOf(items, title))
	if err == nil {
		err = n.unanswered(i)
	}
	if err != nil {
		return none, err
	}
	return items[i], nil
}

// choicesPerPage is how many choices one question offers. Editors show them as a row of
// buttons, which has little room.
const choicesPerPage = 6

const more = "More…"

// choice is [UI.Ask] for any number of choices, in pages.
func (p prompter) choice(ctx context.Context, question string, titles []string) (int, error) {
	for from := 0; from < len(titles); from += choicesPerPage {
		page := titles[from:min(from+choicesPerPage, len(titles))]
		shown := append([]string{}, page...)
		if from+choicesPerPage < len(titles) {
			shown = append(shown, more)
		}
		answer, err := p.ui.Ask(ctx, Question{Text: question, Choices: shown})
		if err != nil || answer < 0 {
			return answer, err
		}
		if answer < len(page) {
			return from + answer, nil
		}
	}
	return Closed, nil
}

func titlesOf[T any](items []T, title func(T) string) []string {
	titles := make([]string, len(items))
	for i, item := range items {
		titles[i] = title(item)
	}
	return titles
}
