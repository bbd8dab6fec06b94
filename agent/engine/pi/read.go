package pi

import (
	"encoding/json"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/xcsh-ls/xcsh-ls/agent/engine"
	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
)

// reading reads the lines of pi until its output ends.
func (e *Engine) reading() {
	garbage := 0
	for line := range e.proc.Lines() {
		e.lastLine.Store(time.Now().UnixNano())
		r, ok := parse(line)
		if !ok {
			garbage++
			e.garbage(line, garbage)
			if r, ok = salvage(line); !ok {
				continue
			}
		}
		garbage = 0
		if r.typ == "rpc_chunk" && e.chunks.agreed {
			if r, ok = e.chunk(&r); !ok {
				continue
			}
		} else {
			e.interrupted()
		}
		e.dispatch(&r)
	}
	e.ended()
}

// garbage handles a line that is not a record.
func (e *Engine) garbage(line []byte, count int) {
	e.log.Warn("a line is not a record", zap.String("engine", e.program.Name), zap.String("line", brief(string(line[:min(len(line), 2*maxTitle)]), maxTitle)))
	if count == maxGarbage {
		e.failRun(e.fault("%s sends something else than it should: %d lines in a row could not be read.", e.program.Name, count))
	}
}

// dispatch brings a record to where it is handled. It does not block on the host.
func (e *Engine) dispatch(r *record) {
	switch r.typ {
	case "response":
		e.respond(r)
	case "extension_ui_request":
		e.uiRequest(r)
	case "bash_execution_update":
		e.bashOutput(r.string(fID), r.string(fDelta))
	case "ready":
		e.greeting(r)
	case "prompt_result":
		e.promptResult(r)
	case "notice", "command_output":
		e.show(r)
	default:
		e.watchRecord(r)
		e.backlog.add(r.size, func() { e.reportRecord(r) })
	}
}

// respond delivers a response. That of a prompt stays in the order of the events, because it separates the
// run from what was before.
func (e *Engine) respond(r *record) {
	e.mu.Lock()
	run := e.run
	e.mu.Unlock()
	id, a := r.string(fID), answerOf(r)
	if id == "" && a.failed && e.d.nameless {
		id, a.refusal = e.calls.nameless(r.string(fCommand), a.refusal)
	}
	e.calls.answered(id)
	switch {
	case run != nil && id == run.id:
		e.backlog.add(0, func() { run.answered(a) })
		return
	case e.decides(id):
		e.decide(r)
		return
	}
	if !e.calls.resolve(id, a) {
		e.log.Debug("a response that nothing waits for", zap.String("command", brief(r.string(fCommand), maxTitle)), zap.String("error", brief(r.string(fError), maxTitle)))
	}
}

// watch is what the reader knows of the tools that are running.
type watch struct {
	hello    *hello            // guarded by Engine.mu
	unasked  map[string]string // tools that have started without a question so far, by call; of the reader
	asked    map[string]bool   // calls that were asked for before they have started; of the reader
	tools    atomic.Int32      // calls that are running
	retrying atomic.Bool       // pi waits before another attempt
}

// watchRecord follows runs and tools by the lines. It is called by the reader.
//
// A tool is announced before it asks for permission. So it counts as a breach when there is a sign that it runs:
// output, or a result that is no failure. A failure alone may be the refusal of another extension.
func (e *Engine) watchRecord(r *record) {
	w, call := &e.watch, r.string(fToolCallID)
	switch r.typ {
	case "agent_end":
		e.watchEnd(r.typ)
	case "agent_start", "agent_settled":
		e.watchEnd(r.typ)
		e.mu.Lock()
		begins := r.typ == "agent_start"
		e.streams = begins
		if !begins {
			clear(e.denied)
		}
		e.mu.Unlock()
		if !begins {
			w.unasked, w.asked = nil, nil
			w.tools.Store(0)
		}
		w.retrying.Store(false)
	case "auto_retry_start":
		w.retrying.Store(true)
	case "tool_execution_start":
		w.tools.Add(1)
		e.noteStale(r)
		if !w.asked[call] && e.needsPermission(r.string(fToolName), r.object(fArgs)) {
			if w.unasked == nil {
				w.unasked = map[string]string{}
			}
			w.unasked[call] = r.string(fToolName)
		}
	case "tool_execution_update":
		e.checkPermission(call)
	case "tool_execution_end":
		w.tools.Add(-1)
		if !r.isTrue(fIsError) {
			e.checkPermission(call)
		}
		delete(w.unasked, call)
		delete(w.asked, call)
	}
}

// askedFor notes that a call was asked for, before or after its start: pi asks afterwards, omp before. It is called by the
// reader.
func (w *watch) askedFor(call string) {
	if _, started := w.unasked[call]; started {
		delete(w.unasked, call)
		return
	}
	if w.asked == nil || len(w.asked) >= maxAskedCalls {
		w.asked = map[string]bool{}
	}
	w.asked[call] = true
}

// needsPermission reports whether a call of a tool must be preceded by a question.
func (e *Engine) needsPermission(tool string, args json.RawMessage) bool {
	if !e.at.Permit {
		return false
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.watch.hello == nil || !e.watch.hello.own(tool) || !e.d.harmless(tool, args)
}

// checkPermission ends the engine if a tool runs that has not asked, or was denied.
func (e *Engine) checkPermission(call string) {
	tool, unasked := e.watch.unasked[call]
	if !unasked {
		e.mu.Lock()
		tool, unasked = e.denied[call]
		e.mu.Unlock()
	}
	if !unasked || !e.at.Permit {
		return
	}
	breach := e.fault("%s ran %s without permission. An extension may have run it.", e.program.Name, brief(tool, maxTitle)).With("reason", engine.ReasonBreach)
	e.failRun(breach)
}

// failRun ends the engine for a reason that is the outcome of the current run, too: what pi has sent already may still
// end that run well before pi ends. It is called by the reader.
func (e *Engine) failRun(reason error) {
	if r := e.current(); r != nil {
		r.fails(reason)
	}
	e.fail(reason)
}

// bridgeMessage reads a message of the bridge. Without an operation it is none.
func bridgeMessage(text string) (op string, raw json.RawMessage) {
	raw = json.RawMessage(text)
	if !json.Valid(raw) {
		return "", nil
	}
	op, _ = rawjson.GetString(raw, "op")
	return op, raw
}
