package agent_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/agent/approval"
	"github.com/xcsh-ls/xcsh-ls/agent/engine"
	"github.com/xcsh-ls/xcsh-ls/agent/engine/enginetest"
	"github.com/xcsh-ls/xcsh-ls/agent/event"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// forkWorld is a world on disk, where the double of omp, over RPC, or of xcsh answers.
func forkWorld(t *testing.T, name string, faults ...string) (w *world, cwd string) {
	t.Helper()
	double := enginetest.Fork(t, name, faults...)
	form, known := session.ParseDialect(name)
	require.True(t, known)
	return processWorld(t, approval.Yolo, form, engine.Program{Name: name, Path: double.Path, Args: double.Args, Env: double.Env, Protocol: engine.OmpRPC})
}

func forks(t *testing.T, test func(t *testing.T, name string)) {
	t.Helper()
	for _, name := range []string{"omp", "xcsh"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, name)
		})
	}
}

func idOf(t *testing.T, s *agent.Session) (id string) {
	t.Helper()
	require.NoError(t, s.View(func(d *session.Document, _ session.Leaf) error {
		id = d.Header().ID
		return nil
	}))
	return id
}

// The entries of the program are found in the session, whose file has the id that it had from the beginning.
func TestAForkAnswersInASessionOfOurs(t *testing.T) {
	t.Parallel()
	forks(t, func(t *testing.T, name string) {
		w, cwd := forkWorld(t, name)
		s := w.live(t, cwd)
		id := idOf(t, s)
		say(t, s, `[[think]] [[tool:write {"path":"a.txt","content":"one\n"}]] [[say:Done.]]`)
		require.FileExists(t, filepath.Join(cwd, "a.txt"))
		ends := runEvents[event.MessageEnd](w)
		require.Len(t, ends, 4, "the prompt, two answers and a result")
		require.NoError(t, s.View(func(d *session.Document, _ session.Leaf) error {
			for _, end := range ends {
				_, err := d.Index(end.EntryID)
				require.NoError(t, err)
			}
			assert.Empty(t, d.Problems())
			return nil
		}))
		assert.Empty(t, runEvents[event.NotSaved](w))
		assert.Empty(t, runEvents[event.Notice](w))
		assert.Equal(t, id, idOf(t, s))

		// It goes on in the same file after it was ended, and our own loop can read it.
		require.NoError(t, s.Rename(t.Context(), "a title"))
		say(t, s, "[[say:more]]")
		raw, err := os.ReadFile(s.File())
		require.NoError(t, err)
		assert.Contains(t, string(raw), "a title")
		assert.Contains(t, string(raw), `"more"`)
	})
}

// A prompt that the program lost with its life is in no file. It is returned, and the session goes on.
func TestAForkIsKilledBeforeTheFileHasThePrompt(t *testing.T) {
	t.Parallel()
	forks(t, func(t *testing.T, name string) {
		w, cwd := forkWorld(t, name, "late-file")
		s := w.live(t, cwd)
		_, err := s.Prompt(t.Context(), agent.Input{Text: "[[fault:crash]] [[say:one]]"})
		require.Error(t, err)
		ends := runEvents[event.AgentEnd](w)
		require.Len(t, ends[0].Unanswered, 1)
		assert.Equal(t, engine.Failed, s.Engine().State)
		say(t, s, "[[say:two]]")
		raw, err := os.ReadFile(s.File())
		require.NoError(t, err)
		assert.Equal(t, 0, strings.Count(string(raw), "fault:crash"))
		assert.Empty(t, runEvents[event.NotSaved](w))
	})
}

// Moving is the program's work, without a restart.
func TestAForkGoesBack(t *testing.T) {
	t.Parallel()
	forks(t, func(t *testing.T, name string) {
		w, cwd := forkWorld(t, name)
		s := w.live(t, cwd)
		say(t, s, "[[say:one]]")
		say(t, s, "[[say:two]]")
		second := runEvents[event.MessageEnd](w)[2]
		text, err := s.Branch(t.Context(), second.EntryID, agent.BranchOptions{})
		require.NoError(t, err)
		assert.Equal(t, "[[say:two]]", text)
		say(t, s, "[[say:three]]")
		var parents []string
		raw, err := os.ReadFile(s.File())
		require.NoError(t, err)
		for line := range strings.Lines(string(raw)) {
			var e struct{ ParentID string }
			require.NoError(t, json.Unmarshal([]byte(line), &e))
			if strings.Contains(line, "[[say:t") {
				parents = append(parents, e.ParentID)
			}
		}
		require.Len(t, parents, 2)
		assert.Equal(t, parents[0], parents[1], "the third prompt is beside the second one")
	})
}
