package approval

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"

	"github.com/xcsh-ls/xcsh-ls/agent/sandbox"
	"github.com/xcsh-ls/xcsh-ls/agent/tool"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

// Request is a tool call that would change something.
type Request struct {
	ID      string          `json:"id"` // of the tool call
	Tool    string          `json:"tool"`
	Args    json.RawMessage `json:"args"` // in the tool's own form, as [tool.Tool.Check] returns them
	Preview tool.Preview    `json:"preview"`

	// Task is the name of the subagent that makes the call, "" for the main agent.
	Task string `json:"task,omitempty"`

	// Digest is that of a user's executable that the tool runs, "" for other tools.
	Digest string `json:"digest,omitempty"`

	// MCP is the origin of a tool of an MCP server, nil for other tools.
	MCP *tool.Remote `json:"mcp,omitempty"`

	// Edits reports that the call edits the files of Preview, as edit does.
	Edits bool `json:"-"`

	// Unsandboxed asks to run a command outside the sandbox, because it failed within.
	Unsandboxed bool `json:"unsandboxed,omitzero"`

	// Changed reports that the command has run and has changed protected files, which Preview
	// names; the answer decides whether these changes stay.
	Changed bool `json:"changed,omitzero"`

	// Blocked lists the accesses that the sandbox denied to such a command, for the user.
	Blocked []string `json:"blocked,omitempty"`

	// Hosted is the name of the engine that makes the call, "" for calls of our own loop. Such an engine
	// runs the tool itself, outside of our sandbox. Effect then says what the call does. The paths of the
	// preview are absolute; without any, the files are unknown.
	Hosted string `json:"hosted,omitempty"`
	Effect Effect `json:"-"`

	// Site is the web site that the call reads from, "https://example.com"; "" for other calls. Private reports that it
	// is in a private network, or on this machine.
	Site    string `json:"-"`
	Private bool   `json:"-"`

	// AlwaysAsk is for a tool whose calls the user wants to be asked about: no mode and no rule allows them.
	AlwaysAsk bool `json:"-"`

	// Allowed is for a tool that the user's own settings allow, as a rule of the user's would. It covers no commands.
	Allowed bool `json:"-"`

	// OtherShell reports that the user's own shell runs a command. The analysis of commands is about sh and bash.
	OtherShell bool `json:"-"`

	// EndsPlan reports that the call ends plan mode. The user is always asked: no mode and no rule
	// allows it.
	EndsPlan bool `json:"-"`
}

// Grant is the permission for a request. The zero value allows nothing.
type Grant struct {
	Decision Decision
	Level    sandbox.Level // for a command

	// Revision is the text that the user approved instead of the proposed one, nil for the latter.
	Revision *tool.Revision
}

// Prompt is a request that waits for an answer. Its ID is that of the tool call, with the suffix
// "#2" and so on if the gate had one with this id before: services reuse ids, and an answer must
// not apply to another question than the one it was given to.
type Prompt struct {
	Request
	Rules   []Rule   `json:"rules"`             // the rules that [Session] and [Workspace] would add
	Wider   []Rule   `json:"wider,omitempty"`   // the rules that [SessionWider] and [WorkspaceWider] would add
	Outside []string `json:"outside,omitempty"` // files that would be changed outside the folder, links followed

	// Protected are files that other programs obey, such as an editor's settings, which an edit
	// would change or a command names. They always require approval.
	Protected []string `json:"protected,omitempty"`

	Shown bool `json:"shown"` // it is on the screen

	// CallID is the id of the tool call that it is about; several prompts can be.
	CallID string `json:"-"`
}

// Asker shows a prompt to the user and returns the answer. It removes the prompt when ctx
// ends: the prompt was answered elsewhere, or is not needed any more. A [*Denial] denies the
// request with a reason. After another error the prompt waits for [Gate.Answer] or the next asker that attaches. Other prompts are shown
// as usual.
type Asker func(ctx context.Context, p Prompt) (Decision, error)

// Memory stores the rules of folders in the user's settings, never in the folder: the
// contents of a repository must not allow anything.
type Memory interface {
	Rules(root string) ([]Rule, error)
	Add(root string, rules []Rule) error
}

// Config configures a [Gate].
type Config struct {
	Root   string // the folder of the session, absolute
	Mode   Mode
	Memory Memory // nil records nothing beyond the session

	// Protected are directories, absolute, in which files are never changed, or read by a command,
	// without approval, even if they are in the folder: those with keys, settings and rules.
	Protected []string

	// Sensitive reports whether a file, given by its absolute path, holds secrets. A command that
	// names one needs approval. nil means none.
	Sensitive func(path string) bool

	// Report receives the errors of Memory; nil drops them. It is called without a lock.
	Report func(error)

	// Sandbox reports that commands can be run with less than the user's rights. Without it
	// every command needs approval.
	Sandbox bool

	// Changed is called after the list of prompts changed; nil means none. It is called without a
	// lock.
	Changed func()
}

// Gate permits or refuses the tool calls of one session. It is safe for concurrent use.
type Gate struct {
	cfg Config

	mu      sync.Mutex // guards the fields below; not held across calls out
	mode    Mode
	session []Rule
	version int            // counts changes of mode and session
	pending []*pending     // in order of arrival
	asker   Asker          // nil if none is attached
	turn    int            // counts changes of asker
	asking  bool           // the asker has not returned from the last prompt
	seen    map[string]int // the ids of all prompts; how many had one as the id of their call
}

// pending is a prompt and the channel of its answer.
type pending struct {
	Prompt
	level  sandbox.Level      // of a command that is allowed
	answer chan answer        // holds one
	hide   context.CancelFunc // takes it off the screen; nil when it is not shown
	missed int                // the turn whose asker could not ask for an answer; 0 means none
}

// answer is an answer to a prompt. The reason is that of a denial, "" if the user gave none. The revision is that of
// [Once].
type answer struct {
	decision Decision
	reason   string
	revision *tool.Revision
}

// NewGate returns a gate.
func NewGate(cfg Config) *Gate { return &Gate{cfg: cfg, mode: cfg.Mode, seen: map[string]int{}} }

// Ask returns when the request is allowed: at once, or after the user's approval. The text
// of its error is for the model. It is a Denied error if the mode or the user denied the
// request, and a Cancelled error if ctx ended. The decision is [Once] for a request that
// needed no approval.
func (g *Gate) Ask(ctx context.Context, r Request) (Grant, error) {
	if err := ctx.Err(); err != nil {
		return Grant{Decision: Deny}, cancelled(r, err)
	}
	now := g.policy()
	level, allowed, err := now.decide(r)
	if err != nil {
		return Grant{Decision: Deny}, err
	} else if allowed {
		return Grant{Decision: Once, Level: level}, nil
	}
	p := &pending{Prompt: now.prompt(r), level: level, answer: make(chan answer, 1)}
	g.mu.Lock()
	p.ID, p.CallID = g.newIDLocked(r.ID), r.ID
	g.pending = append(g.pending, p)
	g.showLocked()
	outdated := g.version != now.version
	g.mu.Unlock()
	g.changed()
	if outdated { // more may be allowed now
		g.settle()
	}

	select {
	case a := <-p.answer:
		if a.decision == Deny {
			return Grant{Decision: Deny}, denied(r, a.reason)
		}
		return Grant{a.decision, level, a.revision}, nil
	case <-ctx.Done():
		g.mu.Lock()
		g.removeLocked(p)
		g.mu.Unlock()
		g.changed()
		return Grant{Decision: Deny}, cancelled(r, ctx.Err())
	}
}

// OnlyReads reports whether a request is a command that only reads, which runs in the strict sandbox without approval in
// every mode that allows commands.
func (g *Gate) OnlyReads(r Request) bool {
	now := g.policy()
	l, ok := bashLine(r.Args)
	return ok && r.Tool == bashTool && now.mode != ReadOnly && now.sandbox && !l.background && !r.OtherShell && !r.AlwaysAsk && now.reads(l)
}

// newIDLocked returns an unused id.
func (g *Gate) newIDLocked(call string) string {
	id := call
	for g.seen[id] > 0 {
		g.seen[call]++
		id = call + "#" + strconv.Itoa(g.seen[call])
	}
	g.seen[id] = 1
	return id
}

func cancelled(r Request, err error) error {
	return fault.New(fault.Cancelled, "The %s call was cancelled before it was approved: %w", r.Tool, err)
}

// Answer answers a prompt. Returns a NotFound error if none with this id is pending, such as
// after it was answered.
func (g *Gate) Answer(id string, d Decision) error {
	if err := d.check(); err != nil {
		return err
	}
	return g.answer(id, answer{decision: d})
}

// Deny answers a prompt with a denial and the user's reason, which the model gets. Its errors are those
// of [Gate.Answer].
func (g *Gate) Deny(id, reason string) error {
	return g.answer(id, answer{decision: Deny, reason: reason})
}

func (g *Gate) answer(id string, a answer) error {
	g.mu.Lock()
	i := slices.IndexFunc(g.pending, func(p *pending) bool { return p.ID == id })
	if i < 0 {
		g.mu.Unlock()
		return errNotPending(id)
	}
	p := g.pending[i]
	if isWider(a.decision) && len(p.Wider) == 0 {
		g.mu.Unlock()
		return fault.New(fault.InvalidArgument, "There are no wider rules for this call.").With("field", "decision")
	}
	g.acceptLocked(p, a.decision)
	g.mu.Unlock()
	g.carryOut(p, a)
	return nil
}

func errNotPending(id string) error {
	return fault.New(fault.NotFound, "No pending approval has the id %q; it may have been answered already.", id)
}

// acceptLocked applies the answer to a pending prompt. The caller then calls carryOut
// without the lock.
func (g *Gate) acceptLocked(p *pending, d Decision) {
	g.removeLocked(p)
	if isWider(d) {
		p.Rules = p.Wider
	}
	if d != Once && d != Deny {
		g.session = append(g.session, p.Rules...)
		g.version++
	}
}

func (g *Gate) carryOut(p *pending, a answer) {
	if (a.decision == Workspace || a.decision == WorkspaceWider) && len(p.Rules) > 0 && g.cfg.Memory != nil {
		if err := guarded(func() error { return g.cfg.Memory.Add(g.cfg.Root, p.Rules) }); err != nil {
			g.report(fmt.Errorf("approval: a rule could not be stored and applies to this session only: %w", err))
		}
	}
	g.settle() // first, so that subscribers are notified before the call continues
	p.answer <- a
}

// Attach replaces the asker. It shows the pending prompts, oldest first. The returned
// function detaches it; a prompt that is shown then waits for the next asker.
func (g *Gate) Attach(ask Asker) (detach func()) {
	g.mu.Lock()
	g.turn++
	turn := g.turn
	g.hideLocked()
	g.asker, g.asking = ask, false
	g.showLocked()
	g.mu.Unlock()
	g.changed()
	return func() { g.detach(turn) }
}

// detach ends an attachment, unless another one has begun.
func (g *Gate) detach(turn int) {
	g.mu.Lock()
	current := g.turn == turn && g.asker != nil
	if current {
		g.hideLocked()
		g.asker = nil
	}
	g.mu.Unlock()
	if current {
		g.changed()
	}
}

// Pending returns the prompts that wait, in order of arrival.
func (g *Gate) Pending() []Prompt {
	g.mu.Lock()
	defer g.mu.Unlock()
	prompts := make([]Prompt, len(g.pending))
	for i, p := range g.pending {
		prompts[i] = p.Prompt
	}
	return prompts
}

// Mode returns the mode.
func (g *Gate) Mode() Mode {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.mode
}

// SetMode changes the mode. Pending prompts are evaluated again.
func (g *Gate) SetMode(m Mode) error {
	if !slices.Contains(Modes, m) {
		return fault.New(fault.InvalidArgument, "%q is not an approval mode. Use read-only, ask, auto-edit or yolo.", m).With("field", "approval")
	}
	g.mu.Lock()
	g.mode = m
	g.version++
	g.mu.Unlock()
	g.settle()
	return nil
}

// Forget removes the permissions of the session.
func (g *Gate) Forget() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.session = nil
}

// settle answers the prompts that need no approval any more.
func (g *Gate) settle() {
	now := g.policy()
	g.mu.Lock()
	waiting := slices.Clone(g.pending)
	g.mu.Unlock()
	for _, p := range waiting {
		level, allowed, err := now.decide(p.Request)
		// A request that policy now allows with fewer rights than requested is still the user's
		// decision.
		if err == nil && (!allowed || level != p.level) {
			continue
		}
		d := Once
		if err != nil {
			d = Deny
		}
		g.mu.Lock()
		if g.removeLocked(p) { // not answered in this moment
			p.answer <- answer{decision: d}
		}
		g.mu.Unlock()
	}
	g.changed()
}

// policy returns the current policy.
func (g *Gate) policy() policy {
	stored := g.storedRules()
	g.mu.Lock()
	defer g.mu.Unlock()
	return policy{
		root: g.cfg.Root, protected: g.cfg.Protected, sensitive: g.cfg.Sensitive, sandbox: g.cfg.Sandbox,
		mode: g.mode, rules: slices.Concat(g.session, stored), version: g.version,
	}
}

// storedRules reads the rules of the folder.
func (g *Gate) storedRules() []Rule {
	if g.cfg.Memory == nil {
		return nil
	}
	var rules []Rule
	err := guarded(func() (err error) {
		rules, err = g.cfg.Memory.Rules(g.cfg.Root)
		return err
	})
	if err != nil {
		g.report(fmt.Errorf("approval: the rules of %s cannot be read, so more calls need approval: %w", g.cfg.Root, err))
	}
	return rules
}

func (g *Gate) report(err error) {
	if g.cfg.Report != nil {
		g.cfg.Report(err)
	}
}

func (g *Gate) changed() {
	if g.cfg.Changed != nil {
		g.cfg.Changed()
	}
}

// removeLocked removes a prompt from the list and shows the next one. It reports whether the
// prompt was there.
func (g *Gate) removeLocked(p *pending) bool {
	i := slices.Index(g.pending, p)
	if i < 0 {
		return false
	}
	g.pending = slices.Delete(g.pending, i, i+1)
	p.hideLocked()
	g.showLocked()
	return true
}

// hideLocked hides the prompt if it is shown.
func (p *pending) hideLocked() {
	if p.hide != nil {
		p.hide()
		p.hide, p.Shown = nil, false
	}
}

// hideLocked hides the shown prompt.
func (g *Gate) hideLocked() {
	for _, p := range g.pending {
		p.hideLocked()
	}
}

// showLocked shows the first prompt that this asker has not failed to show, unless a prompt is
// shown or not hidden yet.
func (g *Gate) showLocked() {
	if g.asker == nil || g.asking {
		return
	}
	i := slices.IndexFunc(g.pending, func(p *pending) bool { return p.missed != g.turn })
	if i < 0 {
		return
	}
	g.asking = true
	p := g.pending[i]
	// The asker has a context of its own: the prompt may outlive the caller's asker, and is
	// hidden after an answer from anywhere.
	ctx, hide := context.WithCancel(context.Background())
	p.hide, p.Shown = hide, true
	go g.ask(ctx, g.asker, g.turn, p, p.Prompt)
}

// ask shows a prompt and takes the answer. shown is a copy of p from the time when it was shown.
func (g *Gate) ask(ctx context.Context, asker Asker, turn int, p *pending, shown Prompt) {
	var a answer
	err := guarded(func() (err error) {
		if a.decision, err = asker(ctx, shown); err == nil {
			err = a.decision.check()
		}
		return err
	})
	if denial, ok := errors.AsType[*Denial](err); ok {
		a, err = answer{decision: Deny, reason: denial.Reason}, nil
	}
	g.mu.Lock()
	if g.turn == turn {
		g.asking = false
	}
	hidden := ctx.Err() != nil // then its answer does not count
	switch {
	case hidden:
		g.showLocked()
	case err != nil:
		p.missed = turn
		p.hideLocked()
		g.showLocked()
	default:
		g.acceptLocked(p, a.decision)
	}
	g.mu.Unlock()
	switch {
	case hidden:
	case err != nil:
		g.report(fmt.Errorf("approval: the prompt could not be shown: %w", err))
		g.changed()
	default:
		g.carryOut(p, a)
	}
}

// guarded calls a callback and returns its panic as an error.
func guarded(call func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v", r)
		}
	}()
	return call()
}
