package pgtest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/procgroup"
)

// Pooler starts pgbouncer in front of a database, in transaction mode with five connections, and
// returns its port. It ends with the test. If pgbouncer is missing, the test is skipped or fails, as
// without PostgreSQL.
func Pooler(t testing.TB, d *Database) (port int) {
	t.Helper()
	bin, err := exec.LookPath("pgbouncer")
	if err != nil {
		bin = "/usr/sbin/pgbouncer" // in root's path only
	}
	if _, err := os.Stat(bin); err != nil {
		if os.Getenv(requireVariable) == "1" {
			t.Fatalf("pgbouncer is not installed. %s=1 requires it; install the package pgbouncer.", requireVariable)
		}
		t.Skip("pgbouncer is not installed. Install the package pgbouncer to run this test.")
	}
	for range startTries {
		if port, err = d.pooler(t, bin); err == nil {
			return port
		}
	}
	require.NoError(t, err)
	return 0
}

// pooler starts pgbouncer on a free port.
func (d *Database) pooler(t testing.TB, bin string) (port int, err error) {
	t.Helper()
	dir := t.TempDir()
	if port, err = freePort(); err != nil {
		return 0, err
	}
	c := &Cluster{bin: bin, dir: dir}
	require.NoError(t, c.own())
	settings := filepath.Join(dir, "pgbouncer.ini")
	text := fmt.Sprintf("[databases]\n%s = host=127.0.0.1 port=%d dbname=%s\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = %d\nunix_socket_dir =\n"+
		"auth_type = trust\nauth_file = %s\npool_mode = transaction\ndefault_pool_size = 5\nmax_client_conn = 100\n", d.name, d.Port(), d.name, port, filepath.Join(dir, "users"))
	require.NoError(t, os.WriteFile(settings, []byte(text), 0o644))                 //nolint:gosec // read by the unprivileged user
	require.NoError(t, os.WriteFile(filepath.Join(dir, "users"), d.users(), 0o644)) //nolint:gosec // as above
	log, err := os.Create(filepath.Join(dir, "log"))
	require.NoError(t, err)
	defer log.Close()
	argv := c.unprivileged(bin, settings)
	cmd := exec.Command(argv[0], argv[1:]...) //nolint:noctx // killed below
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, log, log
	family, err := procgroup.StartFamily(cmd)
	require.NoError(t, err)
	ended := make(chan struct{})
	go func() { family.Await(); family.Wait(); close(ended) }()
	stop := func() { family.Kill(); <-ended }
	if err := answers(d.ConnAt(port, superuser), ended); err != nil {
		stop()
		out, _ := os.ReadFile(log.Name()) // only for the message
		return 0, fmt.Errorf("pgbouncer: %w\n%s", err, out)
	}
	t.Cleanup(stop)
	return port, nil
}

// users returns the user list of the pooler: the roles that tests have for users.
func (d *Database) users() []byte {
	var b strings.Builder
	for _, name := range []string{"ann", "kim", "reader", "admin", "outsider"} {
		fmt.Fprintf(&b, "\"%s_%s\" \"\"\n", name, d.name)
	}
	fmt.Fprintf(&b, "%q \"\"\n", superuser)
	return []byte(b.String())
}

// answers returns when a server answers, or with an error if it ends.
func answers(conn string, ended <-chan struct{}) error {
	ctx, cancel := context.WithTimeout(context.Background(), startTime)
	defer cancel()
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	for {
		c, err := pgx.Connect(ctx, conn)
		if err == nil {
			return c.Close(ctx)
		}
		select {
		case <-ended:
			return fmt.Errorf("it ended: %w", err)
		case <-ctx.Done():
			return err
		case <-again.C:
		}
	}
}
