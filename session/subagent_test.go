package session_test

import (
	"math/rand"
	"strings"
	"testing"
	"time"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// The transcript of a subagent begins as oh-my-pi writes it, and never replaces a file.
func TestTheTranscriptOfASubagent(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	now := func() time.Time { return time.Date(2026, 11, 22, 9, 52, 2, 764e6, time.UTC) }
	store := session.NewStore(session.StoreConfig{Fs: fs, Now: now, Random: rand.New(rand.NewSource(1))})
	begin := func() (*session.Log, error) {
		l := store.CreateSubagent("/s/one/Scouty.jsonl", "/w", session.NewOptions{Parent: "/s/one.jsonl", For: session.Omp})
		_, err := l.AppendModel("mock", "large", "")
		require.NoError(t, err)
		_, err = l.Append(session.DraftSubagent(session.Subagent{System: "be kind", Task: "look", Tools: []string{"read"}, Agent: "task", Model: "mock/large"}))
		require.NoError(t, err)
		return l, l.EnsureOnDisk()
	}
	l, err := begin()
	require.NoError(t, err)
	_, err = l.Append(session.DraftMessage([]byte(st.AssistantMessage("found"))))
	require.NoError(t, err)
	require.NoError(t, l.Close())
	content, err := afero.ReadFile(fs, "/s/one/Scouty.jsonl")
	require.NoError(t, err)
	lines := strings.Split(string(content), "\n")
	require.Len(t, lines[0], 255)
	for i, want := range []string{
		`^{"type":"title","v":1,"title":"","updatedAt":"2026-11-22T09:52:02.764Z","pad":" +"}$`,
		`^{"type":"session","version":3,"id":"[0-9a-f-]{36}","timestamp":"2026-11-22T09:52:02.764Z","cwd":"/w","parentSession":"/s/one.jsonl"}$`,
		`^{"type":"model_change","id":"\w{8}","parentId":null,"timestamp":"[^"]+","model":"mock/large","resolvedModelIsFallback":false}$`,
		`^{"type":"session_init","id":"\w{8}","parentId":"\w{8}","timestamp":"[^"]+","systemPrompt":"be kind","task":"look","tools":\["read"\],"agent":"task","resolvedModel":"mock/large","readOnly":false}$`,
		`^{"type":"message",`,
	} {
		require.Regexp(t, want, lines[i])
	}
	_, err = begin()
	require.True(t, fault.Is(err, fault.FileExists))
	again, err := afero.ReadFile(fs, "/s/one/Scouty.jsonl")
	require.NoError(t, err)
	require.Equal(t, content, again)
}
