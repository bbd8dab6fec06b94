//go:build !noteam && unix

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/commands"
	"github.com/xcsh-ls/xcsh-ls/internal/lsptest"
	"github.com/xcsh-ls/xcsh-ls/internal/providertest"
	"github.com/xcsh-ls/xcsh-ls/session/library"
	"github.com/xcsh-ls/xcsh-ls/team/pg/pgtest"
)

// teamOf returns a store with a team of two users.
func teamOf(t *testing.T) (d *pgtest.Database, ann, kim string) {
	t.Helper()
	d = pgtest.New(t)
	ann, kim = d.Role(t, "ann", false), d.Role(t, "kim", false)
	owner := newHome(t, d, d.Superuser())
	owner.says("team", "grant", ann, "--team", "core", "--name", "Ann")
	owner.says("team", "grant", kim, "--team", "core", "--name", "Kim")
	return d, ann, kim
}

// shares agrees to share the project, as a script does.
func (h home) shares(args ...string) {
	h.t.Helper()
	var plan commands.TeamPlan
	require.NoError(h.t, json.Unmarshal([]byte(h.says(append([]string{"team", "share", "--json"}, args...)...)), &plan))
	h.says(append([]string{"team", "share", "--yes", "--plan", plan.Token}, args...)...)
}

// file returns the path and the content of the only session file.
func (h home) file() (path, content string) {
	h.t.Helper()
	found, err := filepath.Glob(filepath.Join(h.agentDir(), "sessions", "*", "*.jsonl"))
	require.NoError(h.t, err)
	require.Len(h.t, found, 1)
	return found[0], h.read(found[0])
}

// body returns the lines of a session file behind its header.
func body(content string) string {
	_, rest, _ := strings.Cut(content, "\n")
	return rest
}

// A container is thrown away in the middle of a turn. On another machine the conversation continues at its last line, and a team mate
// lists it, reads it and forks it.
func TestAConversationOutlivesItsMachine(t *testing.T) {
	t.Parallel()
	d, ann, kim := teamOf(t)
	container := newHome(t, d, ann)
	container.shares()
	container.Script("m", providertest.Reply{Text: "One."}, providertest.Reply{Text: "Two."})
	container.says("run", "--model", "fake/m", "first prompt")
	container.says("run", "--continue", "second prompt")

	// Killed in mid-turn, after what it wrote was sent.
	makePipe(t, container.path("running"))
	makePipe(t, container.path("blocked"))
	container.Script("m", providertest.Reply{Text: "I run.", ToolCalls: []providertest.Call{bashCall(1, "echo now >running; exec cat blocked")}})
	turn := container.begin("I run.", "run", "--continue", "--approval", "yolo", "third prompt")
	require.Equal(t, "now\n", container.read(container.path("running")))
	path, _ := container.file()
	container.says("team", "push")
	require.NoError(t, turn.Process.Kill())
	_, _, _ = turn.end()
	container.write(container.path("blocked"), "") // lets the command end
	written := container.read(path)
	require.NoError(t, os.RemoveAll(container.home))
	d.Exec(t, `update xcsh.tip set until = now()`) // 30 seconds pass, in which only the container may write

	desk := newHome(t, d, ann)
	desk.shares() // the conversation began before this consent, and was pulled
	pulled := strings.TrimSpace(desk.says("team", "pull", "--project", "--newest", "1"))
	require.Equal(t, body(written), body(desk.read(pulled)), "to its last line")
	desk.Script("m", providertest.Reply{Text: "Four."})
	desk.says("run", "--continue", "fourth prompt")
	require.True(t, strings.HasPrefix(body(desk.read(pulled)), body(written)))
	require.Contains(t, desk.read(pulled), "fourth prompt")

	mate := newHome(t, d, kim)
	listed := mate.says("team", "list")
	require.Contains(t, listed, "Ann")
	sid, _, _ := strings.Cut(listed, "\t")
	copied := strings.TrimSpace(mate.says("team", "pull", sid))
	require.Equal(t, body(desk.read(pulled)), body(mate.read(copied)))
	mate.Script("m", providertest.Reply{Text: "Five."})
	mate.says("run", "--fork", copied, "a question of Kim")
	require.Equal(t, body(desk.read(pulled)), body(mate.read(copied)), "the fork has a file of its own")

	readsAlong(t, desk, newHome(t, d, kim), pulled)
}

// readsAlong lets a colleague without the file list a session in an editor, follow it while its owner's turn runs, and fork it meanwhile.
func readsAlong(t *testing.T, owner, mate home, path string) {
	t.Helper()
	at := owner.editor()
	decoded[any](t, at, "xcsh.resume", lsptest.Fields{"target": path})

	with := mate.editor()
	var row library.Info
	require.Eventually(t, func() bool { // the first list does not wait for the store
		listed := decoded[commands.ListResult](t, with, "xcsh.list", lsptest.Fields{"scope": "team"}).Sessions
		if len(listed) > 0 {
			row = listed[0]
		}
		return len(listed) == 1
	}, patience, tick)
	require.Empty(t, row.Path)
	require.True(t, row.Team.Remote)
	require.Equal(t, "Ann", row.Team.Owner)
	require.Contains(t, row.FirstMessage, "first prompt")

	uri := decoded[commands.TeamFollowResult](t, with, "xcsh.team.follow", lsptest.Fields{"source": row.Team.SID}).URI
	shown := func() string {
		raw, failure := with.Call("workspace/textDocumentContent", lsptest.Fields{"uri": uri})
		require.Nil(t, failure)
		return string(raw)
	}
	reads := func(text string) {
		t.Helper()
		for !strings.Contains(shown(), text) { // the server asks the editor to read the document again
			refresh := with.WaitRequest("workspace/textDocumentContent/refresh")
			require.JSONEq(t, `{"uri":"`+uri+`"}`, string(refresh.Params))
			refresh.Reply(nil)
		}
	}
	reads("fourth prompt")
	held := make(chan struct{})
	owner.Script("m", providertest.Reply{Text: "The sixth answer.", Before: held})
	turn := at.BeginExec("xcsh.prompt", lsptest.Fields{"text": "fifth prompt"})
	reads("fifth prompt") // while the model answers

	// The owner writes, so that a colleague does not; a fork is theirs.
	_, failure := with.Exec("xcsh.team.take", lsptest.Fields{"source": row.Team.SID})
	require.NotNil(t, failure)
	require.Equal(t, "busy", failure.Kind())
	fork := decoded[commands.ResumeResult](t, with, "xcsh.resume", lsptest.Fields{"target": row.Team.SID, "onBusy": "fork"})
	require.Positive(t, fork.Pulled.Bytes)
	mate.Script("m", providertest.Reply{Text: "An answer to Kim."})
	decoded[any](t, with, "xcsh.prompt", lsptest.Fields{"text": "meanwhile"})
	file := *fork.Session.File
	require.Contains(t, mate.read(file), "fifth prompt")

	close(held)
	_, failure = turn.Wait()
	require.Nil(t, failure)
	reads("The sixth answer.")
	require.NotContains(t, mate.read(file), "The sixth answer.", "the fork goes its own way")
	require.NotContains(t, owner.read(path), "meanwhile")
	ends(with)
	ends(at)
}

// Nothing is sent without the user's consent, and a run says what it could not send. Its exit code is that of the turn.
func TestRunSaysWhatIsNotSent(t *testing.T) {
	t.Parallel()
	d, ann, _ := teamOf(t)
	h := newHome(t, d, ann)
	h.says("run", "--model", "offline/demo", "a secret plan")
	require.Zero(t, pgtest.Value[int](t, d, `select count(*)::int from xcsh.session`))

	h.shares()
	other := *h.machine
	away := home{&other}
	away.env = append(slices.Clone(h.env), "XCSH_TEAM_URL=postgres://"+ann+"@127.0.0.1:1/x?sslmode=disable")
	code, _, stderr := away.run("run", "--model", "offline/demo", "offline")
	require.Zero(t, code, stderr)
	require.Contains(t, stderr, "waits to be sent to the team.")
	code, _, stderr = away.run("team", "push", "--wait", "1s")
	require.Equal(t, 1, code, stderr)
	require.Contains(t, stderr, "1 session")
	status := h.says("team", "status") // of a process that sends nothing
	require.Contains(t, status, "unsent: 1 session, ")
	require.NotContains(t, status, "unsent: 1 session, 0")
	require.Zero(t, pgtest.Value[int](t, d, `select count(*)::int from xcsh.session`))

	require.Equal(t, "Everything that you share is in the team store.\n", h.says("team", "push"))
	require.Contains(t, h.says("team", "status"), "unsent: 0 sessions, ")
	require.Equal(t, 1, pgtest.Value[int](t, d, `select count(*)::int from xcsh.session`), "the older one stays here")
	require.NotContains(t, h.says("team", "shared"), "a secret plan")
}

// A session that was deleted from the store can be restored, and its file stays.
func TestTeamDeleteAndUndelete(t *testing.T) {
	t.Parallel()
	d, ann, kim := teamOf(t)
	h := newHome(t, d, ann)
	h.shares()
	h.says("run", "--model", "offline/demo", "hello")
	h.says("run", "--continue", "--model", "offline/demo", "hello again")
	sid, _, _ := strings.Cut(h.says("team", "list"), "\t")
	_, before := h.file()
	require.Contains(t, h.says("team", "delete", sid), "xcsh-ls team undelete "+sid)
	require.Equal(t, "No sessions found\n", newHome(t, d, kim).says("team", "list"))
	require.Contains(t, h.says("team", "shared"), "deleted")
	require.Equal(t, "Restored.\n", h.says("team", "undelete", sid))
	require.Contains(t, newHome(t, d, kim).says("team", "list"), sid)
	_, after := h.file()
	require.Equal(t, before, after)
	require.Contains(t, h.says("team", "maintain"), "1 session compacted")
}

// team watch sends what a terminal program writes, and ends with a signal.
func TestTeamWatch(t *testing.T) {
	t.Parallel()
	d, ann, _ := teamOf(t)
	h := newHome(t, d, ann)
	h.shares()
	h.says("run", "--model", "offline/demo", "hello")
	watch := h.command("team", "watch")
	require.NoError(t, watch.Start())
	path, content := h.file()
	line := `{"type":"session_info","id":"0badcafe","parentId":null,"timestamp":"2026-01-01T00:00:00.000Z","name":"named by a terminal"}` + "\n"
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	require.NoError(t, err)
	_, err = f.WriteString(line)
	require.NoError(t, err)
	require.NoError(t, f.Close())
	want := len(body(content + line))
	require.Eventually(t, func() bool {
		return pgtest.Value[int](t, d, `select coalesce(max(len), 0)::int from xcsh.tip`) == want
	}, patience, tick)
	require.NoError(t, watch.Process.Signal(syscall.SIGTERM))
	require.NoError(t, watch.Wait())
}
