package session

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
)

// Dialect is the program whose rules a session file follows. The three programs share the
// file format and differ in how they rebuild a context, where they keep a title, and how
// they write a model change.
type Dialect uint8

// The dialects.
const (
	Xcsh Dialect = iota
	Pi
	Omp
)

// String returns the program's name.
func (d Dialect) String() string {
	switch d {
	case Pi:
		return "pi"
	case Omp:
		return "omp"
	default:
		return "xcsh"
	}
}

// ParseDialect is the inverse of [Dialect.String].
func ParseDialect(s string) (d Dialect, ok bool) {
	for _, d := range []Dialect{Xcsh, Pi, Omp} {
		if d.String() == s {
			return d, true
		}
	}
	return Xcsh, false
}

// GuessDialect determines the program from the file alone, for files outside every
// program's own directory. omp writes a title slot; xcsh's session ids are 16 hex digits,
// those of the other two are UUIDs; some entries are written by only one program. A copy
// made by this package records the dialect in its header.
func GuessDialect(hasSlot bool, h Header, marks DialectMarks) Dialect {
	if d, ok := ParseDialect(h.Dialect); ok {
		return d
	}
	switch {
	case hasSlot:
		return Omp
	case looksLikeSnowflake(h.ID):
		return Xcsh
	case marks.omp:
		return Omp
	case marks.pi, looksLikeUUID(h.ID):
		return Pi
	default:
		return Xcsh
	}
}

// DialectMarks are the entries that only one program writes.
type DialectMarks struct{ pi, omp bool }

// See records the marks of the entry raw, whose type is t.
func (m *DialectMarks) See(t Type, raw []byte) {
	switch t {
	case TypeModelChange:
		m.pi = m.pi || rawjson.Get(raw, "modelId") != nil
		m.omp = m.omp || rawjson.Get(raw, "resolvedModelIsFallback") != nil
	case TypeSessionInfo, typeContextEdit, typeUsage:
		m.pi = true
	case typeModelUsage, typeResetBoundary, TypeTitleChange, typeCredentialPin:
		m.omp = true
	}
}

func looksLikeSnowflake(id string) bool {
	return len(id) == 16 && strings.Trim(id, "0123456789abcdef") == ""
}

func looksLikeUUID(id string) bool {
	if len(id) != 36 {
		return false
	}
	for i, c := range id {
		if dash := i == 8 || i == 13 || i == 18 || i == 23; dash != (c == '-') {
			return false
		}
	}
	return true
}

// DialectOfAgentDir returns the program that an agent directory belongs to, by its path: pi
// or omp for .pi, .omp and directories below them, else xcsh.
func DialectOfAgentDir(dir string) Dialect {
	for part := range strings.SplitSeq(strings.ReplaceAll(dir, `\`, "/"), "/") {
		if d, ok := ParseDialect(strings.TrimPrefix(part, ".")); ok && strings.HasPrefix(part, ".") {
			return d
		}
	}
	return Xcsh
}

// Unreadable returns the reason why a program cannot continue the session in its file, as a sentence; "" if it can. Then a fork in
// the program's form is needed; see [Store.ForkInto]. A session in memory, or of which no file exists yet, is judged by its content alone.
//
// It is what the programs were observed to do, with two exceptions: pi opens sessions of a newer version, and
// programs other than omp ignore its boundaries, so that they would send a model what the user has cleared.
func (d *Document) Unreadable(by Dialect) string {
	switch {
	case d.header.Raw == nil:
		return "The file has no session header."
	case d.header.Version > CurrentVersion:
		return fmt.Sprintf("The session was written by a newer program (version %d).", d.header.Version)
	case by != Omp && d.hasSlot:
		return fmt.Sprintf("The file begins with a title in the form of omp, which %s cannot read.", by)
	case by != Omp && d.tree.anyType(typeResetBoundary):
		return fmt.Sprintf("The conversation was cleared in omp, and %s would show again what was before.", by)
	case by == Pi && slices.ContainsFunc(d.problems, func(p Problem) bool { return p.Kind == byteOrderMark }):
		return "The file begins with a byte order mark, which pi cannot read."
	case by == Pi && bytes.IndexByte(d.header.Raw, '\n') >= 0:
		return "The session header is on several lines, which pi cannot read."
	}
	return ""
}
