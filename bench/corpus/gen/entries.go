package gen

import "fmt"

// titleSlot writes the line of exactly 256 bytes that omp keeps a title in.
func (w *writer) titleSlot() {
	head := fmt.Sprintf(`{"type":"title","v":1,"title":"Session %s","source":"auto","updatedAt":"%s","pad":"`, w.text.word(w.r), w.at.Format(isoTime))
	w.line = fmt.Appendf(w.line[:0], `%s%*s"}`, head, 255-len(head)-2, "")
	w.flush()
}

func (w *writer) modelChange() {
	w.begin("model_change")
	switch w.preset.Flavour {
	case Omp:
		w.add(`,"model":"anthropic/claude-sonnet-4-5","role":"default"`)
	case Xcsh:
		w.add(`,"model":"anthropic/claude-sonnet-4-5"`)
	case Pi:
		w.add(`,"provider":"anthropic","modelId":"claude-sonnet-4-5"`)
	}
	w.end()
}

func (w *writer) thinkingLevel() {
	w.begin("thinking_level_change")
	w.add(`,"thinkingLevel":"%s"`, []string{"off", "low", "medium", "high"}[w.r.IntN(4)])
	w.end()
}

// message begins a message entry.
func (w *writer) message(role string) {
	w.begin("message")
	w.open.turn, w.open.shown = true, true
	w.add(`,"message":{"role":"%s"`, role)
}

func (w *writer) endMessage() {
	w.add(`,"timestamp":%d}`, w.at.UnixMilli())
	w.end()
}

// exchange is a prompt and everything up to the answer that ends the turn.
func (w *writer) exchange(needle bool) {
	w.message("user")
	w.open.user = true
	w.add(`,"content":[{"type":"text","text":"`)
	w.addText(prose, length(w.r, 110, 1.1, 4000))
	if needle {
		w.add(" please find %s", Needle)
	}
	w.add(`"}]`)
	w.endMessage()
	for range int(w.r.ExpFloat64() * 4) {
		for _, c := range w.answer(1 + max(0, w.r.IntN(10)-7)) {
			w.toolResult(c)
		}
	}
	w.answer(0)
}

// call is a tool call that waits for its result.
type call struct{ id, tool string }

// answer is a model's message with a number of tool calls; one without ends the turn.
func (w *writer) answer(calls int) (made []call) {
	w.message("assistant")
	w.add(`,"content":[`)
	if w.r.IntN(10) == 0 {
		w.add(`{"type":"thinking","thinking":"`)
		w.addText(prose, length(w.r, 900, 1.1, 16_000))
		w.add(`","thinkingSignature":"`)
		w.line = appendBase64(w.line, w.r, 200+w.r.IntN(400))
		w.add(`"},`)
	}
	median, stop := 90, "toolUse"
	if calls == 0 {
		median, stop = 450, "stop"
	}
	w.add(`{"type":"text","text":"`)
	w.addText(prose, length(w.r, median, 1.1, 18_000))
	w.add(`"}`)
	for range calls {
		made = append(made, w.toolCall())
	}
	in, out, cached := w.r.IntN(2000), 20+w.r.IntN(1500), w.r.IntN(180_000)
	w.add(`],"api":"anthropic-messages","provider":"anthropic","model":"claude-sonnet-4-5",`+
		`"usage":{"input":%d,"output":%d,"cacheRead":%d,"cacheWrite":0,"totalTokens":%d,`+
		`"cost":{"input":%.6f,"output":%.6f,"cacheRead":%.6f,"cacheWrite":0,"total":%.6f}},"stopReason":"%s"`,
		in, out, cached, in+out+cached, float64(in)*3e-6, float64(out)*15e-6, float64(cached)*3e-7,
		float64(in)*3e-6+float64(out)*15e-6+float64(cached)*3e-7, stop)
	w.endMessage()
	return made
}

func (w *writer) toolCall() call {
	c := call{id: fmt.Sprintf("toolu_01%016x", w.r.Uint64())}
	w.add(`,{"type":"toolCall","id":"%s",`, c.id)
	file := w.text.word(w.r) + "/" + w.text.word(w.r)
	switch x := w.r.IntN(1000); {
	case x < 490:
		c.tool = "bash"
		w.add(`"name":"bash","arguments":{"command":"grep -rn %s src/ | head -%d; `, w.text.word(w.r), w.r.IntN(50))
		w.addText(output, length(w.r, 60, .8, 3000))
	case x < 810:
		c.tool = "edit"
		w.add(`"name":"edit","arguments":{"path":"src/%s.ts","oldText":"`, file)
		w.addText(code, length(w.r, 240, 1.2, 14_000))
		w.add(`","newText":"`)
		w.addText(code, length(w.r, 300, 1.2, 14_000))
	case x < 985:
		c.tool = "read"
		w.add(`"name":"read","arguments":{"path":"src/%s.ts`, file)
	default:
		c.tool = "write"
		w.add(`"name":"write","arguments":{"path":"src/%s.ts","content":"`, file)
		w.addText(code, length(w.r, 4500, 1, 57_000))
	}
	w.add(`"}}`)
	return c
}

func (w *writer) toolResult(c call) {
	w.message("toolResult")
	w.add(`,"toolCallId":"%s","toolName":"%s","content":[{"type":"text","text":"`, c.id, c.tool)
	switch c.tool {
	case "bash":
		w.addText(output, length(w.r, 500, 1.4, 50_000))
	case "read":
		w.addText(code, length(w.r, 2600, 1.2, 116_000))
	default:
		w.add("Successfully changed src/%s.ts", w.text.word(w.r))
	}
	w.add(`"}`)
	if w.r.IntN(5000) == 0 {
		w.facts.Images++
		w.add(`,{"type":"image","data":"`)
		w.line = appendBase64(w.line, w.r, 40_000+w.r.IntN(150_000))
		w.add(`","mimeType":"image/png"}`)
	}
	w.add("]")
	if c.tool == "edit" {
		w.add(`,"details":{"diff":"`)
		w.addText(code, length(w.r, 750, 1, 24_000))
		w.add(`","firstChangedLine":%d}`, w.r.IntN(2000))
	}
	w.add(`,"isError":%t`, w.r.IntN(30) == 0)
	w.endMessage()
}

// aside writes the occasional entries beside the conversation.
func (w *writer) aside() {
	switch w.r.IntN(100) {
	case 0, 1:
		target := w.nodes[w.leaf].id
		w.begin("label")
		w.add(`,"targetId":"%s","label":"checkpoint-%d"`, target, w.r.IntN(100))
		w.end()
		w.facts.Labels++
	case 2, 3:
		w.begin("custom")
		w.add(`,"customType":"todo","data":{"items":[{"done":%t,"text":"`, w.r.IntN(2) == 0)
		w.addText(prose, 60)
		w.add(`"}]}`)
		w.end()
	case 4, 5:
		w.begin("custom_message")
		w.open.shown = true
		w.add(`,"customType":"reminder","content":"`)
		w.addText(prose, 200)
		w.add(`","display":true`)
		w.end()
	case 6:
		if w.preset.Flavour == Pi {
			w.begin("session_info")
			w.add(`,"name":"%s %s"`, w.text.word(w.r), w.text.word(w.r))
			w.end()
		}
	case 7, 8:
		w.modelChange()
	case 9, 10, 11:
		if !w.preset.Once {
			w.thinkingLevel()
		}
	}
}
