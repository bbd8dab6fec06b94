//go:build !noteam

package main

import (
	"cmp"
	"context"
	"os"
	"path/filepath"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/lsp"
	"github.com/xcsh-ls/xcsh-ls/team/connect"
	"github.com/xcsh-ls/xcsh-ls/team/consent"
	"github.com/xcsh-ls/xcsh-ls/team/pg"
)

// Settings of the team store for programs without an editor. Like XCSH_TEAM_URL, they come from the user's environment.
const (
	teamURLVariable      = "XCSH_TEAM_URL"
	teamServiceVariable  = "XCSH_TEAM_SERVICE" // counts without XCSH_TEAM_URL only
	teamPasswordVariable = "XCSH_TEAM_PASSWORD_COMMAND"
	teamInsecureVariable = "XCSH_TEAM_INSECURE"
)

// teamSource finds the team store of a user.
type teamSource struct {
	machine  connect.Machine
	settings lsp.TeamSettings
	dir      string // <agentDir>/xcsh-ls/team
}

// teamSource returns the source for a place. folders are the workspace folders.
func (p place) teamSource(s lsp.Settings, folders []string) teamSource {
	return teamSource{
		machine:  connect.Machine{Fs: p.fs, Home: p.env.Home, Getenv: os.Getenv, Folders: folders, Real: filepath.EvalSymlinks},
		settings: s.Team,
		dir:      filepath.Join(p.own, "team"),
	}
}

// configured reports whether a store may be set up. It opens no file.
func (t teamSource) configured() bool {
	if t.settings.Service != "" || t.settings.URL != "" {
		return true
	}
	for _, name := range []string{teamURLVariable, teamServiceVariable, "PGSERVICE", "PGHOST"} {
		if t.machine.Getenv(name) != "" {
			return true
		}
	}
	_, err := t.machine.Fs.Stat(t.decisions().Path())
	return err == nil
}

// decisions is the file of what the user has agreed to. It only reads: it has no locks.
func (t teamSource) decisions() consent.File { return consent.File{Fs: t.machine.Fs, Dir: t.dir} }

// find returns the address of the store, and how to connect to it.
func (t teamSource) find() (connect.Address, pg.Config, error) {
	decided, err := t.decisions().Read()
	if err != nil {
		return connect.Address{}, pg.Config{}, err
	}
	own := connect.Settings{
		Service: t.settings.Service, URL: t.settings.URL,
		PasswordCommand: cmp.Or(t.settings.PasswordCommand, t.machine.Getenv(teamPasswordVariable)),
		Insecure:        t.settings.Insecure || t.machine.Getenv(teamInsecureVariable) == "1",
	}
	settings := []connect.Settings{own, {Service: decided.Service, URL: decided.URL}}
	if t.machine.Getenv(teamURLVariable) == "" {
		settings = append(settings, connect.Settings{Service: t.machine.Getenv(teamServiceVariable)})
	}
	address, ok, err := connect.Find(t.machine, settings...)
	if err != nil {
		return connect.Address{}, pg.Config{}, err
	}
	if !ok {
		return connect.Address{}, pg.Config{}, fault.New(fault.Refused,
			"No team store is set up. Set XCSH_TEAM_URL to its address, or PGSERVICE to a service of ~/.pg_service.conf.")
	}
	c := pg.Config{Conn: address.Conn}
	if own.PasswordCommand != "" {
		c.Password = connect.PasswordCommand{Machine: t.machine, Path: own.PasswordCommand}.Password
	}
	return address, c, nil
}

// store opens the store for commands that administer it.
func (t teamSource) store() (*pg.Store, error) {
	_, c, err := t.find()
	if err != nil {
		return nil, err
	}
	return pg.Open(c)
}

// withStore calls f with the store, which it closes afterwards.
func (t teamSource) withStore(ctx context.Context, f func(context.Context, *pg.Store) error) error {
	s, err := t.store()
	if err != nil {
		return err
	}
	defer s.Close() //nolint:errcheck // always nil
	return f(ctx, s)
}
