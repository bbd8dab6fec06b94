package commands_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/commands"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
)

// longTalk returns the lines of a conversation of n messages, whose texts are "message 0" and so on.
func longTalk(n int) []string {
	lines, parent := []string{st.Header(id1, "/w")}, ""
	for i := range n {
		id := fmt.Sprintf("%08x", i+1)
		if i%2 == 0 {
			lines = append(lines, st.User(id, parent, fmt.Sprintf("message %d", i)))
		} else {
			lines = append(lines, st.Assistant(id, parent, fmt.Sprintf("message %d", i)))
		}
		parent = id
	}
	return lines
}

// call runs a command that must succeed and decodes its result.
func call[R any](t *testing.T, env *commands.Env, name string, a args) R {
	t.Helper()
	raw, err := run(t.Context(), env, name, a)
	require.NoError(t, err, name)
	var r R
	require.NoError(t, json.Unmarshal(raw, &r))
	return r
}

// ids returns the entries of the messages of a page.
func ids(r commands.MessagesResult) []string {
	list := []string{}
	for _, m := range r.Messages {
		list = append(list, m.EntryID)
	}
	return list
}

// A page can be requested by its place in the conversation, and the pages beside it by their cursors.
func TestPagesOfAConversation(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	write(t, fs, file1, longTalk(10)...)
	env := newEnv(fs)
	type result = commands.MessagesResult
	newest := call[result](t, env, "xcsh.messages", args{"source": id1, "limit": 3})
	require.Equal(t, []string{"00000008", "00000009", "0000000a"}, ids(newest))
	require.Equal(t, 7, newest.Older.Count)
	require.Nil(t, newest.Newer)
	require.Equal(t, 10, newest.Total)

	older := call[result](t, env, "xcsh.messages", args{"source": id1, "limit": 3, "cursor": newest.Older.Cursor})
	require.Equal(t, []string{"00000005", "00000006", "00000007"}, ids(older))
	require.Equal(t, 4, older.Older.Count)
	require.Equal(t, 3, older.Newer.Count)
	newer := call[result](t, env, "xcsh.messages", args{"source": id1, "limit": 2, "cursor": older.Newer.Cursor})
	require.Equal(t, []string{"00000008", "00000009"}, ids(newer))
	require.Equal(t, 1, newer.Newer.Count)

	for _, tc := range []struct {
		a    args
		want []string
	}{
		{args{"before": "00000003"}, []string{"00000001", "00000002"}},
		{args{"before": "00000001"}, []string{}},
		{args{"after": "00000008"}, []string{"00000009", "0000000a"}},
		{args{"after": "0000000a"}, []string{}},
		{args{"around": "00000005", "limit": 3}, []string{"00000004", "00000005", "00000006"}},
		{args{"around": "00000001", "limit": 3}, []string{"00000001", "00000002"}},
		{args{"around": "00000005", "limit": 1}, []string{"00000005"}},
		{args{"around": "00000005", "limit": 3, "maxBytes": 1}, []string{"00000005"}},
	} {
		tc.a["source"] = id1
		require.Equal(t, tc.want, ids(call[result](t, env, "xcsh.messages", tc.a)), tc.a)
	}
	_, err := run(t.Context(), env, "xcsh.messages", args{"source": id1, "before": "ffffffff"})
	requireKind(t, fault.NotFound, err)
}

// A search returns the messages with a text, newest first, and goes on where it stopped.
func TestSearchInAConversation(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	lines := longTalk(30)
	lines = append(lines, st.User("aaaaaaaa", "0000001e", "Where is\n the MESSAGE of today? "))
	write(t, fs, file1, lines...)
	env := newEnv(fs)
	type result = commands.MessagesResult
	r := call[result](t, env, "xcsh.messages", args{"source": id1, "query": " message ", "limit": 2})
	require.Empty(t, r.Messages)
	require.Len(t, r.Hits, 2)
	require.Equal(t, "aaaaaaaa", r.Hits[0].EntryID)
	require.Equal(t, "user", r.Hits[0].Role)
	require.Equal(t, "Where is the MESSAGE of today?", r.Hits[0].Excerpt)
	require.Equal(t, 30, r.Hits[0].Index)
	require.Equal(t, "assistant", r.Hits[1].Role)
	require.Equal(t, 29, r.Older.Count)

	r = call[result](t, env, "xcsh.messages", args{"source": id1, "query": "message 2", "cursor": r.Older.Cursor})
	require.Len(t, r.Hits, 10, "2 and 20 to 28")
	require.Equal(t, "0000001d", r.Hits[0].EntryID)
	require.Equal(t, "00000003", r.Hits[9].EntryID)
	require.Nil(t, r.Older)

	r = call[result](t, env, "xcsh.messages", args{"source": id1, "query": "message 2", "before": "00000003"})
	require.Empty(t, r.Hits)
}
