package tool

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/aymanbagabas/go-udiff"
)

// diffContext is how many unchanged lines a diff shows around a change.
const diffContext = 4

// patch is a unified diff of a file's contents.
func patch(path, before, after string) string {
	return hunks(path, before, after).String()
}

// Diff returns a unified diff of a file's contents for the user, "" if they are equal.
func Diff(path string, before, after []byte) string {
	if bytes.Equal(before, after) {
		return ""
	}
	return patch(path, string(before), string(after))
}

func hunks(path, before, after string) udiff.UnifiedDiff {
	u, err := udiff.ToUnifiedDiff(path, path, before, udiff.Lines(before, after), diffContext)
	if err != nil {
		panic("tool: diff: " + err.Error()) // the edits are of this very text
	}
	return u
}

// editDetails are pi's.
type editDetails struct {
	Diff             string `json:"diff"` // as the user sees it, with line numbers
	Patch            string `json:"patch"`
	FirstChangedLine int    `json:"firstChangedLine,omitempty"` // in the new file
}

func newEditDetails(path, before, after string) editDetails {
	u := hunks(path, before, after)
	d := editDetails{Patch: u.String()}
	width := len(fmt.Sprint(max(strings.Count(before, "\n"), strings.Count(after, "\n")) + 1))
	var b strings.Builder
	shown := 1 // the next line of the old file
	for _, h := range u.Hunks {
		if h.FromLine > shown {
			fmt.Fprintf(&b, " %*s ...\n", width, "")
		}
		from, to := h.FromLine, h.ToLine
		for _, l := range h.Lines {
			text := strings.TrimSuffix(l.Content, "\n")
			switch l.Kind {
			case udiff.Delete:
				d.changedAt(to)
				fmt.Fprintf(&b, "-%*d %s\n", width, from, text)
				from++
			case udiff.Insert:
				d.changedAt(to)
				fmt.Fprintf(&b, "+%*d %s\n", width, to, text)
				to++
			case udiff.Equal:
				fmt.Fprintf(&b, " %*d %s\n", width, from, text)
				from++
				to++
			}
		}
		shown = from
	}
	if shown <= countLines(before) {
		fmt.Fprintf(&b, " %*s ...\n", width, "")
	}
	d.Diff = strings.TrimSuffix(b.String(), "\n")
	return d
}

func (d *editDetails) changedAt(line int) {
	if d.FirstChangedLine == 0 {
		d.FirstChangedLine = line
	}
}
