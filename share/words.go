package share

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

// maxSentence limits the output of a program in an error message, in characters.
const maxSentence = 300

// noise matches the beginning of a line of a failed program that is not its error: the
// next step of gh, the position of Node.js.
var noise = regexp.MustCompile(`^(- |node:|file:///|\^+$)`)

// escapes are the colour sequences of terminals.
var escapes = regexp.MustCompile(`\x1b\[[0-9;]*m`)

// why returns the first output of a failed program, else its exit status.
func (o output) why() string {
	for _, output := range []string{o.stderr, o.stdout} {
		for line := range strings.Lines(output) {
			if line = sentence(line); line != "" && !noise.MatchString(line) {
				return line
			}
		}
	}
	if o.failed == nil {
		return "exit status 0"
	}
	return o.failed.Error()
}

// sentence is the first meaningful line of text, fit for the middle of a
// sentence.
func sentence(text string) string {
	for line := range strings.Lines(escapes.ReplaceAllString(text, "")) {
		line = strings.TrimRight(strings.TrimPrefix(strings.TrimSpace(line), "X "), ". ")
		if utf8.RuneCountInString(line) > maxSentence {
			line = string([]rune(line)[:maxSentence]) + "…"
		}
		if line != "" {
			return line
		}
	}
	return ""
}
