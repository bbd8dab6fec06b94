package pdftext

import (
	"math"
	"strings"
)

const (
	// A piece of text that is lineGap of the font size above or below the previous one begins a line, and one that
	// is paragraphGap below it a paragraph.
	lineGap      = 0.4
	paragraphGap = 1.7

	// A gap between two pieces on a line that is wider than wordGap of the font size is a space. If the end of the
	// first is estimated, it must be wider: a missing space is better than one within a word.
	wordGap      = 0.15
	uncertainGap = 0.5
)

// layout puts the pieces of a page into lines and words. They stay in their order in the file, which is that of
// reading more often than any order by position, such as with columns.
func layout(pieces []piece) string {
	var b strings.Builder
	var last piece
	for i, p := range pieces {
		if b.Len()+len(p.text) >= maxPage {
			b.WriteString("\n[The rest of this page is omitted.]")
			break
		}
		if i > 0 {
			b.WriteString(between(last, p, b.String()))
		}
		b.WriteString(p.text)
		last = p
	}
	return strings.TrimSpace(b.String())
}

// between is what separates two pieces.
func between(last, p piece, before string) string {
	size, gap := math.Max(last.size, p.size), wordGap
	if !last.certain {
		gap = uncertainGap
	}
	switch down := math.Abs(last.y - p.y); {
	case down > paragraphGap*size:
		return "\n\n"
	case down > lineGap*size || p.x < last.x-size:
		return "\n"
	case p.x > last.end+gap*size && !strings.HasSuffix(before, " ") && !strings.HasPrefix(p.text, " "):
		return " "
	}
	return ""
}
