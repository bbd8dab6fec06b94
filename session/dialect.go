package session

import (
	"strings"

	"github.com/xcsh-ls/xcsh-ls/session/rawjson"
)

// Dialect is the program whose rules a session file follows. The three programs
// share the file format and differ in what they make of it: how a context is
// rebuilt, where a title is kept, how a model change is written.
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

// guessDialect tells the program from the file alone, for files that are not below
// a program's own directory. omp writes a title slot; xcsh's session ids are 16 hex
// digits, those of the other two are UUIDs; some entries only one program writes. A
// fork of ours says in its header whose conversation it copied.
func guessDialect(hasSlot bool, h Header, marks dialectMarks) Dialect {
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

// dialectMarks are the entries that only one program writes.
type dialectMarks struct{ pi, omp bool }

func (m *dialectMarks) see(t Type, raw []byte) {
	switch t {
	case TypeModelChange:
		m.pi = m.pi || rawjson.Get(raw, "modelId") != nil
		m.omp = m.omp || rawjson.Get(raw, "resolvedModelIsFallback") != nil
	case TypeSessionInfo, TypeContextEdit, TypeUsage:
		m.pi = true
	case TypeModelUsage, TypeResetBoundary, TypeTitleChange, TypeCredentialPin:
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

// DialectOfAgentDir tells from a path whose agent directory it is: one below a .pi or
// .omp directory is that program's.
func DialectOfAgentDir(dir string) Dialect {
	for part := range strings.SplitSeq(strings.ReplaceAll(dir, `\`, "/"), "/") {
		if d, ok := ParseDialect(strings.TrimPrefix(part, ".")); ok && strings.HasPrefix(part, ".") {
			return d
		}
	}
	return Xcsh
}
