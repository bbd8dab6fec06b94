package approval

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"sync"

	"github.com/xcsh-ls/xcsh-ls/agent/tool"
	"github.com/xcsh-ls/xcsh-ls/session/fault"
)

// Request is a tool call that would change something.
type Request struct {
	ID      string          `json:"id"` // of the tool call
	Tool    string          `json:"tool"`
	Args    json.RawMessage `json:"args"` // in the tool's own form, as [tool.Tool.Check] returns them
	Preview tool.Preview    `json:"preview"`
}

// Prompt is a request that waits for an answer. Its ID is that of the tool call, with "#2"
// and so on behind it when the gate had one with this id before: services use the same ids
// again, and an answer must not meet another question than the one it was given to.
type Prompt struct {
	Request
	Rules   []Rule   `json:"rules"`             // what [Session] and [Workspace] would allow from then on
	Outside []string `json:"outside,omitempty"` // files that would be changed outside the folder, links followed
	Shown   bool     `json:"shown"`             // it is on the screen
}

// Asker shows a prompt to a person and returns the answer. When ctx ends the prompt is to
// be taken off the screen: it was answered elsewhere, or is not needed any more. An error
// says that nobody could be asked about this prompt, which then waits for [Gate.Answer] or
// the next one who attaches. Others are shown as usual.
type Asker func(ctx context.Context, p Prompt) (Decision, error)

// Memory keeps the rules of folders in the settings of the person, never in the folder:
// what is in a repository must not allow anything.
type Memory interface {
	Rules(root string) ([]Rule, error)
	Add(root string, rules []Rule) error
}

// Config is what a [Gate] works with.
type Config struct {
	Root   string // the folder of the session, absolute
	Mode   Mode
	Memory Memory // nil remembers nothing beyond the session

	// Protected are directories, absolute, in which files are never changed without a
	// question, also where they are in the folder: those with keys, settings and rules.
	Protected []string

	// Report is told of a memory that fails; nil drops it. It is called without a lock.
	Report func(error)

	// Changed is called after the list of prompts changed; nil is none. It is called
	// without a lock.
	Changed func()
}

// Gate lets the tool calls of one session through or not. It is safe for concurrent use.
type Gate struct {
	cfg Config

	mu      sync.Mutex // guards what follows; not held across calls out
	mode    Mode
	session []Rule
	version int            // counts changes of mode and session
	pending []*pending     // in the order they came
	asker   Asker          // nil when nobody is attached
	turn    int            // counts changes of asker
	asking  bool           // the asker has not returned from the last prompt
	seen    map[string]int // the ids of all prompts; how many had one as the id of their call
}

// pending is a prompt and who waits for it.
type pending struct {
	Prompt
	answer chan Decision      // holds one
	hide   context.CancelFunc // takes it off the screen; nil when it is not shown
	missed int                // the turn whose asker could not ask about it; 0 is none
}

// NewGate returns a gate.
func NewGate(cfg Config) *Gate { return &Gate{cfg: cfg, mode: cfg.Mode, seen: map[string]int{}} }

// Ask returns when the request may be carried out: at once, or after a person said so. An
// error is that it may not; its text is for the model. It is kind denied when the mode or
// the person said no, and kind cancelled when ctx ended. The decision is [Once] where
// nobody had to be asked.
func (g *Gate) Ask(ctx context.Context, r Request) (Decision, error) {
	if err := ctx.Err(); err != nil {
		return Deny, cancelled(r, err)
	}
	now := g.policy()
	if allowed, err := now.decide(r); err != nil {
		return Deny, err
	} else if allowed {
		return Once, nil
	}
	p := &pending{
		Prompt: Prompt{Request: r, Rules: now.rulesFor(r), Outside: now.outside(r.Preview.Paths)}, answer: make(chan Decision, 1),
	}
	g.mu.Lock()
	p.ID = g.newID(r.ID)
	g.pending = append(g.pending, p)
	g.show()
	outdated := g.version != now.version
	g.mu.Unlock()
	g.changed()
	if outdated { // more may be allowed by now
		g.settle()
	}

	select {
	case d := <-p.answer:
		if d == Deny {
			return Deny, fault.New(fault.Denied, "The person did not allow this %s call. Ask what to do instead, or go on without it.", r.Tool)
		}
		return d, nil
	case <-ctx.Done():
		g.mu.Lock()
		g.remove(p)
		g.mu.Unlock()
		g.changed()
		return Deny, cancelled(r, ctx.Err())
	}
}

// newID returns an id that no prompt had before. The caller holds mu.
func (g *Gate) newID(call string) string {
	id := call
	for g.seen[id] > 0 {
		g.seen[call]++
		id = call + "#" + strconv.Itoa(g.seen[call])
	}
	g.seen[id] = 1
	return id
}

func cancelled(r Request, err error) error {
	return fault.New(fault.Cancelled, "Cancelled before the %s call was allowed: %w", r.Tool, err)
}

// Answer answers a prompt. It is kind notFound when there is none with this id, which is
// so after it was answered once.
func (g *Gate) Answer(id string, d Decision) error {
	if err := d.check(); err != nil {
		return err
	}
	g.mu.Lock()
	i := slices.IndexFunc(g.pending, func(p *pending) bool { return p.ID == id })
	if i < 0 {
		g.mu.Unlock()
		return fault.New(fault.NotFound, "There is no prompt %q, or it was answered already.", id)
	}
	p := g.pending[i]
	g.accept(p, d)
	g.mu.Unlock()
	g.carryOut(p, d)
	return nil
}

// accept takes an answer to a prompt that waits. The caller holds mu, and calls carryOut
// without it.
func (g *Gate) accept(p *pending, d Decision) {
	g.remove(p)
	if d == Session || d == Workspace {
		g.session = append(g.session, p.Rules...)
		g.version++
	}
}

func (g *Gate) carryOut(p *pending, d Decision) {
	if d == Workspace && g.cfg.Memory != nil {
		if err := guarded(func() error { return g.cfg.Memory.Add(g.cfg.Root, p.Rules) }); err != nil {
			g.report(fmt.Errorf("approval: a rule is kept for this session only: %w", err))
		}
	}
	g.settle() // first, so that everybody is told before the call goes on
	p.answer <- d
}

// Attach lets ask show the prompts from now on, beginning with the one that waits, in
// place of whoever did before. The returned function takes it back; a prompt that is
// shown then waits for the next one.
func (g *Gate) Attach(ask Asker) (detach func()) {
	g.mu.Lock()
	g.turn++
	turn := g.turn
	g.hide()
	g.asker, g.asking = ask, false
	g.show()
	g.mu.Unlock()
	g.changed()
	return func() { g.detach(turn) }
}

// detach ends an attachment, unless another one has begun.
func (g *Gate) detach(turn int) {
	g.mu.Lock()
	current := g.turn == turn && g.asker != nil
	if current {
		g.hide()
		g.asker = nil
	}
	g.mu.Unlock()
	if current {
		g.changed()
	}
}

// Pending returns the prompts that wait, in the order they came.
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

// SetMode changes the mode. Prompts that wait are looked at again.
func (g *Gate) SetMode(m Mode) error {
	if !slices.Contains(Modes, m) {
		return fault.New(fault.InvalidArgument, "%q is not an approval mode; it is read-only, ask, auto-edit or yolo.", m).With("field", "approval")
	}
	g.mu.Lock()
	g.mode = m
	g.version++
	g.mu.Unlock()
	g.settle()
	return nil
}

// Forget takes back what was allowed for the session.
func (g *Gate) Forget() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.session = nil
}

// settle answers the prompts that need no person any more.
func (g *Gate) settle() {
	now := g.policy()
	g.mu.Lock()
	waiting := slices.Clone(g.pending)
	g.mu.Unlock()
	for _, p := range waiting {
		allowed, err := now.decide(p.Request)
		if err == nil && !allowed {
			continue
		}
		answer := Once
		if err != nil {
			answer = Deny
		}
		g.mu.Lock()
		if g.remove(p) { // not answered in this moment
			p.answer <- answer
		}
		g.mu.Unlock()
	}
	g.changed()
}

// policy is what holds at this moment.
func (g *Gate) policy() policy {
	remembered := g.remembered()
	g.mu.Lock()
	defer g.mu.Unlock()
	return policy{root: g.cfg.Root, protected: g.cfg.Protected, mode: g.mode, rules: slices.Concat(g.session, remembered), version: g.version}
}

// remembered reads the rules of the folder.
func (g *Gate) remembered() []Rule {
	if g.cfg.Memory == nil {
		return nil
	}
	var rules []Rule
	err := guarded(func() (err error) {
		rules, err = g.cfg.Memory.Rules(g.cfg.Root)
		return err
	})
	if err != nil {
		g.report(fmt.Errorf("approval: the rules of %s cannot be read, so that more is asked about: %w", g.cfg.Root, err))
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

// remove takes a prompt out of the list and shows the next one. It reports whether the
// prompt was there. The caller holds mu.
func (g *Gate) remove(p *pending) bool {
	i := slices.Index(g.pending, p)
	if i < 0 {
		return false
	}
	g.pending = slices.Delete(g.pending, i, i+1)
	p.leave()
	g.show()
	return true
}

// leave takes the prompt off the screen if it is there. The caller holds the gate's mu.
func (p *pending) leave() {
	if p.hide != nil {
		p.hide()
		p.hide, p.Shown = nil, false
	}
}

// hide takes the prompt that is shown off the screen. The caller holds mu.
func (g *Gate) hide() {
	for _, p := range g.pending {
		p.leave()
	}
}

// show puts the first prompt on the screen that this asker can ask about, unless it is
// there, or another one is not gone from there yet. The caller holds mu.
func (g *Gate) show() {
	if g.asker == nil || g.asking {
		return
	}
	i := slices.IndexFunc(g.pending, func(p *pending) bool { return p.missed != g.turn })
	if i < 0 {
		return
	}
	g.asking = true
	p := g.pending[i]
	// The asker has a context of its own: the one who asked may be gone and the prompt be
	// shown to another, and what is shown ends with an answer from anywhere.
	ctx, hide := context.WithCancel(context.Background())
	p.hide, p.Shown = hide, true
	go g.ask(ctx, g.asker, g.turn, p, p.Prompt)
}

// ask shows a prompt and takes the answer. shown is p as it was when it came to the screen.
func (g *Gate) ask(ctx context.Context, asker Asker, turn int, p *pending, shown Prompt) {
	var d Decision
	err := guarded(func() (err error) {
		if d, err = asker(ctx, shown); err == nil {
			err = d.check()
		}
		return err
	})
	g.mu.Lock()
	if g.turn == turn {
		g.asking = false
	}
	hidden := ctx.Err() != nil // then what it says is not an answer any more
	switch {
	case hidden:
		g.show()
	case err != nil:
		p.missed = turn
		p.leave()
		g.show()
	default:
		g.accept(p, d)
	}
	g.mu.Unlock()
	switch {
	case hidden:
	case err != nil:
		g.report(fmt.Errorf("approval: nobody could be asked: %w", err))
		g.changed()
	default:
		g.carryOut(p, d)
	}
}

// guarded calls what is not ours. That it panics is an error like any other.
func guarded(call func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v", r)
		}
	}()
	return call()
}
