package plan

import (
	"fmt"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/agent/change"
	"github.com/xcsh-ls/xcsh-ls/agent/change/merge"
	"github.com/xcsh-ls/xcsh-ls/agent/change/wire"
)

func size(s change.State) string {
	if s.Kind == change.Absent {
		return "no file"
	}
	return fmt.Sprintf("%d bytes", s.Size)
}

// kindText returns the message for kinds of files that differ from the recorded ones.
func kindText(now Now, before, after change.State) string {
	is := nameOf(now.State)
	if now.Dir {
		is = "a directory"
	}
	return fmt.Sprintf("The path is %s now. It was %s after the change and %s before it.", is, nameOf(after), nameOf(before))
}

func nameOf(s change.State) string {
	switch s.Kind {
	case change.Absent:
		return "missing"
	case change.Regular, change.Large:
		return "a file"
	case change.Link:
		return "a link"
	default:
		return "a directory or device"
	}
}

// rangesText formats at most three ranges.
func rangesText(places []place) string {
	var parts []string
	for i, p := range places {
		if i == 3 {
			parts = append(parts, fmt.Sprintf("and %d more places", len(places)-i))
			break
		}
		r := lineRange(p.at)
		if r.Start == r.End {
			parts = append(parts, fmt.Sprintf("line %d", r.Start))
		} else {
			parts = append(parts, fmt.Sprintf("lines %d-%d", r.Start, r.End))
		}
	}
	if len(parts) == 0 {
		return "the whole file"
	}
	return strings.Join(parts, ", ")
}

// lineRange converts a range for clients, which have no empty ranges: an empty range becomes the line that follows it.
func lineRange(r merge.Range) wire.Range {
	return wire.Range{Start: r.Start, End: max(r.Start, r.Start+r.Lines-1)}
}

func wholeOf(text []byte) []place {
	return []place{{text, merge.Range{Start: 1, Lines: len(merge.Lines(text))}}}
}

// changedIn returns the places of a text where it differs from an earlier one.
func changedIn(old, text []byte) (places []place) {
	for _, h := range merge.Diff(old, text) {
		places = append(places, place{text, merge.Range{Start: h.NewStart, Lines: h.NewLines}})
	}
	return places
}

// inNow converts places of earlier texts to lines of the present one.
func inNow(places []place, now []byte) (ranges []wire.Range) {
	for _, p := range places {
		ranges = append(ranges, lineRange(Moved(p.at, merge.Diff(p.text, now))))
	}
	return ranges
}

// Moved maps a range of the old text of a diff to the new text. Replacements of lines in the range belong to it.
func Moved(r merge.Range, diff []merge.Hunk) merge.Range {
	start, end := r.Start, r.Start+r.Lines // after the last line
	from, to := start, end
	for _, h := range diff {
		oldEnd, newEnd := h.OldStart+h.OldLines, h.NewStart+h.NewLines
		switch {
		case oldEnd <= start && (h.OldStart < start || h.OldLines > 0):
			from = start + newEnd - oldEnd
		case h.OldStart < start:
			from = h.NewStart
		case h.OldStart == start && h.OldLines == 0:
			from = h.NewStart // inserted directly before: it may belong to them
		}
		switch {
		case oldEnd <= end:
			to = end + newEnd - oldEnd
		case h.OldStart < end:
			to = newEnd
		}
	}
	return merge.Range{Start: from, Lines: max(0, to-from)}
}
