package find

import (
	"path/filepath"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/agent/engine"
)

// kind is a program that is known to be an engine.
type kind struct {
	name     string
	protocol engine.Protocol
	args     []string // what makes it speak the protocol
	least    version  // the oldest version that can be used
	tested   int      // the newest major version that was tested; 0 if there is no note about newer ones
	node     version  // the Node.js that a script of it needs if its package does not say
	adapter  bool     // it only speaks the protocol, so its version is read from its package rather than asked for

	// login is the command that logs in: the name of a program, "" for the program itself, and its arguments.
	login []string
}

// kinds are all known programs, in the order in which they are listed.
var kinds = []kind{
	{name: "pi", protocol: engine.PiRPC, least: version{1}, tested: 1, node: version{22, 19}, login: []string{""}},
	{name: "omp", protocol: engine.ACP, args: []string{"acp"}, least: version{18}, tested: 18, login: []string{""}},
	{name: "xcsh", protocol: engine.OmpRPC, least: version{18, 38}, tested: 19, login: []string{""}},
	{name: "claude-agent-acp", protocol: engine.ACP, node: version{22}, adapter: true, login: []string{"claude", "/login"}},
	{name: "codex-acp", protocol: engine.ACP, node: version{22}, adapter: true, login: []string{"codex", "login"}},
	{name: "gemini", protocol: engine.ACP, args: []string{"--acp"}, node: version{22}, login: []string{""}},
	{name: "opencode", protocol: engine.ACP, args: []string{"acp"}, node: version{22}, login: []string{"", "auth", "login"}},
}

// Names returns the names of the known programs.
func Names() []string {
	names := make([]string, len(kinds))
	for i, k := range kinds {
		names[i] = k.name
	}
	return names
}

func kindOf(name string) (kind, bool) {
	for _, k := range kinds {
		if k.name == name {
			return k, true
		}
	}
	return kind{}, false
}

// files returns the names that a program's file may have.
func (m Machine) files(name string) []string {
	if m.OS != "windows" || strings.Contains(filepath.Base(name), ".") {
		return []string{name}
	}
	return []string{name + ".exe", name + ".cmd"}
}
