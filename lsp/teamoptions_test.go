package lsp_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/xcsh-ls/xcsh-ls/internal/lsptest"
	"github.com/xcsh-ls/xcsh-ls/lsp"
)

// hostileTeam is a store that a file of a workspace could name in the section of an editor without scopes.
var hostileTeam = lsptest.Fields{
	"service": "evil", "url": "postgres://u@evil.example/x", "passwordCommand": "/w/evil", "insecure": true, "flush": 60,
	"hosts": []any{"evil.example"}, "alias": lsptest.Fields{"git:github.com/a/b#": "git:evil.example/c#"},
}

const ignoredTeam = `{"type":2,"message":"The settings xcshLs.team.alias, xcshLs.team.flush, xcshLs.team.hosts, xcshLs.team.insecure, ` +
	`xcshLs.team.passwordCommand, xcshLs.team.service, xcshLs.team.url are ignored because they may come from the workspace. ` +
	`Set them in the initialization options of your own configuration."}`

// The section of a client that does not say where its values come from never chooses a store, or changes one.
func TestTheSectionDoesNotChooseAStore(t *testing.T) {
	t.Parallel()
	for name, options := range map[string]lsptest.Fields{
		"none":              {},
		"the user's own":    {"team": lsptest.Fields{"url": "postgres://ann@db.example/s?sslmode=verify-full", "flush": 7, "hosts": []any{"h"}, "alias": lsptest.Fields{"name:a": "name:b"}}},
		"not a declaration": {"machineScope": "true"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, backends := configurable(t)
			ed := lsptest.Start(t, f.options)
			ed.Initialize(lsptest.Fields{"capabilities": canBeAsked, "initializationOptions": options})
			first := receive(t, backends).settings
			answerConfiguration(t, ed, lsptest.Fields{"team": hostileTeam, "machineScope": true, "ui": lsptest.Fields{"pick": true}})
			require.JSONEq(t, ignoredTeam, string(ed.WaitNotification("window/showMessage")))
			second := receive(t, backends).settings
			require.True(t, second.UI.Pick, "other settings count")
			require.Equal(t, first.Team, second.Team)
			for _, value := range []any{"evil", lsptest.Fields{"url": 1, "insecure": "yes"}, []any{hostileTeam}, nil} {
				ed.Notify("workspace/didChangeConfiguration", lsptest.Fields{"settings": nil})
				answerConfiguration(t, ed, lsptest.Fields{"team": value, "team.url": "postgres://u@evil.example/x", "persist": "no", "ui": lsptest.Fields{"pick": true}})
				require.JSONEq(t, `{"type":2,"message":"The option \"xcshLs.persist\" must be true or false; the default is used."}`,
					string(ed.WaitNotification("window/showMessage")), "the only message")
			}
			require.True(t, picks(t, ed))
			require.Empty(t, backends, "nothing else changed")
		})
	}
}

// A client with settings of machine scope says so in its options, and its section then counts.
func TestTheStoreOfAClientWithScopes(t *testing.T) {
	t.Parallel()
	f, backends := configurable(t)
	ed := lsptest.Start(t, f.options)
	ed.Initialize(lsptest.Fields{"capabilities": canBeAsked, "initializationOptions": lsptest.Fields{"machineScope": true}})
	require.Zero(t, receive(t, backends).settings.Team)
	answerConfiguration(t, ed, lsptest.Fields{"team": lsptest.Fields{
		"service": "xcsh", "url": "", "passwordCommand": "/home/ann/pw", "insecure": true, "flush": 10, "hosts": []any{"git.example"}, "alias": lsptest.Fields{"name:a": "name:b"},
	}})
	require.False(t, picks(t, ed))
	require.Equal(t, lsp.TeamSettings{
		Service: "xcsh", PasswordCommand: "/home/ann/pw", Insecure: true, Flush: 10 * time.Second, Hosts: []string{"git.example"}, Alias: map[string]string{"name:a": "name:b"},
	}, receive(t, backends).settings.Team)
}

func TestTeamOptionsOfWrongTypes(t *testing.T) {
	t.Parallel()
	s, problems := lsp.ReadSettings(rawJSON(`{"team":{"service":1,"url":[],"passwordCommand":["x"],"insecure":"true","flush":601,"hosts":"h","alias":["a"],"later":1}}`), zap.NewNop())
	require.Zero(t, s)
	require.Equal(t, []string{
		`The option "team.alias" must be an object of strings; the default is used.`,
		`The option "team.flush" must be a whole number from 1 to 600; the default is used.`,
		`The option "team.hosts" must be a list of strings; the default is used.`,
		`The option "team.insecure" must be true or false; the default is used.`,
		`The option "team.passwordCommand" must be a string; the default is used.`,
		`The option "team.service" must be a string; the default is used.`,
		`The option "team.url" must be a string; the default is used.`,
	}, problems)
}
