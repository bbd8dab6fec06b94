package composer

import (
	"strings"
	"unicode"
)

// Slash returns the name and the arguments of a prompt that begins with a slash command. ok is false for any other
// prompt, such as one that begins with a path.
func Slash(text string) (name, args string, ok bool) {
	rest, ok := strings.CutPrefix(strings.TrimSpace(text), "/")
	if !ok {
		return "", "", false
	}
	name = rest
	if i := strings.IndexFunc(rest, unicode.IsSpace); i >= 0 {
		name, args = rest[:i], strings.TrimSpace(rest[i:])
	}
	return name, args, name != "" && !strings.Contains(name, "/")
}
