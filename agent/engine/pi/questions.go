package pi

import (
	"context"
	"encoding/json"

	"go.uber.org/zap"

	"github.com/xcsh-ls/xcsh-ls/agent/engine"
	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
)

// bridgeReport handles a report of the bridge. It is called by the reader.
func (e *Engine) bridgeReport(text string) {
	op, raw := bridgeMessage(text)
	switch op {
	case "hello":
		e.greetedBy(decodeHello(raw))
	case "leaf":
		leaf, _ := rawjson.GetString(raw, "leafId")
		e.backlog.add(0, func() { e.moved(leaf) })
	case "answer":
		e.commandAnswered(raw)
	default:
		e.log.Warn("the bridge reports something unknown", zap.String("op", brief(op, maxTitle)))
	}
}

// question is one of the bridge.
type question struct {
	Op     string          `json:"op"`
	CallID string          `json:"toolCallId"`
	Tool   string          `json:"tool"`
	Own    *bool           `json:"own"` // the tool is pi's
	Args   json.RawMessage `json:"args"`
	Path   string          `json:"path"`
	Text   string          `json:"text"`
}

// bridgeQuestion answers a question of the bridge on a goroutine of its own. Too many questions at once are refused.
// It is called by the reader.
func (e *Engine) bridgeQuestion(id, text string) {
	var q question
	if json.Unmarshal([]byte(text), &q) != nil {
		q = question{}
	}
	if q.Op == "permit" {
		e.watch.askedFor(q.CallID)
	}
	ctx, r := e.questionContext()
	if e.asked.Add(1) > maxAsked {
		e.asked.Add(-1)
		e.cancelDialog(id) // the bridge takes it for a refusal
		return
	}
	e.task(func() {
		defer e.asked.Add(-1)
		value, _ := json.Marshal(e.answer(ctx, q)) // texts and booleans only
		r.abortFirst()
		_ = e.write(e.ctx, object{"type": "extension_ui_response", "id": id, "value": string(value)})
	})
}

// questionContext returns the context of a question that pi asks now, and the run that it belongs to, nil if there is none.
func (e *Engine) questionContext() (context.Context, *run) {
	if r := e.current(); r != nil {
		return r.ctx, r
	}
	return e.ctx, nil
}

// answer returns the answer to a question of the bridge. Its errors are for the model.
func (e *Engine) answer(ctx context.Context, q question) object {
	switch q.Op {
	case "permit":
		return e.permit(ctx, q)
	case "open", "read":
		text, here, err := e.host.Read(ctx, q.Path)
		switch {
		case err != nil:
			return object{"error": err.Error()}
		case !here || q.Op == "open":
			return object{"here": here}
		}
		return object{"here": true, "text": text}
	case "write":
		here, err := e.host.Write(ctx, q.CallID, q.Path, q.Text)
		if err != nil {
			return object{"error": err.Error()}
		}
		return object{"here": here}
	default:
		return object{"error": "This question is unknown."}
	}
}

// permit asks the user for permission for a tool call.
func (e *Engine) permit(ctx context.Context, q question) object {
	err := e.unsavedError(ctx, q)
	if err == nil {
		err = e.host.Permit(ctx, e.d.callOf(e, q))
	}
	if err == nil {
		err = e.unsavedError(ctx, q) // the user may have typed since
	}
	if err != nil {
		e.mu.Lock()
		e.denied[q.CallID] = q.Tool
		e.mu.Unlock()
		return object{"allow": false, "reason": err.Error()}
	}
	e.mu.Lock()
	delete(e.denied, q.CallID) // of an earlier call with the same id
	e.mu.Unlock()
	return object{"allow": true}
}

// newCall returns the tool call of a question, which may do anything.
func newCall(q question) engine.Call {
	call := engine.Call{ID: q.CallID, Tool: q.Tool, Args: q.Args, Effect: engine.Runs}
	if len(call.Args) == 0 {
		call.Args = json.RawMessage("{}")
	}
	return call
}

// piCall returns the tool call of a question of pi. A tool that another extension has put in place of one of pi's may do
// anything, whatever its arguments say.
func (e *Engine) piCall(q question) engine.Call {
	call := newCall(q)
	if q.Own == nil || !*q.Own {
		return call
	}
	switch q.Tool {
	case "read", "grep", "find", "ls":
		call.Effect, call.Path = engine.Reads, e.readPath(q.Args, nil)
	case "edit":
		if change, err := decodeEdit(q.Args); err == nil {
			e.changes(&call, change.path, change.apply)
		}
	case "write":
		if change, err := decodeWrite(q.Args); err == nil {
			e.changes(&call, change.path, change.apply)
		}
	}
	return call
}

// readPath returns the file or directory that a call reads, "" if it names none: then it reads the folder. plain, if not nil,
// returns a path without what the program understands beside it.
func (e *Engine) readPath(args json.RawMessage, plain func(string) string) string {
	named, ok := rawjson.GetString(args, "path")
	if !ok {
		return ""
	}
	if plain != nil {
		named = plain(named)
	}
	path, err := resolvePath(named, e.at.Cwd)
	if err != nil {
		return "" // the tool fails, too
	}
	return path
}
