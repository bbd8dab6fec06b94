package attack

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/lsptest"
)

// compactions returns n compactions of a session, each of which claims to keep what firstKept returns for its number.
func compactions(n int, firstKept func(i int) string) []string {
	lines := make([]string, n)
	parent := "00000002"
	for i := range lines {
		id := fmt.Sprintf("c%07x", i)
		lines[i] = fmt.Sprintf(`{"type":"compaction","id":%q,"parentId":%q,"timestamp":"2026-01-01T00:00:03.000Z","summary":"s","tokensBefore":1,"firstKeptEntryId":%q}`,
			id, parent, firstKept(i))
		parent = id
	}
	return lines
}

// The history of a session takes linear time, and contains every message once, whatever its compactions claim to keep: nothing,
// themselves, each other, or the beginning, which each of them would search for through the whole file.
func TestAHistoryIsNotSlowedDownByCompactions(t *testing.T) {
	t.Parallel()
	const n = 20_000
	for name, firstKept := range map[string]func(i int) string{
		"nothing":       func(int) string { return "" },
		"missing":       func(i int) string { return fmt.Sprintf("ffff%04x", i) },
		"themselves":    func(i int) string { return fmt.Sprintf("c%07x", i) },
		"each other":    func(i int) string { return fmt.Sprintf("c%07x", n-i) },
		"the beginning": func(int) string { return "00000001" },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := newVictim(t)
			path := v.session(compactions(n, firstKept)...)
			ed := v.edit(lsptest.Fields{})
			begun := time.Now()
			var page struct {
				Messages []struct {
					EntryID string `json:"entryId"`
				} `json:"messages"`
				Older *struct {
					Cursor string `json:"cursor"`
				} `json:"older"`
			}
			seen := map[string]int{}
			args := map[string]any{"source": path, "history": true, "limit": 500}
			for pages := 0; ; pages++ {
				page.Older = nil
				require.NoError(t, json.Unmarshal(v.exec(ed, "xcsh.messages", args), &page))
				for _, m := range page.Messages {
					seen[m.EntryID]++
				}
				if page.Older == nil {
					break
				}
				require.Less(t, pages, 100)
				args["cursor"] = page.Older.Cursor
			}
			require.Equal(t, 1, seen["00000001"], "the first message")
			require.Equal(t, 1, seen["00000002"])
			require.Less(t, time.Since(begun), time.Minute)
		})
	}
}
