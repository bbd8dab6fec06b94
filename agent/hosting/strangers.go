package hosting

import (
	"cmp"
	"context"

	"go.uber.org/zap"

	"github.com/xcsh-ls/xcsh-ls/agent/engine"
	"github.com/xcsh-ls/xcsh-ls/agent/event"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

// Caught reads the new lines in the file of an idle engine, and reports whether something was. In a run, events say it.
func (s *Seat) Caught() (changed bool) {
	t := s.serving()
	if t == nil {
		return false
	}
	s.mu.Lock()
	running := s.state == engine.Running
	s.mu.Unlock()
	if running {
		return false
	}
	before := s.cfg.Session.LeafID()
	t.host.catch()
	s.noteStrangers(t)
	return before != s.cfg.Session.LeafID() || t.outdated.Load()
}

// noteStrangers remembers that another program appended to the file. The user is notified once, however long both write.
func (s *Seat) noteStrangers(t *tenure) {
	if !t.file.strangers() {
		return
	}
	t.outdated.Store(true)
	if !t.warned.Swap(true) {
		s.cfg.Emit(event.Notice{Text: "Another program writes this session too. Both go on, on branches of their own."})
	}
}

// update makes the engine read its file again if another program appended to it: the engine looks at the file
// only when it opens it. Then it is moved back to where it was.
func (s *Seat) update(ctx context.Context, t *tenure) {
	s.noteStrangers(t)
	if !t.outdated.Swap(false) {
		return
	}
	leaf := cmp.Or(t.host.place(), s.cfg.Session.LeafID())
	err := t.engine.Reread(ctx)
	if err == nil && leaf != "" && t.engine.Can().Branch {
		_, err = t.engine.Move(ctx, leaf, engine.Summary{})
		t.host.Leaf(leaf)
	}
	if err != nil {
		s.cfg.Log.Warn("an engine could not read its session again", zap.Error(err))
	}
	t.host.catch()
}

// rescue ends an engine whose file was removed or replaced: it would append to a file without a header, or to another session.
func (s *Seat) rescue(t *tenure, cause error) {
	ctx, cancel := context.WithTimeout(context.Background(), endWithin)
	defer cancel()
	if s.acquire(ctx) != nil {
		return
	}
	defer func() { <-s.turn }()
	if err := s.dismiss(ctx, t); err != nil {
		s.cfg.Log.Warn("an engine could not be ended", zap.Error(err))
	}
	text := s.cfg.Program.Name + " was ended: " + cause.Error()
	if fault.Is(cause, fault.NotFound) {
		if err := s.cfg.Session.EnsureOnDisk(); err != nil {
			text += " It could not be written again: " + err.Error()
		} else {
			text += " It was written again; the next prompt starts " + s.cfg.Program.Name + " on it."
		}
	}
	s.cfg.Emit(event.Notice{Text: text})
}
