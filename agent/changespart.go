package agent

import (
	"slices"

	"github.com/xcsh-ls/xcsh-ls/agent/change"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// The values of [wire.ChangesQuery].Since besides an entry.
const (
	sinceTurn    = "turn"
	sinceSession = "session"
)

// part is a part of a session.
type part struct {
	since  string // "session", or the entry of a prompt; "" before the first
	prompt string
	keep   func(*change.Record) bool // selects its records; nil: all
}

// partOf returns a part of a session: all of it, the entries after an entry, or the newest turn of the branch. A turn has the records of
// its prompt, and of the user's own commands up to the next prompt. The error has the kind notFound.
func partOf(d *session.Document, leaf session.Leaf, since string) (part, error) {
	switch since {
	case sinceSession:
		return part{since: since}, nil
	case "", sinceTurn:
		return newestTurn(d, leaf)
	}
	at, err := d.Index(since)
	if err != nil {
		return part{}, err
	}
	return part{since: since, prompt: since, keep: func(r *change.Record) bool { return r.Seq > at }}, nil
}

// newestTurn returns the turn of the newest prompt of the branch.
func newestTurn(d *session.Document, leaf session.Leaf) (part, error) {
	for _, i := range slices.Backward(d.PathTo(leaf)) {
		if ok, err := isPrompt(d, i); err != nil {
			return part{}, err
		} else if !ok {
			continue
		}
		next := i + 1
		for ; next < d.Len(); next++ {
			if ok, err := isPrompt(d, next); err != nil {
				return part{}, err
			} else if ok {
				break
			}
		}
		if next == d.Len() {
			next = 1 << 62 // waiting records come last
		}
		id := d.ID(i)
		return part{since: id, prompt: id, keep: func(r *change.Record) bool {
			return r.PromptID == id || r.PromptID == "" && r.Seq > i && r.Seq < next
		}}, nil
	}
	return part{keep: func(*change.Record) bool { return true }}, nil // the user's commands before a prompt
}

// isPrompt reports whether an entry is a message of the user to the model.
func isPrompt(d *session.Document, i int) (bool, error) {
	switch d.Type(i) {
	case session.TypeMessage:
		return d.Role(i) == provider.RoleUser, nil
	case session.TypeCustomMessage:
		e, err := d.Brief(i)
		by, _ := rawjson.GetString(e.Raw, "attribution")
		return by == provider.RoleUser, err
	}
	return false, nil
}
