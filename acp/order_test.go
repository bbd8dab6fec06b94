package acp_test

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/xcsh-ls/xcsh-ls/acp"
	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/agent/hook"
	"github.com/xcsh-ls/xcsh-ls/internal/providertest"
)

// Proves: ACP-04
func TestRequestsAboutOneSessionKeepTheirOrder(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.talk(t)
	hold := make(chan struct{})
	w.models.Script("plain", providertest.Reply{Text: "Plain answer.", Hold: hold})
	c := w.connect(t, object{})
	// No response is awaited: each request requires the one before it.
	loading := c.send("session/load", object{"sessionId": id1, "cwd": "/w"})
	choosing := c.send("session/set_config_option", object{"sessionId": id1, "configId": "model", "value": "p/plain"})
	turn := c.say(id1, text("go on"))
	mode := c.send("session/set_mode", object{"sessionId": id1, "modeId": "yolo"})
	require.Nil(t, c.answered(loading).Error)
	require.Nil(t, c.answered(choosing).Error)
	require.Nil(t, c.answered(mode).Error, "a turn holds up nothing")
	close(hold)
	require.Equal(t, "end_turn", stopOf(t, c.answered(turn)))
	require.Equal(t, "plain", w.models.Requests()[0].Model.ID)
	closing := c.send("session/close", object{"sessionId": id1})
	late := c.say(id1, text("more"))
	require.Nil(t, c.answered(closing).Error)
	require.Equal(t, -32002, c.answered(late).Error.Code)
}

func TestWaitingRequestsCanBeCancelled(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	entered, leave := make(chan struct{}), make(chan struct{})
	w.talk(t)
	w.hooks = []hook.Hook{slow{entered, leave}}
	c := w.connect(t, object{})
	loading := c.send("session/load", object{"sessionId": id1, "cwd": "/w"})
	<-entered
	waiting := c.say(id1, text("go on"))
	choosing := c.send("session/set_mode", object{"sessionId": id1, "modeId": "yolo"})
	behind := c.send("session/set_mode", object{"sessionId": id1, "modeId": "auto-edit"})
	c.notify("session/cancel", object{"sessionId": id1})
	require.Equal(t, "cancelled", stopOf(t, c.answered(waiting)))
	c.notify("$/cancel_request", object{"requestId": raw(choosing)})
	require.Equal(t, -32800, c.answered(choosing).Error.Code)
	close(leave)
	require.Nil(t, c.answered(loading).Error)
	require.Nil(t, c.answered(behind).Error, "cancelled requests do not change the order")
	c.awaitUpdate(id1, "the mode", func(u update) bool { return u.Kind == "current_mode_update" && u.Mode == "auto-edit" })
}

// Proves: ACP-02
func TestClosingStopsTheTurn(t *testing.T) {
	t.Parallel()
	for _, method := range []string{"session/close", "session/delete"} {
		w := newWorld(t)
		hold := make(chan struct{})
		w.models.Script("m", providertest.Reply{Text: "First."}, providertest.Reply{Text: "A long long answer.", Hold: hold})
		c := w.connect(t, object{})
		id := c.open()
		c.prompt(id, "one")
		turn := c.say(id, text("two"))
		c.awaitUpdate(id, "a piece", func(u update) bool {
			return u.Kind == "agent_message_chunk" && string(u.Content) != `{"type":"text","text":"First."}`
		})
		c.ok(method, object{"sessionId": id})
		require.Equal(t, "cancelled", stopOf(t, c.answered(turn)))
		listed := c.ok("session/list", object{"cwd": "/w"})["sessions"]
		require.Len(t, listed, map[string]int{"session/close": 1, "session/delete": 0}[method])
		close(hold)
	}
}

// Proves: ACP-01
func TestAPanicCostsOneRequest(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.talk(t)
	core, logs := observer.New(zap.ErrorLevel)
	c := w.start(t, func(o *acp.Options) {
		o.Log = zap.New(core)
		sessions := o.Backend.Sessions
		o.Backend.Sessions = func(client acp.Client) *agentManager {
			if client.Cwd == "/w" {
				panic("a defect")
			}
			return sessions(client)
		}
	})
	c.ok("initialize", object{"protocolVersion": 1})
	e := c.refused("session/new", object{"cwd": "/w"}, -32603, "The server failed in session/new. Its log has the details.")
	require.Equal(t, "internal", e.Data.Kind)
	require.Equal(t, 1, logs.FilterMessage("a request failed unexpectedly").Len())
	c.ok("session/list", object{})
}

func TestImagesThatAreKeptOutsideAreReplayed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	image := []byte("an image")
	sum := sha256.Sum256(image)
	hash := hex.EncodeToString(sum[:])
	w.file(t, agentDir+"/blobs/"+hash, string(image))
	userLine := func(id, parent, data string) string {
		return fmt.Sprintf(`{"type":"message","id":%q,"parentId":%q,"timestamp":"2026-01-01T00:00:00.000Z","message":{"role":"user","content":[{"type":"image","mimeType":"image/png","data":%q}]}}`, id, parent, data)
	}
	w.talk(t, userLine("c1", "bbbbbbbb", "blob:sha256:"+hash), userLine("c2", "c1", "blob:sha256:"+hash[:63]+"x"))
	c := w.connect(t, object{})
	c.ok("session/load", object{"sessionId": id1, "cwd": "/w"})
	var shown []string
	for _, u := range c.updates(id1) {
		if u.Kind == "user_message_chunk" {
			shown = append(shown, string(u.Content))
		}
	}
	require.Len(t, shown, 3)
	assert.Contains(t, shown[1], base64.StdEncoding.EncodeToString(image))
	assert.Contains(t, shown[2], "not available")
}

func TestWarningsOfHooks(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var warn func(string)
	c := w.start(t, func(o *acp.Options) {
		sessions := o.Backend.Sessions
		o.Backend.Sessions = func(client acp.Client) *agentManager {
			if client.Cwd != "" {
				client.Warn("too early to be shown")
				warn = client.Warn
			}
			return sessions(client)
		}
	})
	c.ok("initialize", object{"protocolVersion": 1, "clientCapabilities": object{"session": object{"notices": object{}}}})
	id := c.open()
	warn("The hook x failed.")
	notice := c.awaitUpdate(id, "the notice", func(u update) bool { return u.Kind == "notice" })
	require.Equal(t, "The hook x failed.", notice.Title)
}

type agentManager = agent.Manager

func raw(id string) json.RawMessage { return json.RawMessage(id) }

// slow delays changes of session until leave is closed.
type slow struct{ entered, leave chan struct{} }

func (s slow) Before(context.Context, hook.Event) (hook.Decision, error) {
	close(s.entered)
	<-s.leave
	return hook.Decision{}, nil
}

func (slow) After(context.Context, hook.Event) {}
