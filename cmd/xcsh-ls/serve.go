package main

import (
	"context"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"go.uber.org/zap"

	"github.com/xcsh-ls/xcsh-ls/commands"
	"github.com/xcsh-ls/xcsh-ls/lsp"
	"github.com/xcsh-ls/xcsh-ls/session/fault"
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
	result := lsp.Serve(ctx, os.Stdin, os.Stdout, serverOptions(f, log))
	if result.Err != nil {
		log.Error("server stopped", zap.String("reason", string(result.Reason)), zap.Error(result.Err))
	}
	if code := result.ExitCode(); code != 0 {
		return exitCode(code)
	}
	return nil
}

// serverOptions is the server that f asks for.
func serverOptions(f flags, log *zap.Logger) lsp.Options {
	var first lsp.Startup
	var inMemory bool
	return lsp.Options{
		Version: versionText(), Commands: commands.Default, Manifest: commands.ManifestJSON, Log: log,
		Open: func(_ context.Context, s lsp.Settings, c lsp.Client) (lsp.Backend, error) {
			f.override(&s)
			first, inMemory = startupOf(s), s.Persist != nil && !*s.Persist
			return openBackend(s, c, true, log)
		},
		Started: func(ctx context.Context, env *commands.Env) {
			if !inMemory {
				env.Sessions.History().Prepare()
				warnUnwritable(ctx, env)
			}
			begin(ctx, env, first, log)
		},
	}
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
	case f.resume.given:
		return lsp.Startup{Mode: "resume", Target: f.resume.name}
	case f.fork.given:
		return lsp.Startup{Mode: "fork", Target: f.fork.name}
	default:
		return lsp.Startup{}
	}
}

// startupOf is what to open first. In memory there is nothing to go back to: continue and
// resume begin a new session there, as in the terminal programs; a fork is refused.
func startupOf(s lsp.Settings) lsp.Startup {
	inMemory := s.Persist != nil && !*s.Persist
	if inMemory && (s.Startup.Mode == "continue" || s.Startup.Mode == "resume") {
		return lsp.Startup{}
	}
	return s.Startup
}

// first is what a command without an editor opens first.
func (f flags) first() lsp.Startup {
	var s lsp.Settings
	f.override(&s)
	return startupOf(s)
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
	if len(env.Folders()) == 0 && s.Target == "" {
		return
	}
	err := open(ctx, env, s)
	if err == nil || ctx.Err() != nil {
		return // or the server stops, and nobody waits for the session any more
	}
	log.Warn("start-up session was not opened", zap.Error(err))
	level := commands.LevelError
	if fault.Is(err, fault.Cancelled) {
		level = commands.LevelInfo // by the person, who knows
	}
	env.UI.Notify(ctx, level, err.Error())
}

// startupCommands are the commands of the start-up modes, and the argument that the target is.
var startupCommands = map[string]struct{ name, arg string }{
	"new": {name: "xcsh.new"}, "continue": {name: "xcsh.continue"}, "resume": {"xcsh.resume", "target"}, "fork": {"xcsh.fork", "source"},
}

// open makes the first folder's session what s says.
func open(ctx context.Context, env *commands.Env, s lsp.Startup) error {
	command, ok := startupCommands[s.Mode]
	if !ok {
		return nil
	}
	if s.Mode == "fork" && s.Target == "" {
		return fault.New(fault.InvalidArgument, "Which session is to be forked at the start is not said.").With("field", "target")
	}
	args := map[string]string{}
	if folders := env.Folders(); len(folders) > 0 {
		args["cwd"] = folders[0]
	}
	if command.arg != "" {
		args[command.arg] = s.Target
	}
	ask := *env
	ask.Pick = false // no client called, so that none can be told to ask
	result, err := commands.Call[any](ctx, commands.Default, &ask, command.name, args)
	if err != nil {
		return err
	}
	if by := refusedBy(result); by != "" {
		return fault.New(fault.Cancelled, "The session to begin with was not opened, cancelled by %s.", by)
	}
	return nil
}

// refusedBy says who kept a start-up command from changing the session, "" for nobody.
func refusedBy(result any) string {
	switch r := result.(type) {
	case commands.NewResult:
		return r.CancelledBy
	case commands.ResumeResult:
		return r.CancelledBy
	case commands.ForkResult:
		return r.CancelledBy
	}
	return ""
}
