package commands

import (
	"context"
	"slices"

	"github.com/xcsh-ls/xcsh-ls/session"
)

type partialKey struct{}

// WithPartial returns the context of a call that wants parts of the result as they become
// known. What a command sends so it leaves out of its result; most commands send nothing.
// send is never called twice at a time, nor after the command returned.
func WithPartial(ctx context.Context, send func(part any)) context.Context {
	return context.WithValue(ctx, partialKey{}, send)
}

// ListPart is a part of a page of xcsh.list, in the order of the list.
type ListPart struct {
	Sessions []session.Info `json:"sessions"`
}

// listPart is how many sessions are sent at a time: some screens full.
const listPart = 100

// listParts sends a page of a list in parts.
type listParts struct {
	env  *Env
	send func(part any)
	page page

	seen int            // sessions of the whole list
	next []session.Info // part of the page, to be sent when there are enough
	sent int            // sessions of the page
}

// partsOf returns nil when the call does not want parts.
func partsOf(ctx context.Context, env *Env, p page) *listParts {
	send, _ := ctx.Value(partialKey{}).(func(any))
	if send == nil {
		return nil
	}
	return &listParts{env: env, send: send, page: p}
}

// add takes the next session of the list.
func (l *listParts) add(i session.Info) {
	l.seen++
	if from, to := l.page.in(l.seen); from == to || to < l.seen {
		return // before or behind the page
	}
	if l.next = append(l.next, i); len(l.next) == listPart {
		l.env.markLive(l.next)
		l.put(l.next)
		l.next = nil
	}
}

// sendRest sends what of a complete page was not sent yet.
func (l *listParts) sendRest(page []session.Info) {
	for part := range slices.Chunk(page[l.sent:], listPart) {
		l.put(part)
	}
}

func (l *listParts) put(part []session.Info) {
	l.send(ListPart{part})
	l.sent += len(part)
}
