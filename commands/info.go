package commands

import (
	"context"

	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/fault"
)

var infoOf = New(Spec{
	Name: "xcsh.info", Title: "Session Information", Flags: ReadOnly, Arg: "source",
	Doc: "All that is known of one session: what a list tells, and what takes reading the whole of it.",
}, runInfo)

// InfoResult is a session in a list and more.
type InfoResult struct {
	session.Info
	Description    string         `json:"description,omitempty" jsonschema:"What a person said the session is about."`
	Provider       string         `json:"provider,omitempty" jsonschema:"Of the model that was last chosen or answered, on the active branch."`
	Model          string         `json:"model,omitempty" jsonschema:"The model that was last chosen or answered, on the active branch."`
	CreatedAt      string         `json:"createdAt" jsonschema:"When the session was begun, as its header says."`
	LastActivityAt string         `json:"lastActivityAt" jsonschema:"Time of the last entry, whatever the time of the file."`
	MessageCount   int            `json:"messageCount" jsonschema:"Messages on the active branch; a list counts those of all branches."`
	Counts         map[string]int `json:"counts" jsonschema:"Messages by role, on the active branch."`
}

func runInfo(ctx context.Context, env *Env, a Subject) (r InfoResult, err error) {
	var sub subject
	cwd := ""
	err = env.withSource(ctx, a, func(folder string, s subject) error {
		cwd, sub = folder, s
		if s.path == "" || !env.exists(s.path) {
			if r.Info, err = s.doc.Describe(s.path, env.Finder.Now()); err != nil {
				return err
			}
		}
		return r.read(s)
	})
	if err != nil {
		return InfoResult{}, err
	}
	if r.ID == "" { // it has a file
		if r.Info, err = env.Finder.Describe(sub.path); err != nil {
			return InfoResult{}, err
		}
	}
	r.CreatedAt = r.Created
	r.Slug, err = env.slug(ctx, cwd, r.Info)
	one := []session.Info{r.Info}
	env.markLive(one)
	r.Info = one[0]
	r.Live = sub.live != nil
	return r, err
}

// read takes what is not in a list.
func (r *InfoResult) read(s subject) error {
	f, err := summaryFacts(s.doc, s.leaf)
	r.Description, r.Provider, r.Model, r.LastActivityAt, r.Counts = f.Description, f.Provider, f.Model, f.LastActivity, f.Counts
	r.MessageCount = f.total()
	return err
}

// slug returns the slug that a session has among those of its folder.
func (env *Env) slug(ctx context.Context, cwd string, i session.Info) (string, error) {
	if i.Cwd != "" {
		cwd = i.Cwd
	}
	all, _, err := env.Finder.List(ctx, cwd, session.ListOptions{IncludeEmpty: true})
	if fault.Is(err, fault.Cancelled) {
		return "", err
	}
	for _, other := range all { // none when cwd is no folder of this machine
		if other.Path == i.Path {
			return other.Slug, nil
		}
	}
	return session.Slug(i.Title, i.ID), nil
}
