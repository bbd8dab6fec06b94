package hosting_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/engine"
	"github.com/xcsh-ls/xcsh-ls/agent/event"
	"github.com/xcsh-ls/xcsh-ls/agent/loop"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/internal/playedengine"
	"github.com/xcsh-ls/xcsh-ls/session"
)

func TestTheProgramMakesTheFileOfANewSession(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	out := w.run("hello")
	require.NoError(t, out.Err)
	assert.Equal(t, w.log.Header().ID, w.program(0).At.ID)
	assert.Empty(t, w.program(0).At.File)
	assert.Equal(t, "/sessions/pi", w.program(0).At.Dir)
	assert.Equal(t, w.program(0).File, w.log.Path(), "the session is where the program made it")
	assert.Len(t, w.lines(), 3)
	ends := of[event.MessageEnd](w)
	require.Len(t, ends, 2)
	assert.Equal(t, "00010001", ends[0].EntryID)
	assert.Equal(t, "00010002", ends[1].EntryID)
	assert.Equal(t, "00010002", w.log.LeafID())
	assert.Equal(t, []string{"hello"}, w.said)
	assert.Equal(t, 1, w.onDisk)
	states := []string{}
	for _, e := range of[event.EngineChanged](w) {
		states = append(states, e.State)
	}
	assert.Equal(t, []string{"starting", "ready", "running", "ready"}, states)
}

func TestTheProgramContinuesAFile(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, err := w.log.Append(session.DraftMessage(json.RawMessage(playedengine.UserMessage("ours"))))
	require.NoError(t, err)
	id, err := w.log.Append(session.DraftMessage(json.RawMessage(playedengine.AnswerMessage("ours"))))
	require.NoError(t, err)
	before := w.lines()
	require.NoError(t, w.run("theirs").Err)
	assert.Equal(t, w.log.Path(), w.program(0).At.File)
	after := w.lines()
	assert.Equal(t, before, after[:len(before)], "no byte of ours changed")
	assert.Len(t, after, len(before)+2)
	require.NoError(t, w.seat.Close(t.Context()))
	assert.Equal(t, engine.Known, w.seat.Status().State)
	_, err = w.log.Append(session.DraftMessage(json.RawMessage(playedengine.UserMessage("ours again"))))
	require.NoError(t, err, "the file is ours again")
	require.NoError(t, w.run("theirs again").Err)
	require.NoError(t, w.log.View(func(d *session.Document, leaf session.Leaf) error {
		assert.Len(t, d.PathTo(leaf), 7, "each continued what the others said")
		return nil
	}))
	_ = id
}

func TestNothingIsWrittenWhileTheProgramHasTheFile(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	require.NoError(t, w.run("hello").Err)
	_, err := w.log.Append(session.DraftMessage(json.RawMessage(playedengine.UserMessage("ours"))))
	require.Error(t, err)
	assert.True(t, fault.Is(err, fault.Busy))
	assert.Len(t, w.lines(), 3)
}

// Proves: EF-18
func TestACrashInARunEndsTheRun(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.makes = func(w *world) *playedengine.Program {
		p := played(w)
		if len(w.programs) == 0 {
			p.Runs = func(ctx context.Context, p *playedengine.Program, in engine.Input) loop.Outcome {
				p.Say(ctx, playedengine.UserMessage(in.Text))
				p.Crash()
				return loop.Outcome{StopReason: provider.StopError, Err: p.Err()}
			}
		}
		return p
	}
	out := w.run("hello")
	require.EqualError(t, out.Err, "pi was killed.")
	assert.Equal(t, engine.Failed, w.seat.Status().State)
	changes := of[event.EngineChanged](w)
	last := changes[len(changes)-1]
	assert.Equal(t, "last words", last.Details)
	require.Len(t, last.Actions, 2)
	assert.Equal(t, map[string]any{"engine": "pi"}, last.Actions[0].Arguments)
	require.NoError(t, w.run("again").Err, "the next prompt starts it again")
	assert.Len(t, w.lines(), 4, "and goes on behind the first")
	assert.Len(t, w.programs, 2)
}

func TestAProgramThatFailsOftenIsNotStartedByItself(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.makes = func(w *world) *playedengine.Program {
		p := played(w)
		p.Opens = func(*playedengine.Program) error { return fault.New(fault.Provider, "no").With("class", "engine") }
		return p
	}
	for range 3 {
		out := w.run("hello")
		require.EqualError(t, out.Err, "no")
		require.Len(t, out.Unanswered, 1)
		assert.Equal(t, "hello", out.Unanswered[0].PlainText())
	}
	require.ErrorContains(t, w.run("hello").Err, "failed 3 times within a minute")
	assert.Len(t, w.programs, 3)
	w.makes = played
	w.seat.Forgive()
	require.NoError(t, w.run("hello").Err)
}

// append adds a message to the session file like another program, below the entry parent.
func (w *world) append(id, parent, message string) {
	w.t.Helper()
	playedengine.AppendLine(w.t, w.fs, w.log.Path(), `{"type":"message","id":"`+id+`","parentId":"`+parent+`","timestamp":"2026-01-02T03:04:05.678Z","message":`+message+"}\n")
}

// requirePath fails unless the conversation has this many entries.
func (w *world) requirePath(length int, why string) {
	w.t.Helper()
	require.NoError(w.t, w.log.View(func(d *session.Document, at session.Leaf) error {
		require.Len(w.t, d.PathTo(at), length, why)
		return nil
	}))
}

// Proves: EF-26
func TestSomebodyElseAppends(t *testing.T) {
	t.Parallel()
	question, answer := playedengine.UserMessage("other"), `{"role":"assistant","content":[{"type":"text","text":"x"}],"stopReason":"stop","timestamp":4}`
	call := `{"role":"assistant","content":[{"type":"toolCall","id":"c","name":"read","arguments":{}}],"stopReason":"toolUse","timestamp":4}`
	for name, c := range map[string]struct {
		appends func(w *world, leaf string)
		length  int // of the conversation after the next prompt
	}{
		"a turn": {func(w *world, leaf string) {
			w.append("ffff0001", leaf, question)
			w.append("ffff0002", "ffff0001", answer)
		}, 6},
		"a question that is not answered yet": {func(w *world, leaf string) { w.append("ffff0001", leaf, question) }, 4},
		"a turn that is not complete": {func(w *world, leaf string) {
			w.append("ffff0001", leaf, question)
			w.append("ffff0002", "ffff0001", call)
		}, 4},
		"a turn on another branch": {func(w *world, _ string) {
			w.append("ffff0001", "00010001", question)
			w.append("ffff0002", "ffff0001", answer)
		}, 4},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			require.NoError(t, w.run("one").Err)
			c.appends(w, w.log.LeafID())
			w.seat.Caught()
			require.Len(t, of[event.Notice](w), 1)
			require.NoError(t, w.run("two").Err)
			assert.Equal(t, 1, w.program(0).Rereads(), "the entries of the other are not invisible to the program")
			w.requirePath(c.length, "a complete turn is continued, anything else is another branch")
			assert.Len(t, of[event.Notice](w), 1, "it is said once")
		})
	}
}

func TestSomebodyElseIsToldOfOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	require.NoError(t, w.run("one").Err)
	leaf := w.log.LeafID()
	for n, id := range []string{"ffff0001", "ffff0002"} {
		w.append(id, leaf, playedengine.UserMessage("other"))
		w.seat.Caught()
		require.NoError(t, w.run("two").Err)
		assert.Equal(t, n+1, w.program(0).Rereads())
	}
	assert.Len(t, of[event.Notice](w), 1, "however long both write")
}

// Proves: EF-24
func TestARemovedFileIsWrittenAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	require.NoError(t, w.run("one").Err)
	before := w.lines()
	require.NoError(t, w.fs.Remove(w.log.Path()))
	w.seat.Caught()
	w.await("the notice", func() bool {
		for _, e := range w.events {
			if _, ok := e.(event.Notice); ok {
				return true
			}
		}
		return false
	})
	assert.Equal(t, before, w.lines())
	require.NoError(t, w.run("two").Err)
	assert.Len(t, w.lines(), len(before)+2)
	assert.Len(t, w.programs, 2)
}

func TestTheProgramIsMovedToTheLeafThatIsShown(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	require.NoError(t, w.run("one").Err)
	require.NoError(t, w.run("two").Err)
	require.NoError(t, w.seat.Close(t.Context()))
	require.NoError(t, w.log.Branch("00010002"))
	require.NoError(t, w.run("three").Err)
	require.NoError(t, w.log.View(func(d *session.Document, at session.Leaf) error {
		assert.Len(t, d.PathTo(at), 4)
		return nil
	}))
}
