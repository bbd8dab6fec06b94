//go:build !noteam

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/team/pg/pgtest"
)

// home is a machine of a user with a store of a team: its own home directory, and a clone of the project.
type home struct{ *machine }

// storeURL returns the address of a database for a role.
func storeURL(d *pgtest.Database, role string) string {
	return fmt.Sprintf("postgres://%s@127.0.0.1:%d/%s?sslmode=disable", role, d.Port(), d.Name())
}

// newHome returns a machine of the user role.
func newHome(t *testing.T, d *pgtest.Database, role string) home {
	t.Helper()
	h := home{newMachine(t, provider.AnthropicMessages)}
	h.env = []string{"XCSH_TEAM_URL=" + storeURL(d, role), "PGPASSFILE=", "PGSERVICE=", "PGHOST="}
	h.write(filepath.Join(h.work, ".git", "HEAD"), "ref: refs/heads/main\n")
	for _, dir := range []string{"objects", "refs"} { // without them it is no repository
		require.NoError(t, os.MkdirAll(filepath.Join(h.work, ".git", dir), 0o700))
	}
	h.write(filepath.Join(h.work, ".git", "config"), "[remote \"origin\"]\n\turl = https://github.com/acme/web\n")
	return h
}

// says runs the program, which must succeed, and returns its output.
func (h home) says(args ...string) string {
	h.t.Helper()
	code, stdout, stderr := h.run(args...)
	require.Zero(h.t, code, "%v\n%s%s", args, stdout, stderr)
	return stdout
}
