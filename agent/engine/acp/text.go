package acp

import (
	"errors"
	"io/fs"
	"strings"
	"unicode/utf8"

	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
	"github.com/xcsh-ls/xcsh-ls/session/visible"
)

// The sizes of texts that are shown, in bytes.
const (
	maxName     = 200
	maxSentence = 2000
)

// sentence makes a text of an agent one line that can be shown.
func sentence(s string) string {
	s = visible.Line(strings.TrimSpace(cut(s, maxSentence)))
	if s == "" {
		return "no reason was given."
	}
	if !strings.HasSuffix(s, ".") && !strings.HasSuffix(s, "!") && !strings.HasSuffix(s, "?") {
		s += "."
	}
	return s
}

// name makes a text of an agent a short line that can be shown.
func name(s string) string { return visible.Line(strings.TrimSpace(cut(s, maxName))) }

// cut returns at most n bytes of s, and whole characters.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}

// lastLine returns the last line of a program's error output that says something.
func lastLine(s string) string {
	lines := strings.Split(strings.TrimRight(s, "\n "), "\n")
	return name(lines[len(lines)-1])
}

// reasonOf returns the reason in the data of an error, with a space before it: programs hide it there behind "Internal error".
func reasonOf(data []byte) string {
	for _, key := range []string{"details", "message", "error"} {
		if text, ok := rawjson.GetString(data, key); ok && text != "" {
			return ": " + text
		}
	}
	return ""
}

func missing(err error) bool { return errors.Is(err, fs.ErrNotExist) }
