package pi

import (
	"errors"
	"io/fs"
	"os/exec"
	"regexp"
	"strconv"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/agent/engine"
	"github.com/xcsh-ls/xcsh-ls/agent/event"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/session/visible"
)

// errClosed is the error of methods after Close.
func (e *Engine) errClosed() *fault.Error {
	return fault.New(fault.Provider, "%s has been ended.", e.program.Name).With("class", "engine")
}

// fault returns a failure of the engine, with the last lines of pi's error output.
func (e *Engine) fault(format string, args ...any) *fault.Error {
	f := fault.New(fault.Provider, format, args...).With("class", "engine")
	if e.proc == nil {
		return f
	}
	if details := visible.Text(e.proc.Stderr()); details != "" {
		f = f.With("details", details)
	}
	return f
}

// notStarted is the failure of a child that the system did not start.
func (e *Engine) notStarted(err error) *fault.Error {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, exec.ErrNotFound) {
		return e.fault("%s is not installed any more (it was at %s).", e.program.Name, e.program.Path).With("reason", engine.ReasonMissing)
	}
	f := e.fault("%s could not be started: %w.", e.program.Name, err)
	return f
}

var (
	unloaded    = regexp.MustCompile(`Failed to load extension "?([^":\n]+)"?`)
	syntaxError = regexp.MustCompile(`SyntaxError: The requested module 'node:|SyntaxError: .*(?:import|export|module)|ERR_UNKNOWN_BUILTIN_MODULE|ERR_UNSUPPORTED_ESM`)
)

// endedEarly is the failure of a child that ended before it could be used.
func (e *Engine) endedEarly() *fault.Error {
	end := e.proc.Exit()
	if end.err != nil {
		return e.fault("%w.", end.err)
	}
	output := e.proc.Stderr()
	name, code := e.program.Name, end.code
	if asked := e.lastDialog(); code == 0 && asked != "" {
		return e.fault("%s ended while it started: an extension asks “%s” before %s can be answered.", name, asked, name).With("reason", engine.ReasonExtension)
	}
	if found := unloaded.FindStringSubmatch(output); found != nil {
		if strings.Contains(found[1], bridgeName) {
			return e.fault("The extension of xcsh-ls could not be loaded into %s.", name).With("reason", "bridge")
		}
		return e.fault("The extension %s could not be loaded into %s.", brief(found[1], maxTitle), name).With("reason", engine.ReasonExtension).With("extension", found[1])
	}
	if code == 1 && syntaxError.MatchString(output) {
		return e.fault("%s needs Node.js 22 or newer.", name).With("reason", "node")
	}
	if line := lastLine(output); line != "" && code != 0 {
		return e.fault("%s ended while it started: %s", name, brief(line, maxTitle))
	}
	return e.fault("%s ended while it started (%s).", name, end)
}

// endedLater is the failure of a child that ended by itself while it was in use.
func (e *Engine) endedLater() *fault.Error {
	end := e.proc.Exit()
	if end.err != nil {
		return e.fault("%w.", end.err)
	}
	return e.fault("%s ended unexpectedly (%s).", e.program.Name, end)
}

// String returns a few words about an end.
func (x exit) String() string {
	if x.signal != "" {
		return "signal: " + x.signal
	}
	return "exit code " + strconv.Itoa(x.code)
}

// lastLine returns the last line of an error output that says something: the last one that names an error, if any.
func lastLine(output string) (line string) {
	for l := range strings.Lines(output) {
		l = strings.TrimSpace(l)
		if l != "" && (line == "" || !strings.HasPrefix(line, "Error") || strings.HasPrefix(l, "Error")) && !strings.HasPrefix(l, "at ") {
			line = l
		}
	}
	return line
}

// Commands of the server that are offered with a failure.
const loginCommand = "xcsh.login"

// refused returns pi's refusal of a command as an error.
func refused(name, sentence string) *fault.Error {
	text := firstSentence(sentence)
	f := fault.New(fault.Provider, "%s refused: %s", name, text).With("class", "engine")
	if needsLogin(sentence) {
		return fault.New(fault.Provider, "%s is not logged in: %s", name, text).With("class", "login").With("actions", loginActions())
	}
	return f
}

// firstSentence returns the first paragraph of a refusal: what follows are hints for pi's own screen.
func firstSentence(s string) string {
	s, _, _ = strings.Cut(strings.TrimSpace(cut(s, maxNotice)), "\n\n")
	if s == "" {
		return "it gave no reason."
	}
	return s
}

// needsLogin reports whether a refusal is about a missing login.
func needsLogin(sentence string) bool {
	return strings.Contains(sentence, "No API key found") || strings.Contains(sentence, "/login") || strings.Contains(sentence, "No model selected")
}

func loginActions() []event.Action {
	return []event.Action{{Title: "Log In", Command: loginCommand, Arguments: map[string]any{}}}
}
