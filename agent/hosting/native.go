package hosting

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"sync"
	"time"

	"github.com/xcsh-ls/xcsh-ls/agent/engine"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// entryWithin is how long a message waits for its entry: programs report a message before they write it, in most cases by
// less than a millisecond.
const entryWithin = 2 * time.Second

// The time between two looks at the file grows from the first to the second.
const (
	firstLook = 500 * time.Microsecond
	lastLook  = 20 * time.Millisecond
)

// native is a session file that the engine writes. It is safe for concurrent use.
type native struct {
	lent   *session.Lent
	onDisk func()
	lost   func(error) // called once if the file was removed or replaced; must not block

	mu      sync.Mutex
	pending []session.Entry // caught, and not yet reported by the engine; guarded by mu, like all below
	made    bool            // the file exists
	loose   bool            // see [engine.Opened]
	strange bool            // see strangers
	broken  error           // the file was removed or replaced
}

// lend lends the session to the program.
func (s *Seat) lend() (file, error) {
	log := s.cfg.Session
	home, err := s.cfg.Home()
	if err == nil {
		err = Continuable(log, s.cfg.Program, home)
	}
	if err != nil {
		return nil, err
	}
	if _, isNative := s.cfg.Program.Native(); !isNative {
		return &recorded{log: log, name: s.cfg.Program.Name, cwd: s.cfg.Cwd, onDisk: s.cfg.OnDisk}, log.Claim()
	}
	lent, err := log.Lend(s.cfg.Program.Name)
	if err != nil {
		return nil, err
	}
	return &native{lent: lent, onDisk: s.cfg.OnDisk, made: !lent.Awaited()}, nil
}

func (n *native) exists() bool { return !n.lent.Awaited() }

func (n *native) opened(o engine.Opened) error {
	if o.File == "" {
		return fault.New(fault.Provider, "The program keeps no session file, so its conversation would be lost.")
	}
	if err := n.lent.At(o.File); err != nil {
		return err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if err := n.catchLocked(); err != nil {
		return err
	}
	n.pending, n.loose = nil, o.Loose // the existing entries were not reported
	return nil
}

func (n *native) leaf(entryID string) error {
	n.lent.Leaf(entryID)
	return nil
}

// title reads the entry with the title, which the engine writes.
func (n *native) title(string) error { return n.catch() }

func (n *native) catch() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.catchLocked()
}

func (n *native) catchLocked() error {
	if n.broken != nil {
		return n.broken
	}
	entries, err := n.lent.Catch()
	for _, e := range entries {
		if e.Type == session.TypeMessage || e.Type == session.TypeCustomMessage {
			n.pending = append(n.pending, e)
		}
	}
	if !n.made && !n.lent.Awaited() {
		n.made = true
		n.onDisk()
	}
	if fault.Is(err, fault.NotFound) || fault.Is(err, fault.Stale) {
		n.broken = err
		n.lost(err)
	}
	return err
}

// message finds the entry of a message: the next one that was not reported yet and is equal. Those before it are of
// another program.
func (n *native) message(ctx context.Context, m json.RawMessage) (string, error) {
	late := time.NewTimer(entryWithin)
	defer late.Stop()
	for pause := firstLook; ; pause = min(2*pause, lastLook) {
		id, err := n.find(m)
		if id != "" || err != nil {
			return id, err
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			ctx = context.WithoutCancel(ctx) // the messages before an abort are written, too
		case <-late.C:
			return "", fault.New(fault.IO, "The program reported a message, but did not write it to the session file.")
		}
	}
}

// find takes the first caught entry that records a message, and everything before it.
func (n *native) find(m json.RawMessage) (id string, err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if err := n.catchLocked(); err != nil {
		return "", err
	}
	for i, e := range n.pending {
		if records(e, m) || n.loose && engine.Resembles(e.Message(), m) {
			n.strange = n.strange || conversational(n.pending[:i])
			n.pending = append([]session.Entry(nil), n.pending[i+1:]...)
			n.lent.Reach(e.ID)
			return e.ID, nil
		}
	}
	return "", nil
}

// records reports whether an entry records a message.
func records(e session.Entry, m json.RawMessage) bool {
	if e.Type == session.TypeCustomMessage {
		role, _ := rawjson.GetString(m, "role")
		return role == "custom" && bytes.Equal(rawjson.Get(m, "customType"), rawjson.Get(e.Raw, "customType"))
	}
	return rawjson.Equal(e.Message(), m)
}

// conversational reports whether somebody spoke in entries that the engine did not report.
func conversational(entries []session.Entry) bool {
	for _, e := range entries {
		if role := e.Role(); role == "user" || role == "assistant" {
			return true
		}
	}
	return false
}

func (n *native) strangers() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	found := n.strange || conversational(n.pending)
	n.strange, n.pending = false, nil
	return found
}

func (n *native) back(inRun bool) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	err := n.catchLocked() // also announces a file that was made at the end
	for _, e := range slices.Backward(n.pending) {
		if inRun && n.lent.Follow(e.ID) {
			break
		}
	}
	if n.broken != nil {
		err = nil // it was reported
	}
	n.pending = nil
	if returned := n.lent.Return(); returned != nil {
		return returned
	}
	return err
}
