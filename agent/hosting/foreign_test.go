package hosting_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/engine"
	"github.com/xcsh-ls/xcsh-ls/agent/event"
	"github.com/xcsh-ls/xcsh-ls/agent/hosting"
	"github.com/xcsh-ls/xcsh-ls/agent/loop"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/internal/playedengine"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// foreign is an agent that keeps its record elsewhere.
type foreign struct {
	*playedengine.Program
	record string // the id of a new conversation
}

func (f *foreign) Open(_ context.Context, at engine.Place, h engine.Host) (engine.Opened, error) {
	f.At, f.Host = at, h
	opened := engine.Opened{Session: f.record, Version: "0.1"}
	if at.Session != "" {
		opened.Session = at.Session
	}
	return opened, nil
}

func (f *foreign) Run(ctx context.Context, in engine.Input) loop.Outcome {
	for _, m := range []string{playedengine.UserMessage(in.Text), playedengine.AnswerMessage("ok")} {
		f.Host.Emit(event.MessageStart{Message: json.RawMessage(m)})
		f.Host.Message(ctx, json.RawMessage(m))
	}
	return loop.Outcome{StopReason: provider.StopEnd}
}

// foreignWorld is a world in which an agent answers. places returns where it was started so far.
func foreignWorld(t *testing.T) (w *world, places func() []engine.Place) {
	t.Helper()
	w = newWorld(t)
	var started []*foreign
	w.cfg.Program = engine.Program{Name: "claude", Path: "/bin/claude", Protocol: engine.ACP}
	w.cfg.Engine = func() (engine.Engine, error) {
		f := &foreign{playedengine.New(t, w.fs, len(started)+1), fmt.Sprintf("record-%d", len(started)+1)}
		started = append(started, f)
		return f, nil
	}
	w.seat = hosting.New(w.cfg)
	return w, func() (places []engine.Place) {
		for _, f := range started {
			places = append(places, f.At)
		}
		return places
	}
}

// on makes a session the one that the agent answers in.
func (w *world) on(log *session.Log) {
	w.t.Helper()
	require.NoError(w.t, w.seat.Close(w.t.Context()))
	w.cfg.Session = log
	w.seat = hosting.New(w.cfg)
}

const forgets = "claude starts a new conversation; it does not remember the messages above."

func (w *world) notices() (texts []string) {
	for _, e := range of[event.Notice](w) {
		texts = append(texts, e.Text)
	}
	return texts
}

func TestAForeignAgentContinuesItsConversation(t *testing.T) {
	t.Parallel()
	w, places := foreignWorld(t)
	require.NoError(t, w.run("one").Err)
	require.NoError(t, w.seat.Close(t.Context()))
	require.NoError(t, w.run("two").Err)
	assert.Empty(t, places()[0].Session)
	assert.Equal(t, "record-1", places()[1].Session)
	assert.Empty(t, w.notices())
	assert.Equal(t, 1, strings.Count(strings.Join(w.lines(), "\n"), `"customType":"xcsh-ls/engine"`), "its record is named once")
}

// The record of the original belongs to the original.
func TestAForkBeginsAnewWithAForeignAgent(t *testing.T) {
	t.Parallel()
	w, places := foreignWorld(t)
	require.NoError(t, w.run("one").Err)
	original := w.log
	fork, err := w.store.Fork(original)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, fork.Close()) })
	w.on(fork)
	require.NoError(t, w.run("in the fork").Err)
	assert.Empty(t, places()[1].Session)
	assert.Equal(t, []string{forgets}, w.notices())

	w.on(original)
	require.NoError(t, w.run("in the original").Err)
	assert.Equal(t, "record-1", places()[2].Session)
	w.on(fork)
	require.NoError(t, w.run("again in the fork").Err)
	assert.Equal(t, "record-2", places()[3].Session)
	assert.Equal(t, []string{forgets}, w.notices(), "said once")
}

// A session in which another engine answered so far is new to an agent.
func TestAForeignAgentDoesNotKnowWhatOthersSaid(t *testing.T) {
	t.Parallel()
	w, _ := foreignWorld(t)
	_, err := w.log.Append(session.DraftMessage(json.RawMessage(playedengine.UserMessage("ours"))))
	require.NoError(t, err)
	require.NoError(t, w.run("theirs").Err)
	assert.Equal(t, []string{forgets}, w.notices())
}
