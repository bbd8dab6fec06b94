package pg_test

import (
	"context"
	"fmt"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/team"
	"github.com/xcsh-ls/xcsh-ls/team/pg"
	"github.com/xcsh-ls/xcsh-ls/team/pg/pgtest"
	"github.com/xcsh-ls/xcsh-ls/team/teamtest"
)

// hello calls Hello with a configuration.
func hello(t *testing.T, c pg.Config) error {
	t.Helper()
	s, err := pg.Open(c)
	if err != nil {
		return err
	}
	defer func() { require.NoError(t, s.Close()) }()
	_, err = s.Hello(t.Context(), team.Device{ID: team.NewDeviceID()})
	return err
}

func TestErrorsOfConnections(t *testing.T) {
	t.Parallel()
	d := pgtest.New(t)
	w := newWorld(t, d, d.Port())
	w.Member(t, "ann", "core", 2)
	ann := d.Role(t, "ann", true)

	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	closed := l.Addr().(*net.TCPAddr).Port
	require.NoError(t, l.Close())
	requireKind(t, fault.Offline, hello(t, pg.Config{Conn: d.ConnAt(closed, ann)}), "127.0.0.1: connection refused")

	requireKind(t, fault.Refused, hello(t, pg.Config{Conn: d.Conn("ann2")}), "does not know the role ann2", "xcsh-ls team grant ann2")
	requireKind(t, fault.Refused, hello(t, pg.Config{Conn: d.Conn(d.Role(t, "guest", false))}), "does not know the role")
	requireKind(t, fault.Refused, hello(t, pg.Config{Conn: d.Conn(d.Role(t, "unknown", true))}), "does not know the role")
	requireKind(t, fault.Refused, hello(t, pg.Config{Conn: fmt.Sprintf("host=127.0.0.1 port=%d user=%s dbname=nothing sslmode=disable", d.Port(), ann)}), "no database nothing")
	requireKind(t, fault.Offline, hello(t, pg.Config{Conn: fmt.Sprintf("host=127.0.0.1 port=%d user=%s dbname=%s sslmode=require", d.Port(), ann, d.Name())}))
	err = hello(t, pg.Config{Conn: "host=x port=abc password" + "=hunter2"})
	requireKind(t, fault.InvalidArgument, err)
	require.NotContains(t, err.Error(), "hunter2")

	d.Exec(t, "alter role "+ann+" set default_transaction_read_only = on")
	requireKind(t, fault.ReadOnly, hello(t, pg.Config{Conn: d.Conn(ann)}), "read-only at the moment")
}

func TestThePasswordComesFromACallback(t *testing.T) {
	t.Parallel()
	d := pgtest.New(t)
	asked := 0
	c := pg.Config{Conn: d.Conn(d.Superuser()), Password: func(context.Context) (string, error) { asked++; return "secret", nil }}
	requireKind(t, fault.Refused, hello(t, c))
	require.Equal(t, 1, asked)
	c.Password = func(context.Context) (string, error) { return "", fault.New(fault.NotFound, "No such command.") }
	requireKind(t, fault.NotFound, hello(t, c), "No such command.")
}

// A server that takes everything and answers nothing costs one timeout, and the next call has another
// connection.
// Proves: TM-15
func TestABlackHoleEndsWithATimeout(t *testing.T) {
	t.Parallel()
	d := pgtest.New(t)
	w := newWorld(t, d, d.Port())
	w.Member(t, "ann", "core", 2)
	proxy := teamtest.NewProxy(t, d.Port())
	s, err := pg.Open(pg.Config{Conn: d.ConnAt(proxy.Port, d.Role(t, "ann", true)), Timeout: 2 * time.Second})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	proxy.Arm(&teamtest.Fault{Down: true, After: 100, Does: teamtest.Swallow})
	_, err = s.Hello(t.Context(), team.Device{ID: team.NewDeviceID()})
	requireKind(t, fault.Offline, err, "no answer for 2s")
	again(t, func() error {
		_, err := s.Hello(t.Context(), team.Device{ID: team.NewDeviceID()})
		return err
	})
}

// again repeats f while the store is offline.
func again(t *testing.T, f func() error) {
	t.Helper()
	var err error
	for range 100 {
		if err = f(); !fault.Is(err, fault.Offline) {
			break
		}
	}
	require.NoError(t, err)
}
