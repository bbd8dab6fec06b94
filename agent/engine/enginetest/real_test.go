//go:build peers

package enginetest_test

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/engine/enginetest"
)

// scripts are what a host does, with the lines and entries that must be the same.
var scripts = map[string]func(h *hosted){
	"a tool":         func(h *hosted) { h.run(`[[tool:read {"path":"README.md"}]]`) },
	"a failing tool": func(h *hosted) { h.run(`[[tool:read {"path":"nope"}]]`) },
	"an edit": func(h *hosted) {
		h.run(`[[tool:edit {"path":"README.md","edits":[{"oldText":"line2","newText":"line3"}]}]]`)
	},
	"two tools at once": func(h *hosted) {
		h.run(`[[par]][[tool:read {"path":"README.md"}]][[tool:write {"path":"a/b.txt","content":"x"}]]`)
	},
	"thinking":          func(h *hosted) { h.run(`[[think]][[say:one two three]]`) },
	"two prompts":       func(h *hosted) { h.run(`[[say:one]]`); h.run(`two`) },
	"the service fails": func(h *hosted) { h.run(`[[fail:400:9]]`) },
	"a retry":           func(h *hosted) { h.run(`[[fail:500:1]][[say:recovered]]`) },
	"all retries":       func(h *hosted) { h.run(`[[fail:529:99]]`) },
	"an abort": func(h *hosted) {
		h.prompt(`[[slow:50]][[say:` + strings.Repeat("word ", 200) + `]]`)
		h.until(func(l line) bool { return l.AssistantMessageEvent.Type == "text_delta" })
		h.call(`{"type":"abort"}`)
	},
	"an abort of a command": func(h *hosted) {
		h.prompt(`[[tool:bash {"command":"sleep 1000"}]]`)
		h.event("tool_execution_update")
		h.call(`{"type":"abort"}`)
	},
	"the end of the input in a command": func(h *hosted) {
		h.prompt(`[[tool:bash {"command":"sleep 1000"}]]`)
		h.event("tool_execution_update")
		require.NoError(h.t, h.Close(h.t.Context()))
	},
	"the end of the input in an answer": func(h *hosted) {
		h.prompt(`[[slow:50]][[say:` + strings.Repeat("word ", 200) + `]]`)
		h.until(func(l line) bool { return l.AssistantMessageEvent.Type == "text_delta" })
		require.NoError(h.t, h.Close(h.t.Context()))
	},
	"steering": func(h *hosted) {
		h.prompt(`[[slow:50]][[say:` + strings.Repeat("word ", 10) + `]]`)
		h.until(func(l line) bool { return l.AssistantMessageEvent.Type == "text_delta" })
		h.call(`{"type":"steer","message":"[[say:steered]]"}`)
		h.call(`{"type":"follow_up","message":"[[say:followed]]"}`)
		h.event("agent_settled")
	},
	"a queue without a run": func(h *hosted) {
		h.call(`{"type":"steer","message":"[[say:steered]]"}`)
		h.call(`{"type":"follow_up","message":"[[say:followed]]"}`)
		h.run(`[[say:first]]`)
	},
	"settings": func(h *hosted) {
		h.run(`hi`)
		h.call(`{"type":"set_model","provider":"mock","modelId":"mock-plain"}`)
		h.call(`{"type":"set_model","provider":"mock","modelId":"mock-large"}`)
		h.call(`{"type":"set_thinking_level","level":"high"}`)
		h.call(`{"type":"set_thinking_level","level":"bogus"}`)
		h.call(`{"type":"set_session_name","name":"a name"}`)
	},
	"refusals": func(h *hosted) {
		for _, command := range []string{
			`{"id":"1","type":"bogus"}`, `{"id":"2","type":"set_model","provider":"x","modelId":"y"}`, `{"id":"3","type":"get_entries","since":"nope"}`,
			`{"id":"4","type":"compact"}`, `{"id":"5","type":"clone"}`, `{"id":"6","type":"set_session_name","name":" "}`,
		} {
			h.send(command)
			h.until(func(l line) bool { return l.Type == "response" && l.Error != "" })
		}
		for _, garbage := range []string{`{bad`, `"text"`, `[]`} {
			h.send(garbage)
			h.until(func(l line) bool { return l.Type == "response" && l.Error != "" })
		}
	},
	"sessions": func(h *hosted) {
		h.run("[[say:one]]")
		h.run("[[say:two]]")
		first := h.sessionFile()
		var prompts struct{ Messages []struct{ EntryID string } }
		require.NoError(h.t, json.Unmarshal(h.call(`{"type":"get_fork_messages"}`), &prompts))
		h.call(`{"type":"fork","entryId":"` + prompts.Messages[1].EntryID + `"}`)
		h.run("[[say:forked]]")
		h.call(`{"type":"new_session"}`)
		h.run("[[say:new]]")
		h.call(`{"type":"switch_session","sessionPath":"` + first + `"}`)
		h.run("[[say:three]]")
		h.call(`{"type":"clone"}`)
		h.run("[[say:cloned]]")
		h.call(`{"type":"switch_session","sessionPath":"` + filepath.Join(h.dir, "z.jsonl") + `"}`)
		h.run("[[say:there]]")
	},
	"compaction": func(h *hosted) {
		h.run("[[say:" + strings.Repeat("one ", 200) + "]]")
		h.run("[[say:" + strings.Repeat("two ", 200) + "]]")
		h.call(`{"type":"compact"}`)
		h.run("[[say:three]]")
		h.prompt("[[slow:50]][[say:" + strings.Repeat("word ", 200) + "]]")
		h.until(func(l line) bool { return l.AssistantMessageEvent.Type == "text_delta" })
		h.call(`{"type":"compact","customInstructions":"short"}`)
	},
	"commands of the user": func(h *hosted) {
		h.call(`{"type":"bash","command":"echo hi; exit 2"}`)
		h.run(`hi`)
		h.call(`{"type":"bash","command":"echo hidden","excludeFromContext":true}`)
	},
}

// The double does what the real program does: the same events in the same order, and the same entries.
func TestTheDoubleIsLikePi(t *testing.T) {
	for name, script := range scripts {
		t.Run(name, func(t *testing.T) {
			var kinds [2][]string
			var files [2][][]string
			for i, make := range []func(*testing.T, place) enginetest.Program{
				func(t *testing.T, p place) enginetest.Program { return enginetest.RealPi(t, p.home) },
				func(t *testing.T, _ place) enginetest.Program { return enginetest.Pi(t) },
			} {
				p := newPlace(t)
				h := hostIn(t, p, make(t, p))
				h.call(`{"type":"get_state"}`)
				script(h)
				require.NoError(t, h.Close(t.Context()))
				kinds[i], files[i] = comparable(h), h.files()
			}
			require.Equal(t, kinds[0], kinds[1], "events of pi, and of the double")
			require.Equal(t, files[0], files[1], "entries of pi, and of the double")
		})
	}
}

// comparable returns the kinds of lines with the texts that a host shows or depends on.
func comparable(h *hosted) (kinds []string) {
	for _, l := range h.seen {
		kind := kindsOf([]line{l})[0]
		if l.Error != "" && l.Command != "parse" {
			kind += ": " + l.Error
		}
		var m struct {
			Role    string
			Content json.RawMessage
		}
		_ = json.Unmarshal(l.Message, &m) // without a message
		if l.Type == "message_end" && m.Role == "toolResult" {
			kind += ": " + strings.ReplaceAll(string(m.Content), h.cwd, "CWD")
		}
		if (strings.HasSuffix(kind, "_delta") || l.Type == "tool_execution_update" || l.Type == "bash_execution_update") && len(kinds) > 0 && kinds[len(kinds)-1] == kind {
			continue
		}
		kinds = append(kinds, kind)
	}
	return kinds
}
