package acp_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/providertest"
)

// The client gets a notice about a large session once: when it opens the session, or when that grows.
func TestANoticeAboutALargeSession(t *testing.T) {
	t.Parallel()
	for name, grows := range map[string]int64{"when it is opened": 0, "when it grows": 1} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.talk(t)
			w.large = int64(len(w.read(t, file1))) - 1 + grows
			w.models.Script("m", providertest.Reply{Text: "a1"}, providertest.Reply{Text: "a2"})
			c := w.connect(t, object{"session": object{"notices": object{}}})
			load := object{"sessionId": id1, "cwd": "/w"}
			notices := func() (n int) {
				for _, u := range c.updates(id1) {
					if u.Kind == "notice" && strings.Contains(u.Title, "This session is large") {
						n++
					}
				}
				return n
			}
			c.ok("session/load", load)
			require.Equal(t, "end_turn", c.prompt(id1, "one"))
			c.awaitUpdate(id1, "the notice", func(u update) bool { return u.Kind == "notice" && strings.Contains(u.Title, "is large") })
			require.Equal(t, "end_turn", c.prompt(id1, "two"))
			c.ok("session/close", object{"sessionId": id1})
			c.ok("session/load", load)
			require.Equal(t, 1, notices())
		})
	}
}
