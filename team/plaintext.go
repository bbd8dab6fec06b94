package team

import "strings"

// PlainText returns s as a store keeps texts: valid UTF-8 without NUL, which PostgreSQL refuses.
// Invalid bytes become U+FFFD, and a NUL is removed. It applies to titles, first prompts, labels and
// filed texts; bodies and heads are bytes and stay unchanged.
func PlainText(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "")
}
