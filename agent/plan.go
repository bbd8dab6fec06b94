package agent

import (
	"context"
	"encoding/json"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/spf13/afero"

	"github.com/xcsh-ls/xcsh-ls/agent/approval"
	"github.com/xcsh-ls/xcsh-ls/agent/engine"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/agent/sandbox"
	"github.com/xcsh-ls/xcsh-ls/agent/task"
	"github.com/xcsh-ls/xcsh-ls/agent/tool"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// The modes of a session that this package knows. A session is in plan mode until an entry of its file
// records another mode. The programs record plan_paused when the user leaves plan mode without approving
// the plan: nothing is refused then, and plan mode continues with the same plan file.
const (
	PlanMode   = "plan"
	PlanPaused = "plan_paused"
	NoMode     = "none"
)

// planFile is the plan file of a session whose user turns on plan mode here.
const planFile = "local://PLAN.md"

// SetMode turns plan mode on or off, or pauses it, which only a user may do. It reports whether that
// changed anything. It may be called while a turn is running, whose next tool call uses the new mode.
func (s *Session) SetMode(ctx context.Context, to string) (changed bool, err error) {
	if to != PlanMode && to != PlanPaused && to != NoMode {
		return false, fault.New(fault.InvalidArgument, "%q is not a session mode. Use plan, plan_paused or none.", to).With("field", "mode")
	}
	if name := s.Engine().Name; name != engine.Own {
		return false, fault.New(fault.Denied, "%s has no plan mode here. Use the engine %s for it.", name, engine.Own).With("field", "mode")
	}
	err = s.exclusive(ctx, func() error {
		log := s.current()
		now, err := currentMode(log)
		switch {
		case err != nil || now.name == to:
			return err
		case to == PlanPaused && now.name != PlanMode:
			return fault.New(fault.InvalidArgument, "Plan mode is not on, so it can't be paused.").With("field", "mode")
		}
		changed = true
		return s.sharing(ctx, log, func() error { return s.recordMode(log, to, now.planFile()) })
	})
	return changed && err == nil, err
}

// planning is a [host] that refuses the calls that plan mode forbids, and offers the tool to leave it.
type planning struct{ *host }

// Permit refuses, while the session is in plan mode, every tool that changes something but the
// plan file. The mode is checked again after a question, which may have waited for hours.
//
// A command that only reads runs in the strict sandbox.
//
// Differs: the programs run all commands in plan mode.
func (p planning) Permit(ctx context.Context, call provider.Block, t tool.Tool, args json.RawMessage) (tool.Permission, error) {
	if p.readsInPlan(ctx, t, args) {
		return tool.Permission{Level: sandbox.Strict}, nil
	}
	granted, err := p.inPlan(t, args)
	if granted || err != nil {
		return tool.Permission{}, err
	}
	permission, err := p.host.Permit(ctx, call, t, args)
	if err != nil {
		return permission, err
	}
	_, err = p.inPlan(t, args)
	return permission, err
}

// readsInPlan reports whether a call in plan mode is a command that only reads.
func (p planning) readsInPlan(ctx context.Context, t tool.Tool, args json.RawMessage) bool {
	plan, err := p.plan()
	return err == nil && plan.on() && p.s.gate.OnlyReads(p.asked(ctx, approval.Request{Tool: t.Name, Args: args}))
}

// Request adds the instructions of plan mode to every request, so that no compaction loses it, and
// leaves out the tools that plan mode refuses.
func (p planning) Request(ctx context.Context) (provider.Provider, provider.Request, error) {
	service, req, err := p.host.Request(ctx)
	if err != nil {
		return nil, provider.Request{}, err
	}
	plan, err := p.plan()
	if err != nil {
		return nil, provider.Request{}, err
	}
	req.System += plan.instructions(p.readsCommands())
	if plan.on() {
		req.Tools = p.offered(ctx, plan, req.Tools)
	}
	return service, req, nil
}

// offered returns the tools that can be used in plan mode.
func (p planning) offered(ctx context.Context, plan plan, all []provider.Tool) (tools []provider.Tool) {
	byName, _ := p.Tools(ctx)
	for _, t := range all {
		changes := byName[t.Name].Changes && byName[t.Name].Reads == nil && !p.readsRemotely(byName[t.Name])
		if t.Name != tool.ExitPlanMode && (!changes || t.Name == task.Name || plan.writable() && isWrite(t.Name) || t.Name == "bash" && p.readsCommands()) {
			tools = append(tools, t)
		}
	}
	if plan.writable() {
		tools = append(tools, byName[tool.ExitPlanMode].Tool)
	}
	return tools
}

// Tools adds the tool that ends plan mode. It is there in every mode, because models repeat calls of
// the conversation; its result then says that plan mode is off.
func (p planning) Tools(ctx context.Context) (map[string]tool.Tool, tool.Env) {
	byName, env := p.host.Tools(ctx)
	exit := tool.NewExitPlanMode(planner(p))
	byName[exit.Name] = exit
	if write, ok := byName["write"]; ok && p.proposesByWriting() {
		byName["write"] = tool.WithProposals(write, exit)
	}
	return byName, env
}

// readsCommands reports whether commands that only read can be run.
func (h *host) readsCommands() bool {
	return h.s.m.cfg.Sandbox && h.s.gate.Mode() != approval.ReadOnly
}

// readsRemotely reports whether a tool is one of a server that says that it only reads, and that the user has allowed permanently.
func (h *host) readsRemotely(t tool.Tool) bool {
	return t.Remote != nil && t.Remote.ReadOnly && h.s.gate.Remembers(*t.Remote)
}

func isWrite(name string) bool { return name == "write" || name == "edit" }

// inPlan fails for a call that plan mode forbids. granted is for one that needs no question
// beside the mode: the plan file that lies beside the session.
func (h *host) inPlan(t tool.Tool, args json.RawMessage) (granted bool, err error) {
	plan, err := h.plan()
	if err != nil || !plan.on() || tool.EndsPlan(t.Name, args) {
		return false, err
	}
	if t.Name == task.Name { // its agents only read
		return true, nil
	}
	if h.readsRemotely(t) {
		return false, nil
	}
	path, _ := rawjson.GetString(args, "path")
	if !isWrite(t.Name) || !plan.allows(h.s.cwd, path) || tool.Scheme(path) == "" && h.s.m.throughLink(within(h.s.cwd, path)) {
		return false, plan.refusal(t.Name)
	}
	return tool.Scheme(path) != "" && h.s.gate.Mode() != approval.ReadOnly, nil
}

// plan is the plan mode of a session, as it is recorded.
type plan struct {
	mode string
	file string // as the session names it, "" when it does not
	omp  bool   // its models choose the name of the plan file
}

// on reports whether plan mode is on.
func (p plan) on() bool { return p.mode == PlanMode }

// writable reports whether there is a plan file.
func (p plan) writable() bool { return p.file != "" || p.omp }

// plan returns the plan of the session.
func (h *host) plan() (p plan, err error) {
	err = h.log.View(func(d *session.Document, leaf session.Leaf) error {
		m, err := modeOf(d, leaf)
		p = plan{mode: m.name, file: m.planFile(), omp: d.Dialect() == session.Omp && h.log.Persistent()}
		return err
	})
	return p, err
}

// ompPlan matches the plan file names that oh-my-pi asks models for.
var ompPlan = regexp.MustCompile(`^local://[A-Za-z0-9_-]+-plan\.md$`)

// allows reports whether path is that of the plan file.
func (p plan) allows(cwd, path string) bool {
	switch {
	case p.omp && ompPlan.MatchString(path):
		return true
	case p.file == "" || path == "", strings.ContainsAny(path[:1], "~@"):
		return false
	case tool.Scheme(p.file) != "" || tool.Scheme(path) != "":
		return tool.Scheme(path) == tool.LocalScheme && path == p.file
	}
	return within(cwd, p.file) == within(cwd, path)
}

// throughLink reports whether the file at path is a link: a plan file that leads elsewhere is
// not the plan file.
func (m *Manager) throughLink(path string) bool {
	l, ok := m.cfg.Store.Fs.(afero.Lstater)
	if !ok {
		return false
	}
	info, _, err := l.LstatIfPossible(path)
	return err == nil && info.Mode()&fs.ModeSymlink != 0
}

// within is the absolute form of a path.
func within(cwd, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(cwd, path)
}

func (p plan) refusal(name string) error {
	what := "Only the plan file may be changed (" + fault.OneLine(p.file) + ")."
	if p.file == "" {
		what = "Nothing may be changed."
	}
	next := "Only the user can end plan mode, with xcsh.setMode."
	if p.writable() {
		next = "When the plan is complete, call " + tool.ExitPlanMode + ": the user decides whether plan mode ends."
	}
	return fault.New(fault.Denied, "Plan mode is on, so this %s call was refused. %s %s", name, what, next)
}

// instructions returns the part of the system prompt about plan mode. It is the same in all requests
// of a mode, so that a service's cache stays valid. commands reports that those that only read run.
func (p plan) instructions(commands bool) string {
	file := fault.OneLine(p.file)
	refused := "Other tools that change something, and all commands, are refused."
	rules := planRules
	if commands {
		refused = "Other tools that change something, and commands that do more than read, are refused."
		rules = planRulesWithCommands
	}
	switch {
	case p.mode == PlanPaused && p.file != "":
		return `
<plan_mode>
Plan mode is paused: the user left it without approving the plan. You can make changes. If the plan file ` + file + `
exists and is relevant to the task, read it first.
</plan_mode>
`
	case !p.on():
		return ""
	case !p.writable():
		return `
<plan_mode>
` + rules + `Nothing may be changed, so put the plan into your answer.
Only the user can end plan mode, with the command xcsh.setMode.
</plan_mode>
`
	case p.file == "":
		file = "local://NAME-plan.md"
	}
	proposal := "call " + tool.ExitPlanMode
	if p.omp {
		proposal += ", or write the NAME of the plan to xd://propose"
	}
	return `
<plan_mode>
` + rules + `Write the plan to the plan file ` + file + ` with write or edit; nothing else may be changed. If the file exists,
read it first and bring it up to date. ` + refused + `
When the plan is complete, ` + proposal + `: the user reads the plan file and decides. Don't ask for approval in
your answer. If the user doesn't approve the plan, plan mode stays on: revise the plan.
Only the user can end plan mode, by approving the plan or with the command xcsh.setMode.
</plan_mode>
`
}

const (
	planRules             = "Plan mode is on. Explore with read, grep, find and ls, and work out a plan; do not carry it out.\n"
	planRulesWithCommands = "Plan mode is on. Explore with read, grep, find, ls and simple commands such as git log, and work out a plan; do not carry it out.\n"
)
