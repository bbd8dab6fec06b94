package sandbox

import (
	"encoding/json"
	"slices"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

// Box makes policies for the user's machine. Its fields must be set before it is used; it is
// safe for concurrent use.
type Box struct {
	// Launcher is a program and its first arguments that takes a policy as JSON and a command
	// line, and calls [Exec]: "xcsh-ls", "sandbox-exec", "--policy".
	Launcher []string

	Home   string // "" when the user has none
	Temp   string // for temporary files
	OS     string // as runtime.GOOS
	Getenv func(string) string

	// Deny returns the files and directories with secrets. nil means none.
	Deny func() []string

	// Rules are the user's additions for a folder. nil means none.
	Rules *Rules
}

// Policy returns the policy for commands of a folder, which is absolute. An error is about the
// user's rules; the policy is then the one without them.
func (b *Box) Policy(folder string, level Level) (Policy, error) {
	p := Policy{Level: level}
	if b.Deny != nil {
		p.Deny = slices.Clone(b.Deny())
	}
	if level != Standard {
		return p, nil
	}
	add, err := b.Rules.For(folder)
	p.Write = append([]string{folder, b.Temp}, GitDirs(folder)...)
	p.Write = append(append(p.Write, b.caches()...), add.Write...)
	p.Deny = slices.DeleteFunc(p.Deny, func(path string) bool { return slices.Contains(add.Read, path) })
	p.Network, p.UnixSockets = add.Network == nil || *add.Network, add.UnixSockets
	return p, err
}

// Env returns the names of variables that the user passes to commands of a folder by rule.
func (b *Box) Env(folder string) []string {
	add, _ := b.Rules.For(folder) // without the rules fewer are passed
	return add.Env
}

// Argv returns the command line that runs argv in the folder at a level, and the policy of that
// run. At [Outside] that is argv itself and no policy. It fails if there is no sandbox.
func (b *Box) Argv(folder string, level Level, argv []string) ([]string, Policy, error) {
	if level == Outside {
		return argv, Policy{}, nil
	}
	p, err := b.Policy(folder, level)
	if err != nil {
		return nil, Policy{}, err
	}
	if level == Standard {
		b.makeCaches()
	}
	switch b.OS {
	case "linux":
		raw, err := json.Marshal(p)
		if err != nil {
			return nil, Policy{}, err
		}
		return slices.Concat(b.Launcher, []string{string(raw), "--"}, argv), p, nil
	case "darwin":
		return append([]string{"/usr/bin/sandbox-exec", "-p", Profile(p)}, argv...), p, nil
	}
	return nil, Policy{}, fault.New(fault.Denied, "There is no sandbox on this system, so the command was not run.")
}
