package pi

import (
	"encoding/json"

	"go.uber.org/zap"

	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
)

// report is the state of the goroutine that reports to the host. Only that goroutine uses it.
type report struct {
	held    []json.RawMessage // custom messages that the file gets with the first prompt
	unknown map[string]int    // records of unknown types
	gone    bool              // pi is in another session
}

// reportRecord reports a record to the host.
func (e *Engine) reportRecord(r *record) {
	if e.report.gone {
		return
	}
	effect, known := translate(r)
	if !known {
		e.countUnknown(r.typ)
		return
	}
	switch {
	case effect.message != nil:
		e.reportMessage(effect.message)
	case effect.event != nil && !e.ownError(r):
		e.host.Emit(effect.event)
	case effect.queue != nil:
		e.host.Queued(effect.queue.steering, effect.queue.followUp)
	}
	run := e.current()
	if run == nil {
		return
	}
	run.follow(r, effect)
	if effect.message != nil && !e.d.clears {
		if text, said := userText(effect.message); said {
			run.dequeue(text)
		}
	}
}

// ownError reports whether a record is the failure of a command of the bridge, which is reported to its caller.
func (e *Engine) ownError(r *record) bool {
	return r.typ == "extension_error" && r.string(fExtension) != "" && isOwnCommand(r.string(fExtension))
}

// reportMessage publishes the end of a message when it is in the file. pi writes nothing before the first message
// of a user, so custom messages of a new session wait for that, and omp may write nothing before the first answer.
func (e *Engine) reportMessage(message json.RawMessage) {
	role, _ := rawjson.GetString(message, "role")
	if !e.isWritten(role) {
		if len(e.report.held) < maxHeld {
			e.report.held = append(e.report.held, message)
		}
		return
	}
	held := e.report.held
	e.report.held = nil
	for _, m := range held {
		e.host.Message(e.ctx, m)
	}
	e.host.Message(e.ctx, message)
}

// countUnknown logs each unknown type once.
func (e *Engine) countUnknown(typ string) {
	r := &e.report
	if r.unknown == nil {
		r.unknown = map[string]int{}
	}
	if _, seen := r.unknown[typ]; !seen && len(r.unknown) >= maxTypes {
		return
	}
	if r.unknown[typ]++; r.unknown[typ] == 1 {
		e.log.Info("a record of an unknown type", zap.String("engine", e.program.Name), zap.String("type", brief(typ, maxTitle)))
	}
}

// leave reports that pi is in another session. Nothing more is reported about that one.
func (e *Engine) leave(path string) {
	if e.report.gone {
		return
	}
	e.report.gone = true
	e.mu.Lock()
	e.left = true
	e.mu.Unlock()
	e.host.Left(path)
	if run := e.current(); run != nil {
		run.finish()
	}
}

// moved reports where the leaf is.
func (e *Engine) moved(leafID string) {
	if e.report.gone {
		return
	}
	e.setLeaf(leafID)
	e.host.Leaf(leafID)
}

func (e *Engine) setLeaf(leafID string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.leaf = leafID
}

// flush waits until everything that has been read so far is reported.
func (e *Engine) flush() {
	reported := make(chan struct{})
	e.backlog.add(0, func() { close(reported) })
	select {
	case <-reported:
	case <-e.done:
	}
}
