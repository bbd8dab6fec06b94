package connect

import (
	"maps"
	"net/netip"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

// Address is a store that this machine may connect to.
type Address struct {
	// Conn is the connection string. What it leaves out comes from the environment, which Find has checked. It may contain a
	// password if it comes from the environment.
	Conn string

	From     string   // the name of the setting or variable
	Hosts    []string // as they are tried; "" for the socket of this machine
	SSLMode  string
	Insecure bool // the server does not have to prove who it is, because the user said so
}

// Find returns the address of the store: that of the first of the settings which have one, else that of XCSH_TEAM_URL, else that of
// PGSERVICE or PGHOST. Of one of the settings, the service comes before the URL. ok is false if there is none.
//
// The error is of kind invalidArgument, denied or refused, and does not contain a password.
func Find(m Machine, settings ...Settings) (a Address, ok bool, err error) {
	var p params
	for _, s := range settings {
		a.Insecure = a.Insecure || s.Insecure
	}
	for _, s := range settings {
		if s.Service != "" {
			a.From, a.Conn, p = "team.service", serviceURL(s.Service), params{"service": s.Service}
			break
		}
		if s.URL != "" {
			a.From, a.Conn = "team.url", s.URL
			if p, err = parseURL(a.From, s.URL, false); err != nil {
				return Address{}, false, err
			}
			break
		}
	}
	switch address := m.Getenv("XCSH_TEAM_URL"); {
	case a.From != "":
	case address != "":
		a.From, a.Conn = "XCSH_TEAM_URL", address
		if p, err = parseURL(a.From, address, true); err != nil {
			return Address{}, false, err
		}
	case m.Getenv("PGSERVICE") != "":
		a.From = "PGSERVICE"
	case m.Getenv("PGHOST") != "":
		a.From = "PGHOST"
	default:
		return Address{}, false, nil
	}
	if p, err = m.effective(p); err != nil {
		return Address{}, false, err
	}
	a.Hosts, a.SSLMode = strings.Split(p["host"], ","), p.sslMode()
	if err := a.check(); err != nil {
		return Address{}, false, err
	}
	return a, true, nil
}

func serviceURL(name string) string { return "postgres:///?service=" + url.QueryEscape(name) }

// check refuses a server that does not prove who it is.
func (a Address) check() error {
	if a.Insecure || a.SSLMode == verifyFull {
		return nil
	}
	for _, host := range a.Hosts {
		if !IsLocal(host) {
			return a.Refusal(host)
		}
	}
	return nil
}

// Refusal is the error for a host that does not prove who it is.
func (a Address) Refusal(host string) error {
	return fault.New(fault.Refused, "%s does not prove who it is (sslmode=%s). Use verify-full, or allow it with team.insecure.", host, a.SSLMode)
}

// IsLocal reports whether a host is this machine: a socket, or an address that no other machine has.
func IsLocal(host string) bool {
	if host == "" || host == "localhost" || strings.HasPrefix(host, "/") || len(host) > 2 && host[1:3] == `:\` {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsLoopback()
}

// verifyFull is the only mode in which a server proves its name.
const verifyFull = "verify-full"

// params are the parameters of a connection by their names in libpq.
type params map[string]string

// sslMode returns the mode that holds.
func (p params) sslMode() string {
	if p["sslrootcert"] == "system" {
		return verifyFull
	}
	if mode := p["sslmode"]; mode != "" {
		return mode
	}
	return "prefer"
}

// inURL are the parameters that an address may have behind its question mark. Not among them are those that name another source
// of parameters.
var inURL = []string{
	"application_name", "channel_binding", "connect_timeout", "host", "require_auth", "sslcert", "sslkey", "sslmode", "sslnegotiation", "sslrootcert",
	"target_session_attrs", "user",
}

// plainHosts are hosts that every parser of addresses reads alike.
var plainHosts = regexp.MustCompile(`^[A-Za-z0-9._,:\[\]-]*$`)

// parseURL reads the address that comes from the setting or variable called from.
func parseURL(from, address string, mayHavePassword bool) (params, error) {
	u, err := url.Parse(address)
	// The driver takes everything else as a list of KEY=VALUE.
	isURL := strings.HasPrefix(address, "postgres://") || strings.HasPrefix(address, "postgresql://")
	if err != nil || !isURL || !plainHosts.MatchString(u.Host) {
		// The address is not repeated, nor is the cause, which quotes it: it may contain a password.
		return nil, fault.New(fault.InvalidArgument, "%s is not an address of PostgreSQL. Write it as postgres://USER@HOST/DATABASE?sslmode=verify-full.", from).With("field", from)
	}
	p := params{"host": hostsOf(u.Host)}
	password, has := u.User.Password()
	query, err := url.ParseQuery(u.RawQuery)
	for name, values := range query {
		if strings.Contains(strings.ToLower(name), "password") {
			has = true
			continue
		}
		if !slices.Contains(inURL, name) || len(values) > 1 || name == "host" && p["host"] != "" {
			return nil, fault.New(fault.InvalidArgument, "%s has the parameter %q, which the address of a team store cannot have here. Remove it, or use a service of ~/.pg_service.conf.", from, name).With("field", from)
		}
		p[name] = values[0]
	}
	if (has || password != "") && !mayHavePassword {
		return nil, fault.New(fault.InvalidArgument, "A password does not belong in the settings; put it into ~/.pgpass and leave it out of the address.").With("field", from)
	}
	if err != nil || u.Fragment != "" {
		return nil, fault.New(fault.InvalidArgument, "%s is not an address of PostgreSQL. Write it as postgres://USER@HOST/DATABASE?sslmode=verify-full.", from).With("field", from)
	}
	return p, nil
}

// hostsOf returns the hosts of an authority without their ports, separated by commas.
func hostsOf(authority string) string {
	hosts := strings.Split(authority, ",")
	for i, host := range hosts {
		if inner, bracket := strings.CutPrefix(host, "["); bracket {
			hosts[i], _, _ = strings.Cut(inner, "]")
			continue
		}
		hosts[i], _, _ = strings.Cut(host, ":")
	}
	return strings.Join(hosts, ",")
}

// fromEnvironment are the variables of libpq that matter here.
var fromEnvironment = map[string]string{
	"PGHOST": "host", "PGSSLMODE": "sslmode", "PGSSLROOTCERT": "sslrootcert", "PGSSLCERT": "sslcert", "PGSSLKEY": "sslkey",
	"PGPASSFILE": "passfile", "PGSERVICE": "service", "PGSERVICEFILE": "servicefile",
}

// files are the parameters that are paths.
var files = []string{"passfile", "servicefile", "sslcert", "sslkey", "sslrootcert"}

// effective adds to the parameters of a connection string those of its service, and of the environment, by the precedence of libpq.
func (m Machine) effective(conn params) (params, error) {
	all := params{}
	for variable, name := range fromEnvironment {
		if value := m.Getenv(variable); value != "" {
			all[name] = value
		}
	}
	service := all["service"]
	if conn["service"] != "" {
		service = conn["service"]
	}
	if service != "" {
		if err := m.checkFile("servicefile", all["servicefile"]); err != nil {
			return nil, err
		}
		of, err := m.service(all["servicefile"], service)
		if err != nil {
			return nil, err
		}
		maps.Copy(all, of)
	}
	for name, value := range conn {
		if name != "host" || value != "" {
			all[name] = value
		}
	}
	for _, name := range files {
		if err := m.checkFile(name, all[name]); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// checkFile refuses the path of a parameter if a workspace could have put the file there. A relative path depends on the folder in
// which the server was started.
func (m Machine) checkFile(name, path string) error {
	switch {
	case path == "", name == "sslrootcert" && path == "system":
		return nil
	case !filepath.IsAbs(path):
		return fault.New(fault.Denied, "The %s of the team store is the relative path %s, which a workspace could provide. Write it as an absolute path.", name, path).With("path", path)
	}
	if folder := m.folderOf(path); folder != "" {
		return fault.New(fault.Denied, "The %s of the team store, %s, is in the workspace %s, so it is not used. Move it to your own directory.", name, path, folder).With("path", path)
	}
	return nil
}
