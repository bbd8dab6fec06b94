package library

import (
	"bytes"
	"regexp"
	"strings"

	"golang.org/x/text/unicode/norm"

	"github.com/xcsh-ls/xcsh-ls/session"
)

// maxSlug is the length of the longest slug, in bytes.
const maxSlug = 64

// Slug is the name under which a session can be typed: its title in lower-case letters,
// digits, '_', '.' and '-', in the compatible form of Unicode. It is a key to look a
// session up by and never the name of a file. Sessions of one folder may share it; a list
// appends a number to distinguish them, see [Info].
//
// A title of which nothing is left, and one that would be the name of a device in Windows
// or of a file of xcsh-ls, gives a slug made of the first eight characters of id.
func Slug(title, id string) string {
	if s := slugBody(title); s != "" && !isReserved(s) {
		return s
	}
	return fallbackSlug(id)
}

// fallbackSlug names a session by its id.
func fallbackSlug(id string) string {
	return strings.TrimRight("session-"+slugPart(id, 8), "-.")
}

// SameName reports whether two titles are the same name for a user: they are equal except
// for case, blanks and the characters that a slug omits.
func SameName(a, b string) bool {
	if a, b = session.CleanTitle(a), session.CleanTitle(b); strings.EqualFold(a, b) {
		return true
	}
	s := slugBody(a)
	return s != "" && s == slugBody(b) && isASCII(a) && isASCII(b)
}

// slugBody is the part of s that can be in a slug. It begins and ends with a letter, a
// digit or '_', and is empty if s has none of them.
func slugBody(s string) string { return slugPart(s, maxSlug) }

// slugPart is slugBody, of at most limit bytes, up to maxSlug.
func slugPart(s string, limit int) string {
	if !isASCII(s) {
		s = norm.NFKC.String(s)
	}
	var b [maxSlug]byte
	n, last := 0, byte(0)
	for i := 0; i < len(s) && n < limit; i++ {
		c := slugByte(s[i])
		if separator := c == '-' || c == '.'; separator && (c == last || n == 0) {
			continue
		}
		b[n], last = c, c
		n++
	}
	return string(bytes.TrimRight(b[:n], "-."))
}

// slugByte is the slug's character for one byte of a title. Letters outside of ASCII are
// left out before conversion to lower case: the result of that conversion is not the same
// everywhere.
func slugByte(c byte) byte {
	switch {
	case c >= 'A' && c <= 'Z':
		return c + 'a' - 'A'
	case c >= 'a' && c <= 'z', c >= '0' && c <= '9', c == '_', c == '.':
		return c
	}
	return '-'
}

// reserved are the names of devices in Windows, with or without extension, and of files
// that stores of named sessions reserve. The superscript digits, which Windows treats as
// digits, are digits by then, and a dollar sign is a dash or gone.
var reserved = regexp.MustCompile(`^(?:(?:con|prn|aux|nul|com[0-9]|lpt[0-9]|conin-?|conout-?)(?:\..*)?|index|metadata|last_session)$`)

func isReserved(slug string) bool {
	switch slug[:min(len(slug), 3)] {
	case "con", "prn", "aux", "nul", "com", "lpt", "ind", "met", "las":
		return reserved.MatchString(slug)
	}
	return false // almost always, and a long list checks every slug
}
