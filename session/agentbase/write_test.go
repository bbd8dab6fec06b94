package agentbase_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"math/rand"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/session/agentbase"
)

func messagesOf(c agentbase.Conversation) iter.Seq2[agentbase.Message, error] {
	return func(yield func(agentbase.Message, error) bool) {
		for _, m := range c.Messages {
			if !yield(m, nil) {
				return
			}
		}
	}
}

func metadataOf(t testing.TB, c agentbase.Conversation) agentbase.Metadata {
	t.Helper()
	m := agentbase.Metadata{
		ID: c.ID, Name: c.Name, Description: c.Description, Created: c.Created, Provider: c.Provider, Model: c.Model,
	}
	require.NoError(t, m.Survey(messagesOf(c)))
	return m
}

func written(t testing.TB, c agentbase.Conversation) []byte {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, agentbase.Write(&b, metadataOf(t, c), messagesOf(c)))
	return b.Bytes()
}

// A file that agent-base wrote is written again byte for byte: order of the members,
// indentation, the summary, no newline at the end.
// Proves: AB-067
func TestWriteEqualsAgentBasesOwnOutput(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"typescript/2025-01-04-14-32-15-001-abcd.json", "typescript/jwt-work.json"} {
		require.Equal(t, string(fixture(t, name)), string(written(t, readFixture(t, name))), name)
	}
}

// stored is the session file as agent-base's own types declare it.
type stored struct {
	Metadata struct {
		ID             string  `json:"id"`
		Name           string  `json:"name"`
		Description    *string `json:"description"`
		CreatedAt      string  `json:"createdAt"`
		LastActivityAt string  `json:"lastActivityAt"`
		MessageCount   int     `json:"messageCount"`
		FirstMessage   string  `json:"firstMessage"`
		Provider       string  `json:"provider"`
		Model          string  `json:"model"`
	} `json:"metadata"`
	Messages []struct {
		Role       string  `json:"role"`
		Content    string  `json:"content"`
		Name       *string `json:"name"`
		ToolCallID *string `json:"toolCallId"`
		ID         string  `json:"id"`
		Timestamp  string  `json:"timestamp"`
		TurnIndex  *int    `json:"turnIndex"`
	} `json:"messages"`
	ContextSummary string `json:"contextSummary"`
}

// The format holds for every prompt, including one longer than a preview.
// Proves: AB-067
func TestWriteHoldsTheForm(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 199) + "😀" + strings.Repeat("é\n", 3000)
	c := agentbase.Conversation{
		ID: "x", Name: "X \"quoted\"", Created: at("2025-01-01T00:00:00Z"),
		Messages: []agentbase.Message{
			{Role: "assistant", Text: "\u2028 </script> \x00\x1f", ID: "1", At: at("2025-01-01T00:00:01Z")},
			{Role: "user", Text: long, ID: "2", At: at("2025-01-01T00:00:03Z")},
			{Role: "tool", Text: "", Name: "ls", ToolCallID: "c", ID: "3", At: at("2025-01-01T00:00:02Z"), TurnIndex: 4},
		},
	}
	content := written(t, c)
	var s stored
	dec := json.NewDecoder(bytes.NewReader(content))
	dec.DisallowUnknownFields()
	require.NoError(t, dec.Decode(&s))
	_, err := dec.Token()
	require.ErrorIs(t, err, io.EOF)
	require.Equal(t, strings.Repeat("x", 199), s.Metadata.FirstMessage, "a character is not cut in half")
	require.Nil(t, s.Metadata.Description)
	require.Equal(t, "unknown unknown", s.Metadata.Provider+" "+s.Metadata.Model)
	require.Equal(t, 3, s.Metadata.MessageCount)
	require.Equal(t, "2025-01-01T00:00:03.000Z", s.Metadata.LastActivityAt, "the latest, not the last")
	require.Equal(t, long, s.Messages[1].Content)
	require.Nil(t, s.Messages[0].Name)
	require.Equal(t, 4, *s.Messages[2].TurnIndex)
	require.Contains(t, s.ContextSummary, "\nTotal messages: 3 (1 from user, 1 from assistant)\nFirst topic: "+strings.Repeat("x", 100)+"...\n\n")
	for _, m := range s.Messages {
		_, err := time.Parse("2006-01-02T15:04:05.000Z", m.Timestamp)
		require.NoError(t, err)
	}
	require.Equal(t, byte('}'), content[len(content)-1])
	require.Contains(t, string(content), "\u2028 </script> \\u0000\\u001f", "JSON.stringify escapes no more than it must")
}

func TestSummaryWithoutAnyPrompt(t *testing.T) {
	t.Parallel()
	m := agentbase.Metadata{Name: "n", Created: at("2025-01-01T00:00:00Z"), LastActivity: at("2025-01-02T00:00:00Z")}
	require.Equal(t, `You are resuming a previous conversation session.
Session: n
Created: 2025-01-01T00:00:00.000Z
Last activity: 2025-01-02T00:00:00.000Z
Total messages: 0 (0 from user, 0 from assistant)

The conversation history follows. Continue naturally from where you left off.`, m.Summary())
	m.Description, m.First, m.HasFirst = "d", "", true
	require.Contains(t, m.Summary(), "\nDescription: d\nFirst topic: ...\n\n")
}

// An error while reading or writing ends the writing.
func TestWriteReportsErrors(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	messages := func(yield func(agentbase.Message, error) bool) { yield(agentbase.Message{}, broken) }
	require.ErrorIs(t, agentbase.Write(io.Discard, agentbase.Metadata{}, messages), broken)
	require.ErrorIs(t, new(agentbase.Metadata).Survey(messages), broken)
	c := readFixture(t, "typescript/jwt-work.json")
	for n := range 20 {
		require.ErrorIs(t, agentbase.Write(&failing{left: n}, metadataOf(t, c), messagesOf(c)), errFull, "%d", n)
	}
}

var errFull = errors.New("full")

type failing struct{ left int }

func (w *failing) Write(b []byte) (int, error) {
	if w.left -= len(b); w.left < 0 {
		return 0, errFull
	}
	return len(b), nil
}

// randomText is text of all kinds of characters, all of them complete.
func randomText(r *rand.Rand) string {
	ranges := [][2]rune{{0, 0x7F}, {0x80, 0x24F}, {0x2000, 0x20FF}, {0x4E00, 0x4EFF}, {0xFE00, 0xFFFF}, {0x1F300, 0x1F6FF}, {0x10FFF0, 0x10FFFF}}
	var b strings.Builder
	for range r.Intn(300) {
		in := ranges[r.Intn(len(ranges))]
		b.WriteRune(in[0] + r.Int31n(in[1]-in[0]+1))
	}
	return b.String()
}

// A thousand texts survive the round trip unchanged.
// Proves: AB-068
func TestTextRoundTrip(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewSource(1))
	c := agentbase.Conversation{ID: "x", Name: "x", Created: at("2025-01-01T00:00:00Z")}
	for i := range 1000 {
		role := []string{"user", "assistant"}[i%2]
		c.Messages = append(c.Messages, agentbase.Message{Role: role, Text: randomText(r), ID: "m", At: c.Created})
	}
	again, err := agentbase.Read(written(t, c), "x", zone)
	require.NoError(t, err)
	require.Equal(t, said(c), said(again))
	require.Greater(t, len(utf16.Encode([]rune(again.Messages[0].Text+again.Messages[1].Text))), 10)
}

func TestAddToIndex(t *testing.T) {
	t.Parallel()
	m := metadataOf(t, readFixture(t, "typescript/jwt-work.json"))
	now := at("2026-01-01T00:00:00Z")
	index := fixture(t, "typescript/index.json")
	out, err := agentbase.AddToIndex(index, m, now)
	require.NoError(t, err)
	want := strings.Replace(string(index), "\n    }\n  },\n  \"updatedAt\": \"2025-01-04T15:45:30.000Z\"", `
    },
    "jwt-work": {
      "id": "jwt-work",
      "name": "JWT work!",
      "description": "Working on authentication feature",
      "createdAt": "2025-01-04T14:32:15.001Z",
      "lastActivityAt": "2025-01-04T15:45:30.000Z",
      "messageCount": 2,
      "firstMessage": "Help me",
      "provider": "anthropic",
      "model": "claude-sonnet-4-5"
    }
  },
  "updatedAt": "2026-01-01T00:00:00.000Z"`, 1)
	require.Equal(t, want, string(out))
	again, err := agentbase.AddToIndex(out, m, now)
	require.NoError(t, err)
	require.Equal(t, want, string(again), "the same once more changes nothing")
	m.ID = "2025-01-04-14-32-15-001-abcd"
	replaced, err := agentbase.AddToIndex(index, m, now)
	require.NoError(t, err)
	require.Equal(t, 1, strings.Count(string(replaced), `"2025-01-04-14-32-15-001-abcd": {`))
	require.NotContains(t, string(replaced), "gpt-5-mini")
}

func TestAddToIndexRefusesOtherFiles(t *testing.T) {
	t.Parallel()
	for index, reason := range map[string]string{
		``:                                  "is not JSON, or no object",
		`{`:                                 "is not JSON, or no object",
		`[]`:                                "is not JSON, or no object",
		`{}`:                                "is not agent-base's index of sessions",
		`{"conversations":{}}`:              "is not agent-base's index of sessions",
		`{"version":"1.0","sessions":null}`: "is not agent-base's index of sessions",
		`{"version":1,"sessions":{}}`:       "is not agent-base's index of sessions",
		`{"version":"9.9","sessions":{}}`:   "is an index of version 9.9, which may mean something else",
	} {
		_, err := agentbase.AddToIndex([]byte(index), agentbase.Metadata{ID: "x"}, at("2026-01-01T00:00:00Z"))
		require.EqualError(t, err, reason, index)
	}
}
