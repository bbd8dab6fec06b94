package pg

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/team/pg/wire"
)

// upgradeLock is the advisory lock of an upgrade. Other programs have no reason to use this number.
const upgradeLock = 0x78637368 // "xcsh"

const (
	// lockTimeout is how long an upgrade waits for a lock, and so how long others wait behind it.
	lockTimeout = 3 * time.Second

	// lockPause is the time between two tries to get the lock of upgrades.
	lockPause = 50 * time.Millisecond
)

// step changes the tables from the version before to the next one. It must be repeatable, because an
// upgrade can end between its parts.
type step struct {
	sql   string   // in one transaction
	alone []string // then each by itself, such as "create index concurrently"
}

// steps lead from version 1 of the tables to the newest one.
var steps []step

// Upgrade brings the schema to the newest version and returns the versions before and after. The user
// must have the role xcsh_owner. Nothing calls it but the command for it. Two upgrades at once do the
// work once. It returns a Busy error, after at most three seconds, if another transaction holds a lock
// that it needs, and a Refused error if the schema is newer than this program. After an error the
// schema has the version of the last complete step.
func Upgrade(ctx context.Context, c Config) (from, to int, err error) { return upgrade(ctx, c, steps) }

func upgrade(ctx context.Context, c Config, steps []step) (from, to int, err error) {
	err = c.connected(ctx, func(ctx context.Context, conn *wire.Conn) error {
		if err := prepareUpgrade(ctx, conn); err != nil {
			return err
		}
		if err := conn.Row(ctx, []any{&from}, `select version from xcsh.meta`); err != nil {
			return err
		}
		if to = from; from > 1+len(steps) {
			return fault.New(fault.Refused, "The team store has version %d; this xcsh-ls knows versions up to %d. Update it.", from, 1+len(steps))
		}
		for _, s := range steps[from-1:] {
			if err := s.run(ctx, conn, to+1); err != nil {
				return err
			}
			to++
		}
		return nil
	})
	if e, ok := errors.AsType[*pgconn.PgError](err); ok && e.Code == stateLockTimeout {
		f := fault.New(fault.Busy, "The team store is in use by a long transaction, or by another upgrade. It has version %d now; try again.", to)
		f.Err = err
		return from, to, f
	}
	return from, to, err
}

// prepareUpgrade takes the lock of upgrades, which the end of the connection releases, and the role of
// the owner.
func prepareUpgrade(ctx context.Context, conn *wire.Conn) error {
	if err := lockUpgrades(ctx, conn); err != nil {
		return err
	}
	for _, sql := range []string{
		fmt.Sprintf(`set lock_timeout = %d`, lockTimeout.Milliseconds()),
		`set role xcsh_owner`,
		`set search_path = xcsh`,
	} {
		if err := conn.Exec(ctx, sql); err != nil {
			return err
		}
	}
	return nil
}

// lockUpgrades waits for the lock of upgrades in short statements: one that waits in the server has a
// snapshot, for which "create index concurrently" of the other upgrade would wait.
func lockUpgrades(ctx context.Context, conn *wire.Conn) error {
	again := time.NewTicker(lockPause)
	defer again.Stop()
	for range lockTimeout / lockPause {
		var locked bool
		if err := conn.Row(ctx, []any{&locked}, `select pg_try_advisory_lock($1)`, upgradeLock); err != nil || locked {
			return err
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return fault.New(fault.Busy, "Another upgrade of the team store is running. Try again when it has ended.")
}

// run performs a step, after which the tables have this version.
func (s step) run(ctx context.Context, conn *wire.Conn, version int) error {
	if err := simple(ctx, conn, "begin; "+s.sql+"\n;"+grants()+"\ncommit;"); err != nil {
		return err
	}
	for _, sql := range s.alone {
		if err := simple(ctx, conn, sql); err != nil {
			return err
		}
	}
	return conn.Exec(ctx, `update xcsh.meta set version = $1`, version)
}

// simple runs statements by the simple protocol. After an error no transaction is open.
func simple(ctx context.Context, conn *wire.Conn, sql string) error {
	err := conn.Run(ctx, sql)
	if err != nil && conn.InTransaction() {
		_ = conn.Run(ctx, "rollback") // the first error counts
	}
	return err
}

// Restored raises the epoch of the store, after a backup was restored: clients then compare every
// session again. The user must have the role xcsh_owner.
func Restored(ctx context.Context, c Config) (epoch int, err error) {
	err = c.connected(ctx, func(ctx context.Context, conn *wire.Conn) error {
		if err := conn.Exec(ctx, `set role xcsh_owner`); err != nil {
			return err
		}
		return conn.Row(ctx, []any{&epoch}, `update xcsh.meta set epoch = epoch + 1 returning epoch`)
	})
	return epoch, err
}
