package markup

import (
	"regexp"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/session/visible"
)

// Block returns s as a code block in language lang.
func Block(lang, s string) string {
	s = strings.TrimSuffix(normal(s), "\n")
	fence := fenceFor(longestRun(s))
	return fence + language(lang) + "\n" + s + "\n" + fence
}

// fenced encloses lines in a fence that occurs nowhere in them.
func fenced(lang string, lines []string) []string {
	if len(lines) == 0 {
		lines = []string{""} // some viewers need a line to see a block
	}
	longest := 0
	for _, l := range lines {
		longest = max(longest, longestRun(l))
	}
	fence := fenceFor(longest)
	return append(append([]string{fence + language(lang)}, lines...), fence)
}

// fenceFor returns a fence that is longer than the longest run of backticks.
func fenceFor(longest int) string {
	const usual = "````````"
	n := max(3, longest+1)
	if n <= len(usual) {
		return usual[:n]
	}
	return strings.Repeat("`", n)
}

// longestRun returns the length of the longest run of backticks in s.
func longestRun(s string) int {
	longest := 0
	for {
		i := strings.IndexByte(s, '`')
		if i < 0 {
			return longest
		}
		rest := strings.TrimLeft(s[i:], "`")
		longest = max(longest, len(s)-i-len(rest))
		s = rest
	}
}

var languageName = regexp.MustCompile(`^[\pL\d_+#.:-]{1,40}`)

// language returns the name of the language that an info string begins with.
func language(info string) string { return languageName.FindString(strings.TrimSpace(info)) }

// normal returns s with visible characters and plain line feeds only.
func normal(s string) string { return strings.ReplaceAll(visible.Text(s), "\r\n", "\n") }

// fence is the line that opens a code block.
type fence struct {
	indent, markers string // white space, and the markers of lists that begin on the line
	mark            string // the backticks or tildes
	info            string
}

var fenceLine = regexp.MustCompile("^([ \t]*)((?:(?:[-*+]|[0-9]{1,9}[.)])[ \t]+)*)(`{3,}|~{3,})(.*)$")

// fenceOf reads a line that opens a code block, inside a list or not. inline reports that it
// only looks like one: it has more backticks after the first run.
func fenceOf(line string) (f fence, opens, inline bool) {
	if !strings.Contains(line, "```") && !strings.Contains(line, "~~~") {
		return f, false, false
	}
	m := fenceLine.FindStringSubmatch(line)
	if m == nil {
		return f, false, false
	}
	f = fence{m[1], m[2], m[3], m[4]}
	inline = f.mark[0] == '`' && strings.Contains(f.info, "`")
	return f, !inline, inline
}

// closes reports whether line ends the code block.
func (f fence) closes(line string) bool {
	line = strings.Trim(line, " \t")
	return len(line) >= len(f.mark) && strings.Trim(line, f.mark[:1]) == ""
}

// body returns how many of the lines after the fence are in the block, and how many there are
// with the one that ends it.
func (f fence) body(lines []string) (inside, all int) {
	for i, l := range lines {
		if f.closes(l) {
			return i, i + 1
		}
	}
	return len(lines), len(lines)
}

// dedented returns the lines without the indentation of the fence.
func (f fence) dedented(lines []string) []string {
	n := len(f.indent) + len(f.markers)
	out := make([]string, len(lines))
	for i, l := range lines {
		cut := 0
		for cut < min(n, len(l)) && (l[cut] == ' ' || l[cut] == '\t') {
			cut++
		}
		out[i] = l[cut:]
	}
	return out
}
