package acp_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/internal/providertest"
)

// option returns one of the options in a response or an update.
func option(t *testing.T, options []any, id string) object {
	t.Helper()
	for _, o := range options {
		if o := o.(object); o["id"] == id {
			require.Equal(t, "select", o["type"])
			return o
		}
	}
	require.Fail(t, "there is no option "+id)
	return nil
}

func values(o object) (all []any) {
	for _, c := range o["options"].([]any) {
		all = append(all, c.(object)["value"])
	}
	return all
}

// Proves: ACP-04
func TestModes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.file(t, "/w/a", "one\n")
	call := providertest.Reply{ToolCalls: []providertest.Call{edit("a", "one", "two")}}
	w.models.Script("m", call, providertest.Reply{Text: "Denied."}, call, providertest.Reply{Text: "Done."})
	c := w.connect(t, object{})
	result := c.ok("session/new", object{"cwd": "/w", "mcpServers": []any{}})
	id := result["sessionId"].(string)
	modes := result["modes"].(object)
	require.Equal(t, "ask", modes["currentModeId"])
	require.Len(t, modes["availableModes"], 4)
	require.Equal(t, "ask", option(t, result["configOptions"].([]any), "mode")["currentValue"], "clients that know options show no modes")

	c.ok("session/set_mode", object{"sessionId": id, "modeId": "read-only"})
	c.awaitUpdate(id, "the mode", func(u update) bool { return u.Kind == "current_mode_update" && u.Mode == "read-only" })
	c.awaitUpdate(id, "the options", func(u update) bool {
		return u.Kind == "config_option_update" && u.Options[0]["currentValue"] == "read-only"
	})
	c.prompt(id, "edit")
	require.Equal(t, "one\n", w.read(t, "/w/a"))
	options := c.ok("session/set_config_option", object{"sessionId": id, "configId": "mode", "value": "yolo"})["configOptions"].([]any)
	require.Equal(t, "yolo", option(t, options, "mode")["currentValue"])
	c.awaitUpdate(id, "the mode", func(u update) bool { return u.Kind == "current_mode_update" && u.Mode == "yolo" })
	c.prompt(id, "edit") // the client answers no questions
	require.Equal(t, "two\n", w.read(t, "/w/a"))

	c.refused("session/set_mode", object{"sessionId": id, "modeId": "free"}, -32602, `"free" is not an approval mode`)
	c.refused("session/set_mode", object{"sessionId": "none", "modeId": "ask"}, -32002, "is not open")
}

func TestNewModeAnswersPendingPrompts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.file(t, "/w/a", "one\n")
	w.models.Script("m", providertest.Reply{ToolCalls: []providertest.Call{edit("a", "one", "two")}}, providertest.Reply{Text: "Done."})
	c := w.connect(t, object{})
	id := c.open()
	turn := c.say(id, text("edit"))
	c.wait("the question", func(m message) bool { return m.Method == "session/request_permission" })
	c.ok("session/set_mode", object{"sessionId": id, "modeId": "yolo"}) // while the turn runs
	require.Equal(t, "end_turn", stopOf(t, c.answered(turn)))
}

// Proves: ACP-04
func TestOptions(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.models.Script("plain", providertest.Reply{Text: "Plain."})
	c := w.connect(t, object{})
	result := c.ok("session/new", object{"cwd": "/w", "mcpServers": []any{}})
	id, options := result["sessionId"].(string), result["configOptions"].([]any)
	model, thinking := option(t, options, "model"), option(t, options, "thinking")
	require.Equal(t, []any{"p/m", "model", []any{"p/m", "p/plain"}}, []any{model["currentValue"], model["category"], values(model)})
	require.Equal(t, "thought_level", thinking["category"])
	require.Equal(t, []any{"off", "minimal", "low", "medium", "high"}, values(thinking))

	set := func(id2, value any) []any {
		return c.ok("session/set_config_option", object{"sessionId": id, "configId": id2, "value": value})["configOptions"].([]any)
	}
	require.Equal(t, "high", option(t, set("thinking", "high"), "thinking")["currentValue"])
	options = set("model", "p/plain")
	require.Equal(t, "p/plain", option(t, options, "model")["currentValue"])
	require.Len(t, options, 3, "this model does not think")
	require.Equal(t, "end_turn", c.prompt(id, "x"))
	require.Equal(t, "plain", w.models.Requests()[0].Model.ID)

	for _, wrong := range []object{
		{"configId": "model", "value": "p/none"},
		{"configId": "model", "value": "none"},
		{"configId": "model", "value": true},
		{"configId": "thinking", "value": "deeply"},
		{"configId": "mode", "value": "free"},
		{"configId": "approvals", "value": "once"},
		{"configId": "colour", "value": "red"},
		{"configId": "model"},
	} {
		wrong["sessionId"] = id
		m := c.answered(c.send("session/set_config_option", wrong))
		require.NotNil(t, m.Error, m.line)
		assert.Contains(t, []int{-32602, -32002}, m.Error.Code, m.line)
	}
}

// A client can tell the choices of a permission prompt apart by their kinds: “always” means the session or, if the user has
// chosen that, the folder.
func TestOneKindForEachPermission(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.file(t, "/w/a", "one\n")
	w.models.Script("m",
		providertest.Reply{ToolCalls: []providertest.Call{edit("a", "one", "two")}}, providertest.Reply{Text: "Done."},
		providertest.Reply{ToolCalls: []providertest.Call{edit("a", "one", "three")}}, providertest.Reply{Text: "Done."})
	c := w.connect(t, object{})
	var offered []string
	reply := "workspace" // not offered at first
	c.on("session/request_permission", func(p json.RawMessage) (any, *wireError) {
		var asked struct {
			Options []struct{ OptionID, Kind, Name string }
		}
		_ = json.Unmarshal(p, &asked)
		for _, o := range asked.Options {
			name, _, _ := strings.Cut(o.Name, ":")
			offered = append(offered, o.Kind+" "+o.OptionID+" "+name)
		}
		return object{"outcome": object{"outcome": "selected", "optionId": reply}}, nil
	})
	id := c.open()
	require.Equal(t, "end_turn", c.prompt(id, "edit"))
	require.Equal(t, []string{"allow_once once Allow", "allow_always session Allow for this session", "reject_once deny Deny"}, offered)
	require.Equal(t, "one\n", w.read(t, "/w/a"), "what was not offered allows nothing")

	offered, reply = nil, "deny"
	options := c.ok("session/set_config_option", object{"sessionId": id, "configId": "approvals", "value": "workspace"})["configOptions"].([]any)
	require.Equal(t, "workspace", option(t, options, "approvals")["currentValue"])
	require.Equal(t, "end_turn", c.prompt(id, "edit"))
	require.Equal(t, []string{"allow_once once Allow", "allow_always workspace Always allow in this folder", "reject_once deny Deny"}, offered)
}

func TestOptionsWithoutAModel(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.model = ""
	c := w.connect(t, object{})
	options := c.ok("session/new", object{"cwd": "/w"})["configOptions"].([]any)
	model := option(t, options, "model")
	require.Equal(t, "none", model["currentValue"])
	require.Equal(t, []any{"none", "p/m", "p/plain"}, values(model))

	w = newWorld(t)
	w.models.key = fault.New(fault.Provider, "no key")
	c = w.connect(t, object{})
	model = option(t, c.ok("session/new", object{"cwd": "/w"})["configOptions"].([]any), "model")
	require.Equal(t, []any{"p/m"}, values(model), "unusable models are not offered, but shown if chosen")
}
