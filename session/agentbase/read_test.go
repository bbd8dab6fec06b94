package agentbase_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/session/agentbase"
)

const fixtures = "../../testdata/sessions/agent-base"

// zone is the time zone in which the Python fixtures were made.
var zone = time.FixedZone("", 2*60*60)

func fixture(t testing.TB, name string) []byte {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(fixtures, name))
	require.NoError(t, err)
	return content
}

func readFixture(t testing.TB, name string) agentbase.Conversation {
	t.Helper()
	c, err := agentbase.Read(fixture(t, name), strings.TrimSuffix(filepath.Base(name), ".json"), zone)
	require.NoError(t, err)
	return c
}

// said returns the role and text of every message.
func said(c agentbase.Conversation) []string {
	var all []string
	for _, m := range c.Messages {
		all = append(all, m.Role+": "+m.Text)
	}
	return all
}

func at(s string) time.Time {
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		panic(err)
	}
	return t.UTC()
}

func TestReadTypeScript(t *testing.T) {
	t.Parallel()
	c := readFixture(t, "typescript/2025-01-04-14-32-15-001-abcd.json")
	require.Equal(t, agentbase.TypeScript, c.Format)
	require.Equal(t, "2025-01-04-14-32-15-001-abcd", c.ID)
	require.Equal(t, c.ID, c.Name)
	require.Equal(t, at("2025-01-04T14:32:15.001Z"), c.Created)
	require.Equal(t, at("2025-01-04T15:45:30Z"), c.LastActivity)
	require.Equal(t, "openai gpt-5-mini", c.Provider+" "+c.Model)
	require.True(t, strings.HasPrefix(c.Summary, "You are resuming"))
	require.Contains(t, string(c.Metadata), `"messageCount": 6`)
	require.Len(t, c.Messages, 6)
	require.Equal(t, "system user tool assistant user assistant", rolesOf(c))
	tool := c.Messages[2]
	require.Equal(t, "list_files call_1", tool.Name+" "+tool.ToolCallID)
	require.Equal(t, 2, c.Messages[4].TurnIndex)
	require.Equal(t, "msg-1736005000000-4", c.Messages[4].ID)
	require.Equal(t, at("2025-01-04T15:45:00Z"), c.Messages[4].At)

	c = readFixture(t, "typescript/jwt-work.json")
	require.Equal(t, "JWT work!", c.Name)
	require.Equal(t, "Working on authentication feature", c.Description)
}

func rolesOf(c agentbase.Conversation) string {
	var roles []string
	for _, m := range c.Messages {
		roles = append(roles, m.Role)
	}
	return strings.Join(roles, " ")
}

// The metadata of a file may contradict its content.
// Proves: AB-061
func TestReadOddities(t *testing.T) {
	t.Parallel()
	c := readFixture(t, "typescript/lying-id.json")
	require.Equal(t, "lying-id", c.ID, "the name of the file counts")

	c = readFixture(t, "typescript/no-metadata.json")
	require.Nil(t, c.Metadata)
	require.Equal(t, "no-metadata", c.Name)
	require.True(t, c.Created.IsZero())

	c = readFixture(t, "typescript/bad-times.json")
	require.True(t, c.Created.IsZero())
	var known []bool
	for _, m := range c.Messages {
		known = append(known, !m.At.IsZero())
	}
	require.Equal(t, []bool{false, true, false, false, true}, known)
	require.Equal(t, at("2025-01-04T15:36:40Z"), c.Messages[4].At, "milliseconds are a time, too")

	c = readFixture(t, "typescript/half-characters.json")
	require.Equal(t, "lone \uFFFD half", c.Messages[1].Text)
	require.True(t, utf8.ValidString(c.Messages[0].Text))

	require.Equal(t, "Grüße 日本語", readFixture(t, "typescript/byte-order-mark.json").Name)
	require.Equal(t, strings.Repeat("a", 70), readFixture(t, "typescript/"+strings.Repeat("a", 64)+".json").Name)

	c = readFixture(t, "typescript/odd-content.json")
	require.Equal(t, []string{
		"user: a\nb", "assistant: ", "user: 12345678901234567890", "narrator: meanwhile", ": ", "user: in an object", "assistant: done",
	}, said(c))
	require.Equal(t, `"not a message"`, string(c.Messages[4].Raw))
	require.True(t, c.Messages[0].Odd)
	require.False(t, c.Messages[6].Odd)
}

// Proves: AB-062
func TestReadPython(t *testing.T) {
	t.Parallel()
	c := readFixture(t, "python/standup.json")
	require.Equal(t, agentbase.Python, c.Format)
	require.Equal(t, []string{"user: What did I do yesterday? Grüße 😀", "assistant: ", "assistant: You fixed the parser.", "user: Thanks"}, said(c))
	require.Equal(t, at("2025-11-20T07:15:00.123456Z"), c.Created, "the times are local")
	require.Equal(t, []agentbase.Call{{Name: "read_file", Arguments: `{"path": "log.md"}`}}, c.Messages[1].Calls)
	require.Equal(t, "add", c.Messages[2].Calls[1].Name)
	require.JSONEq(t, `{"a":1,"b":2}`, c.Messages[2].Calls[1].Arguments)
	require.NotContains(t, string(c.Metadata), "yesterday? Gr", "the messages are not metadata")
	require.Contains(t, string(c.Metadata), `"fallback": true`)

	c = readFixture(t, "python/framework.json")
	require.Equal(t, []string{"user: hi", "assistant: looking", "tool: nothing there", "assistant: Nothing."}, said(c))
	require.Equal(t, "m1", c.Messages[0].ID)
	require.Equal(t, "look", c.Messages[1].Calls[0].Name)
	require.Equal(t, "c1", c.Messages[2].ToolCallID)
}

// For each invalid file the error says why, in words that continue a sentence beginning
// with its name.
// Proves: AB-063
func TestReadBroken(t *testing.T) {
	t.Parallel()
	reasons := map[string]string{
		"empty":            "is empty",
		"list":             "is JSON but no session: it is not an object",
		"null":             "is JSON but no session: it is not an object",
		"garbage":          "is not JSON, or only a part of it",
		"torn":             "is not JSON, or only a part of it",
		"too-deep":         "is not JSON, or only a part of it",
		"no-messages":      "is JSON but no session: it has no messages",
		"empty-messages":   "holds no messages; there is nothing to import",
		"messages-no-list": "is no session: its messages are not a list",
		"an-index":         "is an index of sessions and no session",
		"opaque-thread":    "keeps its messages in a form that only the program that wrote it reads",
	}
	files, err := filepath.Glob(filepath.Join(fixtures, "broken", "*.json"))
	require.NoError(t, err)
	require.Len(t, files, len(reasons))
	for name, reason := range reasons {
		_, err := agentbase.Read(fixture(t, "broken/"+name+".json"), name, zone)
		require.EqualError(t, err, reason, name)
	}
	_, err = agentbase.Read(make([]byte, agentbase.MaxFile+1), "x", zone)
	require.EqualError(t, err, "has 64 MiB; files above 64 MiB are not read")
	_, err = agentbase.Read(fixture(t, "python/index.json"), "index", zone)
	require.EqualError(t, err, "is an index of sessions and no session")
}

// For arbitrary bytes: no panic, valid text, the given id, and a conversation that can be
// written and read again with the same words.
func FuzzRead(f *testing.F) {
	files, err := filepath.Glob(filepath.Join(fixtures, "*", "*.json"))
	require.NoError(f, err)
	for _, file := range files {
		content, err := os.ReadFile(file)
		require.NoError(f, err)
		f.Add(content)
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		c, err := agentbase.Read(content, "id", zone)
		if err != nil {
			require.NotContains(t, err.Error(), "\n")
			return
		}
		require.Equal(t, "id", c.ID)
		require.NotEmpty(t, c.Name)
		require.NotEmpty(t, c.Messages)
		for i := range c.Messages {
			m := &c.Messages[i]
			require.True(t, utf8.ValidString(m.Text) && utf8.ValidString(m.Role))
			m.Calls, m.Odd = nil, false
		}
		again, err := agentbase.Read(written(t, c), "id", zone)
		require.NoError(t, err)
		require.Equal(t, said(c), said(again))
	})
}
