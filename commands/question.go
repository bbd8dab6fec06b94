package commands

import (
	"context"
	"slices"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/agent/engine"
	"github.com/xcsh-ls/xcsh-ls/agent/event"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
)

// AnswerName is the command that answers a question of [AskQuestion].
const AnswerName = "xcsh.answer"

var answerQuestion = New(Spec{
	Name: AnswerName, Title: "Answer Question", Flags: NeedsTrust, Input: InputText, Arg: "id",
	Doc: "Answer a question of the model, of a server that a tool uses, or of an extension of the engine. xcsh.snapshot and the event question_asked list them. With an id and no answer, the question is cancelled.",
}, runAnswer)

// AnswerArgs are the arguments of xcsh.answer. One of Value, Confirmed and Cancelled is the answer. Values goes with Value.
type AnswerArgs struct {
	Folder
	ID        string   `json:"id" jsonschema:"The id of the question."`
	Value     *string  `json:"value,omitempty" jsonschema:"The answer to select, input and editor; for select, one of the options, or the user's own text if the question has other."`
	Values    []string `json:"values,omitempty" jsonschema:"The chosen options of a question that has multi; value can add one, or a text."`
	Confirmed *bool    `json:"confirmed,omitempty" jsonschema:"The answer to confirm."`
	Cancelled bool     `json:"cancelled,omitempty" jsonschema:"True if the user closed the question."`
}

// AnswerResult is empty.
type AnswerResult struct{}

// chosen reports whether the answer is an option or a text.
func (a AnswerArgs) chosen() bool { return a.Value != nil || a.Values != nil }

func (a AnswerArgs) check() error {
	given := 0
	for _, set := range []bool{a.chosen(), a.Confirmed != nil, a.Cancelled} {
		if set {
			given++
		}
	}
	if given > 1 {
		return fault.New(fault.InvalidArgument, "xcsh.answer takes one of value, confirmed and cancelled.").With("field", "value")
	}
	return nil
}

func runAnswer(ctx context.Context, env *Env, a AnswerArgs) (AnswerResult, error) {
	live, err := env.live(ctx, a.Folder)
	if err != nil {
		return AnswerResult{}, err
	}
	if a.ID != "" {
		return AnswerResult{}, live.Answer(a.ID, a.answer())
	}
	q, err := env.ask().waiting(ctx, live)
	if err != nil {
		return AnswerResult{}, err
	}
	answer := a.answer()
	if !a.chosen() && a.Confirmed == nil && !a.Cancelled {
		if answer, err = AskQuestion(ctx, env.UI, q); err != nil {
			return AnswerResult{}, err
		}
	}
	return AnswerResult{}, live.Answer(q.ID, answer)
}

// waiting asks for one of the questions that wait for an answer.
func (p prompter) waiting(ctx context.Context, live *agent.Session) (event.Question, error) {
	questions := live.Questions()
	if len(questions) == 0 {
		return event.Question{}, fault.New(fault.NotFound, "No question waits in %s.", live.Cwd())
	}
	ids := make([]string, len(questions))
	for i, q := range questions {
		ids[i] = q.ID
	}
	return choose(ctx, p, need{
		question: "Select a question", nothing: "No question selected", input: InputText, field: "id", choices: ids,
	}, questions, func(q event.Question) string { return optionTitle(q.Title) + " · " + q.ID })
}

// answer returns the answer. One that is none is cancelled.
func (a AnswerArgs) answer() engine.Answer {
	switch {
	case a.chosen():
		answer := engine.Answer{Values: a.Values}
		if a.Value != nil {
			answer.Value = *a.Value
		}
		return answer
	case a.Confirmed != nil:
		return engine.Answer{Confirmed: *a.Confirmed}
	default:
		return engine.Answer{Cancelled: true}
	}
}

// QuestionConfirm is the method of questions whose answer is yes or no; the answers to all others are texts.
const QuestionConfirm = "confirm"

// AskQuestion asks a question with the means of ui, for a client that does not show it itself. The answer is cancelled if the user
// closed the question or cannot be asked.
func AskQuestion(ctx context.Context, ui UI, q event.Question) (engine.Answer, error) {
	cancelled := engine.Answer{Cancelled: true}
	p := prompter{ui: ui}
	switch q.Method {
	case "select":
		if len(q.Options) == 0 {
			return cancelled, nil
		}
		if q.Multi {
			return p.several(ctx, q)
		}
		i, err := p.choice(ctx, questionText(q), titlesOf(q.Options, optionTitle))
		if err != nil || i < 0 {
			return cancelled, err
		}
		return engine.Answer{Value: q.Options[i]}, nil
	case QuestionConfirm:
		text := q.Title
		if q.Message != "" {
			text += "\n" + q.Message
		}
		i, err := p.question(ctx, text, "Yes", "No")
		if err != nil || i < 0 {
			return cancelled, err
		}
		return engine.Answer{Confirmed: i == 0}, nil
	case "input", "editor":
		text, ok, err := ui.Input(ctx, InputRequest{Title: fault.OneLine(questionText(q)), Hint: fault.OneLine(q.Placeholder), Initial: q.Prefill})
		if err != nil || !ok || text == "" && !q.Optional {
			return cancelled, err
		}
		return engine.Answer{Value: text}, nil
	}
	return cancelled, nil
}

// chosenAll is the choice that ends the choosing of several options.
const chosenAll = "Done"

// several asks for any number of options, one after the other.
func (p prompter) several(ctx context.Context, q event.Question) (engine.Answer, error) {
	cancelled := engine.Answer{Cancelled: true}
	left, chosen := slices.Clone(q.Options), []string{}
	for len(left) > 0 {
		text := questionText(q)
		if len(chosen) > 0 {
			text += "\nSelected: " + strings.Join(chosen, ", ")
		}
		i, err := p.choice(ctx, text, append([]string{chosenAll}, titlesOf(left, optionTitle)...))
		switch {
		case err != nil || i < 0:
			return cancelled, err
		case i == 0:
			return engine.Answer{Values: chosen}, nil
		}
		chosen = append(chosen, left[i-1])
		left = slices.Delete(left, i-1, i)
	}
	return engine.Answer{Values: chosen}, nil
}

// questionText returns a question for a message box: with everything that its buttons do not say.
func questionText(q event.Question) string {
	if q.From == "" { // extensions put everything into the title
		return q.Title
	}
	text := q.Title
	if q.Message != "" {
		text = q.Message + "\n" + text
	}
	for i, description := range q.Descriptions {
		if description != "" && i < len(q.Options) {
			text += "\n" + optionTitle(q.Options[i]) + ": " + description
		}
	}
	if i := q.Recommended; i != nil && *i >= 0 && *i < len(q.Options) {
		text += "\nRecommended: " + optionTitle(q.Options[*i])
	}
	return text
}

// optionTitle returns the button for an option: one short line.
func optionTitle(option string) string { return rawjson.UTF16Prefix(fault.OneLine(option), maxOption) }

// maxOption is the longest button for an option, in UTF-16 units.
const maxOption = 200
