// Package suite measures the commands of a user over the wire: it starts the built server as an editor does, runs
// the commands over stores of known content, and compares the answers before it reports what they cost.
package suite

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/xcsh-ls/xcsh-ls/bench/peers"
	"github.com/xcsh-ls/xcsh-ls/bench/wire/child"
)

// Program is a built server.
type Program struct{ Name, Path string }

// Config is the configuration of a run.
type Config struct {
	Programs []Program // the measured one, and optionally an older one for comparison
	Peers    []peers.Peer
	Work     string         // a directory for everything that is written
	Rounds   int            // measurements of each command
	Quiet    time.Duration  // see [child.Config]
	Match    *regexp.Regexp // selects commands by name; nil: all
	Log      func(format string, args ...any)
}

// Temperature says what a server has when a command begins.
type Temperature string

// The temperatures.
const (
	Cold Temperature = "cold" // just started, no cache directory
	Warm Temperature = "warm" // just started, with the cache directory of an earlier server
	Live Temperature = "live" // the session is the live one, after a warm start
)

// Result is what one command of one program cost.
type Result struct {
	Command     string
	Temperature Temperature
	Store       string
	Program     string
	Runs        []child.Cost
	Note        string // why there is no cost, or what limits it; "" if it was measured
	Wrong       string // how the answer differs; "" if it does not
}

// Runner measures and keeps the results. Its methods are for one goroutine.
type Runner struct {
	Config

	Results []Result
	Limits  []Limit
	prompts []hundred
	changes ChangeSizes // measured; zero if they are not

	wants    map[string]answers // by store and command
	prepared map[string]bool    // directories with a complete cache
}

// Limit is the time of a limit of the machine, or of a peer.
type Limit struct {
	Name, Store string
	Runs        []time.Duration
	Note        string
}

// New returns a runner that has measured nothing.
func New(c Config) *Runner {
	if c.Log == nil {
		c.Log = func(string, ...any) {}
	}
	return &Runner{Config: c, wants: map[string]answers{}, prepared: map[string]bool{}}
}

// Wrong lists the answers that differ.
func (r *Runner) Wrong() (all []string) {
	for _, m := range r.Results {
		if m.Wrong != "" {
			all = append(all, fmt.Sprintf("%s, %s, %s, %s: %s", m.Command, m.Temperature, m.Store, m.Program, m.Wrong))
		}
	}
	return all
}

func (r *Runner) selects(name string) bool { return r.Match == nil || r.Match.MatchString(name) }

// dir returns a directory of a program for a store.
func (r *Runner) dir(p Program, s Store, parts ...string) string {
	return filepath.Join(append([]string{r.Work, p.Name, s.Name}, parts...)...)
}

// start starts a program for an operation on a store. A cold one has no cache directory.
func (r *Runner) start(ctx context.Context, o operation, p Program, s Store, folder string, cold bool) (*child.Server, error) {
	agent := r.dir(p, s, "agent")
	if cold {
		if err := os.RemoveAll(filepath.Join(agent, "cache")); err != nil {
			return nil, err
		}
		r.forget(agent)
	}
	if _, err := made(agent); err != nil {
		return nil, err
	}
	options := map[string]any{}
	if o.lists {
		agents, err := r.agents(p, s)
		if err != nil {
			return nil, err
		}
		options["roots"] = agents
	} else if s.Agents != nil { // xcsh's is not found in a home directory if another one is configured
		options["roots"] = s.Agents
	}
	maps.Copy(options, o.options)
	server, _, err := child.Start(ctx, child.Config{
		Program: p.Path, Home: s.Home, AgentDir: agent, Folder: folder, Options: options, Quiet: r.Quiet,
	})
	return server, err
}

func (r *Runner) forget(agent string) {
	for key := range r.prepared {
		if strings.HasPrefix(key, agent+"\x00") {
			delete(r.prepared, key)
		}
	}
}

// inTurn calls f for every program in every round, in the reverse order in every other one, so that other load on the
// machine affects all of them.
func (r *Runner) inTurn(f func(p Program) error) error {
	for round := range r.Rounds {
		order := slices.Clone(r.Programs)
		if round%2 == 1 {
			slices.Reverse(order)
		}
		for _, p := range order {
			if err := f(p); err != nil {
				return err
			}
		}
	}
	return nil
}

// add adds a run to the results.
func (r *Runner) add(m Result, cost child.Cost) {
	for i := range r.Results {
		if o := &r.Results[i]; o.Command == m.Command && o.Temperature == m.Temperature && o.Store == m.Store && o.Program == m.Program {
			if m.Note == "" {
				o.Runs = append(o.Runs, cost)
			}
			if o.Wrong == "" {
				o.Wrong = m.Wrong
			}
			return
		}
	}
	if m.Note == "" {
		m.Runs = []child.Cost{cost}
	}
	r.Results = append(r.Results, m)
	r.Log("%s, %s, %s, %s: %s%s", m.Command, m.Temperature, m.Store, m.Program, cell(&m), m.Wrong)
}

// limit adds the median of as many runs as there are rounds.
func (r *Runner) limit(name, store string, f func() (time.Duration, error)) {
	if !r.selects(name) {
		return
	}
	l := Limit{Name: name, Store: store}
	for range r.Rounds {
		took, err := f()
		if err != nil {
			l.Note = err.Error()
			break
		}
		l.Runs = append(l.Runs, took)
	}
	r.Limits = append(r.Limits, l)
	r.Log("%s, %s: %v %s", name, store, middle(l.Runs), l.Note)
}

// middle returns the median.
func middle(runs []time.Duration) time.Duration {
	if len(runs) == 0 {
		return 0
	}
	runs = slices.Sorted(slices.Values(runs))
	return (runs[(len(runs)-1)/2] + runs[len(runs)/2]) / 2
}
