package agent_test

import (
	"encoding/json"
	"testing"
	"testing/synctest"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/agent/approval"
	"github.com/xcsh-ls/xcsh-ls/agent/tool"
	"github.com/xcsh-ls/xcsh-ls/internal/providertest"
)

// An approval covers the change that was shown: a file that the user saved while the question
// waited is not overwritten.
func TestOnlyTheShownChangeIsWritten(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ saved, want string }{
		"the file stayed":  {"old\n", "model\n"},
		"the file changed": {"an hour of my words\n", "an hour of my words\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				fs := afero.NewMemMapFs()
				require.NoError(t, afero.WriteFile(fs, "/w/notes.txt", []byte("old\n"), 0o600))
				m := scripted(
					providertest.Reply{ToolCalls: []providertest.Call{{Name: "write", Args: json.RawMessage(`{"path":"notes.txt","content":"model\n"}`)}}},
					providertest.Reply{Text: "Done."},
				)
				w := newWorld(t, fs, withModel(m), withTools(tool.All(tool.Options{Fs: fs})...), func(c *agent.Config) { c.Workspace = tool.Local{Fs: fs} })
				s := w.live(t, "/w")
				done := promptInBackground(t, s, "hi")
				synctest.Wait()
				snap, err := s.Snapshot(t.Context())
				require.NoError(t, err)
				require.Len(t, snap.Approvals, 1)
				require.NoError(t, afero.WriteFile(fs, "/w/notes.txt", []byte(c.saved), 0o600))
				require.NoError(t, s.Approve(snap.Approvals[0].ID, approval.Once))
				<-done
				content, err := afero.ReadFile(fs, "/w/notes.txt")
				require.NoError(t, err)
				assert.Equal(t, c.want, string(content))
				require.NoError(t, w.Close(t.Context()))
			})
		})
	}
}
