package pi

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/xcsh-ls/xcsh-ls/agent/tool"
	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
)

// maxEdits bounds the replacements of one call.
const maxEdits = 10_000

// writing is a call of pi's tool write.
type writing struct{ path, content string }

func decodeWrite(args json.RawMessage) (w writing, err error) {
	var ok, also bool
	w.path, ok = rawjson.GetString(args, "path")
	w.content, also = rawjson.GetString(args, "content")
	if !ok || !also {
		return writing{}, errors.New("the arguments of write have no path and content")
	}
	return w, nil
}

func (w writing) apply(tool.File) ([]byte, error) { return []byte(w.content), nil }

// editing is a call of pi's tool edit.
type editing struct {
	path  string
	edits []replacement
}

// replacement is a text that occurs once, and the text that takes its place.
type replacement struct{ old, new string }

// decodeEdit reads the arguments of a call in each form that pi takes: a list of replacements, one of them, either as JSON
// in a string, and one beside the path.
func decodeEdit(args json.RawMessage) (c editing, err error) {
	var ok bool
	if c.path, ok = rawjson.GetString(args, "path"); !ok {
		return editing{}, errors.New("the arguments of edit have no path")
	}
	edits := rawjson.Get(args, "edits")
	if text, isText := rawjson.String(edits); isText {
		edits = []byte(text)
		if !json.Valid(edits) {
			edits = nil
		}
	}
	if one, ok := replacementOf(edits); ok {
		c.edits = append(c.edits, one)
	}
	valid := true
	rawjson.Elements(edits, func(v []byte) bool {
		one, ok := replacementOf(v)
		c.edits = append(c.edits, one)
		valid = valid && ok
		return valid && len(c.edits) <= maxEdits
	})
	if one, ok := replacementOf(args); ok {
		c.edits = append(c.edits, one)
	}
	if !valid || len(c.edits) == 0 || len(c.edits) > maxEdits {
		return editing{}, errors.New("the arguments of edit have no valid replacements")
	}
	return c, nil
}

func replacementOf(v []byte) (r replacement, ok bool) {
	var also bool
	r.old, ok = rawjson.GetString(v, "oldText")
	r.new, also = rawjson.GetString(v, "newText")
	return r, ok && also
}

// span is a part of a text and what takes its place.
type span struct {
	from, to int // bytes
	text     string
	edit     int // the number of its replacement
}

const bom = "\uFEFF"

// apply returns the new content of the file as pi makes it: replacements are found in the text with LF line ends and
// without a byte order mark, and written with the line ends of the lines that they begin in.
//
// Differs: a file that is not UTF-8 is refused. pi would damage the rest of it.
func (c editing) apply(was tool.File) ([]byte, error) {
	switch {
	case !was.Exists:
		return nil, fmt.Errorf("could not edit file: %s does not exist", c.path)
	case !utf8.Valid(was.Content):
		return nil, fmt.Errorf("could not edit file: %s is not UTF-8 text", c.path)
	}
	original, marked := strings.CutPrefix(string(was.Content), bom)
	text := withLF(original)
	spans, err := c.find(text)
	if err != nil {
		return nil, err
	}
	result := splice(text, spans)
	if result == text {
		return nil, fmt.Errorf("no changes made to %s: the replacement is identical", c.path)
	}
	if original != text {
		result = spliceOriginal(original, spans)
	}
	if marked {
		result = bom + result
	}
	return []byte(result), nil
}

// withLF returns a text with LF line ends.
func withLF(s string) string {
	if !strings.Contains(s, "\r") {
		return s
	}
	return strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n")
}

// find returns the parts of text that are replaced, in order.
func (c editing) find(text string) ([]span, error) {
	base, isFolded := text, false
	for i, edit := range c.edits {
		old := withLF(edit.old)
		if old == "" {
			return nil, fmt.Errorf("%s must not be empty in %s", c.name(i), c.path)
		}
		if !isFolded && !strings.Contains(text, old) && strings.Contains(folded(text), folded(old)) {
			base, isFolded = folded(text), true
		}
	}
	spans, err := c.findIn(base)
	if err != nil {
		return nil, err
	}
	if isFolded {
		return wholeLines(text, base, spans)
	}
	return spans, nil
}

// findIn finds the replacements in base. Each must be found once, also when differences that a model overlooks
// are ignored.
func (c editing) findIn(base string) (spans []span, err error) {
	all := folded(base)
	for i, edit := range c.edits {
		old := withLF(edit.old)
		at := strings.Index(base, old)
		if at < 0 {
			old = folded(old)
			if at = strings.Index(base, old); at < 0 {
				return nil, fmt.Errorf("could not find %s in %s", c.name(i), c.path)
			}
		}
		if n := occurrences(all, folded(old)); n > 1 {
			return nil, fmt.Errorf("found %d occurrences of %s in %s; it must be unique", n, c.name(i), c.path)
		}
		spans = append(spans, span{at, at + len(old), withLF(edit.new), i})
	}
	slices.SortStableFunc(spans, func(a, b span) int { return a.from - b.from })
	for i := 1; i < len(spans); i++ {
		if spans[i-1].to > spans[i].from {
			return nil, fmt.Errorf("%s and %s overlap in %s", c.name(spans[i-1].edit), c.name(spans[i].edit), c.path)
		}
	}
	return spans, nil
}

// occurrences counts as pi does: an empty text, which is what is left of spaces, is between all characters of JavaScript.
func occurrences(text, part string) int {
	if part == "" {
		return rawjson.UTF16Len(text) - 1
	}
	return strings.Count(text, part)
}

// name returns the name of a replacement for a message.
func (c editing) name(i int) string {
	if len(c.edits) == 1 {
		return "oldText"
	}
	return fmt.Sprintf("edits[%d].oldText", i)
}

// splice returns text with the spans replaced.
func splice(text string, spans []span) string {
	var b strings.Builder
	at := 0
	for _, s := range spans {
		b.WriteString(text[at:s.from])
		b.WriteString(s.text)
		at = s.to
	}
	b.WriteString(text[at:])
	return b.String()
}

// spliceOriginal replaces the spans, which are those of the text with LF line ends, in the original text.
func spliceOriginal(original string, spans []span) string {
	position := originalPositions(original)
	var b joiner
	at := 0
	for _, s := range spans {
		from := position(s.from)
		b.add(original[at:from])
		text := s.text
		if end := lineEnd(original, from); end != "\n" {
			text = strings.ReplaceAll(text, "\n", end)
		}
		b.add(text)
		at = position(s.to)
	}
	b.add(original[at:])
	return b.String()
}

// originalPositions returns a function that converts growing positions in the text with LF line ends into positions in the
// original text. Only CR LF changes the length.
func originalPositions(original string) func(int) int {
	before, next := 0, strings.Index(original, "\r\n")
	return func(at int) int {
		for next >= 0 && next-before < at {
			before++
			if i := strings.Index(original[next+2:], "\r\n"); i >= 0 {
				next += 2 + i
			} else {
				next = -1
			}
		}
		return at + before
	}
}

// joiner joins parts so that a CR at the end of one and an LF at the beginning of the next do not become one line end.
type joiner struct {
	strings.Builder
	endsInCR bool
}

func (j *joiner) add(part string) {
	if part == "" {
		return
	}
	if j.endsInCR && part[0] == '\n' {
		j.WriteByte('\n')
	}
	j.WriteString(part)
	j.endsInCR = part[len(part)-1] == '\r'
}

// lineEnd returns the end of the line at a position, or of the one before if it is the last and has none. A CR alone
// counts only in a text without LF.
func lineEnd(text string, at int) string {
	lf := strings.IndexByte(text[at:], '\n') + at
	if lf < at {
		// JavaScript's lastIndexOf also finds one that begins at the position.
		lf = strings.LastIndexByte(text[:min(at+1, len(text))], '\n')
	}
	switch {
	case lf < 0 && strings.Contains(text, "\r"):
		return "\r"
	case lf > 0 && text[lf-1] == '\r':
		return "\r\n"
	}
	return "\n"
}
