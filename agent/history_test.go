package agent_test

import (
	"path/filepath"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/event"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/internal/providertest"
	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
)

// putCompacted writes a session of omp's that the service fake compacted.
func putCompacted(t *testing.T, fs afero.Fs) string {
	t.Helper()
	const id = "01a1f87d-6abc-7705-94f4-66b493a87dbc"
	path := filepath.Join(root, "sessions/--w--", "2026-01-01T00-00-00-000Z_"+id+".jsonl")
	require.NoError(t, fs.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(t, afero.WriteFile(fs, path, []byte(st.File(
		`{"type":"title","v":1,"title":"","updatedAt":"2026-01-01T00:00:00.000Z","pad":" "}`,
		st.Header(id, "/w"), st.User("aaaaaaaa", "", "one"), st.Assistant("bbbbbbbb", "aaaaaaaa", "two"),
		`{"type":"compaction","id":"cccccccc","parentId":"bbbbbbbb","timestamp":"2026-01-01T00:00:02.000Z","summary":"in words","firstKeptEntryId":"bbbbbbbb","tokensBefore":7,"method":"remote",`+
			`"preserveData":{"openaiRemoteCompaction":{"provider":"fake","replacementHistory":[{"type":"message","role":"user","content":"one"},{"type":"compaction","id":"x","encrypted_content":"zzz"}]}}}`,
		st.User("dddddddd", "cccccccc", "three"), st.Assistant("eeeeeeee", "dddddddd", "four"),
	)), 0o600))
	return path
}

// A conversation that a service compacted itself continues with the record of that service.
func TestACompactedConversationGoesBackToItsService(t *testing.T) {
	t.Parallel()
	for api := range clients {
		t.Run(string(api), func(t *testing.T) {
			t.Parallel()
			s := newService(t, api)
			s.Script("m", providertest.Reply{Text: "Yes."})
			w := newWorld(t, afero.NewMemMapFs(), withService(s))
			live := w.live(t, "/w")
			_, err := live.Switch(t.Context(), putCompacted(t, w.fs))
			require.NoError(t, err)
			prompt(t, live, "five")
			sent := string(s.Requests()[0].Body)
			if api == provider.OpenAIResponses {
				assert.Contains(t, sent, `{"type":"compaction","encrypted_content":"zzz"}`)
				assert.NotContains(t, sent, "in words")
			} else {
				assert.NotContains(t, sent, "zzz", "only that API reads it")
				assert.Contains(t, sent, "in words")
			}
			assert.Contains(t, sent, "three")
		})
	}
}

// The service of another account cannot read it, and would reject every later request.
func TestARejectedHistoryIsReplacedByItsSummary(t *testing.T) {
	t.Parallel()
	s := newService(t, provider.OpenAIResponses)
	s.Limit("m", providertest.Limits{NoHistory: true})
	s.Script("m", providertest.Reply{Text: "Yes."}, providertest.Reply{Text: "Again."})
	w := newWorld(t, afero.NewMemMapFs(), withService(s))
	live := w.live(t, "/w")
	path := putCompacted(t, w.fs)
	_, err := live.Switch(t.Context(), path)
	require.NoError(t, err)
	prompt(t, live, "five")
	require.Len(t, s.Requests(), 2)
	assert.Contains(t, string(s.Requests()[1].Body), "in words")
	notices := eventsOf[event.Notice](w)
	require.NotEmpty(t, notices)
	assert.Contains(t, notices[len(notices)-1].Text, "The summary is sent instead")
	prompt(t, live, "six")
	require.Len(t, s.Requests(), 3, "it is not tried again")
	file, err := afero.ReadFile(w.fs, path)
	require.NoError(t, err)
	assert.Contains(t, string(file), `"encrypted_content":"zzz"`, "the file keeps it")
}
