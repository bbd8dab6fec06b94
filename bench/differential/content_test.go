//go:build peers

package differential

import (
	"encoding/base64"
	"strings"
)

// object is a JSON object.
type object = map[string]any

// words are the parts of texts: characters that JSON escapes or could escape, characters of two
// units of UTF-16 or none, and text that looks like the format itself.
var words = []string{
	"word", "a", "two words", "", " ", "line\nline", "\ttab", "\r\n", `"quoted"`, `back\slash`, "</script>&<!--",
	"größe", "日本語", "😀", "👩‍👩‍👧", "\u0301", "\u00a0", "\ufeff", "\ufffd", "\x00", "\x1b[31m", "\x7f", "\u0085",
	`{"type":"session"}`, "```js\ncode\n```", "blob:sha256:" + strings.Repeat("0", 64), "data:image/png;base64,AAAA",
}

// lineSeparator is the end of a line to much of JavaScript, and not to JSON.
const lineSeparator = "\u2028"

// longestImage is in characters of base64.
const longestImage = 4000

func pick[T any](w *world, from ...T) T { return from[w.r.IntN(len(from))] }

func (w *world) text() string {
	var s strings.Builder
	for range w.r.IntN(6) {
		s.WriteString(pick(w, words...))
	}
	switch w.r.IntN(100) {
	case 0, 1:
		s.WriteString(strings.Repeat(pick(w, "long ", "lång ", "😀"), 2000))
	case 2:
		s.WriteString(lineSeparator)
	}
	return s.String()
}

// maybe adds a member to an object in some cases.
func (w *world) maybe(o object, key string, value any) {
	if w.r.IntN(3) == 0 {
		o[key] = value
	}
}

func (w *world) image() object {
	data := make([]byte, 3+w.r.IntN(longestImage*3/4-3))
	for i := range data {
		data[i] = byte(w.r.UintN(256))
	}
	return object{"type": "image", "data": base64.StdEncoding.EncodeToString(data), "mimeType": "image/png"}
}

// blocks is the content of a message: a text, or a list of texts and of the results of others.
func (w *world) blocks(others ...func() object) []any {
	list := []any{}
	for range w.r.IntN(4) {
		if len(others) > 0 && w.r.IntN(2) == 0 {
			list = append(list, pick(w, others...)())
			continue
		}
		list = append(list, object{"type": "text", "text": w.text()})
	}
	return list
}

func (w *world) textOrBlocks() any {
	if w.r.IntN(2) == 0 {
		return w.text()
	}
	return w.blocks(w.image)
}

func (w *world) thinking() object {
	o := object{"type": "thinking", "thinking": w.text()}
	w.maybe(o, "thinkingSignature", "c2ln")
	return o
}

func (w *world) toolCall() object {
	return object{"type": "toolCall", "id": "t" + w.hex(4), "name": pick(w, "read", "bash"), "arguments": w.anything(2)}
}

func (w *world) hex(n int) string {
	var s strings.Builder
	for range n {
		s.WriteByte("0123456789abcdef"[w.r.IntN(16)])
	}
	return s.String()
}

// anything is any JSON value whose numbers are preserved when read as such.
func (w *world) anything(depth int) any {
	switch n := w.r.IntN(7); {
	case n == 0 && depth > 0:
		return []any{w.anything(depth - 1), w.anything(depth - 1)}
	case n <= 2 && depth > 0:
		return object{"id": w.text(), "type": w.anything(depth - 1), "message": w.anything(depth - 1)}
	case n == 3:
		return w.r.IntN(1 << 40)
	case n == 4:
		return w.r.Float64()
	case n == 5:
		return pick[any](w, nil, true, false)
	}
	return w.text()
}

func usage() object {
	cost := object{"input": 0.1, "output": 0.2, "cacheRead": 0, "cacheWrite": 0, "total": 0.3}
	return object{"input": 1, "output": 2, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 3, "cost": cost}
}

// message is a message of any role.
func (w *world) message() object {
	at := 1767225600000 + w.r.IntN(1_000_000_000)
	switch w.r.IntN(9) {
	case 0, 1:
		return object{"role": "user", "content": w.textOrBlocks(), "timestamp": at}
	case 2, 3:
		return w.assistant(at)
	case 4:
		o := object{
			"role": "toolResult", "toolCallId": "t" + w.hex(4), "toolName": "read", "content": w.blocks(w.image),
			"isError": w.r.IntN(2) == 0, "timestamp": at,
		}
		w.maybe(o, "details", w.anything(3))
		return o
	case 5:
		o := object{"role": "bashExecution", "command": w.text(), "output": w.text(), "cancelled": false, "truncated": false, "timestamp": at}
		w.maybe(o, "exitCode", w.r.IntN(3))
		w.maybe(o, "excludeFromContext", true)
		return o
	case 6:
		o := object{"role": "system", "content": w.text(), "timestamp": at}
		w.maybe(o, "sections", object{pick(w, "tools", "rules"): pick[any](w, w.text(), nil)})
		w.maybe(o, "toolsAdded", []any{object{"name": "read", "description": w.text(), "parameters": object{"type": "object"}}})
		return o
	case 7:
		return object{"role": "custom", "customType": "x", "content": w.textOrBlocks(), "display": true, "timestamp": at}
	}
	// Invalid, but found in files: a message without its content.
	o := object{"role": pick(w, "user", "assistant", "toolResult", "system", "tool"), "timestamp": at, "provider": "p", "model": "m"}
	w.maybe(o, "content", nil)
	return o
}

func (w *world) assistant(at int) object {
	o := object{
		"role": "assistant", "content": w.blocks(w.thinking, w.toolCall), "api": "a", "usage": usage(), "timestamp": at,
		"provider": pick(w, "anthropic", "openai"), "model": pick(w, "m-1", "vendor/m-2"),
		"stopReason": pick(w, "stop", "toolUse", "error", "aborted", "length"),
	}
	w.maybe(o, "errorMessage", w.text())
	return o
}
