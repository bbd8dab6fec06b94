package commands

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/session/library"
	"github.com/xcsh-ls/xcsh-ls/session/upkeep"
)

var trash = New(Spec{
	Name: "xcsh.trash", Title: "List Deleted Sessions", Flags: ReadOnly,
	Doc: "List the sessions in the trash, those deleted last first. Only the beginnings and the ends of the files are read.",
}, runTrash)

var deleteTrashed = New(Spec{
	Name: "xcsh.deleteTrashed", Title: "Delete Permanently…", Flags: NeedsTrust, Input: InputText, Arg: "trashed",
	Doc: "Delete a session in the trash for good, with its artifacts. This cannot be undone.",
}, runDeleteTrashed)

// defaultTrash is the default number of listed sessions.
const defaultTrash = 100

// TrashArgs are the arguments of xcsh.trash.
type TrashArgs struct {
	Folder
	Scope string `json:"scope,omitempty" jsonschema:"folder or all. Default: folder."`
	Limit int    `json:"limit,omitempty" jsonschema:"The maximum number. Default: 100."`
}

// TrashResult lists sessions in the trash.
type TrashResult struct {
	Sessions []TrashedSession `json:"sessions"`
	More     bool             `json:"more,omitempty" jsonschema:"There are more than limit."`
}

// TrashedSession is a session in the trash.
type TrashedSession struct {
	Trashed   string `json:"trashed" jsonschema:"The argument for xcsh.undelete and xcsh.deleteTrashed."`
	Path      string `json:"path" jsonschema:"The file to which it would be restored."`
	File      string `json:"file" jsonschema:"The file in the trash, for reading."`
	ID        string `json:"id,omitempty"`
	Cwd       string `json:"cwd" jsonschema:"Its folder; empty if its header cannot be read."`
	Name      string `json:"name"`
	TrashedAt string `json:"trashedAt" jsonschema:"ISO 8601."`
}

func runTrash(ctx context.Context, env *Env, a TrashArgs) (TrashResult, error) {
	if a.Scope != "" && a.Scope != "folder" && a.Scope != "all" {
		return TrashResult{}, fault.New(fault.InvalidArgument, "scope must be folder or all, not %q.", a.Scope).With("field", "scope")
	}
	if a.Limit < 0 {
		return TrashResult{}, fault.New(fault.InvalidArgument, "limit cannot be negative.").With("field", "limit")
	}
	cwd := ""
	if a.Scope != "all" {
		var err error
		if cwd, err = env.cwd(ctx, a.Folder); err != nil {
			return TrashResult{}, err
		}
	}
	items, err := upkeep.ListTrash(env.Store, env.Finder.Roots)
	if err != nil {
		return TrashResult{}, err
	}
	limit := a.Limit
	if limit == 0 {
		limit = defaultTrash
	}
	r := TrashResult{Sessions: []TrashedSession{}}
	dirs := env.Finder.Dirs(cwd)
	for _, t := range items {
		if ctx.Err() != nil {
			break
		}
		h := trashedHeadline(env.Finder, t)
		belongs := h.Cwd == "" && slices.Contains(dirs, filepath.Dir(t.Path)) || h.Cwd != "" && filepath.Clean(h.Cwd) == cwd
		if a.Scope != "all" && !belongs {
			continue
		}
		if len(r.Sessions) == limit {
			r.More = true
			break
		}
		r.Sessions = append(r.Sessions, TrashedSession{
			Trashed: t.Dir, Path: t.Path, File: t.File, ID: h.ID, Cwd: h.Cwd, Name: h.Name, TrashedAt: t.TrashedAt,
		})
	}
	return r, ctx.Err()
}

// DeleteTrashedArgs are the arguments of xcsh.deleteTrashed.
type DeleteTrashedArgs struct {
	Folder
	Trashed string `json:"trashed" jsonschema:"The value of trashed that xcsh.delete returned or xcsh.trash lists."`
	Confirm *bool  `json:"confirm,omitempty" jsonschema:"Must be true to delete the session for good. Default: ask the user."`
}

// DeleteTrashedResult reports the deletion.
type DeleteTrashedResult struct {
	Deleted bool `json:"deleted"`
}

func runDeleteTrashed(ctx context.Context, env *Env, a DeleteTrashedArgs) (DeleteTrashedResult, error) {
	if a.Confirm != nil && !*a.Confirm {
		return DeleteTrashedResult{}, confirmNeeded()
	}
	if a.Trashed == "" {
		var err error
		if a.Trashed, err = env.resolver().pickTrashed(ctx, "Select a session to delete permanently"); err != nil {
			return DeleteTrashedResult{}, err
		}
	}
	dir, err := trashedPath(a.Trashed)
	if err != nil {
		return DeleteTrashedResult{}, err
	}
	if t, known := upkeep.FindTrashed(env.Store, dir); known && a.Confirm == nil {
		name := trashedHeadline(env.Finder, t).Name
		err := env.ask().confirm(ctx, `Delete "`+name+`" permanently? This cannot be undone.`, "Delete Permanently",
			confirmNeeded(), fault.New(fault.Cancelled, "Session %s was not deleted.", name))
		if err != nil {
			return DeleteTrashedResult{}, err
		}
	}
	if err := upkeep.RemoveTrashed(env.Store, dir); err != nil {
		return DeleteTrashedResult{}, err
	}
	return DeleteTrashedResult{Deleted: true}, nil
}

// pickTrashed asks for one of the sessions in the trash, the latest deletion first.
func (r resolver) pickTrashed(ctx context.Context, question string) (dir string, err error) {
	finder := r.lists.finder
	items, err := upkeep.ListTrash(r.store, finder.Roots)
	if err != nil {
		return "", err
	}
	if len(items) == 0 {
		return "", fault.New(fault.NotFound, "The trash is empty.")
	}
	picked, err := choose(ctx, r.ask, need{
		question: question, nothing: "No session selected", input: InputText, field: "trashed",
		choices: titlesOf(items, func(t upkeep.Trashed) string { return t.Dir }),
	}, items, func(t upkeep.Trashed) string { return trashedTitle(finder, t) })
	return picked.Dir, err
}

// trashedTitle returns the choice for a session in the trash.
func trashedTitle(finder library.Finder, t upkeep.Trashed) string {
	when := t.TrashedAt
	if at, err := time.Parse(time.RFC3339, when); err == nil {
		when = at.UTC().Format("2006-01-02 15:04")
	}
	return fmt.Sprintf("%s · %s · %s", trashedHeadline(finder, t).Name, when, idEnd(filepath.Base(t.Dir)))
}

// trashedHeadline describes a session in the trash. A file that cannot be read is called by its name.
func trashedHeadline(finder library.Finder, t upkeep.Trashed) library.Headline {
	h, ok, err := finder.Headline(t.File)
	if err != nil || !ok {
		return library.Headline{Name: filepath.Base(t.Path)}
	}
	return h
}

// trashedPath returns the directory that an argument names.
func trashedPath(argument string) (string, error) {
	dir, err := localPath(argument)
	if err != nil {
		return "", fault.New(fault.InvalidArgument, "trashed must be a value that xcsh.delete returned or xcsh.trash lists, not %q.", argument).With("field", "trashed")
	}
	return dir, nil
}
