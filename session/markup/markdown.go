package markup

import (
	"regexp"
	"slices"
	"strings"
)

// maxQuotes is how deep block quotes may be nested. Deeper ones are treated as text.
const maxQuotes = 8

// Markdown returns Markdown without HTML, images and links to anything but the web, mail and
// relative paths. Other Markdown stays as it is.
func Markdown(s string) string {
	var d document
	d.blocks("", strings.Split(normal(s), "\n"), maxQuotes)
	return strings.Join(d.lines, "\n")
}

// document collects the lines of the result.
type document struct {
	lines  []string
	inList bool // the last text was, or may have been, a part of a list
}

var quoted = regexp.MustCompile(`^ {0,3}> ?`)

// blocks adds lines, each after prefix, which is that of the block quote they are in.
func (d *document) blocks(prefix string, lines []string, quotes int) {
	for i := 0; i < len(lines); {
		f, opens, inline := fenceOf(lines[i])
		switch {
		case opens:
			i += d.code(prefix, f, lines[i:])
		case quotes > 0 && strings.Contains(lines[i], ">") && quoted.MatchString(lines[i]):
			i += d.quote(prefix, lines[i:], quotes)
		case isIndented(lines[i]) && d.mayIndent(prefix):
			i += d.indented(prefix, lines[i:])
		case inline:
			// Not the beginning of a block in any viewer: a line begins with an entity there.
			d.text(prefix, f.indent+f.markers+"&#32;"+strings.TrimPrefix(lines[i], f.indent+f.markers))
			i++
		default:
			d.text(prefix, lines[i])
			i++
		}
	}
}

// quote adds the block quote at the beginning of lines and returns the number of its
// lines.
func (d *document) quote(prefix string, lines []string, quotes int) int {
	var inside []string
	for _, l := range lines {
		mark := quoted.FindString(l)
		if mark == "" {
			break
		}
		inside = append(inside, l[len(mark):])
	}
	d.inList = false
	d.blocks(prefix+"> ", inside, quotes-1)
	d.inList = false
	return len(inside)
}

// code adds the code block at the beginning of lines and returns the number of its lines.
func (d *document) code(prefix string, f fence, lines []string) int {
	inside, all := f.body(lines[1:])
	if block := lines[:1+all]; d.nested(f) && all > inside && f.harmless(block) {
		for _, l := range block {
			d.add(prefix, l)
		}
		return len(block)
	}
	if f.markers != "" {
		d.text(prefix, f.indent+strings.TrimRight(f.markers, " \t"))
	}
	block := fenced(f.info, f.dedented(lines[1:1+inside]))
	if f.indent+f.markers != "" {
		d.apart(prefix, block, lines[1+all:])
		return 1 + all
	}
	for _, l := range block {
		d.add(prefix, l)
	}
	return 1 + all
}

// nested reports whether a block that begins with f would lose its place at the left margin.
func (*document) nested(f fence) bool { return f.indent != "" && f.markers == "" }

// harmless reports whether a block may stay where it is, possibly inside of a list: whether
// or not a viewer treats it as code, there is nothing in it to neutralise, and nothing that
// ends the list or begins another block.
func (f fence) harmless(block []string) bool {
	last := len(block) - 1
	if strings.Contains(f.indent, "\t") || !strings.HasPrefix(block[last], f.indent+f.mark) || f.info != language(f.info) {
		return false
	}
	for _, l := range block[1:last] {
		_, opens, inline := fenceOf(l)
		blank := strings.Trim(l, " \t") == ""
		if opens || inline || !blank && !strings.HasPrefix(l, f.indent) || neutral(l) != l {
			return false
		}
	}
	return true
}

// apart adds lines with blank lines around them; rest are the lines after them.
func (d *document) apart(prefix string, code, rest []string) {
	if n := len(d.lines); n > 0 && strings.TrimRight(d.lines[n-1], "> ") != "" {
		d.add(prefix, "")
	}
	for _, l := range code {
		d.add(prefix, l)
	}
	if len(rest) > 0 && strings.TrimSpace(rest[0]) != "" {
		d.add(prefix, "")
	}
}

// mayIndent reports whether an indented line would begin a code block: after a blank line, and
// outside of lists, where it may be a paragraph.
func (d *document) mayIndent(prefix string) bool {
	if n := len(d.lines); n > 0 && strings.TrimSpace(strings.TrimPrefix(d.lines[n-1], strings.TrimRight(prefix, " "))) != "" {
		return false
	}
	return !d.inList
}

// indented adds the indented code block at the beginning of lines and returns the number of
// its lines. A block with anything to neutralise is put in a fence.
func (d *document) indented(prefix string, lines []string) int {
	n := indentedLen(lines)
	if !slices.ContainsFunc(lines[:n], func(l string) bool { return neutral(l) != l }) {
		for _, l := range lines[:n] {
			d.add(prefix, l)
		}
		return n
	}
	d.apart(prefix, fenced("", fence{indent: "    "}.dedented(lines[:n])), lines[n:])
	return n
}

func isIndented(line string) bool {
	return (strings.HasPrefix(line, "    ") || strings.HasPrefix(line, "\t")) && strings.TrimSpace(line) != ""
}

// indentedLen returns the number of lines of an indented block, without blank ones at its
// end.
func indentedLen(lines []string) (n int) {
	for i, l := range lines {
		if isIndented(l) {
			n = i + 1
		} else if strings.TrimSpace(l) != "" {
			break
		}
	}
	return n
}

var listItem = regexp.MustCompile(`^ {0,3}(?:[-*+]|[0-9]{1,9}[.)])(?:[ \t]|$)`)

// text adds a line that is not in a code block.
func (d *document) text(prefix, line string) {
	switch {
	case line == "" || d.inList && (line[0] == ' ' || line[0] == '\t'):
	case listItem.MatchString(line):
		d.inList = true
	case line[0] != ' ' && line[0] != '\t':
		d.inList = false
	}
	d.add(prefix, neutral(line))
}

func (d *document) add(prefix, line string) {
	if line == "" {
		prefix = strings.TrimRight(prefix, " ")
	}
	d.lines = append(d.lines, prefix+line)
}
