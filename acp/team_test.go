package acp_test

import (
	"context"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/acp"
	"github.com/xcsh-ls/xcsh-ls/commands"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/library"
)

const (
	teamID   = "0190000000000002"
	teamFile = sessions + "/2026-01-02T00-00-00-000Z_" + teamID + ".jsonl"
)

// store is a team's store with sessions that are not on this machine. The tests call no other methods.
type store struct {
	commands.Team
	fs     afero.Fs
	remote []library.Info
	id     string // in the header of what is pulled
}

func (s *store) Mark([]library.Info) {}

func (s *store) List(context.Context, string, string, []library.Info) ([]library.Info, []session.Problem, error) {
	return s.remote, nil, nil
}

func (s *store) Find(_ context.Context, _, target string) (found []library.Info, err error) {
	if target == "unreachable" {
		return nil, fault.New(fault.Offline, "The team store cannot be reached.")
	}
	for _, i := range s.remote {
		if i.ID == target {
			found = append(found, i)
		}
	}
	return found, nil
}

func (s *store) Pull(context.Context, string, string, func(done, total int64)) (string, int64, error) {
	body := st.File(st.Header(s.id, "/w"), st.User("aaaaaaaa", "", "Kim's question"), st.Assistant("bbbbbbbb", "aaaaaaaa", "an answer"))
	return teamFile, int64(len(body)), afero.WriteFile(s.fs, teamFile, []byte(body), 0o600)
}

func connectTeam(t *testing.T, w *world) (*client, *store) {
	t.Helper()
	team := &store{fs: w.fs, id: teamID, remote: []library.Info{
		{ID: teamID, Title: "Kim's\x1b[2J plan", Name: "plan", Cwd: ".", Modified: "2026-01-05T00:00:00.000Z", Team: &library.Team{SID: "s-1", Owner: "kim", Remote: true}},
		{ID: id1, Name: "a fork", Team: &library.Team{SID: "s-2", Owner: "kim", Remote: true, Variant: 1}},
	}}
	c := w.start(t, func(o *acp.Options) { o.Backend.Team = team })
	c.ok("initialize", object{"protocolVersion": 1, "clientCapabilities": object{}})
	return c, team
}

// A folder's list has the sessions of its project in the store; loading one pulls it.
func TestSessionsOfTheTeam(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.talk(t)
	c, _ := connectTeam(t, w)
	listed := c.ok("session/list", object{"cwd": "/w"})["sessions"].([]any)
	require.Len(t, listed, 2, "a fork with the id of another session cannot be loaded")
	var remote object
	for _, s := range listed {
		if s.(object)["sessionId"] == teamID {
			remote = s.(object)
		}
	}
	require.Equal(t, "/w", remote["cwd"])
	require.NotContains(t, remote["title"], "\x1b")
	require.Equal(t, "kim", remote["_meta"].(object)["xcsh.team"].(object)["owner"])
	require.Len(t, c.ok("session/list", object{})["sessions"], 1, "all of this machine")

	c.ok("session/load", object{"sessionId": teamID, "cwd": "/w", "mcpServers": []any{}})
	var replayed []update
	for _, m := range c.seen() {
		if u, ok := updateIn(m, teamID); ok {
			replayed = append(replayed, u)
		}
	}
	require.Equal(t, "Kim's question", words(replayed, "user_message_chunk"))
	require.Contains(t, w.read(t, teamFile), "an answer")
}

// A session that is pulled as a copy has another id, under which it is in the list.
func TestASessionOfTheTeamThatIsPulledAsACopy(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c, team := connectTeam(t, w)
	team.id = "0190000000000003"
	c.refused("session/load", object{"sessionId": teamID, "cwd": "/w", "mcpServers": []any{}}, -32002, "was pulled as a copy with the ID "+team.id)
	c.ok("session/load", object{"sessionId": team.id, "cwd": "/w", "mcpServers": []any{}})
	c.refused("session/load", object{"sessionId": "never was", "cwd": "/w", "mcpServers": []any{}}, -32002, "not found")
	c.refused("session/load", object{"sessionId": "unreachable", "cwd": "/w", "mcpServers": []any{}}, -32603, "cannot be reached")
}
