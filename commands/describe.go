package commands

import "context"

var describeSession = New(Spec{
	Name: "xcsh.describe", Title: "Edit Description…", Flags: Palette | NeedsTrust, Input: InputText, Arg: "text",
	Doc: "Set the description of a session. Models do not see it.",
}, runDescribe)

// DescribeArgs are the arguments of xcsh.describe.
type DescribeArgs struct {
	Subject
	Text *string `json:"text,omitempty" jsonschema:"The new description; an empty text removes it. Default: ask the user."`
}

// DescribeResult is the stored description.
type DescribeResult struct {
	Description string `json:"description"`
}

var descriptionNeeded = need{question: "Session description", nothing: "No description entered", input: InputText, field: "text"}

func runDescribe(ctx context.Context, env *Env, a DescribeArgs) (DescribeResult, error) {
	r := env.resolver()
	of, err := r.locateToChange(ctx, a.Subject)
	if err != nil {
		return DescribeResult{}, err
	}
	if a.Text == nil {
		text, err := r.askDescription(ctx, of)
		if err != nil {
			return DescribeResult{}, err
		}
		a.Text = &text
	}
	stored, err := newChanger(env).describe(ctx, of, *a.Text)
	return DescribeResult{Description: stored}, err
}

// askDescription asks for a description, starting with the current one.
func (r resolver) askDescription(ctx context.Context, of located) (string, error) {
	if r.ask.clientPicks {
		return "", descriptionNeeded.fault()
	}
	var current string
	err := r.open(of, func(sub subject) (err error) {
		current, err = sub.doc.Description()
		return err
	})
	if err != nil {
		return "", err
	}
	return r.ask.text(ctx, descriptionNeeded, "", current)
}
