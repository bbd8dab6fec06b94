package senses

import (
	"context"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

// position returns the position that a call means in a text.
func (q question) position(text string) (Position, error) {
	start, end, err := q.lineOf(text)
	if err != nil {
		return Position{}, err
	}
	line := text[start:end]
	if q.a.Symbol == "" {
		indent := len(line) - len(strings.TrimLeft(line, " \t"))
		return q.s.o.Editor.Position(text, start+indent), nil
	}
	at, ok := occurrence(line, q.a.Symbol, max(q.a.Occurrence, 1))
	if !ok {
		return Position{}, q.absent(strings.TrimSpace(line))
	}
	return q.s.o.Editor.Position(text, start+at), nil
}

// lineOf returns the offsets of the line that a call names. Without a line, it is the whole text, in which the symbol is
// looked for.
func (q question) lineOf(text string) (start, end int, err error) {
	if q.a.Line == 0 {
		return 0, len(text), nil
	}
	last := strings.Count(text, "\n") + 1
	if q.a.Line > last {
		return 0, 0, badArgument("line", "%s has only %s.", shown(q.a.File, 4*maxName), counted(last, "line"))
	}
	for range q.a.Line - 1 {
		start += strings.IndexByte(text[start:], '\n') + 1
	}
	end = len(text)
	if i := strings.IndexByte(text[start:], '\n'); i >= 0 {
		end = start + i
	}
	return start, end, nil
}

// absent is the error for a symbol that is not where the call says.
func (q question) absent(line string) error {
	where := "in " + shown(q.a.File, 4*maxName)
	if q.a.Occurrence > 1 {
		where = "that often " + where
	}
	if q.a.Line == 0 {
		return fault.New(fault.NotFound, "%q does not occur %s.", q.a.Symbol, where)
	}
	return fault.New(fault.NotFound, "%q does not occur %s, line %d, which is: %s", q.a.Symbol, where, q.a.Line, shown(line, maxName))
}

// occurrence returns the offset of the nth occurrence of a name: as a whole word if it occurs so, else as a part of one.
func occurrence(text, name string, n int) (at int, ok bool) {
	whole, parts := []int{}, []int{}
	for from := 0; len(whole) < n; {
		i := strings.Index(text[from:], name)
		if i < 0 {
			break
		}
		i += from
		if isWord(text, i, i+len(name)) {
			whole = append(whole, i)
		}
		if len(parts) < n {
			parts = append(parts, i)
		}
		from = i + len(name)
	}
	if len(whole) == 0 {
		whole = parts
	}
	if len(whole) < n {
		return 0, false
	}
	return whole[n-1], true
}

// isWord reports whether a part of a text is not continued by a letter on either side.
func isWord(text string, start, end int) bool {
	before, _ := utf8.DecodeLastRuneInString(text[:start])
	first, _ := utf8.DecodeRuneInString(text[start:])
	last, _ := utf8.DecodeLastRuneInString(text[:end])
	after, _ := utf8.DecodeRuneInString(text[end:])
	joinsBefore, joinsAfter := letter(before) && letter(first), letter(last) && letter(after)
	return !joinsBefore && !joinsAfter
}

func letter(r rune) bool {
	return r == '_' || r == '$' || unicode.IsLetter(r) && r != utf8.RuneError || unicode.IsDigit(r)
}

// nouns are the actions whose answers are locations.
var nouns = map[string]string{
	"definition": "definition", "type_definition": "type definition", "implementation": "implementation", "references": "reference",
}

// places answers definition, type_definition, implementation and references.
func (q question) places(ctx context.Context) (string, error) {
	params, err := q.place(ctx)
	if err != nil {
		return "", err
	}
	raw, err := q.ask(ctx, requestOf[q.a.Action], params)
	if err != nil {
		return "", err
	}
	found, noun := locations(raw), nouns[q.a.Action]
	if len(found) == 0 {
		return "No " + noun + " found.", nil
	}
	return "Found " + counted(len(found), noun) + ":\n" + q.listed(ctx, found), nil
}

// place returns the parameters of a request about a position.
func (q question) place(ctx context.Context) (PlaceParams, error) {
	path, text, err := q.file(ctx)
	if err != nil {
		return PlaceParams{}, err
	}
	at, err := q.position(text)
	return PlaceParams{q.s.o.Editor.URI(path), at}, err
}

// maxShownFile is the largest file of which a line is shown, in bytes.
const maxShownFile = 4 << 20

// listed lists locations with the text of their lines. Those in the folder come first.
func (q question) listed(ctx context.Context, found []Location) string {
	var lines, outside []string
	texts := map[string]string{}
	for _, l := range found {
		path, isFile := q.s.o.Editor.Path(l.URI)
		switch {
		case len(lines)+len(outside) == maxLocations:
		case !isFile:
			outside = append(outside, "  "+shown(l.URI, maxName))
		case inside(q.env.Cwd, path):
			lines = append(lines, q.location(ctx, path, l.Range.Start, texts))
		default:
			outside = append(outside, q.location(ctx, path, l.Range.Start, texts))
		}
	}
	lines = append(lines, outside...)
	return strings.Join(lines, "\n") + more(len(found)-len(lines))
}

// location returns the lines for a location. texts keeps the files that were read.
func (q question) location(ctx context.Context, path string, at Position, texts map[string]string) string {
	head := "  " + q.name(path) + ":" + where(at.Line+1)
	text, read := texts[path]
	if !read {
		text = q.text(ctx, path)
		texts[path] = text
	}
	if text == "" {
		return head
	}
	offset := q.s.o.Editor.Offset(text, at)
	start := strings.LastIndexByte(text[:offset], '\n') + 1
	line, _, _ := strings.Cut(text[start:], "\n")
	column := utf8.RuneCountInString(text[start:offset]) + 1
	return head + ":" + where(column) + "\n    " + shown(line, maxName)
}

// text returns the text of a file, "" for one that is not shown.
func (q question) text(ctx context.Context, path string) string {
	if q.s.o.Files.Private(path) || q.s.o.Files.Size(path) > maxShownFile {
		return ""
	}
	f, err := q.s.o.Files.Read(ctx, q.env, path)
	if err != nil || len(f.Content) > maxShownFile || !utf8.Valid(f.Content) {
		return ""
	}
	return string(f.Content)
}

// where returns a number of a position as text.
func where(n int) string { return strconv.Itoa(n) }

// hover answers hover.
func (q question) hover(ctx context.Context) (string, error) {
	params, err := q.place(ctx)
	if err != nil {
		return "", err
	}
	raw, err := q.ask(ctx, Hover, params)
	if err != nil {
		return "", err
	}
	if text := hoverText(raw); text != "" {
		return text, nil
	}
	return "No information about this place.", nil
}
