package lsp

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"runtime/debug"
	"strings"
	"time"

	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/protocol"
	"go.uber.org/zap"

	"github.com/xcsh-ls/xcsh-ls/lsp/conn"
)

// handle is the connection's handler. It runs on the goroutine that reads, for one message after the
// other. Notifications are handled there and must neither block nor call the client. Requests leave
// that goroutine after they are registered, so that a later $/cancelRequest finds them.
//
// It never returns an error for a notification and never panics, because either would close the
// connection.
func (s *server) handle(ctx context.Context, req *jsonrpc2.Request) (any, error) {
	if s.state.is(phaseRunning) {
		s.start()
	}
	method := strings.Clone(req.Method()) // req is reused after handle returns
	if !req.IsCall() {
		s.notification(method, json.RawMessage(req.Params()))
		return nil, nil
	}
	res, err := s.request(ctx, method, req)
	if err != nil {
		if body, ok := res.(conn.Body); ok {
			_ = body.Close() // the request was cancelled when its result was complete
		}
		return nil, conn.WireError(err)
	}
	return res, nil
}

// notification handles one notification. Errors go to the log.
func (s *server) notification(method string, params json.RawMessage) {
	r, ok := s.routes[method]
	switch {
	case !ok && strings.HasPrefix(method, "$/"): // optional by definition
		return
	case !ok || r.notify == nil:
		s.log.Debug("ignored a notification", zap.String("method", conn.Printable(method)))
		return
	case s.state.is(phaseNew) && !r.always, s.state.is(phaseStopping) && !r.always:
		s.log.Debug("ignored a notification outside the session", zap.String("method", method))
		return
	}
	err := s.guarded(method, func() error { return r.notify(orNull(params)) })
	if err != nil {
		s.log.Warn("a notification could not be handled", zap.String("method", method), zap.Error(err))
	}
}

// request handles one request and returns its result.
func (s *server) request(ctx context.Context, method string, req *jsonrpc2.Request) (res any, err error) {
	if err := s.state.admit(method); err != nil {
		return nil, err
	}
	r, ok := s.routes[method]
	if !ok || r.call == nil {
		return nil, methodError(method, ok)
	}
	if method == protocol.MethodShutdown { // it waits for the other requests, so it is not counted
		jsonrpc2.Async(ctx)
		return nil, s.guarded(method, s.shutdown)
	}
	c, ok := s.calls.Begin(s.work, req.ID(), conn.IsAbort(method, req.Params()))
	if !ok {
		return nil, busyError(s.opts.MaxInFlight)
	}
	defer s.calls.End(c)
	defer s.memory.Begin()()
	if !r.inline {
		jsonrpc2.Async(ctx)
	}
	start := time.Now()
	err = s.guarded(method, func() error {
		res, err = r.call(c.Context(), orNull(req.Params()))
		return err
	})
	s.progress.endAll(c)
	// The notifications of the work reach the client before the answer.
	s.conn.Flush(context.WithoutCancel(c.Context()))
	s.log.Debug("request", zap.String("method", method), zap.Duration("took", time.Since(start)), zap.Error(err))
	return res, s.cancelled(c, method, err)
}

// guarded runs f and turns a panic into an error. The stack goes only to the log.
func (s *server) guarded(what string, f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			s.logPanic(what, p)
			err = panicError(what)
		}
	}()
	return f()
}

// recoverPanic is deferred by goroutines whose panics must not end the process.
func (s *server) recoverPanic(what string) {
	if p := recover(); p != nil {
		s.logPanic(what, p)
	}
}

func (s *server) logPanic(what string, p any) {
	s.log.Error("panic", zap.String("in", what), zap.String("value", fmt.Sprint(p)), zap.ByteString("stack", debug.Stack()))
}

// orNull replaces absent parameters by the JSON null, which every decoder accepts.
func orNull(params []byte) json.RawMessage {
	if len(bytes.TrimSpace(params)) == 0 {
		return json.RawMessage("null")
	}
	return params
}
