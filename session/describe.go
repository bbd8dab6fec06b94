package session

import (
	"context"
	"strings"
	"unicode/utf8"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
	"github.com/xcsh-ls/xcsh-ls/session/internal/own"
)

// maxDescription is the maximum length of a description, in characters. The description is
// shown when the session is resumed.
const maxDescription = 10_000

// SetDescription sets the session's description; an empty text removes it. It cleans the
// text, see [cleanDescription], and returns it as stored. An unchanged description is not
// written again. A text of more than ten thousand characters is an InvalidArgument error.
// Otherwise SetDescription works like [Log.Append].
func (l *Log) SetDescription(text string) (stored string, err error) {
	text = cleanDescription(text)
	if n := utf8.RuneCountInString(text); n > maxDescription {
		return "", fault.New(fault.InvalidArgument, "A description can have %d characters, not %d.", maxDescription, n).With("field", "text")
	}
	if err := l.settle(context.Background()); err != nil {
		return "", err
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

// DraftDescription returns a draft of an entry that sets the session's description to the
// text, cleaned and cut to the greatest length; nil if nothing is left of it.
func DraftDescription(text string) *Draft {
	text = cleanDescription(text)
	n := 0
	for i := range text {
		if n++; n > maxDescription {
			text = text[:i]
			break
		}
	}
	if text == "" {
		return nil
	}
	return draftDescription(text)
}

func draftDescription(text string) *Draft {
	return DraftCustom(own.Description, new(rawjson.Object).String("text", text).Bytes())
}

// Description returns the session's description, or "" if it has none: that of the newest
// entry with one, on whatever branch. It fails only if a large file cannot be read.
func (d *Document) Description() (string, error) {
	d.tally.mu.Lock()
	defer d.tally.mu.Unlock()
	if err := d.sumUp(); err != nil || d.tally.described == 0 {
		return "", err
	}
	e, err := d.Entry(d.tally.described - 1)
	text, _ := rawjson.GetString(e.AsCustom().Data, "text")
	return cleanDescription(text), err
}

// LastActivity returns the time of the last entry in the file that has a valid one, or that
// of the header if none has. A header's time that cannot be parsed is returned as written.
func (d *Document) LastActivity() (string, error) {
	for i := d.Len() - 1; i >= 0; i-- {
		e, err := d.Brief(i)
		if err != nil {
			return "", err
		}
		if t, ok := ParseTime(e.Timestamp); ok {
			return FormatTime(t), nil
		}
	}
	return ISOTime(d.header.Timestamp), nil
}

// cleanDescription converts any text to a description. It keeps tabs and line ends, the
// latter as LF, replaces other control characters with spaces, and removes bidirectional
// formatting characters and outer white space.
func cleanDescription(s string) string {
	s = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(strings.ToValidUTF8(s, "\uFFFD"))
	s = strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case r < 0x20 || r >= 0x7F && r <= 0x9F:
			return ' '
		case own.Reorders(r):
			return -1
		}
		return r
	}, s)
	return strings.TrimFunc(s, isJSSpace)
}
