package pg

import (
	"cmp"
	"context"
	"net"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

const (
	// maxConns bounds the connections of a store, without the one of its ear.
	maxConns = 4

	// idleTime is how long a connection stays open without use.
	idleTime = time.Minute

	// callTimeout is the timeout of a call, without the time for its bytes.
	callTimeout = 10 * time.Second

	// deafTime is the default of [Config.Deaf].
	deafTime = time.Second

	// slowest is the slowest connection, in bytes per second, for which a call has enough time.
	slowest = 64 << 10

	// mostBytes limits the time of a call that may pass any number of bytes: to half a day.
	mostBytes = slowest * 12 * 60 * 60
)

// Config says where a store is.
type Config struct {
	// Conn is a connection string of libpq: a URL or a list of KEY=VALUE, such as "service=xcsh". What
	// it leaves out comes from the environment (PGHOST and others), the service file and ~/.pgpass.
	Conn string

	// Password returns the password of a connection that is opened. If it is nil, the password is that
	// of Conn.
	Password func(context.Context) (string, error)

	// Timeout is the timeout of a call, without the time for its bytes. 0 means ten seconds.
	Timeout time.Duration

	// Deaf is how long a notification of the store itself may take before its ear counts as deaf. 0 means
	// one second.
	Deaf time.Duration
}

// connection returns the configuration of the connections, with the password of Conn.
func (c Config) connection() (*pgconn.Config, error) {
	pc, err := pgconn.ParseConfig(c.Conn)
	if err != nil {
		return nil, fault.New(fault.InvalidArgument, "The address of the team store can't be used: %w", err)
	}
	if pc.ConnectTimeout == 0 {
		pc.ConnectTimeout = c.timeout()
	}
	if pc.RuntimeParams["application_name"] == "" {
		pc.RuntimeParams["application_name"] = "xcsh-ls"
	}
	// A connection that waits for notifications has no timeout, so that only probes find a dead one.
	dialer := &net.Dialer{KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: 15 * time.Second, Interval: 5 * time.Second, Count: 3}}
	pc.DialFunc = dialer.DialContext
	return pc, nil
}

func (c Config) timeout() time.Duration { return cmp.Or(c.Timeout, callTimeout) }
