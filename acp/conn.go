package acp

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/xcsh-ls/xcsh-ls/acp/wire"
)

func notification(method string, params any) outgoing { return wire.Notification(method, params) }

// conn sends to the client and matches its responses to requests.
type conn struct {
	*wire.Conn
	out *outbox
}

// answerTime is the time that the client has to read or write a file.
const answerTime = 30 * time.Second

// errSilent is the error of a request that the client did not answer in time.
var errSilent = errors.New("the editor did not answer in time")

var errGone = errors.New("the client disconnected")

func newConn(out *outbox) *conn {
	return &conn{out: out, Conn: wire.NewConn(wire.Options{
		Put: func(m outgoing) { out.put(m) },
		Limit: func(method string) time.Duration {
			if method == methodPermission || method == methodElicit {
				return 0 // the user may take hours
			}
			return answerTime
		},
		Silent: errSilent,
		Gone:   errGone,
	})}
}

// call sends a request to the client and waits for the response, as described for [wire.Conn.Call].
func (c *conn) call(ctx context.Context, method string, params, result any) error {
	return c.Call(ctx, method, params, result)
}

// respond answers a request of the client and sends the updates in then directly after the response.
func (c *conn) respond(id json.RawMessage, result any, err error, then ...any) {
	if err != nil {
		c.out.put(outgoing{JSONRPC: "2.0", ID: id, Error: toWire(err)})
		return
	}
	c.out.put(append([]any{outgoing{JSONRPC: "2.0", ID: id, Result: result}}, then...)...)
}

// update sends an update of a session.
func (c *conn) update(sessionID string, update any) { c.out.put(updateOf(sessionID, update)) }

func updateOf(sessionID string, update any) outgoing {
	return notification(methodUpdate, updateParams{sessionID, update})
}
