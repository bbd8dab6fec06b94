package patched

import (
	"strconv"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/agent/change/merge"
)

// hunksOf reads the hunks of a unified diff of one file. It has none if anything is not understood, or not as its headers say.
func hunksOf(text string) (places []replaced) {
	p := parser{}
	for line := range strings.Lines(text) {
		if !p.line(line) {
			return nil
		}
	}
	if !p.flush() {
		return nil
	}
	return p.places
}

// parser reads a diff line by line.
type parser struct {
	places   []replaced
	r        *replaced // the hunk that is read
	old, new int       // lines of it that are still to come
	last     byte      // the kind of the line before
}

// line reads one line; false if it does not belong there.
func (p *parser) line(line string) bool {
	switch {
	case p.r != nil && strings.HasPrefix(line, `\`):
		return p.withoutEnd()
	case p.r != nil && (p.old > 0 || p.new > 0):
		return p.body(line)
	case strings.HasPrefix(line, "@@ "):
		return p.flush() && p.header(line)
	}
	// What comes before the first hunk names the file. Behind it, it would be another file.
	return p.r == nil || strings.TrimSpace(line) == ""
}

// body reads a line of a hunk. Some programs leave the space of an empty line out.
func (p *parser) body(line string) bool {
	r := p.r
	p.last = line[0]
	switch line[0] {
	case '-':
		r.old, p.old = r.old+line[1:], p.old-1
		r.diff.Old = append(r.diff.Old, []byte(line[1:]))
	case '+':
		r.new, p.new = r.new+line[1:], p.new-1
		r.diff.New = append(r.diff.New, []byte(line[1:]))
	case ' ', '\n':
		same := strings.TrimPrefix(line, " ")
		r.old, r.new, p.old, p.new = r.old+same, r.new+same, p.old-1, p.new-1
		if len(r.diff.Old) == 0 && len(r.diff.New) == 0 {
			r.diff.OldStart++
			r.diff.NewStart++
		}
	default:
		return false
	}
	return p.old >= 0 && p.new >= 0
}

// withoutEnd takes the line feed off the line before the mark of a missing one.
func (p *parser) withoutEnd() bool {
	if p.last != '+' {
		p.r.old = strings.TrimSuffix(p.r.old, "\n")
	}
	if p.last != '-' {
		p.r.new = strings.TrimSuffix(p.r.new, "\n")
	}
	return p.last != 0
}

// flush ends a hunk; false if lines of it are missing.
func (p *parser) flush() bool {
	if p.r != nil {
		p.r.diff.OldLines, p.r.diff.NewLines = len(p.r.diff.Old), len(p.r.diff.New)
		p.places = append(p.places, *p.r)
	}
	p.r, p.last = nil, 0
	return p.old == 0 && p.new == 0
}

// header begins a hunk.
func (p *parser) header(line string) bool {
	fields := strings.Fields(line)
	if len(fields) < 4 || fields[1][0] != '-' || fields[2][0] != '+' || fields[3] != "@@" {
		return false
	}
	var okOld, okNew bool
	p.r = &replaced{lines: true}
	p.r.diff.OldStart, p.old, okOld = span(fields[1][1:])
	p.r.diff.NewStart, p.new, okNew = span(fields[2][1:])
	return okOld && okNew
}

// span reads the first line and the number of lines. An empty range lies behind the line that is named.
func span(text string) (start, lines int, ok bool) {
	first, rest, several := strings.Cut(text, ",")
	start, err := strconv.Atoi(first)
	lines = 1
	if several && err == nil {
		lines, err = strconv.Atoi(rest)
	}
	if lines == 0 {
		start++
	}
	return start, lines, err == nil && start >= 0 && lines >= 0
}

// count returns how many lines a call added and removed.
func (c Call) count() (added, removed int) {
	for _, r := range c.replaced() {
		added, removed = added+r.diff.NewLines, removed+r.diff.OldLines
	}
	if c.Wrote != nil {
		added += len(merge.Lines([]byte(*c.Wrote)))
	}
	return added, removed
}
