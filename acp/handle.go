package acp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"

	"go.uber.org/zap"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

// handler answers a request. The messages in then are sent directly after the response.
type handler func(ctx context.Context, s *server, c *call, params json.RawMessage) (result any, then []any, err error)

// handlers are the requests that are valid once the connection is initialized.
var handlers = map[string]handler{
	methodAuthenticate: typed(methodAuthenticate, (*server).authenticate),
	methodNew:          typed(methodNew, (*server).newSession),
	methodLoad:         typed(methodLoad, (*server).loadSession),
	methodResume:       typed(methodResume, (*server).resumeSession),
	methodFork:         typed(methodFork, (*server).forkSession),
	methodList:         typed(methodList, (*server).listSessions),
	methodDelete:       typed(methodDelete, (*server).deleteSession),
	methodClose:        typed(methodClose, (*server).closeSession),
	methodPrompt:       typed(methodPrompt, (*server).prompt),
	methodSetMode:      typed(methodSetMode, (*server).setMode),
	methodSetOption:    typed(methodSetOption, (*server).setOption),
}

// typed returns a handler that decodes the parameters of a method.
func typed[P, R any](method string, run func(*server, context.Context, *call, P) (R, []any, error)) handler {
	return func(ctx context.Context, s *server, c *call, params json.RawMessage) (any, []any, error) {
		p, err := decodeParams[P](method, params)
		if err != nil {
			return nil, nil, err
		}
		return run(s, ctx, c, p)
	}
}

// handle processes one line of the client. It blocks only while the client does not read.
func (s *server) handle(line []byte) {
	m, id, wrong := parse(line)
	switch {
	case wrong != nil:
		s.log.Warn("the client sent an invalid message", zap.Error(wrong))
		s.conn.respond(id, nil, wrong)
		s.admission.wait(s.ctx.Done()) // stop reading from a client that sends invalid messages and does not read
	case m.Method == "":
		if !s.conn.Answered(m) {
			s.log.Debug("response to an unknown request", zap.ByteString("id", m.ID))
		}
	case m.ID == nil:
		s.notified(m.Method, m.Params)
	default:
		s.admission.add(m, s.ctx.Done())
	}
}

// notified processes a notification. Unknown ones are ignored, as the protocol requires.
func (s *server) notified(method string, params json.RawMessage) {
	switch method {
	case methodCancel:
		if p, err := decodeParams[sessionParams](method, params); err == nil {
			s.cancelHeld(promptOf(p.SessionID))
			s.calls.cancelPrompts(p.SessionID)
			return
		}
	case methodCancelCall:
		var p struct {
			RequestID json.RawMessage `json:"requestId"`
		}
		if json.Unmarshal(params, &p) == nil {
			s.cancelHeld(withID(p.RequestID))
			s.calls.cancelCall(p.RequestID)
			return
		}
	}
	s.log.Debug("notification ignored", zap.String("method", method))
}

// request begins to process a request.
func (s *server) request(m envelope) {
	if m.Method == methodInitialize {
		result, err := s.initialize(m.Params)
		s.conn.respond(m.ID, result, err)
		return
	}
	h, known := handlers[m.Method]
	switch {
	case !known:
		s.conn.respond(m.ID, nil, refusal(codeNoMethod, "methodNotFound", "The method %q is not supported.", fault.OneLine(m.Method)))
		return
	case !s.client.initialized:
		s.conn.respond(m.ID, nil, refusal(codeInvalidRequest, "notInitialized", "%s was sent before initialize.", m.Method))
		return
	}
	var about sessionParams
	_ = json.Unmarshal(m.Params, &about) // handlers report a missing id
	if m.Method == methodClose || m.Method == methodDelete {
		s.calls.cancelPrompts(about.SessionID)
	}
	ctx, c, ok := s.calls.begin(s.ctx, m.ID, m.Method, about.SessionID, s.opts.MaxInFlight)
	if !ok {
		s.conn.respond(m.ID, nil, fault.New(fault.Busy, "Too many requests are running, or one with this id is already running. Try again later."))
		return
	}
	go s.answer(ctx, c, h, m.Params)
}

// answer runs a request when its turn comes and answers it.
func (s *server) answer(ctx context.Context, c *call, h handler, params json.RawMessage) {
	defer s.calls.end(c)
	defer s.memory.Begin()()
	result, then, err := s.guarded(ctx, c, h, params)
	if err != nil && fault.KindOf(err) == fault.Internal && errors.Is(err, context.Canceled) {
		err = fault.New(fault.Cancelled, "%s was cancelled.", c.method)
		if errors.Is(context.Cause(ctx), errStopping) {
			err = fault.New(fault.Cancelled, "%s was cancelled because the server is stopping.", c.method)
		}
	}
	s.calls.free(c)
	s.conn.respond(c.id, result, err, then...)
	if err == nil && c.after != nil {
		c.after()
	}
}

// guarded recovers from a panic in a handler, so that only the request fails and not the process with
// every open session.
func (s *server) guarded(ctx context.Context, c *call, h handler, params json.RawMessage) (result any, then []any, err error) {
	defer func() {
		if p := recover(); p != nil {
			s.log.Error("a request failed unexpectedly", zap.String("method", c.method), zap.Any("panic", p), zap.ByteString("stack", debug.Stack()))
			result, then, err = nil, nil, fault.New(fault.Internal, "The server failed in %s. Its log has the details.", c.method)
		}
	}()
	if err := c.turn(ctx); err != nil {
		if c.method == methodPrompt {
			return promptResult{StopReason: stopCancelled}, nil, nil
		}
		return nil, nil, fmt.Errorf("%s: %w", c.method, err)
	}
	return h(ctx, s, c, params)
}
