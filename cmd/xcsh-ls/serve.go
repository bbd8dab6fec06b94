package main

import (
	"context"
	"encoding/json"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"go.uber.org/zap"

	"github.com/xcsh-ls/xcsh-ls/commands"
	"github.com/xcsh-ls/xcsh-ls/lsp"
)

// serve is the language server.
func serve(ctx context.Context, f flags) error {
	if err := f.check(); err != nil {
		return err
	}
	log, err := openLog(f)
	if err != nil {
		return err
	}
	ignoreBrokenPipe()
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	var startup lsp.Startup
	result := lsp.Serve(ctx, os.Stdin, os.Stdout, lsp.Options{
		Version: versionText(), Commands: commands.Default, Manifest: commands.ManifestJSON, Log: log,
		Open: func(_ context.Context, s lsp.Settings, c lsp.Client) (lsp.Backend, error) {
			f.override(&s)
			startup = s.Startup
			return openBackend(s, c, true, log)
		},
		Started: func(ctx context.Context, env *commands.Env) { begin(ctx, env, startup, log) },
	})
	if result.Err != nil {
		log.Error("server stopped", zap.String("reason", string(result.Reason)), zap.Error(result.Err))
	}
	if code := result.ExitCode(); code != 0 {
		return exitCode(code)
	}
	return nil
}

// override lets a flag win over what the editor configured.
func (f flags) override(s *lsp.Settings) {
	set := func(to *string, from string) {
		if from != "" {
			*to = from
		}
	}
	set(&s.AgentDir, absolutePath(f.agentDir))
	set(&s.SessionDir, absolutePath(f.sessionDir))
	set(&s.TerminalID, f.terminalID)
	set(&s.Model, f.model)
	set(&s.ThinkingLevel, f.thinking)
	set(&s.Approval, f.approval)
	if f.noSession {
		persist := false
		s.Persist = &persist
	}
	if first := f.startup(); first.Mode != "" {
		s.Startup = first
	}
}

// startup is what the flags say to open first.
func (f flags) startup() lsp.Startup {
	switch {
	case f.continueLast:
		return lsp.Startup{Mode: "continue"}
	case f.resume != "":
		return lsp.Startup{Mode: "resume", Target: f.resume}
	case f.fork != "":
		return lsp.Startup{Mode: "fork", Target: f.fork}
	default:
		return lsp.Startup{}
	}
}

func absolutePath(path string) string {
	if path == "" {
		return ""
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return path
	}
	return abs
}

// begin opens what the first folder is to start with. A failure is told to the person
// and leaves the folder with a new session.
func begin(ctx context.Context, env *commands.Env, s lsp.Startup, log *zap.Logger) {
	if len(env.Folders()) == 0 {
		return
	}
	if err := open(ctx, env, s); err != nil {
		log.Warn("start-up session was not opened", zap.Error(err))
		env.UI.Notify(ctx, commands.LevelError, err.Error())
	}
}

// open makes the first folder's session what s says.
func open(ctx context.Context, env *commands.Env, s lsp.Startup) error {
	folders := env.Folders()
	args := map[string]string{"cwd": folders[0]}
	command := map[string]string{"new": "xcsh.new", "continue": "xcsh.continue", "resume": "xcsh.resume", "fork": "xcsh.fork"}[s.Mode]
	switch s.Mode {
	case "resume":
		args["target"] = s.Target
	case "fork":
		args["source"] = s.Target
	}
	if command == "" {
		return nil
	}
	raw, err := json.Marshal(args)
	if err == nil {
		_, err = commands.Default.Execute(ctx, env, command, []json.RawMessage{raw})
	}
	return err
}
