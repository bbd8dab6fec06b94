package commands

import (
	"context"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/session"
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
	err = env.withSource(ctx, a, func(sub subject) error {
		found, err := sub.doc.Check(sub.leaf, sub.blobs())
		r.Problems = append(r.Problems, found...)
		return err
	})
	// A file without a header is a finding here, not an error.
	if f, ok := asFault(err); ok && f.Kind == fault.Damaged {
		if problems, ok := findings(env.Store, f); ok {
			return DoctorResult{Problems: problems}, nil
		}
	}
	return r, err
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
