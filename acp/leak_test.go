package acp_test

import (
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/leaktest"
	"github.com/xcsh-ls/xcsh-ls/internal/providertest"
)

// TestNoGoroutineLeak is not parallel, because it inspects the goroutines of the whole process.
func TestNoGoroutineLeak(t *testing.T) {
	end := leaktest.Begin(t)
	t.Run("a conversation", func(t *testing.T) {
		w := newWorld(t)
		w.talk(t)
		hold := make(chan struct{})
		defer close(hold)
		w.models.Script("m", providertest.Reply{Text: "A long answer.", Hold: hold})
		c := w.connect(t, object{})
		c.ok("session/load", object{"sessionId": id1, "cwd": "/w"})
		id := c.open()
		c.say(id, text("talk"))
		c.awaitUpdate(id, "a piece", func(u update) bool { return u.Kind == "agent_message_chunk" })
		c.send("session/set_mode", object{"sessionId": id, "modeId": "yolo"})
		_, err := io.WriteString(c.in, "the end of the input comes without a line end")
		require.NoError(t, err)
	})
	end()
}
