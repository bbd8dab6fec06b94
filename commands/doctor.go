package commands

import (
	"context"

	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/fault"
)

var doctor = New(Spec{
	Name: "xcsh.doctor", Title: "Check Session", Flags: Palette | ReadOnly, Arg: "source",
	Doc: "Everything that is wrong with a session file, and what of it would be lost to a reader.",
}, runDoctor)

// DoctorResult lists findings.
type DoctorResult struct {
	Problems []session.Problem `json:"problems"`
}

func runDoctor(ctx context.Context, env *Env, a Subject) (r DoctorResult, err error) {
	r.Problems = []session.Problem{}
	err = env.withSource(ctx, a, func(_ string, sub subject) error {
		found, err := sub.doc.Check(sub.leaf, env.Store.BlobsFor(sub.path))
		r.Problems = append(r.Problems, found...)
		return err
	})
	// A file without a header is not an error here: it is the finding.
	if f, ok := asFault(err); ok && f.Kind == fault.Damaged {
		if problems, ok := env.findings(f); ok {
			return DoctorResult{Problems: problems}, nil
		}
	}
	return r, err
}

// findings returns what is wrong with a damaged file. Who found it by its name has not
// read it yet.
func (env *Env) findings(f *fault.Error) ([]session.Problem, bool) {
	problems, ok := f.Data["problems"].([]session.Problem)
	if path, named := f.Data["path"].(string); !ok && named {
		doc, err := env.Store.Load(path)
		if doc == nil || !fault.Is(err, fault.Damaged) {
			return nil, false
		}
		problems, ok = doc.Problems(), doc.Close() == nil
	}
	return problems, ok
}
