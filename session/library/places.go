package library

import (
	"cmp"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/spf13/afero"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/internal/disk"
)

// Places are the files of one agent directory. All of them are absolute paths; none needs
// to exist.
type Places struct {
	AgentDir  string // holds share.ts, models.json and, by default, all the others
	Sessions  string // one directory per working directory
	Blobs     string // content-addressed images
	Terminals string // breadcrumbs, one file per terminal
	History   string // prompt history, an SQLite file
}

// Env is the environment that the places depend on. The zero value of each function means
// that nothing is set and nothing exists.
type Env struct {
	Home, Temp string
	Cwd        string // base of a relative PI_CODING_AGENT_DIR
	Getenv     func(string) string
	OS         string // runtime.GOOS
	Exists     func(path string) bool
}

func (e Env) get(name string) string {
	if e.Getenv == nil {
		return ""
	}
	return e.Getenv(name)
}

func (e Env) exists(path string) bool { return e.Exists != nil && e.Exists(path) }

// Root is a sessions root that is listed: our own, or that of another program whose
// session files have the same format.
type Root struct {
	Places
	Dialect session.Dialect
	Own     bool // new sessions go here
}

// OwnRoot is the root at p that new sessions are written to.
func OwnRoot(p Places) Root { return Root{Places: p, Dialect: session.Xcsh, Own: true} }

// AgentPlaces are the places below an explicitly given agent directory. The environment is
// ignored.
func AgentPlaces(agentDir string) Places {
	return Places{
		AgentDir:  agentDir,
		Sessions:  filepath.Join(agentDir, "sessions"),
		Blobs:     filepath.Join(agentDir, "blobs"),
		Terminals: filepath.Join(agentDir, "terminal-sessions"),
		History:   filepath.Join(agentDir, "history.db"),
	}
}

// DefaultPlaces are the places xcsh itself uses in env: PI_CONFIG_DIR renames
// ~/.xcsh, PI_CODING_AGENT_DIR replaces the agent directory, and XDG_DATA_HOME and
// XDG_STATE_HOME take over on Linux and macOS when the agent directory is the default
// one and a directory xcsh exists below them. Every listing works on these places.
//
// The error is of kind invalidArgument: the home directory is unknown and no agent
// directory is given.
//
// Differs: the originals' listing of all projects ignores XDG, so that it looks into
// another tree than the listing of one.
func DefaultPlaces(env Env) (Places, error) {
	standard := filepath.Join(env.Home, cmp.Or(env.get("PI_CONFIG_DIR"), ".xcsh"), "agent")
	if dir := env.absolute(env.get("PI_CODING_AGENT_DIR")); dir != "" && (env.Home == "" || dir != standard) {
		return AgentPlaces(dir), nil
	}
	if env.Home == "" {
		return Places{}, fault.New(fault.InvalidArgument,
			"The home directory is not known; name an agent directory with --agent-dir, the option agentDir or PI_CODING_AGENT_DIR.").
			With("field", "agentDir")
	}
	return env.redirect(AgentPlaces(standard), "xcsh"), nil
}

// absolute makes a directory from the environment absolute; "" stays "".
//
// Differs: a leading ~ is the home directory, as in pi; xcsh makes a directory of
// that name.
func (e Env) absolute(dir string) string {
	if dir == "" {
		return ""
	}
	if rest, ok := strings.CutPrefix(dir, "~"); ok && e.Home != "" && (rest == "" || rest[0] == '/' || rest[0] == '\\') {
		return filepath.Join(e.Home, rest)
	}
	if !filepath.IsAbs(dir) && e.Cwd != "" {
		return filepath.Join(e.Cwd, dir)
	}
	return filepath.Clean(dir)
}

// redirect applies the XDG variables to the default places of app. The level agent/
// is dropped.
func (e Env) redirect(p Places, app string) Places {
	if e.OS != "linux" && e.OS != "darwin" {
		return p
	}
	if dir, ok := e.xdg("XDG_DATA_HOME", app); ok {
		p.Sessions = filepath.Join(dir, "sessions")
		p.Blobs = filepath.Join(dir, "blobs")
		p.History = filepath.Join(dir, "history.db")
	}
	if dir, ok := e.xdg("XDG_STATE_HOME", app); ok {
		p.Terminals = filepath.Join(dir, "terminal-sessions")
	}
	return p
}

// xdg returns app's directory below an XDG base directory when it exists. A relative
// base directory is invalid by the XDG specification and ignored.
func (e Env) xdg(variable, app string) (dir string, ok bool) {
	base := e.get(variable)
	if base == "" || !filepath.IsAbs(base) {
		return "", false
	}
	dir = filepath.Join(base, app)
	return dir, e.exists(dir)
}

// PeerPlaces returns the roots of pi and omp that exist, at their default places only:
// PI_CODING_AGENT_DIR means the directory of the program that reads it, so that it names
// ours and not theirs. A root that is our own is left out.
func PeerPlaces(env Env) []Root {
	if env.Home == "" {
		return nil
	}
	own, _ := DefaultPlaces(env) // cannot fail: the home directory is known
	candidates := []Root{
		{Places: AgentPlaces(filepath.Join(env.Home, ".pi", "agent")), Dialect: session.Pi},
		{Places: env.redirect(AgentPlaces(filepath.Join(env.Home, ".omp", "agent")), "omp"), Dialect: session.Omp},
	}
	var roots []Root
	for _, r := range candidates {
		if r.Sessions != own.Sessions && (env.exists(r.AgentDir) || env.exists(r.Sessions)) {
			roots = append(roots, r)
		}
	}
	return roots
}

// FileRoot returns the properties that follow from the place of the session file at path:
// whose rules its root's files follow and where its images are. ok is false for a file
// outside every root.
func (f Finder) FileRoot(path string) (r session.FileRoot, ok bool) {
	root := f.rootOf(path)
	return session.FileRoot{Dialect: root.Dialect, Blobs: root.Blobs}, root.Sessions != ""
}

// rootOf returns the root that path is below, or the zero Root.
func (f Finder) rootOf(path string) Root {
	roots := f.Roots
	if f.SessionDir != "" {
		roots = append([]Root{f.forced(f.SessionDir).root}, roots...)
	}
	for _, r := range roots {
		if _, ok := within(cleanPath(r.Sessions), cleanPath(path)); ok {
			return r
		}
	}
	return Root{}
}

// DirFor returns the directory for a new session of cwd. It is not created. The error is
// of kind invalidArgument if cwd is not absolute, and of kind internal if no root is our
// own.
func (f Finder) DirFor(cwd string) (string, error) {
	return f.dirIn(cwd, func(r Root) bool { return r.Own })
}

// DirOf returns the directory in which a program keeps its new sessions of cwd, named as the program names it. It is not
// created. Like all sessions, they are in SessionDir if that is set. The error is of kind invalidArgument if cwd is not absolute, and of
// kind notFound if there is no root of the program: its agent directory did not exist when the roots were looked up. Only pi's
// is known before pi was ever started.
func (f Finder) DirOf(cwd string, program session.Dialect) (string, error) {
	if program == session.Pi && f.SessionDir == "" && CheckCwd(cwd) == nil {
		if sessions := f.sessionsOfPi(); sessions != "" {
			return filepath.Join(sessions, wholePathName(cleanPath(cwd))), nil // pi knows one name only
		}
	}
	dir, err := f.dirIn(cwd, func(r Root) bool { return r.Dialect == program })
	if fault.Is(err, fault.Internal) {
		return "", fault.New(fault.NotFound, "The sessions of %s were not found; start it once in a terminal.", program)
	}
	return dir, err
}

// sessionsOfPi is the directory of pi's sessions, "" if the home directory is unknown.
func (f Finder) sessionsOfPi() string {
	for _, r := range f.Roots {
		if r.Dialect == session.Pi {
			return r.Sessions
		}
	}
	if f.Home == "" {
		return ""
	}
	return filepath.Join(f.Home, ".pi", "agent", "sessions")
}

// dirIn is DirFor in the first root that is wanted.
func (f Finder) dirIn(cwd string, wanted func(Root) bool) (string, error) {
	if f.SessionDir != "" {
		return f.SessionDir, nil
	}
	if err := CheckCwd(cwd); err != nil {
		return "", err
	}
	for _, r := range f.Roots {
		if !wanted(r) {
			continue
		}
		entries, err := afero.ReadDir(f.Fs, r.Sessions)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", disk.Fault("read", r.Sessions, err)
		}
		var existing []string
		for _, e := range entries {
			if f.isDir(r.Sessions, e) {
				existing = append(existing, e.Name())
			}
		}
		return filepath.Join(r.Sessions, writeDirName(cwd, f.Home, f.Temp, f.RealPath, existing)), nil
	}
	return "", fault.New(fault.Internal, "There is no place for new sessions.")
}
