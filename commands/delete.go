package commands

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/fault"
)

var deleteSession = New(Spec{
	Name: "xcsh.delete", Title: "Delete Session…", Flags: Palette | NeedIdle, Input: InputSession, Arg: "source",
	Doc: "Move a session and its artifacts to the trash. The folder's live session is left for a new one first.",
}, runDelete)

var undelete = New(Spec{
	Name: "xcsh.undelete", Title: "Take Session Back", Input: InputText, Arg: "trashed",
	Doc: "Take back what xcsh.delete moved to the trash.",
}, runUndelete)

// DeleteArgs are the arguments of xcsh.delete.
type DeleteArgs struct {
	Folder
	Source  string `json:"source,omitempty" jsonschema:"The session: an id, an id prefix, a file name, a title, a path or a file: URI. Absent: ask."`
	Confirm *bool  `json:"confirm,omitempty" jsonschema:"Must be true: deleting is never a slip. Absent: the person is asked."`
}

// DeleteResult says where the session is now.
type DeleteResult struct {
	Trashed string `json:"trashed" jsonschema:"What xcsh.undelete takes."`
}

func runDelete(ctx context.Context, env *Env, a DeleteArgs) (DeleteResult, error) {
	cwd, err := env.cwd(ctx, a.Folder)
	if err != nil {
		return DeleteResult{}, err
	}
	if a.Confirm != nil && !*a.Confirm {
		return DeleteResult{}, confirmNeeded()
	}
	path, err := env.findOrPick(ctx, cwd, a.Source)
	if err != nil {
		return DeleteResult{}, err
	}
	if at, live := env.Sessions.LiveIn(path); live && at != cwd {
		return DeleteResult{}, fault.New(fault.Busy, "%s is open in %s.", path, at).With("path", path)
	}
	if a.Confirm == nil {
		if err := env.confirmDelete(ctx, path); err != nil {
			return DeleteResult{}, err
		}
	}
	trashed, err := env.Sessions.Trash(ctx, cwd, path)
	return DeleteResult{Trashed: trashed}, err
}

// findOrPick returns the file of the session that source names, or that the person
// picks when it names none. What is deleted is never guessed.
func (env *Env) findOrPick(ctx context.Context, cwd, source string) (string, error) {
	if source != "" {
		return env.find(ctx, cwd, source)
	}
	info, err := env.pickSessionFor(ctx, cwd, "folder", "Delete which session?", "source")
	return info.Path, err
}

// confirmDelete asks the person. Without one, consent has to come with the call.
func (env *Env) confirmDelete(ctx context.Context, path string) error {
	name := filepath.Base(path)
	if info, err := env.Finder.Describe(path); err == nil {
		name = info.Name
	}
	answer, err := env.UI.Ask(ctx, Question{
		Text:    `Delete "` + name + `"? It goes to the trash.`,
		Choices: []string{"Delete", "Cancel"},
	})
	switch {
	case err != nil:
		return err
	case answer == Unasked:
		return confirmNeeded()
	case answer != 0:
		return fault.New(fault.Cancelled, "Session %s was not deleted.", name)
	}
	return nil
}

func confirmNeeded() error {
	return fault.New(fault.InvalidArgument, "Deleting a session needs \"confirm\": true.").With("field", "confirm")
}

// UndeleteArgs are the arguments of xcsh.undelete.
type UndeleteArgs struct {
	Folder
	Trashed string `json:"trashed" jsonschema:"What xcsh.delete answered."`
}

// UndeleteResult says where the session is again.
type UndeleteResult struct {
	Path string `json:"path"`
}

func runUndelete(ctx context.Context, env *Env, a UndeleteArgs) (UndeleteResult, error) {
	if a.Trashed == "" {
		picked, err := env.pickTrashed(ctx)
		if err != nil {
			return UndeleteResult{}, err
		}
		a.Trashed = picked.Dir
	}
	trashed, err := localPath(a.Trashed)
	if err != nil {
		return UndeleteResult{}, fault.New(fault.InvalidArgument, "trashed must be what xcsh.delete answered, not %q.", a.Trashed).With("field", "trashed")
	}
	path, err := env.Sessions.Untrash(trashed)
	return UndeleteResult{Path: path}, err
}

// pickTrashed asks for one of the sessions in the trash, the newest there first.
func (env *Env) pickTrashed(ctx context.Context) (session.Trashed, error) {
	items, err := env.Store.ListTrash(env.Finder.Roots)
	if err != nil {
		return session.Trashed{}, err
	}
	if len(items) == 0 {
		return session.Trashed{}, fault.New(fault.NotFound, "The trash is empty")
	}
	dirs := make([]string, len(items))
	for i, item := range items {
		dirs[i] = item.Dir
	}
	return choose(ctx, env, need{
		question: "Take back which session?", nothing: "No session selected", input: InputText, field: "trashed", choices: dirs,
	}, items, env.trashedTitle)
}

// trashedTitle words a session in the trash as a choice.
func (env *Env) trashedTitle(t session.Trashed) string {
	name := filepath.Base(t.Path)
	if info, err := env.Finder.Describe(t.File); err == nil {
		name = info.Name
	}
	when := t.TrashedAt
	if at, err := time.Parse(time.RFC3339, when); err == nil {
		when = at.UTC().Format("2006-01-02 15:04")
	}
	return fmt.Sprintf("%s · %s · %s", name, when, idEnd(filepath.Base(t.Dir)))
}
