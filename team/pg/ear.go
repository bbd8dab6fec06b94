package pg

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/team"
	"github.com/xcsh-ls/xcsh-ls/team/pg/wire"
)

// channel is the name of the notifications. Their payload is "SID LENGTH".
const channel = "xcsh"

// Tell implements [team.Store].
func (s *Store) Tell(ctx context.Context, sid team.SID, n int64) {
	_ = s.notify(ctx, fmt.Sprintf("%s %d", sid, n)) // listeners also poll
}

func (s *Store) notify(ctx context.Context, payload string) error {
	return s.exec(ctx, `select pg_notify($1, $2)`, channel, payload)
}

// Ear implements [team.Store]. A pooler in transaction mode accepts LISTEN and delivers nothing. To find
// that out, Ear sends itself a notification over another connection, and returns an Offline error if it
// doesn't arrive in time (Config.Deaf).
func (s *Store) Ear(ctx context.Context, woken func(team.SID)) error {
	conn, err := s.connect(ctx)
	if err != nil {
		return s.fault(ctx, s.timeout, err)
	}
	defer conn.Close(context.WithoutCancel(ctx)) //nolint:errcheck // nothing was written
	if err := s.hear(ctx, conn, woken); err != nil {
		return err
	}
	for {
		payload, err := conn.Notification(ctx)
		if err != nil {
			return s.fault(ctx, s.timeout, err)
		}
		wake(payload, woken)
	}
}

// hear begins to listen, and returns when a notification of its own has arrived.
func (s *Store) hear(ctx context.Context, conn *wire.Conn, woken func(team.SID)) error {
	limited, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	if err := conn.Exec(limited, "listen "+channel); err != nil {
		return s.fault(ctx, s.timeout, err)
	}
	nonce := rand.Text()
	if err := s.notify(ctx, nonce); err != nil {
		return err
	}
	limited, cancel = context.WithTimeout(ctx, s.deaf)
	defer cancel()
	for {
		payload, err := conn.Notification(limited)
		switch {
		case err != nil && ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded):
			return fault.New(fault.Offline, "The team store sends no notifications, as behind a pooler in transaction mode.")
		case err != nil:
			return s.fault(ctx, s.deaf, err)
		case payload == nonce:
			return nil
		}
		wake(payload, woken)
	}
}

// wake calls woken for the session in a payload. It ignores payloads in another form, which any user of
// the database can send.
func wake(payload string, woken func(team.SID)) {
	id, _, _ := strings.Cut(payload, " ")
	if sid, err := team.ParseSID(id); err == nil {
		woken(sid)
	}
}
