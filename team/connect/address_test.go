package connect_test

import (
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/team/connect"
)

// drive is in front of an absolute path on this system.
var drive = map[bool]string{true: "C:"}[runtime.GOOS == "windows"]

// services is the user's service file.
var services = strings.ReplaceAll(`# stores
[xcsh]
host=db.acme.example
sslmode=verify-full
[ weak ]
host=never.example
[weak]
host = db.acme.example
sslmode = require

[old]
host=old.example
[old]
sslmode=verify-full
[local]
dbname=sessions
[relative]
host=db.acme.example
sslmode=verify-full
sslrootcert=root.crt
[inside]
host=db.acme.example
sslmode=verify-full
sslrootcert=DRIVE/home/ann/web/root.crt
`, "DRIVE", drive)

// machine is a machine in memory with the folder /home/ann/web open, and variables NAME=VALUE.
func machine(t *testing.T, env ...string) connect.Machine {
	t.Helper()
	fsys := afero.NewMemMapFs()
	require.NoError(t, afero.WriteFile(fsys, drive+"/home/ann/.pg_service.conf", []byte(services), 0o600))
	return connect.Machine{Fs: fsys, Home: drive + "/home/ann", Folders: []string{drive + "/home/ann/web"}, Getenv: func(name string) string {
		for _, variable := range env {
			if n, value, _ := strings.Cut(variable, "="); n == name {
				return value
			}
		}
		return ""
	}}
}

const safe = "?sslmode=verify-full"

// The first source counts that has an address, and no other is looked at.
func TestWhereTheAddressComesFrom(t *testing.T) {
	t.Parallel()
	env := []string{"XCSH_TEAM_URL=postgres://env.example/a" + safe, "PGSERVICE=xcsh", "PGHOST=pg.example", "PGSSLMODE=verify-full"}
	for _, c := range []struct {
		settings []connect.Settings
		env      []string
		from     string
		host     string
	}{
		{[]connect.Settings{{Service: "xcsh", URL: "postgres://url.example/a" + safe}, {Service: "weak"}}, env, "team.service", "db.acme.example"},
		{[]connect.Settings{{URL: "postgresql://ann@url.example:6432/a" + safe}, {Service: "xcsh"}}, env, "team.url", "url.example"},
		{[]connect.Settings{{}, {Service: "xcsh"}}, env, "team.service", "db.acme.example"},
		{nil, env, "XCSH_TEAM_URL", "env.example"},
		{nil, env[1:], "PGSERVICE", "db.acme.example"},
		{nil, env[2:], "PGHOST", "pg.example"},
		{nil, []string{"XCSH_TEAM_URL=postgres://ann:" + "s3cret@env.example/a" + safe}, "XCSH_TEAM_URL", "env.example"},
		{[]connect.Settings{{URL: "postgres:///a"}}, nil, "team.url", ""},
		{[]connect.Settings{{URL: "postgres:///a?host=/run/postgresql"}}, nil, "team.url", "/run/postgresql"},
		{[]connect.Settings{{URL: "postgres://a.example:1,b.example:2/a" + safe}}, nil, "team.url", "a.example,b.example"},
		{[]connect.Settings{{URL: "postgres://[2001:db8::1]:1/a" + safe}}, nil, "team.url", "2001:db8::1"},
		{[]connect.Settings{{URL: "postgres:///a"}}, env[2:], "team.url", "pg.example"},
	} {
		a, ok, err := connect.Find(machine(t, c.env...), c.settings...)
		require.NoError(t, err, "%+v", c)
		require.True(t, ok)
		require.Equal(t, c.from, a.From)
		require.Equal(t, c.host, strings.Join(a.Hosts, ","), "%+v", c)
	}
	a, _, err := connect.Find(machine(t), connect.Settings{Service: "xcsh"})
	require.NoError(t, err)
	require.Equal(t, connect.Address{Conn: "postgres:///?service=xcsh", From: "team.service", Hosts: []string{"db.acme.example"}, SSLMode: "verify-full"}, a)
	_, ok, err := connect.Find(machine(t, "PGUSER=ann", "PGSSLMODE=disable"), connect.Settings{PasswordCommand: "/bin/x", Insecure: true})
	require.NoError(t, err)
	require.False(t, ok, "nothing is configured")
}

// A password in the settings is refused, wherever in the address it is, with the sentence of the documentation.
func TestAPasswordInTheSettings(t *testing.T) {
	t.Parallel()
	const mark = "marked-text"
	for _, address := range []string{
		"postgres://ann:" + mark + "@db.acme.example/a" + safe, "postgres://ann@db.acme.example/a?password=" + mark,
		"postgres://:" + mark + "@db.acme.example/a", "postgres://db.acme.example/a" + safe + "&sslpassword=" + mark, "postgres://db.acme.example/a?PassWord=" + mark,
		"postgres://db.acme.example/a?password=" + mark + "&servicefile=x;", "postgres://db.acme.example/a?pass%77ord=" + mark,
	} {
		_, ok, err := connect.Find(machine(t), connect.Settings{URL: address, Insecure: true})
		require.False(t, ok)
		require.Equal(t, fault.InvalidArgument, fault.KindOf(err), address)
		require.Equal(t, "A password does not belong in the settings; put it into ~/.pgpass and leave it out of the address.", err.Error(), address)
	}
	for _, address := range []string{ // cannot be read, but may contain a password
		"postgres://ann:" + mark + "%zz@db.acme.example/a", "host=db.acme.example password=" + mark, "http://ann:" + mark + "@db.acme.example", "postgres:ann:" + mark, "POSTGRES://db.acme.example/a", "postgres:/localhost/ host=evil.example", " postgres://db.acme.example/a",
		"postgres://ann:" + mark + "@db.acme.example:port/a", "postgres://ann:" + mark + "@db.acme.example%2Cevil/a", "postgres://db.acme.example/a#" + mark,
	} {
		for _, m := range []struct {
			m connect.Machine
			s connect.Settings
		}{{machine(t), connect.Settings{URL: address}}, {machine(t, "XCSH_TEAM_URL="+address), connect.Settings{}}} {
			_, ok, err := connect.Find(m.m, m.s)
			require.False(t, ok)
			require.Equal(t, fault.InvalidArgument, fault.KindOf(err), address)
			require.NotContains(t, err.Error(), mark)
		}
	}
}

// A server that does not prove who it is is refused, unless it is this machine or the user allows it.
// Proves: TM-20
func TestAServerHasToProveWhoItIs(t *testing.T) {
	t.Parallel()
	refused := func(host, mode string) string {
		return host + " does not prove who it is (sslmode=" + mode + "). Use verify-full, or allow it with team.insecure."
	}
	for _, c := range []struct {
		s    connect.Settings
		env  []string
		want string
	}{
		{connect.Settings{Service: "weak"}, nil, refused("db.acme.example", "require")},
		{connect.Settings{Service: "old"}, nil, ""},
		{connect.Settings{URL: "postgres://db.acme.example/a"}, nil, refused("db.acme.example", "prefer")},
		{connect.Settings{URL: "postgres://db.acme.example/a?sslmode=verify-ca"}, nil, refused("db.acme.example", "verify-ca")},
		{connect.Settings{URL: "postgres://db.acme.example/a?sslmode=disable"}, nil, refused("db.acme.example", "disable")},
		{connect.Settings{URL: "postgres://db.acme.example/a?sslmode=VERIFY-FULL"}, nil, refused("db.acme.example", "VERIFY-FULL")},
		{connect.Settings{URL: "postgres://db.acme.example/a?sslrootcert=system"}, nil, ""},
		{connect.Settings{URL: "postgres://db.acme.example/a"}, []string{"PGSSLMODE=verify-full"}, ""},
		{connect.Settings{URL: "postgres://db.acme.example/a?sslmode=require"}, []string{"PGSSLMODE=verify-full"}, refused("db.acme.example", "require")},
		{connect.Settings{URL: "postgres://db.acme.example/a"}, []string{"PGSERVICE=weak"}, refused("db.acme.example", "require")},
		{connect.Settings{Service: "xcsh"}, []string{"PGSSLMODE=disable"}, ""},
		{connect.Settings{URL: "postgres://localhost,db.acme.example/a"}, nil, refused("db.acme.example", "prefer")},
		{connect.Settings{URL: "postgres://localhost.evil.example/a"}, nil, refused("localhost.evil.example", "prefer")},
		{connect.Settings{URL: "postgres://127.0.0.1.evil.example/a"}, nil, refused("127.0.0.1.evil.example", "prefer")},
		{connect.Settings{URL: "postgres://localhost@evil.example/a"}, nil, refused("evil.example", "prefer")},
		{connect.Settings{}, []string{"PGHOST=evil.example"}, refused("evil.example", "prefer")},
		{connect.Settings{URL: "postgres://localhost:5433/a"}, nil, ""},
		{connect.Settings{URL: "postgres://127.0.0.1/a?sslmode=disable"}, nil, ""},
		{connect.Settings{URL: "postgres://[::1]/a?sslmode=disable"}, nil, ""},
		{connect.Settings{Service: "local"}, nil, ""},
		{connect.Settings{}, []string{"PGHOST=/run/postgresql"}, ""},
		{connect.Settings{Service: "weak", Insecure: true}, nil, ""},
	} {
		a, ok, err := connect.Find(machine(t, c.env...), c.s)
		if c.want == "" {
			require.NoError(t, err, "%+v", c)
			require.True(t, ok)
			require.Equal(t, c.s.Insecure, a.Insecure)
			continue
		}
		require.Equal(t, fault.Refused, fault.KindOf(err), "%+v", c)
		require.Equal(t, c.want, err.Error())
	}
}

// Nothing that an address or a variable names may be a file that a workspace could provide.
func TestFilesOfAWorkspaceAreRefused(t *testing.T) {
	t.Parallel()
	url := func(parameter string) connect.Settings {
		return connect.Settings{URL: "postgres://db.acme.example/a" + safe + "&" + parameter}
	}
	for _, c := range []struct {
		s   connect.Settings
		env string
	}{
		{connect.Settings{Service: "relative"}, ""},
		{connect.Settings{Service: "inside"}, ""},
		{connect.Settings{Service: "xcsh"}, "PGSERVICEFILE=pg_service.conf"},
		{connect.Settings{Service: "xcsh"}, "PGSERVICEFILE=" + drive + "/home/ann/web/pg_service.conf"},
		{connect.Settings{Service: "xcsh"}, "PGSERVICEFILE=" + drive + "/home/ann/x/../web/pg_service.conf"},
		{connect.Settings{Service: "xcsh"}, "PGPASSFILE=.pgpass"},
		{connect.Settings{Service: "xcsh"}, "PGPASSFILE=" + drive + "/home/ann/web/.pgpass"},
		{connect.Settings{Service: "xcsh"}, "PGSSLROOTCERT=./root.crt"},
		{connect.Settings{Service: "xcsh"}, "PGSSLCERT=" + drive + "/home/ann/web/c"},
		{connect.Settings{Service: "xcsh"}, "PGSSLKEY=" + drive + "/home/ann/web/k"},
		{url("sslrootcert=root.crt"), ""},
		{url("sslrootcert=" + drive + "/home/ann/web/root.crt"), ""},
		{url("sslkey=" + drive + "/home/ann/web/k"), ""},
	} {
		m := machine(t, c.env)
		require.NoError(t, afero.WriteFile(m.Fs, drive+"/home/ann/web/pg_service.conf", []byte("[xcsh]\nhost=evil.example\nsslmode=verify-full\n"), 0o600))
		_, ok, err := connect.Find(m, c.s)
		require.False(t, ok, "%+v", c)
		require.Equal(t, fault.Denied, fault.KindOf(err), "%+v: %v", c, err)
	}
	for _, parameter := range []string{"servicefile=" + drive + "/home/ann/x", "service=weak", "passfile=" + drive + "/home/ann/.pgpass", "host=evil.example", "hostaddr=10.0.0.1", "options=-c", "sslmode=disable", "dbname=x"} {
		_, _, err := connect.Find(machine(t), url(parameter))
		require.Equal(t, fault.InvalidArgument, fault.KindOf(err), parameter)
	}
	m := machine(t, "PGPASSFILE="+drive+"/home/ann/.pgpass")
	m.Folders = []string{drive + "/home/ann", drive + "/home"} // the user's own directory is open
	_, ok, err := connect.Find(m, connect.Settings{Service: "xcsh"})
	require.NoError(t, err)
	require.True(t, ok)
}

// opened records the files that are opened.
type opened struct {
	afero.Fs
	paths []string
}

func (o *opened) Open(name string) (afero.File, error) { return o.OpenFile(name, 0, 0) }

func (o *opened) OpenFile(name string, flag int, mode os.FileMode) (afero.File, error) {
	o.paths = append(o.paths, name)
	return o.Fs.OpenFile(name, flag, mode)
}

// Whatever a workspace contains, no file of it is read for an address.
func TestNoFileOfAWorkspaceIsRead(t *testing.T) {
	t.Parallel()
	m := machine(t)
	for _, name := range []string{".pg_service.conf", "pg_service.conf", ".pgpass", ".env", ".xcsh/team.json", ".xcsh/settings.json", ".vscode/settings.json", ".devcontainer/devcontainer.json"} {
		require.NoError(t, afero.WriteFile(m.Fs, drive+"/home/ann/web/"+name, []byte(`{"xcshLs.team.url":"postgres://evil.example/a?sslmode=verify-full","url":"postgres://evil.example/a"}`), 0o600))
	}
	fsys := &opened{Fs: m.Fs}
	m.Fs = fsys
	_, ok, err := connect.Find(m)
	require.NoError(t, err)
	require.False(t, ok)
	require.Empty(t, fsys.paths)
	_, ok, err = connect.Find(m, connect.Settings{Service: "xcsh"})
	require.NoError(t, err)
	require.True(t, ok)
	require.Equal(t, []string{filepath.FromSlash(drive + "/home/ann/.pg_service.conf")}, fsys.paths)
}

func TestSettingsOfAFolderHaveNoTeam(t *testing.T) {
	t.Parallel()
	for section, want := range map[string]string{
		`{"model":"a","team":{"url":"postgres://evil.example"},"x":1.0}`:           `{"model":"a","x":1.0}`,
		`{"team.url":"postgres://evil.example","team.insecure":true,"teamwork":1}`: `{"teamwork":1}`,
		`{"\u0074eam":{"service":"evil"},"team":null,"team":{}}`:                   `{}`,
		`null`: `null`, `[{"team":1}]`: `[{"team":1}]`, `{}`: `{}`,
	} {
		require.Equal(t, want, string(connect.WithoutTeam([]byte(section))))
	}
}

func TestAMissingService(t *testing.T) {
	t.Parallel()
	_, _, err := connect.Find(machine(t), connect.Settings{Service: "other"})
	require.Equal(t, `The team store is the service "other", which is not in `+filepath.FromSlash(drive+"/home/ann/.pg_service.conf")+".", err.Error())
	_, _, err = connect.Find(machine(t, "PGSERVICEFILE="+drive+"/etc/missing"), connect.Settings{Service: "xcsh"})
	require.Equal(t, `The team store is the service "xcsh", but there is no file `+drive+"/etc/missing.", err.Error())
	a, _, err := connect.Find(machine(t), connect.Settings{Service: "local", URL: "x"})
	require.NoError(t, err)
	require.Equal(t, "postgres:///?service=local", a.Conn)
}

// FuzzFind: no panic; no address of the settings with a password, and no error that repeats one; no other machine without proof.
func FuzzFind(f *testing.F) {
	const mark = "SECRET"
	for _, address := range []string{
		"postgres://ann@db.acme.example:5432/a?sslmode=verify-full", "postgres://ann:" + mark + "@h/a", "postgres://h/a?password=" + mark, "postgres://a,b/c", "postgres://[::1]/",
		"postgres://h/a;password=" + mark, "host=h password=" + mark, "postgres:///a?host=/x", "postgres://localhost%00.evil/a", "postgres://h/a?sslrootcert=system&sslmode=disable",
	} {
		f.Add(address)
	}
	f.Fuzz(func(t *testing.T, address string) {
		a, ok, err := connect.Find(machine(t), connect.Settings{URL: address})
		if !ok {
			if err == nil {
				require.Empty(t, address)
				return
			}
			if host, _, found := strings.Cut(address, mark); found && strings.Contains(host, "password=") {
				require.NotContains(t, err.Error(), mark)
			}
			return
		}
		require.NoError(t, err)
		for _, host := range a.Hosts {
			require.True(t, connect.IsLocal(host) || a.SSLMode == "verify-full")
		}
		u, err := url.Parse(a.Conn)
		require.NoError(t, err)
		_, has := u.User.Password()
		require.False(t, has)
		require.False(t, u.Query().Has("password"))
		require.Regexp(t, "^postgres(ql)?://", a.Conn, "the driver reads it as a URL")
	})
}
