package commands

import (
	"context"

	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/fault"
)

var rename = New(Spec{
	Name: "xcsh.rename", Title: "Rename Session…", Flags: Palette | NeedIdle, Input: InputText, Arg: "title",
	Doc: "Give a session a title, where the program that wrote it reads it.",
}, runRename)

// RenameArgs are the arguments of xcsh.rename.
type RenameArgs struct {
	Subject
	Title string `json:"title" jsonschema:"The new title."`
}

// RenameResult is the title as it was stored.
type RenameResult struct {
	Title string `json:"title"`
}

func runRename(ctx context.Context, env *Env, a RenameArgs) (RenameResult, error) {
	if a.Title == "" && env.Pick {
		if _, err := env.live(ctx, a.Folder); err != nil {
			return RenameResult{}, err
		}
		return RenameResult{}, titleNeeded.fault()
	}
	c, err := env.toChange(ctx, a.Subject)
	if err != nil {
		return RenameResult{}, err
	}
	if a.Title == "" {
		if a.Title, err = env.askTitle(ctx, c); err != nil {
			return RenameResult{}, err
		}
	}
	if err := env.rename(ctx, c, a.Title); err != nil {
		return RenameResult{}, err
	}
	return RenameResult{Title: session.CleanTitle(a.Title)}, nil
}

var titleNeeded = need{question: "Which title?", nothing: "No title given", input: InputText, field: "title"}

// askTitle asks for a new title, beginning with the one that the session has.
func (env *Env) askTitle(ctx context.Context, c changed) (string, error) {
	var title string
	if c.live != nil {
		state, err := c.live.State()
		if err != nil {
			return "", err
		}
		title = state.Title
	} else if info, err := env.Finder.Describe(c.path); err == nil { // else it begins empty
		title = info.Title
	}
	text, err := env.askText(ctx, titleNeeded, "", title)
	if err == nil && session.CleanTitle(text) == "" {
		err = fault.New(fault.Cancelled, "%s", titleNeeded.nothing)
	}
	return text, err
}
