//go:build peers

package differential

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/internal/providertest"
	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// What was forked into pi's form is a session to the real pi: it reads the same entries, context and title from it
// as we do, and continues it where we say. The sources are recorded sessions of omp and one of our own.
func TestForksIntoPi(t *testing.T) {
	run(t, 1, func(w *world) {
		sources, err := filepath.Glob("../../testdata/sessions/omp/*.jsonl")
		require.NoError(t, err)
		require.NotEmpty(t, sources)
		dir, err := w.kit.Finder.DirOf("/work/project", session.Pi)
		require.NoError(t, err)
		for _, source := range append(sources, w.oneOfOurs()) {
			w.note("fork %s", source)
			l, err := w.kit.Store.ForkInto(source, session.Into{Program: session.Pi, Dir: dir, Cwd: "/work/project"})
			require.NoError(t, err)
			require.Equal(t, w.pis(l.Path(), nil, false), w.ours(l.Path(), nil, false), source) // the tree shows entries of ours that we hide
			lent, err := l.Lend("pi")
			require.NoError(t, err)
			leaf := l.LeafID()
			theirs := w.pi.open("open", l.Path())
			message := object{"role": "user", "content": "go on", "timestamp": 1767225600000}
			var id string
			require.NoError(t, w.pi.call(theirs, &id, "appendMessage", message))
			entries, err := lent.Catch()
			require.NoError(t, err)
			require.Len(t, entries, 1)
			require.Equal(t, id, entries[0].ID)
			require.Equal(t, leaf, entries[0].ParentID, source)
			require.Equal(t, id, l.LeafID())
			require.Equal(t, w.pis(l.Path(), nil, false), w.ours(l.Path(), nil, false), source)
			require.NoError(t, lent.Return())
			require.NoError(t, l.Close())
		}
	})
}

// oneOfOurs is a session of ours with all that a user does to one.
func (w *world) oneOfOurs() (path string) {
	w.t.Helper()
	l, err := w.kit.Store.Create("/work/project", session.NewOptions{Title: "Ours"})
	require.NoError(w.t, err)
	say := func(m object) string {
		id, err := l.Append(session.DraftMessage(w.json(m)))
		require.NoError(w.t, err)
		return id
	}
	_, err = l.AppendModel("fake", "m", "")
	require.NoError(w.t, err)
	_, err = l.AppendModel("fake", "small", "smol")
	require.NoError(w.t, err)
	first := say(object{"role": "user", "content": "one", "timestamp": 1767225600000})
	say(object{
		"role": "assistant", "content": []any{object{"type": "text", "text": "two"}}, "api": "anthropic-messages", "provider": "fake",
		"model": "m", "usage": usage(), "stopReason": "stop", "timestamp": 1767225600001,
	})
	_, err = l.SetLabel(first, "start")
	require.NoError(w.t, err)
	_, err = l.BranchWithSummary(first, "what was left")
	require.NoError(w.t, err)
	_, err = l.SetDescription("described")
	require.NoError(w.t, err)
	say(object{"role": "pythonExecution", "code": "print(1)", "output": "1", "exitCode": 0, "timestamp": 1767225600002})
	say(object{"role": "developer", "content": "be brief", "timestamp": 1767225600003})
	require.NoError(w.t, l.Close())
	return l.Path()
}

// awaitingPi is pi with the id and the directory of a new session.
func awaitingPi(id string) program {
	p := piProgram
	p.resume = "--session-dir"
	p.command = func(t *testing.T) []string { return append(piProgram.command(t), "--session-id", id) }
	return p
}

// The real pi makes the file of a lent new session and continues it; each message that it reports is the message of the entry that
// is caught next. Then the session is ours, and then pi's again, which knows what we said.
func TestPiWritesALentSession(t *testing.T) {
	run(t, 1, func(w *world) {
		s := newService(t, provider.AnthropicMessages)
		home, work := w.kit.Finder.Home, t.TempDir()
		dir, err := w.kit.Finder.DirOf(work, session.Pi)
		require.NoError(t, err)
		l, err := w.kit.Store.Create(work, session.NewOptions{})
		require.NoError(t, err)
		_, err = l.AppendModel("fake", "m", "")
		require.NoError(t, err)
		lent, err := l.Lend("pi")
		require.NoError(t, err)
		require.True(t, lent.Awaited())
		peer := startProgram(t, awaitingPi(l.Header().ID), s, home, work, dir)
		require.Equal(t, dir, filepath.Dir(peer.file))
		require.NoFileExists(t, peer.file)
		require.NoError(t, lent.At(peer.file))

		w.ask(peer, s, l, lent, "first question", "first answer")
		require.False(t, lent.Awaited())
		w.ask(peer, s, l, lent, "second question", "second answer")
		peer.stop()
		require.NoError(t, lent.Return())
		require.Equal(t, w.pis(l.Path(), nil, true), w.ours(l.Path(), nil, true))

		_, err = l.Append(session.DraftMessage(w.json(object{"role": "user", "content": "said by us", "timestamp": 1767225600000})))
		require.NoError(t, err)
		lent, err = l.Lend("pi")
		require.NoError(t, err)
		require.False(t, lent.Awaited())
		peer = startProgram(t, piProgram, s, home, work, l.Path())
		w.ask(peer, s, l, lent, "third question", "third answer")
		peer.stop()
		require.NoError(t, lent.Return())
		require.Equal(t, w.pis(l.Path(), nil, true), w.ours(l.Path(), nil, true))
		content := string(w.read(l.Path()))
		require.Equal(t, 1, strings.Count(content, "said by us"))
		require.NotContains(t, content, `"modelId":"m"`, "our settings were given up")
		require.NoError(t, l.Close())
	})
}

// ask lets pi answer a prompt, and requires that all messages that it reports are caught, in order.
func (w *world) ask(peer *process, s service, l *session.Log, lent *session.Lent, prompt, answer string) {
	w.t.Helper()
	s.Script("theirs", providertest.Reply{Text: answer})
	peer.prompt(prompt, answer)
	var caught []json.RawMessage
	require.Eventually(w.t, func() bool {
		entries, err := lent.Catch()
		require.NoError(w.t, err)
		for _, e := range entries {
			if m := e.Message(); m != nil {
				caught = append(caught, m)
			}
		}
		return len(entries) == 0 && len(caught) > 0
	}, 20*time.Second, 20*time.Millisecond)
	told := peer.takeSaid()
	require.NotEmpty(w.t, told)
	for i, m := range told {
		require.True(w.t, rawjson.Equal(m, caught[i]), "%s is not\n%s", m, caught[i])
	}
	require.Len(w.t, caught, len(told))
	require.Equal(w.t, filepath.Clean(peer.file), l.Path())
	_, err := os.Stat(l.Path())
	require.NoError(w.t, err)
}

// The real omp opens what was forked into its form, continues it below the leaf, and shows its model the same conversation. The sources are
// sessions of pi and of ours.
func TestForksIntoOmp(t *testing.T) {
	run(t, 1, func(w *world) {
		s := newService(t, provider.AnthropicMessages)
		work := t.TempDir()
		dir := filepath.Join(w.kit.Finder.Home, ".omp", "agent", "sessions", "--omp--")
		for n, source := range []string{w.oneOfOurs(), "../../testdata/sessions/pi/sm-compaction-twice.jsonl", "../../testdata/sessions/pi/sm-context-edit.jsonl"} {
			w.note("fork %s", source)
			l, err := w.kit.Store.ForkInto(source, session.Into{Program: session.Omp, Dir: dir, Cwd: work})
			require.NoError(t, err)
			leaf := l.LeafID()
			lent, err := l.Lend("omp")
			require.NoError(t, err)
			peer := startProgram(t, ompProgram, s, w.kit.Finder.Home, work, l.Path())
			require.Equal(t, l.Path(), peer.file)
			answer := fmt.Sprintf("omp answers %d", n)
			s.Script("theirs", providertest.Reply{Text: answer})
			peer.prompt("go on with omp", answer)
			peer.stop()
			entries, err := lent.Catch()
			require.NoError(t, err)
			require.NotEmpty(t, entries)
			require.Equal(t, leaf, entries[0].ParentID, "omp goes on where we were")
			require.NoError(t, lent.Return())
			require.Contains(t, fmt.Sprint(w.ours(l.Path(), nil, false).Context.Messages), answer)
			require.NoError(t, l.Close())
		}
	})
}
