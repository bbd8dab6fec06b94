package session

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
)

// historyOf returns the roles and texts of a history, and the number of messages of its conversation.
func historyOf(t *testing.T, content string) (shown []string, conversation int) {
	t.Helper()
	fs, path := afero.NewMemMapFs(), "/s.jsonl"
	require.NoError(t, afero.WriteFile(fs, path, []byte(content), 0o600))
	d, err := load(fs, path, nil)
	require.NoError(t, err)
	c, err := d.Conversation(AtLast(), d.Len(), nil)
	require.NoError(t, err)
	h, err := d.History(AtLast(), d.Len(), nil)
	require.NoError(t, err)
	for place := range h.Places {
		m, err := h.Message(place)
		require.NoError(t, err)
		role, _ := rawjson.GetString(m, "role")
		text, _ := rawjson.GetString(m, "content")
		summary, _ := rawjson.GetString(m, "summary")
		shown = append(shown, role+":"+text+summary)
	}
	require.NoError(t, d.Close())
	return shown, len(c.Places)
}

// chain builds a session of one branch.
type chain struct {
	b strings.Builder
	n int
}

func newChain(d Dialect) *chain {
	c := &chain{}
	c.b.WriteString((&lineMaker{r: rand.New(rand.NewPCG(1, 1)), d: d}).head())
	return c
}

func (c *chain) id(n int) string { return fmt.Sprintf("%08x", n) }

func (c *chain) add(rest string) string {
	parent := "null"
	if c.n > 0 {
		parent = `"` + c.id(c.n) + `"`
	}
	c.n++
	fmt.Fprintf(&c.b, `{"id":%q,"parentId":%s,"timestamp":"2026-01-01T00:00:00.000Z",%s}`+"\n", c.id(c.n), parent, rest)
	return c.id(c.n)
}

func (c *chain) say(text string) string {
	return c.add(fmt.Sprintf(`"type":"message","message":{"role":"user","content":%q,"timestamp":1}`, text))
}

func (c *chain) compact(summary, firstKept string) {
	c.add(fmt.Sprintf(`"type":"compaction","summary":%q,"tokensBefore":1,"firstKeptEntryId":%q`, summary, firstKept))
}

// A history has every message of the branch once, and each summary where the messages that it kept begin.
func TestAHistoryCrossesCompactions(t *testing.T) {
	for _, d := range []Dialect{Xcsh, Pi, Omp} {
		c := newChain(d)
		c.say("one")
		two := c.say("two")
		c.compact("first", two)
		c.say("three")
		four := c.say("four")
		c.compact("second", four)
		c.say("five")
		shown, conversation := historyOf(t, c.b.String())
		require.Equal(t, []string{
			"user:one", "compactionSummary:first", "user:two", "user:three", "compactionSummary:second", "user:four", "user:five",
		}, shown, "%v", d)
		require.Equal(t, 3, conversation)
	}
}

// A summary that keeps nothing, or claims to keep what is not before it, follows the messages that it replaced.
func TestAHistoryDoesNotTrustWhatACompactionKeeps(t *testing.T) {
	c := newChain(Xcsh)
	c.say("one")
	c.compact("keeps nothing", "")
	c.say("two")
	c.compact("keeps a later entry", c.id(99))
	c.say("three")
	shown, _ := historyOf(t, c.b.String())
	require.Equal(t, []string{
		"user:one", "compactionSummary:keeps nothing", "user:two", "compactionSummary:keeps a later entry", "user:three",
	}, shown)
}

// What a reset of omp hides from the model is still in the history.
func TestAHistoryCrossesAReset(t *testing.T) {
	c := newChain(Omp)
	c.say("one")
	c.add(`"type":"reset_boundary"`)
	c.say("two")
	shown, conversation := historyOf(t, c.b.String())
	require.Equal(t, []string{"user:one", "user:two"}, shown)
	require.Equal(t, 1, conversation)
}

// The newest places of a history are those of the conversation, whatever the file contains, and no entry but a compaction is
// in it twice.
func TestAHistoryEndsWithTheConversation(t *testing.T) {
	indexEverything(t)
	longer := 0
	for seed := range uint64(18) {
		m := &lineMaker{r: rand.New(rand.NewPCG(seed, 5)), d: Dialect(seed % 3), twice: seed%5 == 0}
		content := m.head()
		for range 250 {
			content += m.line() + "\n"
		}
		fs, path := afero.NewMemMapFs(), "/s.jsonl"
		require.NoError(t, afero.WriteFile(fs, path, []byte(content), 0o600))
		d, err := load(fs, path, nil)
		require.NoError(t, err)
		for range 20 {
			leaf := atPlace(m.r.IntN(d.Len()))
			c, err := d.Conversation(leaf, d.Len(), nil)
			require.NoError(t, err)
			h, err := d.History(leaf, d.Len(), nil)
			require.NoError(t, err)
			earlier := len(h.Places) - len(c.Places)
			require.Equal(t, c.Places, h.Places[earlier:])
			seen := map[int]bool{}
			for _, i := range h.Places[:earlier] {
				require.False(t, seen[i], "seed %d", seed)
				seen[i] = true
				require.NotContains(t, c.Places, i)
			}
			for place := range h.Places {
				m, err := h.Message(place)
				require.NoError(t, err)
				if place >= earlier {
					same, err := c.Message(place - earlier)
					require.NoError(t, err)
					require.Equal(t, same, m)
				}
			}
			if earlier > 0 {
				longer++
			}
		}
		require.NoError(t, d.Close())
	}
	require.Positive(t, longer, "histories that are longer than their conversation")
}
