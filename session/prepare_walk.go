package session

import (
	"bytes"
	"strconv"

	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
)

// place describes the position of a value: under which key, whether in a list there (lists
// in lists inherit the key), and within how many objects and lists.
type place struct {
	key   role
	list  bool
	depth int
}

// extent is a range of the line. The zero value is none, because a line begins with its
// opening bracket.
type extent struct{ from, to int }

func (e extent) some() bool { return e.to > 0 }

// members are the values of an object that are handled together, once all are known. Of
// duplicate keys the last one counts, as in JavaScript.
type members struct {
	typ, mime    extent
	data, result extent // strings; no rule was applied to them yet
	content      extent // the inside of a string, as far as it is kept
	cut          bool   // content ends with the notice
	lineCount    extent // a number
}

// value applies the rules to the value at i and returns its end.
func (p *preparer) value(i int, at place) (end int) {
	switch p.at(i) {
	case '"':
		end = stringEnd(p.line, i)
		p.text(extent{i, end}, at)
		return end
	case '{':
		if at.depth < maxPrepareDepth {
			return p.object(i, at)
		}
	case '[':
		if at.depth < maxPrepareDepth {
			return p.list(i, place{at.key, true, at.depth + 1})
		}
	}
	return valueEnd(p.line, i)
}

// list applies the rules to the list at i, whose items have the place at, and returns its
// end.
func (p *preparer) list(i int, at place) int {
	for i = skipBlank(p.line, i+1); i < len(p.line) && p.line[i] != ']'; i = skipBlank(p.line, i+1) {
		if i = skipBlank(p.line, p.value(i, at)); p.at(i) != ',' {
			break
		}
	}
	return min(i+1, len(p.line))
}

// object applies the rules to the object at i and returns its end.
func (p *preparer) object(i int, at place) int {
	var m members
	before := len(p.edits)
	prevEnd, dropFrom := 0, 0 // 0 is none
	for i = skipBlank(p.line, i+1); p.at(i) == '"'; i = skipBlank(p.line, i+1) {
		key := extent{i, stringEnd(p.line, i)}
		if dropFrom > 0 { // with the comma after it
			p.replace(dropFrom, i, nil)
			dropFrom = 0
		}
		val := skipBlank(p.line, min(skipBlank(p.line, key.to)+1, len(p.line)))
		end := 0
		switch r := roleOf(p.line[key.from:key.to]); {
		case r != roleTransient:
			end = p.member(&m, val, place{key: r, depth: at.depth + 1})
			prevEnd = end
		case prevEnd > 0: // with the comma before it
			end = valueEnd(p.line, val)
			p.replace(prevEnd, end, nil)
			prevEnd = end
		default:
			end = valueEnd(p.line, val)
			dropFrom = i
		}
		if i = skipBlank(p.line, end); p.at(i) != ',' {
			if dropFrom > 0 {
				p.replace(dropFrom, end, nil)
			}
			break
		}
	}
	p.images(m, at)
	if len(p.edits) > before {
		p.countLines(m)
	}
	return min(i+1, len(p.line))
}

// member applies the rules to one member's value and notes it in m if it is to be handled
// together with others.
func (p *preparer) member(m *members, val int, at place) (end int) {
	if pending := m.pending(at.key); pending != nil {
		if pending.some() { // a duplicate replaces it, so that the earlier one is just text
			p.text(*pending, at)
			*pending = extent{}
		}
		if p.at(val) == '"' {
			*pending = extent{val, stringEnd(p.line, val)}
			return pending.to
		}
	}
	edits := len(p.edits)
	end = p.value(val, at)
	v := extent{val, end}
	switch at.key {
	case roleType:
		m.typ = v
	case roleMimeType:
		m.mime = v
	case roleLineCount:
		m.lineCount = extent{}
		if rawjson.Kind(p.line[val:end]) == '0' {
			m.lineCount = v
		}
	case roleContent:
		m.content, m.cut = extent{}, false
		if p.at(val) == '"' {
			// A line that is torn right after the quote has no end of a text.
			m.content, m.cut = extent{val + 1, max(val+1, end-1)}, len(p.edits) > edits
		}
		if m.cut {
			m.content.to = int(p.edits[edits].off)
		}
	}
	return end
}

// pending returns where the value of a role is kept until the object's end, or nil if it is
// not.
func (m *members) pending(r role) *extent {
	switch r {
	case roleData:
		return &m.data
	case roleResult:
		return &m.result
	}
	return nil
}

// countLines makes lineCount agree with content. It is only called for an object in which
// anything changed: a wrong count from elsewhere is left alone, as the programs do.
func (p *preparer) countLines(m members) {
	if !m.content.some() || !m.lineCount.some() {
		return
	}
	lines := 1 + newlines(p.line[m.content.from:m.content.to])
	if m.cut {
		lines += 2 // those of the notice
	}
	if old, _ := rawjson.Float(p.line[m.lineCount.from:m.lineCount.to]); old != float64(lines) {
		p.replace(m.lineCount.from, m.lineCount.to, strconv.AppendInt(nil, int64(lines), 10))
	}
}

// at returns the byte at i, 0 past the end of a line that is not JSON.
func (p *preparer) at(i int) byte {
	if i >= len(p.line) {
		return 0
	}
	return p.line[i]
}

// valueEnd returns the end of the value that starts at b[i]. It looks only at brackets and
// strings.
func valueEnd(b []byte, i int) int {
	depth := 0
	for i < len(b) {
		switch b[i] {
		case '"':
			if i = stringEnd(b, i); depth == 0 {
				return i
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth < 0 {
				return i
			}
			if depth == 0 {
				return i + 1
			}
		case ',', ' ', '\t', '\r', '\n':
			if depth == 0 {
				return i
			}
		}
		i++
	}
	return i
}

// stringEnd returns the index after the string that starts at b[i].
func stringEnd(b []byte, i int) int {
	for i++; ; {
		n := bytes.IndexByte(b[i:], '"')
		if n < 0 {
			return len(b)
		}
		i += n + 1
		escapes := 0
		for j := i - 2; b[j] == '\\'; j-- { // stops at a quote at the latest
			escapes++
		}
		if escapes%2 == 0 {
			return i
		}
	}
}

// inside returns a string's text without its quotes, still escaped.
func inside(v []byte) []byte { return v[1:max(1, len(v)-1)] }

// quoteFrom returns the index of the first quote from i on, len(b) if there is none.
func quoteFrom(b []byte, i int) int {
	if n := bytes.IndexByte(b[i:], '"'); n >= 0 {
		return i + n
	}
	return len(b)
}

func skipBlank(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\n' || b[i] == '\t' || b[i] == '\r') {
		i++
	}
	return i
}
