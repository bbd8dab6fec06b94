package commands

import (
	"context"

	"github.com/xcsh-ls/xcsh-ls/session/fault"
)

// need is an argument that a command was called without, and how a person is asked for it.
type need struct {
	question string // "Which model?"
	nothing  string // what is said when the person did not answer: "No model selected"
	input    Input
	field    string
	choices  any // what a client's own picker offers; nil when that finds out by itself
}

// fault says what is needed to a client that asks the person itself, or that cannot be
// asked to.
func (n need) fault() *fault.Error {
	f := fault.New(fault.ArgumentNeeded, "%s", n.question).With("input", n.input).With("field", n.field)
	if n.choices != nil {
		f = f.With("choices", n.choices)
	}
	return f
}

// unanswered is the error for what [UI.Ask] returned, nil when that is a choice.
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

// askText asks the person for a text.
func (env *Env) askText(ctx context.Context, n need, hint, initial string) (string, error) {
	if env.Pick {
		return "", n.fault()
	}
	text, ok, err := env.UI.Input(ctx, InputRequest{Title: n.question, Hint: hint, Initial: initial})
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
