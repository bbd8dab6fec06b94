package session_test

import (
	"fmt"
	"math/rand"
	"strings"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
	"github.com/xcsh-ls/xcsh-ls/internal/sessiontest/kit"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// neighbours is a conversation of omp in which messages decide about each other: failed answers, calls with and without
// a result, interrupted thinking and notes.
func neighbours(r *rand.Rand) string {
	lines, parent := []string{st.Header("0123456789abcdef", "/w")}, "null"
	for n := range 3 + r.Intn(12) {
		id := fmt.Sprintf("%08x", n+1)
		line := ""
		switch call := r.Intn(4); r.Intn(8) {
		case 0, 1:
			line = fmt.Sprintf(`"type":"message","message":{"role":"toolResult","toolCallId":"c%d","retryRecovery":%t,"content":[]}`, call, r.Intn(5) == 0)
		case 2, 3:
			line = fmt.Sprintf(`"type":"message","message":{"role":"assistant","stopReason":%q,"content":[{"type":"toolCall","id":"c%d"},{"type":"text","text":"t"}]}`,
				[]string{"stop", "error", "aborted"}[r.Intn(3)], call)
		case 4:
			line = fmt.Sprintf(`"type":"message","message":{"role":"assistant","stopReason":"error","content":[{"type":"toolCall","id":"c%d"}]}`, call)
		case 5:
			line = `"type":"custom_message","customType":"interrupted-thinking","content":"so far"`
		case 6:
			line = fmt.Sprintf(`"type":"custom","customType":"experimental_context_notes","data":{"version":1,"text":%q}`, []string{"", "notes"}[r.Intn(2)])
		case 7:
			line = []string{
				`"type":"message","message":{"role":"user","content":"go on"}`, `"type":"reset_boundary"`,
				fmt.Sprintf(`"type":"compaction","summary":"before","firstKeptEntryId":"%08x"`, 1+r.Intn(n+1)),
			}[r.Intn(3)]
		}
		lines = append(lines, fmt.Sprintf(`{"id":%q,"parentId":%s,"timestamp":"2026-01-01T00:00:00.000Z",%s}`, id, parent, line))
		parent = `"` + id + `"`
	}
	return st.File(lines...)
}

func TestStreamedMessagesOfOmpAreThoseOfTheContext(t *testing.T) {
	t.Parallel()
	omp, failed := session.Omp, 0
	for seed := range int64(500) {
		fs := afero.NewMemMapFs()
		content := neighbours(rand.New(rand.NewSource(seed)))
		kit.Put(t, fs, kit.Filed, content)
		d, err := session.LoadAs(fs, kit.Filed, &omp)
		require.NoError(t, err)
		for i := range d.Len() {
			want, _, err := session.BuildContext(d, session.At(d.ID(i)), nil)
			require.NoError(t, err)
			requireStreamed(t, want, d, session.At(d.ID(i)), nil)
			if len(want.Messages) < strings.Count(content, `"type":"message"`) {
				failed++
			}
		}
	}
	require.Greater(t, failed, 100, "too few messages decide about others")
}

// A file that became shorter ends the messages with one error.
func TestStreamedMessagesEndWithTheFirstError(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	lines := []string{st.Header("0123456789abcdef", "/w"), bulk(), st.User("00000001", "", "one")}
	for n := range 40 {
		lines = append(lines, st.User(fmt.Sprintf("%08x", n+2), fmt.Sprintf("%08x", n+1), strings.Repeat("x", 100_000)))
	}
	content := st.File(lines...)
	kit.Put(t, fs, kit.Filed, content)
	d, err := session.Load(fs, kit.Filed)
	require.NoError(t, err)
	defer d.Close()
	_, messages, err := session.StreamContext(d, session.AtLast(), nil)
	require.NoError(t, err)
	f, err := fs.OpenFile(kit.Filed, 2, 0)
	require.NoError(t, err)
	require.NoError(t, f.Truncate(int64(len(content)-3_000_000)))
	require.NoError(t, f.Close())
	n, failures := 0, 0
	for _, err := range messages {
		if err != nil {
			failures++
			continue
		}
		n++
	}
	require.Equal(t, 1, failures)
	require.Less(t, n, 41)
}
