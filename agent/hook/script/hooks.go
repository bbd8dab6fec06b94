package script

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/xcsh-ls/xcsh-ls/agent/hook"
)

const (
	askFor           = 5 * time.Second  // how long an executable may think about a question
	compactFor       = 2 * time.Minute  // how long before a compaction, for which it may write the summary
	notifyFor        = 10 * time.Second // how long it may take for a notification
	drainFor         = 2 * time.Second  // how long all may take at the end
	maxNotifications = 256              // how many events of a folder may wait
)

// Config configures where the executables are.
type Config struct {
	Dir string // absolute; it need not exist

	// Settled reports that Dir does not depend on the workspace. Otherwise a workspace's settings
	// may have named it, and nothing is run if it is in one of Workspaces, or in the folder of an
	// event.
	Settled    bool
	Workspaces []string

	// PassEnv returns the names of variables that the executables get for a folder beyond those of
	// [environ.Keep]. nil means none.
	PassEnv func(folder string) []string

	// Check fails, with a sentence for the user, if no file of Dir may be run now. It is called for
	// each event for which there are executables; nil: they may be run.
	Check func() error

	// Report receives a message for the user about each error. hook is the name of the
	// executable, "" when it is not about a single one. It may be called concurrently.
	Report func(hook, text string)
}

// Hooks are the executables of a folder as one [hook.Hook]. It is safe for concurrent use.
type Hooks struct {
	config  Config
	limits  limits
	working sync.WaitGroup // queues that are worked off

	add hook.Add // nil if entries cannot be added; set before the first event

	mu     sync.Mutex
	queues map[string]*queue // guarded by mu; by workspace folder, only those that are not empty
	closed bool              // guarded by mu
}

// limits are the times of the constants above.
type limits struct{ ask, compact, notify, drain time.Duration }

// before returns the limit of a question.
func (l limits) before(name hook.Name) time.Duration {
	if name == hook.BeforeCompact {
		return l.compact
	}
	return l.ask
}

var (
	_ hook.Writer = (*Hooks)(nil)
	_ hook.Closer = (*Hooks)(nil)
)

// New returns the hooks of a folder. Config.Report may be nil.
func New(c Config) *Hooks {
	if c.Report == nil {
		c.Report = func(string, string) {}
	}
	return &Hooks{config: c, limits: limits{askFor, compactFor, notifyFor, drainFor}, queues: map[string]*queue{}}
}

// Attach implements [hook.Writer].
func (h *Hooks) Attach(add hook.Add) { h.add = add }

// Before calls each executable, in the order of their names, until one refuses. It returns no
// error: each failure is reported separately, and the next one is called. The last compaction wins.
func (h *Hooks) Before(ctx context.Context, e hook.Event) (d hook.Decision, err error) {
	files := h.files(e.Cwd)
	if len(files) == 0 {
		return hook.Decision{}, nil
	}
	c, err := h.newCall(e)
	if err != nil {
		return hook.Decision{}, err
	}
	for _, file := range files {
		answer, err := h.ask(ctx, c, file)
		if ctx.Err() != nil {
			return hook.Decision{}, nil // the question was cancelled
		}
		if err != nil {
			h.failed(file, err)
		}
		h.addEntries(ctx, c, file, answer.Entries)
		if answer.Cancel {
			return hook.Decision{Cancel: true, By: plain(file.name), Reason: plain(answer.Reason)}, nil
		}
		if answer.Compaction != nil {
			answer.Compaction.By = plain(file.name)
			d.Compaction = answer.Compaction
		}
	}
	return d, nil
}

// ask runs an executable before a change. The answer may be valid in part if there is an error.
func (h *Hooks) ask(ctx context.Context, c call, file file) (hook.Answer, error) {
	out, err := c.run(ctx, h.limits.before(c.event.Name), file, h.config.Dir)
	if err != nil || len(out) == 0 {
		return hook.Answer{}, err
	}
	return c.answer(out)
}

// answer reads the output of an executable.
func (c call) answer(out []byte) (hook.Answer, error) {
	a, err := hook.ParseAnswer(c.event.Name, out)
	if err != nil {
		err = fmt.Errorf("%w for %s", err, c.event.Name)
	}
	return a, err
}

// addEntries adds the entries of an answer to the session of the event.
func (h *Hooks) addEntries(ctx context.Context, c call, file file, entries []hook.Entry) {
	if len(entries) == 0 {
		return
	}
	err := errors.New("entries are not supported here")
	if h.add != nil {
		err = h.add(ctx, c.event, plain(file.name), entries)
	}
	if err != nil {
		h.failed(file, fmt.Errorf("could not add entries to the session: %s", strings.TrimSuffix(plain(err.Error()), ".")))
	}
}

// After queues the notification of an event for the executables, after the folder's pending ones.
func (h *Hooks) After(ctx context.Context, e hook.Event) {
	files := h.files(e.Cwd)
	if len(files) == 0 {
		return
	}
	c, err := h.newCall(e)
	if err != nil {
		h.config.Report("", fmt.Sprintf("Hooks were not notified of %s: %s.", e.Name, err))
		return
	}
	if !h.enqueue(ctx, notification{c, files}) {
		h.config.Report("", fmt.Sprintf("Hooks were not notified of %s in %s because too many earlier notifications are pending.", e.Name, e.Cwd))
	}
}

// files returns the current executables, for an event of the folder cwd. It reports those that must
// not be run.
func (h *Hooks) files(cwd string) []file {
	files, problems := list(h.config.Dir)
	if len(files) > 0 && !h.config.Settled {
		for _, workspace := range append([]string{cwd}, h.config.Workspaces...) {
			if within(h.config.Dir, workspace) {
				h.config.Report("", fmt.Sprintf("The hooks in %s are not run because they are in the workspace %s.", h.config.Dir, workspace))
				return nil
			}
		}
	}
	if len(files) > 0 && h.config.Check != nil {
		if err := h.config.Check(); err != nil {
			h.config.Report("", err.Error())
			return nil
		}
	}
	for _, p := range problems {
		h.config.Report(p.name, p.text)
	}
	return files
}

// failed reports the failure of an executable. err completes the sentence.
func (h *Hooks) failed(f file, err error) {
	name := plain(f.name)
	h.config.Report(name, fmt.Sprintf("The hook %s %s.", name, err))
}
