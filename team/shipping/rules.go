package shipping

import (
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/session/redact"
)

// CurrentRules is the version of the rules by which lines are redacted. It is raised by each change of them: lines that left by older
// rules are compared by those, and a session keeps the rules that it began with.
const CurrentRules = 1

// Rules say what becomes of a line on its way out. The zero value sends lines as they are.
type Rules struct {
	version int
	scanner *redact.Scanner // nil: nothing is redacted
}

// NewRules returns the rules of a version; 0 are those that redact nothing. known are secrets of the user. They belong to the
// rules: with others a line may have another result.
//
// The error is of kind newerVersion if this program does not have the rules.
func NewRules(version int, known ...string) (Rules, error) {
	switch version {
	case 0:
		return Rules{}, nil
	case CurrentRules:
		return Rules{version, redact.NewScanner(known...)}, nil
	}
	return Rules{}, fault.New(fault.NewerVersion, "The session was redacted by rules of version %d, which this xcsh-ls does not have. Update it; until then the session stays on this machine.", version).
		With("version", version)
}

// Version returns the version of the rules, 0 if they redact nothing.
func (r Rules) Version() int { return r.version }
