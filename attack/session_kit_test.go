package attack

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// fields is a JSON object.
type fields = map[string]any

// hostileLines returns a session with a text in every field that a program shows. Its JSON contains raw
// control characters where JSON allows them, and bytes that are not UTF-8.
func (v *victim) hostileLines(text string) []string {
	parent, n := "", 0
	var lines []string
	add := func(e fields) {
		if n > 0 {
			e["id"], e["timestamp"] = fmt.Sprintf("e%07d", n), "2026-01-01T00:00:01.000Z"
			if e["parentId"] = nil; parent != "" {
				e["parentId"] = parent
			}
			parent = e["id"].(string)
		}
		n++
		lines = append(lines, rawJSON(e))
	}
	message := func(m fields) { add(fields{"type": "message", "message": m}) }
	block := func(typ string, more fields) fields {
		more["type"] = typ
		return more
	}
	usage := fields{"input": 1, "output": 1, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 2, "cost": fields{"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "total": 0}}
	add(fields{"type": "session", "version": 3, "id": "0199aaaa-hostile", "timestamp": "2026-01-01T00:00:00.000Z", "cwd": v.work, "title": "T" + text, "parentSession": text})
	message(fields{"role": "user", "content": "prompt " + text, "timestamp": 1})
	add(fields{"type": "model_change", "model": "fake/m" + text, "provider": text, "modelId": text})
	add(fields{"type": "thinking_level_change", "thinkingLevel": "high" + text})
	add(fields{"type": "mode_change", "mode": "plan" + text, "data": fields{text: text}})
	message(fields{"role": "assistant", "provider": "p" + text, "model": "m" + text, "api": text, "stopReason": "error", "errorMessage": "failed " + text, "usage": usage, "timestamp": 2, "content": []any{
		block("thinking", fields{"thinking": "thought " + text}), block("text", fields{"text": "answer " + text}), block("other"+text, fields{}),
		block("toolCall", fields{"id": "c1", "name": "bash" + text, "intent": text, "arguments": fields{"command": text, "key" + text: []any{text, strings.Repeat("x", 90) + text}}}),
	}})
	message(fields{"role": "toolResult", "toolCallId": "c1", "toolName": "bash" + text, "isError": true, "timestamp": 3, "content": []any{block("text", fields{"text": "result " + text}), block("image", fields{"mimeType": "image/" + text, "data": "AAAA"})}})
	message(fields{"role": "bashExecution", "command": "ran " + text, "output": "out " + text, "exitCode": 1, "timestamp": 4, "meta": fields{"truncation": fields{"artifactId": text}}})
	message(fields{"role": "pythonExecution", "code": text, "output": text, "exitCode": 1, "timestamp": 4})
	message(fields{"role": "custom", "customType": "c" + text, "content": text, "display": true, "details": fields{text: text}, "timestamp": 5})
	message(fields{"role": "fileMention", "files": []any{fields{"path": "f" + text, "content": text, "skippedReason": text}}, "timestamp": 5})
	message(fields{"role": "odd" + text, "content": text, "timestamp": 5})
	add(fields{"type": "custom_message", "customType": "c" + text, "content": text, "display": true, "details": fields{text: text}})
	add(fields{"type": "custom", "customType": "c" + text, "data": fields{text: text}})
	add(fields{"type": "label", "targetId": "e0000001", "label": "L" + text})
	add(fields{"type": "session_info", "name": "N" + text})
	add(fields{"type": "session_init", "task": text, "systemPrompt": text, "tools": []any{text}})
	add(fields{"type": "branch_summary", "fromId": "e0000001" + text, "summary": "branch " + text})
	add(fields{"type": "odd" + text, "payload": text})
	add(fields{"type": "compaction", "summary": "compacted " + text, "firstKeptEntryId": "e0000001", "tokensBefore": 5, "details": fields{text: text}})
	message(fields{"role": "user", "content": []any{block("text", fields{"text": "again " + text})}, "timestamp": 6})
	last := len(lines) - 1
	damaged := []string{
		`{"type":"message","id":"` + text, rawJSON(fields{"type": "odd" + text, "id": "odd" + text, "parentId": text}), "junk " + text,
		`{"type":"label","id":"rawcontrols","parentId":null,"targetId":"e0000001","label":"` + "\x1b]0;raw\a" + `"}`,
	}
	return slices.Concat(lines[:last], damaged, lines[last:])
}

// rawJSON encodes JSON with unescaped C1, bidi and invisible characters and with bytes that are not UTF-8.
func rawJSON(v any) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(err)
	}
	return strings.TrimSpace(strings.NewReplacer(`\u2028`, "\u2028", `\u2029`, "\u2029", `\u007f`, "\x7f", `\ufffd`, "\x9b").Replace(b.String()))
}

// hostileSession writes such a session to the user's sessions and returns its path.
func (v *victim) hostileSession() string {
	path := filepath.Join(v.home, "all", "2026-01-01T00-00-00-000Z_0199aaaa-hostile.jsonl")
	v.write(path, strings.Join(v.hostileLines(steering+"\xff\x9b2J "+ordinary), "\n")+"\n")
	return path
}
