package tool_test

import (
	"context"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/tool"
)

// saver is a workspace whose buffer of a file is saved before a command.
type saver struct {
	tool.Workspace
	path, buffer string
	unsaved      []string // what remains
	err          error
	asked        []bool // of each call
}

func (s *saver) SaveEdits(_ context.Context, _ string, ask bool) ([]string, error) {
	s.asked = append(s.asked, ask)
	if s.err != nil {
		return nil, s.err
	}
	return s.unsaved, os.WriteFile(s.path, []byte(s.buffer), 0o600)
}

// What reads the disk sees the agent's edits, and the model learns which buffers it did not see.
func TestCommandsSeeTheEditsInBuffers(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		args string
		ask  bool
	}{
		"bash": {`{"command":"cat a.txt"}`, true},
		"grep": {`{"pattern":"edit"}`, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := diskWorld(t, tool.Options{}, map[string]string{"a.txt": "old\n"})
			s := &saver{Workspace: w.env.Files, path: w.path("a.txt"), buffer: "edited\n"}
			w.env.Files = s
			out := w.ok(name, tc.args)
			require.Contains(t, out, "edited")
			require.NotContains(t, out, "nsaved")

			s.unsaved = []string{w.path("sub/b.txt"), "/elsewhere/c.txt"}
			require.Contains(t, w.ok(name, tc.args), "\n\n[Unsaved changes in the editor were not seen: sub/b.txt, /elsewhere/c.txt. read shows the unsaved text.]")
			require.Equal(t, []bool{tc.ask, tc.ask}, s.asked)

			s.err = context.Canceled
			_, err := w.call(name, tc.args)
			require.ErrorIs(t, err, context.Canceled, "nothing runs before the edits are saved")
		})
	}
}

func TestTheNoteAboutBuffersIsShort(t *testing.T) {
	t.Parallel()
	w := diskWorld(t, tool.Options{}, map[string]string{"a.txt": "old\n"})
	s := &saver{Workspace: w.env.Files, path: w.path("a.txt")}
	for range 1000 {
		s.unsaved = append(s.unsaved, w.path("b.txt"))
	}
	w.env.Files = s
	out := w.ok("bash", `{"command":"true"}`)
	require.Contains(t, out, "b.txt and others. read")
	require.Less(t, len(out), 300)
}
