package main

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/spf13/afero"
	"go.uber.org/zap"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/agent/tool"
	"github.com/xcsh-ls/xcsh-ls/agent/trust"
	"github.com/xcsh-ls/xcsh-ls/history"
	"github.com/xcsh-ls/xcsh-ls/lsp"
	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/library"
	"github.com/xcsh-ls/xcsh-ls/session/lock"
)

// openBackend wires storage, discovery and live sessions for one server or command. A server watches the
// session directories; a command is too short-lived for that.
func openBackend(s lsp.Settings, c lsp.Client, watch bool, log *zap.Logger) (lsp.Backend, error) {
	p, err := openPlace(s, c.Folders, log)
	if err != nil {
		return lsp.Backend{}, err
	}
	cfg := p.config(s, watch, c.Warn, log)
	cfg.Hooks, cfg.Ask, cfg.Pace, cfg.Restricted = p.hooks(s, c, log.Named("hook")), c.Approve, c.Pace, c.Restricted
	cfg.CanAsk, cfg.AskForm, cfg.Advice = c.CanAsk, c.AskForm, c.Advice
	var files tool.Workspace = tool.Local{Fs: p.fs}
	if c.Workspace != nil {
		files = c.Workspace(files)
	}
	if c.EditorDocuments != nil {
		cfg.Documents = c.EditorDocuments(tool.Local{Fs: p.fs})
	}
	p.withModels(&cfg, s, files, c, log)
	cfg.Engines = p.engines(s, c, report(c.Warn, log.Named("engine")), log.Named("engine"))
	store := openTeam(p, s, c.Folders, log)
	cfg.Shared = store.shared
	sessions := agent.NewManager(cfg)
	if store.report != nil {
		store.report(sessions)
	}
	if watch {
		recoverRewinds(sessions, c.Warn, log)
		startTeam(store.team)
	}
	return lsp.Backend{
		Sessions: sessions, Store: p.store, Finder: p.finder, Fs: p.fs, Files: files, Team: store.team,
		PDF: p.pdfText(s, log), InputDir: filepath.Join(p.finder.CacheDir, "input"),
	}, nil
}

// place is a set of session directories and the components that read and write them.
type place struct {
	fs     afero.Fs
	own    string // directory of this program's own files; no sessions
	env    library.Env
	finder library.Finder
	store  *session.Store
	gate   *trust.Gate // decides which agent directories may be used
}

// openPlace opens the place that s names. folders returns the workspace folders; nil means none.
func openPlace(s lsp.Settings, folders func() []string, log *zap.Logger) (place, error) {
	roots, env, err := roots(s)
	if err != nil {
		return place{}, err
	}
	p := place{fs: afero.NewOsFs(), env: env, own: filepath.Join(roots[0].AgentDir, "xcsh-ls")}
	p.finder = library.Finder{
		Fs: p.fs, Roots: roots, Home: env.Home, Temp: env.Temp,
		RealPath: filepath.EvalSymlinks, Now: time.Now, SessionDir: s.SessionDir, CacheDir: cacheDir(roots[0].AgentDir),
		AgentHome: absolutePath(os.Getenv("AGENT_HOME")),
	}
	p.finder.IndexDir, p.finder.IndexMax = filepath.Join(p.finder.CacheDir, "index"), indexMax(s)
	p.gate = newGate(p.fs, s, env, folders)
	p.store = session.NewStore(session.StoreConfig{
		Fs: p.fs, DirFor: p.finder.DirFor, RootFor: p.finder.FileRoot, RealPath: filepath.EvalSymlinks,
		IndexDir: p.finder.IndexDir, IndexMax: p.finder.IndexMax, LockDir: filepath.Join(p.own, "locks"), Log: log.Named("session"),
	})
	return p, nil
}

// indexMax is [session.StoreConfig.IndexMax] for the settings.
func indexMax(s lsp.Settings) int64 {
	switch n := s.Cache.MaxBytes; {
	case n == nil:
		return 0
	case *n == 0:
		return -1
	default:
		return int64(*n)
	}
}

// config returns the configuration that every manager of live sessions at a place shares.
func (p place) config(s lsp.Settings, watch bool, warn func(string), log *zap.Logger) agent.Config {
	return agent.Config{
		Storage: agent.Storage{
			Store:      p.store,
			Finder:     p.finder,
			TerminalID: s.TerminalID,
			InMemory:   s.Persist != nil && !*s.Persist,
			Watch:      watch,
			History:    p.promptHistory(s, watch, warn, log),
		},
		Changes: agent.ChangeSettings{
			Capture: s.Changes.Capture, MaxFile: s.Changes.MaxFile, MaxSession: s.Changes.MaxSession, Exclude: s.Changes.Exclude,
			Required: s.Changes.Required, CommandLook: s.Changes.CommandLook, Temp: filepath.Join(p.own, "looks"),
			Pointers: filepath.Join(p.own, "rewinds"), Disk: p.fs,
		},
		Log: log.Named("agent"),
	}
}

// recoverRewinds completes or undoes interrupted rewinds of earlier processes.
func recoverRewinds(sessions *agent.Manager, tell func(string), log *zap.Logger) {
	notes, err := sessions.RecoverRewinds(context.Background())
	if err != nil {
		log.Warn("an interrupted rewind is retried with the next write of its session", zap.Error(err))
	}
	for _, note := range notes {
		if tell != nil {
			tell(note)
		}
	}
}

// recoverAlone is recoverRewinds for a program whose managers are made later, one for each conversation.
func recoverAlone(cfg agent.Config, log *zap.Logger) {
	sessions := agent.NewManager(cfg)
	recoverRewinds(sessions, nil, log)
	if err := sessions.Close(context.Background()); err != nil {
		log.Warn("the recovery of rewinds was not closed", zap.Error(err))
	}
}

// promptHistory stores the user's prompts: unanswered ones, so that they survive a crash, and all of
// them in the prompt history unless that is turned off. A server also offers unanswered prompts again
// after a crash. A command doesn't, because it has no user to ask.
func (p place) promptHistory(s lsp.Settings, server bool, warn func(string), log *zap.Logger) *history.Store {
	c := history.Config{
		Path: p.finder.Roots[0].Places.History, Unanswered: filepath.Join(p.own, "unanswered"), Warn: warn, Log: log.Named("history"),
	}
	if s.History.Enabled != nil && !*s.History.Enabled {
		c.Path = ""
	}
	if server {
		c.Alive, c.Started = lock.Alive, lock.Started
	}
	return history.Open(c)
}

// cacheDir returns the directory in which lists cache their results: the one that xcsh uses for its caches.
func cacheDir(agentDir string) string {
	if base := os.Getenv("XDG_CACHE_HOME"); filepath.IsAbs(base) {
		dir := filepath.Join(base, "xcsh")
		if info, err := os.Stat(dir); err == nil && info.IsDir() {
			return filepath.Join(dir, "xcsh-ls")
		}
	}
	return filepath.Join(agentDir, "cache", "xcsh-ls")
}

// roots returns the directories to search for sessions: our own first, then those of the other programs.
func roots(s lsp.Settings) ([]library.Root, library.Env, error) {
	home, err := os.UserHomeDir()
	if err != nil {
		// Without a home directory, only an explicit agent directory can work.
		home = ""
	}
	cwd, err := os.Getwd()
	if err != nil {
		cwd = home
	}
	env := library.Env{
		Home: home, Temp: os.TempDir(), Cwd: cwd, Getenv: getenv(s.Standard), OS: runtime.GOOS,
		Exists: func(path string) bool { _, err := os.Stat(path); return err == nil },
	}
	own := library.AgentPlaces(absolutePath(s.AgentDir))
	if s.AgentDir == "" {
		if own, err = library.DefaultPlaces(env); err != nil {
			return nil, env, err
		}
	}
	roots := []library.Root{library.OwnRoot(own)}
	if s.Roots == nil {
		return append(roots, library.PeerPlaces(env)...), env, nil
	}
	for _, dir := range s.Roots {
		dir = absolutePath(dir)
		roots = append(roots, library.Root{Places: library.AgentPlaces(dir), Dialect: session.DialectOfAgentDir(dir)})
	}
	return roots, env, nil
}

// getenv is os.Getenv. If standard is set, it hides the variables that name an agent directory.
func getenv(standard bool) func(string) string {
	return func(name string) string {
		if standard && (name == "PI_CODING_AGENT_DIR" || name == "PI_CONFIG_DIR") {
			return ""
		}
		return os.Getenv(name)
	}
}
