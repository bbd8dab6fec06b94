package agent

import (
	"cmp"
	"context"
	"io"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/agent/approval"
	"github.com/xcsh-ls/xcsh-ls/agent/loop"
	"github.com/xcsh-ls/xcsh-ls/agent/memo"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/agent/setup"
	"github.com/xcsh-ls/xcsh-ls/agent/task"
	"github.com/xcsh-ls/xcsh-ls/agent/tool"
	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/artifact"
)

// subagents is the source of the tool that starts subagents.
func subagents(ctx context.Context, h *host) []tool.Tool {
	if !h.s.m.cfg.Subagents {
		return nil
	}
	agents := task.Agents(h.found(ctx))
	return []tool.Tool{task.New(h.dialect(), agents, func(ctx context.Context, env tool.Env, c task.Call) (tool.Result, error) {
		return h.delegate(ctx, env, c, agents)
	})}
}

// delegate carries out a call of the tool.
func (h *host) delegate(ctx context.Context, env tool.Env, c task.Call, agents []task.Agent) (tool.Result, error) {
	store := h.s.m.cfg.Store
	g := &task.Group{
		Slots: h.s.slots, Agents: agents, Artifacts: artifact.Dir{Fs: store.Fs, Session: h.log.Path()}, Now: h.s.m.now,
		Save: func(path string, content []byte) error {
			return store.WriteFile(path, false, func(w io.Writer) error {
				_, err := w.Write(content)
				return err
			})
		},
	}
	own, err := h.setup()
	if err != nil {
		return tool.Result{}, err
	}
	system, _ := h.instruct(ctx, own)
	g.Open = func(j *task.Job) (func(context.Context) task.Outcome, error) { return h.openSubagent(ctx, j, system) }
	if found := h.found(ctx); usesProjectAgents(found) {
		g.Project = found.ProjectAgents()
	}
	return g.Do(ctx, env, c)
}

func usesProjectAgents(found *setup.Resolved) bool {
	for _, a := range found.Agents {
		if a.Scope == setup.Project {
			return true
		}
	}
	return false
}

// permitTasks decides about a call that starts subagents. Their own calls are permitted one by one, so that only the
// mode ask has a question, and none for agents that only read.
func (h *host) permitTasks(ctx context.Context, r approval.Request) (tool.Permission, error) {
	c, err := task.Parse(r.Args)
	if err != nil {
		return tool.Permission{}, err
	}
	own, err := h.setup()
	if err != nil {
		return tool.Permission{}, err
	}
	if r = h.asked(ctx, r); r.AlwaysAsk {
		return h.permit(ctx, r)
	}
	if h.s.gate.Mode() != approval.Ask || c.Reads(task.Agents(h.found(ctx)), h.tools(ctx, own)) {
		return tool.Permission{}, nil
	}
	return h.permit(ctx, r)
}

// openSubagent makes the transcript of a task, and returns the function that carries it out.
// system is the system prompt of the conversation.
func (h *host) openSubagent(ctx context.Context, j *task.Job, system string) (work func(context.Context) task.Outcome, err error) {
	p, notes, err := h.modelFor(ctx, j.Agent)
	if err != nil {
		return nil, err
	}
	plan, err := h.plan()
	if err != nil {
		return nil, err
	}
	a := &subagent{job: j, agent: j.Agent, picked: p, memo: memo.New(&h.s.m.images)}
	a.agent.ReadOnly = a.agent.ReadOnly || plan.on() || h.s.gate.Mode() == approval.ReadOnly
	a.host = &host{s: h.s, parent: h, task: j.ID, resolved: h.found(ctx)}
	a.system = system + a.section()
	if err := a.begin(ctx); err != nil {
		return nil, err
	}
	return func(ctx context.Context) task.Outcome {
		o := a.run(ctx)
		o.Notes = append(notes, o.Notes...)
		return o
	}, nil
}

// modelFor returns the model of an agent: the first usable one that it asks for, else that of the conversation.
func (h *host) modelFor(ctx context.Context, a task.Agent) (p picked, notes []string, err error) {
	c, err := h.log.ContextState()
	if err != nil {
		return picked{}, nil, err
	}
	if p, _, err = h.s.answering(ctx, h.log, c); err != nil {
		return picked{}, nil, err
	}
	level, named := provider.Level(a.Thinking), provider.Level(a.Thinking)
	for want := range strings.SplitSeq(a.Model, ",") {
		ref, at, ok := selected(map[string]string{"": strings.TrimSpace(want)}, "")
		if model, found := h.s.find(ctx, ref); ok && found && h.s.m.cfg.Models.CheckKey(model) == nil {
			return picked{model, model.Clamp(cmp.Or(named, at, p.level))}, nil, nil
		}
	}
	if a.Model != "" && a.Source != "bundled" {
		notes = append(notes, "The model of the agent "+a.Name+" can't be used here, so "+p.model.Ref().String()+" was used.")
	}
	if level != "" {
		p.level = p.model.Clamp(level)
	}
	return p, notes, nil
}

// section is the part of a subagent's system prompt about its work.
func (a *subagent) section() string {
	var b strings.Builder
	b.WriteString("\n<subagent name=\"" + a.job.ID + "\">\n" + strings.TrimSpace(a.agent.Prompt) + "\n\n")
	b.WriteString("You cannot ask the user or the main agent. Your last message is your result: the main agent reads it, and nothing else of your work.\n")
	if a.agent.ReadOnly {
		b.WriteString("You can't change anything: your tools only read.\n")
	}
	if a.job.Context != "" {
		b.WriteString("\nContext from the main agent:\n" + a.job.Context + "\n")
	}
	b.WriteString("</subagent>\n")
	return b.String()
}

// begin makes the transcript and writes its first entries, so that a crash leaves them.
func (a *subagent) begin(ctx context.Context) error {
	store, parent := a.s.m.cfg.Store, a.parent.log
	o := session.NewOptions{Parent: parent.Path(), For: a.parent.dialect()}
	if path := a.job.Files.Transcript; path != "" {
		a.log = store.CreateSubagent(path, a.s.cwd, o)
	} else {
		a.log = store.Memory(a.s.cwd, o)
	}
	model := a.picked.model
	if _, err := a.log.AppendModel(model.Provider, model.ID, ""); err != nil {
		return err
	}
	for _, t := range a.tools(ctx) {
		a.declared = append(a.declared, t.Tool)
	}
	names := make([]string, len(a.declared))
	for i, t := range a.declared {
		names[i] = t.Name
	}
	if _, err := a.log.Append(session.DraftSubagent(session.Subagent{
		System: a.system, Task: a.job.Prompt, Tools: names, Agent: a.agent.Name, Model: model.Ref().String(), ReadOnly: a.agent.ReadOnly,
	})); err != nil {
		return err
	}
	if !a.log.Persistent() {
		return nil
	}
	if err := a.log.EnsureOnDisk(); err != nil {
		_ = a.log.Close() // nothing was written
		return err
	}
	return nil
}

// run carries out the task.
func (a *subagent) run(ctx context.Context) (o task.Outcome) {
	queue := new(loop.Queue)
	queue.Start()
	release := a.log.Hold()
	l := loop.Run{Host: a, Queue: queue, Retry: a.s.m.cfg.Retry, Now: a.s.m.now}
	out := l.Do(ctx, []provider.Message{Input{Text: a.job.Prompt}.message(a.s.m.now().UnixMilli())})
	release()
	a.mu.Lock()
	defer a.mu.Unlock()
	o = task.Finish(task.Outcome{
		Model: a.picked.model.Ref().String(), ContextWindow: a.picked.model.Window(), Requests: a.job.Requests(), Usage: a.job.Spent(),
	}, out)
	if y := a.yielded; y != nil {
		o.Text, o.Yielded, o.Err = y.Text, y.Details, y.Err
	}
	if err := a.log.Close(); err != nil {
		o.Notes = append(o.Notes, "The transcript of "+a.job.ID+" is not complete: "+err.Error())
	}
	return o
}
