package tool

import (
	"context"
	_ "embed" // the tools' descriptions
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/xcsh-ls/xcsh-ls/agent/asking"
	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
)

//go:embed ask.md
var askDoc string

// Ask is the name of the tool by which a model asks the user.
const Ask = "ask"

// AskUser asks the user.
type AskUser func(ctx context.Context, f asking.Form) (asking.Answers, error)

type askArgs struct {
	Questions []askQuestion `json:"questions"`
}

type askQuestion struct {
	ID          string      `json:"id" jsonschema:"A short name of the question, such as auth."`
	Question    string      `json:"question"`
	Header      string      `json:"header,omitzero" jsonschema:"One or two words."`
	Options     []askOption `json:"options"`
	Multi       bool        `json:"multi,omitzero"`
	Recommended *int        `json:"recommended,omitzero" jsonschema:"The index of an option, counted from 0."`
}

type askOption struct {
	Label       string `json:"label"`
	Description string `json:"description,omitzero"`
	Preview     string `json:"preview,omitzero" jsonschema:"What the option leads to, such as a piece of code."`
}

// unanswered is the result of a question that the user closed, or that was aborted.
const unanswered = "The user did not answer."

// NewAsk returns the tool [Ask]. xcsh is for a session of xcsh, whose results have another form.
func NewAsk(ask AskUser, xcsh bool) Tool {
	t := define(definition[askArgs]{
		name: Ask, doc: askDoc, alone: true,
		accept: acceptAsk,
		check: func(a askArgs) error {
			if len(a.Questions) == 0 {
				return badArgument("questions", "ask needs at least one question.")
			}
			for i, q := range a.Questions {
				same := func(other askQuestion) bool { return other.ID == q.ID }
				if slices.ContainsFunc(a.Questions[:i], same) {
					return badArgument("questions", "ask: two questions have the id %q.", q.ID)
				}
			}
			return nil
		},
		run: func(ctx context.Context, env Env, a askArgs) (Result, error) {
			got, err := ask(ctx, a.form(env.CallID))
			if err != nil {
				return Result{}, err
			}
			if got.Cancelled || got.Declined || len(got.List) != len(a.Questions) {
				r := TextResult(unanswered)
				r.IsError = true
				return r, nil
			}
			return a.result(got.List, xcsh), nil
		},
	})
	t.Limit = func(json.RawMessage) time.Duration { return 0 } // the user may take hours
	return t
}

// acceptAsk understands questions that are a string, and options that are texts.
func acceptAsk(args arguments) error {
	if text, ok := args.text("questions"); ok {
		args["questions"] = jsontext.Value(text)
		if !args["questions"].IsValid() {
			return badArgument("questions", "ask: questions must be a list of {id, question, options}; the string is not valid JSON.")
		}
	}
	var list []arguments
	if jsonv2.Unmarshal(args["questions"], &list, jsontext.AllowInvalidUTF8(true)) != nil {
		return nil // reported when it is decoded
	}
	for i, q := range list {
		if _, ok := q["id"]; !ok && q != nil {
			q["id"] = rawjson.Quote("q" + strconv.Itoa(i+1))
		}
		var options []jsontext.Value
		if jsonv2.Unmarshal(q["options"], &options, jsontext.AllowInvalidUTF8(true)) != nil {
			continue
		}
		for j, option := range options {
			if option.Kind() == '"' {
				options[j] = new(rawjson.Object).Raw("label", option).Bytes()
			}
		}
		raw, err := jsonv2.Marshal(options, jsontext.AllowInvalidUTF8(true))
		if err != nil {
			return err
		}
		q["options"] = raw
	}
	raw, err := jsonv2.Marshal(list, jsontext.AllowInvalidUTF8(true))
	args["questions"] = raw
	return err
}

func (a askArgs) form(id string) asking.Form {
	f := asking.Form{ID: id, From: asking.Model}
	for _, q := range a.Questions {
		field := asking.Field{ID: q.ID, Header: q.Header, Title: q.Question, Multi: q.Multi, Recommended: q.Recommended, Other: true}
		for _, o := range q.Options {
			field.Options = append(field.Options, asking.Option{
				Label: o.Label, Description: strings.TrimSpace(o.Description), Preview: strings.TrimRight(o.Preview, " \n"),
			})
		}
		f.Fields = append(f.Fields, field)
	}
	return f
}

// result returns the answers in the form of the programs.
func (a askArgs) result(answers []asking.Answer, xcsh bool) Result {
	if len(a.Questions) == 1 {
		r := TextResult(a.Questions[0].said(answers[0]))
		r.Details = a.Questions[0].details(new(rawjson.Object), answers[0])
		return r
	}
	lines, results := []string{"User answers:"}, make([][]byte, len(answers))
	for i, q := range a.Questions {
		lines = append(lines, q.ID+": "+q.brief(answers[i], xcsh))
		results[i] = q.details(new(rawjson.Object).String("id", q.ID), answers[i])
	}
	r := TextResult(strings.Join(lines, "\n"))
	r.Details = new(rawjson.Object).Raw("results", rawjson.Array(results)).Bytes()
	return r
}

// details adds the question and its answer to the details of a result.
func (q askQuestion) details(o *rawjson.Object, answer asking.Answer) json.RawMessage {
	labels, selected := make([][]byte, len(q.Options)), make([][]byte, len(answer.Selected))
	for i, option := range q.Options {
		labels[i] = rawjson.Quote(option.Label)
	}
	for i, label := range answer.Selected {
		selected[i] = rawjson.Quote(label)
	}
	o.String("question", q.Question).Raw("options", rawjson.Array(labels)).Raw("multi", strconv.AppendBool(nil, q.Multi)).
		Raw("selectedOptions", rawjson.Array(selected))
	if answer.Custom != "" {
		o.String("customInput", answer.Custom)
	}
	return o.Bytes()
}

// said returns the answer to a single question.
func (q askQuestion) said(answer asking.Answer) string {
	var parts []string
	if len(answer.Selected) > 0 {
		parts = append(parts, "User selected: "+strings.Join(answer.Selected, ", "))
	}
	switch custom := answer.Custom; {
	case strings.Contains(custom, "\n"):
		parts = append(parts, "User provided custom input:\n  "+strings.ReplaceAll(custom, "\n", "\n  "))
	case custom != "":
		parts = append(parts, "User provided custom input: "+custom)
	}
	if len(parts) == 0 {
		return "User did not select any options"
	}
	return strings.Join(parts, "\n")
}

// brief returns the answer to one of several questions. For one with options and a text, oh-my-pi returns the text only.
func (q askQuestion) brief(answer asking.Answer, xcsh bool) string {
	selected := strings.Join(answer.Selected, ", ")
	if q.Multi {
		selected = "[" + selected + "]"
	}
	custom := fmt.Sprintf("\"%s\"", answer.Custom)
	switch {
	case answer.Custom == "":
		return selected
	case len(answer.Selected) == 0 || !xcsh:
		return custom
	}
	return selected + ", " + custom
}
