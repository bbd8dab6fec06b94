// Package attached separates the words of a prompt from the files attached to it. Editors and
// terminal programs put attached files before the words, in one text:
//
//	<file path="a.go" lines="3-9">
//	…
//	</file>
//
//	What does this do?
//
// pi writes name instead of path. It may be preceded by the same form for further files, and all of
// it by an instruction of the client:
//
//	<instruction>
//	Edit only these lines.
//	</instruction>
package attached

import (
	"strconv"
	"strings"
)

const (
	opening = "<file "
	closing = "</file>"

	instructionOpening = "<instruction>\n"
	instructionClosing = "\n</instruction>\n\n"
)

// Words returns the words of a prompt: the text after its instruction and attached files, the text
// itself if there are none, or the path of the first file if there is nothing else.
//
// Not every program escapes the content of a file, so that it can hold a closing tag too. The
// words begin after the last one that ends a line, because words with such a line are rarer
// than files with one.
func Words(prompt string) string {
	prompt = WithoutInstruction(prompt)
	path, ok := firstPath(prompt)
	if !ok {
		return prompt
	}
	end := lastClosing(prompt)
	if end < 0 {
		return prompt
	}
	if words := strings.TrimLeft(prompt[end:], " \t\r\n"); words != "" {
		return words
	}
	return path
}

// WithoutInstruction returns a prompt without its leading instruction. An instruction alone is kept.
func WithoutInstruction(prompt string) string {
	if !strings.HasPrefix(prompt, instructionOpening) {
		return prompt
	}
	_, rest, _ := strings.Cut(prompt, instructionClosing)
	if strings.TrimSpace(rest) == "" {
		return prompt
	}
	return rest
}

// firstPath returns the path of the file that a prompt begins with.
func firstPath(prompt string) (path string, ok bool) {
	rest, ok := strings.CutPrefix(prompt, opening)
	if !ok {
		return "", false
	}
	tag, _, ok := strings.Cut(rest, ">")
	for _, attribute := range [...]string{"path=", "name="} {
		quoted, found := strings.CutPrefix(tag, attribute)
		if !found {
			continue
		}
		// The path itself may hold a ">", and is then longer than the tag.
		quoted = rest[len(tag)-len(quoted):]
		if text, err := strconv.QuotedPrefix(quoted); err == nil {
			path, err = strconv.Unquote(text)
			return path, ok && err == nil && path != ""
		}
	}
	return "", false
}

// lastClosing returns the offset after the last closing tag that ends a line, or -1.
func lastClosing(prompt string) int {
	for end := len(prompt); ; {
		i := strings.LastIndex(prompt[:end], closing)
		if i < 0 {
			return -1
		}
		after := prompt[i+len(closing):]
		if after == "" || after[0] == '\n' || after[0] == '\r' {
			return i + len(closing)
		}
		end = i
	}
}
