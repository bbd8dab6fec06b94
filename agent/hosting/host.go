package hosting

import (
	"cmp"
	"context"
	"encoding/json"
	"path/filepath"
	"slices"
	"sync"

	"go.uber.org/zap"

	"github.com/xcsh-ls/xcsh-ls/agent/engine"
	"github.com/xcsh-ls/xcsh-ls/agent/event"
	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
)

// host is a seat as one process sees it. It implements [engine.Host].
type host struct {
	seat    *Seat
	of      *tenure
	changes changes

	mu sync.Mutex
	at string // the newest entry of the engine, as far as it is known; guarded by mu
}

func newHost(s *Seat, of *tenure) *host { return &host{seat: s, of: of} }

// Emit implements [engine.Host].
func (h *host) Emit(e event.Event) {
	if named, ok := e.(event.SessionInfoChanged); ok {
		if err := h.of.file.title(named.Name); err != nil {
			h.seat.cfg.Log.Warn("the title of an engine's session is not kept", zap.Error(err))
		}
		return // the session reports its title itself
	}
	h.seat.cfg.Emit(e)
}

// Unsaved implements [engine.Desk].
func (h *host) Unsaved(ctx context.Context) []string {
	desk, ok := h.seat.cfg.Files.(engine.Desk)
	if !ok {
		return nil
	}
	return slices.DeleteFunc(desk.Unsaved(ctx), func(path string) bool { // the engine has no business elsewhere
		rel, err := filepath.Rel(h.seat.cfg.Cwd, path)
		return err != nil || !filepath.IsLocal(rel)
	})
}

// Message implements [engine.Host].
func (h *host) Message(ctx context.Context, message json.RawMessage) {
	id, err := h.of.file.message(ctx, message)
	if err != nil {
		h.Emit(event.NotSaved{ErrorMessage: err.Error()})
	}
	h.goTo(id)
	if text, said := promptText(message); said && id != "" {
		h.seat.cfg.Prompt(id)
		h.seat.cfg.Said(text)
	}
	if role, _ := rawjson.GetString(message, "role"); role == "bashExecution" { // a command of the user
		h.Emit(event.BashEnd{Message: message, EntryID: id})
		return
	}
	h.Emit(event.MessageEnd{Message: message, EntryID: id})
}

// Leaf implements [engine.Host].
func (h *host) Leaf(entryID string) {
	h.goTo(entryID)
	if err := h.of.file.leaf(entryID); err != nil {
		h.seat.cfg.Log.Info("the leaf of an engine is not known here", zap.String("entry", entryID), zap.Error(err))
	}
}

func (h *host) goTo(entryID string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.at = cmp.Or(entryID, h.at)
}

// place returns the newest entry of the engine.
func (h *host) place() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.at
}

// Left implements [engine.Host].
func (h *host) Left(path string) { go h.seat.cfg.Left(path) }

// Ask implements [engine.Host].
func (h *host) Ask(ctx context.Context, q event.Question) engine.Answer {
	return h.seat.asked.ask(ctx, h.of, q)
}

// Queued implements [engine.Host].
func (h *host) Queued(steering, followUp []string) { h.seat.cfg.Queued(steering, followUp) }

// catch reads on behind the known end of the file.
func (h *host) catch() {
	if err := h.of.file.catch(); err != nil {
		h.seat.cfg.Log.Warn("the file of a session that was lent cannot be read", zap.Error(err))
	}
}
