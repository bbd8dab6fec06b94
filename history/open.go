package history

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/afero"
	"modernc.org/sqlite"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

// oldestSQLite is the first version in which several programs that write and checkpoint one
// file cannot damage it.
const oldestSQLite = "3.51.3"

// SQLite's primary result codes that matter here.
const (
	codeBusy    = 5
	codeLocked  = 6
	codeCorrupt = 11
	codeNoFile  = 26 // not a database
)

// database is an open connection.
type database struct {
	db   *sql.DB
	conn *sql.Conn
	file fs.FileInfo // when it was opened
	shape
}

func (d *database) close() error { return errors.Join(d.conn.Close(), d.db.Close()) }

// openDatabase opens the database at path and creates missing objects. It retries, for 5 seconds,
// while other programs are doing the same: the switch to the journal that readers and writers share
// does not wait for locks by itself. It returns a Busy error if a later call may succeed.
func openDatabase(ctx context.Context, files afero.Fs, path string) (*database, error) {
	if network(filepath.Dir(path)) {
		return nil, fault.New(fault.IO, "The prompt history %s is on a network file system, where it can be damaged.", path).With("path", path)
	}
	if err := keepPrivate(files, path); err != nil {
		return nil, openFault(path, err)
	}
	ctx, cancel := context.WithTimeout(ctx, lockTimeout)
	defer cancel()
	for {
		d, err := tryOpen(ctx, path)
		if err == nil {
			d.file, _ = files.Stat(path) // nil is a file that equals no other
			return d, nil
		}
		if ctx.Err() != nil {
			return nil, busyFault(path, err) // err may be any error of the interrupted attempt
		}
		if !isBusy(err) {
			return nil, openFault(path, err)
		}
		pause(ctx, 2*time.Millisecond+rand.N(18*time.Millisecond))
	}
}

// tryOpen is one try.
func tryOpen(ctx context.Context, path string) (*database, error) {
	// The timeout for locks is set before anything that another program can block.
	db, err := sql.Open("sqlite", dsn(path)+"?_busy_timeout=5000&_pragma=synchronous(normal)")
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	d := &database{db: db, conn: conn}
	if err := d.setUp(ctx); err != nil {
		return nil, errors.Join(err, d.close())
	}
	return d, nil
}

func (d *database) setUp(ctx context.Context) (err error) {
	if err = checkVersion(ctx, d.conn); err != nil {
		return err
	}
	if err = shareJournal(ctx, d.conn); err != nil {
		return err
	}
	if err = create(ctx, d.conn); err != nil {
		return err
	}
	d.shape, err = readShape(ctx, d.conn)
	return err
}

// dsn returns the address of a file. Characters with a meaning in addresses are escaped.
func dsn(path string) string {
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path // a drive
	}
	return (&url.URL{Scheme: "file", Path: path}).String()
}

func checkVersion(ctx context.Context, conn *sql.Conn) error {
	var version string
	if err := conn.QueryRowContext(ctx, "SELECT sqlite_version()").Scan(&version); err != nil {
		return err
	}
	if compareVersions(version, oldestSQLite) < 0 {
		return fmt.Errorf("SQLite %s is older than %s and can damage a file that other programs write to", version, oldestSQLite)
	}
	return nil
}

// compareVersions compares versions of three numbers.
func compareVersions(a, b string) int {
	var x, y [3]int
	_, _ = fmt.Sscanf(a, "%d.%d.%d", &x[0], &x[1], &x[2]) // a part that is no number is 0, and so too old
	_, _ = fmt.Sscanf(b, "%d.%d.%d", &y[0], &y[1], &y[2])
	return cmp.Or(cmp.Compare(x[0], y[0]), cmp.Compare(x[1], y[1]), cmp.Compare(x[2], y[2]))
}

// shareJournal switches to the write-ahead log, with which readers and a writer do not wait
// for each other, if the database does not use it yet.
func shareJournal(ctx context.Context, conn *sql.Conn) error {
	var mode string
	if err := conn.QueryRowContext(ctx, "PRAGMA journal_mode").Scan(&mode); err != nil || mode == "wal" {
		return err
	}
	if err := conn.QueryRowContext(ctx, "PRAGMA journal_mode = WAL").Scan(&mode); err != nil {
		return err
	}
	if mode != "wal" {
		return errors.New("this file system does not support sharing it with other programs")
	}
	return nil
}

// keepPrivate makes the database's directory and an empty file if they are missing, and removes
// other users' permissions for our files: prompts can hold secrets. SQLite gives the files beside
// it the same permissions. The file is opened only if it was missing: closing it would give up the
// locks that this process has on it.
func keepPrivate(files afero.Fs, path string) error {
	if err := files.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	info, err := files.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		f, err := files.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if errors.Is(err, fs.ErrExist) {
			return nil // another program was faster
		}
		if err != nil {
			return err
		}
		return f.Close()
	}
	if err != nil {
		return err
	}
	for _, name := range []string{path, path + "-wal", path + "-shm"} {
		if name != path {
			if info, err = files.Stat(name); err != nil {
				continue
			}
		}
		if info.Mode().IsRegular() && info.Mode().Perm()&0o077 != 0 && ownedByUs(info) {
			_ = files.Chmod(name, info.Mode().Perm()&0o700) // best effort: the file works with its old mode
		}
	}
	return nil
}

// code is the primary result code of an error of SQLite, 0 for any other error.
func code(err error) int {
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		return e.Code() & 0xFF
	}
	return 0
}

// isBusy reports whether err is temporary: another program holds a lock.
func isBusy(err error) bool { return code(err) == codeBusy || code(err) == codeLocked }

// isDamage reports whether err means that the file is damaged or no database.
func isDamage(err error) bool { return code(err) == codeCorrupt || code(err) == codeNoFile }

func openFault(path string, err error) error {
	if f, ok := errors.AsType[*fault.Error](err); ok {
		return f
	}
	if isBusy(err) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		return busyFault(path, err)
	}
	if isDamage(err) {
		return (&fault.Error{Kind: fault.Damaged, Err: err, Message: fault.OneLine("The prompt history " + path + " is damaged and was not changed.")}).With("path", path)
	}
	return (&fault.Error{Kind: fault.IO, Err: err, Message: fault.OneLine("The prompt history " + path + " cannot be used: " + cause(err) + ".")}).With("path", path)
}

func busyFault(path string, err error) error {
	return (&fault.Error{Kind: fault.Busy, Err: err, Message: fault.OneLine("The prompt history " + path + " is locked by another program.")}).With("path", path)
}

// cause returns the reason in an error, for a message that names the file.
func cause(err error) string {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		err = e.Err
	}
	return strings.TrimSuffix(err.Error(), ".")
}

// pause waits for d or the end of ctx.
func pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}
