package commands

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/attached"
)

// Summary is a summary of a session for the user.
type Summary struct {
	Text       string       `json:"text"`
	Structured SummaryFacts `json:"structured"`

	pending bool // not known yet
}

// MarshalJSON implements [json.Marshaler]. A summary that is not known yet is null.
func (s Summary) MarshalJSON() ([]byte, error) {
	if s.pending {
		return []byte("null"), nil
	}
	type members Summary
	return json.Marshal(members(s))
}

// SummaryFacts is the data of a summary's text.
type SummaryFacts struct {
	ID           string         `json:"id"`
	Name         string         `json:"name" jsonschema:"The title, or else the beginning of the first prompt."`
	Title        string         `json:"title,omitempty"`
	Description  string         `json:"description,omitempty" jsonschema:"The user's description of the session."`
	Created      string         `json:"created"`
	LastActivity string         `json:"lastActivity" jsonschema:"The time of the last entry, not of the file."`
	Provider     string         `json:"provider,omitempty"`
	Model        string         `json:"model,omitempty" jsonschema:"The last selected or answering model on the active branch."`
	Counts       map[string]int `json:"counts" jsonschema:"Messages by role, on the active branch."`
	FirstTopic   string         `json:"firstTopic,omitempty" jsonschema:"The beginning of the first prompt, on one line."`

	topic    string // the part of the first prompt in the text
	topicCut bool
}

// Lengths to which the first prompt is cut, in UTF-16 units.
const (
	topicLength = 200 // among the facts
	shownTopic  = 100 // in the text
)

func summarise(d *session.Document, leaf session.Leaf) (Summary, error) {
	f, err := summaryFacts(d, leaf)
	return Summary{Text: f.text(), Structured: f}, err
}

func summaryFacts(d *session.Document, leaf session.Leaf) (f SummaryFacts, err error) {
	f = SummaryFacts{ID: d.Header().ID, Title: session.CleanTitle(d.Title().Text), Created: d.Header().Timestamp, Counts: map[string]int{}}
	roles, first := d.PathCounts(leaf)
	maps.Copy(f.Counts, roles)
	if err := f.takeTopic(d, leaf, first); err != nil {
		return f, err
	}
	f.Name = cmp.Or(f.Title, f.FirstTopic)
	if f.LastActivity, err = d.LastActivity(); err != nil {
		return f, err
	}
	if f.Description, err = d.Description(); err != nil {
		return f, err
	}
	state, err := d.ContextState(leaf)
	f.Provider, f.Model, _ = strings.Cut(state.Models["default"], "/")
	return f, err
}

// takeTopic sets the topic to the beginning of the first prompt that has one. first is the index of the first
// prompt on the path to leaf, -1 for none.
func (f *SummaryFacts) takeTopic(d *session.Document, leaf session.Leaf, first int) error {
	if first < 0 {
		return nil
	}
	if err := f.setTopic(d, first); err != nil || f.FirstTopic != "" || f.Counts["user"] == 1 {
		return err
	}
	for _, i := range d.PathTo(leaf) {
		if d.Role(i) != "user" {
			continue
		}
		if err := f.setTopic(d, i); err != nil || f.FirstTopic != "" {
			return err
		}
	}
	return nil
}

// setTopic sets the topic to the beginning of the prompt at an index.
func (f *SummaryFacts) setTopic(d *session.Document, i int) error {
	e, err := d.Brief(i)
	if err != nil {
		return err
	}
	text := attached.Words(session.MessageText(e.Message()))
	f.FirstTopic, _ = beginning(text, topicLength)
	f.topic, f.topicCut = beginning(text, shownTopic)
	return nil
}

func (f SummaryFacts) total() (n int) {
	for _, of := range f.Counts {
		n += of
	}
	return n
}

// text returns the summary in agent-base's wording, except for the last sentence, which there
// addresses a model.
func (f SummaryFacts) text() string {
	total := f.total()
	if total == 0 {
		return "This session has no messages yet."
	}
	lines := []string{
		"You are resuming a previous conversation session.",
		"Session: " + cmp.Or(f.Title, oneLine(f.ID)),
		"Created: " + oneLine(f.Created),
		"Last activity: " + oneLine(f.LastActivity),
		fmt.Sprintf("Total messages: %d (%d from user, %d from assistant)", total, f.Counts["user"], f.Counts["assistant"]),
	}
	if f.Description != "" {
		lines = append(lines, "Description: "+oneLine(f.Description))
	}
	switch {
	case f.topicCut:
		lines = append(lines, "First topic: "+f.topic+"...")
	case f.topic != "":
		lines = append(lines, "First topic: "+f.topic)
	}
	plural := "s"
	if total == 1 {
		plural = ""
	}
	return strings.Join(append(lines, "", fmt.Sprintf("%d earlier message%s restored", total, plural)), "\n")
}

// oneLine returns text without line ends, control characters and redundant spaces.
func oneLine(text string) string { return session.CleanTitle(strings.Join(strings.Fields(text), " ")) }

// beginning returns the first n UTF-16 units of text on one line, and whether text was cut.
// It does not split grapheme clusters.
func beginning(text string, n int) (begin string, cut bool) {
	const blanks = 8 // enough even if most of the text is white space
	text = strings.TrimSpace(text)
	long := rawjson.UTF16Prefix(text, blanks*n)
	line := oneLine(long)
	begin = rawjson.UTF16Prefix(line, n)
	if len(begin) == len(line) {
		return begin, len(long) < len(text)
	}
	whole := begin
	for whole != "" && continues(whole, line[len(whole):]) {
		_, size := utf8.DecodeLastRuneInString(whole)
		whole = whole[:len(whole)-size]
	}
	return strings.TrimRight(cmp.Or(whole, begin), " "), true
}

// continues reports whether after begins with the rest of the grapheme cluster that before
// ends with: a combining mark, a part of an emoji sequence, the second letter of a flag.
func continues(before, after string) bool {
	const joiner = '\u200D'
	last, _ := utf8.DecodeLastRuneInString(before)
	next, _ := utf8.DecodeRuneInString(after)
	switch {
	case last == joiner, next == joiner, unicode.In(next, unicode.Mn, unicode.Me, unicode.Mc),
		next >= 0x1F3FB && next <= 0x1F3FF, next >= 0xE0020 && next <= 0xE007F:
		return true
	case isFlagLetter(next):
		return flagLetters(before)%2 == 1
	}
	return false
}

func isFlagLetter(r rune) bool { return r >= 0x1F1E6 && r <= 0x1F1FF }

// flagLetters returns the number of regional indicators at the end of s.
func flagLetters(s string) (n int) {
	for _, r := range s {
		if n++; !isFlagLetter(r) {
			n = 0
		}
	}
	return n
}
