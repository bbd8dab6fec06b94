package main

import (
	"path/filepath"
	"sync"

	"go.uber.org/zap"

	"github.com/xcsh-ls/xcsh-ls/agent/hook"
	"github.com/xcsh-ls/xcsh-ls/agent/hook/script"
	"github.com/xcsh-ls/xcsh-ls/lsp"
)

// hooks returns the hooks that are called before and after a session changes: first the user's
// executables at the place p, which can make the question to the user unnecessary, then the editor.
func (p place) hooks(s lsp.Settings, c lsp.Client, log *zap.Logger) []hook.Hook {
	agentDir := p.finder.Roots[0].AgentDir
	hooks := []hook.Hook{script.New(script.Config{
		Dir: filepath.Join(p.own, "hooks"), Settled: p.gate.Owns(agentDir), Workspaces: s.Folders,
		Check: func() error { return p.gate.Check(agentDir) }, Report: report(c.Warn, log), PassEnv: p.passEnv,
	})}
	if c.Hook != nil {
		hooks = append(hooks, c.Hook)
	}
	return hooks
}

// passEnv returns the variables that the user's rules pass to the programs of a folder.
func (p place) passEnv(folder string) []string {
	add, _ := p.sandboxRules().For(folder) // unreadable rules pass no variables, and no command runs
	return add.Env
}

// report logs failures of hook executables and warns the user once about each executable. warn may be nil.
func report(warn func(text string), log *zap.Logger) func(hook, text string) {
	var warned sync.Map
	return func(hook, text string) {
		log.Warn(text)
		if _, known := warned.LoadOrStore(hook, true); !known && warn != nil {
			warn(text)
		}
	}
}
