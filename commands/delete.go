package commands

import (
	"context"
	"path/filepath"

	"github.com/xcsh-ls/xcsh-ls/session/fault"
)

var deleteSession = New(Spec{
	Name: "xcsh.delete", Title: "Delete Session…", Flags: Palette | NeedIdle, Input: InputSession, Arg: "source",
	Doc: "Move a session and its artifacts to the trash. The folder's live session is left for a new one first.",
}, runDelete)

var undelete = New(Spec{
	Name: "xcsh.undelete", Title: "Take Session Back", Arg: "trashed",
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
	cwd, err := env.cwd(a.Folder)
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
	info, err := env.pickSession(ctx, cwd, "folder")
	if f, ok := asFault(err); ok && f.Kind == fault.ArgumentNeeded {
		return "", f.With("field", "source")
	}
	return info.Path, err
}

// confirmDelete asks the person. Without one, consent has to come with the call.
func (env *Env) confirmDelete(ctx context.Context, path string) error {
	if _, nobody := env.UI.(Headless); nobody {
		return confirmNeeded()
	}
	name := filepath.Base(path)
	if info, err := env.Finder.Describe(path); err == nil {
		name = info.Name
	}
	answer, err := env.UI.Ask(ctx, Question{
		Text:    "Delete session " + name + "? It goes to the trash.",
		Choices: []string{"Delete", "Cancel"},
	})
	if err == nil && answer != 0 {
		err = fault.New(fault.Cancelled, "Session %s was not deleted.", name)
	}
	return err
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

func runUndelete(_ context.Context, env *Env, a UndeleteArgs) (UndeleteResult, error) {
	trashed, err := localPath(a.Trashed)
	if err != nil || trashed == "" {
		return UndeleteResult{}, fault.New(fault.InvalidArgument, "trashed must be what xcsh.delete answered, not %q.", a.Trashed).With("field", "trashed")
	}
	path, err := env.Sessions.Untrash(trashed)
	return UndeleteResult{Path: path}, err
}
