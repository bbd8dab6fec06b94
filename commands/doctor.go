package commands

import (
	"context"
	"errors"

	"github.com/xcsh-ls/xcsh-ls/agent/change/audit"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/artifact"
)

var doctor = New(Spec{
	Name: "xcsh.doctor", Title: "Check Session for Damage", Flags: Palette | ReadOnly, Arg: "source",
	Doc: "List everything that is wrong with a session file, and what a reader would lose.",
}, runDoctor)

// DoctorResult lists findings.
type DoctorResult struct {
	Problems []session.Problem `json:"problems"`
}

func runDoctor(ctx context.Context, env *Env, a Subject) (r DoctorResult, err error) {
	r.Problems = []session.Problem{}
	var at subject
	err = env.withSource(ctx, a, func(sub subject) error {
		at = sub
		found, err := sub.doc.Check(sub.leaf, sub.blobs())
		r.Problems = append(r.Problems, found...)
		return errors.Join(err, r.addUnfinished(env, sub))
	})
	// A file without a header is a finding here, not an error.
	if f, ok := asFault(err); ok && f.Kind == fault.Damaged {
		if problems, ok := findings(env.Store, f); ok {
			return DoctorResult{Problems: problems}, nil
		}
	}
	if err != nil {
		return r, err
	}
	return r, r.addChanges(ctx, env, at)
}

// addChanges adds unreadable records, and stored contents that are missing or damaged.
func (r *DoctorResult) addChanges(ctx context.Context, env *Env, sub subject) (err error) {
	var found []audit.Finding
	switch {
	case sub.live != nil:
		found, err = sub.live.CheckChanges(ctx)
	case sub.path != "":
		found, err = env.Sessions.CheckChangesOf(ctx, sub.path)
	}
	if fault.Is(err, fault.OutsideRoot) {
		return nil // files behind a link do not belong to the session
	}
	for _, f := range found {
		r.Problems = append(r.Problems, session.Problem{Kind: session.ProblemKind(f.Kind), EntryID: f.Record, Message: f.Text, Lost: f.Lost})
	}
	return err
}

// addUnfinished adds the transcripts of subagents that did not end.
func (r *DoctorResult) addUnfinished(env *Env, sub subject) error {
	if sub.live != nil && sub.live.CheckIdle("checking") != nil {
		return nil // they are running
	}
	transcripts, err := artifact.Dir{Fs: env.Fs, Session: sub.path}.Unfinished()
	if fault.Is(err, fault.OutsideRoot) {
		return nil // a file behind a link is not of this session
	}
	for _, path := range transcripts {
		r.Problems = append(r.Problems, session.Problem{
			Kind:    session.UnfinishedTask,
			Message: "The subagent of the transcript " + path + " has no result: the program ended before it did. Its transcript can be read.",
		})
	}
	return err
}

// findings returns the problems of a damaged file. It reads the file if the error does not
// list them.
func findings(store *session.Store, f *fault.Error) ([]session.Problem, bool) {
	problems, ok := f.Data["problems"].([]session.Problem)
	if path, named := f.Data["path"].(string); !ok && named {
		doc, err := store.Load(path)
		if doc == nil || !fault.Is(err, fault.Damaged) {
			return nil, false
		}
		problems, ok = doc.Problems(), doc.Close() == nil
	}
	return problems, ok
}
