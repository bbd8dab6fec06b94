package commands

import (
	"context"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/library"
)

var rename = New(Spec{
	Name: "xcsh.rename", Title: "Rename Session…", Flags: Palette | NeedsTrust, Input: InputText, Arg: "title",
	Doc: "Set the title of a session, in the form that the program that wrote it reads.",
}, runRename)

// RenameArgs are the arguments of xcsh.rename.
type RenameArgs struct {
	Subject
	Title string `json:"title" jsonschema:"The new title."`
}

// RenameResult is the stored title.
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
	of, err := env.resolver().locateToChange(ctx, a.Subject)
	if err != nil {
		return RenameResult{}, err
	}
	if a.Title == "" {
		if a.Title, err = askTitle(ctx, env.ask(), env.Finder, of); err != nil {
			return RenameResult{}, err
		}
	}
	if err := newChanger(env).rename(ctx, of, a.Title); err != nil {
		return RenameResult{}, err
	}
	return RenameResult{Title: session.CleanTitle(a.Title)}, nil
}

var titleNeeded = need{question: "New title", nothing: "No title entered", input: InputText, field: "title"}

// askTitle asks for a new title, starting with the current one.
func askTitle(ctx context.Context, ask prompter, finder library.Finder, of located) (string, error) {
	var title string
	if of.live != nil {
		state, err := of.live.State()
		if err != nil {
			return "", err
		}
		title = state.Title
	} else if info, err := finder.Describe(of.path); err == nil { // otherwise it starts empty
		title = info.Title
	}
	text, err := ask.text(ctx, titleNeeded, "", title)
	if err == nil && session.CleanTitle(text) == "" {
		err = fault.New(fault.Cancelled, "%s", titleNeeded.nothing)
	}
	return text, err
}
