package commands_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/commands"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// compactedTalk is longTalk with a compaction after the message numbered at, which keeps that message.
func compactedTalk(n, at int) []string {
	lines := longTalk(n)
	kept := fmt.Sprintf("%08x", at+1)
	compaction := `{"type":"compaction","id":"c0000000","parentId":"` + kept + `","timestamp":"2026-01-01T00:00:00.000Z","summary":"the beginning","tokensBefore":1,"firstKeptEntryId":"` + kept + `"}`
	rest := append([]string{compaction}, lines[at+2:]...)
	if len(rest) > 1 {
		rest[1] = strings.Replace(rest[1], `"parentId":"`+kept, `"parentId":"c0000000`, 1)
	}
	return append(lines[:at+2:at+2], rest...)
}

// Pages with history go on where the context ends, and the cursors of such pages need no argument.
func TestPagesCrossACompaction(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	write(t, fs, file1, compactedTalk(6, 3)...)
	env := newEnv(fs)
	type result = commands.MessagesResult
	plain := call[result](t, env, "xcsh.messages", args{"source": id1})
	require.Equal(t, []string{"c0000000", "00000004", "00000005", "00000006"}, ids(plain))
	require.Nil(t, plain.Older)

	page := call[result](t, env, "xcsh.messages", args{"source": id1, "history": true, "limit": 3})
	require.Equal(t, []string{"00000004", "00000005", "00000006"}, ids(page))
	require.Equal(t, 7, page.Total)
	require.Equal(t, 4, page.Older.Count)
	page = call[result](t, env, "xcsh.messages", args{"source": id1, "limit": 3, "cursor": page.Older.Cursor})
	require.Equal(t, []string{"00000002", "00000003", "c0000000"}, ids(page))
	require.Equal(t, 1, page.Older.Count)
	require.Equal(t, 3, page.Newer.Count)
	page = call[result](t, env, "xcsh.messages", args{"source": id1, "history": true, "around": "00000001", "limit": 3})
	require.Equal(t, []string{"00000001", "00000002"}, ids(page))
	_, err := run(t.Context(), env, "xcsh.messages", args{"source": id1, "around": "00000001"})
	requireKind(t, fault.NotFound, err) // the context does not have it

	hits := call[result](t, env, "xcsh.messages", args{"source": id1, "history": true, "query": "message 1"}).Hits
	require.Len(t, hits, 1)
	require.Equal(t, "00000002", hits[0].EntryID)
	require.Empty(t, call[result](t, env, "xcsh.messages", args{"source": id1, "query": "message 1"}).Hits)
}

// A cursor of a history is one of its own list.
func TestACursorOfAHistoryKeepsItsKind(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	write(t, fs, file1, compactedTalk(6, 3)...)
	env := newEnv(fs)
	type result = commands.MessagesResult
	page := call[result](t, env, "xcsh.messages", args{"source": id1, "history": true, "limit": 1})
	_, err := run(t.Context(), env, "xcsh.messages", args{"source": id1, "query": "message", "cursor": page.Older.Cursor})
	requireKind(t, fault.InvalidArgument, err)
	found := call[result](t, env, "xcsh.messages", args{"source": id1, "history": true, "query": "message", "limit": 2})
	require.Len(t, found.Hits, 2)
	more := call[result](t, env, "xcsh.messages", args{"source": id1, "query": "message", "cursor": found.Older.Cursor})
	require.Len(t, more.Hits, 4)
}

// The first snapshot of a large session, before it is read whole, leads to the messages before a compaction, too.
func TestTheHistoryOfALargeSessionFollowsItsNewestMessages(t *testing.T) {
	for _, d := range []session.Dialect{session.Xcsh, session.Pi, session.Omp} {
		for _, compacted := range []bool{false, true} {
			t.Run(fmt.Sprint(d, compacted), func(t *testing.T) {
				g := newGate(late1)
				env, _ := lateEnv(t, g, lateLines(d, 12, compacted))
				do(t, env, "xcsh.resume", args{"target": late1})
				<-g.read
				early := do(t, env, "xcsh.snapshot", args{"last": 500, "history": true})
				total, seen := 24, []string{}
				if compacted {
					total++ // the summary
				}
				close(g.open)
				add := func(page map[string]any) {
					list, ok := page["messages"].([]any)
					require.True(t, ok)
					var ids []string
					for _, m := range list {
						id, ok := field(m, "entryId").(string)
						require.True(t, ok)
						ids = append(ids, id)
					}
					seen = append(ids, seen...)
				}
				add(early)
				for page := early; field(page, "older", "cursor") != nil; {
					page = do(t, env, "xcsh.messages", args{"cursor": field(page, "older", "cursor"), "limit": 4, "history": true})
					add(page)
				}
				require.Len(t, seen, total)
				require.Equal(t, "a0000000", seen[0])
				require.Equal(t, "b000000b", seen[total-1])

				do(t, env, "xcsh.stats", nil) // waits until the session is read whole
				whole := do(t, env, "xcsh.snapshot", args{"last": 3, "history": true})
				require.InDelta(t, total-3, field(whole, "older", "count"), 0)
				context := do(t, env, "xcsh.snapshot", args{"last": 3})
				require.Equal(t, whole["messages"], context["messages"])
				require.Equal(t, whole["contextUsage"], context["contextUsage"], "the history is not sent to a model")
			})
		}
	}
}
