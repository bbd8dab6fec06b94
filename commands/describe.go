package commands

import (
	"context"

	"github.com/xcsh-ls/xcsh-ls/session"
)

var describeSession = New(Spec{
	Name: "xcsh.describe", Title: "Describe Session…", Flags: Palette | NeedIdle, Input: InputText, Arg: "text",
	Doc: "Say what a session is about, for people; no model is shown it.",
}, runDescribe)

// DescribeArgs are the arguments of xcsh.describe.
type DescribeArgs struct {
	Subject
	Text *string `json:"text,omitempty" jsonschema:"What the session is about; an empty text takes the description away. Absent: ask."`
}

// DescribeResult is the description as it was stored.
type DescribeResult struct {
	Description string `json:"description"`
}

var descriptionNeeded = need{question: "What is the session about?", nothing: "No description given", input: InputText, field: "text"}

func runDescribe(ctx context.Context, env *Env, a DescribeArgs) (DescribeResult, error) {
	c, err := env.toChange(ctx, a.Subject)
	if err != nil {
		return DescribeResult{}, err
	}
	if a.Text == nil {
		text, err := env.askDescription(ctx, c)
		if err != nil {
			return DescribeResult{}, err
		}
		a.Text = &text
	}
	stored, err := env.describe(ctx, c, *a.Text)
	return DescribeResult{Description: stored}, err
}

// askDescription asks for a description, beginning with the one that the session has.
func (env *Env) askDescription(ctx context.Context, c changed) (string, error) {
	if env.Pick {
		return "", descriptionNeeded.fault()
	}
	now, err := env.description(c)
	if err != nil {
		return "", err
	}
	return env.askText(ctx, descriptionNeeded, "", now)
}

// description returns what the session is about, as a person said.
func (env *Env) description(c changed) (text string, err error) {
	read := func(d *session.Document, _ session.Leaf) error {
		text, err = d.Description()
		return err
	}
	if c.live != nil {
		return text, c.live.View(read)
	}
	doc, err := env.Store.Load(c.path)
	if doc == nil {
		return "", err
	}
	defer doc.Close()
	if err == nil {
		err = read(doc, session.AtLast())
	}
	return text, err
}
