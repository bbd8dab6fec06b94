package loop

import (
	"cmp"
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
	Attempts int           // after the first; 0 means 3, and for an overload as many as fill two minutes
	Base     time.Duration // before the first retry, doubled for each further one; 0 means 2 s
	Limit    time.Duration // the longest wait; 0 means a minute, and two for an overload
}

// The defaults.
const (
	defaultAttempts = 3
	defaultBase     = 2 * time.Second
	defaultLimit    = time.Minute
	overloadTime    = 2 * time.Minute // how long an overload is waited for at least
)

// attempts returns how often a request that failed for this cause is repeated.
func (r Retry) attempts(cause *provider.Error) int {
	switch {
	case r.Attempts > 0:
		return r.Attempts
	case cause.Class == provider.Overloaded:
		return r.overloadAttempts()
	default:
		return defaultAttempts
	}
}

// overloadAttempts returns the number of waits that fill overloadTime with the default delays, or
// with shorter ones if the limit is lower.
//
// Differs: an overload is waited for longer than other failures. The originals make the same number
// of attempts, which end after 14 seconds.
func (r Retry) overloadAttempts() (n int) {
	longest := max(cmp.Or(r.Limit, defaultLimit), time.Second)
	for total := time.Duration(0); total < overloadTime; n++ {
		total += backoff(defaultBase, n+1, longest)
	}
	return n
}

// backoff returns the delay before the given attempt, counted from 1.
func backoff(base time.Duration, attempt int, longest time.Duration) time.Duration {
	d := base
	for range attempt - 1 {
		if d >= longest {
			break
		}
		d *= 2
	}
	return min(d, longest)
}

// delay returns how long to wait before the given attempt, counted from 1. The delay that a
// service asks for takes precedence; one beyond the limit is an error, because a user would not
// expect such a wait. During an overload it only prolongs the wait, so that a service that asks for
// short delays is not given up earlier than one that asks for none.
func (r Retry) delay(attempt int, cause *provider.Error) (time.Duration, error) {
	own := backoff(cmp.Or(r.Base, defaultBase), attempt, cmp.Or(r.Limit, defaultLimit))
	limit := cmp.Or(r.Limit, defaultLimit)
	if cause.Class == provider.Overloaded {
		limit = cmp.Or(r.Limit, overloadTime)
	}
	switch {
	case cause.RetryAfter > limit:
		return 0, fmt.Errorf("%w; the service asks to wait %s, which is more than the limit of %s",
			cause, cause.RetryAfter.Round(time.Second), limit)
	case cause.RetryAfter == 0:
		return own, nil
	case cause.Class == provider.Overloaded:
		return max(own, cause.RetryAfter), nil
	default:
		return cause.RetryAfter, nil
	}
}

// tries counts the repetitions of one request.
type tries struct {
	count int
	empty bool // one of them was made because the answer was empty
}

// next counts another repetition and returns the event that announces it. It returns an error, the
// failure or more, if there must be none.
func (t *tries) next(r Retry, failure error) (event.RetryStart, error) {
	var cause *provider.Error
	if !errors.As(failure, &cause) || !cause.Retryable() || r.Disabled || t.count >= r.attempts(cause) {
		return event.RetryStart{}, failure
	}
	if cause.Class == provider.Empty && t.empty {
		return event.RetryStart{}, failure // an answer that is empty again stays so
	}
	delay, err := r.delay(t.count+1, cause)
	if err != nil {
		return event.RetryStart{}, err
	}
	t.count++
	last := r.attempts(cause)
	if cause.Class == provider.Empty {
		t.empty, last = true, t.count
	}
	return event.RetryStart{
		Attempt: t.count, MaxAttempts: last,
		DelayMs: delay.Milliseconds(), Reason: cause.Class, ErrorMessage: cause.Error(),
	}, nil
}

// end publishes the result of the repetitions, if there were any, and resets the counts.
func (t *tries) end(emit func(event.Event), err error) {
	if t.count == 0 {
		return
	}
	end := event.RetryEnd{Success: err == nil, Attempt: t.count}
	if err != nil {
		end.ErrorMessage = err.Error()
	}
	*t = tries{}
	emit(end)
}

// pause announces a repetition and waits for it. It returns the error of ctx if that ends first.
func pause(ctx context.Context, e event.RetryStart, emit func(event.Event)) error {
	emit(e)
	t := time.NewTimer(time.Duration(e.DelayMs) * time.Millisecond)
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
	var t tries
	for {
		message, err := askOnce(ctx, request)
		if err == nil {
			t.end(emit, nil)
			return message, nil
		}
		again, err := t.next(retry, err)
		if err != nil {
			t.end(emit, err)
			return nil, err
		}
		if err := pause(ctx, again, emit); err != nil {
			t.end(emit, errRetryCancelled)
			return nil, err
		}
	}
}

var errRetryCancelled = errors.New("The retry was cancelled.") //nolint:staticcheck // a sentence for the user

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
