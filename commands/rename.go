package commands

import (
	"context"
	"errors"

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
	live, err := env.live(ctx, a.Folder)
	if err != nil {
		return RenameResult{}, err
	}
	if a.Title == "" {
		return RenameResult{}, fault.New(fault.ArgumentNeeded, "Which title?").With("input", InputText).With("field", "title")
	}
	if a.Source != "" {
		path, err := env.find(ctx, live.Cwd(), a.Source)
		if err != nil {
			return RenameResult{}, err
		}
		cwd, isLive := env.Sessions.LiveIn(path)
		if !isLive {
			return env.renameFile(live.Cwd(), path, a.Title)
		}
		if other := env.Sessions.Live(cwd); other != nil {
			live = other
		}
	}
	if err := live.Rename(ctx, a.Title); err != nil {
		return RenameResult{}, err
	}
	return RenameResult{Title: session.CleanTitle(a.Title)}, nil
}

// renameFile renames a session that is not live.
func (env *Env) renameFile(cwd, path, title string) (RenameResult, error) {
	log, err := env.Store.Open(path)
	if err != nil {
		return RenameResult{}, err
	}
	if _, err = log.SetTitle(session.Title{Text: title, Source: "user"}); err == nil {
		env.Sessions.ListChanged(cwd)
	}
	return RenameResult{Title: session.CleanTitle(title)}, errors.Join(err, log.Close())
}
