package attack

import (
	"context"
	"fmt"
	"net"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/lsptest"
)

// trap is a server that no program should connect to.
type trap struct {
	*net.TCPListener
	t *testing.T
}

func newTrap(t *testing.T) trap {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	tcp, ok := l.(*net.TCPListener)
	require.True(t, ok)
	t.Cleanup(func() { _ = tcp.Close() })
	return trap{tcp, t}
}

// url is an address of the server as that of a team store.
func (l trap) url() string { return fmt.Sprintf("postgres://u@%s/x?sslmode=disable", l.Addr()) }

func (l trap) port() int {
	addr, _ := l.Addr().(*net.TCPAddr)
	return addr.Port
}

// sprung reports whether a program has connected: the connections that wait come before one that the test makes now.
func (l trap) sprung() bool {
	l.t.Helper()
	own, err := new(net.Dialer).DialContext(context.WithoutCancel(l.t.Context()), "tcp", l.Addr().String())
	require.NoError(l.t, err)
	defer own.Close()
	first, err := l.Accept()
	require.NoError(l.t, err)
	defer first.Close()
	return first.RemoteAddr().String() != own.LocalAddr().String()
}

// A folder that names a store gets no connection, from no file of it and from no section of an editor without scopes.
func TestAWorkspaceNamesNoTeamStore(t *testing.T) {
	t.Parallel()
	v, server := newVictim(t), newTrap(t)
	v.write(v.path(".vscode/settings.json"), `{"xcshLs.team.url": "`+server.url()+`", "xcshLs.team.insecure": true}`)
	v.write(v.path(".env"), "XCSH_TEAM_URL="+server.url()+"\nPGHOST=127.0.0.1\n")
	v.write(v.path(".pg_service.conf"), fmt.Sprintf("[xcsh]\nhost=127.0.0.1\nport=%d\n", server.port()))
	for _, name := range []string{".xcsh/team.json", ".xcsh/agent/xcsh-ls/team/team.json", ".pi/team.json"} {
		v.write(v.path(name), `{"version": 1, "url": "`+server.url()+`", "project": "x", "projects": {"name:x": {"team": "core", "share": "all"}}}`)
	}
	r := v.run("team", "status")
	require.Equal(t, 1, r.code, r.stdout)
	require.Contains(t, r.stderr, "No team store is set up.")

	ed := v.edit(nil)
	ed.Notify("workspace/didChangeConfiguration", lsptest.Fields{"settings": lsptest.Fields{"xcshLs": lsptest.Fields{
		"team":     lsptest.Fields{"url": server.url(), "insecure": true, "passwordCommand": v.path("pw")},
		"team.url": server.url(), "machineScope": true,
	}}})
	v.does()
	for _, c := range []struct {
		command string
		args    lsptest.Fields
	}{
		{"xcsh.prompt", lsptest.Fields{"text": "hello"}},
		{"xcsh.list", lsptest.Fields{"scope": "team"}},
		{"xcsh.team.share", lsptest.Fields{"scope": "all"}},
	} {
		_, _ = ed.Exec(c.command, c.args) // it may be refused
	}
	ed.Shutdown()
	require.False(t, server.sprung())
}

// Files in the workspace are no credentials and no services of a store that the user has set up.
func TestAWorkspaceHasNoCredentialsOfATeamStore(t *testing.T) {
	t.Parallel()
	for name, env := range map[string][]string{
		"a password file":      {"PGPASSFILE=%s/pass"},
		"a relative one":       {"PGPASSFILE=pass"},
		"a certificate":        {"PGSSLROOTCERT=%s/ca.pem"},
		"a password command":   {"XCSH_TEAM_PASSWORD_COMMAND=%s/pw"},
		"a relative command":   {"XCSH_TEAM_PASSWORD_COMMAND=./pw"},
		"a file of services":   {"XCSH_TEAM_URL=", "XCSH_TEAM_SERVICE=xcsh", "PGSERVICEFILE=%s/services"},
		"relative services":    {"XCSH_TEAM_URL=", "PGSERVICE=xcsh", "PGSERVICEFILE=services"},
		"an address of a file": {"XCSH_TEAM_URL=file://%s/services"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v, server := newVictim(t), newTrap(t)
			v.write(v.path("pw"), "#!/bin/sh\ntouch '"+filepath.Join(v.outside, "ran")+"'\necho x\n")
			v.write(v.path("services"), fmt.Sprintf("[xcsh]\nhost=127.0.0.1\nport=%d\nsslmode=disable\n", server.port()))
			v.env = append(v.env, "XCSH_TEAM_URL="+server.url())
			for _, e := range env {
				v.env = append(v.env, strings.ReplaceAll(e, "%s", v.work))
			}
			r := v.run("team", "doctor")
			require.Contains(t, []int{1, 2}, r.code, r.stdout)
			require.NoFileExists(t, filepath.Join(v.outside, "ran"))
			require.False(t, server.sprung(), r.stderr)
		})
	}
}

// The user's own environment names a store. Without this, the tests above could not fail.
func TestTheUsersEnvironmentNamesATeamStore(t *testing.T) {
	t.Parallel()
	v, server := newVictim(t), newTrap(t)
	v.env = append(v.env, "XCSH_TEAM_URL="+server.url())
	cmd := v.command("team", "doctor")
	require.NoError(t, cmd.Start())
	conn, err := server.Accept() // by the program: nothing else knows the port
	require.NoError(t, err)
	require.NoError(t, conn.Close())
	require.NoError(t, server.Close())
	require.Error(t, cmd.Wait(), "no PostgreSQL answers")
}
