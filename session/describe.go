package session

import (
	"strings"
	"unicode/utf8"

	"github.com/xcsh-ls/xcsh-ls/session/fault"
	"github.com/xcsh-ls/xcsh-ls/session/rawjson"
)

// descriptionType is the custom type of the entries that hold a session's description, as
// {"text": …}. The newest one of the file counts, whatever branch it is on. All three
// programs keep such entries and show them to no model.
const descriptionType = "xcsh-ls.description"

// maxDescription is the length of the longest description, in characters. Whoever resumes
// a session is shown it.
const maxDescription = 10_000

// SetDescription describes the session; an empty text takes the description away. The text
// is cleaned, see [CleanDescription], and returned as it was stored. One that the session
// has already is not written again. A text of more than ten thousand characters is kind
// invalidArgument. For the rest it is [Log.Append].
func (l *Log) SetDescription(text string) (stored string, err error) {
	text = CleanDescription(text)
	if n := utf8.RuneCountInString(text); n > maxDescription {
		return "", fault.New(fault.InvalidArgument, "A description can have %d characters, not %d.", maxDescription, n).With("field", "text")
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	was, err := l.ready()
	if err != nil {
		return "", err
	}
	if now, err := l.doc.Description(); err != nil || now == text && l.err == nil {
		return text, err
	}
	_, err = l.put(draftDescription(text), was)
	return text, err
}

func draftDescription(text string) *Draft {
	return DraftCustom(descriptionType, new(rawjson.Object).String("text", text).Bytes())
}

// Description returns what a person wrote about the session, "" when nobody did. The error
// is that of reading a large file.
func (d *Document) Description() (string, error) {
	for i := d.Len() - 1; i >= 0; i-- {
		if d.tree.typ(i) != TypeCustom {
			continue
		}
		e, err := d.Entry(i)
		if err != nil {
			return "", err
		}
		c := e.AsCustom()
		if c.CustomType != descriptionType {
			continue
		}
		if text, ok := rawjson.GetString(c.Data, "text"); ok {
			return CleanDescription(text), nil
		}
	}
	return "", nil
}

// LastActivity returns the time of the last entry that has one, in the order of the file,
// and that of the header when none has; as it is written where it cannot be read.
func (d *Document) LastActivity() (string, error) {
	for i := d.Len() - 1; i >= 0; i-- {
		e, err := d.Entry(i)
		if err != nil {
			return "", err
		}
		if t, ok := ParseTime(e.Timestamp); ok {
			return FormatTime(t), nil
		}
	}
	return isoTime(d.header.Timestamp), nil
}

// CleanDescription makes a description of any text. Line ends and tabs stay; other control
// characters become spaces, what reorders text on a screen goes, and so does outer space.
func CleanDescription(s string) string {
	s = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(strings.ToValidUTF8(s, "\uFFFD"))
	s = strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case r < 0x20 || r >= 0x7F && r <= 0x9F:
			return ' '
		case reorders(r):
			return -1
		}
		return r
	}, s)
	return strings.TrimFunc(s, isJSSpace)
}

// reorders reports whether r makes a screen show text in another order than it has.
func reorders(r rune) bool { return r >= 0x202A && r <= 0x202E || r >= 0x2066 && r <= 0x2069 }
