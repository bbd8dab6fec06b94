package loop

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
)

// Retry says how often a failed request is made again. The zero value is the default.
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

// delay returns how long to wait before the given attempt, counted from 1. What a service
// asks for goes before our own figure; more than the limit is an error, because nobody
// would know what is being waited for.
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
func Ask(ctx context.Context, retry Retry, emit func(Event), request func(context.Context) (provider.Provider, provider.Request, error)) (*provider.Message, error) {
	retry = retry.filled()
	for attempt := 0; ; {
		message, err := askOnce(ctx, request)
		var cause *provider.Error
		if err == nil || !errors.As(err, &cause) || !cause.Retryable() || retry.Disabled || attempt == retry.Attempts {
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

var errRetryCancelled = errors.New("The retry was cancelled.") //nolint:staticcheck // a sentence for the person

// endRetry shows what became of the retries, if there were any.
func endRetry(emit func(Event), attempt int, err error) {
	if attempt == 0 {
		return
	}
	end := Event{Type: RetryEnd, Success: new(err == nil), Attempt: attempt}
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
	return nil, &provider.Error{Class: provider.Truncated, Message: "The answer of " + req.Model.Ref().String() + " did not end."}
}

func retryStart(r Retry, attempt int, delay time.Duration, cause *provider.Error) Event {
	return Event{
		Type: RetryStart, Attempt: attempt, MaxAttempts: r.Attempts,
		DelayMs: delay.Milliseconds(), Reason: cause.Class, ErrorMessage: cause.Error(),
	}
}
