package agent_test

import (
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/internal/providertest"
	"github.com/xcsh-ls/xcsh-ls/internal/racetest"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// toolTurns are the replies to n prompts, each with a tool call.
func toolTurns(n int) (replies []providertest.Reply) {
	for range n {
		replies = append(replies, providertest.Reply{ToolCalls: []providertest.Call{{Name: "look"}}}, providertest.Reply{Text: "Done."})
	}
	return replies
}

// A prompt in a long conversation takes no more work than one in a short one: as many objects are made. To decode,
// to estimate or to read every message makes some for each.
func TestWorkOfAPromptInALongConversation(t *testing.T) { //nolint:paralleltest // it counts the objects of the process
	racetest.Large(t)
	w := newWorld(t, afero.NewMemMapFs(), withModel(scripted(toolTurns(800)...)), withTools(lookTool()))
	s := w.live(t, "/w")
	work := func() uint64 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range 20 {
			prompt(t, s, "look")
			_, err := s.State()
			require.NoError(t, err)
		}
		runtime.ReadMemStats(&after)
		return after.Mallocs - before.Mallocs
	}
	for range 10 {
		prompt(t, s, "look")
	}
	first := work()
	for range 500 {
		prompt(t, s, "look")
	}
	last := work()
	require.Less(t, float64(last), 1.3*float64(first))
}

// Snapshots use the memo while prompts change it.
func TestSnapshotsDuringPrompts(t *testing.T) {
	t.Parallel()
	w := newWorld(t, afero.NewMemMapFs(), withModel(scripted(toolTurns(20)...)), withTools(lookTool()))
	s := w.live(t, "/w")
	var wait sync.WaitGroup
	done := make(chan struct{})
	wait.Go(func() {
		for {
			select {
			case <-done:
				return
			default:
			}
			snap, err := s.Snapshot(t.Context())
			if err != nil || len(snap.Messages) > 80 {
				t.Error(len(snap.Messages), err)
			}
		}
	})
	for range 20 {
		prompt(t, s, "look")
	}
	close(done)
	wait.Wait()
	snap, err := s.Snapshot(t.Context())
	require.NoError(t, err)
	require.Len(t, snap.Messages, 80)
}

// Requests follow the conversation to another branch and to another session.
func TestRequestsAfterABranchAndASwitch(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	m := scripted(providertest.Reply{Text: "Answer."})
	w := newWorld(t, fs, withModel(m))
	s := w.live(t, "/w")
	prompt(t, s, "first")
	prompt(t, s, "second")
	var second string
	require.NoError(t, s.View(func(d *session.Document, leaf session.Leaf) error {
		for _, i := range d.PathTo(leaf) {
			if e, err := d.Entry(i); err != nil {
				return err
			} else if strings.Contains(string(e.Raw), "second") {
				second = e.ID
			}
		}
		return nil
	}))
	text, err := s.Branch(t.Context(), second, agent.BranchOptions{})
	require.NoError(t, err)
	require.Equal(t, "second", text)
	prompt(t, s, "third")
	require.Equal(t, []string{"first", "Answer.", "third"}, said(m))
	_, err = s.Switch(t.Context(), put(t, fs, "other", "0123456789abcdef", "/w"))
	require.NoError(t, err)
	prompt(t, s, "fourth")
	request := said(m)
	require.Equal(t, "fourth", request[len(request)-1])
	require.NotContains(t, request, "third")
}

// said returns the texts of the last request.
func said(m *models) (texts []string) {
	requests := m.Requests()
	for _, one := range requests[len(requests)-1].Messages {
		texts = append(texts, one.PlainText())
	}
	return texts
}
