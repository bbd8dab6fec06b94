package agent

import (
	"context"
	"encoding/json"
	"errors"
	"sync"

	"github.com/xcsh-ls/xcsh-ls/agent/compaction"
	"github.com/xcsh-ls/xcsh-ls/agent/event"
	"github.com/xcsh-ls/xcsh-ls/agent/loop"
	"github.com/xcsh-ls/xcsh-ls/agent/memo"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/agent/senses"
	"github.com/xcsh-ls/xcsh-ls/agent/task"
	"github.com/xcsh-ls/xcsh-ls/agent/tool"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// subagent is a task as its run sees it. Its session is the transcript; what it may do is decided by the session of
// the call: its approvals, its plan mode and the tools that it records.
type subagent struct {
	*host
	job      *task.Job
	agent    task.Agent
	picked   picked
	system   string
	declared []provider.Tool // the same in all requests
	memo     *memo.Conversation

	mu      sync.Mutex // guards the fields below
	yielded *task.Yielded
}

var _ loop.Host = (*subagent)(nil)

// Record stores a message. The prompt is that of an agent.
func (a *subagent) Record(m json.RawMessage) (string, error) {
	if role, _ := rawjson.GetString(m, "role"); role == provider.RoleUser {
		m = new(rawjson.Object).String("role", role).Raw("content", rawjson.Get(m, "content")).
			String("attribution", "agent").Raw("timestamp", rawjson.Get(m, "timestamp")).Bytes()
	}
	return a.log.Append(session.DraftMessage(m))
}

// Emit shows the progress in the call. The events of a task are not those of the session.
func (a *subagent) Emit(e event.Event) { a.job.Saw(e) }

// errYielded ends the run of a task whose result was handed in.
var errYielded = errors.New("the result was handed in")

// Request makes the next request of the task.
func (a *subagent) Request(ctx context.Context) (provider.Provider, provider.Request, error) {
	if a.hasYielded() {
		return nil, provider.Request{}, errYielded
	}
	last, err := a.job.Request()
	if err != nil {
		return nil, provider.Request{}, err
	}
	if pace := a.s.m.cfg.Pace; pace != nil {
		pace(ctx)
	}
	c, _, err := a.log.Context()
	if err != nil {
		return nil, provider.Request{}, err
	}
	model := a.picked.model
	service, err := a.s.m.cfg.Models.Service(model)
	if err != nil {
		return nil, provider.Request{}, err
	}
	key, err := a.s.m.cfg.Models.Key(ctx, model)
	if err != nil {
		return nil, provider.Request{}, err
	}
	tiers, err := a.s.tiers(a.parent.log)
	if err != nil {
		return nil, provider.Request{}, err
	}
	system := a.system
	if last {
		system += task.LastRequest
	}
	return service, provider.Request{
		Model: model, Thinking: a.picked.level, Tier: tiers.For(model), Key: key, SessionID: a.log.Header().ID, Size: a.size(c),
		Messages: a.memo.Request(c.Messages, model, memo.Without{}).Messages, Prepared: true, System: system, Tools: a.declared,
	}, nil
}

// size estimates the tokens of a request.
func (a *subagent) size(c session.Context) int {
	return a.memo.Size(c.Messages, func() int { return provider.FixedLen(a.system, a.declared) })
}

// tools returns the tools of the task: those of the conversation that its agent has. An agent that only reads can't ask
// the editor for edits.
func (a *subagent) tools(ctx context.Context) (tools []tool.Tool) {
	own, err := a.parent.setup()
	if err != nil {
		return nil
	}
	for _, t := range a.agent.Allowed(a.parent.tools(ctx, own)) {
		if a.agent.ReadOnly && t.Name == senses.Name {
			reading, ok := a.s.m.cfg.Senses.Tool(true)
			if !ok {
				continue
			}
			t = reading
		}
		tools = append(tools, t)
	}
	return tools
}

// Tools returns the tools of the task by name, and their environment: that of the conversation, but without commands
// that outlive the task.
func (a *subagent) Tools(ctx context.Context) (map[string]tool.Tool, tool.Env) {
	_, env := a.parent.Tools(ctx)
	env.Background = nil
	byName := map[string]tool.Tool{task.Name: task.Refused()}
	for _, t := range task.Yields(a.yield) {
		byName[t.Name] = t
	}
	for _, t := range a.tools(ctx) {
		t = a.sensing(t)
		if a.s.m.cfg.Setups != nil {
			t = a.noting(t)
		}
		if t.Changes {
			t = task.Serial(a.looking(t), a.s.slots.Changes)
		}
		byName[t.Name] = t
	}
	a.accept(byName)
	return byName, env
}

// Find returns the tool of a server that a call means, if the agent has it.
func (a *subagent) Find(ctx context.Context, call provider.Block) (m loop.Meant, ok bool, err error) {
	m, ok, err = a.parent.Find(ctx, call)
	if !ok || err != nil {
		return m, ok, err
	}
	if len(a.agent.Allowed([]tool.Tool{m.Tool})) == 0 {
		return m, ok, fault.New(fault.Denied, "The subagent %s does not have the tool %s.", a.job.ID, fault.OneLine(call.Name))
	}
	if m.Tool.Changes {
		m.Tool = task.Serial(m.Tool, a.s.slots.Changes)
	}
	return m, ok, nil
}

func (a *subagent) yield(y task.Yielded) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.yielded = &y
}

func (a *subagent) hasYielded() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.yielded != nil
}

// Permit asks as the conversation does. An agent that only reads can change nothing, whatever the rules allow, and
// plan mode may have begun meanwhile.
func (a *subagent) Permit(ctx context.Context, call provider.Block, t tool.Tool, args json.RawMessage) (tool.Permission, error) {
	if a.agent.ReadOnly {
		return tool.Permission{}, fault.New(fault.Denied, "The subagent %s only reads, so this %s call was refused.", a.job.ID, t.Name)
	}
	held := func() error {
		plan, err := a.parent.plan()
		if err == nil && plan.on() {
			err = plan.refusal(t.Name)
		}
		return err
	}
	if err := held(); err != nil {
		return tool.Permission{}, err
	}
	p, err := a.host.Permit(ctx, call, t, args)
	if err != nil {
		return p, err
	}
	return p, held()
}

// Starting records the start of a call.
func (a *subagent) Starting(call provider.Block) error { return a.host.Starting(call) }

// Repair repairs nothing: the task fails, and the main agent can start another one.
func (a *subagent) Repair(*provider.Error) (notice string, repaired bool) { return "", false }

// Rejected offers nothing: the user continues the main conversation.
func (a *subagent) Rejected(*provider.Error, []provider.Message) *event.Rejection { return nil }

// Compact shortens the conversation of the task if that is due.
func (a *subagent) Compact(ctx context.Context, overflow bool) (done bool, err error) {
	if a.hasYielded() {
		return false, nil
	}
	c, _, err := a.log.Context()
	if err != nil || !overflow && !a.s.m.cfg.Compaction.Due(a.size(c), a.picked.model.Window()) {
		return false, err
	}
	plan, err := a.s.plan(ctx, a.log)
	if fault.Is(err, fault.InvalidArgument) { // nothing to compact
		return false, nil
	} else if err != nil {
		return false, err
	}
	summary, details, err := plan.Summarise("", func(q compaction.Question) (string, error) { return a.ask(ctx, q) })
	if err != nil {
		return false, err
	}
	_, err = a.s.recordCompaction(a.log, session.Compaction{
		Summary: summary, FirstKeptEntryID: plan.FirstKept, TokensBefore: number(int64(plan.TokensBefore)), Details: details,
	})
	a.notes.forget()
	return err == nil, err
}

// ask requests a summary. It counts as a request of the task.
func (a *subagent) ask(ctx context.Context, q compaction.Question) (string, error) {
	prompt := Input{Text: q.Prompt}.message(a.s.m.now().UnixMilli())
	message, err := loop.Ask(ctx, a.s.m.cfg.Retry, a.Emit, func(ctx context.Context) (provider.Provider, provider.Request, error) {
		service, req, err := a.Request(ctx)
		req.System, req.Messages, req.Tools, req.Size, req.OneOff = q.System, []provider.Message{prompt}, nil, 0, true
		return service, req, err
	})
	if err != nil {
		return "", err
	}
	if message.Usage != nil {
		a.job.Spend(*message.Usage)
	}
	text := message.PlainText()
	if message.StopReason != provider.StopEnd || text == "" {
		return "", errors.New("the model did not return a complete summary")
	}
	return text, nil
}
