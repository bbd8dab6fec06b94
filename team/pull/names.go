package pull

import (
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/team/shipping"
)

const extension = ".jsonl"

var (
	// They are compiled when they are used: without a store a program starts as before.
	safeID  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9-]{0,63}$`) })
	devices = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)^(con|prn|aux|nul|com[0-9]|lpt[0-9])\.`) }) // names that Windows keeps for itself
)

// fileName returns the name of the file of a session: that of the store if every system accepts it, else one of the session's id and
// time.
func (r remote) fileName() string {
	if name := r.head.FileName; shipping.IsFileName(name) && !devices().MatchString(name) {
		return name
	}
	id := r.at.Header().ID
	if !safeID().MatchString(id) {
		id = r.sid.String()
	}
	at, err := time.Parse(time.RFC3339Nano, r.at.Header().Timestamp)
	if err != nil || at.Year() < 0 || at.Year() > 9999 {
		return "session_" + id + extension
	}
	return session.FileName(session.FormatTime(at), id)
}

// numbered returns the n-th name to try for a file: NAME.jsonl, NAME_2.jsonl and so on.
func numbered(name string, n int) string {
	if n < 2 {
		return name
	}
	return strings.TrimSuffix(name, extension) + "_" + strconv.Itoa(n) + extension
}

// grouped returns a number with commas between groups of three digits.
func grouped(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
