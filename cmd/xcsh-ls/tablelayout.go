package main

import (
	"slices"
	"strings"

	"github.com/clipperhouse/displaywidth"
)

const ellipsis = "…"

// layout arranges a table for a terminal: columns are aligned by display width, and those without content are left out.
type layout struct {
	rows   [][]string // below the header, if there is one
	headed bool
	width  int   // in cells; 0 if unknown or unlimited
	shrink []int // as in table, of the columns that are left
	drop   []int
	dim    []int
	paths  []int
	ids    bool
	long   bool
	styled bool
}

// layout returns the arrangement of t.
func (t *table) layout() layout {
	l := layout{width: t.screen.width, styled: t.screen.styled != nil, headed: len(t.head) > 0 && len(t.rows) > 0, ids: t.ids, long: t.long}
	place := map[int]int{} // of a column among those with content
	for _, row := range t.rows {
		for i, c := range row {
			if c != "" {
				place[i] = 0
			}
		}
	}
	columns := make([]int, 0, len(place))
	for i := range place {
		columns = append(columns, i)
	}
	slices.Sort(columns)
	for to, from := range columns {
		place[from] = to
	}
	rows := t.rows
	if l.headed {
		rows = slices.Concat([][]string{t.head}, rows)
	}
	for _, row := range rows {
		cells := make([]string, 0, len(columns))
		for _, i := range columns {
			if i < len(row) {
				cells = append(cells, row[i])
			}
		}
		l.rows = append(l.rows, cells)
	}
	moved := func(from []int) (to []int) {
		for _, i := range from {
			if at, ok := place[i]; ok {
				to = append(to, at)
			}
		}
		return to
	}
	l.shrink, l.drop, l.dim, l.paths = moved(t.shrink), moved(t.drop), moved(t.dim), moved(t.paths)
	return l
}

// String returns the lines of the table.
func (l layout) String() string {
	widths := l.widths()
	var out strings.Builder
	for n, row := range l.rows {
		out.WriteString(l.line(row, widths, l.headed && n == 0) + "\n")
	}
	return out.String()
}

// unused is the width of a column that is left out.
const unused = -1

// widths returns the width of each column: that of its widest cell, or less if the rows would not fit.
func (l layout) widths() []int {
	var widths []int
	for _, row := range l.rows {
		for i, c := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			if w := displaywidth.String(c); !l.alone(i, w) {
				widths[i] = max(widths[i], w)
			}
		}
	}
	if l.width == 0 || len(l.shrink) == 0 {
		return widths
	}
	excess := (len(widths)-1)*len(columnGap) - l.width
	for _, w := range widths {
		excess += w
	}
	cut := func(column, least int) {
		n := min(excess, max(0, widths[column]-least))
		if n > 0 {
			widths[column] -= n
			excess -= n
		}
	}
	for _, column := range l.shrink {
		cut(column, readable)
	}
	if l.ids && excess > 0 {
		cut(0, l.prefix())
	}
	for _, column := range l.shrink {
		least := minShrunk
		if l.headed {
			least = max(least, displaywidth.String(l.rows[0][column]))
		}
		cut(column, least)
	}
	for _, column := range l.drop {
		if excess > 0 {
			excess -= widths[column] + len(columnGap)
			widths[column] = unused
		}
	}
	l.widen(widths, -excess)
	return widths
}

// widen gives room that dropped columns leave to the truncated ones.
func (l layout) widen(widths []int, room int) {
	for _, column := range l.shrink {
		if widths[column] == unused {
			continue
		}
		full := 0
		for _, row := range l.rows {
			if column < len(row) {
				full = max(full, displaywidth.String(row[column]))
			}
		}
		if n := min(room, full-widths[column]); n > 0 {
			widths[column] += n
			room -= n
		}
	}
}

// alone reports whether a cell of that width has a line of its own.
func (l layout) alone(column, width int) bool {
	return l.long && column == 0 && l.width > 0 && width > l.width/2
}

// prefix returns the number of cells that the IDs need so that they differ.
func (l layout) prefix() int {
	least := minShrunk
	var ids []string
	for n, row := range l.rows {
		if len(row) > 0 && (n > 0 || !l.headed) {
			ids = append(ids, row[0])
		}
	}
	slices.Sort(ids)
	for i := 1; i < len(ids); i++ {
		common := 0
		for common < min(len(ids[i]), len(ids[i-1])) && ids[i][common] == ids[i-1][common] {
			common++
		}
		least = max(least, common+1)
	}
	return least
}

// line returns a row with each cell truncated or padded to the width of its column.
func (l layout) line(row []string, widths []int, header bool) string {
	left := l.width // in cells
	if len(l.shrink) == 0 || left == 0 {
		left = 1 << 30 // the line wraps
	}
	var line strings.Builder
	gap := 0 // before the next text
	for i, c := range row {
		switch {
		case widths[i] == unused:
			continue
		case l.alone(i, displaywidth.String(c)):
			line.WriteString(l.style(c, header, slices.Contains(l.dim, i)) + "\n")
			c = ""
		case l.ids && i == 0 && !header:
			c = displaywidth.TruncateString(c, widths[i], "")
		case !header && slices.Contains(l.paths, i):
			c = truncatePath(c, widths[i])
		default:
			c = displaywidth.TruncateString(c, widths[i], ellipsis)
		}
		width := displaywidth.String(c)
		padding := widths[i] - width
		if width > 0 && left <= gap {
			line.WriteString(l.cut(left))
			break
		}
		if width > 0 {
			text := displaywidth.TruncateString(c, left-gap, ellipsis)
			line.WriteString(strings.Repeat(" ", gap) + l.style(text, header, slices.Contains(l.dim, i)))
			left -= gap + width
			gap = 0
		}
		gap += padding + len(columnGap)
	}
	return line.String()
}

// truncatePath returns the end of a path, which tells more than its beginning.
func truncatePath(path string, width int) string {
	excess := displaywidth.String(path) - width
	if excess <= 0 {
		return path
	}
	excess += displaywidth.String(ellipsis)
	at := 0
	for g := displaywidth.StringGraphemes(path); excess > 0 && g.Next(); {
		at += len(g.Value())
		excess -= g.Width()
	}
	return displaywidth.TruncateString(ellipsis+path[at:], width, "")
}

// cut returns the end of a row without room for the next cell.
func (l layout) cut(left int) string {
	if left <= 0 {
		return ""
	}
	return strings.Repeat(" ", left-1) + ellipsis
}

// style returns a text in the style of a header or a dim cell.
func (l layout) style(text string, header, dim bool) string {
	switch {
	case !l.styled:
		return text
	case header:
		return bold + text + unstyled
	case dim:
		return faint + text + unstyled
	}
	return text
}
