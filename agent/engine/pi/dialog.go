package pi

import (
	"context"
	"math"
	"time"

	"go.uber.org/zap"

	"github.com/xcsh-ls/xcsh-ls/agent/engine"
	"github.com/xcsh-ls/xcsh-ls/agent/event"
	"github.com/xcsh-ls/xcsh-ls/session/visible"
)

// maxID is the length of an id of pi's.
const maxID = 200

// uiRequest handles a dialog or something to show. It is called by the reader.
func (e *Engine) uiRequest(r *record) {
	id, method := r.string(fID), r.string(fMethod)
	switch method {
	case "setStatus":
		if r.string(fStatusKey) == e.bridge.mark {
			e.bridgeReport(r.string(fStatusText))
			return
		}
		e.show(r)
	case "notify", "setWidget", "setTitle", "set_editor_text":
		e.show(r)
	case "input", "select", "confirm", "editor":
		if method == "input" && r.string(fTitle) == e.bridge.mark {
			e.bridgeQuestion(id, r.string(fPlaceholder))
			return
		}
		e.dialog(id, r)
	case "cancel":
		e.takeBack(r.string(fTargetID))
	case "open_url":
		e.show(r)
	default:
		e.log.Info("a dialog of an unknown method", zap.String("method", brief(method, maxTitle)))
		e.cancelDialog(id)
	}
}

// dialog asks the user a question of an extension, on a goroutine of its own.
func (e *Engine) dialog(id string, r *record) {
	q, options := questionOf(id, r)
	ctx, run := e.questionContext()
	ctx, cancel := untilAnswered(ctx, q)
	e.mu.Lock()
	e.question = q.Title
	refused := id == "" || len(id) > maxID || len(e.dialogs) >= maxDialogs || e.dialogs[id] != nil
	if !refused {
		e.dialogs[id] = cancel
	}
	e.mu.Unlock()
	if refused {
		cancel()
		e.log.Warn("a dialog is refused", zap.String("title", q.Title))
		e.cancelDialog(id)
		return
	}
	e.task(func() {
		answer := e.host.Ask(ctx, q)
		e.dialogOver(id)
		response := dialogResponse(q.Method, answer, options)
		response["type"], response["id"] = "extension_ui_response", id
		run.abortFirst()
		_ = e.write(e.ctx, response) // fails only if pi has ended
	})
}

// untilAnswered returns a context that also ends when pi answers the question itself.
func untilAnswered(ctx context.Context, q event.Question) (context.Context, context.CancelFunc) {
	if q.Until == 0 {
		return context.WithCancel(ctx)
	}
	return context.WithDeadline(ctx, time.UnixMilli(q.Until))
}

func (e *Engine) dialogOver(id string) {
	e.mu.Lock()
	cancel := e.dialogs[id]
	delete(e.dialogs, id)
	e.mu.Unlock()
	cancel()
}

// takeBack cancels a question that the program does not ask any more.
func (e *Engine) takeBack(id string) {
	e.mu.Lock()
	cancel := e.dialogs[id]
	e.mu.Unlock()
	if cancel != nil {
		cancel()
	}
}

func (e *Engine) openDialogs() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.dialogs)
}

// lastDialog returns the title of the last question of an extension.
func (e *Engine) lastDialog() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.question
}

// cancelDialog answers a dialog that the user is not shown. The reader must not wait, so another goroutine writes.
func (e *Engine) cancelDialog(id string) {
	if id == "" || len(id) > maxID {
		return
	}
	response := object{"type": "extension_ui_response", "id": id, "cancelled": true}
	if e.asked.Add(1) > maxAsked {
		e.asked.Add(-1)
		e.log.Warn("a dialog is not answered, because there are too many")
		return
	}
	e.task(func() {
		defer e.asked.Add(-1)
		_ = e.write(e.ctx, response) // fails only if pi has ended
	})
}

// questionOf returns the question of a dialog, and the options of a select as pi wrote them.
func questionOf(id string, r *record) (q event.Question, options []string) {
	q = event.Question{ID: id, Method: r.string(fMethod), Title: brief(r.string(fTitle), maxTitle)}
	switch q.Method {
	case "confirm":
		q.Message = visible.Text(cut(r.string(fMessage), maxNotice))
	case "select":
		options = r.strings(fOptions, maxOptions)
		for _, o := range options {
			q.Options = append(q.Options, brief(o, maxTitle))
		}
	case "input":
		q.Placeholder = brief(r.string(fPlaceholder), maxTitle)
	case "editor":
		q.Prefill = visible.Text(cut(r.string(fPrefill), maxPrefill))
	}
	if ms := r.number(fTimeout); ms > 0 && q.Method != "editor" {
		q.Until = time.Now().Add(time.Duration(min(ms, math.MaxInt32)) * time.Millisecond).UnixMilli()
	}
	return q, options
}

// dialogResponse returns the members of the response to a dialog.
func dialogResponse(method string, a engine.Answer, options []string) object {
	switch {
	case a.Cancelled:
	case method == "confirm":
		return object{"confirmed": a.Confirmed}
	case method == "select":
		for _, o := range options {
			if o == a.Value || brief(o, maxTitle) == a.Value {
				return object{"value": o}
			}
		}
	default:
		return object{"value": a.Value}
	}
	return object{"cancelled": true}
}
