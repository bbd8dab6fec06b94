package catalog

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/agent/provider/agentdb"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// missingKey returns the error for a provider without a key. If a program is signed in there, the error says so and why that is of no
// use here: such a login is issued to the program, a refresh token works once, and a ban would hit the user.
func (c *Catalog) missingKey(ctx context.Context, id string) error {
	program, store := c.signedIn(ctx, id)
	if store == "" {
		return provider.MissingKey(provider.Source{ID: id, Name: nameOf(id), Variable: variablesOf(id)[0]})
	}
	login := fmt.Sprintf("%s is signed in with a subscription in %s, which only %s may use.", id, program, program)
	return fault.New(fault.Provider, `%s Give an API key instead: set %s, or put {"%s": {"type": "api_key", "key": "…"}} into %s; let %s answer with xcsh.setEngine; `+
		`or choose another model with xcsh.setModel.`, login, variablesOf(id)[0], id, c.short(filepath.Join(c.AgentDirs[0], AuthFile)), program).
		With("reason", provider.NeedsKey).With("provider", id).With("providerName", nameOf(id)).With("variable", variablesOf(id)[0]).
		With("program", program).With("store", store).With("login", fault.OneLine(login))
}

// signedIn returns the program with a login for a provider, and the file that has it; "" if there is none.
func (c *Catalog) signedIn(ctx context.Context, id string) (program, store string) {
	for _, dir := range c.dirs() {
		if path := filepath.Join(dir, AuthFile); c.storedKeys(path)[id].Type == loginType {
			return programOf(dir), path
		}
		for _, credential := range c.credentials(ctx, dir) {
			if credential.Login && credential.Provider == id {
				return programOf(dir), agentdb.PathIn(dir)
			}
		}
	}
	return "", ""
}

// programOf returns the name of the program that keeps its logins in an agent directory.
func programOf(dir string) string {
	return session.DialectOfAgentDir(dir).String()
}
