package main

import (
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"go.uber.org/zap"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/agent/engine"
	"github.com/xcsh-ls/xcsh-ls/agent/engine/acp"
	"github.com/xcsh-ls/xcsh-ls/agent/engine/find"
	"github.com/xcsh-ls/xcsh-ls/agent/engine/pi"
	"github.com/xcsh-ls/xcsh-ls/commands"
	"github.com/xcsh-ls/xcsh-ls/lsp"
	"github.com/xcsh-ls/xcsh-ls/session/visible"
)

// engines returns the programs of this machine that can answer in place of the server's own loop. The user's answer to the
// question whether to use one is stored beside the other decisions, never in a workspace. tell shows the user a
// sentence about something that is not used; it may be nil.
func (p place) engines(s lsp.Settings, c lsp.Client, tell func(about, text string), log *zap.Logger) agent.Engines {
	return agent.Engines{
		Programs: find.New(find.Config{
			Machine: find.System(), Setting: s.Engine, Store: filepath.Join(p.rules(), "engine.json"),
			Cache: filepath.Join(p.finder.CacheDir, "engines.json"), Report: tell, Make: p.makeEngines(log),
		}),
		EngineIdle: s.EngineIdle, Folders: c.Folders,
		Trusted: func(string) bool { return c.RunsExtensions != nil && c.RunsExtensions() },
	}
}

// makeEngines are the constructors of engines, by the protocol of their programs.
func (p place) makeEngines(log *zap.Logger) map[engine.Protocol]func(engine.Program) (engine.Engine, error) {
	family := func(program engine.Program) (engine.Engine, error) {
		return pi.New(program, pi.Options{Fs: p.fs, Log: log}), nil
	}
	return map[engine.Protocol]func(engine.Program) (engine.Engine, error){
		engine.PiRPC: family, engine.OmpRPC: family,
		engine.ACP: func(program engine.Program) (engine.Engine, error) {
			return acp.New(program, acp.Options{Version: versionText(), Env: os.Environ(), Fs: p.fs, Log: log}), nil
		},
	}
}

// withoutChoice returns s with the server's own loop as the engine, unless a flag names one. The answer that a user gave in an
// editor must not change what a script does.
func withoutChoice(s lsp.Settings) lsp.Settings {
	if s.Engine.Name == "" {
		s.Engine.Name = engine.Own
	}
	return s
}

// printEngines lists the programs that can be engines.
func printEngines(cmd *cobra.Command, env *commands.Env) {
	none := true
	for _, p := range env.Sessions.Engines(cmd.Context(), env.Folders()) {
		if p.Name == engine.Own {
			continue
		}
		none = false
		line := "engine " + p.Name
		if p.Version != "" {
			line += " " + p.Version
		}
		if p.Path != "" {
			line += ": " + p.Path
		}
		if p.Problem != "" {
			line += " (" + p.Problem + ")"
		}
		cmd.Println(visible.Line(line))
	}
	if none {
		cmd.Println("engines: none found")
	}
}
