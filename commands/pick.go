package commands

import (
	"context"
	"fmt"

	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/fault"
)

// pickPage is how many choices one question offers. Editors show them as a row of
// buttons, which holds few.
const pickPage = 6

const more = "More…"

// choose asks the person for one of items, which must not be empty. A client that has its
// own picker is told what is needed instead, and so is one that cannot ask.
func choose[T any](ctx context.Context, env *Env, n need, items []T, title func(T) string) (T, error) {
	var none T
	if env.Pick {
		return none, n.fault()
	}
	i, err := env.askPaged(ctx, n.question, titlesOf(items, title))
	if err == nil {
		err = n.unanswered(i)
	}
	if err != nil {
		return none, err
	}
	return items[i], nil
}

func titlesOf[T any](items []T, title func(T) string) []string {
	titles := make([]string, len(items))
	for i, item := range items {
		titles[i] = title(item)
	}
	return titles
}

// askPaged is [UI.Ask] for any number of choices: what does not fit one question is behind
// its last answer.
func (env *Env) askPaged(ctx context.Context, question string, titles []string) (int, error) {
	for from := 0; from < len(titles); from += pickPage {
		page := titles[from:min(from+pickPage, len(titles))]
		shown := append([]string{}, page...)
		if from+pickPage < len(titles) {
			shown = append(shown, more)
		}
		answer, err := env.UI.Ask(ctx, Question{Text: question, Choices: shown})
		if err != nil || answer < 0 {
			return answer, err
		}
		if answer < len(page) {
			return from + answer, nil
		}
	}
	return Closed, nil
}

// pickFolder asks the person which of several workspace folders a command is about.
func (env *Env) pickFolder(ctx context.Context, folders []string) (string, error) {
	several := fault.New(fault.InvalidArgument, "Several workspace folders are open; say which one with \"cwd\".").With("field", "cwd")
	if env.Pick {
		return "", several
	}
	i, err := env.askPaged(ctx, "In which folder?", folders)
	if err != nil {
		return "", err
	}
	if i < 0 {
		return "", several
	}
	return folders[i], nil
}

// pickSession asks the person for the session to resume. A client that cannot ask is told
// the same as when the person closed the question: nothing was selected.
func (env *Env) pickSession(ctx context.Context, cwd, scope string) (session.Info, error) {
	info, err := env.pickSessionFor(ctx, cwd, scope, "Resume which session?", "target")
	if !env.Pick && fault.Is(err, fault.ArgumentNeeded) {
		err = noSessionSelected()
	}
	return info, err
}

// pickSessionFor asks the person for the session that field is to name. A client that has
// its own picker, or that cannot ask, is told what to choose from instead.
func (env *Env) pickSessionFor(ctx context.Context, cwd, scope, question, field string) (session.Info, error) {
	infos, _, err := env.listSessions(ctx, cwd, scope, session.ListOptions{})
	if err != nil {
		return session.Info{}, err
	}
	if len(infos) == 0 {
		return session.Info{}, fault.New(fault.NotFound, "No sessions found")
	}
	needed := need{question: "Which session?", input: InputSession, field: field, choices: infos}.fault()
	if env.Pick {
		return session.Info{}, needed
	}
	i, err := env.askPaged(ctx, question, choiceTitles(infos))
	switch {
	case err != nil:
		return session.Info{}, err
	case i == Unasked:
		return session.Info{}, needed
	case i < 0:
		return session.Info{}, noSessionSelected()
	}
	return infos[i], nil
}

func noSessionSelected() error { return fault.New(fault.Cancelled, "No session selected") }

// askWhich lets the person choose among several matches. Who cannot be asked gets the
// candidates in the error.
func (env *Env) askWhich(ctx context.Context, matches []session.Info, ambiguous error) (session.Info, error) {
	if env.Pick {
		return session.Info{}, ambiguous
	}
	answer, err := env.askPaged(ctx, ambiguous.Error()+" Which one?", choiceTitles(matches))
	if err != nil {
		return session.Info{}, err
	}
	if answer < 0 {
		return session.Info{}, ambiguous
	}
	return matches[answer], nil
}

// choiceTitles words sessions as choices.
func choiceTitles(infos []session.Info) []string {
	return titlesOf(infos, func(i session.Info) string { return fmt.Sprintf("%s · %s · %s", i.Name, i.TimeAgo, idEnd(i.ID)) })
}

// idEnd is what tells an id from others. It is part of a choice because clients tell an
// answer by its title alone.
func idEnd(id string) string {
	if len(id) > 8 {
		id = id[len(id)-8:]
	}
	return id
}
