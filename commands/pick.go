package commands

import (
	"context"
	"fmt"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/session/library"
)

// folder asks for one of several workspace folders.
func (p prompter) folder(ctx context.Context, folders []string) (string, error) {
	several := fault.New(fault.InvalidArgument, "Several workspace folders are open. Pass one of them as \"cwd\".").With("field", "cwd")
	if p.clientPicks {
		return "", several
	}
	i, err := p.choice(ctx, "Select a folder", folders)
	if err != nil {
		return "", err
	}
	if i < 0 {
		return "", several
	}
	return folders[i], nil
}

// pickSession asks for the session for the argument field. A client that has its own picker
// or cannot ask gets the sessions in an ArgumentNeeded error.
func (r resolver) pickSession(ctx context.Context, cwd, scope, question, field string) (library.Info, error) {
	infos, _, err := r.lists.list(ctx, cwd, scope, library.ListOptions{})
	if err != nil {
		return library.Info{}, err
	}
	if len(infos) == 0 {
		return library.Info{}, fault.New(fault.NotFound, "No sessions found")
	}
	return r.ask.session(ctx, infos, question, field)
}

// session asks for one of several sessions.
func (p prompter) session(ctx context.Context, infos []library.Info, question, field string) (library.Info, error) {
	needed := need{question: "Select a session", input: InputSession, field: field, choices: infos}.fault()
	if p.clientPicks {
		return library.Info{}, needed
	}
	i, err := p.choice(ctx, question, choiceTitles(infos))
	switch {
	case err != nil:
		return library.Info{}, err
	case i == Unasked:
		return library.Info{}, needed
	case i < 0:
		return library.Info{}, noSessionSelected()
	}
	return infos[i], nil
}

func noSessionSelected() error { return fault.New(fault.Cancelled, "No session selected") }

// which asks the user to choose among several matches. If the user cannot be asked, it returns
// the ambiguous error, which lists the candidates.
func (p prompter) which(ctx context.Context, matches []library.Info, ambiguous error) (library.Info, error) {
	if p.clientPicks {
		return library.Info{}, ambiguous
	}
	answer, err := p.choice(ctx, ambiguous.Error()+" Select one.", choiceTitles(matches))
	if err != nil {
		return library.Info{}, err
	}
	if answer < 0 {
		return library.Info{}, ambiguous
	}
	return matches[answer], nil
}

// choiceTitles returns the choices for sessions.
func choiceTitles(infos []library.Info) []string {
	return titlesOf(infos, func(i library.Info) string { return fmt.Sprintf("%s · %s · %s", i.Name, i.TimeAgo, idEnd(i.ID)) })
}

// idEnd returns the end of an ID, where IDs differ. It makes a choice unique: clients identify
// an answer by its title alone.
func idEnd(id string) string {
	if len(id) > 8 {
		id = id[len(id)-8:]
	}
	return id
}
