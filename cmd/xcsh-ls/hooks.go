package main

import (
	"path/filepath"
	"sync"

	"go.uber.org/zap"

	"github.com/xcsh-ls/xcsh-ls/agent/hook"
	"github.com/xcsh-ls/xcsh-ls/agent/hook/script"
	"github.com/xcsh-ls/xcsh-ls/lsp"
)

// hooks are who is asked before a session changes, and told after it: the person's executables
// in the directory own, which may spare the person the question, then the editor.
func hooks(own string, s lsp.Settings, c lsp.Client, log *zap.Logger) []hook.Hook {
	hooks := []hook.Hook{script.New(script.Config{
		Dir: filepath.Join(own, "hooks"), Settled: s.AgentDir == "", Workspaces: s.Folders, Report: report(c.Warn, log),
	})}
	if c.Hook != nil {
		hooks = append(hooks, c.Hook)
	}
	return hooks
}

// report logs what goes wrong with executables, and tells the person once of each. warn may be
// nil.
func report(warn func(text string), log *zap.Logger) func(hook, text string) {
	var told sync.Map
	return func(hook, text string) {
		log.Warn(text)
		if _, known := told.LoadOrStore(hook, true); !known && warn != nil {
			warn(text)
		}
	}
}
