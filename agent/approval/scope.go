package approval

import (
	"regexp"
	"slices"
	"strings"
)

// places decides which files a command may name.
type places interface {
	file(path string) bool
	glob(pattern string) bool
	none(pattern string) bool // nothing has such a name
	text(value string) bool   // no file elsewhere has such a name
}

// like returns the entry that describes a call, if one rule can cover all calls of its kind; nil
// otherwise.
func like(c call, at places) *entry {
	c, ok := unwrap(c)
	if !ok || len(c.words) == 0 {
		return nil
	}
	words := c.texts()
	if len(words) == 0 {
		return nil
	}
	e := known().find(words)
	if e == nil {
		return nil
	}
	m := matcher{entry: e, at: at, operands: e.operands}
	if !m.all(c.words[len(e.words):]) {
		return nil
	}
	return e
}

// unwrap removes wrappers that do not change a program: timeout 60, and
// options such as git's --no-pager.
func unwrap(c call) (call, bool) {
	t := known()
	for {
		w := t.wraps[c.words[0].text]
		if w == nil {
			break
		}
		m := matcher{entry: w, operands: w.operands}
		rest, ok := m.wrapped(c.words[1:])
		if !ok || len(rest) == 0 || rest[0].form != plain {
			return c, false
		}
		c.words = rest
	}
	skips := t.skips[c.words[0].text]
	end := 1
	for end < len(c.words) && c.words[end].form == plain && slices.Contains(skips, c.words[end].text) {
		end++
	}
	c.words = slices.Concat(c.words[:1], c.words[end:])
	return c, true
}

// matcher compares arguments with an entry.
type matcher struct {
	*entry
	at       places
	operands []operand // that are still to come
	ended    bool      // by "--": no flags come any more
	taken    bool      // an operand has come
	replaced bool      // a flag took the place of the first operand
}

// all reports whether the entry allows all of the arguments.
func (m *matcher) all(args []word) bool {
	for len(args) > 0 {
		used := m.next(args)
		if used == 0 {
			return false
		}
		args = args[used:]
	}
	return true
}

// wrapped consumes the arguments of a program that runs another one, and returns the rest.
func (m *matcher) wrapped(args []word) ([]word, bool) {
	for len(m.operands) > 0 && len(args) > 0 {
		used := m.next(args)
		if used == 0 {
			return nil, false
		}
		args = args[used:]
	}
	return args, len(m.operands) == 0
}

// next takes the next argument, with the value that belongs to it. It returns how many words
// these are; none is that the entry does not allow it.
func (m *matcher) next(args []word) int {
	w := args[0]
	switch {
	case m.raw:
		return 1
	case w.form == plain && !m.ended && w.text == "--":
		m.ended = true
		return 1
	case w.form == glob && !m.ended && strings.HasPrefix(w.text, "--") && m.pattern(w.text):
		return 1
	case w.form == plain && !m.ended:
		if used, ok := m.flag(w.text, args[1:]); ok {
			return used
		}
	}
	if isFlag(w.text) && w.text != "-" || !m.operand(w) {
		return 0
	}
	return 1
}

// pattern reports whether a flag has a pattern as its value that the shell leaves unchanged,
// because no file has such a name: --include=*.go.
func (m *matcher) pattern(text string) bool {
	name, _, ok := strings.Cut(text, "=")
	return ok && m.flags[name].kind == "text" && !strings.ContainsAny(name, "*?") && m.at.none(text)
}

var number = regexp.MustCompile(`^-[0-9]+$`)

// flag consumes a flag. ok is whether it is one; used is 0 for one that is not allowed.
func (m *matcher) flag(text string, rest []word) (used int, ok bool) {
	if v, ok := m.flags[text]; ok { // whole, also "(" and the like
		return m.separate(v, rest), true
	}
	if text == "-" || !isFlag(text) {
		return 0, false
	}
	if _, ok := m.flags["-#"]; ok && number.MatchString(text) {
		return 1, true
	}
	if name, behind, ok := strings.Cut(text, "="); ok && (m.one || strings.HasPrefix(text, "--")) {
		v, known := m.flags[name]
		if known && v.kind != "" && m.value(v, word{text: behind}) {
			return 1, true
		}
		return 0, true
	}
	if m.one || strings.HasPrefix(text, "--") {
		return 0, true
	}
	return m.letters(text[1:], rest), true
}

// separate returns the number of words of a flag with a separate value: 2 with the value, 1 without
// one, 0 if the value is not allowed.
func (m *matcher) separate(v value, rest []word) int {
	switch {
	case v.kind == "" || v.kind == "optional":
		return 1
	case len(rest) == 0 || !m.value(v, rest[0]):
		return 0
	case v.kind != "match" && !m.at.text(rest[0].text):
		return 0 // should a version of the program take no value here, this is an operand
	default:
		return 2
	}
}

// letters takes flags of one letter that stand together: -la, -n5.
func (m *matcher) letters(letters string, rest []word) int {
	for i := range len(letters) {
		v, ok := m.flags["-"+letters[i:i+1]]
		behind := letters[i+1:]
		switch {
		case !ok:
			return 0
		case v.kind == "":
		case behind == "":
			return m.separate(v, rest)
		case m.value(v, word{text: behind}):
			return 1
		default:
			return 0
		}
	}
	return 1
}

// value reports whether a flag may have this value.
func (m *matcher) value(v value, w word) bool {
	if w.form != plain {
		return false
	}
	switch v.kind {
	case "path":
		return m.at.file(w.text)
	case "match":
		return v.pattern.matches(w.text)
	case "first":
		return m.first()
	}
	return true
}

// first uses a flag's value as the first operand. It fails after an operand, which then was a file.
func (m *matcher) first() bool {
	if !m.replaced {
		if len(m.operands) != len(m.entry.operands) || m.taken {
			return false
		}
		m.operands, m.replaced = m.operands[1:], true
	}
	return true
}

// operand takes the next operand.
func (m *matcher) operand(w word) bool {
	if len(m.operands) == 0 {
		return false
	}
	m.taken = true
	o := m.operands[0]
	if !o.many {
		m.operands = m.operands[1:]
	}
	if w.form == glob {
		return (o.kind == "path" || o.kind == "ref") && m.at.glob(w.text)
	}
	if w.form != plain {
		return o.kind == "value"
	}
	return o.allows(w.text, m.at)
}

func (o operand) allows(text string, at places) bool {
	switch o.kind {
	case "path":
		return text == "-" || !strings.HasPrefix(text, "@") && at.file(text) // not a file with further arguments
	case "ref":
		_, file, ok := strings.Cut(text, ":") // REVISION:FILE
		return at.file(text) && (!ok || file == "" || at.file(file))
	case "package":
		file := strings.TrimSuffix(text, "...")
		return (strings.HasPrefix(text, ".") || strings.HasSuffix(text, ".go")) && !strings.Contains(file, "...") && at.file(file)
	case "test":
		file, _, _ := strings.Cut(text, "::")
		return !strings.HasPrefix(text, "@") && at.file(file)
	case "match":
		return o.pattern.matches(text)
	default:
		return true
	}
}
