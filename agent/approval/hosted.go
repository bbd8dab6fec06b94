package approval

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/agent/sandbox"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

// Effect is what a tool call of a hosted engine does. The values are those of the engine package.
type Effect int

// The effects.
const (
	Runs    Effect = iota // it runs a command or something unknown
	Changes               // it changes the files of the preview, and nothing else
	Reads                 // it changes nothing
)

// hosted decides about a call of a hosted engine. The engine runs the tool itself, with the user's rights:
// no sandbox limits it, so nothing is allowed because it only reads, and no rule that was given for our
// own sandbox applies.
func (p policy) hosted(r Request) (level sandbox.Level, allowed bool, err error) {
	level = sandbox.Outside
	switch {
	case r.EndsPlan:
		return level, false, nil
	case r.Effect == Reads && !p.secret(r):
		return level, true, nil
	case p.mode == ReadOnly:
		return level, false, fault.New(fault.Denied, "The approval mode is read-only: the %s call of %s is not allowed.", r.Tool, r.Hosted)
	case r.Changed:
		return level, p.mode == Yolo, nil
	case p.mode == Yolo:
		return level, true, nil
	case r.Effect == Changes:
		return level, p.edits() && p.freeHosted(r), nil
	case r.Effect == Reads: // of a file with secrets
		return level, false, nil
	case r.Tool == bashTool:
		l, ok := bashLine(r.Args)
		return level, ok && p.lineRule(l, true), nil
	default:
		return level, ruleable(r) && p.hostedRule(r), nil
	}
}

// freeHosted reports whether the files that the call changes are known, and may be changed where edits in the folder
// may be made.
func (p policy) freeHosted(r Request) bool {
	return p.free(r.Preview.Paths) && !slices.ContainsFunc(r.Preview.Paths, func(path string) bool { return !filepath.IsAbs(path) })
}

// secret reports whether the call names a file with secrets.
func (p policy) secret(r Request) bool {
	return p.sensitive != nil && slices.ContainsFunc(r.Preview.Paths, func(path string) bool {
		return p.sensitive(path) || p.sensitive(realOr(path))
	})
}

// hostedRule reports whether a rule allows this tool of this engine.
func (p policy) hostedRule(r Request) bool {
	return slices.ContainsFunc(p.rules, func(rule Rule) bool {
		return rule.valid() && rule.Tool != "" && rule.Tool == r.Tool && rule.Engine == r.Hosted && rule.Digest == "" && rule.Server == ""
	})
}

// hostedRules returns the rules that would allow a call of a hosted engine again. l is its command line, if ok.
func (p policy) hostedRules(r Request, l line, ok bool) []Rule {
	switch {
	case r.Effect == Changes:
		if p.freeHosted(r) {
			return []Rule{{Edit: true}}
		}
		return nil
	case r.Effect == Reads:
		return nil
	case ok:
		return unsandboxedRule(l)
	case ruleable(r):
		return []Rule{{Tool: r.Tool, Engine: r.Hosted}}
	default:
		return nil
	}
}

// runners are the names of tools that run any command. A rule for one would allow everything.
var runners = []string{
	bashTool, "sh", "zsh", "fish", "shell", "powershell", "pwsh", "cmd", "terminal", "execute", "exec", "run", "run_command", "run_shell_command",
	"eval", "python", "node", "code", "codemode",
}

// changers are the names of tools that change files. A rule for one would allow changes of every file.
var changers = []string{"edit", "write", "multiedit", "notebookedit", "replace", "write_file", "apply_patch", "delete", "move"}

// ruleable reports whether a rule for all calls of the tool may exist. None may for a tool that can do everything:
// one that takes a command or code, or changes any file.
func ruleable(r Request) bool {
	name := strings.ToLower(r.Tool)
	if name == "" || !printable(r.Tool) || len(r.Tool) > maxLine || slices.Contains(runners, name) || slices.Contains(changers, name) {
		return false
	}
	var args map[string]json.RawMessage
	if json.Unmarshal(r.Args, &args) != nil && len(r.Args) > 0 {
		return false
	}
	for member := range args {
		if slices.Contains([]string{"command", "cmd", "script", "code"}, strings.ToLower(member)) {
			return false
		}
	}
	return true
}
