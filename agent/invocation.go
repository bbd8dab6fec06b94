package agent

import (
	"encoding/json"
	"slices"
	"sync"

	"github.com/xcsh-ls/xcsh-ls/agent/event"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/agent/setup"
	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// isInvocation reports whether a message is one of the user with a type that programs define: an invoked skill.
func isInvocation(m json.RawMessage) bool {
	role, _ := rawjson.GetString(m, "role")
	by, _ := rawjson.GetString(m, "attribution")
	return role == "custom" && by == provider.RoleUser
}

// draftOf returns the entry of a message.
func draftOf(m json.RawMessage) *session.Draft {
	if !isInvocation(m) {
		return session.DraftMessage(m)
	}
	kind, _ := rawjson.GetString(m, "customType")
	return session.DraftInvocation(session.Custom{CustomType: kind, Content: rawjson.Get(m, "content"), Details: rawjson.Get(m, "details")})
}

// invocable are the names that a prompt can begin with, as the clients of a session know them. It is safe for
// concurrent use.
type invocable struct {
	mu    sync.Mutex
	known []setup.Command // guarded by mu
	told  bool            // guarded by mu
}

// Invocable returns the skills and templates of the set-up that was found for the session, and the prompts of its servers.
// If they are others than the last time, it publishes that.
func (s *Session) Invocable(found *setup.Resolved) []setup.Command {
	list := append(found.Commands(), s.servers.Commands()...)
	s.invocable.mu.Lock()
	changed := s.invocable.told && !slices.Equal(s.invocable.known, list)
	s.invocable.known, s.invocable.told = slices.Clone(list), true
	s.invocable.mu.Unlock()
	if changed {
		s.emit(s.current(), event.CommandsChanged{})
	}
	return list
}
