package setup

import (
	"context"
	"path/filepath"
	"slices"

	"github.com/spf13/afero"

	"github.com/xcsh-ls/xcsh-ls/agent/sensitive"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// Dir is the agent directory of a program.
type Dir struct {
	Path    string
	Program session.Dialect
}

// Finder finds set-ups. Fs must be set; it is safe for concurrent use.
type Finder struct {
	Fs     afero.Fs
	Home   string              // the user's home directory, "" if it is unknown
	Getenv func(string) string // nil: no variable is set
	Dirs   []Dir               // the first one is that of new sessions

	// Usable reports whether the files of an agent directory may be used now; nil means that all may.
	Usable func(dir string) bool

	Private   *sensitive.Set // files that are never sent; nil: none
	Decisions Decisions      // the user's decisions about folders; nil: there are none
	Last      *LastGood      // stands in for settings files that cannot be read; nil: nothing does
	Memory    *Memory        // what holds until the process ends; nil: nothing
}

// Query is what a set-up is looked up for.
type Query struct {
	Cwd        string          // absolute
	Program    session.Dialect // that wrote the session; Xcsh also for a session of this program
	Restricted bool            // the editor does not trust the folder: no decision counts
}

// Resolve returns the set-up that holds for q. A cancelled context leaves it incomplete.
func (f Finder) Resolve(ctx context.Context, q Query) *Resolved {
	l := f.begin(ctx, q)
	l.userSettings()
	servers := l.findServers()
	settings := l.findProjectSettings()
	l.decide(q.Restricted, servers, settings)
	l.mergeSettings(settings)
	l.mergeServers(servers)
	l.findSkills()
	l.findTemplates()
	l.findAgents()
	l.findPromptFiles()
	l.findContext()
	l.findRules()
	l.findExtensions()
	l.ask(q.Restricted)
	l.finish()
	return l.r
}

// looking is one call of Resolve.
type looking struct {
	Finder
	ctx     context.Context //nolint:containedctx // it lives as long as one call
	cwd     string
	program session.Dialect
	agent   string // the agent directory, "" if there is none that may be used
	up      []string
	root    string // of the repository; cwd if there is none
	private *sensitive.View
	budget  budget
	own     map[string]Setting // by name
	joined  []Setting          // lists of skills and prompts of pi
	allowed trusted
	r       *Resolved
}

// program returns the program whose rules apply to a session: a session of this program has the set-up of
// the main agent directory.
func (f Finder) program(of session.Dialect) session.Dialect {
	if of == session.Xcsh && len(f.Dirs) > 0 {
		return f.Dirs[0].Program
	}
	return of
}

func (f Finder) begin(ctx context.Context, q Query) *looking {
	l := &looking{
		Finder: f, ctx: ctx, cwd: filepath.Clean(q.Cwd), program: f.program(q.Program),
		private: f.Private.Resolve(f.Fs), budget: newBudget(), own: map[string]Setting{},
		r: &Resolved{
			Servers: []Server{}, Skills: []Skill{}, Templates: []Template{}, Agents: []Agent{}, Context: []File{}, Rules: []Rule{}, Settings: []Setting{},
			Extensions: []Extension{}, LeftOut: []LeftOut{}, Problems: []Problem{}, Sources: []string{},
		},
	}
	l.r.Folder, l.r.Program = l.cwd, l.program.String()
	for _, d := range f.Dirs {
		if d.Program == l.program {
			if f.Usable == nil || f.Usable(d.Path) {
				l.agent = filepath.Clean(d.Path)
			} else {
				l.problem(d.Path, "The set-up in "+d.Path+" is not used because this agent directory must not be used.")
			}
			break
		}
	}
	l.r.AgentDir = l.agent
	l.findRoot()
	return l
}

// findRoot finds the directories from the folder upward, and the root of its repository.
func (l *looking) findRoot() {
	l.root = l.cwd
	found := false
	for dir := l.cwd; len(l.up) < maxLevels; dir = filepath.Dir(dir) {
		l.up = append(l.up, dir)
		if _, err := l.Fs.Stat(filepath.Join(dir, ".git")); err == nil && !found {
			l.root, found = dir, true
		}
		if dir == filepath.Dir(dir) {
			return
		}
	}
}

// repository returns the folder and the directories above it, up to the root of its repository. Without a
// repository it is the folder only.
func (l *looking) repository() []string {
	if i := slices.Index(l.up, l.root); i >= 0 {
		return l.up[:i+1]
	}
	return l.up[:1]
}

func (l *looking) getenv(name string) string {
	if l.Getenv == nil {
		return ""
	}
	return l.Getenv(name)
}

// finish sorts what has no order of its own.
func (l *looking) finish() {
	if l.budget.spent {
		l.problem(l.cwd, "Not every file of the set-up of "+l.cwd+" was read because there are too many or they are too large.")
	}
	slices.Sort(l.r.Sources)
	l.r.Sources = slices.Compact(l.r.Sources)
}
