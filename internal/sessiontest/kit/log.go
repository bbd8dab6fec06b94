// Package kit holds the stores, logs, folders and failing operations that tests of the
// session packages share. It imports them, so only external tests can import it.
package kit

import (
	"encoding/json"
	"math/rand"
	"path/filepath"
	"testing"
	"time"

	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/session"
)

// The directory that [NewStore] creates sessions in, and a session file in it.
const (
	StoreDir = "/store/--w--"
	Filed    = StoreDir + "/2026-01-01T00-00-00-000Z_0123456789abcdef.jsonl"
)

// NewStore returns a store whose clock stands and whose ids repeat from run to run.
func NewStore(fs afero.Fs) *session.Store { return NewStoreWithIDs(fs, 1) }

// NewStoreWithIDs returns a store whose ids depend on seed and whose clock stands still.
func NewStoreWithIDs(fs afero.Fs, seed int64) *session.Store {
	return NewStoreAt(fs, seed, time.Date(2026, 2, 3, 4, 5, 6, 789e6, time.UTC))
}

// NewStoreAt returns a store whose ids depend on seed and whose clock stands still at the given time.
func NewStoreAt(fs afero.Fs, seed int64, at time.Time) *session.Store {
	now := func() time.Time { return at }
	return session.NewStore(session.StoreConfig{
		Fs: fs, Now: now, Random: rand.New(rand.NewSource(seed)),
		DirFor: func(string) (string, error) { return StoreDir, nil },
	})
}

// Put writes a file and creates its parent directories.
func Put(t *testing.T, fs afero.Fs, path, content string) {
	t.Helper()
	require.NoError(t, fs.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, afero.WriteFile(fs, path, []byte(content), 0o600))
}

// Content returns the content of the file at path.
func Content(t *testing.T, fs afero.Fs, path string) string {
	t.Helper()
	b, err := afero.ReadFile(fs, path)
	require.NoError(t, err)
	return string(b)
}

// Say returns a draft of a message; every role but "assistant" makes a user message.
func Say(role, text string) *session.Draft {
	if role == "assistant" {
		return session.DraftMessage(json.RawMessage(st.AssistantMessage(text)))
	}
	return session.DraftMessage(json.RawMessage(st.UserMessage(text)))
}

// MustAppend appends d to l and returns the id of the entry.
func MustAppend(t *testing.T, l *session.Log, d *session.Draft) string {
	t.Helper()
	id, err := l.Append(d)
	require.NoError(t, err)
	return id
}

// Conversation is a small healthy session.
func Conversation() string {
	return st.File(st.Header("0123456789abcdef", "/w"), st.User("aaaaaaaa", "", "one"), st.Assistant("bbbbbbbb", "aaaaaaaa", "two"))
}
