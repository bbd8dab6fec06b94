package picker

import (
	"strings"
	"unicode/utf8"

	"github.com/xcsh-ls/xcsh-ls/session/visible"
)

// Limits of a list, so that a hostile row costs no more than a screen can show of it.
const (
	maxText   = 1 << 10 // bytes of a field that are shown
	maxSearch = 4 << 10 // bytes of a field that are searched
	maxRows   = 100_000 // the others are not shown
	maxQuery  = 200     // characters
)

// shown is a row as it is kept: escaped, and with the text to search.
type shown struct{ text, detail, aside, search string }

func show(r Row) shown {
	var search strings.Builder
	for _, field := range []string{r.Text, r.Detail, r.Aside, r.Search} {
		search.WriteString(strings.ToLower(cut(field, maxSearch)))
		search.WriteByte('\n') // no word of a query contains it
	}
	return shown{escape(r.Text), escape(r.Detail), escape(r.Aside), search.String()}
}

// escape returns a text in one line that can't control the terminal.
func escape(s string) string {
	return visible.Line(strings.Join(strings.Fields(cut(s, maxText)), " "))
}

// cut returns the beginning of s, at most n bytes of it.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// matches reports whether a row contains every word.
func (s shown) matches(words []string) bool {
	for _, word := range words {
		if !strings.Contains(s.search, word) {
			return false
		}
	}
	return true
}
