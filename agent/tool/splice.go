package tool

import "strings"

// splice returns the raw content with the spans of its text replaced. Everything outside of them
// keeps its bytes, and so do the common beginning and end of a replacement and the text that it
// replaces. New line breaks are those of the line on which the change begins.
func (d document) splice(spans []span) string {
	var w spliced
	at := d.positions()
	done := 0
	for _, s := range spans {
		s = s.trim(d.text)
		start, end := at(s.start), at(s.end)
		w.add(d.raw[done:start])
		w.add(strings.ReplaceAll(s.text, "\n", d.lineEnd(start)))
		done = end
	}
	w.add(d.raw[done:])
	return w.b.String()
}

// trim removes the common beginning and end of the old and the new text.
func (s span) trim(text string) span {
	old := text[s.start:s.end]
	n := 0
	for n < len(old) && n < len(s.text) && old[n] == s.text[n] {
		n++
	}
	old, s.text, s.start = old[n:], s.text[n:], s.start+n
	n = 0
	for n < len(old) && n < len(s.text) && old[len(old)-1-n] == s.text[len(s.text)-1-n] {
		n++
	}
	s.text, s.end = s.text[:len(s.text)-n], s.end-n
	return s
}

// positions returns a function from positions in the text to those in the raw content. It must be
// called in rising order. Only a carriage return before a line feed is missing in the text; a
// position before the line feed is before both.
func (d document) positions() func(int) int {
	dropped := 0                         // carriage returns before the position
	next := strings.Index(d.raw, "\r\n") // the first that was not counted
	return func(at int) int {
		at += len(d.mark)
		for next >= 0 && next-dropped < at {
			dropped++
			i := strings.Index(d.raw[next+2:], "\r\n")
			if i < 0 {
				next = -1
				break
			}
			next += 2 + i
		}
		return at + dropped
	}
}

// lineEnd is how the line ends that position at of the raw content is on. The last line
// may have no end; then it is that of the line before.
func (d document) lineEnd(at int) string {
	i := strings.IndexByte(d.raw[at:], '\n')
	if i >= 0 {
		i += at
	} else if i = strings.LastIndexByte(d.raw[:at], '\n'); i < 0 {
		return d.end
	}
	if i > 0 && d.raw[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

// spliced joins pieces. A carriage return at the end of one and a line feed at the
// beginning of the next would become one line break; another carriage return keeps them
// apart.
type spliced struct {
	b  strings.Builder
	cr bool // the last byte is a carriage return
}

func (w *spliced) add(piece string) {
	if piece == "" {
		return
	}
	if w.cr && piece[0] == '\n' {
		w.b.WriteByte('\r')
	}
	w.b.WriteString(piece)
	w.cr = piece[len(piece)-1] == '\r'
}
