package export

import (
	"regexp"
	"strings"
	"time"
	"unicode/utf8"
)

// terminalColour matches what sets the colour of text in a terminal.
var terminalColour = regexp.MustCompile(`\x1b\[[0-9;:]*m`)

// clean makes s fit for a page: valid UTF-8, plain line feeds, no terminal colours,
// and other control characters as their pictures, because a browser drops some of
// them and mangles others.
func clean(s string) string {
	s = validUTF8(s)
	if strings.IndexFunc(s, isControl) < 0 {
		return s
	}
	s = terminalColour.ReplaceAllString(strings.ReplaceAll(s, "\r\n", "\n"), "")
	return strings.Map(func(r rune) rune {
		switch {
		case !isControl(r):
			return r
		case r < 0x20:
			return 0x2400 + r
		case r == 0x7F:
			return 0x2421
		case r < 0xA0:
			return utf8.RuneError
		}
		return -1
	}, s)
}

// isControl reports whether r is shown by a picture or not at all: control characters
// except tab and line feed, and the marks that reorder text, with which a command
// can be made to look like another one.
func isControl(r rune) bool {
	switch {
	case r == '\t' || r == '\n':
		return false
	case r < 0x20 || 0x7F <= r && r < 0xA0:
		return true
	}
	return 0x202A <= r && r <= 0x202E || 0x2066 <= r && r <= 0x2069
}

// preview returns the beginning of s on one line, at most n characters.
func preview(s string, n int) string {
	if limit := 8 * n; len(s) > limit { // enough even when much of it is white space
		s = strings.ToValidUTF8(s[:limit], "") + " …"
	}
	s = strings.Join(strings.Fields(clean(s)), " ")
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return strings.TrimSpace(string([]rune(s)[:n-1])) + "…"
}

// moment is a time: Text to the minute, Full to the second.
type moment struct{ Text, Full string }

// instant reads an ISO time as entries have it and shows it in UTC, so that a page
// does not depend on where it was made. Anything else is shown as it is.
func instant(s string) moment {
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		text := preview(s, 40)
		return moment{Text: text, Full: text}
	}
	t = t.UTC()
	return moment{t.Format("2006-01-02 15:04"), t.Format("2006-01-02 15:04:05 UTC")}
}

// lineCount returns the number of lines of s; a newline at the end starts none.
func lineCount(s string) int {
	if s = strings.TrimSuffix(s, "\n"); s == "" {
		return 0
	}
	return strings.Count(s, "\n") + 1
}
