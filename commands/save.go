package commands

import (
	"context"
	"fmt"
	"slices"

	"go.uber.org/zap"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/library"
)

var save = New(Spec{
	Name: "xcsh.save", Title: "Save Session", Flags: Palette | NeedsTrust, Arg: "title",
	Doc: "Write the session to disk now, with a title if one is given. It never replaces another session.",
}, runSave)

// SaveArgs are the arguments of xcsh.save.
type SaveArgs struct {
	Subject
	Title       *string `json:"title,omitempty" jsonschema:"The new title. Default: unchanged."`
	Description *string `json:"description,omitempty" jsonschema:"The new description; an empty text removes it. Default: unchanged."`
	OnConflict  string  `json:"onConflict,omitempty" jsonschema:"What to do if another session of the folder has the title: fail, suffix (append a number) or takeOver (append a number to the other session's title). Default: fail."`
}

// SaveResult describes the saved session.
type SaveResult struct {
	ID          string  `json:"id"`
	Path        string  `json:"path"`
	Slug        string  `json:"slug"`
	Title       string  `json:"title"`
	Description string  `json:"description"`
	Saved       bool    `json:"saved"`
	Renamed     []Named `json:"renamed,omitempty" jsonschema:"The sessions that takeOver renamed."`
}

// Named is a session that was renamed.
type Named struct {
	ID    string `json:"id"`
	Path  string `json:"path"`
	Title string `json:"title"`
}

func runSave(ctx context.Context, env *Env, a SaveArgs) (SaveResult, error) {
	of, err := env.resolver().locateToChange(ctx, a.Subject)
	if err != nil {
		return SaveResult{}, err
	}
	job := newSaveJob(env)
	n, err := job.naming(ctx, of, a)
	if err != nil {
		return SaveResult{}, err
	}
	if of, err = toDisk(ctx, of); err != nil {
		return SaveResult{}, err
	}
	if a.Description != nil {
		if _, err = job.changer.describe(ctx, of, *a.Description); err != nil {
			return SaveResult{}, err
		}
	}
	renamed, err := job.apply(ctx, n, of)
	if err != nil {
		return SaveResult{}, err
	}
	if of, err = toDisk(ctx, of); err != nil {
		return SaveResult{}, err
	}
	i, err := describeLocated(ctx, env, of)
	return SaveResult{
		ID: i.ID, Path: of.path, Slug: i.Slug, Title: session.CleanTitle(i.Title), Description: i.Description, Saved: err == nil, Renamed: renamed,
	}, err
}

func (a SaveArgs) check() error {
	if a.Title != nil && session.CleanTitle(*a.Title) == "" {
		return fault.New(fault.InvalidArgument, "A session title cannot be empty.").With("field", "title")
	}
	if slices.Contains([]string{"", "fail", "suffix", "takeOver"}, a.OnConflict) {
		return nil
	}
	return fault.New(fault.InvalidArgument, "onConflict must be fail, suffix or takeOver, not %q.", a.OnConflict).With("field", "onConflict")
}

// toDisk saves the session and sets its path.
func toDisk(ctx context.Context, of located) (located, error) {
	if of.live == nil {
		return of, nil // a session that is not live is already on disk
	}
	err := of.live.Save(ctx)
	of.path = of.live.File()
	return of, err
}

// naming is a planned change of titles.
type naming struct {
	title  string // "" changes nothing
	others []library.Info
	taken  func(title string) bool // by another session of the folder
}

// saveJob changes the title of a session to one that no other session of its folder has.
type saveJob struct {
	changer changer
	finder  library.Finder
	paths   resolver
	log     *zap.Logger
}

func newSaveJob(env *Env) saveJob {
	return saveJob{changer: newChanger(env), finder: env.Finder, paths: env.resolver(), log: env.Log}
}

// naming plans the change of titles, and finds the sessions that have the new title.
func (job saveJob) naming(ctx context.Context, of located, a SaveArgs) (n naming, err error) {
	if a.Title == nil {
		return n, nil
	}
	n.title = session.CleanTitle(*a.Title)
	all, err := job.neighbours(ctx, of)
	if err != nil {
		return n, err
	}
	n.taken = func(title string) bool {
		return slices.ContainsFunc(all, func(i library.Info) bool { return library.SameName(i.Title, title) })
	}
	for _, i := range all {
		if library.SameName(i.Title, n.title) {
			n.others = append(n.others, i)
		}
	}
	switch {
	case len(n.others) == 0 || a.OnConflict == "takeOver":
	case a.OnConflict == "suffix":
		n.title, n.others = n.free(n.title, "%s-%d"), nil
	default:
		other := n.others[0]
		err = fault.New(fault.NameInUse, "Another session of %s has the title %q.", other.Cwd, other.Title).With("id", other.ID).With("path", other.Path)
	}
	return n, err
}

// neighbours returns the other titled sessions of the session's folder.
func (job saveJob) neighbours(ctx context.Context, of located) ([]library.Info, error) {
	cwd, id := of.cwd, ""
	if of.live != nil {
		state, err := of.live.State()
		if err != nil {
			return nil, err
		}
		cwd, id = state.Cwd, state.SessionID
	} else {
		i, err := job.finder.Describe(of.path)
		if err != nil {
			return nil, err
		}
		id = i.ID
		if i.Cwd != "" {
			cwd = i.Cwd
		}
	}
	all, _, err := job.finder.List(ctx, cwd, library.ListOptions{IncludeEmpty: true})
	return slices.DeleteFunc(all, func(i library.Info) bool { return i.ID == id || i.Title == "" }), err
}

// free returns the title with the first number that is not taken.
func (n naming) free(title, format string) string {
	for number := 2; ; number++ {
		if numbered := fmt.Sprintf(format, title, number); !n.taken(numbered) {
			return numbered
		}
	}
}

// apply renames the session, after those that have its new title. If one cannot be renamed,
// apply restores the other titles.
func (job saveJob) apply(ctx context.Context, n naming, of located) (renamed []Named, err error) {
	if n.title == "" {
		return nil, nil
	}
	for _, other := range n.others {
		title := n.free(other.Title, "%s (%d)")
		if err = job.changer.rename(ctx, job.paths.at(of.cwd, other.Path), title); err != nil {
			break
		}
		renamed = append(renamed, Named{ID: other.ID, Path: other.Path, Title: title})
		taken := n.taken
		n.taken = func(t string) bool { return library.SameName(t, title) || taken(t) }
	}
	if err == nil {
		err = job.changer.rename(ctx, of, n.title)
	}
	if err == nil {
		return renamed, nil
	}
	for i := range renamed {
		if back := job.changer.rename(context.WithoutCancel(ctx), job.paths.at(of.cwd, renamed[i].Path), n.others[i].Title); back != nil {
			job.log.Warn("could not restore the title of a session", zap.String("path", renamed[i].Path), zap.Error(back))
		}
	}
	return nil, err
}
