package task

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/xcsh-ls/xcsh-ls/agent/event"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/agent/tool"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

// Status is the state of a task.
type Status string

// The states.
const (
	Pending   Status = "pending"
	Running   Status = "running"
	Completed Status = "completed"
	Failed    Status = "failed"
	Aborted   Status = "aborted"
)

// updateEvery is the least time between two updates of a call.
const updateEvery = 200 * time.Millisecond

// Progress is what a client shows of a task while the call runs.
type Progress struct {
	Index       int    `json:"index"`
	ID          string `json:"id"`
	Agent       string `json:"agent"`
	AgentSource string `json:"agentSource"`
	Status      Status `json:"status"`
	Description string `json:"description,omitempty"`
	Assignment  string `json:"assignment"` // its beginning
	ToolCount   int    `json:"toolCount"`
	Tokens      int    `json:"tokens"`
	Requests    int    `json:"requests"`
	LastTool    string `json:"lastTool,omitempty"`
	DurationMs  int64  `json:"durationMs"`
	SessionFile string `json:"sessionFile,omitempty"` // the transcript
}

const maxShown = 200 // bytes of an assignment in a progress

// monitor watches a task. It is safe for concurrent use.
type monitor struct {
	changed func()

	mu    sync.Mutex // guards the fields below
	p     Progress
	begun time.Time
}

// change changes the progress.
func (m *monitor) change(f func(p *Progress)) {
	m.mu.Lock()
	f(&m.p)
	m.mu.Unlock()
	m.changed()
}

// started reports whether the task got a slot.
func (m *monitor) started() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return !m.begun.IsZero()
}

func (m *monitor) progress(now time.Time) Progress {
	m.mu.Lock()
	defer m.mu.Unlock()
	p := m.p
	if p.Status == Running {
		p.DurationMs = now.Sub(m.begun).Milliseconds()
	}
	return p
}

// saw takes what a client should see from an event of the task.
func (m *monitor) saw(e event.Event) {
	switch e := e.(type) {
	case event.ToolStart:
		m.change(func(p *Progress) { p.ToolCount, p.LastTool = p.ToolCount+1, e.ToolName })
	case event.MessageEnd:
		if answer, err := provider.DecodeMessage(e.Message); err == nil && answer.Role == provider.RoleAssistant && answer.Usage != nil {
			m.change(func(p *Progress) { p.Tokens += answer.Usage.TotalTokens })
		}
	}
}

// updates shows the progress of a call, at most once in updateEvery, and not at once: the caller showed its beginning.
// stop waits for the last one.
type updates struct {
	poke chan struct{}
	done chan struct{}
	quit chan struct{}
}

func newUpdates(show func()) *updates {
	u := &updates{poke: make(chan struct{}, 1), done: make(chan struct{}), quit: make(chan struct{})}
	go func() {
		defer close(u.done)
		pause := time.NewTimer(updateEvery)
		defer pause.Stop()
		for {
			select {
			case <-pause.C:
			case <-u.quit:
				return
			}
			select {
			case <-u.poke:
			case <-u.quit:
				return
			}
			show()
			pause.Reset(updateEvery)
		}
	}()
	return u
}

func (u *updates) changed() {
	select {
	case u.poke <- struct{}{}:
	default: // one is due already
	}
}

func (u *updates) stop() {
	close(u.quit)
	<-u.done
}

// partial is the result of a call so far.
func (g *Group) partial(jobs []*Job) tool.Result {
	now, lines := g.Now(), make([]string, len(jobs))
	d := details{Results: []result{}, TotalMs: now.Sub(g.begun).Milliseconds(), Project: g.project()}
	for i, j := range jobs {
		p := j.monitor.progress(now)
		d.Progress = append(d.Progress, p)
		lines[i] = p.line()
	}
	r := tool.TextResult(strings.Join(lines, "\n"))
	r.Details = encode(d)
	return r
}

// line is a progress for a client that shows texts only.
func (p Progress) line() string {
	s := fmt.Sprintf("%s (%s): %s", p.ID, p.Agent, p.Status)
	if p.ToolCount > 0 {
		s += fmt.Sprintf(", tool calls: %d, last %s", p.ToolCount, fault.OneLine(p.LastTool))
	}
	return s
}

// encode returns the JSON of a value that has one.
func encode(v any) json.RawMessage {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic("task: " + err.Error()) // only values of this package
	}
	return json.RawMessage(strings.TrimSuffix(b.String(), "\n"))
}
