//go:build !noteam && unix

package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/commands"
	"github.com/xcsh-ls/xcsh-ls/internal/lsptest"
	"github.com/xcsh-ls/xcsh-ls/internal/providertest"
	"github.com/xcsh-ls/xcsh-ls/internal/racetest"
	"github.com/xcsh-ls/xcsh-ls/team/pg/pgtest"
	"github.com/xcsh-ls/xcsh-ls/team/teamtest"
)

// recorded is a machine whose connections to the store are recorded, without TLS, so that the bytes are readable.
type recorded struct {
	home
	wire *teamtest.Proxy
}

func newRecorded(t *testing.T, d *pgtest.Database, role string) recorded {
	t.Helper()
	h := newHome(t, d, role)
	r := recorded{home: h, wire: teamtest.NewProxy(t, d.Port())}
	r.wire.Record()
	h.env = append(h.env, fmt.Sprintf("XCSH_TEAM_URL=postgres://%s@127.0.0.1:%d/%s?sslmode=disable", role, r.wire.Port, d.Name()))
	return r
}

// without requires that none of the texts was sent to the store.
func (r recorded) without(texts ...string) {
	r.t.Helper()
	up := string(r.wire.Recorded().Up)
	for _, text := range texts {
		require.NotContains(r.t, up, text)
	}
}

// requireSent waits until the texts have been sent to the store.
func (r recorded) requireSent(texts ...string) {
	r.t.Helper()
	require.Eventually(r.t, func() bool {
		up := string(r.wire.Recorded().Up)
		for _, text := range texts {
			if !strings.Contains(up, text) {
				return false
			}
		}
		return true
	}, patience, tick)
}

// editor starts the built server for an editor on this machine that shows documents of the server.
func (h home) editor() *lsptest.Editor {
	h.t.Helper()
	ed := lsptest.StartProcess(h.t, h.command("--stdio"))
	ed.Initialize(lsptest.Fields{
		"initializationOptions": lsptest.Fields{"model": "fake/m"},
		"workspaceFolders":      []any{lsptest.Fields{"uri": lsptest.URI(h.work), "name": "w"}},
		"capabilities":          lsptest.Fields{"workspace": lsptest.Fields{"textDocumentContent": lsptest.Fields{}}},
	})
	return ed
}

// decoded runs a command that must succeed, and decodes its result.
func decoded[T any](t *testing.T, ed *lsptest.Editor, command string, args lsptest.Fields) (result T) {
	t.Helper()
	raw, failure := ed.Exec(command, args)
	require.Nil(t, failure, command)
	require.NoError(t, json.Unmarshal(raw, &result))
	return result
}

// ends ends a server as an editor does.
func ends(ed *lsptest.Editor) {
	ed.Shutdown()
	ed.Exit()
	ed.Wait()
}

// The bytes between a server and the store, from the first folder to the end of a consent: without a command of the team nothing
// connects, before the consent nothing of a conversation is sent, afterwards only the new one, and with its end nothing more.
func TestTheWireBeforeTheConsent(t *testing.T) {
	t.Parallel()
	racetest.Large(t)
	d, ann, _ := teamOf(t)
	h := newRecorded(t, d, ann)
	token := "ghp_" + strings.Repeat("a1B2c3", 6)
	older := []string{"the older plan", "the older answer", "the older title", "prompted before the consent", "prompted after the consent"}
	old, late := providertest.Reply{Text: "the older answer"}, providertest.Reply{Text: "a late answer"}
	h.Script("m", old, old, old)
	ed := h.editor()
	prompt := func(text string) { decoded[any](t, ed, "xcsh.prompt", lsptest.Fields{"text": text}) }

	// Work without the team.
	prompt("the older plan")
	decoded[any](t, ed, "xcsh.rename", lsptest.Fields{"title": "the older title"})
	require.Len(t, decoded[commands.ListResult](t, ed, "xcsh.list", lsptest.Fields{}).Sessions, 1)
	require.Equal(t, "off", decoded[commands.TeamStatus](t, ed, "xcsh.team.status", nil).State)
	path, _ := h.file()
	older = append(older, headerIDOf(t, h.read(path)))
	require.Zero(t, h.wire.Recorded().Connections, "nothing has asked for the store")

	// The list of the team and the plan connect, and send nothing of a conversation.
	decoded[any](t, ed, "xcsh.list", lsptest.Fields{"scope": "team"})
	prompt("prompted before the consent")
	plan := decoded[commands.TeamPlan](t, ed, "xcsh.team.share", lsptest.Fields{"scope": "new"})
	require.Equal(t, 1, plan.Older)
	require.Zero(t, plan.Sessions)
	require.Positive(t, h.wire.Recorded().Connections)
	h.requireSent("hello_v1")
	h.without(older...)

	// The consent is for new conversations.
	decoded[any](t, ed, "xcsh.team.share", lsptest.Fields{"scope": "new", "planToken": plan.Token})
	prompt("prompted after the consent")
	decoded[any](t, ed, "xcsh.new", nil)
	h.Script("m", providertest.Reply{Text: "a public answer"})
	prompt("a public question with " + token)
	h.requireSent("a public question with ", "a public answer")
	h.without(append(older, token)...)
	require.Equal(t, 1, pgtest.Value[int](t, d, `select count(*)::int from xcsh.session`))

	// Its end is for all of them.
	decoded[any](t, ed, "xcsh.team.share", lsptest.Fields{"scope": "off"})
	h.Script("m", late, late, late)
	prompt("a late question in the same conversation")
	decoded[any](t, ed, "xcsh.new", nil)
	prompt("a late question")
	ends(ed)
	ed = h.editor()
	prompt("a late question to the next server")
	ends(ed)
	h.without(append(older, token, "a late")...)
}

// headerIDOf returns the id in the header of a session file.
func headerIDOf(t *testing.T, content string) string {
	t.Helper()
	first, _, _ := strings.Cut(content, "\n")
	var header struct{ ID string }
	require.NoError(t, json.Unmarshal([]byte(first), &header))
	require.NotEmpty(t, header.ID)
	return header.ID
}
