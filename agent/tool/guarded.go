package tool

import (
	"context"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/agent/sandbox"
	"github.com/xcsh-ls/xcsh-ls/agent/tamper"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

// protected are the changes of a command to protected files.
type protected struct {
	undone []tamper.Change
	left   []string // those that could not be restored
	lost   []string // those that the user kept and that could not be made again
}

// guarded calls run, which runs a command at a level. Its changes to the folder's protected files are
// undone unless the user wants to keep them.
func guarded(ctx context.Context, cwd string, level sandbox.Level, p Permission, b *Background, run func() error) (changed protected, err error) {
	if level != sandbox.Standard || p.Keep == nil {
		return protected{}, run()
	}
	if err := checkCwd(cwd); err != nil {
		return protected{}, err
	}
	var kept []string
	if b != nil {
		done, err := b.guard.foreground(ctx)
		if err != nil {
			return protected{}, err
		}
		defer func() { done(kept) }()
	}
	before, err := tamper.NewSnapshot(cwd, sandbox.GitDirs(cwd)...)
	if err != nil { // a command could have closed a directory of git for the next one
		return protected{}, fault.New(fault.IO, "The command was not run because its changes to protected files could not be detected: %w", err)
	}
	defer func() { _ = before.Close() }()
	err = run()
	changes := before.Changes()
	if len(changes) == 0 {
		return protected{}, err
	}
	paths := pathsOf(changes)
	// Undone first: other programs obey these files at once, and the answer may take hours.
	left := before.Undo(changes)
	if p.Keep(ctx, paths) != nil {
		return protected{undone: changes, left: left}, err
	}
	kept = paths
	return protected{lost: before.Redo(changes)}, err
}

// notes returns notes about the outcome of the changes, for the model.
func (p protected) notes() (notes []string) {
	if len(p.undone) > 0 {
		notes = append(notes, p.undoneNote())
	}
	if len(p.lost) > 0 {
		notes = append(notes, "[These changes to protected files were lost: "+strings.Join(p.lost, ", ")+". Make them again.]")
	}
	return notes
}

func (p protected) undoneNote() string {
	var names []string
	for _, c := range p.undone {
		names = append(names, c.Path+" ("+c.How+")")
	}
	note := "[The command changed protected files: " + strings.Join(names, ", ") + ". The user did not approve these changes, so they were undone."
	if len(p.left) > 0 {
		note += " These could not be restored: " + strings.Join(p.left, ", ") + "."
	}
	return note + " Use edit or write for these files; each change requires approval.]"
}
