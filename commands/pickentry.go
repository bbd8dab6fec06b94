package commands

import (
	"context"
	"fmt"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// promptEntry is a prompt of the live session in a list of choices.
type promptEntry struct {
	id, preview, label string
}

// choiceLength is the length of text that fits on a button, in UTF-16 units.
const choiceLength = 60

func (p promptEntry) title() string {
	title := rawjson.UTF16Prefix(p.preview, choiceLength)
	if p.label != "" {
		title += " [" + p.label + "]"
	}
	return fmt.Sprintf("%s · %s", title, idEnd(p.id))
}

// entry asks for one of the prompts on all branches of the live session, the newest
// first. A client with its own picker shows the whole tree.
func (p prompter) entry(ctx context.Context, live *agent.Session, question string) (promptEntry, error) {
	return p.entryFor(ctx, live, question, "entryId")
}

// entryFor is entry for another argument than entryId.
func (p prompter) entryFor(ctx context.Context, live *agent.Session, question, field string) (promptEntry, error) {
	needed := need{question: "Select an entry", nothing: "No entry selected", input: InputEntry, field: field}
	if p.clientPicks {
		return promptEntry{}, needed.fault()
	}
	var prompts []promptEntry
	err := live.View(func(d *session.Document, _ session.Leaf) (err error) {
		prompts, err = promptsOf(d)
		return err
	})
	if err != nil {
		return promptEntry{}, err
	}
	if len(prompts) == 0 {
		return promptEntry{}, fault.New(fault.NotFound, "The session has no prompts yet.")
	}
	i, err := p.choice(ctx, question, titlesOf(prompts, promptEntry.title))
	if err == nil {
		err = needed.unanswered(i)
	}
	if err != nil {
		return promptEntry{}, err
	}
	return prompts[i], nil
}

// promptsOf returns the prompts on all branches of a session, the newest first.
func promptsOf(d *session.Document) ([]promptEntry, error) {
	labels, err := d.Labels()
	if err != nil {
		return nil, err
	}
	var prompts []promptEntry
	for i := d.Len() - 1; i >= 0; i-- {
		if d.Role(i) != "user" || d.ID(i) == "" {
			continue
		}
		e, err := d.Brief(i)
		if err != nil {
			return nil, err
		}
		prompts = append(prompts, promptEntry{id: e.ID, preview: preview(e), label: labels[e.ID]})
	}
	return prompts, nil
}
