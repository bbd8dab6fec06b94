package main

import (
	"io"
	"os"
	"slices"
	"strings"

	"github.com/clipperhouse/displaywidth"
	"github.com/mattn/go-isatty"
	"golang.org/x/term"

	"github.com/xcsh-ls/xcsh-ls/session/visible"
)

const (
	columnGap = "  "
	minShrunk = 8 // columns never shrink below this width
)

// screen is the destination of a table.
type screen struct {
	terminal bool
	width    int // in cells; 0 if unknown or unlimited
}

// stdoutScreen describes standard output.
func stdoutScreen() screen { return screenOf(os.Stdout) }

// screenOf describes an output.
func screenOf(f *os.File) screen {
	if !isTerminal(f) {
		return screen{}
	}
	width, _, err := term.GetSize(int(f.Fd())) // fails under Cygwin
	if err != nil {
		width = 0
	}
	return screen{terminal: true, width: width}
}

func stdoutIsTerminal() bool { return isTerminal(os.Stdout) }

func isTerminal(f *os.File) bool {
	fd := f.Fd()
	return isatty.IsTerminal(fd) || isatty.IsCygwinTerminal(fd)
}

// table prints rows in columns. On a terminal the columns are aligned by display width, and the columns
// in shrink are truncated until a row fits, in that order; without shrink, long rows wrap. Elsewhere a
// tab separates the columns and nothing is truncated, for programs and files.
type table struct {
	screen screen
	shrink []int
	rows   [][]string
}

// add appends a row. Cells are escaped, so that their text can neither control the terminal nor break
// the layout.
func (t *table) add(cells ...string) {
	for i, c := range cells {
		cells[i] = visible.Line(c)
	}
	t.rows = append(t.rows, cells)
}

// print writes the rows to w.
func (t *table) print(w io.Writer) error {
	widths := t.widths()
	var out strings.Builder
	for _, row := range t.rows {
		line := strings.TrimRight(strings.Join(row, "\t"), "\t")
		if t.screen.terminal {
			line = strings.TrimRight(aligned(row, widths), " ")
			if len(t.shrink) > 0 && t.screen.width > 0 {
				line = displaywidth.TruncateString(line, t.screen.width, "…")
			}
		}
		out.WriteString(line + "\n")
	}
	_, err := io.WriteString(w, out.String())
	return err
}

// widths returns the width of each column: that of its widest cell, less what shrinking takes.
func (t *table) widths() []int {
	var widths []int
	for _, row := range t.rows {
		for i, c := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], displaywidth.String(c))
		}
	}
	if t.screen.width == 0 {
		return widths
	}
	excess := (len(widths)-1)*len(columnGap) - t.screen.width
	for _, w := range widths {
		excess += w
	}
	for _, column := range t.shrink {
		if column < len(widths) && excess > 0 {
			cut := min(excess, max(0, widths[column]-minShrunk))
			widths[column] -= cut
			excess -= cut
		}
	}
	return widths
}

// aligned returns a row with each cell truncated or padded to the width of its column.
func aligned(row []string, widths []int) string {
	cells := slices.Clone(row)
	for i, c := range cells {
		c = displaywidth.TruncateString(c, widths[i], "…")
		cells[i] = c + strings.Repeat(" ", max(0, widths[i]-displaywidth.String(c)))
	}
	return strings.Join(cells, columnGap)
}
