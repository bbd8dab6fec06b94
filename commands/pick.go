package commands

import (
	"context"
	"fmt"

	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/fault"
)

// pickPage is how many sessions one question offers. Editors show the choices of a
// question as a row of buttons, which holds few.
const pickPage = 6

const more = "More…"

// pickSession asks the person for a session. A client that has its own picker is told
// what to choose from instead.
func (env *Env) pickSession(ctx context.Context, cwd, scope string) (session.Info, error) {
	infos, _, err := env.listSessions(ctx, cwd, scope, session.ListOptions{})
	if err != nil {
		return session.Info{}, err
	}
	if len(infos) == 0 {
		return session.Info{}, fault.New(fault.NotFound, "No sessions found")
	}
	if env.Pick {
		return session.Info{}, fault.New(fault.ArgumentNeeded, "Which session?").
			With("input", InputSession).With("field", "target").With("choices", infos)
	}
	for from := 0; from < len(infos); from += pickPage {
		page := infos[from:min(from+pickPage, len(infos))]
		choices := choiceTitles(page)
		if from+pickPage < len(infos) {
			choices = append(choices, more)
		}
		answer, err := env.UI.Ask(ctx, Question{Text: "Resume which session?", Choices: choices})
		if err != nil {
			return session.Info{}, err
		}
		if answer < 0 {
			break
		}
		if answer < len(page) {
			return page[answer], nil
		}
	}
	return session.Info{}, fault.New(fault.Cancelled, "No session selected")
}

// askWhich lets the person choose among several matches. Who cannot be asked gets the
// candidates in the error.
func (env *Env) askWhich(ctx context.Context, matches []session.Info, ambiguous error) (session.Info, error) {
	if env.Pick {
		return session.Info{}, ambiguous
	}
	page := matches[:min(len(matches), pickPage)]
	answer, err := env.UI.Ask(ctx, Question{Text: ambiguous.Error() + " Which one?", Choices: choiceTitles(page)})
	if err != nil {
		return session.Info{}, err
	}
	if answer < 0 || answer >= len(page) {
		return session.Info{}, ambiguous
	}
	return page[answer], nil
}

// choiceTitles words sessions as choices. The id is part of it because clients tell an
// answer by its title alone.
func choiceTitles(infos []session.Info) []string {
	titles := make([]string, len(infos))
	for i, info := range infos {
		id := info.ID
		if len(id) > 8 {
			id = id[len(id)-8:]
		}
		titles[i] = fmt.Sprintf("%s · %s · %s", info.Name, info.TimeAgo, id)
	}
	return titles
}
