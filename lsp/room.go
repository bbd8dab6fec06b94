package lsp

import (
	"context"

	"github.com/xcsh-ls/xcsh-ls/lsp/conn"
)

// maxLarge is the number of answers as large as a session that are in memory at a time. A client that sends many such
// requests and reads slowly, or not at all, would otherwise fill the memory.
const maxLarge = 2

// room holds the requests whose answers may be as large as a session, from before they are built until they are written.
type room chan struct{}

func newRoom() room { return make(room, maxLarge) }

// enter waits for room for the answer to the request that ctx belongs to. It fails if ctx ends.
func (s *server) enter(ctx context.Context) error {
	select {
	case s.room <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	s.conn.AfterAnswer(conn.CallOf(ctx).ID(), func() { <-s.room })
	return nil
}
