package share

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

// maxSentence is how much of what a program said is put into a sentence, in characters.
const maxSentence = 300

// noise begins a line of a failed program that does not say what went wrong: what gh is
// about to do, where Node.js was.
var noise = regexp.MustCompile(`^(- |node:|file:///|\^+$)`)

// escapes are what terminals take as colours.
var escapes = regexp.MustCompile(`\x1b\[[0-9;]*m`)

// why is the first thing that a program said when it failed, else how it ended.
func (o output) why() string {
	for _, said := range []string{o.stderr, o.stdout} {
		for line := range strings.Lines(said) {
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

// sentence is the first line of text that says something, fit for the middle of a
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
