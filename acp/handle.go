package acp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"

	"go.uber.org/zap"

	"github.com/xcsh-ls/xcsh-ls/session/fault"
)

// handler answers a request. The messages of then are sent right behind the answer.
type handler func(ctx context.Context, s *server, c *call, params json.RawMessage) (result any, then []any, err error)

// handlers are the requests that can be made once the connection is initialized.
var handlers = map[string]handler{
	methodAuthenticate: handleAuthenticate,
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

// typed makes a handler of a method over its parameters.
func typed[P, R any](method string, run func(*server, context.Context, *call, P) (R, []any, error)) handler {
	return func(ctx context.Context, s *server, c *call, params json.RawMessage) (any, []any, error) {
		p, err := decodeParams[P](method, params)
		if err != nil {
			return nil, nil, err
		}
		return run(s, ctx, c, p)
	}
}

// handleAuthenticate has nothing to do: no method is offered, keys are where the programs keep
// them.
func handleAuthenticate(context.Context, *server, *call, json.RawMessage) (any, []any, error) {
	return struct{}{}, nil, nil
}

// handle deals with one line of the client. It does not wait.
func (s *server) handle(line []byte) {
	m, id, wrong := parse(line)
	switch {
	case wrong != nil:
		s.log.Warn("the client sent what is no message", zap.Error(wrong))
		s.conn.respond(id, nil, wrong)
	case m.Method == "":
		if !s.conn.answered(m) {
			s.log.Debug("an answer that nobody waits for", zap.ByteString("id", m.ID))
		}
	case m.ID == nil:
		s.notified(m.Method, m.Params)
	default:
		s.request(m)
	}
}

// notified obeys a notification. One that is not known is passed over, as the protocol wants.
func (s *server) notified(method string, params json.RawMessage) {
	switch method {
	case methodCancel:
		if p, err := decodeParams[sessionParams](method, params); err == nil {
			s.calls.cancelPrompts(p.SessionID)
			return
		}
	case methodCancelCall:
		var p struct {
			RequestID json.RawMessage `json:"requestId"`
		}
		if json.Unmarshal(params, &p) == nil {
			s.calls.cancelCall(p.RequestID)
			return
		}
	}
	s.log.Debug("notification ignored", zap.String("method", method))
}

// request begins to handle a request.
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
		s.conn.respond(m.ID, nil, refusal(codeInvalidRequest, "notInitialized", "%s came before initialize.", m.Method))
		return
	}
	var about sessionParams
	_ = json.Unmarshal(m.Params, &about) // whoever needs it says so
	if m.Method == methodClose || m.Method == methodDelete {
		s.calls.cancelPrompts(about.SessionID)
	}
	ctx, c, ok := s.calls.begin(s.ctx, m.ID, m.Method, about.SessionID, s.opts.MaxInFlight)
	if !ok {
		s.conn.respond(m.ID, nil, fault.New(fault.Busy, "Too many requests are under way, or one with this id is; try again when it is answered."))
		return
	}
	go s.answer(ctx, c, h, m.Params)
}

// answer carries out a request when it is its turn, and answers it.
func (s *server) answer(ctx context.Context, c *call, h handler, params json.RawMessage) {
	defer s.calls.end(c)
	result, then, err := s.guarded(ctx, c, h, params)
	if err != nil && fault.KindOf(err) == fault.Internal && errors.Is(err, context.Canceled) {
		err = fault.New(fault.Cancelled, "%s was cancelled.", c.method)
		if errors.Is(context.Cause(ctx), errStopping) {
			err = fault.New(fault.Cancelled, "%s was cancelled because the server is stopping.", c.method)
		}
	}
	s.calls.free(c)
	s.conn.respond(c.id, result, err, then...)
}

// guarded lets a panic cost the request and not the process, with every open session in it.
func (s *server) guarded(ctx context.Context, c *call, h handler, params json.RawMessage) (result any, then []any, err error) {
	defer func() {
		if p := recover(); p != nil {
			s.log.Error("a request failed unexpectedly", zap.String("method", c.method), zap.Any("panic", p), zap.ByteString("stack", debug.Stack()))
			result, then, err = nil, nil, fault.New(fault.Internal, "The server failed in %s; its log says how.", c.method)
		}
	}()
	if err := c.turn(ctx); err != nil {
		if c.method == methodPrompt {
			return promptResult{stopCancelled}, nil, nil
		}
		return nil, nil, fmt.Errorf("%s: %w", c.method, err)
	}
	return h(ctx, s, c, params)
}
