package markup

import "strings"

// codeSpan is code within a line: its ticks begin at open and at close.
type codeSpan struct{ open, close, ticks int }

// spans returns the code spans of a line on which all viewers agree, as far as the line alone
// shows: each run of backticks is followed by one of the same length. Only the appearance of
// the result depends on it.
func spans(line string) (found []codeSpan) {
	var runs []codeSpan // close is unused
	for i := 0; i < len(line); {
		if line[i] != '`' {
			i++
			continue
		}
		n := i
		for n < len(line) && line[n] == '`' {
			n++
		}
		if len(runs)%2 == 0 && i > 0 && line[i-1] == '\\' {
			return nil
		}
		runs = append(runs, codeSpan{open: i, ticks: n - i})
		i = n
	}
	if len(runs)%2 != 0 {
		return nil
	}
	for i := 0; i < len(runs); i += 2 {
		if runs[i].ticks != runs[i+1].ticks {
			return nil
		}
		found = append(found, codeSpan{runs[i].open, runs[i+1].open, runs[i].ticks})
	}
	return found
}

// ticks is the mark around a part of a line that is code.
type ticks string

// newTicks returns the mark for code without one as long in it.
func newTicks(n int) ticks { return ticks(strings.Repeat("`", n)) }

// render writes parts with the text among them as code and the rest between it.
func (t ticks) render(parts []part) string {
	var b strings.Builder
	for _, p := range parts {
		if p.new {
			b.WriteString(p.text)
			continue
		}
		space := ""
		if strings.HasPrefix(p.text, "`") || strings.HasSuffix(p.text, "`") || strings.HasPrefix(p.text, " ") && strings.HasSuffix(p.text, " ") {
			space = " " // which a viewer takes away again
		}
		b.WriteString(string(t) + space + p.text + space + string(t))
	}
	return b.String()
}
