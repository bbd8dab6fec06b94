package pi

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

// object is a command of RPC.
type object map[string]any

// answer is the response to a command.
type answer struct {
	data    json.RawMessage // of a success
	refusal string          // of a failure
	failed  bool
}

// calls are the commands that wait for their responses.
type calls struct {
	mu      sync.Mutex
	last    int                      // guarded by mu
	waiting map[string]chan<- answer // guarded by mu
	sent    []sentCommand            // not answered, in order; kept for a program that leaves out ids; guarded by mu

	sending sync.Mutex // held while a command is noted and written
}

// sentCommand is a command that was sent.
type sentCommand struct{ id, typ string }

// maxSent bounds the commands that are kept. The answers to older ones are lost.
const maxSent = 256

// note notes a command that is sent.
func (c *calls) note(id, typ string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.sent = append(c.sent, sentCommand{id, typ}); len(c.sent) > maxSent {
		c.sent = c.sent[1:]
	}
}

// answered forgets a command that was answered.
func (c *calls) answered(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sent = slices.DeleteFunc(c.sent, func(s sentCommand) bool { return s.id == id })
}

// parseFailure begins the text with which xcsh reports the failure of any command.
const parseFailure = "Failed to parse command: "

// nameless returns the command that a refusal without an id belongs to, "" if there is none, and the reason. The refusal names
// the type of an unknown command. For each other failure it says that a line could not be parsed; as commands run one
// after the other, it is the oldest one's.
func (c *calls) nameless(typ, refusal string) (id, reason string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range c.sent {
		if s.typ == typ || typ == "parse" {
			return s.id, strings.TrimPrefix(refusal, parseFailure)
		}
	}
	return "", refusal
}

// add returns the id of a new command and the channel of its response.
func (c *calls) add() (id string, response <-chan answer) {
	ch := make(chan answer, 1)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last++
	id = "x" + strconv.Itoa(c.last)
	if c.waiting == nil {
		c.waiting = map[string]chan<- answer{}
	}
	c.waiting[id] = ch
	return id, ch
}

// drop forgets a command. A late response is ignored.
func (c *calls) drop(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.waiting, id)
}

// resolve delivers a response. It reports false if no command waits for it. It never blocks.
func (c *calls) resolve(id string, a answer) bool {
	c.mu.Lock()
	ch, ok := c.waiting[id]
	delete(c.waiting, id)
	c.mu.Unlock()
	if ok {
		ch <- a
	}
	return ok
}

func answerOf(r *record) answer {
	return answer{data: r.raw(fData), failed: !r.isTrue(fSuccess), refusal: r.string(fError)}
}

// call sends a command and waits for its response: for limit, 0 for as long as it takes. A response that does
// not come is a Provider error; if pi does not answer another command either, the engine is ended.
func (e *Engine) call(ctx context.Context, typ string, args object, limit time.Duration) (json.RawMessage, error) {
	id, response := e.calls.add()
	defer e.calls.drop(id)
	if err := e.send(ctx, typ, id, args); err != nil {
		return nil, err
	}
	var late <-chan time.Time
	if limit > 0 {
		timer := time.NewTimer(limit)
		defer timer.Stop()
		late = timer.C
	}
	select {
	case a := <-response:
		return a.result(e.program.Name)
	case <-late:
		return nil, e.silent(typ)
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-e.gone:
		return nil, e.failure()
	}
}

// result returns the data of a success, or the refusal as an error.
func (a answer) result(name string) (json.RawMessage, error) {
	if !a.failed {
		return a.data, nil
	}
	return nil, refused(name, a.refusal)
}

// silent handles a command that was not answered in time: its response may have been lost in a line that another
// program wrote into, or pi is stuck.
func (e *Engine) silent(typ string) error {
	lost := fault.New(fault.Provider, "%s did not answer %s.", e.program.Name, typ).With("class", "engine")
	id, response := e.calls.add()
	defer e.calls.drop(id)
	timer := time.NewTimer(answerLimit)
	defer timer.Stop()
	if err := e.send(context.Background(), "get_state", id, nil); err != nil {
		return err
	}
	select {
	case <-response:
		return lost
	case <-timer.C:
		e.fail(e.fault("%s does not answer any more.", e.program.Name))
		return lost
	case <-e.gone:
		return e.failure()
	}
}

// send writes a command. It returns when the line is queued for writing.
func (e *Engine) send(ctx context.Context, typ, id string, args object) error {
	command := object{"type": typ, "id": id}
	maps.Copy(command, args)
	if e.d.nameless {
		e.calls.sending.Lock()
		defer e.calls.sending.Unlock()
		e.calls.note(id, typ)
	}
	return e.write(ctx, command)
}

// write queues a line. It blocks while pi does not read, but only until the engine is ended for that.
func (e *Engine) write(ctx context.Context, message object) error {
	line, err := json.Marshal(message)
	if err != nil {
		return err
	}
	select {
	case e.out <- line:
		return nil
	case <-e.gone:
		return e.failure()
	case <-ctx.Done():
		return ctx.Err()
	}
}

// writing writes the queued lines. A child that does not read is ended by its writer.
func (e *Engine) writing() {
	for {
		select {
		case line := <-e.out:
			if err := e.proc.Write(e.ctx, line); err != nil {
				return // the child ends, or has ended
			}
		case <-e.gone:
			return
		}
	}
}
