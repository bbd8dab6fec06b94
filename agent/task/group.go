package task

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/xcsh-ls/xcsh-ls/agent/event"
	"github.com/xcsh-ls/xcsh-ls/agent/loop"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/agent/tool"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/session/artifact"
)

const (
	atOnce      = 4                // tasks of a folder
	maxRequests = 50               // of a task
	maxTime     = 20 * time.Minute // of a task
	maxRetries  = 10               // of all tasks of a call

	// stopTime is how long a call waits for its tasks when the turn is aborted: less than a call has to stop.
	stopTime = 2 * time.Second
)

// Slots limits the tasks of a folder that run at the same time, and the calls of theirs that change something.
type Slots struct {
	tasks   chan struct{}
	Changes chan struct{} // see Serial
}

// NewSlots returns the slots of a folder.
func NewSlots() *Slots { return &Slots{make(chan struct{}, atOnce), make(chan struct{}, 1)} }

// Group carries out one call.
type Group struct {
	Slots     *Slots
	Agents    []Agent
	Artifacts artifact.Dir // of the session that makes the call
	Project   string       // the directory with the project's agents, "" if none is used
	Now       func() time.Time

	// Save writes a file that does not exist.
	Save func(path string, content []byte) error

	// Open makes the transcript of a job, and returns the function that works on it until the task is done. A
	// transcript that exists is a FileExists error.
	Open func(j *Job) (work func(ctx context.Context) Outcome, err error)

	begun   time.Time
	retries atomic.Int32
	naming  sync.Mutex
	names   names // guarded by naming
}

// Outcome is how a task ended.
type Outcome struct {
	Text          string // the last text of the model
	Err           error  // why it failed; nil if it is complete
	Model         string // "provider/id"
	ContextWindow int
	ContextTokens int // of the last request
	Requests      int
	Usage         provider.Usage
	Yielded       []byte   // the details of the result that the model handed in, nil if it handed in none
	Notes         []string // sentences for the model

	saved string // the file of the text
}

// ErrAborted is the error of a task whose turn was aborted.
var ErrAborted = errors.New("The turn was stopped.") //nolint:staticcheck // a sentence for the model

var (
	errTime     = fault.New(fault.Limit, "The subagent was stopped after %d minutes.", int(maxTime.Minutes())).With("limit", "time")
	errRetries  = fault.New(fault.Limit, "The subagent was stopped: too many requests failed. The subagents of a call may repeat %d requests.", maxRetries).With("limit", "retries")
	errRequests = fault.New(fault.Limit, "The subagent was stopped after %d requests.", maxRequests).With("limit", "requests")
)

// status returns the state in which a task ended, and why it is not complete.
func (o Outcome) status() (Status, string) {
	switch {
	case o.Err == nil:
		return Completed, ""
	case errors.Is(o.Err, ErrAborted):
		return Aborted, o.Err.Error()
	default:
		return Failed, fault.OneLine(o.Err.Error())
	}
}

// Job is one task of a call at work.
type Job struct {
	Index   int
	ID      string
	Task    Task
	Agent   Agent
	Context string
	Prompt  string            // the message that it begins with
	Files   artifact.Subagent // empty for a session in memory

	group    *Group
	monitor  monitor
	requests int // of the goroutine of the run, as the next one
	spent    provider.Usage
	cancel   context.CancelCauseFunc

	mu    sync.Mutex // guards the fields below
	ended *Outcome
	took  time.Duration
}

// prompt returns the message that a task begins with.
func prompt(assignment string) string { return "Complete assignment thoroughly:\n\n" + assignment }

// Do carries out the tasks of a call.
func (g *Group) Do(ctx context.Context, env tool.Env, c Call) (tool.Result, error) {
	g.begun = g.Now()
	jobs, err := g.jobs(c)
	if err != nil {
		return tool.Result{}, err
	}
	show := func() {
		if env.Update != nil {
			env.Update(g.partial(jobs))
		}
	}
	show()
	u := newUpdates(show)
	defer u.stop()
	done := make(chan struct{}, len(jobs))
	for _, j := range jobs {
		j.monitor.changed = u.changed
		go func() {
			defer func() { done <- struct{}{} }()
			j.do(ctx)
		}()
	}
	stopped, late := ctx.Done(), (<-chan time.Time)(nil)
	for range jobs {
		select {
		case <-done:
			continue
		case <-stopped:
		case <-late:
			return g.result(c, jobs), nil
		}
		timer := time.NewTimer(stopTime)
		defer timer.Stop()
		stopped, late = nil, timer.C
		select {
		case <-done:
		case <-late:
			return g.result(c, jobs), nil
		}
	}
	return g.result(c, jobs), nil
}

// jobs returns the jobs of a call, with their names.
func (g *Group) jobs(c Call) (jobs []*Job, err error) {
	for i, t := range c.Tasks {
		a, err := agentOf(g.Agents, t.Agent)
		if err != nil {
			return nil, err
		}
		j := &Job{Index: i, Task: t, Agent: a, Context: c.Context, Prompt: prompt(t.Assignment), group: g}
		if err := j.rename(); err != nil {
			return nil, err
		}
		j.monitor.p = Progress{
			Index: i, ID: j.ID, Agent: a.Name, AgentSource: a.Source, Status: Pending, Description: t.Description,
			Assignment: head(t.Assignment, maxShown), SessionFile: j.Files.Transcript,
		}
		jobs = append(jobs, j)
	}
	return jobs, nil
}

// nameLocked gives a job a name whose files do not exist.
func (j *Job) nameLocked() (err error) {
	for range 10_000 {
		j.ID = j.group.names.next(clean(j.Task.Name, j.Task.Agent))
		if j.Files, err = j.group.Artifacts.Subagent(j.ID); !fault.Is(err, fault.FileExists) {
			return err
		}
	}
	return err
}

func (g *Group) project() *string {
	if g.Project == "" {
		return nil
	}
	return &g.Project
}

// do waits for a slot and works.
func (j *Job) do(ctx context.Context) {
	begun := j.group.Now()
	o := Outcome{Err: ErrAborted}
	defer func() {
		if p := recover(); p != nil {
			o.Err = fmt.Errorf("the subagent failed unexpectedly: %v", p)
		}
		j.end(o, j.group.Now().Sub(begun))
	}()
	select {
	case j.group.Slots.tasks <- struct{}{}:
	case <-ctx.Done():
		return
	}
	defer func() { <-j.group.Slots.tasks }()
	begun = j.group.Now()
	work, err := j.open()
	if err != nil {
		o.Err = err
		return
	}
	j.monitor.mu.Lock()
	j.monitor.begun = begun
	j.monitor.mu.Unlock()
	j.monitor.change(func(p *Progress) { p.Status, p.ID, p.SessionFile = Running, j.ID, j.Files.Transcript })
	limited, stop := context.WithTimeoutCause(ctx, maxTime, errTime)
	defer stop()
	limited, j.cancel = context.WithCancelCause(limited)
	defer j.cancel(nil)
	o = work(limited)
	switch cause := context.Cause(limited); {
	case o.Err == nil:
	case ctx.Err() != nil:
		o.Err = ErrAborted
	case cause != nil:
		o.Err = cause
	}
}

// open makes the transcript. Another process may have taken the name meanwhile.
func (j *Job) open() (work func(context.Context) Outcome, err error) {
	for range 100 {
		if work, err = j.group.Open(j); !fault.Is(err, fault.FileExists) {
			return work, err
		}
		if err := j.rename(); err != nil {
			return nil, err
		}
	}
	return nil, err
}

// rename gives a job another name.
func (j *Job) rename() error {
	j.group.naming.Lock()
	defer j.group.naming.Unlock()
	return j.nameLocked()
}

// end saves the output.
func (j *Job) end(o Outcome, took time.Duration) {
	if path := j.Files.Output; path != "" && j.monitor.started() {
		content := []byte(head(o.Text, maxFile))
		if status, why := o.status(); status != Completed && len(content) == 0 {
			content = []byte(why)
		}
		if err := j.group.Save(path, content); err != nil {
			o.Notes = append(o.Notes, "The output of "+j.ID+" could not be saved: "+fault.OneLine(err.Error()))
		} else {
			o.saved = path
		}
	}
	status, _ := o.status()
	j.mu.Lock()
	j.ended, j.took = &o, took
	j.mu.Unlock()
	j.monitor.change(func(p *Progress) { p.Status, p.DurationMs = status, took.Milliseconds() })
}

// outcome returns how a job ended. One that has not ended was aborted.
func (j *Job) outcome() (Outcome, time.Duration) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.ended == nil {
		return Outcome{Err: ErrAborted, Notes: []string{"The subagent " + j.ID + " did not stop; it may still be running."}}, 0
	}
	return *j.ended, j.took
}

// Request counts a request of the task. last reports that there can be no other; more of them fail.
func (j *Job) Request() (last bool, err error) {
	j.requests++
	if j.requests > maxRequests {
		return false, errRequests
	}
	j.monitor.change(func(p *Progress) { p.Requests = j.requests })
	return j.requests == maxRequests, nil
}

// Spend adds what the task used beside the requests of its run.
func (j *Job) Spend(u provider.Usage) { j.spent = sum(j.spent, u) }

// Spent returns the sum of the usage given to Spend.
func (j *Job) Spent() provider.Usage { return j.spent }

// Requests returns the number of the requests.
func (j *Job) Requests() int { return min(j.requests, maxRequests) }

// LastRequest is a note to the model with its last request.
const LastRequest = "\nThis is your last request: you can call no more tools. Answer now with what you know, and say what is missing.\n"

// Saw takes notice of an event of the task. Repeated requests count against the budget of the call.
func (j *Job) Saw(e event.Event) {
	if _, ok := e.(event.RetryStart); ok && j.group.retries.Add(1) > maxRetries {
		j.cancel(errRetries)
	}
	j.monitor.saw(e)
}

// Finish completes the outcome of a run.
func Finish(o Outcome, out loop.Outcome) Outcome {
	o.Usage = sum(o.Usage, out.Usage)
	if m := out.Message; m != nil {
		o.Text = strings.TrimSpace(m.PlainText())
		if m.Usage != nil {
			o.ContextTokens = m.Usage.TotalTokens
		}
	}
	switch {
	case out.Err != nil:
		o.Err = out.Err
	case out.StopReason == provider.StopAborted:
		o.Err = ErrAborted
	case out.StopReason == provider.StopLength:
		o.Notes = append(o.Notes, "The answer was cut off at the model's maximum length.")
	}
	return o
}

func sum(a, b provider.Usage) provider.Usage {
	var u usage
	u.add(a)
	u.add(b)
	return provider.Usage{Input: u.Input, Output: u.Output, CacheRead: u.CacheRead, CacheWrite: u.CacheWrite, TotalTokens: u.Total, Cost: u.Cost}
}
