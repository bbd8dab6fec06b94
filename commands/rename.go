package commands

import (
	"context"
	"errors"

	"github.com/xcsh-ls/xcsh-ls/agent"
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
	if a.Title == "" && env.Pick {
		return RenameResult{}, titleNeeded.fault()
	}
	path := ""
	if a.Source != "" {
		if path, err = env.find(ctx, live.Cwd(), a.Source); err != nil {
			return RenameResult{}, err
		}
	}
	if a.Title == "" {
		if a.Title, err = env.askTitle(ctx, live, path); err != nil {
			return RenameResult{}, err
		}
	}
	if path != "" {
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

var titleNeeded = need{question: "Which title?", nothing: "No title given", input: InputText, field: "title"}

// askTitle asks for a new title, beginning with the one that the session has: that at
// path, or the live one when path is empty.
func (env *Env) askTitle(ctx context.Context, live *agent.Session, path string) (string, error) {
	var title string
	if path == "" {
		state, err := live.State()
		if err != nil {
			return "", err
		}
		title = state.Title
	} else if info, err := env.Finder.Describe(path); err == nil { // else it begins empty
		title = info.Title
	}
	text, err := env.askText(ctx, titleNeeded, "", title)
	if err == nil && session.CleanTitle(text) == "" {
		err = fault.New(fault.Cancelled, "%s", titleNeeded.nothing)
	}
	return text, err
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
