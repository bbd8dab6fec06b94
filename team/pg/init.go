package pg

import (
	"context"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/team/pg/wire"
)

const (
	// oldest is the oldest supported version of PostgreSQL, as server_version_num.
	oldest = 140000

	// DefaultPartitions is the number of partitions for a team.
	DefaultPartitions = 8

	// MaxPartitions bounds the number of tables.
	MaxPartitions = 256
)

// Init creates the schema in the database of c, in one transaction. The user must be allowed to create
// roles and schemas. It returns a Conflict error if there is a schema of this name already, and a
// Refused error for a server that is too old.
func Init(ctx context.Context, c Config, partitions int) error {
	if partitions < 1 || partitions > MaxPartitions {
		return fault.New(fault.InvalidArgument, "The number of partitions must be from 1 to %d.", MaxPartitions)
	}
	return c.connected(ctx, func(ctx context.Context, conn *wire.Conn) error {
		var version int
		var exists bool
		if err := conn.Row(ctx, []any{&version, &exists}, `select current_setting('server_version_num')::int, to_regnamespace('xcsh') is not null`); err != nil {
			return err
		}
		if version < oldest {
			return fault.New(fault.Refused, "The team store needs PostgreSQL 14 or newer; this server has version %d.", version/10000)
		}
		if exists {
			return fault.New(fault.Conflict, "The database has a schema xcsh already. Nothing was changed; to upgrade it, run: xcsh-ls team init --upgrade")
		}
		return conn.Run(ctx, script(partitions))
	})
}

// connected runs f with a connection that is closed afterwards, without a timeout, and translates its
// error.
func (c Config) connected(ctx context.Context, f func(context.Context, *wire.Conn) error) error {
	s, err := Open(c)
	if err != nil {
		return err
	}
	defer s.Close() //nolint:errcheck // always nil
	conn, err := s.connect(ctx)
	if err != nil {
		return s.fault(ctx, s.timeout, err)
	}
	defer conn.Close(context.WithoutCancel(ctx)) //nolint:errcheck // committed or not, the server decides
	return s.fault(ctx, s.timeout, f(ctx, conn))
}
