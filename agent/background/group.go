package background

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

const (
	// MaxRunning is how many commands of a session can run in the background at a time.
	MaxRunning = 8

	// maxEnded is how many commands that have ended are remembered.
	maxEnded = 16
)

// Group is the background commands of a session. It is safe for concurrent use.
type Group struct {
	// Changed is called after the list of running commands has changed. It is called without a lock.
	// nil means none.
	Changed func()

	// Now is the clock. nil is that of the machine.
	Now func() time.Time

	mu       sync.Mutex
	commands []*command // in the order of their starts; guarded by mu
}

// Info describes a running command.
type Info struct {
	ID        string `json:"id"`
	Command   string `json:"command" jsonschema:"The command line."`
	StartedAt int64  `json:"startedAt" jsonschema:"Unix time in milliseconds."`
}

// Ending is how a command ended.
type Ending struct {
	Code    int
	Stopped bool   // by the user, the model or the end of the session; Code says nothing then
	Note    string // further information for the model, or ""

	// Blocked describes accesses that the sandbox denied to a command that failed.
	Blocked []string
}

// State is a command and its output since it was last read.
type State struct {
	Info
	Ending  *Ending // nil while it is running
	Output  []byte
	Dropped int64 // bytes of output that were lost because they were not read in time
}

type command struct {
	info   Info
	out    output
	cancel context.CancelFunc
	done   chan struct{} // closed when it has ended
	ending *Ending       // set before done is closed; guarded by the group's mu
	known  bool          // the model knows that it has ended; guarded by the group's mu
}

// Run is the work of a command: it writes the output to out and returns when the command has ended,
// which it does soon after ctx has.
type Run func(ctx context.Context, out io.Writer) Ending

// Start begins a command, which continues after ctx has ended. begin starts it, so that an error of
// the start is one of Start. It returns a Busy error if too many commands are running.
func (g *Group) Start(ctx context.Context, line string, begin func() (Run, error)) (id string, err error) {
	running, cancel := context.WithCancel(context.WithoutCancel(ctx))
	c := &command{
		info:   Info{ID: "bg-" + strings.ToLower(rand.Text()[:5]), Command: line, StartedAt: g.now().UnixMilli()},
		cancel: cancel, done: make(chan struct{}),
	}
	if err := g.add(ctx, c); err != nil {
		cancel()
		return "", err
	}
	run, err := begin()
	if err != nil {
		cancel()
		g.remove(c)
		return "", err
	}
	go g.run(running, c, run)
	g.changed()
	return c.info.ID, nil
}

// add reserves a place for a command.
func (g *Group) add(ctx context.Context, c *command) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if err := ctx.Err(); err != nil { // after StopAll no call of an earlier turn starts a command
		return fault.New(fault.Cancelled, "The command was cancelled before it started: %w", err)
	}
	if len(g.runningLocked()) >= MaxRunning {
		return fault.New(fault.Busy, "%d commands are running in the background, which is the maximum. Stop one of them with process first.", MaxRunning)
	}
	g.commands = append(g.commands, c)
	return nil
}

func (g *Group) remove(c *command) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.commands = slices.DeleteFunc(g.commands, func(o *command) bool { return o == c })
	close(c.done)
}

// run waits for the end of a command.
func (g *Group) run(ctx context.Context, c *command, run Run) {
	defer c.cancel()
	ending := guarded(ctx, &c.out, run)
	g.mu.Lock()
	c.ending = &ending
	g.forgetLocked()
	close(c.done)
	g.mu.Unlock()
	g.changed()
}

// guarded lets a panic end the command and not the process.
func guarded(ctx context.Context, out io.Writer, run Run) (e Ending) {
	defer func() {
		if p := recover(); p != nil {
			e = Ending{Stopped: true, Note: fmt.Sprintf("[It failed unexpectedly: %v]", p)}
		}
	}()
	return run(ctx, out)
}

// forgetLocked forgets the oldest commands that have ended.
func (g *Group) forgetLocked() {
	ended := len(g.commands) - len(g.runningLocked())
	g.commands = slices.DeleteFunc(g.commands, func(c *command) bool {
		forget := c.ending != nil && ended > maxEnded
		if forget {
			ended--
		}
		return forget
	})
}

func (g *Group) runningLocked() (running []*command) {
	for _, c := range g.commands {
		if c.ending == nil {
			running = append(running, c)
		}
	}
	return running
}

// Running returns the running commands in the order of their starts.
func (g *Group) Running() []Info {
	g.mu.Lock()
	defer g.mu.Unlock()
	running := []Info{}
	for _, c := range g.runningLocked() {
		running = append(running, c.info)
	}
	return running
}

// Read returns a command and its new output, for the model. It waits until the command has ended,
// wait has passed or ctx has ended. It returns a NotFound error for an unknown command.
func (g *Group) Read(ctx context.Context, id string, wait time.Duration) (State, error) {
	c, err := g.find(id)
	if err != nil {
		return State{}, err
	}
	if wait > 0 {
		late := time.NewTimer(wait)
		defer late.Stop()
		select {
		case <-c.done:
		case <-late.C:
		case <-ctx.Done():
			return State{}, ctx.Err()
		}
	}
	return g.read(c), nil
}

func (g *Group) read(c *command) State {
	g.mu.Lock()
	s := State{Info: c.info, Ending: c.ending}
	c.known = c.ending != nil
	g.mu.Unlock()
	// After the state: of a command that has ended, this is all of its output.
	s.Output, s.Dropped = c.out.take()
	return s
}

// Stop ends a command and returns when it has ended. It returns a NotFound error for an unknown
// command. A command that has ended already is no error.
func (g *Group) Stop(ctx context.Context, id string) error {
	c, err := g.find(id)
	if err != nil {
		return err
	}
	c.cancel()
	return c.wait(ctx)
}

func (c *command) wait(ctx context.Context) error {
	select {
	case <-c.done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// StopAll ends all commands, forgets them, and returns when they have ended.
func (g *Group) StopAll(ctx context.Context) error {
	g.mu.Lock()
	commands := slices.Clone(g.commands)
	g.mu.Unlock()
	for _, c := range commands {
		c.cancel()
	}
	for _, c := range commands {
		if err := c.wait(ctx); err != nil {
			return err
		}
	}
	g.mu.Lock()
	g.commands = slices.DeleteFunc(g.commands, func(c *command) bool { return slices.Contains(commands, c) })
	g.mu.Unlock()
	return nil
}

// Ended returns the commands of whose end the model does not know yet, with their unread output. It
// knows afterwards.
func (g *Group) Ended() (states []State) {
	g.mu.Lock()
	var news []*command
	for _, c := range g.commands {
		if c.ending != nil && !c.known {
			news = append(news, c)
		}
	}
	g.mu.Unlock()
	for _, c := range news {
		states = append(states, g.read(c))
	}
	return states
}

func (g *Group) find(id string) (*command, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, c := range g.commands {
		if c.info.ID == id {
			return c, nil
		}
	}
	return nil, fault.New(fault.NotFound, "No command with the id %q is running in the background. It ended some time ago, or with the session or the server that started it; start it again if it is needed.", id)
}

func (g *Group) changed() {
	if g.Changed != nil {
		g.Changed()
	}
}

func (g *Group) now() time.Time {
	if g.Now != nil {
		return g.Now()
	}
	return time.Now()
}
