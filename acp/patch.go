package acp

import (
	"strconv"
	"strings"
)

// patchDiffs converts a unified diff of one file to the changes that a client shows: the old and the new
// text of each hunk, including the unchanged lines around it.
func patchDiffs(path, patch string) (diffs []toolContent) {
	var before, after strings.Builder
	inHunk, created := false, false
	flush := func() {
		if !inHunk {
			return
		}
		old := before.String()
		d := diff(path, &old, after.String())
		if created {
			d.OldText = nil
		}
		diffs = append(diffs, d)
		before.Reset()
		after.Reset()
	}
	for line := range strings.Lines(patch) {
		if strings.HasPrefix(line, "@@ ") {
			flush()
			inHunk, created = true, startsAtNothing(line)
			continue
		}
		if !inHunk {
			continue // file header
		}
		switch text := line[1:]; line[0] {
		case '-':
			before.WriteString(text)
		case '+':
			after.WriteString(text)
		case ' ':
			before.WriteString(text)
			after.WriteString(text)
		case '\n': // an unchanged empty line without its space
			before.WriteByte('\n')
			after.WriteByte('\n')
		case '\\':
			// "No newline at end of file" does not matter, because the diff is only displayed.
		}
	}
	flush()
	return diffs
}

// startsAtNothing reports whether a hunk header describes an empty old file: "@@ -0,0 +1,3 @@".
func startsAtNothing(header string) bool {
	_, rest, _ := strings.Cut(header, "-")
	start, _, _ := strings.Cut(rest, " ")
	line, count, _ := strings.Cut(start, ",")
	n, err := strconv.Atoi(line)
	return err == nil && n == 0 && count != ""
}
