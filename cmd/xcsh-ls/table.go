package main

import (
	"io"
	"os"
	"strings"

	"github.com/mattn/go-isatty"
	"golang.org/x/term"

	"github.com/xcsh-ls/xcsh-ls/session/visible"
)

const (
	columnGap = "  "
	readable  = 16 // columns first shrink to this width
	minShrunk = 8  // columns never shrink below this width
)

// screen is the destination of a table.
type screen struct {
	terminal bool
	width    int       // in cells; 0 if unknown or unlimited
	styled   io.Writer // the terminal, which shows styles, unescaped; nil: it doesn't, or the user wants none
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
	s := screen{terminal: true, width: width}
	if styles(f) {
		s.styled = f
	}
	return s
}

func stdoutIsTerminal() bool { return isTerminal(os.Stdout) }

func isTerminal(f *os.File) bool {
	fd := f.Fd()
	return isatty.IsTerminal(fd) || isatty.IsCygwinTerminal(fd)
}

// table prints rows in columns. On a terminal it has a header, the columns are aligned by display width, and those in dim are
// faint. Without shrink, long rows wrap. Otherwise, the table gets narrower until it fits: columns in shrink are truncated, in
// that order; IDs are cut to prefixes; columns in shrink are truncated more; columns in drop are left out, in that order.
// Elsewhere a tab separates the columns, nothing is missing, and there is no header, for programs and files.
type table struct {
	screen            screen
	head              []string // the names of the columns; nil: no header
	shrink, drop, dim []int
	paths             []int // columns of paths, which are truncated at their beginning
	ids               bool  // the first column has IDs, of which commands take a prefix
	long              bool  // a first cell that is wider than half of the screen has a line of its own, so that it is complete
	rows              [][]string
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
	if t.screen.terminal {
		if t.screen.styled != nil {
			w = t.screen.styled // cells are escaped already
		}
		_, err := io.WriteString(w, t.layout().String())
		return err
	}
	var out strings.Builder
	for _, row := range t.rows {
		out.WriteString(strings.TrimRight(strings.Join(row, "\t"), "\t") + "\n")
	}
	_, err := io.WriteString(w, out.String())
	return err
}
