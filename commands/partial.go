package commands

import (
	"context"
	"slices"

	"github.com/xcsh-ls/xcsh-ls/session/library"
)

type partialKey struct{}

// WithPartial returns the context of a call that accepts partial results. A command omits the
// parts that it has sent from its result; most commands send none. send is not called
// concurrently, nor after the command has returned.
func WithPartial(ctx context.Context, send func(part any)) context.Context {
	return context.WithValue(ctx, partialKey{}, send)
}

// ListPart is a part of a page of xcsh.list, in the order of the list.
type ListPart struct {
	Sessions []library.Info `json:"sessions"`
}

// listPart is the number of sessions per part, a few screens.
const listPart = 100

// listParts sends a page of a list in parts.
type listParts struct {
	lists lister
	send  func(part any)
	page  page

	seen int            // sessions of the page, and one more
	next []library.Info // part of the page, to be sent when there are enough
	sent int            // sessions of the page
}

// partsOf returns nil if the call does not accept partial results.
func partsOf(ctx context.Context, lists lister, p page) *listParts {
	send, _ := ctx.Value(partialKey{}).(func(any))
	if send == nil {
		return nil
	}
	return &listParts{lists: lists, send: send, page: p}
}

// add adds the next session of the page. The one behind the page only shows that there are more.
func (l *listParts) add(i library.Info) {
	if l.seen++; l.page.limit > 0 && l.seen > l.page.limit {
		return
	}
	if l.next = append(l.next, i); len(l.next) == listPart {
		l.lists.markLive(l.next)
		l.put(l.next)
		l.next = nil
	}
}

// sendRest sends the rest of a complete page.
func (l *listParts) sendRest(page []library.Info) {
	for part := range slices.Chunk(page[l.sent:], listPart) {
		l.put(part)
	}
}

func (l *listParts) put(part []library.Info) {
	l.send(ListPart{part})
	l.sent += len(part)
}
