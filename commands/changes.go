package commands

import (
	"context"
	"path/filepath"

	"github.com/xcsh-ls/xcsh-ls/agent/change/wire"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

var changes = New(Spec{
	Name: "xcsh.changes", Title: "Show Changes", Flags: Palette | ReadOnly, Arg: "source",
	Doc: "List the changes that a turn or a session made to files, and which of them were not reviewed yet.",
}, runChanges)

var changeSide = New(Spec{
	Name: "xcsh.change", Title: "Content Before or After a Change", Flags: ReadOnly, Arg: "path",
	Doc: "Return the content of a file before or after a change, or without the changes that were not reviewed yet.",
}, runChangeSide)

// ChangesArgs are the arguments of xcsh.changes.
type ChangesArgs struct {
	Subject
	wire.ChangesQuery
	Show bool `json:"show,omitempty" jsonschema:"Also show the changes with their hunks as a read-only document in the editor. Default: false."`
}

// ChangeArgs are the arguments of xcsh.change.
type ChangeArgs struct {
	Subject
	wire.SideQuery
}

// ChangesUI is a [UI] whose client supports virtual documents.
type ChangesUI interface {
	// ShowChanges shows the result of [ChangesDocument] for the session at path since the turn, the session or the entry. It
	// reports whether the client did so.
	ShowChanges(ctx context.Context, path, since string) bool
}

func runChanges(ctx context.Context, env *Env, a ChangesArgs) (r wire.Changes, err error) {
	of, err := env.resolver().locate(ctx, a.Subject)
	if err != nil {
		return r, err
	}
	if a.Path, err = of.changedPath(env.resolver(), a.Path); err != nil {
		return r, err
	}
	if r, err = env.changesOf(ctx, of, a.ChangesQuery); err != nil || !a.Show {
		return r, err
	}
	return r, env.showChanges(ctx, of, a.ChangesQuery)
}

// changesOf returns the changes of a session, live or not.
func (env *Env) changesOf(ctx context.Context, of located, q wire.ChangesQuery) (wire.Changes, error) {
	if of.live != nil {
		return of.live.Changes(ctx, q)
	}
	return env.Sessions.ChangesOf(ctx, of.path, q)
}

func runChangeSide(ctx context.Context, env *Env, a ChangeArgs) (side wire.Side, err error) {
	switch a.Side {
	case "":
		a.Side = "base"
	case "base", "before", "after":
	default:
		return side, fault.New(fault.InvalidArgument, "side must be base, before or after, not %q.", a.Side).With("field", "side")
	}
	of, err := env.resolver().locate(ctx, a.Subject)
	if err != nil {
		return side, err
	}
	if a.Path == "" {
		if a.Path, err = env.pickChangedFile(ctx, of, "path", "Select a changed file"); err != nil {
			return side, err
		}
	}
	if a.Path, err = of.changedPath(env.resolver(), a.Path); err != nil {
		return side, err
	}
	if of.live != nil {
		return of.live.ChangeSide(ctx, a.SideQuery)
	}
	return env.Sessions.ChangeSideOf(ctx, of.path, a.SideQuery)
}

// changedPath returns the absolute form of a path argument, "" for "".
func (l located) changedPath(r resolver, path string) (string, error) {
	if path == "" {
		return "", nil
	}
	cwd := l.cwd
	if l.live != nil {
		cwd = l.live.Cwd()
	}
	return r.absolute(cwd, path, "path")
}

// pickChangedFile asks for one of the files that a session changed.
func (env *Env) pickChangedFile(ctx context.Context, of located, field, question string) (string, error) {
	all, err := env.changesOf(ctx, of, wire.ChangesQuery{Since: "session"})
	if err != nil {
		return "", err
	}
	paths := titlesOf(all.Files, func(f wire.File) string { return f.Path })
	if len(paths) == 0 {
		return "", noChanges()
	}
	return choose(ctx, env.ask(), need{
		question: question, nothing: "No file selected", input: InputText, field: field, choices: paths,
	}, paths, func(path string) string { return ShownPath(of.folder(), path) })
}

func noChanges() error {
	return fault.New(fault.NotFound, "The session has no recorded changes of files.")
}

// folder returns the folder of a session.
func (l located) folder() string {
	if l.live != nil {
		return l.live.Cwd()
	}
	return l.cwd
}

// ShownPath returns the path that is shown to users: relative to the folder if it is below it.
func ShownPath(folder, path string) string {
	if rel, err := filepath.Rel(folder, path); err == nil && filepath.IsLocal(rel) {
		path = rel
	}
	return filepath.ToSlash(path)
}
