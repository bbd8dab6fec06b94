package serving

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/xcsh-ls/xcsh-ls/agent/asking"
	"github.com/xcsh-ls/xcsh-ls/agent/mcp"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

// Config configures a [Keeper]. Callbacks may be nil, and are called concurrently and without a lock.
type Config struct {
	Env     []string // of this process
	Version string   // of this program
	Log     *zap.Logger
	Run     Runner // runs commands whose output is a value; nil leaves such values out

	Notify         func(text string)          // shows the user a sentence
	Reconnect      func(server string) string // see [mcp.Options]
	PromptsChanged func()                     // the result of Prompts has changed
	Activated      func(names []string)       // a search has activated tools; these are all

	// AskUser asks the user a question of a server. Servers don't ask without it, or if CanAsk reports that there is no user.
	AskUser func(ctx context.Context, f asking.Form) (asking.Answers, error)
	CanAsk  func() bool

	Wait time.Duration // how long the first prompt waits for servers; 0 is 10 s
}

// Keeper keeps the servers of one session. It is safe for concurrent use.
type Keeper struct {
	cfg Config

	using sync.Mutex // held while the servers are replaced

	reading sync.WaitGroup // of prompts; added to with mu

	mu      sync.Mutex
	set     *set // nil before the first prompt; guarded by mu, like all below
	closed  bool
	prompts []mcp.Prompt
}

// New returns a keeper without servers.
func New(c Config) *Keeper {
	if c.Log == nil {
		c.Log = zap.NewNop()
	}
	if c.Wait <= 0 {
		c.Wait = startWait
	}
	return &Keeper{cfg: c}
}

// set are servers that run, with what the user knows of them.
type set struct {
	*mcp.Servers
	session string // whose activated tools the servers have

	version atomic.Int64 // counts the changes that the next request has to have

	mu       sync.Mutex
	wanted   Wanted            // guarded by mu, like all below
	key      string            // of wanted
	starting map[string]int    // starts whose change joins at the next prompt only
	started  map[string]bool   // the user knows
	reasons  map[string]string // that the user knows, by server
}

// startWait is how long the first prompt waits for servers.
const startWait = 10 * time.Second

// closeLimit is how long the end of servers may take that are not used any more.
const closeLimit = 5 * time.Second

// Begin returns the servers for a turn. At the first prompt, and after a change of their definitions, it starts them, and waits
// for them at most 10 s.
func (k *Keeper) Begin(ctx context.Context, w Wanted) *Turn {
	s := k.use(ctx, w)
	if s == nil {
		return &Turn{}
	}
	t := &Turn{set: s, session: w.Session}
	s.Tools(ctx) // starts the servers
	t.join()
	k.report(s)
	return t
}

// Running returns the servers that run already, as outside of a turn. It starts none.
func (k *Keeper) Running() *Turn {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.set == nil {
		return &Turn{}
	}
	t := &Turn{set: k.set}
	t.join()
	return t
}

// use returns the set of the wanted servers. It replaces one with other definitions. It is nil without servers.
func (k *Keeper) use(ctx context.Context, w Wanted) *set {
	k.using.Lock()
	defer k.using.Unlock()
	key := w.key()
	k.mu.Lock()
	s, closed := k.set, k.closed
	k.mu.Unlock()
	switch {
	case closed:
		return nil
	case s != nil && s.is(key):
	case s != nil && s.takes(w):
		k.update(ctx, s, w, key)
	default:
		k.replace(ctx, nil)
		if s = nil; len(w.Servers) > 0 {
			s = k.make(ctx, w, key)
		}
		if !k.replace(ctx, s) {
			return nil
		}
	}
	if s != nil && s.session != w.Session {
		s.session = w.Session
		if w.Activated != nil {
			s.Activate(w.Activated())
		}
	}
	return s
}

// replace makes other servers the current ones, and ends those before. It returns false if the keeper was closed.
func (k *Keeper) replace(ctx context.Context, s *set) bool {
	k.mu.Lock()
	before, closed := k.set, k.closed
	if k.set = s; closed {
		k.set, before = nil, s
	}
	if before != s {
		k.prompts = nil
	}
	k.mu.Unlock()
	if before != nil && before != s {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeLimit)
		defer cancel()
		if err := before.Close(ctx); err != nil {
			k.cfg.Log.Warn("MCP servers that are not used any more did not end in time", zap.Error(err))
		}
	}
	return !closed
}

func (k *Keeper) make(ctx context.Context, w Wanted, key string) *set {
	s := &set{key: key, wanted: w, starting: map[string]int{}, started: map[string]bool{}, reasons: map[string]string{}}
	k.notifyProblems(w, w.Servers)
	o := mcp.Options{
		Servers: complete(ctx, w.Servers, k.cfg.Run), Dialect: w.Program, Cwd: w.Cwd, Env: k.cfg.Env, Version: k.cfg.Version, Log: k.cfg.Log,
		Wait: k.cfg.Wait, Reconnect: k.cfg.Reconnect,
		Started: func(server string) { k.started(s, server) },
		Changed: func(server string) { k.changed(s, server) },
		Activated: func(names []string) {
			s.version.Add(1)
			if k.cfg.Activated != nil {
				k.cfg.Activated(names)
			}
		},
	}
	if k.cfg.AskUser != nil && k.cfg.CanAsk != nil && k.cfg.CanAsk() {
		o.Ask = k.ask
	}
	s.Servers = mcp.New(o)
	return s
}

// notifyProblems shows the user what cannot be used of wanted servers, and of the definitions of some of them.
func (k *Keeper) notifyProblems(w Wanted, of []Definition) {
	for _, p := range w.Problems {
		k.notify(p)
	}
	for _, d := range of {
		for _, p := range d.problems {
			k.notify("The MCP server \"" + d.Name() + "\" of " + d.server.Source + ": " + p)
		}
	}
}

// ask asks the user the question of a server.
func (k *Keeper) ask(ctx context.Context, q mcp.Question) (mcp.Answer, error) {
	f, err := formOf(q)
	if err != nil {
		return mcp.Answer{}, err
	}
	got, err := k.cfg.AskUser(ctx, f.Form)
	if err != nil {
		return mcp.Answer{}, err
	}
	return f.answer(got), nil
}

// started shows the user the first start of a server.
func (k *Keeper) started(s *set, server string) {
	s.mu.Lock()
	first := !s.started[server]
	s.started[server] = true
	s.starting[server]++
	delete(s.reasons, server)
	d, ok := s.wanted.named(server)
	s.mu.Unlock()
	if !first || !ok {
		return
	}
	verb := "Started "
	if d.server.URL != "" {
		verb = "Connected to "
	}
	k.notify(verb + server + " (" + fault.OneLine(d.starts) + ").")
}

// changed counts a change of a server's lists, which the next request has. That of a start joins at the next prompt.
func (k *Keeper) changed(s *set, server string) {
	s.mu.Lock()
	start := s.starting[server] > 0
	if start {
		s.starting[server]--
	}
	s.mu.Unlock()
	if !start {
		s.version.Add(1)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.closed {
		k.reading.Go(func() { k.readPrompts(s) })
	}
}

// report shows the user, once, why servers are not connected.
func (k *Keeper) report(s *set) {
	for _, state := range s.States() {
		reason := state.Reason
		switch {
		case state.Connected:
			continue
		case state.Starting && reason == "":
			reason = fmt.Sprintf("The MCP server %q does not answer; %g s have passed. Its tools come when it does.", state.Name, k.cfg.Wait.Seconds())
		case reason == "":
			continue
		}
		s.mu.Lock()
		known := s.reasons[state.Name] == reason
		s.reasons[state.Name] = reason
		s.mu.Unlock()
		if !known {
			k.notify(sentence(reason))
		}
	}
}

// sentence returns a text with a period at its end.
func sentence(text string) string {
	if text = strings.TrimSpace(text); text != "" && !strings.ContainsAny(text[len(text)-1:], ".!?…") {
		text += "."
	}
	return text
}

func (k *Keeper) notify(text string) {
	if k.cfg.Notify != nil {
		k.cfg.Notify(text)
	}
}

// Close ends the servers with everything that they started. It returns an error of ctx if that takes longer.
func (k *Keeper) Close(ctx context.Context) error {
	k.mu.Lock()
	s := k.set
	k.set, k.closed = nil, true
	k.mu.Unlock()
	if s == nil {
		return nil
	}
	err := s.Close(ctx)
	k.reading.Wait() // their requests have ended
	return err
}

// States returns the states of the servers, nil before the first prompt.
func (k *Keeper) States() []mcp.State {
	k.mu.Lock()
	s := k.set
	k.mu.Unlock()
	if s == nil {
		return nil
	}
	return s.States()
}

// Reconnect ends the connection to a server and starts it again. Servers that do not run yet are started for it.
func (k *Keeper) Reconnect(ctx context.Context, w Wanted, server string) error {
	s := k.use(ctx, w)
	if s == nil {
		return fault.New(fault.NotFound, "There is no MCP server %q in this session.", server)
	}
	err := s.Reconnect(ctx, server)
	if err == nil {
		s.mu.Lock()
		delete(s.reasons, server)
		s.mu.Unlock()
	}
	return err
}

// Servers returns the running servers, nil if there are none.
func (k *Keeper) Servers() *mcp.Servers {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.set == nil {
		return nil
	}
	return k.set.Servers
}
