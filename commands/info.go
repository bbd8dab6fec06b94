package commands

import (
	"cmp"
	"context"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/session/library"
)

var infoOf = New(Spec{
	Name: "xcsh.info", Title: "Session Information", Flags: ReadOnly, Arg: "source",
	Doc: "Return the details of one session: those of a list, and those that need the whole file.",
}, runInfo)

// InfoResult holds the details of a session.
type InfoResult struct {
	library.Info
	Description    string         `json:"description,omitempty" jsonschema:"The user's description of the session."`
	Provider       string         `json:"provider,omitempty" jsonschema:"The provider of the last selected or answering model on the active branch."`
	Model          string         `json:"model,omitempty" jsonschema:"The last selected or answering model on the active branch."`
	CreatedAt      string         `json:"createdAt" jsonschema:"The creation time in the session's header."`
	LastActivityAt string         `json:"lastActivityAt" jsonschema:"The time of the last entry, not of the file."`
	MessageCount   int            `json:"messageCount" jsonschema:"The number of messages on the active branch; lists count all branches."`
	Counts         map[string]int `json:"counts" jsonschema:"Messages by role, on the active branch."`

	Changes agent.ChangesSize `json:"changes" jsonschema:"The recorded changes of files."`
}

func runInfo(ctx context.Context, env *Env, a Subject) (InfoResult, error) {
	of, err := env.resolver().locate(ctx, a)
	if err != nil {
		return InfoResult{}, err
	}
	return describeLocated(ctx, env, of)
}

// describeLocated returns the details of a session that was found.
func describeLocated(ctx context.Context, env *Env, of located) (r InfoResult, err error) {
	var sub subject
	var cwd string
	err = env.resolver().open(of, func(s subject) error {
		sub, cwd = s, cmp.Or(s.doc.Header().Cwd, s.cwd)
		if s.path == "" || s.live != nil && !exists(env.Fs, s.path) {
			if r.Info, err = library.DescribeOpen(s.doc, s.path, env.Finder.Now()); err != nil {
				return err
			}
		}
		return r.read(s)
	})
	if err != nil {
		return InfoResult{}, err
	}
	if err := r.takeFile(ctx, env, sub.path, cwd); err != nil {
		return InfoResult{}, err
	}
	r.CreatedAt = r.Created
	one := []library.Info{r.Info}
	env.lists().markLive(one)
	r.Info = one[0]
	r.Live = sub.live != nil
	if of.live != nil {
		r.Changes, err = of.live.ChangesSize()
	} else {
		r.Changes, err = env.Sessions.ChangesSizeOf(of.path)
	}
	return r, err
}

// read adds the details that lists do not have.
func (r *InfoResult) read(s subject) error {
	f, err := summaryFacts(s.doc, s.leaf)
	r.Description, r.Provider, r.Model, r.LastActivityAt, r.Counts = f.Description, f.Provider, f.Model, f.LastActivity, f.Counts
	r.MessageCount = f.total()
	return err
}

// takeFile fills in the details that lists have, unless the session has no file, and the slug, which is unique in its
// folder. A list knows those of a file that has not changed, so that it need not be read.
func (r *InfoResult) takeFile(ctx context.Context, env *Env, path, cwd string) error {
	hasFile := r.ID == ""
	var listed []library.Info
	var err error
	if path != "" {
		listed, _, err = env.Finder.List(ctx, cwd, library.ListOptions{IncludeEmpty: true, Only: path})
	}
	switch {
	case fault.Is(err, fault.Cancelled):
		return err
	case len(listed) > 0 && hasFile:
		r.Info = listed[0]
		return nil
	case len(listed) > 0:
		r.Slug = listed[0].Slug
		return nil
	}
	// cwd is not on this machine, or the file is outside the directories of sessions.
	if hasFile {
		if r.Info, err = env.Finder.Describe(path); err != nil {
			return err
		}
	}
	r.Slug = library.Slug(r.Title, r.ID)
	return nil
}
