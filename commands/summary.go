package commands

import (
	"fmt"
	"slices"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/rawjson"
)

// Summary tells a person what a session was about.
type Summary struct {
	Text       string       `json:"text"`
	Structured SummaryFacts `json:"structured"`
}

// SummaryFacts are the facts behind a summary's text.
type SummaryFacts struct {
	Name         string         `json:"name"`
	Created      string         `json:"created"`
	LastActivity string         `json:"lastActivity"`
	Counts       map[string]int `json:"counts" jsonschema:"Messages by role, on the active branch."`
	FirstTopic   string         `json:"firstTopic,omitempty" jsonschema:"The beginning of the first prompt."`
}

// topicLength is how much of the first prompt a summary shows, in UTF-16 units.
const topicLength = 200

func summarise(d *session.Document, leaf session.Leaf) (Summary, error) {
	f := SummaryFacts{Name: d.Title().Text, Created: d.Header().Timestamp, LastActivity: d.Header().Timestamp, Counts: map[string]int{}}
	path := d.PathTo(leaf)
	for _, i := range path {
		role := d.Role(i)
		if role == "" {
			continue
		}
		f.Counts[role]++
		if role == "user" && f.FirstTopic == "" {
			e, err := d.Entry(i)
			if err != nil {
				return Summary{}, err
			}
			f.FirstTopic = firstLine(session.MessageText(e.Message()))
		}
	}
	for _, i := range slices.Backward(path) {
		e, err := d.Entry(i)
		if err != nil {
			return Summary{}, err
		}
		if e.Timestamp != "" {
			f.LastActivity = e.Timestamp
			break
		}
	}
	if f.Name == "" {
		f.Name = f.FirstTopic
	}
	return Summary{Text: f.text(), Structured: f}, nil
}

func (f SummaryFacts) text() string {
	name := f.Name
	if name == "" {
		name = "Empty session"
	}
	total := f.Counts["user"] + f.Counts["assistant"]
	return fmt.Sprintf("%s — %d prompts and answers, last activity %s.", name, total, f.LastActivity)
}

func firstLine(s string) string {
	s = strings.TrimSpace(s)
	if i := strings.IndexAny(s, "\r\n"); i >= 0 {
		s = s[:i]
	}
	return rawjson.UTF16Prefix(session.CleanTitle(s), topicLength)
}
