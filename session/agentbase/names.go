package agentbase

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"
)

// maxID is the maximum length of an id.
const maxID = 128

// CheckID says why agent-base, or a system it runs on, would not accept a file called
// ID.json; nil if it would. The error's text continues a sentence that begins with the id.
func CheckID(id string) error {
	switch {
	case id == "":
		return errors.New("is empty")
	case len(id) > maxID:
		return fmt.Errorf("is longer than %d characters", maxID)
	case strings.Contains(id, ".."), id[0] == '.',
		strings.ContainsFunc(id, func(r rune) bool { return r >= 0x80 || !isIDByte(byte(r)) }):
		return errors.New("may only hold letters, digits, dots, dashes and underscores, and neither two dots together nor one at the beginning")
	case Reserved(id):
		return errors.New("is reserved")
	}
	return nil
}

func isIDByte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_' || c == '.' || c == '-'
}

// Reserved reports whether name is one that agent-base reserves or that Windows treats as
// a device, also with an extension.
func Reserved(name string) bool {
	name = strings.TrimRight(strings.ToLower(norm.NFKC.String(name)), ". ")
	if slices.Contains([]string{"", "index", "metadata", "last_session"}, name) {
		return true
	}
	device, _, _ := strings.Cut(name, ".")
	device = strings.TrimRight(device, " ")
	if slices.Contains([]string{"con", "prn", "aux", "nul", "conin$", "conout$"}, device) {
		return true
	}
	number, numbered := strings.CutPrefix(device, "com")
	if !numbered {
		number, numbered = strings.CutPrefix(device, "lpt")
	}
	return numbered && len(number) == 1 && '0' <= number[0] && number[0] <= '9'
}
