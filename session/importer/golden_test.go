package importer_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/sessiontest/kit"
)

// This file reads agent-base's files and the goldens of their imports with encoding/json alone, by the
// description of both formats, and shares nothing with the importer: a golden that -update wrote is
// not right only because the importer wrote it.

// said is one thing that was said, in either format.
type said struct {
	role, text string
	at         time.Time
}

// The roles of [said] that are no roles of messages.
const (
	toolRole  = "tool"
	otherRole = "other"
)

// Every golden holds what its source holds.
// Proves: AB-057, AB-062
func TestGoldensHoldWhatTheirSourcesHold(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join(kit.Fixtures, "agent-base", "golden", "*.golden"))
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(files), 11)
	for _, golden := range files {
		name := strings.TrimSuffix(filepath.Base(golden), ".golden")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sources, err := filepath.Glob(filepath.Join(kit.Fixtures, "agent-base", "*", name+".json"))
			require.NoError(t, err)
			require.Len(t, sources, 1)
			src := readSource(t, sources[0])
			dst := readGolden(t, golden)
			require.Equal(t, src.begun, dst.begun)
			require.Equal(t, src.said, dst.said)
			require.Equal(t, src.sum, dst.sum)
			require.Equal(t, src.metadata, dst.metadata)
			require.Equal(t, src.description, dst.description)
			require.Equal(t, src.model, dst.model)
			require.Equal(t, src.summary, dst.summary)
			require.Equal(t, src.ids, dst.ids)
			if src.title == "" {
				src.title = name
			}
			require.Equal(t, src.title, dst.title)
		})
	}
}

// talk is what either format holds of a conversation.
type talk struct {
	begun                                   time.Time
	title, description, model, sum, summary string
	ids                                     []string // of the messages, "" for one without
	metadata                                map[string]any
	said                                    []said
}

// readSource reads a file of agent-base, in the form of its TypeScript or its Python version.
func readSource(t *testing.T, path string) talk {
	t.Helper()
	raw, err := os.ReadFile(path)
	require.NoError(t, err)
	sum := sha256.Sum256(raw)
	var file map[string]any
	decode(t, bytes.TrimPrefix(raw, []byte("\ufeff")), &file)
	list, meta, created := sourceMessages(file)
	c := talk{sum: hex.EncodeToString(sum[:]), metadata: meta}
	c.title, _ = meta["name"].(string)
	c.description, _ = meta["description"].(string)
	c.summary, _ = file["contextSummary"].(string)
	if provider, ok := meta["provider"].(string); ok && provider != "unknown" {
		c.model = fmt.Sprint(provider, "/", meta["model"])
	}
	at, ok := timeOf(created)
	for _, m := range list {
		if first, valid := timeOf(field(m, "timestamp")); !ok && valid {
			at, ok = first, true
		}
	}
	require.True(t, ok, "the start")
	c.begun = at
	for _, m := range list {
		id, _ := field(m, "id").(string)
		if id == "" {
			id, _ = field(m, "message_id").(string)
		}
		c.ids = append(c.ids, id)
		if own, ok := timeOf(field(m, "timestamp")); ok {
			at = own
		} else {
			at = at.Add(time.Millisecond)
		}
		c.said = append(c.said, saidIn(t, m, raw, at)...)
	}
	return c
}

// decode decodes JSON and keeps numbers as they are.
func decode(t *testing.T, raw []byte, v any) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	require.NoError(t, d.Decode(v), "%s", raw)
}

// sourceMessages returns the messages, the metadata and the time at which the conversation began.
func sourceMessages(file map[string]any) (list []any, meta map[string]any, created any) {
	thread, isPython := file["thread"].(map[string]any)
	if !isPython {
		list, _ = file["messages"].([]any)
		meta, _ = file["metadata"].(map[string]any)
		return list, meta, meta["createdAt"]
	}
	meta = map[string]any{}
	for k, v := range file {
		if k != "thread" {
			meta[k] = v
		}
	}
	if about, ok := thread["metadata"]; ok {
		meta["thread"] = map[string]any{"metadata": about}
	}
	list, ok := thread["messages"].([]any)
	if state, isState := thread["chat_message_store_state"].(map[string]any); !ok && isState {
		list, _ = state["messages"].([]any)
	}
	return list, meta, file["created_at"]
}

func field(m any, name string) any {
	object, _ := m.(map[string]any)
	return object[name]
}

// timeOf reads a time with or without a zone, or in milliseconds.
func timeOf(v any) (time.Time, bool) {
	switch v := v.(type) {
	case json.Number:
		ms, err := v.Int64()
		return time.UnixMilli(ms).UTC(), err == nil
	case string:
		for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999"} {
			if at, err := time.Parse(layout, v); err == nil {
				return at.UTC().Truncate(time.Millisecond), true
			}
		}
	}
	return time.Time{}, false
}

// saidIn returns what a message of agent-base says: its text, and its calls of tools.
func saidIn(t *testing.T, m any, raw []byte, at time.Time) (list []said) {
	t.Helper()
	role, _ := field(m, "role").(string)
	if r, ok := field(m, "role").(map[string]any); ok {
		role, _ = r["value"].(string)
	}
	role = strings.ToLower(role[strings.LastIndex(role, ".")+1:])
	content := field(m, "content")
	if contents, ok := field(m, "contents").([]any); ok {
		content = contents
	}
	text, calls := textAndCalls(content)
	more, _ := field(m, "tool_calls").([]any)
	calls = append(calls, more...)
	switch role {
	case "user":
		list = append(list, said{role, text, at})
	case "assistant":
		if text != "" || len(calls) == 0 {
			list = append(list, said{role, text, at})
		}
	case "tool":
		list = append(list, said{toolRole, text, at})
	default:
		list = append(list, said{otherRole, text, at})
	}
	if len(calls) > 0 {
		lines := make([]string, len(calls))
		for i, c := range calls {
			lines[i] = fmt.Sprintf("Called %v(%s)", field(c, "name"), argumentsOf(t, field(c, "arguments"), raw))
		}
		list = append(list, said{toolRole, strings.Join(lines, "\n"), at})
	}
	return list
}

// argumentsOf returns the arguments of a call as they are written.
func argumentsOf(t *testing.T, v any, raw []byte) string {
	t.Helper()
	if s, ok := v.(string); ok {
		return s
	}
	// The only object among the fixtures; its spelling is in the file.
	_, after, found := bytes.Cut(raw, []byte(`"arguments": {`))
	require.True(t, found)
	inside, _, found := bytes.Cut(after, []byte("}"))
	require.True(t, found)
	return "{" + string(inside) + "}"
}

// textAndCalls returns the text of a content, and the calls in it.
func textAndCalls(content any) (text string, calls []any) {
	switch c := content.(type) {
	case string:
		return c, nil
	case json.Number:
		return c.String(), nil
	case map[string]any:
		text, _ = c["text"].(string)
		return text, nil
	case []any:
		var parts []string
		for _, part := range c {
			switch {
			case field(part, "type") == "function_call":
				calls = append(calls, part)
			case field(part, "type") == "function_result":
				parts = append(parts, fmt.Sprint(field(part, "result")))
			case field(part, "type") == "text":
				parts = append(parts, fmt.Sprint(field(part, "text")))
			default:
				if s, ok := part.(string); ok {
					parts = append(parts, s)
				}
			}
		}
		return strings.Join(parts, "\n"), calls
	}
	return "", nil
}

// goldenLine is a line of a session file.
type goldenLine struct {
	Type, ID, Timestamp, CustomType, Title, Model string
	ParentID                                      *string
	Data                                          struct {
		SHA256, ContextSummary, Text, Content string
		Metadata                              map[string]any
		Messages                              []struct{ ID string }
	}
	Message *struct {
		Role      string
		Content   any
		Timestamp int64
		Usage     *struct {
			TotalTokens *float64
			Cost        struct{ Total *float64 }
		}
	}
}

// readGolden reads a session file that an import wrote.
func readGolden(t *testing.T, path string) (c talk) {
	t.Helper()
	raw, err := os.ReadFile(path)
	require.NoError(t, err)
	seen, parent := map[string]bool{}, ""
	for i, line := range strings.Split(strings.TrimSuffix(string(raw), "\n"), "\n") {
		var l goldenLine
		decode(t, []byte(line), &l)
		at, ok := timeOf(l.Timestamp)
		require.True(t, ok, line)
		if i == 0 {
			require.Equal(t, "session", l.Type)
			c.title, c.begun = l.Title, at
			continue
		}
		require.Regexp(t, "^[0-9a-f]{8}$", l.ID)
		require.False(t, seen[l.ID], l.ID)
		if parent == "" {
			require.Nil(t, l.ParentID)
		} else {
			require.Equal(t, parent, *l.ParentID)
		}
		parent, seen[l.ID] = l.ID, true
		c.take(t, l, at)
	}
	return c
}

// take adds what a line holds.
func (c *talk) take(t *testing.T, l goldenLine, at time.Time) {
	t.Helper()
	switch l.Type + " " + l.CustomType {
	case "custom xcsh-ls.import":
		c.sum, c.summary, c.metadata = l.Data.SHA256, l.Data.ContextSummary, l.Data.Metadata
	case "custom xcsh-ls.import.index":
		for _, m := range l.Data.Messages {
			c.ids = append(c.ids, m.ID)
		}
	case "custom xcsh-ls.description":
		c.description = l.Data.Text
	case "custom xcsh-ls.import.tool":
		c.said = append(c.said, said{toolRole, l.Data.Content, at})
	case "custom xcsh-ls.import.other", "custom xcsh-ls.import.system":
		c.said = append(c.said, said{otherRole, l.Data.Content, at})
	case "model_change ":
		c.model = l.Model
	case "session_info ":
	case "message ":
		require.Equal(t, at.UnixMilli(), l.Message.Timestamp)
		text, _ := textAndCalls(l.Message.Content)
		c.said = append(c.said, said{l.Message.Role, text, at})
		if l.Message.Role == "assistant" {
			require.NotNil(t, l.Message.Usage)
			require.Equal(t, 0.0, *l.Message.Usage.TotalTokens) //nolint:testifylint // it is written as 0
			require.Equal(t, 0.0, *l.Message.Usage.Cost.Total)  //nolint:testifylint // it is written as 0
		}
	default:
		require.Fail(t, "an unexpected line", "%+v", l)
	}
}
