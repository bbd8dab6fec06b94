package agent

import (
	"fmt"
	"testing"
	"testing/synctest"
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

// The first piece of each text is shown at once, and what follows it within the time of merging as one event.
func TestTheFirstPieceIsNotHeld(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		begin, shown := time.Now(), []string{}
		e := &emitter{last: func() uint64 { return 0 }, publish: func(ev event.Event) {
			text := ev.Type()
			if u, ok := ev.(event.MessageUpdate); ok {
				text = u.Update.Delta
			}
			shown = append(shown, fmt.Sprintf("%s %v", text, time.Since(begin)))
		}}
		say := func(kind event.UpdateType, delta string) {
			e.emit(event.MessageUpdate{Update: event.Update{Type: kind, Delta: delta}})
			<-time.After(15 * time.Millisecond) // of the bubble's clock
		}
		for _, piece := range []string{"a", "b", "c", "d", "e", "f", "g"} {
			say(event.TextDelta, piece)
		}
		say(event.ThinkingDelta, "h")
		say(event.ThinkingDelta, "i")
		e.emit(event.TurnStart{})
		say(event.ThinkingDelta, "j")
		assert.Equal(t, []string{"a 0s", "bcd 55ms", "efg 100ms", "h 105ms", "i 135ms", "turn_start 135ms", "j 135ms"}, shown)
	})
}
