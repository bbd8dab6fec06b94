package agent

import (
	"testing"
	"time"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/event"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/library"
)

// A late event of the previous session does not affect the answer that is being written in the live
// one, and does not come between a text and its end.
func TestLateEventsOfThePreviousSession(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	finder := library.Finder{Fs: fs, Roots: []library.Root{library.OwnRoot(library.AgentPlaces("/root"))}, Now: time.Now}
	m := NewManager(Config{
		Storage: Storage{
			Store:    session.NewStore(session.StoreConfig{Fs: fs, DirFor: finder.DirFor, RootFor: finder.FileRoot}),
			Finder:   finder,
			InMemory: true,
		},
	})
	s, err := m.Session(t.Context(), "/w")
	require.NoError(t, err)
	left := s.current()
	s.emit(left, notice("there"))
	_, err = s.New(t.Context(), session.NewOptions{})
	require.NoError(t, err)

	var types []string
	defer m.Subscribe(func(e Event) {
		if e, ok := e.(RunEvent); ok && e.SessionID != left.Header().ID {
			types = append(types, e.Event.Type())
		}
	})()
	live := s.current()
	answer := provider.Message{Role: provider.RoleAssistant}.Encode()
	s.emit(live, event.MessageStart{Message: answer})
	s.emit(live, event.MessageUpdate{Update: event.Update{Type: "text_delta", Delta: "half"}})
	s.emit(left, notice("late"))
	assert.Contains(t, string(s.emitter(live.Header().ID).now().partial), "half")
	s.emit(live, event.MessageUpdate{Update: event.Update{Type: "text_delta", Delta: " and half"}})
	s.emit(left, notice("later"))
	s.emit(live, event.MessageEnd{Message: answer})
	assert.Equal(t, []string{"message_start", "message_update", "message_update", "message_end"}, types)
}
