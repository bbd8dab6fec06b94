package tool

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// The limits of one result for a model.
const (
	MaxLines = 2000
	MaxBytes = 50 << 10

	// MaxLineChars is the longest line of a search result, in characters.
	MaxLineChars = 500
)

// The limits that can cut a text.
const (
	byLines = "lines"
	byBytes = "bytes"
)

// Truncation describes the truncation of a text, in the form in which pi keeps it in a result's
// details.
//
// Differs: Content is "" because it repeats the text of the result beside it.
type Truncation struct {
	Content               string  `json:"content"`
	Truncated             bool    `json:"truncated"`
	TruncatedBy           *string `json:"truncatedBy"` // "lines" or "bytes", null when nothing was cut
	TotalLines            int     `json:"totalLines"`
	TotalBytes            int     `json:"totalBytes"`
	OutputLines           int     `json:"outputLines"`
	OutputBytes           int     `json:"outputBytes"`
	LastLinePartial       bool    `json:"lastLinePartial"`       // only the end of the last line is left
	FirstLineExceedsLimit bool    `json:"firstLineExceedsLimit"` // no content is left, because the first line is too long
	MaxLines              int     `json:"maxLines"`
	MaxBytes              int     `json:"maxBytes"`
}

func newTruncation(lines, bytes int) Truncation {
	return Truncation{
		TotalLines: lines, TotalBytes: bytes, OutputLines: lines, OutputBytes: bytes, MaxLines: MaxLines, MaxBytes: MaxBytes,
	}
}

func (t Truncation) cut(by, output string) Truncation {
	t.Truncated, t.TruncatedBy = true, &by
	t.OutputLines, t.OutputBytes = countLines(output), len(output)
	return t
}

// countLines counts lines; a newline at the end begins none.
func countLines(s string) int {
	n := strings.Count(s, "\n")
	if s != "" && !strings.HasSuffix(s, "\n") {
		n++
	}
	return n
}

// head returns the whole lines at the beginning of s that are within the limits, without
// the last newline if anything was cut.
func head(s string) (string, Truncation) {
	t := newTruncation(countLines(s), len(s))
	if t.TotalLines <= MaxLines && len(s) <= MaxBytes {
		return s, t
	}
	end, lines := 0, 0 // end is after the last newline that fits
	for lines < MaxLines && end < len(s) {
		size := strings.IndexByte(s[end:], '\n')
		if size < 0 {
			size = len(s) - end
		}
		if end+size > MaxBytes {
			t.FirstLineExceedsLimit = end == 0
			out := strings.TrimSuffix(s[:end], "\n")
			return out, t.cut(byBytes, out)
		}
		end = min(end+size+1, len(s))
		lines++
	}
	out := strings.TrimSuffix(s[:end], "\n")
	return out, t.cut(byLines, out)
}

// tail returns the lines at the end of s that are within the limits. When not even one
// line is, it is the end of that line.
func tail(s string) (string, Truncation) {
	t := newTruncation(countLines(s), len(s))
	if t.TotalLines <= MaxLines && len(s) <= MaxBytes {
		return s, t
	}
	s = strings.TrimSuffix(s, "\n")
	start, lines := len(s), 0
	for lines < MaxLines && start > 0 {
		// The line before start, which is the end of s or after a newline.
		end := start
		if lines > 0 {
			end--
		}
		begin := strings.LastIndexByte(s[:end], '\n') + 1
		if len(s)-begin > MaxBytes {
			if lines > 0 {
				return s[start:], t.cut(byBytes, s[start:])
			}
			out := lastBytes(s, MaxBytes)
			t.LastLinePartial = true
			return out, t.cut(byBytes, out)
		}
		start = begin
		lines++
	}
	return s[start:], t.cut(byLines, s[start:])
}

// lastBytes returns at most n bytes of the end of s and no half character.
func lastBytes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	start := len(s) - n
	for start < len(s) && !utf8.RuneStart(s[start]) {
		start++
	}
	return s[start:]
}

// cutLine returns the beginning of a line that is too long for a search result.
func cutLine(line string) (out string, cut bool) {
	if len(line) <= MaxLineChars {
		return line, false
	}
	chars := 0
	for i := range line {
		if chars == MaxLineChars {
			return line[:i] + "... [truncated]", true
		}
		chars++
	}
	return line, false
}

// sizeText is a number of bytes for people.
func sizeText(n int64) string {
	switch {
	case n < 1<<10:
		return fmt.Sprintf("%dB", n)
	case n < 1<<20:
		return fmt.Sprintf("%.1fKB", float64(n)/(1<<10))
	default:
		return fmt.Sprintf("%.1fMB", float64(n)/(1<<20))
	}
}
