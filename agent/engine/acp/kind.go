package acp

import (
	"slices"

	"github.com/xcsh-ls/xcsh-ls/agent/engine"
)

// kind has the facts about a program that it does not announce. Each was seen by running it.
type kind struct {
	args   []string // that make it speak the protocol
	native bool     // it writes the session file; its id in the protocol is that in the header
	files  bool     // it reads and writes files through the client
	asks   bool     // it asks before its tools change something
	asking string   // the mode in which it does; "" if it has none
	flags  []string // before args, that make it ask for everything that runs something
	forms  bool     // it asks its questions with forms
}

// kinds are the known programs, by the name of the engine.
var kinds = map[string]kind{
	// omp asks a client for its shell, deletes and moves. Its other tools that run something, such as "eval" and those of MCP servers,
	// run without a question unless its own approval mode says otherwise, and then it asks with a form.
	"omp": {
		args: []string{"acp"}, native: true, files: true, asks: true, asking: "default", flags: []string{"--approval-mode", "always-ask"}, forms: true,
	},
	"claude-agent-acp": {asks: true, asking: "default"},
	"claude":           {asks: true, asking: "default"},
	"gemini":           {args: []string{"--acp"}},
	"opencode":         {args: []string{"acp"}},
}

func kindOf(p engine.Program) kind { return kinds[p.Name] }

// args returns the arguments of a program. Those that the user has set may be complete.
func (k kind) with(args []string) []string {
	for i := range args {
		if len(k.args) > 0 && slices.Equal(args[i:min(len(args), i+len(k.args))], k.args) {
			return args
		}
	}
	return append(slices.Clone(args), k.args...)
}

// asksForAll adds the flags with which the program asks, to arguments that with has returned. The program takes the last of several.
func (k kind) asksForAll(args []string) []string {
	for i := range args {
		if slices.Equal(args[i:min(len(args), i+len(k.args))], k.args) {
			return slices.Insert(slices.Clone(args), i, k.flags...)
		}
	}
	return args
}
