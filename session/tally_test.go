package session_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
	"github.com/xcsh-ls/xcsh-ls/internal/sessiontest/kit"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// counted is what walking over the entries of a document counts, with encoding/json, in file order.
func counted(t *testing.T, d *session.Document) (session.Tally, string) {
	t.Helper()
	want := session.Tally{Roles: map[string]int{}, Calls: map[string]int{}}
	description := ""
	for i := range d.Len() {
		e, err := d.Entry(i)
		require.NoError(t, err)
		var line struct {
			Type, CustomType string
			Data             json.RawMessage
			Message          json.RawMessage
		}
		require.NoError(t, json.Unmarshal(e.Raw, &line))
		if line.Type == "custom" && line.CustomType == "xcsh-ls.description" {
			var data map[string]any
			if json.Unmarshal(line.Data, &data) == nil {
				if text, ok := data["text"].(string); ok {
					description = text
				}
			}
		}
		if !d.Hidden(i) {
			want.Entries++
		}
		var message map[string]json.RawMessage
		if line.Type != "message" || json.Unmarshal(line.Message, &message) != nil {
			continue
		}
		countMessage(&want, message)
	}
	return want, description
}

func countMessage(want *session.Tally, message map[string]json.RawMessage) {
	text := func(raw json.RawMessage) (s string) {
		_ = json.Unmarshal(raw, &s)
		return s
	}
	role := text(message["role"])
	if role == "" {
		return
	}
	want.Roles[role]++
	var blocks []json.RawMessage
	_ = json.Unmarshal(message["content"], &blocks)
	for _, raw := range blocks {
		var block map[string]json.RawMessage
		if json.Unmarshal(raw, &block) == nil && text(block["type"]) == "toolCall" {
			want.Calls[text(block["name"])]++
		}
	}
	usage := message["usage"]
	if role == "toolResult" {
		usage = nil
		var details map[string]json.RawMessage
		if _ = json.Unmarshal(message["details"], &details); text(message["toolName"]) == "task" {
			usage = details["usage"]
		}
	} else if role != "assistant" {
		return
	}
	addUsage(&want.Usage, usage)
}

func addUsage(sum *session.Usage, usage json.RawMessage) {
	var u map[string]json.RawMessage
	_ = json.Unmarshal(usage, &u)
	number := func(raw json.RawMessage) (n float64) {
		_ = json.Unmarshal(raw, &n)
		return n
	}
	total := 0.0
	for name, to := range map[string]*float64{"input": &sum.Input, "output": &sum.Output, "cacheRead": &sum.CacheRead, "cacheWrite": &sum.CacheWrite} {
		*to += number(u[name])
		total += number(u[name])
	}
	if recorded, ok := u["totalTokens"]; ok {
		total = number(recorded)
	}
	sum.TotalTokens += total
	var cost map[string]json.RawMessage
	_ = json.Unmarshal(u["cost"], &cost)
	sum.Cost += number(cost["total"])
}

// requireTally compares the tally of a document with a count of its entries.
func requireTally(t *testing.T, d *session.Document, name string) {
	t.Helper()
	want, description := counted(t, d)
	got, err := d.Tally()
	require.NoError(t, err, name)
	require.InDelta(t, want.Usage.Cost, got.Usage.Cost, 1e-9, name)
	require.InDelta(t, want.Usage.TotalTokens, got.Usage.TotalTokens, 1e-9, name)
	want.Usage, got.Usage = whole(want.Usage), whole(got.Usage)
	require.Equal(t, want, got, name)
	text, err := d.Description()
	require.NoError(t, err, name)
	require.Equal(t, description, text, name)
}

// whole returns u without the two sums that are compared with a tolerance.
func whole(u session.Usage) session.Usage {
	u.Cost, u.TotalTokens = 0, 0
	return u
}

func TestTheTallyOfEveryFixture(t *testing.T) {
	t.Parallel()
	seen := 0
	for _, program := range []string{"pi", "omp"} {
		for _, file := range kit.SessionFiles(t, program) {
			doc, err := session.Load(kit.DiskFixtures(), file)
			if err != nil {
				continue
			}
			requireTally(t, doc, file)
			require.NoError(t, doc.Close())
			seen++
		}
	}
	require.Greater(t, seen, 40)
}

// Files of all sizes, read by one scanner or by several, and what is appended to them by us and by others, are
// counted alike; so are their forks.
func TestTheTallyFollowsTheFile(t *testing.T) {
	t.Parallel()
	for seed := range uint64(12) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(seed, 3))
			dir := t.TempDir()
			path := filepath.Join(dir, "s.jsonl")
			lines := []string{st.Header("0123456789abcdef", dir)}
			if seed%2 == 0 {
				lines = append(lines, bulk()) // large enough for an index without content
			}
			if seed%4 == 0 {
				lines = append(lines, bulk(), bulk()) // and for several scanners
			}
			for n := range 60 {
				lines = append(lines, tallied(r, n))
			}
			require.NoError(t, os.WriteFile(path, []byte(st.File(lines...)), 0o600))
			store := kit.StoreIn(afero.NewOsFs(), dir, nil)
			l, err := store.Open(path)
			require.NoError(t, err)
			check := func(l *session.Log, step string) {
				require.NoError(t, l.View(func(d *session.Document, _ session.Leaf) error {
					requireTally(t, d, step)
					return nil
				}))
			}
			check(l, "opened")
			kit.MustAppend(t, l, kit.Say("user", "mine"))
			_, err = l.SetDescription("a description " + fmt.Sprint(seed))
			require.NoError(t, err)
			if seed%3 > 0 {
				check(l, "appended")
			}
			f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
			require.NoError(t, err)
			_, err = f.WriteString(tallied(r, 100) + "\n" + tallied(r, 101) + "\n")
			require.NoError(t, err)
			require.NoError(t, f.Close())
			kit.MustAppend(t, l, kit.Say("user", "after theirs"))
			check(l, "adopted")
			fork, err := store.Fork(l)
			require.NoError(t, err)
			check(fork, "forked")
			kit.MustAppend(t, fork, kit.Say("user", "in the fork"))
			check(fork, "appended to the fork")
			require.NoError(t, fork.Close())
			require.NoError(t, l.Close())
		})
	}
}

// tallied draws a line with something to count, or with something odd in its place.
func tallied(r *rand.Rand, n int) string {
	head := fmt.Sprintf(`{"type":"%%s","id":"%08x","parentId":null,"timestamp":"2026-01-01T00:00:00.000Z",`, 0xa0000000+n)
	pick := func(of ...string) string { return of[r.IntN(len(of))] }
	usage := fmt.Sprintf(`{"input":%d,"output":3,"cacheRead":0.5,%s"cost":{"total":0.%d}}`, r.IntN(99), pick("", `"totalTokens":7,`), r.IntN(99))
	switch r.IntN(6) {
	case 0:
		return fmt.Sprintf(head, "custom") + fmt.Sprintf(`"customType":%q,"data":%s}`,
			pick("xcsh-ls.description", "xcsh-ls.import.index", "other"), pick(`{"text":"said"}`, `{"text":1}`, `"x"`))
	case 1:
		return fmt.Sprintf(head, "session_info") + pick(`"name":"n"}`, `"name":"n","inHeader":true}`)
	case 2:
		return fmt.Sprintf(head, "message") + fmt.Sprintf(`"message":{"role":"toolResult","toolName":%s,"details":{"usage":%s},"content":[]}}`,
			pick(`"task"`, `"read"`, `1`), usage)
	case 3:
		return fmt.Sprintf(head, pick("message", "other")) + fmt.Sprintf(`"message":{"role":%s,"content":"x","usage":%s}}`, pick(`"user"`, `"odd"`, `7`), usage)
	default:
		calls := strings.Repeat(pick(`{"type":"toolCall","name":"read"},`, `{"name":"b\u0061sh","type":"toolCall"},`, `{"type":"toolCall"},`), r.IntN(3))
		return fmt.Sprintf(head, "message") + fmt.Sprintf(`"message":{"role":"assistant","content":[%s{"type":"text","text":"toolCall"},3],"usage":%s}}`,
			calls, pick(usage, "null", `"x"`))
	}
}
