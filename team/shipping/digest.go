package shipping

import (
	"bytes"
	"cmp"
	"strings"
	"unicode/utf8"

	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/attached"
	"github.com/xcsh-ls/xcsh-ls/session/library"
	"github.com/xcsh-ls/xcsh-ls/team"
)

const (
	maxText  = 8 << 10 // bytes of a text for the search
	maxTitle = 1 << 10 // bytes of a title
	maxFirst = 200     // characters of the first prompt; a store keeps no more
)

// Digest describes the lines of a session for lists, as [library.Info] does for a file. It is computed from lines as they leave, so
// that it contains nothing that was redacted. The zero value describes an empty body.
type Digest struct {
	File     int64   `json:"file"` // the end of the lines in the body of the file
	Out      int64   `json:"out"`  // the end of the lines as they left
	Messages int     `json:"messages"`
	Cost     float64 `json:"cost"`            // in US dollars
	First    string  `json:"first,omitempty"` // the first prompt with a text, at most 200 characters of it

	Name     string `json:"name,omitempty"`  // of the newest entry that names the session
	Named    bool   `json:"named,omitempty"` // Name is newer than the title of the header, if that has one
	Repeated bool   `json:"repeated,omitempty"`
	Filed    string `json:"filed,omitempty"`   // the title that was filed for the search
	Summary  string `json:"summary,omitempty"` // the short summary of the newest compaction, which lists show without a title
}

// Add adds whole lines of the file, which follow those before. It returns their texts for the search. home is the home directory of the
// user, which becomes "~"; "" keeps all paths.
func (d *Digest) Add(rules Rules, lines []byte, home string) (texts []team.Text) {
	d.File += int64(len(lines))
	if rules.scanner != nil {
		lines, _ = rules.lines(lines)
	}
	for line := range bytes.Lines(lines) {
		off := d.Out
		d.Out += int64(len(line))
		env, _, st := rawjson.ScanEnvelope(line)
		if !env.Object || st != rawjson.Complete {
			continue
		}
		t, ok := d.line(line, env)
		if !ok || t.Body == "" {
			continue
		}
		t.Off, t.Body = off, cut(Tilde(t.Body, home), maxText)
		t.Entry, _ = rawjson.String(env.ID)
		texts = append(texts, t)
	}
	d.First, d.Name, d.Summary = firstOf(Tilde(d.First, home)), Tilde(d.Name, home), Tilde(d.Summary, home)
	return texts
}

// line adds one line. ok is false if it has no text.
func (d *Digest) line(line []byte, env rawjson.Envelope) (t team.Text, ok bool) {
	typ, _ := rawjson.String(env.Type)
	switch session.Type(typ) {
	case session.TypeMessage:
		if rawjson.Truthy(env.Message) {
			return d.message(env)
		}
	case session.TypeCompaction:
		c := session.Entry{Raw: line}.AsCompaction()
		d.Summary = cut(cmp.Or(c.ShortSummary, d.Summary), maxTitle)
		return team.Text{Kind: team.SummaryText, Body: c.Summary}, true
	case session.TypeSessionInfo:
		name, repeated := session.EntryTitle(line)
		d.Name, d.Named, d.Repeated = cut(name, maxTitle), true, repeated
		return team.Text{Kind: team.TitleText, Body: name}, !repeated // the title of the head is filed by itself
	default:
	}
	return t, false
}

// message adds a message.
func (d *Digest) message(env rawjson.Envelope) (t team.Text, ok bool) {
	d.Messages++
	d.Cost += session.CostOf(env)
	role, _ := rawjson.String(env.Role)
	switch role {
	case "user":
		t.Kind = team.PromptText
	case "assistant":
		t.Kind = team.AnswerText
	default:
		return t, false
	}
	t.Body = library.TextOf(rawjson.Get(env.Message, "content"))
	if role == "user" {
		words := attached.Words(t.Body)
		d.First = cmp.Or(d.First, cut(words, maxText))
		t.Body = cmp.Or(words, t.Body)
	}
	return t, true
}

// Title returns the title that lists show for a session with this head and these lines.
func (d *Digest) Title(h Head) string {
	switch header := h.Header(); {
	case h.HasSlot():
		return h.Title().Text
	case d.Named && d.Name != "" && (!d.Repeated || !header.HasTitle):
		return d.Name
	case header.HasTitle:
		return header.Title
	}
	return d.Summary
}

// Tilde returns text with "~" for the user's home directory.
func Tilde(text, home string) string {
	home = strings.TrimRight(home, `/\`)
	if home == "" {
		return text
	}
	var b strings.Builder
	for rest := text; ; {
		at := strings.Index(rest, home)
		if at < 0 {
			if b.Len() == 0 {
				return text
			}
			b.WriteString(rest)
			return b.String()
		}
		end := at + len(home)
		b.WriteString(rest[:at])
		if isPathByte(text, len(text)-len(rest)+at-1) || isNameByte(rest, end) {
			b.WriteString(home) // a part of another path
		} else {
			b.WriteByte('~')
		}
		rest = rest[end:]
	}
}

// isNameByte reports whether the byte at i continues the name of a file.
func isNameByte(s string, i int) bool {
	return i >= 0 && i < len(s) && (s[i] >= utf8.RuneSelf || strings.IndexByte("_-", s[i]) >= 0 ||
		s[i] >= '0' && s[i] <= '9' || s[i] >= 'a' && s[i] <= 'z' || s[i] >= 'A' && s[i] <= 'Z')
}

// isPathByte reports whether the byte at i is a part of a path that continues behind it.
func isPathByte(s string, i int) bool {
	return isNameByte(s, i) || i >= 0 && (s[i] == '.' || s[i] == '~')
}

// firstOf cuts a prompt to the length that stores keep.
func firstOf(text string) string {
	n := 0
	for i := range text {
		if n++; n > maxFirst {
			return text[:i]
		}
	}
	return text
}

// cut returns the first bytes of a text, whole characters of it.
func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most]
}
