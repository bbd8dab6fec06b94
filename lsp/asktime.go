package lsp

import (
	"context"
	"errors"
	"time"

	"go.lsp.dev/protocol"
)

// errUnanswered is the error of a request that the client did not answer in time.
var errUnanswered = errors.New("the editor did not answer in time")

// answerTimes are the time limits for the client's answer, by method. 0 means no limit: the request
// is a question to the user, who may take hours, and ends with the command that asks.
var answerTimes = map[string]time.Duration{
	protocol.MethodWindowShowMessageRequest: 0,
	MethodApprove:                           0,
	MethodAsk:                               0,

	// The client may ask the user before it answers.
	MethodBeforeSwitch:  10 * time.Minute,
	MethodBeforeFork:    10 * time.Minute,
	MethodBeforeTree:    10 * time.Minute,
	MethodBeforeCompact: 10 * time.Minute,
	MethodBeforeRewind:  10 * time.Minute,

	MethodKey: 30 * time.Second, // the client may have to unlock its store first

	protocol.MethodWorkspaceApplyEdit:           30 * time.Second,
	MethodSave:                                  30 * time.Second, // it may be formatted
	protocol.MethodWorkspaceConfiguration:       configurationTime,
	protocol.MethodClientRegisterCapability:     configurationTime,
	protocol.MethodWindowWorkDoneProgressCreate: 2 * time.Second, // commands wait for it
}

const (
	// answerTime is the time limit of any other request.
	answerTime = 10 * time.Second

	// configurationTime is the time limit of the requests before the first command.
	configurationTime = 2 * time.Second

	// outsideTime is the time limit of showing a document outside the editor, which may ask the user
	// first.
	outsideTime = time.Minute
)

// timeFor returns the time limit of a request.
func timeFor(method string) time.Duration {
	if limit, ok := answerTimes[method]; ok {
		return limit
	}
	return answerTime
}

// answerWithin returns a context that ends after limit with the cause errUnanswered. A limit of 0
// means none.
func (s *server) answerWithin(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	if limit == 0 {
		return ctx, func() {}
	}
	within, cancel := context.WithCancelCause(ctx)
	stop := s.opts.Clock.AfterFunc(limit, func() { cancel(errUnanswered) })
	return within, func() {
		stop()
		cancel(nil)
	}
}
