package agent

import (
	"context"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/agent/background"
	"github.com/xcsh-ls/xcsh-ls/agent/event"
	"github.com/xcsh-ls/xcsh-ls/agent/tool"
	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
)

// addBackground prepares for commands that continue after their call. They end with the conversation
// that started them.
func (s *Session) addBackground() {
	s.background = tool.NewBackground(s.publishBackground, func(text string) { s.emit(s.current(), notice(text)) })
}

// publishBackground publishes the running commands. The list is read and shown in one step, so that an
// older one is never shown after a newer one.
func (s *Session) publishBackground() {
	s.publishing.Lock()
	defer s.publishing.Unlock()
	s.emit(s.current(), event.BackgroundChanged{Running: s.background.Running()})
}

// Background returns the commands that run in the background.
func (s *Session) Background() []background.Info { return s.background.Running() }

// StopBackground ends a command that runs in the background. It returns a NotFound error for an unknown
// one.
func (s *Session) StopBackground(ctx context.Context, id string) error {
	return s.background.Stop(ctx, id)
}

// noteBackground records what the model does not know yet about background commands. The record is a
// message of its own at the end of the conversation, so that everything before it stays the same for
// the service's cache.
func (h *host) noteBackground() error {
	notes := h.s.background.Notes()
	if len(notes) == 0 {
		return nil
	}
	m := new(rawjson.Object).String("role", "custom").String("customType", "Background command").
		String("content", strings.Join(notes, "\n\n")).Raw("display", boolean(true)).
		Raw("timestamp", number(h.s.m.now().UnixMilli())).Bytes()
	h.Emit(event.MessageStart{Message: m})
	id, err := h.Record(m)
	if err != nil {
		h.Emit(event.NotSaved{ErrorMessage: err.Error()})
	}
	h.Emit(event.MessageEnd{Message: m, EntryID: id})
	if id == "" {
		return err
	}
	return nil
}
