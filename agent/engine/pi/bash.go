package pi

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/xcsh-ls/xcsh-ls/agent/event"
	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
)

// output is the output of a command of the user so far.
type output struct {
	mu   sync.Mutex
	text string // guarded by mu
	more chan struct{}
}

func (o *output) add(delta string) {
	o.mu.Lock()
	o.text += delta
	if over := len(o.text) - maxBash; over > 0 {
		o.text = strings.ToValidUTF8(o.text[over:], "")
	}
	o.mu.Unlock()
	signal(o.more)
}

func (o *output) get() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text
}

// bashOutput adds to the output of a command. It is called by the reader.
func (e *Engine) bashOutput(id, delta string) {
	e.mu.Lock()
	o := e.bash[id]
	e.mu.Unlock()
	if o != nil {
		o.add(delta)
	}
}

// savedBash is the message of a command that pi records at the end of the run.
type savedBash struct {
	command string
	since   string // the leaf before
	message json.RawMessage
}

// Bash implements [engine.Engine]. The end of ctx stops the command, which is recorded too. The message is reported when pi has
// recorded it, which may be at the end of the run; its time may differ then from that of the returned one.
func (e *Engine) Bash(ctx context.Context, command string, exclude bool, update func(output string)) (json.RawMessage, error) {
	if err := e.usable(); err != nil {
		return nil, err
	}
	if !e.d.entries {
		return nil, e.deny("%s runs no commands of the user.", e.program.Name)
	}
	id, response := e.calls.add()
	defer e.calls.drop(id)
	o := &output{more: make(chan struct{}, 1)}
	e.mu.Lock()
	e.bash[id] = o
	since := e.leaf
	e.mu.Unlock()
	defer func() {
		e.mu.Lock()
		delete(e.bash, id)
		e.mu.Unlock()
	}()
	if err := e.send(ctx, "bash", id, object{"command": command, "excludeFromContext": exclude}); err != nil {
		return nil, err
	}
	raw, err := e.awaitBash(ctx, o, response, update)
	if err != nil {
		return nil, err
	}
	saved := savedBash{command: command, since: since, message: bashMessage(command, raw, exclude, time.Now())}
	e.mu.Lock()
	if e.run != nil {
		e.unsaved = append(e.unsaved, saved)
		e.mu.Unlock()
		return saved.message, nil
	}
	e.mu.Unlock()
	return e.reportBash(saved), nil
}

// awaitBash waits for the end of a command and passes on its output.
func (e *Engine) awaitBash(ctx context.Context, o *output, response <-chan answer, update func(string)) (json.RawMessage, error) {
	stopped := ctx.Done()
	var late <-chan time.Time
	for {
		select {
		case a := <-response:
			return a.result(e.program.Name)
		case <-o.more:
			if update != nil {
				update(o.get())
			}
		case <-stopped:
			stopped = nil
			late = time.After(abortLimit)
			e.task(func() { _, _ = e.call(e.ctx, "abort_bash", nil, answerLimit) })
		case <-late:
			e.fail(e.fault("%s did not stop the command, so it was ended.", e.program.Name))
			late = nil
		case <-e.gone:
			return nil, e.failure()
		}
	}
}

// bashMessage returns the message in the form in which pi records it.
func bashMessage(command string, result json.RawMessage, exclude bool, now time.Time) json.RawMessage {
	m := new(rawjson.Object).String("role", "bashExecution").String("command", command)
	for _, name := range []string{"output", "exitCode", "cancelled", "truncated", "fullOutputPath"} {
		if v := rawjson.Get(result, name); v != nil {
			m.Raw(name, v)
		}
	}
	m.Raw("timestamp", strconv.AppendInt(nil, now.UnixMilli(), 10))
	return m.Raw("excludeFromContext", strconv.AppendBool(nil, exclude)).Bytes()
}

// recordBash reports the commands whose messages waited for the end of the run.
func (e *Engine) recordBash() {
	e.mu.Lock()
	unsaved := e.unsaved
	e.unsaved = nil
	e.mu.Unlock()
	for _, saved := range unsaved {
		e.reportBash(saved)
	}
}

// reportBash reports the message of a command as pi has recorded it, and returns it. If it is not found, the one that
// was made here is reported without an entry.
func (e *Engine) reportBash(saved savedBash) (message json.RawMessage) {
	e.recording.Lock()
	defer e.recording.Unlock()
	message = e.recordedBashLocked(saved)
	reported := make(chan struct{})
	e.backlog.add(0, func() {
		if message != nil {
			e.host.Message(e.ctx, message)
		} else {
			e.host.Emit(event.BashEnd{Message: saved.message})
		}
		close(reported)
	})
	select {
	case <-reported:
	case <-e.done: // nothing is reported in order any more
		e.host.Emit(event.BashEnd{Message: saved.message})
	}
	if message == nil {
		message = saved.message
	}
	return message
}

// recordedBashLocked finds the message of a command in pi's entries: the first one after the known leaf that was not
// found before. Before the first prompt they are in no file, so that they are not looked for.
func (e *Engine) recordedBashLocked(saved savedBash) (found json.RawMessage) {
	e.mu.Lock()
	written := e.written
	e.mu.Unlock()
	if !written || e.usable() != nil {
		return nil
	}
	args := object{}
	if saved.since != "" {
		args["since"] = saved.since
	}
	raw, err := e.call(e.ctx, "get_entries", args, answerLimit)
	if err != nil {
		return nil
	}
	entryID := ""
	rawjson.Elements(rawjson.Get(raw, "entries"), func(v []byte) bool {
		m := rawjson.Get(v, "message")
		id, _ := rawjson.GetString(v, "id")
		role, _ := rawjson.GetString(m, "role")
		command, _ := rawjson.GetString(m, "command")
		if role == "bashExecution" && command == saved.command && !e.recorded[id] {
			found, entryID = m, id
		}
		return found == nil || saved.since == ""
	})
	if found != nil {
		e.recorded[entryID] = true
	}
	return found
}
