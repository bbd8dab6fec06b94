package agent

import (
	"encoding/json"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// toolStartType is the custom type of the entries that record that a tool call which changes
// something is about to run. Its data is {"toolCallId", "toolName"}. The CLIs ignore it.
const toolStartType = "xcsh-ls.toolStart"

// The results of calls whose real result was lost with the server.
const (
	outcomeUnknown = "The call was started, but the server ended before its result was recorded. " +
		"Its outcome is unknown: check what it changed before repeating it."
	neverRun = "The call was not run: the server ended before its turn came."
)

// Starting records the start of a call, as an entry of the session.
func (h *host) Starting(call provider.Block) error {
	h.guide = nil // the call may change its files
	h.forgetFound()
	data := new(rawjson.Object).String("toolCallId", call.ID).String("toolName", call.Name).Bytes()
	id, err := h.log.Append(session.DraftCustom(toolStartType, data))
	if id != "" {
		return nil // a failure to save was reported with the answer, and will be with the result
	}
	return err
}

// interrupted returns the missing results of the calls of the last answer, if the server ended
// while it ran them. Those of another program are left alone: it may still be running them.
func (h *host) interrupted() (results []provider.Message, err error) {
	var answer provider.Message
	started, finished := map[string]bool{}, map[string]bool{}
	err = h.log.View(func(d *session.Document, leaf session.Leaf) error {
		for i := range d.Recent(leaf) {
			e, err := d.Entry(i)
			if err != nil {
				return err
			}
			switch e.Role() {
			case "":
				if id, ok := startedCall(e); ok {
					started[id] = true
				}
			case provider.RoleToolResult:
				id, _ := rawjson.GetString(e.Message(), "toolCallId")
				finished[id] = true
			case provider.RoleAssistant:
				answer, err = provider.DecodeMessage(e.Message())
				return err
			default:
				return nil // the conversation continued after the last answer
			}
		}
		return nil
	})
	if err != nil || len(started) == 0 {
		return nil, err
	}
	for _, call := range answer.ToolCalls() {
		if !finished[call.ID] {
			results = append(results, h.lostResult(call, started[call.ID]))
		}
	}
	return results, nil
}

// startedCall returns the id of the call whose start an entry records.
func startedCall(e session.Entry) (id string, ok bool) {
	if e.Type != session.TypeCustom {
		return "", false
	}
	if kind, _ := rawjson.GetString(e.Raw, "customType"); kind != toolStartType {
		return "", false
	}
	return rawjson.GetString(rawjson.Get(e.Raw, "data"), "toolCallId")
}

func (h *host) lostResult(call provider.Block, started bool) provider.Message {
	text, failed := neverRun, true
	if started {
		text = outcomeUnknown
	}
	return provider.Message{
		Role: provider.RoleToolResult, ToolCallID: call.ID, ToolName: call.Name, Details: json.RawMessage(`{"interrupted":true}`),
		Content: []provider.Block{provider.Text(text)}, IsError: &failed, Timestamp: h.s.m.now().UnixMilli(),
	}
}
