package find

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/agent/engine"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

// Setting is the user's setting of the engine. The zero value means that there is none. It must come from the user's own
// settings, never from a workspace.
type Setting struct {
	Name string // own, one of [Names], or a name of the user's choice if there is a command

	// Command is the path of a program, or the name of one that is searched for, and its arguments, before those of the
	// protocol. Empty: Name is that of a known program.
	Command  []string
	Protocol engine.Protocol // of the command: pi-rpc, omp-rpc or acp
}

// configurable are the protocols that a setting can name.
var configurable = []engine.Protocol{engine.PiRPC, engine.OmpRPC, engine.ACP}

var goodName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,31}$`)

const (
	maxArguments   = 64
	maxArgumentLen = 4096
)

// Check returns an InvalidArgument error with a sentence for the user if the setting cannot be used.
func (s Setting) Check() error {
	bad := func(format string, args ...any) error {
		return fault.New(fault.InvalidArgument, `The setting "engine" is not valid: `+format, args...).With("field", "engine")
	}
	_, known := kindOf(s.Name)
	switch {
	case s.Name == "" && len(s.Command) == 0 && s.Protocol == "":
		return nil
	case len(s.Command) == 0 && (s.Name == engine.Own || known) && s.Protocol == "":
		return nil
	case len(s.Command) == 0:
		return bad("use own, %s, or an object with name, command and protocol.", strings.Join(Names(), ", "))
	case !goodName.MatchString(s.Name) || s.Name == engine.Own:
		return bad("the name %q is not a name of letters, digits, dots and hyphens, or is that of the program's own loop.", s.Name)
	case !slices.Contains(configurable, s.Protocol):
		return bad("the protocol must be pi-rpc, omp-rpc or acp.")
	case len(s.Command) > maxArguments || slices.ContainsFunc(s.Command, badArgument):
		return bad("the command has too many arguments, or one that is too long.")
	case s.Command[0] == "" || !filepath.IsAbs(s.Command[0]) && !strings.HasPrefix(s.Command[0], "~/") && filepath.Base(s.Command[0]) != s.Command[0]:
		return bad("the command must begin with an absolute path or the name of a program.")
	}
	return nil
}

func badArgument(arg string) bool { return len(arg) > maxArgumentLen || strings.ContainsRune(arg, 0) }

// configured reports whether the setting describes a program.
func (s Setting) configured() bool { return len(s.Command) > 0 && s.Check() == nil }
