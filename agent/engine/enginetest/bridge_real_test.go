//go:build peers

package enginetest_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/engine/enginetest"
)

// bridgePath is the extension that the engine of pi loads.
var bridgePath = filepath.Join("..", "pi", "bridge", "xcsh-ls-host.ts")

// bridgeScripts are what a host with a bridge does.
var bridgeScripts = map[string]func(h *hosted){
	"files": func(h *hosted) {
		h.prompt(`[[tool:read {"path":"README.md"}]][[tool:edit {"path":"README.md","edits":[{"oldText":"unsaved","newText":"changed"}]}]][[tool:write {"path":"README.md","content":"x"}]][[tool:bash {"command":"env | grep XCSH_LS; echo ok"}]]`)
		h.bridge(open)
	},
	"files that are not open": func(h *hosted) {
		h.prompt(`[[tool:read {"path":"README.md"}]][[tool:edit {"path":"README.md","edits":[{"oldText":"line2","newText":"changed"}]}]][[tool:write {"path":"a/b.txt","content":"x"}]]`)
		h.bridge(map[string]string{"permit": `{"allow":true}`, "open": `{"here":false}`, "read": `{"here":false}`, "write": `{"here":false}`})
	},
	"an error of the editor": func(h *hosted) {
		h.prompt(`[[tool:write {"path":"README.md","content":"x"}]]`)
		h.bridge(map[string]string{"permit": `{"allow":true}`, "write": `{"error":"The file changed."}`})
	},
	"calls at once": func(h *hosted) {
		h.prompt(`[[par]][[tool:write {"path":"a.txt","content":"x"}]][[tool:write {"path":"b.txt","content":"x"}]]`)
		for _, value := range []string{`"{\"allow\":true}"`, `"{\"allow\":true}"`} {
			h.send(`{"type":"extension_ui_response","id":"` + h.until(isQuestion).ID + `","value":` + value + `}`)
		}
		for _, write := range []line{h.until(isQuestion), h.until(isQuestion)} { // both wait for the editor
			h.send(`{"type":"extension_ui_response","id":"` + write.ID + `","value":"{\"here\":true}"}`)
		}
		h.event("agent_settled")
	},
	"a refusal": func(h *hosted) {
		h.prompt(`[[tool:bash {"command":"echo hi"}]]`)
		h.bridge(map[string]string{"permit": `{"allow":false,"reason":"Not here."}`})
	},
	"an abort": func(h *hosted) {
		h.prompt(`[[tool:bash {"command":"echo hi"}]]`)
		h.until(func(l line) bool { return l.Title == mark })
		h.call(`{"type":"abort"}`)
	},
	"moves": func(h *hosted) {
		h.run("[[say:one]]")
		h.run("[[say:two]]")
		var prompts struct{ Messages []struct{ EntryID string } }
		require.NoError(h.t, json.Unmarshal(h.call(`{"type":"get_fork_messages"}`), &prompts))
		h.prompt(`/xcsh-ls-label {"n":1,"entry":"` + prompts.Messages[0].EntryID + `","text":"mark"}`)
		h.response("p")
		h.prompt(`/xcsh-ls-navigate {"n":2,"to":"` + prompts.Messages[1].EntryID + `"}`)
		h.response("p")
		h.prompt(`/xcsh-ls-navigate {"n":3,"to":"none"}`)
		h.response("p")
		h.run("[[say:three]]")
	},
	"sessions": func(h *hosted) {
		h.run("[[say:one]]")
		file := h.sessionFile()
		h.call(`{"type":"new_session"}`)
		h.call(`{"type":"switch_session","sessionPath":"` + file + `"}`)
		h.prompt(`/xcsh-ls-reload {"n":4}`)
		h.response("p")
		h.run("[[say:two]]")
	},
}

func isQuestion(l line) bool { return l.Title == mark }

var open = map[string]string{"permit": `{"allow":true}`, "open": `{"here":true}`, "read": `{"here":true,"text":"unsaved text"}`, "write": `{"here":true}`}

// The bridge of the double asks and reports what the real one does.
func TestTheBridgeOfTheDoubleIsLikeTheRealOne(t *testing.T) {
	if path := os.Getenv("XCSH_BRIDGE"); path != "" {
		bridgePath = path
	}
	if _, err := os.Stat(bridgePath); err != nil {
		t.Skip("there is no bridge")
	}
	path, err := filepath.Abs(bridgePath)
	require.NoError(t, err)
	for name, script := range bridgeScripts {
		t.Run(name, func(t *testing.T) {
			var kinds [2][]string
			for i, make := range []func(*testing.T, place) enginetest.Program{
				func(t *testing.T, p place) enginetest.Program { return enginetest.RealPi(t, p.home) },
				func(t *testing.T, _ place) enginetest.Program { return enginetest.Pi(t) },
			} {
				p := newPlace(t)
				program, _ := bridged(t, make(t, p))
				h := hostIn(t, p, program, "-e", path)
				h.call(`{"type":"get_state"}`)
				script(h)
				require.NoError(t, h.Close(t.Context()))
				kinds[i] = bridgeKinds(h)
			}
			require.Equal(t, kinds[0], kinds[1], "lines of pi, and of the double")
		})
	}
}

// bridgeKinds returns the kinds of lines, with the members of what the bridge sends.
func bridgeKinds(h *hosted) (kinds []string) {
	at := 0
	all := comparable(h)
	for _, l := range h.seen {
		text := l.StatusText + l.Placeholder
		if l.StatusKey != mark && l.Title != mark {
			continue
		}
		for !strings.HasPrefix(all[at], "extension_ui_request") {
			kinds = append(kinds, all[at])
			at++
		}
		at++
		var note map[string]any
		require.NoError(h.t, json.Unmarshal([]byte(text), &note))
		for _, name := range []string{"leafId", "toolCallId", "file", "tools", "pi", "version", "cwd"} {
			if _, ok := note[name]; ok {
				note[name] = "…"
			}
		}
		if value, ok := note["value"].(map[string]any); ok {
			value["leafId"] = "…"
		}
		shown, err := json.Marshal(note)
		require.NoError(h.t, err)
		kinds = append(kinds, l.Method+" "+strings.ReplaceAll(string(shown), h.cwd, "CWD"))
	}
	kinds = append(kinds, all[at:]...)
	for i := 1; i < len(kinds); i++ { // of calls at once any may be the first
		if strings.HasPrefix(kinds[i-1], "input ") && strings.HasPrefix(kinds[i], "input ") && kinds[i] < kinds[i-1] {
			kinds[i-1], kinds[i] = kinds[i], kinds[i-1]
		}
	}
	return kinds
}
