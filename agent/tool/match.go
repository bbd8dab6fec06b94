package tool

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

const byteOrderMark = "\ufeff"

// document is a file's content beside the text that edits are matched against: without
// the byte order mark and with line feeds for line ends.
type document struct {
	raw  string
	mark string // the byte order mark, if there is one
	text string
	end  string // the form of a line feed of text in raw: "\r" in a file without any line feed
}

func newDocument(raw string) document {
	d := document{raw: raw, end: "\n"}
	body := raw
	if rest, ok := strings.CutPrefix(raw, byteOrderMark); ok {
		d.mark, body = byteOrderMark, rest
	}
	// A carriage return alone ends lines only if nothing else does; otherwise it is a character
	// within a line.
	if !strings.Contains(body, "\n") && strings.Contains(body, "\r") {
		d.end = "\r"
	}
	d.text = d.normal(body)
	return d
}

// normal returns text with line feeds for line ends.
func (d document) normal(text string) string {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	if d.end == "\r" {
		text = strings.ReplaceAll(text, "\r", "\n")
	}
	return text
}

// span is a part of a document's text and its replacement.
type span struct {
	start, end int
	text       string
	edit       int // which edit wants it
}

// find returns where the edits apply, in order. fuzzy reports that some text was found
// only by its looks. path names the file in errors.
func (d document) find(path string, edits []replacement) (spans []span, fuzzy bool, err error) {
	var loose *normalized
	for i, e := range edits {
		old := d.normal(strings.TrimPrefix(e.OldText, byteOrderMark))
		if old == "" {
			return nil, false, badArgument("edits", "edits[%d].oldText must not be empty. To insert text, replace a line with itself and the new text; to create a file, use write.", i)
		}
		found := occurrences(d.text, old, e.All)
		if len(found) == 0 {
			if loose == nil {
				loose = normalize(d.text)
			}
			found = loose.occurrences(old, e.All)
			fuzzy = fuzzy || len(found) > 0
		}
		switch {
		case len(found) == 0:
			return nil, false, notFound(path, i, len(edits))
		case len(found) > 1 && !e.All:
			return nil, false, fault.New(fault.InvalidArgument,
				"Found %d occurrences of edits[%d].oldText in %s. It must be unique: add surrounding lines, or set all to replace every occurrence.", len(found), i, path)
		}
		for _, f := range found {
			f.text, f.edit = d.normal(e.NewText), i
			spans = append(spans, f)
		}
	}
	slices.SortStableFunc(spans, func(a, b span) int { return a.start - b.start })
	for i := 1; i < len(spans); i++ {
		if a, b := spans[i-1], spans[i]; a.end > b.start {
			return nil, false, fault.New(fault.InvalidArgument,
				"edits[%d] and edits[%d] overlap in %s. Merge them into one edit.", min(a.edit, b.edit), max(a.edit, b.edit), path)
		}
	}
	return spans, fuzzy, nil
}

func notFound(path string, i, n int) error {
	which := "the text"
	if n > 1 {
		which = fmt.Sprintf("edits[%d].oldText", i)
	}
	return fault.New(fault.NotFound, "Could not find %s in %s. It must match exactly, with all spaces and line breaks; read the file again if it may have changed.", which, path)
}

// occurrences returns where old is in text. Those that are to be replaced all do not
// overlap; else overlapping ones count too, because it is not clear which is meant.
func occurrences(text, old string, all bool) []span {
	var found []span
	step := 1
	if all {
		step = len(old)
	}
	for at := 0; ; {
		i := strings.Index(text[at:], old)
		if i < 0 {
			return found
		}
		found = append(found, span{start: at + i, end: at + i + len(old)})
		at += i + step
	}
}

// normalized is a text in a normal form: without spaces at line ends, with plain quotes, dashes and
// spaces, and with composed characters (NFC): models write "é" as one rune, files from macOS may have
// two. For each of its bytes, from and to have the begin and the end of the corresponding character
// of the original.
//
// Differs: compatibility forms (ligatures, wide letters) are not decomposed.
type normalized struct {
	text     string
	from, to []int
}

func normalize(text string) *normalized {
	l := &normalized{}
	out := make([]byte, 0, len(text))
	solid := 0 // how much of out is left without the spaces at its end
	for i, size := 0, 0; i < len(text); i += size {
		var r rune
		r, size = utf8.DecodeRuneInString(text[i:])
		if r == '\n' {
			out = out[:solid]
		}
		start := len(out)
		if r == utf8.RuneError && size == 1 {
			out = append(out, text[i])
		} else if whole := characterLen(text[i:], size); whole > size {
			size = whole
			out = norm.NFC.AppendString(out, text[i:i+size])
		} else {
			out = utf8.AppendRune(out, plain(r))
		}
		l.from, l.to = l.from[:start], l.to[:start]
		for range len(out) - start {
			l.from, l.to = append(l.from, i), append(l.to, i+size)
		}
		if r == '\n' || !unicode.IsSpace(r) {
			solid = len(out)
		}
	}
	l.text = string(out[:solid])
	return l
}

// characterLen returns the length of the first character of text, with its combining marks. first is
// the length of its first rune.
func characterLen(text string, first int) int {
	if len(text) == first || text[first] < utf8.RuneSelf {
		return first // no mark is ASCII
	}
	return max(first, norm.NFC.NextBoundaryInString(text, true))
}

// plain is the character that people and models type for r.
func plain(r rune) rune {
	switch {
	case r >= 0x2018 && r <= 0x201B: // single quotes
		return '\''
	case r >= 0x201C && r <= 0x201F: // double quotes
		return '"'
	case r >= 0x2010 && r <= 0x2015, r == 0x2212: // hyphens, dashes, minus
		return '-'
	case r == 0xA0, r >= 0x2002 && r <= 0x200A, r == 0x202F, r == 0x205F, r == 0x3000: // spaces
		return ' '
	default:
		return r
	}
}

func (l *normalized) occurrences(old string, all bool) []span {
	old = normalize(old).text
	if old == "" {
		return nil
	}
	found := occurrences(l.text, old, all)
	for i, f := range found {
		found[i] = span{start: l.from[f.start], end: l.to[f.end-1]}
	}
	return found
}
