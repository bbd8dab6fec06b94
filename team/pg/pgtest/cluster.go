package pgtest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/xcsh-ls/xcsh-ls/internal/procgroup"
)

const (
	// startTime is how long a server may take to start on a busy machine.
	startTime = 2 * time.Minute

	// startTries bounds the tries to find a free port.
	startTries = 10

	// superuser is the role that initdb creates.
	superuser = "postgres"
)

// Cluster is a PostgreSQL server with its data. The methods must not be called concurrently.
type Cluster struct {
	Port int

	bin, dir string
	safe     bool // fsync is on
	family   *procgroup.Family
	held     io.Closer // the server ends when it is closed
	ended    chan struct{}
}

// create makes the data of a cluster in dir, which must exist, and starts it. With safe, the server
// syncs its files.
func create(bin, dir string, safe bool) (*Cluster, error) {
	c := &Cluster{bin: bin, dir: dir, safe: safe}
	if err := c.own(); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), startTime)
	defer cancel()
	args := c.unprivileged(filepath.Join(bin, "initdb"), "--pgdata", c.data(), "--username", superuser, "--auth", "trust",
		"--encoding", "UTF8", "--locale", "C", "--no-sync")
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("initdb: %w\n%s", err, out)
	}
	return c, c.start()
}

func (c *Cluster) data() string { return filepath.Join(c.dir, "data") }

// own gives the directory to the unprivileged user, if this process is root: PostgreSQL refuses to run
// as root.
func (c *Cluster) own() error {
	if os.Getuid() != 0 {
		return nil
	}
	for dir := c.dir; strings.HasPrefix(dir, filepath.Clean(os.TempDir())+"/"); dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o711); err != nil { //nolint:gosec // that user has to reach the data
			return err
		}
	}
	return os.Chown(c.dir, unprivilegedID, unprivilegedID)
}

// unprivilegedID is the user and the group that own no other files on Linux.
const unprivilegedID = 65534

// unprivileged returns the command line that runs a program without privileges, if this process is root.
func (c *Cluster) unprivileged(argv ...string) []string {
	if os.Getuid() != 0 {
		return argv
	}
	id := strconv.Itoa(unprivilegedID)
	return append([]string{"setpriv", "--reuid=" + id, "--regid=" + id, "--clear-groups", "--"}, argv...)
}

// start starts the server on a free port, or on the port that it had.
func (c *Cluster) start() error {
	var err error
	for range startTries {
		port := c.Port
		if port == 0 {
			if port, err = freePort(); err != nil {
				return err
			}
		}
		if err = c.startAt(port); err == nil {
			c.Port = port
			return nil
		}
	}
	return err
}

// freePort returns a port that no program uses now. Another one may take it until the server does.
func freePort() (int, error) {
	l, err := new(net.ListenConfig).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(port)
}

// leash runs a program until its standard input ends, so that the server ends with the test binary in
// any case. SIGQUIT is the immediate shutdown.
const leash = `exec 3<&0
"$@" 3<&- & pid=$!
(cat <&3 >/dev/null; kill -QUIT $pid 2>/dev/null) &
wait $pid`

// startAt starts the server and waits until it answers.
func (c *Cluster) startAt(port int) error {
	log, err := os.OpenFile(filepath.Join(c.dir, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	cmd := exec.Command("sh", append([]string{"-c", leash, "sh"}, c.unprivileged(c.server(port)...)...)...) //nolint:noctx // it ends with its input
	cmd.Dir, cmd.Stdout, cmd.Stderr = c.dir, log, log
	if c.held, err = cmd.StdinPipe(); err != nil {
		return err
	}
	if c.family, err = procgroup.StartFamily(cmd); err != nil {
		return err
	}
	c.ended = make(chan struct{})
	go func(f *procgroup.Family, ended chan struct{}) {
		f.Await()
		f.Wait()
		close(ended)
	}(c.family, c.ended)
	if err := c.await(port); err != nil {
		c.Kill()
		text, _ := os.ReadFile(log.Name()) // only for the message
		return fmt.Errorf("postgres on port %d: %w\n%s", port, err, text[max(0, len(text)-4000):])
	}
	return nil
}

// server returns the command line of the server.
func (c *Cluster) server(port int) []string {
	settings := []string{
		"listen_addresses=127.0.0.1", "port=" + strconv.Itoa(port), "unix_socket_directories=", "max_connections=200",
		"shared_buffers=32MB", "wal_level=minimal", "max_wal_senders=0", "autovacuum=off", "jit=off", "log_min_messages=warning",
	}
	if !c.safe {
		settings = append(settings, "fsync=off", "full_page_writes=off")
	}
	argv := []string{filepath.Join(c.bin, "postgres"), "-D", c.data()}
	for _, s := range settings {
		argv = append(argv, "-c", s)
	}
	return argv
}

// await returns when the server answers on the port, or with an error if it ends.
func (c *Cluster) await(port int) error {
	if err := answers(conn(port, superuser, "postgres"), c.ended); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), startTime)
	defer cancel()
	conn, err := pgx.Connect(ctx, conn(port, superuser, "postgres"))
	if err != nil {
		return err
	}
	var data string
	err = errors.Join(conn.QueryRow(ctx, "show data_directory").Scan(&data), conn.Close(ctx))
	if err == nil && data != c.data() {
		return errors.New("another server has the port")
	}
	return err
}

// Kill ends all processes of the server at once, as kill -9 does.
func (c *Cluster) Kill() {
	c.family.Kill()
	<-c.ended
	_ = c.held.Close() // the reader has ended
}

// Restart starts the server again on the same port, after [Cluster.Kill]. All its processes have ended, but the server takes one that
// the system has not removed yet for a running server: so the file with its id goes first.
func (c *Cluster) Restart() error {
	if err := os.Remove(filepath.Join(c.data(), "postmaster.pid")); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return c.start()
}

// stop ends the server in its own order, without keeping its data.
func (c *Cluster) stop() {
	_ = c.held.Close() // the server ends, or has ended
	select {
	case <-c.ended:
	case <-time.After(startTime):
		c.family.Kill()
		<-c.ended
	}
}

// conn returns a connection string.
func conn(port int, user, database string) string {
	return fmt.Sprintf("host=127.0.0.1 port=%d user=%s dbname=%s sslmode=disable connect_timeout=20", port, user, database)
}
