package engine

import (
	"encoding/json"
	"slices"

	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
)

// Resembles reports whether a message of a session file is the one that a loose engine reported, see [Opened.Loose]: the roles
// agree, and so does the call of a result, or one of the calls of an answer that has some.
func Resembles(entry, reported json.RawMessage) bool {
	role, _ := rawjson.GetString(reported, "role")
	if other, _ := rawjson.GetString(entry, "role"); role == "" || other != role {
		return false
	}
	switch role {
	case "toolResult":
		id, _ := rawjson.GetString(reported, "toolCallId")
		other, _ := rawjson.GetString(entry, "toolCallId")
		return id == other
	case "assistant":
		calls, others := callsOf(reported), callsOf(entry)
		return len(calls) == 0 && len(others) == 0 ||
			slices.ContainsFunc(calls, func(id string) bool { return slices.Contains(others, id) })
	default:
		return true
	}
}

// callsOf returns the ids of the tool calls of an answer.
func callsOf(message json.RawMessage) (ids []string) {
	rawjson.Elements(rawjson.Get(message, "content"), func(block []byte) bool {
		if kind, _ := rawjson.GetString(block, "type"); kind == "toolCall" {
			id, _ := rawjson.GetString(block, "id")
			ids = append(ids, id)
		}
		return true
	})
	return ids
}
