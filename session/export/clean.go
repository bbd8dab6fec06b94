package export

import (
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/xcsh-ls/xcsh-ls/session/visible"
)

// terminalColour matches the terminal sequences that set the colour of text.
var terminalColour = regexp.MustCompile(`\x1b\[[0-9;:]*m`)

// clean makes s fit for a page: valid UTF-8, plain line feeds, no terminal colours, and
// escapes for other characters that a reader cannot see.
func clean(s string) string {
	s = validUTF8(s)
	if strings.IndexByte(s, '\x1b') >= 0 {
		s = terminalColour.ReplaceAllString(s, "")
	}
	return visible.Text(strings.ReplaceAll(s, "\r\n", "\n"))
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

// instant reads an ISO time as entries have it and shows it in UTC, so that a page does
// not depend on the time zone of its creation. Any other value is shown as it is.
func instant(s string) moment {
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		text := preview(s, 40)
		return moment{Text: text, Full: text}
	}
	t = t.UTC()
	return moment{t.Format("2006-01-02 15:04"), t.Format("2006-01-02 15:04:05 UTC")}
}

// lineCount returns the number of lines of s; a final newline does not begin another one.
func lineCount(s string) int {
	if s = strings.TrimSuffix(s, "\n"); s == "" {
		return 0
	}
	return strings.Count(s, "\n") + 1
}
