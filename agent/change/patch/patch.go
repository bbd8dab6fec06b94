// Package patch formats changes of files as unified diffs in git's format, and single hunks.
package patch

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/agent/change/merge"
)

// Context is the number of equal lines that a patch shows around a change.
const Context = 3

// File is one file of a patch. A nil content is a missing file. Of Binary files only the names are written.
type File struct {
	From, To         string // with slashes, relative to the folder or absolute
	Old, New         []byte
	OldMode, NewMode uint32
	Binary           bool
}

// Append appends the diff of a file to b. It appends nothing if the file did not change.
func Append(b *strings.Builder, f File) {
	if f.From == f.To && bytes.Equal(f.Old, f.New) && (f.Old == nil) == (f.New == nil) && f.OldMode == f.NewMode && !f.Binary {
		return
	}
	from, to := quoted("a/", f.From), quoted("b/", f.To)
	fmt.Fprintf(b, "diff --git %s %s\n", from, to)
	switch {
	case f.Old == nil:
		fmt.Fprintf(b, "new file mode %s\n", mode(f.NewMode))
		from = "/dev/null"
	case f.New == nil:
		fmt.Fprintf(b, "deleted file mode %s\n", mode(f.OldMode))
		to = "/dev/null"
	default:
		if mode(f.OldMode) != mode(f.NewMode) {
			fmt.Fprintf(b, "old mode %s\nnew mode %s\n", mode(f.OldMode), mode(f.NewMode))
		}
		if f.From != f.To {
			fmt.Fprintf(b, "rename from %s\nrename to %s\n", quoted("", f.From), quoted("", f.To))
		}
	}
	if f.Binary {
		fmt.Fprintf(b, "Binary files %s and %s differ\n", from, to)
		return
	}
	hunks := merge.Diff(f.Old, f.New)
	if len(hunks) == 0 {
		return
	}
	fmt.Fprintf(b, "--- %s\n+++ %s\n", from, to)
	old := merge.Lines(f.Old)
	for len(hunks) > 0 {
		n := 1
		for n < len(hunks) && hunks[n].OldStart-hunks[n-1].OldStart-hunks[n-1].OldLines <= 2*Context {
			n++
		}
		appendHunks(b, old, hunks[:n], Context)
		hunks = hunks[n:]
	}
}

// Hunk returns one hunk with its header and without context.
func Hunk(h merge.Hunk) string {
	var b strings.Builder
	appendHunks(&b, nil, []merge.Hunk{h}, 0)
	return b.String()
}

// appendHunks writes hunks that are near each other under one header.
func appendHunks(b *strings.Builder, old [][]byte, hunks []merge.Hunk, context int) {
	first, last := hunks[0], hunks[len(hunks)-1]
	start := max(1, first.OldStart-context)
	end := last.OldStart + last.OldLines // the first line after it
	tail := min(end+context, len(old)+1)
	if context == 0 {
		start, tail = first.OldStart, end
	}
	lead := first.OldStart - start
	newStart := first.NewStart - lead
	newLines := last.NewStart + last.NewLines - newStart + tail - end
	fmt.Fprintf(b, "@@ -%s +%s @@\n", span(start, tail-start), span(newStart, newLines))
	at := start
	for _, h := range hunks {
		for ; at < h.OldStart; at++ {
			line(b, ' ', old[at-1])
		}
		for _, l := range h.Old {
			line(b, '-', l)
		}
		for _, l := range h.New {
			line(b, '+', l)
		}
		at += h.OldLines
	}
	for ; at < tail; at++ {
		line(b, ' ', old[at-1])
	}
}

// span formats a range for a header. An empty range is written as the line that it follows.
func span(start, lines int) string {
	switch lines {
	case 0:
		return fmt.Sprintf("%d,0", start-1)
	case 1:
		return fmt.Sprint(start)
	}
	return fmt.Sprintf("%d,%d", start, lines)
}

func line(b *strings.Builder, sign byte, l []byte) {
	b.WriteByte(sign)
	b.Write(l)
	if !bytes.HasSuffix(l, []byte("\n")) {
		b.WriteString("\n\\ No newline at end of file\n")
	}
}

func mode(perm uint32) string {
	if perm&0o111 != 0 {
		return "100755"
	}
	return "100644"
}

// quoted returns a path in git's quoting.
func quoted(prefix, path string) string {
	plain := true
	for _, c := range []byte(path) {
		plain = plain && c >= ' ' && c != '"' && c != '\\' && c != 0x7f
	}
	if path = prefix + strings.TrimPrefix(path, "/"); plain {
		return path
	}
	var b strings.Builder
	for _, c := range []byte(path) {
		switch {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c == '\n':
			b.WriteString(`\n`)
		case c == '\t':
			b.WriteString(`\t`)
		case c < ' ' || c == 0x7f:
			fmt.Fprintf(&b, `\%03o`, c)
		default:
			b.WriteByte(c)
		}
	}
	return `"` + b.String() + `"`
}
