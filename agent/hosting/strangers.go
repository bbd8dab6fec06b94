package hosting

import (
	"context"
	"slices"

	"go.uber.org/zap"

	"github.com/xcsh-ls/xcsh-ls/agent/engine"
	"github.com/xcsh-ls/xcsh-ls/agent/event"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
	"github.com/xcsh-ls/xcsh-ls/session"
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

// noteStrangers remembers that another program appended to the file. It is said once, however long both write.
func (s *Seat) noteStrangers(t *tenure) {
	if !t.file.strangers() {
		return
	}
	t.outdated.Store(true)
	if !t.warned.Swap(true) {
		s.cfg.Emit(event.Notice{
			Text: "Another program writes this session too. A finished turn of it that follows the conversation is continued; anything else stays on a branch of its own.",
		})
	}
}

// update makes the engine read its file again if another program appended to it: the engine looks at the file
// only when it opens it. A turn of the other program that continues the conversation is part of it, as it is shown. Otherwise the
// engine is moved back to where it was, and both go on, on branches of their own.
func (s *Seat) update(ctx context.Context, t *tenure) {
	s.noteStrangers(t)
	if !t.outdated.Swap(false) {
		return
	}
	leaf := s.continued(t.host.place())
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

// continued returns the leaf of the session if a complete turn, which another program added, leads there from the entry place, at
// which the engine is. Otherwise it returns place: the other program would not see an entry behind its incomplete turn.
func (s *Seat) continued(place string) (leaf string) {
	leaf = place
	err := s.cfg.Session.View(func(d *session.Document, at session.Leaf) error {
		path := d.PathTo(at)
		from := slices.IndexFunc(path, func(i int) bool { return d.ID(i) == place })
		if from < 0 && place != "" {
			return nil // it is on another branch
		}
		for _, i := range slices.Backward(path[from+1:]) {
			e, err := d.Entry(i)
			if err != nil {
				return err
			}
			if e.Type == session.TypeMessage {
				if !endsTurn(e) {
					return nil
				}
				break
			}
		}
		leaf = d.LeafID(at)
		return nil
	})
	if err != nil {
		s.cfg.Log.Warn("a session that another program writes, too, cannot be read", zap.Error(err))
	}
	return leaf
}

// endsTurn reports whether an entry is an answer without calls.
func endsTurn(e session.Entry) bool {
	reason, _ := rawjson.GetString(e.Message(), "stopReason")
	return e.Role() == "assistant" && reason != provider.StopToolUse
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
