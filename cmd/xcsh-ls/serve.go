package main

import (
	"context"
	"os"
	"os/signal"
	"path/filepath"

	"go.uber.org/zap"

	"github.com/xcsh-ls/xcsh-ls/commands"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/lsp"
)

// serve runs the language server.
func serve(ctx context.Context, f flags) error {
	if err := f.check(); err != nil {
		return err
	}
	log, err := openLog(f)
	if err != nil {
		return err
	}
	ignoreBrokenPipe()
	ctx, stop := signal.NotifyContext(ctx, stopSignals()...)
	defer stop()
	options, store := serverOptions(f, log), lastTeam{log: log}
	options.Open = store.opening(options.Open)
	result := lsp.Serve(ctx, os.Stdin, os.Stdout, options)
	store.close()
	if result.Err != nil {
		log.Error("server stopped", zap.String("reason", string(result.Reason)), zap.Error(result.Err))
	}
	if code := result.ExitCode(); code != 0 {
		return exitCode(code)
	}
	return nil
}

// serverOptions returns the options of the server that f describes.
func serverOptions(f flags, log *zap.Logger) lsp.Options {
	var first lsp.Startup
	var inMemory bool
	return lsp.Options{
		Version: versionText(), Commands: commands.Default, Manifest: commands.ManifestJSON, Log: log,
		Open: func(_ context.Context, s lsp.Settings, c lsp.Client) (lsp.Backend, error) {
			f.override(&s)
			first, inMemory = startupOf(s), s.Persist != nil && !*s.Persist
			return withTrust(s, c, log)
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

// override applies the flags over the editor's configuration.
func (f flags) override(s *lsp.Settings) {
	set := func(to *string, from string) {
		if from != "" {
			*to = from
		}
	}
	set(&s.AgentDir, absolutePath(f.agentDir))
	s.AgentDirNamed = s.AgentDirNamed || f.agentDir != ""
	for _, dir := range f.allowAgentDirs {
		s.AllowAgentDirs = append(s.AllowAgentDirs, absolutePath(dir))
	}
	set(&s.SessionDir, absolutePath(f.sessionDir))
	set(&s.TerminalID, f.terminalID)
	set(&s.Model, f.model)
	set(&s.ThinkingLevel, f.thinking)
	set(&s.Approval, f.approval)
	set(&s.Sandbox, f.sandbox)
	set(&s.ShellPath, absolutePath(f.shellPath))
	if n, err := f.retryCount(); err == nil && n != nil { // check has reported an error
		s.Retries = n
	}
	if d, err := f.longestRetry(); err == nil && d > 0 {
		s.RetryLimit = d
	}
	if f.noSession {
		persist := false
		s.Persist = &persist
	}
	if first := f.startup(); first.Mode != "" {
		s.Startup = first
	}
}

// startup returns the session to open first, according to the flags.
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

// startupOf returns the session to open first. In memory there are no earlier sessions: continue and
// resume begin a new session, as in the terminal programs, and a fork is refused.
func startupOf(s lsp.Settings) lsp.Startup {
	inMemory := s.Persist != nil && !*s.Persist
	if inMemory && (s.Startup.Mode == "continue" || s.Startup.Mode == "resume") {
		return lsp.Startup{}
	}
	return s.Startup
}

// first returns the session that a command without an editor opens first.
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

// begin opens the session with which the first folder starts. On failure it notifies the user and leaves
// the folder with a new session.
func begin(ctx context.Context, env *commands.Env, s lsp.Startup, log *zap.Logger) {
	if len(env.Folders()) == 0 && s.Target == "" {
		return
	}
	err := open(ctx, env, s)
	if err == nil || ctx.Err() != nil {
		return // or the server is stopping and the session is no longer needed
	}
	log.Warn("startup session was not opened", zap.Error(err))
	level := commands.LevelError
	if fault.Is(err, fault.Cancelled) {
		level = commands.LevelInfo // by the user, who needs no error
	}
	env.UI.Notify(ctx, level, err.Error())
}

// startupCommands maps each start-up mode to its command and the argument that takes the target.
var startupCommands = map[string]struct{ name, arg string }{
	"new": {name: "xcsh.new"}, "continue": {name: "xcsh.continue"}, "resume": {"xcsh.resume", "target"}, "fork": {"xcsh.fork", "source"},
}

// open makes the session that s describes the first folder's session.
func open(ctx context.Context, env *commands.Env, s lsp.Startup) error {
	command, ok := startupCommands[s.Mode]
	if !ok {
		return nil
	}
	if s.Mode == "fork" && s.Target == "" {
		return fault.New(fault.InvalidArgument, "No session to fork: set the id or path with --fork or, in an editor, with startup.target.").With("field", "target")
	}
	args := map[string]string{}
	if folders := env.Folders(); len(folders) > 0 {
		args["cwd"] = folders[0]
	}
	if command.arg != "" {
		args[command.arg] = s.Target
	}
	ask := *env
	ask.Pick = false // no client called, so none can be asked to show a picker
	result, err := commands.Call[any](ctx, commands.Default, &ask, command.name, args)
	if err != nil {
		return err
	}
	if by := refusedBy(result); by != "" {
		return fault.New(fault.Cancelled, "The startup session was not opened: cancelled by %s.", by)
	}
	return nil
}

// refusedBy returns the name of the hook that refused a start-up command, or "" if none did.
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
