package loop

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/xcsh-ls/xcsh-ls/agent/event"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
)

// Retry configures the retries of a failed request. The zero value is the default.
type Retry struct {
	Disabled bool
	Attempts int           // after the first; 0 means 3
	Base     time.Duration // before the first retry, doubled for each further one; 0 means 2 s
	Limit    time.Duration // the longest wait; 0 means a minute
}

func (r Retry) filled() Retry {
	if r.Attempts == 0 {
		r.Attempts = 3
	}
	if r.Base == 0 {
		r.Base = 2 * time.Second
	}
	if r.Limit == 0 {
		r.Limit = time.Minute
	}
	return r
}

// attempts returns how often a request that failed for this cause is repeated. An overload is
// waited out for two minutes with the default delays. An answer that is empty again will stay so.
func (r Retry) attempts(cause *provider.Error) int {
	const overload = 6 // 2 + 4 + 8 + 16 + 32 + 60 seconds
	switch cause.Class {
	case provider.Overloaded:
		return max(r.Attempts, overload)
	case provider.Empty:
		return 1
	default:
		return r.Attempts
	}
}

// delay returns how long to wait before the given attempt, counted from 1. The delay that a
// service asks for takes precedence; one beyond the limit is an error, because a user would not
// expect such a wait.
func (r Retry) delay(attempt int, cause *provider.Error) (time.Duration, error) {
	if cause.RetryAfter > r.Limit {
		return 0, fmt.Errorf("%w; the service asks to wait %s, which is more than the limit of %s",
			cause, cause.RetryAfter.Round(time.Second), r.Limit)
	}
	if cause.RetryAfter > 0 {
		return cause.RetryAfter, nil
	}
	return min(r.Base<<(attempt-1), r.Limit), nil
}

// sleep waits for d or the end of ctx.
func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Ask makes one request beside a conversation, again as often as retry allows, and returns
// the answer. Retries are shown through emit.
func Ask(ctx context.Context, retry Retry, emit func(event.Event), request func(context.Context) (provider.Provider, provider.Request, error)) (*provider.Message, error) {
	retry = retry.filled()
	for attempt := 0; ; {
		message, err := askOnce(ctx, request)
		var cause *provider.Error
		if err == nil || !errors.As(err, &cause) || !cause.Retryable() || retry.Disabled || attempt >= retry.attempts(cause) {
			endRetry(emit, attempt, err)
			return message, err
		}
		delay, err := retry.delay(attempt+1, cause)
		if err != nil {
			endRetry(emit, attempt, err)
			return nil, err
		}
		attempt++
		emit(retryStart(retry, attempt, delay, cause))
		if err := sleep(ctx, delay); err != nil {
			endRetry(emit, attempt, errRetryCancelled)
			return nil, err
		}
	}
}

var errRetryCancelled = errors.New("The retry was cancelled.") //nolint:staticcheck // a sentence for the user

// endRetry publishes the result of the retries, if there were any.
func endRetry(emit func(event.Event), attempt int, err error) {
	if attempt == 0 {
		return
	}
	end := event.RetryEnd{Success: err == nil, Attempt: attempt}
	if err != nil {
		end.ErrorMessage = err.Error()
	}
	emit(end)
}

func askOnce(ctx context.Context, request func(context.Context) (provider.Provider, provider.Request, error)) (*provider.Message, error) {
	service, req, err := request(ctx)
	if err != nil {
		return nil, err
	}
	for e := range service.Stream(ctx, req) {
		switch e.Kind {
		case provider.Done:
			return e.Message, nil
		case provider.Failed:
			return nil, e.Err
		}
	}
	return nil, &provider.Error{Class: provider.Truncated, Message: "The response from " + req.Model.Ref().String() + " ended early."}
}

func retryStart(r Retry, attempt int, delay time.Duration, cause *provider.Error) event.RetryStart {
	return event.RetryStart{
		Attempt: attempt, MaxAttempts: r.attempts(cause),
		DelayMs: delay.Milliseconds(), Reason: cause.Class, ErrorMessage: cause.Error(),
	}
}
