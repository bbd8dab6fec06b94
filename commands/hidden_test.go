package commands_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
)

// withOwnEntries is a conversation with entries for the server's own use between the messages.
func withOwnEntries() []string {
	own := func(kind, id, parent string) string {
		return `{"type":"custom","customType":"xcsh-ls.` + kind + `","data":{"toolCallId":"c","text":"about it"},"id":"` + id + `","parentId":"` + parent + `","timestamp":"2026-01-01T00:00:02.000Z"}`
	}
	return []string{
		st.Header(id1, "/w"), st.User("aaaaaaaa", "", "one"), own("toolStart", "00000001", "aaaaaaaa"), own("description", "00000002", "00000001"),
		st.Assistant("bbbbbbbb", "00000002", "two"),
		`{"type":"session_info","id":"00000003","parentId":"bbbbbbbb","timestamp":"2026-01-01T00:00:03.000Z","name":"T","inHeader":true}`,
	}
}

// Entries for the server's own use are in the file only: no list, tree, count or export has them,
// and what follows them is attached to what precedes them.
func TestOwnEntriesAreInTheFileOnly(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	write(t, fs, file1, withOwnEntries()...)
	before := read(t, fs, file1)
	require.NoError(t, fs.MkdirAll("/w", 0o700))
	env := newEnv(fs)
	type node struct{ ID, ParentID, Type string }
	var got struct {
		LeafID string
		Nodes  []node
	}
	text, err := json.Marshal(do(t, env, "xcsh.tree", args{"source": id1}))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &got))
	require.Equal(t, "bbbbbbbb", got.LeafID)
	require.Equal(t, []node{{"aaaaaaaa", "", "message"}, {"bbbbbbbb", "aaaaaaaa", "message"}}, got.Nodes)

	info := do(t, env, "xcsh.info", args{"source": id1})
	require.Equal(t, []any{2.0, 1.0, "about it", "T"}, []any{info["entries"], info["branches"], info["description"], info["title"]})
	require.Equal(t, []any{2.0}, []any{do(t, env, "xcsh.stats", args{"source": id1})["entries"]})

	for _, path := range []string{"/w/a.html", "/w/a.md"} {
		do(t, env, "xcsh.export", args{"source": id1, "path": path})
		page := read(t, fs, path)
		require.Contains(t, page, "two", path)
		for _, own := range []string{"xcsh-ls.toolStart", "xcsh-ls.description", `"00000001"`, "inHeader"} {
			require.NotContains(t, page, own, path)
		}
	}
	do(t, env, "xcsh.export", args{"source": id1, "path": "/w/a.jsonl"})
	_, entries, _ := strings.Cut(before, "\n")
	require.True(t, strings.HasSuffix(read(t, fs, "/w/a.jsonl"), entries), "the bytes of the file are exported as they are")
	require.Equal(t, before, read(t, fs, file1))

	do(t, env, "xcsh.resume", args{"target": id1})
	require.Equal(t, "bbbbbbbb", do(t, env, "xcsh.state", nil)["leafId"])
	do(t, env, "xcsh.branch", args{"entryId": "00000001"})
	require.Equal(t, "aaaaaaaa", do(t, env, "xcsh.state", nil)["leafId"], "a hidden entry is shown as the one above it")
}
