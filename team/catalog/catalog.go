package catalog

import (
	"context"
	"sync"
	"time"

	"github.com/spf13/afero"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/library"
	"github.com/xcsh-ls/xcsh-ls/team"
	"github.com/xcsh-ls/xcsh-ls/team/publish"
)

const (
	answerTime = 300 * time.Millisecond // of the network, at most, in List
	pollEvery  = 5 * time.Second
	shownFor   = 5 * time.Minute // after a List, as long as its result may be on a screen
)

// Config configures a [Catalog]. All functions must be safe for concurrent use.
type Config struct {
	// Connected returns the store after Hello. Its error is of kind offline or refused.
	Connected func(ctx context.Context) (team.Store, team.Hello, error)
	Key       func(cwd string) string         // the key of the project of a folder, "" without one
	State     func(path string) publish.State // of a local file, from memory; may be nil
	Local     func(sid team.SID) bool         // a file of this machine is known to have the session; may be nil

	Fs  afero.Fs
	Dir string // <agentDir>/xcsh-ls/team; the file seen-….json in it is disposable

	Clock   publish.Clock
	Changed func(key string) // is called without locks if later results differ from those of a List; may be nil
}

// Catalog lists the sessions of the store. It is safe for concurrent use.
type Catalog struct {
	c      Config
	life   context.Context //nolint:containedctx // that of the calls in the background; Close ends it
	end    context.CancelFunc
	active sync.WaitGroup

	mu       sync.Mutex
	closed   bool
	projects map[string]*project // by key
}

// New returns a Catalog. It starts nothing.
func New(c Config) *Catalog {
	life, end := context.WithCancel(context.Background())
	if c.State == nil {
		c.State = func(string) publish.State { return publish.State{Phase: publish.Off} }
	}
	if c.Local == nil {
		c.Local = func(team.SID) bool { return false }
	}
	if c.Changed == nil {
		c.Changed = func(string) {}
	}
	return &Catalog{c: c, life: life, end: end, projects: map[string]*project{}}
}

// Close ends all calls of the store, and the polling.
func (c *Catalog) Close() {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	c.end()
	c.active.Wait()
}

// goes runs f in a goroutine that Close waits for. It does nothing after Close.
func (c *Catalog) goes(f func()) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return false
	}
	c.active.Go(f)
	return true
}

// project returns the project of a key, with what was last seen of it.
func (c *Catalog) project(key string) *project {
	c.mu.Lock()
	defer c.mu.Unlock()
	p := c.projects[key]
	if p == nil {
		p = &project{c: c, key: key, rows: map[team.SID]row{}}
		p.load()
		c.projects[key] = p
	}
	return p
}

// List returns the sessions of the store for the project of cwd that have no file here, the latest first, and sets the field Team of the
// local ones that the store has. A query searches the store. It returns within 300 ms of network time: without an answer, the
// sessions that were last seen and a problem of kind offline or refused. Changed announces later results. The error is of kind
// cancelled.
func (c *Catalog) List(ctx context.Context, cwd, query string, local []library.Info) ([]library.Info, []session.Problem, error) {
	key := c.c.Key(cwd)
	if key == "" {
		c.Mark(local)
		return nil, nil, nil
	}
	p := c.project(key)
	err := c.answered(ctx, p, query, c.c.Clock.After(answerTime))
	if ctx.Err() != nil {
		return nil, nil, cancelled(ctx)
	}
	p.poll()
	return p.merge(local, query), problemsOf(err), nil
}

// All returns the sessions of the store for the project of cwd, the latest first. Unlike List it waits for the store until ctx ends, does not
// announce later changes, and returns the errors of the store.
func (c *Catalog) All(ctx context.Context, cwd string) ([]library.Info, error) {
	key := c.c.Key(cwd)
	if key == "" {
		return nil, nil
	}
	p := c.project(key)
	if err := c.answered(ctx, p, "", nil); err != nil {
		return nil, err
	}
	return p.merge(nil, ""), nil
}

// answered waits for the answers that a list needs, until late. The error is the reason why only the sessions of the last answers are known.
func (c *Catalog) answered(ctx context.Context, p *project, query string, late <-chan time.Time) error {
	flights := []*flight{p.refresh()}
	if query != "" {
		flights = append(flights, p.search(query))
	}
	for _, f := range flights {
		select {
		case <-f.done:
			if f.err != nil {
				return f.err
			}
		case <-late:
			for _, f := range flights {
				f.announce()
			}
			return fault.New(fault.Offline, "The team store did not answer yet. The list shows the sessions that were seen last.")
		case <-ctx.Done():
			return cancelled(ctx)
		}
	}
	return nil
}

func cancelled(ctx context.Context) error {
	return fault.New(fault.Cancelled, "The sessions of the team store were not listed: %w.", ctx.Err())
}

// problemsOf returns an error of the store as a problem of a list.
func problemsOf(err error) []session.Problem {
	if err == nil {
		return nil
	}
	kind := fault.Offline
	if k := fault.KindOf(err); k != "" && k != fault.Internal {
		kind = k
	}
	return []session.Problem{{Kind: session.ProblemKind(kind), Message: err.Error()}}
}

// Mark sets the field Team of local sessions from memory.
func (c *Catalog) Mark(local []library.Info) {
	c.mu.Lock()
	projects := make([]*project, 0, len(c.projects))
	for _, p := range c.projects {
		projects = append(projects, p)
	}
	c.mu.Unlock()
	for i := range local {
		c.mark(&local[i], projects)
	}
}

// mark sets the field Team of a session that this machine sends.
func (c *Catalog) mark(info *library.Info, projects []*project) {
	if info.Path == "" {
		return // not a local one
	}
	info.Team = nil
	s := c.c.State(info.Path)
	if s.SID.IsZero() {
		return
	}
	for _, p := range projects {
		if r, ok := p.row(s.SID); ok {
			info.Team = c.teamOf(r, s)
			return
		}
	}
	info.Team = &library.Team{SID: s.SID.String(), Unsent: s.Unsent, Newer: s.Newer}
}
