package main

import (
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/spf13/afero"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/agent/history"
	"github.com/xcsh-ls/xcsh-ls/agent/tool"
	"github.com/xcsh-ls/xcsh-ls/lsp"
	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/fault"
)

// openBackend wires storage, discovery and live sessions for one server or command. A
// server watches the sessions' directories, a command is over too soon for that.
func openBackend(s lsp.Settings, c lsp.Client, watch bool, log *zap.Logger) (lsp.Backend, error) {
	p, err := openPlace(s, log)
	if err != nil {
		return lsp.Backend{}, err
	}
	cfg := p.config(s, watch, c.Warn, log)
	cfg.Hooks, cfg.Ask = hooks(p.own, s, c, log.Named("hook")), c.Approve
	var files tool.Workspace = tool.Local{Fs: p.fs}
	if c.Workspace != nil {
		files = c.Workspace(files)
	}
	withModels(&cfg, p.fs, p.own, p.finder.Roots, s, files, log)
	return lsp.Backend{
		Sessions: agent.NewManager(cfg), Store: p.store, Finder: p.finder, Fs: p.fs, Files: files,
		InputDir: filepath.Join(p.finder.CacheDir, "input"),
	}, nil
}

// place is where sessions are, and what reads and writes them.
type place struct {
	fs     afero.Fs
	own    string // what is ours alone, none of it a session
	finder session.Finder
	store  *session.Store
}

func openPlace(s lsp.Settings, log *zap.Logger) (place, error) {
	roots, env, err := roots(s)
	if err != nil {
		return place{}, err
	}
	p := place{fs: afero.NewOsFs(), own: filepath.Join(roots[0].AgentDir, "xcsh-ls")}
	p.finder = session.Finder{
		Fs: p.fs, Roots: roots, Home: env.Home, Temp: env.Temp,
		RealPath: filepath.EvalSymlinks, Now: time.Now, SessionDir: s.SessionDir, CacheDir: cacheDir(roots[0].AgentDir),
		AgentHome: absolutePath(os.Getenv("AGENT_HOME")),
	}
	p.store = session.NewStore(session.StoreConfig{
		Fs: p.fs, DirFor: p.finder.DirFor, RootFor: p.finder.FileRoot, RealPath: filepath.EvalSymlinks,
		LockDir: filepath.Join(p.own, "locks"), Log: log.Named("session"),
	})
	return p, nil
}

// config is what every manager of live sessions at a place has.
func (p place) config(s lsp.Settings, watch bool, warn func(string), log *zap.Logger) agent.Config {
	return agent.Config{
		Store: p.store, Finder: p.finder, TerminalID: s.TerminalID,
		InMemory: s.Persist != nil && !*s.Persist, Watch: watch, Log: log.Named("agent"),
		History: promptHistory(s, p.finder.Roots[0].Places, p.own, watch, warn, log.Named("history")),
	}
}

// promptHistory is what people said to models, nil when that is not to be remembered. A server
// also offers again what was never answered; a command has nobody to offer it to.
func promptHistory(s lsp.Settings, at session.Places, own string, server bool, warn func(string), log *zap.Logger) *history.Store {
	if s.History.Enabled != nil && !*s.History.Enabled {
		return nil
	}
	c := history.Config{Path: at.History, Unanswered: filepath.Join(own, "unanswered"), Warn: warn, Log: log}
	if server {
		c.Alive = session.ProcessAlive
	}
	return history.Open(c)
}

// cacheDir is where lists remember what they read: where xcsh keeps its caches.
func cacheDir(agentDir string) string {
	if base := os.Getenv("XDG_CACHE_HOME"); filepath.IsAbs(base) {
		dir := filepath.Join(base, "xcsh")
		if info, err := os.Stat(dir); err == nil && info.IsDir() {
			return filepath.Join(dir, "xcsh-ls")
		}
	}
	return filepath.Join(agentDir, "cache", "xcsh-ls")
}

// roots returns where sessions are looked for: our own place first, then those of the
// other programs.
func roots(s lsp.Settings) ([]session.Root, session.Env, error) {
	home, err := os.UserHomeDir()
	if err != nil {
		// Without a home only an explicit agent directory can work.
		home = ""
	}
	cwd, err := os.Getwd()
	if err != nil {
		cwd = home
	}
	env := session.Env{
		Home: home, Temp: os.TempDir(), Cwd: cwd, Getenv: os.Getenv, OS: runtime.GOOS,
		Exists: func(path string) bool { _, err := os.Stat(path); return err == nil },
	}
	own := session.AgentPlaces(s.AgentDir)
	if s.AgentDir == "" {
		if own, err = session.DefaultPlaces(env); err != nil {
			return nil, env, err
		}
	}
	roots := []session.Root{session.OwnRoot(own)}
	if s.Roots == nil {
		return append(roots, session.PeerPlaces(env)...), env, nil
	}
	for _, dir := range s.Roots {
		roots = append(roots, session.Root{Places: session.AgentPlaces(dir), Dialect: session.DialectOfAgentDir(dir)})
	}
	return roots, env, nil
}

// openLog returns a logger that writes to standard error or to a file, never to
// standard output, which belongs to the protocol.
func openLog(f flags) (*zap.Logger, error) {
	level, err := zapcore.ParseLevel(f.logLevel)
	if err != nil {
		return nil, fault.New(fault.InvalidArgument, "--log-level %q: the levels are debug, info, warn and error.", f.logLevel)
	}
	c := zap.NewProductionConfig()
	c.Level = zap.NewAtomicLevelAt(level)
	c.Sampling = nil
	c.DisableStacktrace = true
	c.Encoding = "console"
	c.EncoderConfig.EncodeTime = zapcore.ISO8601TimeEncoder
	if f.logFile != "" {
		c.OutputPaths = []string{f.logFile}
	}
	return c.Build()
}
