package session

import (
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
