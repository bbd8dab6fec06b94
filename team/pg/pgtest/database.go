package pgtest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/team/pg"
)

// shared is the cluster of the test binary.
var shared struct {
	sync.Mutex
	cluster *Cluster // nil until it has started; guarded by the mutex
	dir     string   // guarded by the mutex
	err     error    // of its start, which is tried once; guarded by the mutex
}

// number makes the names of databases and roles unique in a cluster.
var number atomic.Int64

// Main runs the tests, and removes the shared cluster afterwards.
func Main(m *testing.M) { os.Exit(Run(m)) }

// Run is Main for a TestMain with an end of its own.
func Run(m *testing.M) (code int) {
	code = m.Run()
	shared.Lock()
	defer shared.Unlock()
	if shared.cluster != nil {
		shared.cluster.stop()
	}
	if shared.dir != "" {
		if err := os.RemoveAll(shared.dir); err != nil {
			fmt.Fprintln(os.Stderr, "pgtest:", err)
			code = max(code, 1)
		}
	}
	return code
}

// Start returns a cluster for one test, with a server that syncs its files. It ends with the test.
func Start(t testing.TB) *Cluster {
	t.Helper()
	Require(t)
	bin, err := find()
	require.NoError(t, err)
	dir := filepath.Join(t.TempDir(), "postgres")
	require.NoError(t, os.Mkdir(dir, 0o755)) //nolint:gosec // see own
	c, err := create(bin, dir, true)
	require.NoError(t, err)
	t.Cleanup(c.stop)
	return c
}

// sharedCluster returns the cluster of the test binary, and starts it at the first call.
func sharedCluster(t testing.TB) *Cluster {
	t.Helper()
	Require(t)
	shared.Lock()
	defer shared.Unlock()
	if shared.cluster == nil && shared.err == nil {
		shared.cluster, shared.err = startShared()
	}
	require.NoError(t, shared.err)
	return shared.cluster
}

// startShared is called with the mutex of shared locked.
func startShared() (*Cluster, error) {
	bin, err := find()
	if err != nil {
		return nil, err
	}
	if shared.dir, err = os.MkdirTemp("", "pgtest"); err != nil {
		return nil, err
	}
	dir := filepath.Join(shared.dir, "postgres")
	if err := os.Mkdir(dir, 0o755); err != nil { //nolint:gosec // see own
		return nil, err
	}
	c, err := create(bin, dir, false)
	if err != nil {
		return nil, err
	}
	ctx := context.Background()
	if err := c.admin(ctx, `create database template`); err != nil {
		return nil, err
	}
	return c, pg.Init(ctx, pg.Config{Conn: conn(c.Port, superuser, "template")}, 2)
}

// admin runs a statement as the superuser.
func (c *Cluster) admin(ctx context.Context, sql string) error {
	conn, err := pgx.Connect(ctx, conn(c.Port, superuser, "postgres"))
	if err != nil {
		return err
	}
	defer conn.Close(ctx) //nolint:errcheck // the statement has its own answer
	_, err = conn.Exec(ctx, sql)
	return err
}

// Database is a database of a cluster. It is safe for concurrent use.
type Database struct {
	cluster *Cluster
	name    string
	admin   *pgxpool.Pool // of the superuser

	mu    sync.Mutex
	roles map[string]bool // the roles that exist, and whether they are members; guarded by mu
}

// creating lets one test at a time copy the template, which must have no other user.
var creating sync.Mutex

// New returns a database with the schema, in the cluster of the test binary. The test must be in a
// package whose TestMain is [Main].
func New(t testing.TB) *Database {
	t.Helper()
	return sharedCluster(t).database(t, "template")
}

// Empty returns a database without the schema, as [New] does.
func Empty(t testing.TB) *Database {
	t.Helper()
	return sharedCluster(t).database(t, "template0")
}

// Database returns a database with the schema, in a cluster of [Start].
func (c *Cluster) Database(t testing.TB) *Database {
	t.Helper()
	d := c.database(t, "template0")
	require.NoError(t, pg.Init(t.Context(), pg.Config{Conn: d.Conn(superuser)}, 2))
	return d
}

// database copies a template. The copy is removed after the test if the cluster lives longer.
func (c *Cluster) database(t testing.TB, template string) *Database {
	t.Helper()
	d := &Database{cluster: c, name: fmt.Sprintf("test_%d", number.Add(1)), roles: map[string]bool{}}
	creating.Lock()
	defer creating.Unlock()
	require.NoError(t, c.admin(t.Context(), "create database "+d.name+" template "+template))
	var err error
	d.admin, err = pgxpool.New(t.Context(), d.Conn(superuser))
	require.NoError(t, err)
	t.Cleanup(func() {
		d.admin.Close()
		if c.safe {
			return
		}
		if err := c.admin(context.Background(), "drop database "+d.name+" with (force)"); err != nil {
			t.Errorf("the database %s stays: %v", d.name, err)
		}
	})
	return d
}

// Port returns the port of the server on 127.0.0.1.
func (d *Database) Port() int { return d.cluster.Port }

// Name returns the name of the database.
func (d *Database) Name() string { return d.name }

// Conn returns the connection string of a role.
func (d *Database) Conn(role string) string { return conn(d.cluster.Port, role, d.name) }

// ConnAt returns the connection string of a role through a proxy on another port of this machine.
func (d *Database) ConnAt(port int, role string) string { return conn(port, role, d.name) }

// Superuser returns the role that may do anything.
func (d *Database) Superuser() string { return superuser }

// Role returns the name of a login role that only this database uses. It creates the role at the first
// call. If member, it lets the role call the functions of the store.
func (d *Database) Role(t testing.TB, name string, member bool) string {
	t.Helper()
	role := name + "_" + d.name
	d.mu.Lock()
	defer d.mu.Unlock()
	was, exists := d.roles[role]
	if !exists {
		d.Exec(t, "create role "+role+" login")
	}
	if member && !was {
		d.Exec(t, "grant xcsh_member to "+role)
	}
	d.roles[role] = member || was
	return role
}

// Exec runs a statement as the superuser.
func (d *Database) Exec(t testing.TB, sql string, args ...any) {
	t.Helper()
	_, err := d.admin.Exec(t.Context(), sql, args...)
	require.NoError(t, err)
}

// Value returns the only value of a query of the superuser.
func Value[T any](t testing.TB, d *Database, sql string, args ...any) (v T) {
	t.Helper()
	require.NoError(t, d.admin.QueryRow(t.Context(), sql, args...).Scan(&v))
	return v
}

// Psql runs a script in psql as the superuser, and fails at the first error.
func (d *Database) Psql(t testing.TB, script string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), filepath.Join(d.cluster.bin, "psql"), "--no-psqlrc", "--set", "ON_ERROR_STOP=1", d.Conn(superuser))
	cmd.Stdin = strings.NewReader(script)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
}

// Connect returns a connection of a role, for statements that a store has no method for. It is closed
// after the test.
func (d *Database) Connect(t testing.TB, role string) *pgx.Conn {
	t.Helper()
	c, err := pgx.Connect(t.Context(), d.Conn(role))
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close(context.Background()) })
	return c
}
