package session_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/sessiontest/kit"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// The sessions that the real pi could not open are known to be unreadable for it, and no others but newer ones.
func TestWhatPiCannotRead(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../testdata/sessions/pi/*.jsonl")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	refused := 0
	for _, file := range files {
		recorded, err := os.ReadFile(strings.TrimSuffix(file, ".jsonl") + ".context.json")
		if os.IsNotExist(err) {
			continue // the result of a migration
		}
		require.NoError(t, err)
		var result struct{ Error string }
		require.NoError(t, json.Unmarshal(recorded, &result))
		doc, err := session.Load(afero.NewOsFs(), file)
		if doc == nil || strings.HasSuffix(file, "odd-empty.jsonl") { // of which pi makes a new session, as we do
			require.Error(t, err)
			continue
		}
		problem := doc.Unreadable(session.Pi)
		require.NoError(t, doc.Close())
		if doc.Header().Version > session.CurrentVersion {
			require.Contains(t, problem, "newer program", file)
			continue
		}
		require.Equal(t, result.Error != "", problem != "", "%s: %q, %q", file, result.Error, problem)
		if problem != "" {
			refused++
		}
	}
	require.Greater(t, refused, 3)
}

func TestUnreadable(t *testing.T) {
	t.Parallel()
	const slot = `{"type":"title","v":1,"title":"T","source":"user","updatedAt":"2026-11-01T00:00:00.000Z","pad":""}` + "\n"
	cleared := kit.Conversation() + `{"type":"reset_boundary","id":"cccccccc","parentId":"bbbbbbbb","timestamp":"2026-11-01T00:00:00.000Z"}` + "\n"
	for name, c := range map[string]struct {
		content string
		cannot  []session.Dialect
	}{
		"plain":        {kit.Conversation(), nil},
		"title slot":   {slot + kit.Conversation(), []session.Dialect{session.Xcsh, session.Pi}},
		"newer":        {strings.Replace(kit.Conversation(), `"version":3`, `"version":4`, 1), []session.Dialect{session.Xcsh, session.Pi, session.Omp}},
		"older":        {strings.Replace(kit.Conversation(), `"version":3`, `"version":2`, 1), nil},
		"cleared":      {cleared, []session.Dialect{session.Xcsh, session.Pi}},
		"two lines":    {strings.Replace(kit.Conversation(), `"version":3,`, "\"version\":3,\n", 1), []session.Dialect{session.Pi}},
		"byte order":   {"\xEF\xBB\xBF" + kit.Conversation(), []session.Dialect{session.Pi}},
		"no header":    {`{"type":"custom","id":"cccccccc","parentId":null}` + "\n", []session.Dialect{session.Xcsh, session.Pi, session.Omp}},
		"garbage line": {"garbage\n" + kit.Conversation(), nil},
	} {
		doc, _ := session.Parse([]byte(c.content)) // an error is one of the problems
		var cannot []session.Dialect
		for _, d := range []session.Dialect{session.Xcsh, session.Pi, session.Omp} {
			if problem := doc.Unreadable(d); problem != "" {
				cannot = append(cannot, d)
				require.Regexp(t, `^[A-Z].*\.$`, problem)
			}
		}
		require.Equal(t, c.cannot, cannot, name)
	}
}
