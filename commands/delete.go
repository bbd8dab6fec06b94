package commands

import (
	"context"
	"path/filepath"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/session/library"
)

var deleteSession = New(Spec{
	Name: "xcsh.delete", Title: "Delete Session…", Flags: Palette | NeedsTrust, Input: InputSession, Arg: "source",
	Doc: "Move a session and its artifacts to the trash. If it is the folder's live session, a new one is started first.",
}, runDelete)

var undelete = New(Spec{
	Name: "xcsh.undelete", Title: "Restore Deleted Session…", Flags: Palette | NeedsTrust, Input: InputText, Arg: "trashed",
	Doc: "Restore a session that xcsh.delete moved to the trash. Nothing is overwritten.",
}, runUndelete)

// DeleteArgs are the arguments of xcsh.delete.
type DeleteArgs struct {
	Folder
	Source  string `json:"source,omitempty" jsonschema:"The session: an ID, an ID prefix, a file name, a title, a path or a file: URI. Default: ask the user."`
	Confirm *bool  `json:"confirm,omitempty" jsonschema:"Must be true to delete the session. Default: ask the user."`
}

// DeleteResult is the deleted session's place in the trash.
type DeleteResult struct {
	Trashed string `json:"trashed" jsonschema:"The argument for xcsh.undelete."`
}

func runDelete(ctx context.Context, env *Env, a DeleteArgs) (DeleteResult, error) {
	cwd, err := env.cwd(ctx, a.Folder)
	if err != nil {
		return DeleteResult{}, err
	}
	if a.Confirm != nil && !*a.Confirm {
		return DeleteResult{}, confirmNeeded()
	}
	path, err := env.resolver().findOrPick(ctx, cwd, a.Source, "Select a session to delete")
	if err != nil {
		return DeleteResult{}, err
	}
	if at, live := env.Sessions.LiveIn(path); live && at != cwd {
		return DeleteResult{}, fault.New(fault.Busy, "%s is open in %s.", path, at).With("path", path)
	}
	if a.Confirm == nil {
		if err := confirmDelete(ctx, env.ask(), sessionName(env.Finder, path)); err != nil {
			return DeleteResult{}, err
		}
	}
	trashed, err := env.Sessions.Trash(ctx, cwd, path)
	return DeleteResult{Trashed: trashed}, err
}

// findOrPick returns the file of the session that source names or, if source is empty, that
// the user picks. It never falls back to the live session, because the session is deleted.
func (r resolver) findOrPick(ctx context.Context, cwd, source, question string) (string, error) {
	if source != "" {
		return r.find(ctx, cwd, source)
	}
	info, err := r.pickSession(ctx, cwd, "folder", question, "source")
	return info.Path, err
}

// sessionName returns the session's name, or the file name of one that cannot be read.
func sessionName(finder library.Finder, path string) string {
	if info, err := finder.Describe(path); err == nil {
		return info.Name
	}
	return filepath.Base(path)
}

// confirmDelete asks the user for confirmation. If the user cannot be asked, the call must
// include it.
func confirmDelete(ctx context.Context, ask prompter, name string) error {
	return ask.confirm(ctx, `Delete "`+name+`"? It is moved to the trash.`, "Delete",
		confirmNeeded(), fault.New(fault.Cancelled, "Session %s was not deleted.", name))
}

func confirmNeeded() error {
	return fault.New(fault.InvalidArgument, "To delete a session, set \"confirm\" to true.").With("field", "confirm")
}

// UndeleteArgs are the arguments of xcsh.undelete.
type UndeleteArgs struct {
	Folder
	Trashed string `json:"trashed" jsonschema:"The value of trashed that xcsh.delete returned or xcsh.trash lists."`
}

// UndeleteResult is the restored session's file.
type UndeleteResult struct {
	Path string `json:"path"`
}

func runUndelete(ctx context.Context, env *Env, a UndeleteArgs) (UndeleteResult, error) {
	if a.Trashed == "" {
		var err error
		if a.Trashed, err = env.resolver().pickTrashed(ctx, "Select a session to restore"); err != nil {
			return UndeleteResult{}, err
		}
	}
	trashed, err := trashedPath(a.Trashed)
	if err != nil {
		return UndeleteResult{}, err
	}
	path, err := env.Sessions.Untrash(trashed)
	return UndeleteResult{Path: path}, err
}
