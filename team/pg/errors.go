package pg

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/team"
	"github.com/xcsh-ls/xcsh-ls/team/pg/wire"
)

// SQLSTATE values.
const (
	stateNoMember    = "28000" // raised by hello_v1, and by the server for a role that doesn't exist
	stateDenied      = "42501"
	stateNoFunction  = "42883"
	stateNoSchema    = "3F000"
	stateNoDatabase  = "3D000"
	stateReadOnly    = "25006"
	stateLockTimeout = "55P03"
	stateDiskFull    = "53100"
	stateSerialize   = "40001"
	stateDeadlock    = "40P01"
	stateNoImage     = "23503" // an image was purged while a session began to name it
)

// partial is an error after rows were passed to the caller, so that the call can't be repeated.
type partial struct{ error }

func (e partial) Unwrap() error { return e.error }

// competes reports whether a call failed only because of another transaction, and had no result.
func competes(err error) bool {
	if _, ok := errors.AsType[partial](err); ok {
		return false
	}
	e, ok := errors.AsType[*pgconn.PgError](err)
	return ok && (e.Code == stateSerialize || e.Code == stateDeadlock || e.Code == stateNoImage)
}

// callbackError is an error of a caller's function, which is returned as it is.
type callbackError struct{ error }

// fault translates the error of a call. If the caller's context parent has ended, the call was
// cancelled. If only the timeout limit of the call has expired, the store can't be reached.
func (s *Store) fault(parent context.Context, limit time.Duration, err error) error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[callbackError](err); ok {
		return e.error
	}
	if e, ok := errors.AsType[*fault.Error](err); ok {
		return e
	}
	if parent.Err() != nil {
		return fault.New(fault.Cancelled, "The call to the team store was cancelled: %w.", parent.Err())
	}
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		return s.serverFault(e)
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return s.offline(err, "no answer for "+limit.Round(time.Millisecond).String())
	}
	if _, ok := errors.AsType[*wire.AnswerError](err); ok || errors.Is(err, wire.ErrNoRow) {
		f := fault.New(fault.Internal, "The team store at %s sent an unexpected answer. Check it with: xcsh-ls team doctor", s.host())
		f.Err = err
		return f
	}
	return s.offline(err, reason(err))
}

// offline returns the error of a store that can't be reached.
func (s *Store) offline(err error, reason string) error {
	e := fault.New(fault.Offline, "The team store cannot be reached (%s: %s).", s.host(), reason)
	e.Err = err
	return e
}

// host returns the name of the server for messages.
func (s *Store) host() string {
	host := s.config.Host
	if strings.HasPrefix(host, "/") || host == "" {
		return "this machine"
	}
	return host
}

// reason returns the innermost cause of a connection error, without the addresses around it.
func reason(err error) string {
	if e, ok := errors.AsType[*net.OpError](err); ok && e.Err != nil {
		err = e.Err
	}
	for inner := errors.Unwrap(err); inner != nil; inner = errors.Unwrap(err) {
		err = inner
	}
	return fault.OneLine(err.Error())
}

// serverFault translates an error that the server reported. Errors that pass, such as a shutdown or too
// many connections, are Offline.
func (s *Store) serverFault(e *pgconn.PgError) error {
	say := func(kind fault.Kind, format string, args ...any) error {
		f := fault.New(kind, format, args...)
		f.Err = e
		return f
	}
	switch e.Code {
	case stateDenied:
		return say(fault.Denied, "The team store denies this to %s: %s.", s.user(), e.Message)
	case stateNoSchema, stateNoFunction:
		return say(fault.Refused, "The database at %s has no team store that this xcsh-ls can use. Create it with: xcsh-ls team init", s.host())
	case stateNoDatabase:
		return say(fault.Refused, "%s has no database %s. Correct the address of the team store.", s.host(), s.config.Database)
	case stateReadOnly:
		return say(fault.ReadOnly, "This store is read-only at the moment.")
	case stateNoMember:
		return s.unknown(e)
	case stateNoImage:
		return s.offline(e, "other transactions compete")
	case stateDiskFull:
		return say(fault.Offline, "The team store at %s is out of disk space.", s.host())
	}
	switch e.Code[:min(len(e.Code), 2)] {
	case "28":
		return say(fault.Refused, "The team store at %s rejects the login of %s: %s.", s.host(), s.user(), e.Message)
	case "08", "40", "53", "57":
		return s.offline(e, fault.OneLine(e.Message))
	case "22", "23", "54":
		return say(fault.InvalidArgument, "The team store doesn't accept a value: %s.", e.Message)
	}
	return say(fault.Internal, "The team store reports an error: %s (%s).", e.Message, e.Code)
}

// helloFault translates an error of [Store.Hello]: there a missing right means that the user is no member.
func (s *Store) helloFault(err error) error {
	if fault.Is(err, fault.Denied) {
		return s.unknown(err)
	}
	return err
}

// unknown returns the error of a role that is no member.
func (s *Store) unknown(err error) error {
	f := fault.New(fault.Refused, "The team store does not know the role %s. Ask its administrator for: xcsh-ls team grant %s --team TEAM", s.user(), s.user())
	f.Err = err
	return f
}

// user returns the login role for messages.
func (s *Store) user() string { return s.config.User }

// refusal returns an error if the store doesn't have the functions that this program calls.
func refusal(speaks []int) error {
	if len(speaks) == 0 {
		return fault.New(fault.Refused, "The team store speaks no protocol. Ask its administrator for: xcsh-ls team doctor")
	}
	texts := make([]string, len(speaks))
	for i, n := range speaks {
		if n == team.Protocol {
			return nil
		}
		texts[i] = fmt.Sprint(n)
	}
	return fault.New(fault.Refused, "The team store speaks %s; this xcsh-ls speaks %d. Update it; until then nothing is sent, and pulled sessions stay.",
		strings.Join(texts, ", "), team.Protocol)
}
