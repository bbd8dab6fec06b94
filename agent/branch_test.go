package agent_test

import (
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent"
	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
)

// The place survives the process, also before the first prompt, and shows nowhere.
func TestABranchSurvivesARestart(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		entry string
		leaf  any
		left  int
	}{
		"before a prompt":         {"cccccccc", "bbbbbbbb", 2},
		"before the first prompt": {"aaaaaaaa", nil, 0},
		"before everything":       {"", nil, 0},
		"at an answer":            {"bbbbbbbb", "bbbbbbbb", 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fs := afero.NewMemMapFs()
			path := put(t, fs, "a", "0123456789abcdef", "/w")
			s := newWorld(t, fs).live(t, "/w")
			_, err := s.Switch(t.Context(), path)
			require.NoError(t, err)
			_, err = s.Branch(t.Context(), tc.entry, agent.BranchOptions{})
			require.NoError(t, err)
			shown := func(s *agent.Session) {
				t.Helper()
				now := state(t, s)
				require.Equal(t, tc.left, now.MessageCount)
				if tc.leaf == nil {
					require.Nil(t, now.LeafID)
					return
				}
				require.Equal(t, tc.leaf, *now.LeafID)
			}
			shown(s)
			again := newWorld(t, fs).live(t, "/w")
			_, err = again.Switch(t.Context(), path)
			require.NoError(t, err)
			shown(again)
		})
	}
}

// Going to the leaf itself marks nothing.
func TestABranchToTheLeafWritesNothing(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	path := put(t, fs, "a", "0123456789abcdef", "/w")
	require.NoError(t, afero.WriteFile(fs, path, []byte(readFile(t, fs, path)+st.Assistant("dddddddd", "cccccccc", "four")+"\n"), 0o600))
	before := readFile(t, fs, path)
	s := newWorld(t, fs).live(t, "/w")
	_, err := s.Switch(t.Context(), path)
	require.NoError(t, err)
	_, err = s.Branch(t.Context(), "dddddddd", agent.BranchOptions{})
	require.NoError(t, err)
	require.Equal(t, before, readFile(t, fs, path))
}

// A place that can't be stored is still the leaf, and is stored with the next entry.
func TestABranchOfAFileThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	path := put(t, fs, "a", "0123456789abcdef", "/w")
	before := readFile(t, fs, path)
	w := newWorld(t, afero.NewReadOnlyFs(fs))
	s := w.live(t, "/w")
	_, err := s.Switch(t.Context(), path)
	require.NoError(t, err)
	text, err := s.Branch(t.Context(), "cccccccc", agent.BranchOptions{})
	require.NoError(t, err)
	require.Equal(t, "three", text)
	require.Equal(t, "bbbbbbbb", *state(t, s).LeafID)
	require.Equal(t, before, readFile(t, fs, path))
	_, err = s.Label(t.Context(), "aaaaaaaa", "x")
	require.Error(t, err)
	require.NotContains(t, readFile(t, fs, path), "label")
}
