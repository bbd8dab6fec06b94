package main

import (
	"errors"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"runtime"
	"slices"
	"sync"

	"github.com/spf13/afero"
	"go.uber.org/zap"

	"github.com/xcsh-ls/xcsh-ls/agent/sensitive"
	"github.com/xcsh-ls/xcsh-ls/agent/trust"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/lsp"
	"github.com/xcsh-ls/xcsh-ls/session/intake"
	"github.com/xcsh-ls/xcsh-ls/session/library"
)

// allowVariable lists agent directories that may be used inside a workspace.
const allowVariable = "XCSH_LS_ALLOW_AGENT_DIR"

// newGate returns the gate that decides which agent directories may be used. The user's decisions are
// stored in the standard agent directory, wherever the sessions are.
func newGate(fs afero.Fs, s lsp.Settings, env library.Env, folders func() []string) *trust.Gate {
	g := &trust.Gate{Fs: fs, Home: env.Home, Folders: folders, Named: s.AllowAgentDirs, Store: &trust.Store{Fs: fs}}
	if env.Home != "" {
		for _, name := range []string{".xcsh", ".pi", ".omp"} {
			g.Standard = append(g.Standard, filepath.Join(env.Home, name, "agent"))
		}
		g.Store.Path = filepath.Join(g.Standard[0], "xcsh-ls", "trust.json")
	}
	for _, dir := range filepath.SplitList(os.Getenv(allowVariable)) {
		g.Named = append(g.Named, absolutePath(dir))
	}
	if s.AgentDirNamed {
		g.Named = append(g.Named, absolutePath(s.AgentDir))
	}
	if s.AgentDir == "" {
		if p, err := library.DefaultPlaces(env); err == nil {
			g.Configured = append(g.Configured, p.AgentDir)
		}
	}
	return g
}

// trusted returns s with the standard agent directory in place of one that must not be used, and the
// error that explains it. Other errors occur where the directory is used.
func trusted(s lsp.Settings, folders func() []string) (lsp.Settings, error) {
	roots, env, err := roots(s)
	if err != nil {
		return s, nil //nolint:nilerr // openPlace fails with it
	}
	err = newGate(afero.NewOsFs(), s, env, folders).Check(roots[0].AgentDir)
	if !fault.Is(err, fault.Denied) {
		return s, nil
	}
	s.AgentDir, s.Standard = "", true
	return s, err
}

// allow records the agent directories that the user allows on the command line. It fails for an
// agent directory that must not be used.
func allow(s lsp.Settings, folders func() []string) error {
	if _, refused := trusted(s, folders); refused != nil {
		return failure{refused, exitUsage}
	}
	if len(s.AllowAgentDirs) == 0 {
		return nil
	}
	_, env, err := roots(s)
	if err != nil {
		return err
	}
	gate := newGate(afero.NewOsFs(), s, env, folders)
	for _, dir := range s.AllowAgentDirs {
		if err := gate.Allow(dir); err != nil {
			return err
		}
	}
	return nil
}

// withTrust is openBackend for the server. If the configured agent directory must not be used, it warns
// the user and starts with the standard one.
func withTrust(s lsp.Settings, c lsp.Client, log *zap.Logger) (lsp.Backend, error) {
	s, refused := trusted(s, c.Folders)
	b, err := openBackend(s, c, true, log)
	if refused != nil && err == nil {
		log.Warn(refused.Error())
		c.Warn(refused.Error() + "\nUsing the standard agent directory instead.")
	}
	return b, err
}

// usable returns a function that reports whether the files of an agent directory may be used. It warns
// the user once about each directory that may not.
func usable(gate *trust.Gate, tell func(about, text string)) func(dir string) bool {
	return func(dir string) bool {
		err := gate.Check(dir)
		if err != nil {
			tell(dir, err.Error())
		}
		return err == nil
	}
}

// private returns the set of files that models must not see.
func private(roots []library.Root) *sensitive.Set {
	home, _ := os.UserHomeDir() // without it, only the machine's own paths are known
	env := sensitive.Env{Home: home, Homes: otherHomes(), OS: runtime.GOOS, Getenv: os.Getenv}
	for _, r := range roots {
		env.AgentDirs = append(env.AgentDirs, r.AgentDir)
	}
	return sensitive.New(env)
}

// maxHomes bounds the number of other users' home directories.
const maxHomes = 16

// otherHomes returns home directories other than HOME: the account's own, and, for the administrator,
// who can read them, those of other users.
func otherHomes() []string {
	var homes []string
	if me, err := user.Current(); err == nil {
		homes = append(homes, me.HomeDir)
	}
	if os.Geteuid() == 0 {
		others, _ := filepath.Glob("/home/*") // the pattern is valid
		homes = append(homes, others[:min(len(others), maxHomes)]...)
	}
	return homes
}

// rules returns the directory of the rules about actions that need no permission. Those of an agent
// directory inside a workspace are not read: anyone who can write to the workspace could add to them.
func (p place) rules() string {
	if _, inside := p.gate.Inside(p.own); inside && p.gate.Store.Path != "" {
		return filepath.Dir(p.gate.Store.Path)
	}
	return p.own
}

// ruleLeftOut returns the message for the user about a stream rule that is not used as it is.
func ruleLeftOut(path string, err error) string {
	return fmt.Sprintf("The rule in %s is not applied, or not completely: %s.", path, reason(err))
}

// reason returns the reason for which a file is not used.
func reason(err error) string {
	if refused, ok := errors.AsType[*intake.Refused](err); ok {
		return refused.Why
	}
	return err.Error()
}

// folderList is an append-only list of folders. It is safe for concurrent use.
type folderList struct {
	mu   sync.Mutex
	list []string
}

func (f *folderList) add(folder string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.list = append(f.list, folder)
}

func (f *folderList) all() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clip(f.list)
}
