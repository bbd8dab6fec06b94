package script

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"github.com/xcsh-ls/xcsh-ls/agent/hook"
)

const (
	askFor   = 5 * time.Second  // how long an executable may think about a question
	tellFor  = 10 * time.Second // how long it may take over what it is told
	drainFor = 2 * time.Second  // how long all may take at the end
	mostTold = 256              // how many events of a folder may wait
)

// Config says where the executables are.
type Config struct {
	Dir string // absolute; it need not exist

	// Settled says that Dir is where it is whatever a workspace says. Otherwise a workspace's
	// settings may have named it, and nothing is run when it is in one of Workspaces, or in the
	// folder that an event is about.
	Settled    bool
	Workspaces []string

	// Report is told, in a sentence for the person, what went wrong. hook is the name of the
	// executable, "" when it is not about a single one. It may be called concurrently.
	Report func(hook, text string)
}

// Hooks are the executables of a folder as one [hook.Hook]. It is safe for concurrent use.
type Hooks struct {
	config  Config
	limits  limits
	working sync.WaitGroup // queues that are worked off

	mu     sync.Mutex
	queues map[string]*queue // guarded by mu; by workspace folder, only those that are not empty
	closed bool              // guarded by mu
}

// limits are the times of the constants above.
type limits struct{ ask, tell, drain time.Duration }

var (
	_ hook.Hook   = (*Hooks)(nil)
	_ hook.Closer = (*Hooks)(nil)
)

// New returns the hooks of a folder. Config.Report may be nil.
func New(c Config) *Hooks {
	if c.Report == nil {
		c.Report = func(string, string) {}
	}
	return &Hooks{config: c, limits: limits{askFor, tellFor, drainFor}, queues: map[string]*queue{}}
}

// Before asks each executable, in the order of their names, until one says no. It returns no
// error: each failure is reported by itself, and asking goes on.
func (h *Hooks) Before(ctx context.Context, e hook.Event) (hook.Decision, error) {
	files := h.files(e.Cwd)
	if len(files) == 0 {
		return hook.Decision{}, nil
	}
	c, err := newCall(e)
	if err != nil {
		return hook.Decision{}, err
	}
	for _, file := range files {
		answer, err := h.ask(ctx, c, file)
		switch {
		case ctx.Err() != nil:
			return hook.Decision{}, nil // the question is no longer asked
		case err != nil:
			h.failed(file, err)
		case answer.Cancel:
			return hook.Decision{Cancel: true, By: plain(file.name), Reason: plain(answer.Reason)}, nil
		}
	}
	return hook.Decision{}, nil
}

// answer is what an executable may say to a question.
type answer struct {
	Cancel bool   `json:"cancel"`
	Reason string `json:"reason"`
}

func (h *Hooks) ask(ctx context.Context, c call, file file) (a answer, err error) {
	out, err := c.run(ctx, h.limits.ask, file, h.config.Dir)
	if err != nil || len(out) == 0 {
		return answer{}, err
	}
	if err := json.Unmarshal(out, &a); err != nil {
		return answer{}, fmt.Errorf(`answered %s with something other than {"cancel": true, "reason": "..."}`, c.event)
	}
	return a, nil
}

// After has the executables told of an event, behind what the folder's are still to be told.
func (h *Hooks) After(ctx context.Context, e hook.Event) {
	files := h.files(e.Cwd)
	if len(files) == 0 {
		return
	}
	c, err := newCall(e)
	if err != nil {
		h.config.Report("", fmt.Sprintf("Hooks are not told of %s: %s.", e.Name, err))
		return
	}
	if !h.enqueue(ctx, told{c, files}) {
		h.config.Report("", fmt.Sprintf("Hooks are not told of %s in %s, because they are not done with what was before.", e.Name, e.Cwd))
	}
}

// files are the executables as they are now, for an event of the folder cwd. What must not be run
// is reported.
func (h *Hooks) files(cwd string) []file {
	files, problems := list(h.config.Dir)
	if len(files) > 0 && !h.config.Settled {
		for _, workspace := range append([]string{cwd}, h.config.Workspaces...) {
			if within(h.config.Dir, workspace) {
				h.config.Report("", fmt.Sprintf("No hooks of %s are run, because they are in the workspace %s.", h.config.Dir, workspace))
				return nil
			}
		}
	}
	for _, p := range problems {
		h.config.Report(p.name, p.text)
	}
	return files
}

// failed reports what went wrong with an executable. err completes the sentence.
func (h *Hooks) failed(f file, err error) {
	name := plain(f.name)
	h.config.Report(name, fmt.Sprintf("The hook %s %s.", name, err))
}
