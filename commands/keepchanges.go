package commands

import (
	"context"

	"github.com/xcsh-ls/xcsh-ls/agent/change/wire"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

var keepChanges = New(Spec{
	Name: "xcsh.keep", Title: "Keep Changes…", Flags: Palette | NeedsTrust,
	Doc: "Mark changes of the live session as reviewed, by hunk, by file, or all. No file is changed.",
}, runKeep)

// KeepArgs are the arguments of xcsh.keep.
type KeepArgs struct {
	Folder
	wire.KeepArgs
}

func (a KeepArgs) check() error {
	if given(len(a.Hunks) > 0, len(a.Paths) > 0, a.All) > 1 {
		return fault.New(fault.InvalidArgument, "xcsh.keep takes one of hunks, paths and all.").With("field", "all")
	}
	return nil
}

// given returns the number of arguments that are set.
func given(arguments ...bool) (n int) {
	for _, is := range arguments {
		if is {
			n++
		}
	}
	return n
}

func runKeep(ctx context.Context, env *Env, a KeepArgs) (r wire.Kept, err error) {
	live, err := env.live(ctx, a.Folder)
	if err != nil {
		return r, err
	}
	of := located{cwd: live.Cwd(), live: live}
	for i := range a.Paths {
		if a.Paths[i], err = of.changedPath(env.resolver(), a.Paths[i]); err != nil {
			return r, err
		}
	}
	for i := range a.Hunks {
		if a.Hunks[i].Path, err = of.changedPath(env.resolver(), a.Hunks[i].Path); err != nil {
			return r, err
		}
	}
	if len(a.Hunks) == 0 && len(a.Paths) == 0 && !a.All {
		if err := a.pick(ctx, env, of); err != nil {
			return r, err
		}
	}
	return live.Keep(ctx, a.KeepArgs)
}

// pick asks which files to keep.
func (a *KeepArgs) pick(ctx context.Context, env *Env, of located) error {
	pending, err := env.changesOf(ctx, of, wire.ChangesQuery{Since: "session", Pending: true})
	if err != nil {
		return err
	}
	if len(pending.Files) == 0 {
		return fault.New(fault.NotFound, "There are no changes to review.")
	}
	const all = "All files"
	paths := titlesOf(pending.Files, func(f wire.File) string { return f.Path })
	choices := append([]string{""}, paths...)
	picked, err := choose(ctx, env.ask(), need{
		question: "Select the changes to keep", nothing: "No file selected", input: InputText, field: "paths", choices: paths,
	}, choices, func(path string) string {
		if path == "" {
			return all
		}
		return ShownPath(of.folder(), path)
	})
	if err != nil {
		return err
	}
	if picked == "" {
		a.All = true
	} else {
		a.Paths = []string{picked}
	}
	return nil
}
