package history

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// maxPrompt is the longest prompt that is recorded whole, in bytes.
const maxPrompt = 1 << 20

// isSpace reports whether JavaScript counts r as white space. Go does not agree about U+FEFF
// and U+0085, and a prompt must be the same text for every program that compares it.
func isSpace(r rune) bool {
	switch r {
	case ' ', 0xA0, 0x1680, 0x2028, 0x2029, 0x202F, 0x205F, 0x3000, 0xFEFF:
		return true
	}
	return '\t' <= r && r <= '\r' || 0x2000 <= r && r <= 0x200A
}

// cleanPrompt returns text in its stored form: trimmed, valid UTF-8, and cut with a marker if it is
// longer than the limit.
func cleanPrompt(text string) string {
	text = trim(text)
	if len(text) <= maxPrompt {
		return text
	}
	marker := fmt.Sprintf("\n[cut: the prompt has %d bytes]", len(text))
	return prefix(text, maxPrompt-len(marker)) + marker
}

// trim is text as valid UTF-8 without the white space around it.
func trim(text string) string {
	return strings.TrimFunc(strings.ToValidUTF8(text, "\uFFFD"), isSpace)
}

// prefix returns the first n bytes of valid text, or less so that no character is torn.
func prefix(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}

// cleanLines returns a prompt in the form for a table without duplicates: line ends are LF, and no
// line ends with a blank.
func cleanLines(text string) string {
	lines := strings.Split(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " \t")
	}
	return strings.TrimFunc(strings.Join(lines, "\n"), isSpace)
}
