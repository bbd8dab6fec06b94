package agent_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/agent/tool"
	"github.com/xcsh-ls/xcsh-ls/internal/providertest"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// recorded is the part of an execution that describes a truncated output.
type recorded struct {
	FullOutputPath string
	Meta           tool.OutputMeta
}

// Long outputs, of a model's tool and of the user's command, are kept beside the session and named
// as the terminal programs name them. Their numbers continue after a resume.
// Proves: X-231
func TestLongOutputsAreKeptBesideTheSession(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	options := tool.Options{Fs: fs}
	shell := tool.NewShell(options)
	call := func() providertest.Reply {
		return providertest.Reply{ToolCalls: []providertest.Call{{Name: "bash", Args: json.RawMessage(`{"command":"seq 5000"}`)}}}
	}
	m := scripted(call(), providertest.Reply{Text: "Done."}, call(), providertest.Reply{Text: "Done."})
	w := newWorld(t, fs, withModel(m), withTools(tool.All(options)...), func(c *agent.Config) { c.Shell, c.Approval = &shell, "yolo" })
	s := w.live(t, t.TempDir())
	dir, ok := session.ArtifactDir(s.File())
	require.True(t, ok)
	message, err := s.Bash(t.Context(), "seq 3000", false)
	require.NoError(t, err)
	_, err = fs.Stat(s.File())
	require.ErrorIs(t, err, os.ErrNotExist, "the artifact comes before the session")
	var own recorded
	require.NoError(t, json.Unmarshal(message, &own))
	require.Equal(t, filepath.Join(dir, "0.bash.log"), own.FullOutputPath)
	require.Equal(t, "0", own.Meta.Truncation.ArtifactID)
	require.Equal(t, tool.LineRange{Start: 1001, End: 3000}, own.Meta.Truncation.ShownRange)

	prompt(t, s, "run it")
	_, err = s.Switch(t.Context(), s.File())
	require.NoError(t, err)
	prompt(t, s, "again")
	content, err := afero.ReadFile(fs, s.File())
	require.NoError(t, err)
	var ids []string
	for line := range strings.Lines(string(content)) {
		var e struct {
			ID      string
			Message struct {
				Role    string
				Details recorded
			}
		}
		require.NoError(t, json.Unmarshal([]byte(line), &e))
		if e.Message.Role == "toolResult" {
			ids = append(ids, e.Message.Details.Meta.Truncation.ArtifactID)
			whole, err := afero.ReadFile(fs, e.Message.Details.FullOutputPath)
			require.NoError(t, err)
			require.True(t, strings.HasSuffix(string(whole), "\n5000\n"))
		}
	}
	require.Equal(t, []string{"1", "2"}, ids)
}

// A session in memory leaves nothing beside the sessions.
func TestLongOutputsOfASessionInMemory(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	shell := tool.NewShell(tool.Options{Fs: fs, TempDir: "/temp"})
	w := newWorld(t, fs, func(c *agent.Config) { c.Shell, c.InMemory = &shell, true })
	s := w.live(t, t.TempDir())
	message, err := s.Bash(t.Context(), "seq 3000", false)
	require.NoError(t, err)
	var own recorded
	require.NoError(t, json.Unmarshal(message, &own))
	require.Equal(t, "/temp", filepath.Dir(own.FullOutputPath))
	require.Empty(t, own.Meta.Truncation.ArtifactID)
	require.Equal(t, 3000, own.Meta.Truncation.TotalLines)
}
