package session_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// ParseText gives the same result as Parse of the same bytes, and every entry is at its
// reported position.
func TestParseTextIsParse(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../testdata/sessions/*/*.jsonl")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		content, err := os.ReadFile(file)
		require.NoError(t, err)
		want, wantErr := session.Parse(content)
		got, gotErr := session.ParseText(t.Context(), string(content))
		require.Equal(t, wantErr == nil, gotErr == nil, file)
		require.Equal(t, want.Len(), got.Len(), file)
		require.Equal(t, want.Problems(), got.Problems(), file)
		for i := range want.Len() {
			w, err := want.Entry(i)
			require.NoError(t, err)
			g, err := got.Entry(i)
			require.NoError(t, err)
			require.Equal(t, w, g, file)
			from, to := got.Span(i)
			for _, at := range []int64{from, to - 1} {
				found, ok := got.EntryAt(at)
				require.True(t, ok)
				require.Equal(t, i, found, file)
			}
		}
	}
}

func TestParseTextStops(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	doc, err := session.ParseText(ctx, strings.Repeat(st.User("aaaaaaaa", "", "x")+"\n", 1000))
	require.ErrorIs(t, err, context.Canceled)
	require.Nil(t, doc)
}

func TestFindingsAreWhereTheyAre(t *testing.T) {
	t.Parallel()
	lines := []string{
		st.Header("s", "/w"), st.User("aaaaaaaa", "99999999", "lost"), "junk", st.User("bbbbbbbb", "bbbbbbbb", "own"),
		st.User("cccccccc", "", "x"), st.User("cccccccc", "", "x"), "{",
	}
	doc, err := session.ParseText(t.Context(), strings.Join(lines, "\n"))
	require.NoError(t, err)
	text := strings.Join(lines, "\n")
	found := map[session.ProblemKind]string{}
	findings := doc.Findings(100)
	for _, f := range findings {
		found[f.Kind] = text[f.From:f.To]
	}
	require.Equal(t, map[session.ProblemKind]string{
		session.OrphanEntry: lines[1], session.MalformedLine: lines[2], session.ParentCycle: lines[3],
		session.DuplicateID: lines[5], session.TornTail: lines[6],
	}, found)
	require.Equal(t, findings[:2], doc.Findings(2))
	_, ok := doc.EntryAt(int64(len(lines[0])))
	require.False(t, ok, "a line end")
	_, ok = doc.EntryAt(1 << 40)
	require.False(t, ok)
}
