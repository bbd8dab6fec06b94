package commands

import (
	"context"
	"fmt"
	"slices"

	"go.uber.org/zap"

	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/fault"
)

var save = New(Spec{
	Name: "xcsh.save", Title: "Save Session", Flags: Palette, Arg: "title",
	Doc: "Put the session on disk now, under a title if one is given; no other session is ever replaced.",
}, runSave)

// SaveArgs are the arguments of xcsh.save.
type SaveArgs struct {
	Subject
	Title       *string `json:"title,omitempty" jsonschema:"The new title. Absent: it stays."`
	Description *string `json:"description,omitempty" jsonschema:"What the session is about; an empty text takes the description away. Absent: it stays."`
	OnConflict  string  `json:"onConflict,omitempty" jsonschema:"When another session of the folder has the title: fail, suffix (a number behind the title) or takeOver (a number behind the other's). Absent: fail."`
}

// SaveResult describes the session as it is on disk.
type SaveResult struct {
	ID          string  `json:"id"`
	Path        string  `json:"path"`
	Slug        string  `json:"slug"`
	Title       string  `json:"title"`
	Description string  `json:"description"`
	Saved       bool    `json:"saved"`
	Renamed     []Named `json:"renamed,omitempty" jsonschema:"The sessions that the title was taken from, by takeOver."`
}

// Named is a session that has another title now.
type Named struct {
	ID    string `json:"id"`
	Path  string `json:"path"`
	Title string `json:"title"`
}

func runSave(ctx context.Context, env *Env, a SaveArgs) (SaveResult, error) {
	if err := a.check(); err != nil {
		return SaveResult{}, err
	}
	c, err := env.toChange(ctx, a.Subject)
	if err != nil {
		return SaveResult{}, err
	}
	n, err := env.naming(ctx, c, a)
	if err != nil {
		return SaveResult{}, err
	}
	if c, err = env.toDisk(ctx, c); err != nil {
		return SaveResult{}, err
	}
	if a.Description != nil {
		if _, err = env.describe(ctx, c, *a.Description); err != nil {
			return SaveResult{}, err
		}
	}
	renamed, err := n.apply(ctx, env, c)
	if err != nil {
		return SaveResult{}, err
	}
	if c, err = env.toDisk(ctx, c); err != nil {
		return SaveResult{}, err
	}
	i, err := runInfo(ctx, env, Subject{Folder: Folder{c.cwd}, Source: c.path})
	return SaveResult{
		ID: i.ID, Path: c.path, Slug: i.Slug, Title: session.CleanTitle(i.Title), Description: i.Description, Saved: err == nil, Renamed: renamed,
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

// toDisk makes the session durable, and says which file it is.
func (env *Env) toDisk(ctx context.Context, c changed) (changed, error) {
	if c.live == nil {
		return c, nil // a session that is live nowhere is nowhere but in its file
	}
	err := c.live.Save(ctx)
	c.path = c.live.File()
	return c, err
}

// naming is what is to happen to titles.
type naming struct {
	title  string // "": nothing
	others []session.Info
	taken  func(title string) bool // by any session of the folder but the one that is saved
}

// naming finds out who has the title that the session is to get.
func (env *Env) naming(ctx context.Context, c changed, a SaveArgs) (n naming, err error) {
	if a.Title == nil {
		return n, nil
	}
	n.title = session.CleanTitle(*a.Title)
	all, err := env.neighbours(ctx, c)
	if err != nil {
		return n, err
	}
	n.taken = func(title string) bool {
		return slices.ContainsFunc(all, func(i session.Info) bool { return session.SameName(i.Title, title) })
	}
	for _, i := range all {
		if session.SameName(i.Title, n.title) {
			n.others = append(n.others, i)
		}
	}
	switch {
	case len(n.others) == 0 || a.OnConflict == "takeOver":
	case a.OnConflict == "suffix":
		n.title, n.others = n.free(n.title, "%s-%d"), nil
	default:
		other := n.others[0]
		err = fault.New(fault.NameInUse, "Another session of %s is called %q.", other.Cwd, other.Title).With("id", other.ID).With("path", other.Path)
	}
	return n, err
}

// neighbours are the other sessions of the folder that the session is of.
func (env *Env) neighbours(ctx context.Context, c changed) ([]session.Info, error) {
	cwd, id := c.cwd, ""
	if c.live != nil {
		state, err := c.live.State()
		if err != nil {
			return nil, err
		}
		cwd, id = state.Cwd, state.SessionID
	} else {
		i, err := env.Finder.Describe(c.path)
		if err != nil {
			return nil, err
		}
		id = i.ID
		if i.Cwd != "" {
			cwd = i.Cwd
		}
	}
	all, _, err := env.Finder.List(ctx, cwd, session.ListOptions{IncludeEmpty: true})
	return slices.DeleteFunc(all, func(i session.Info) bool { return i.ID == id || i.Title == "" }), err
}

// free returns the title with the first number that makes it one of nobody.
func (n naming) free(title, format string) string {
	for number := 2; ; number++ {
		if numbered := fmt.Sprintf(format, title, number); !n.taken(numbered) {
			return numbered
		}
	}
}

// apply renames the session, and before that those that have the title. When one cannot be
// renamed, those that were get their titles back.
func (n naming) apply(ctx context.Context, env *Env, c changed) (renamed []Named, err error) {
	if n.title == "" {
		return nil, nil
	}
	for _, other := range n.others {
		title := n.free(other.Title, "%s (%d)")
		if err = env.rename(ctx, env.changeAt(c.cwd, other.Path), title); err != nil {
			break
		}
		renamed = append(renamed, Named{ID: other.ID, Path: other.Path, Title: title})
		taken := n.taken
		n.taken = func(t string) bool { return session.SameName(t, title) || taken(t) }
	}
	if err == nil {
		err = env.rename(ctx, c, n.title)
	}
	if err == nil {
		return renamed, nil
	}
	for i := range renamed {
		if back := env.rename(context.WithoutCancel(ctx), env.changeAt(c.cwd, renamed[i].Path), n.others[i].Title); back != nil {
			env.Log.Warn("a session did not get its title back", zap.String("path", renamed[i].Path), zap.Error(back))
		}
	}
	return nil, err
}
