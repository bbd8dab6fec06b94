package session_test

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
	"github.com/xcsh-ls/xcsh-ls/internal/sessiontest/kit"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// asJSON marshals a context as the wire protocol does and reads it back, so that a comparison sees the same as a
// client.
func asJSON(t *testing.T, v any) map[string]any {
	t.Helper()
	b, err := json.Marshal(v)
	require.NoError(t, err)
	var m map[string]any
	require.NoError(t, json.Unmarshal(b, &m))
	return m
}

// TestXcshContextVectors compares with the contexts that xcsh itself built.
// Proves, X-026 (reading; null thinking), X-027 (compaction), X-030 (custom and custom_message), X-031 (custom and custom_message), X-034 (state entries), X-035 (state entries), X-036 (state entries), X-037 (loading; state entries), X-065 (duplicate ids), X-077, X-078, X-079, X-080, X-081, X-082, X-083, X-084 (state entries), X-085, X-086, X-087, X-088 (branch summary, empty branch summary), X-089, X-090, X-091, X-092 (firstKept missing/compaction/other branch), X-093 (second compaction …), X-094, X-095 (remote history), X-096 (state entries, compaction), X-097, P-013, P-014, P-021 (branch summary), P-025 (custom and custom_message)
func TestXcshContextVectors(t *testing.T) {
	t.Parallel()
	var cases []struct {
		Name    string            `json:"name"`
		LeafID  *string           `json:"leafId"`
		Entries []json.RawMessage `json:"entries"`
		Context map[string]any    `json:"context"`
	}
	kit.ReadJSON(t, filepath.Join(kit.Fixtures, "xcsh/build-context.json"), &cases)
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			lines := [][]byte{[]byte(`{"type":"session","version":3,"id":"0123456789abcdef","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w"}`)}
			for _, e := range c.Entries {
				var line bytes.Buffer
				require.NoError(t, json.Compact(&line, e))
				lines = append(lines, line.Bytes())
			}
			doc, err := session.Parse(append(bytes.Join(lines, []byte("\n")), '\n'))
			require.NoError(t, err)
			leaf := session.AtRoot()
			if c.LeafID != nil {
				leaf = session.At(*c.LeafID)
				if *c.LeafID == "(undefined)" {
					leaf = session.AtLast()
				}
			}
			ctx, _, err := session.BuildContext(doc, leaf, nil)
			require.NoError(t, err)
			require.Equal(t, c.Context, asJSON(t, ctx))
			require.Len(t, ctx.EntryIDs, len(ctx.Messages))
		})
	}
}

// piDiffers names the fixtures whose context deliberately differs from pi's, the reason, and the messages that a client
// gets instead.
var piDiffers = map[string]struct {
	why      string
	messages []string
	problem  session.ProblemKind
}{
	"odd-bom": {
		"pi refuses a file with a byte order mark; everything that can be read is read",
		[]string{"one", "two"},
		session.ByteOrderMark,
	},
	"odd-no-message-field": {"pi throws on a message entry without a message; it is passed over", []string{"one"}, ""},
	"odd-cycle": {
		"pi never returns from a circle of parents; the path ends there and says so",
		[]string{"one", "two"},
		session.ParentCycle,
	},
}

// TestPiContexts compares with the contexts that pi itself built from the same files.
// Proves: X-045, X-064 (odd-cycle*), P-004, P-005 (sm-model-thinking), P-013, P-014, P-021 (sm-branch-summary-root), A-021 (as-tools), F-20 (odd-cycle), AB-034
func TestPiContexts(t *testing.T) {
	t.Parallel()
	for _, file := range kit.SessionFiles(t, "pi") {
		name := strings.TrimSuffix(filepath.Base(file), ".jsonl")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var want struct {
				Messages      []any          `json:"messages"`
				ThinkingLevel string         `json:"thinkingLevel"`
				Model         map[string]any `json:"model"`
				ContextError  string         `json:"contextError"`
			}
			kit.ReadJSON(t, strings.TrimSuffix(file, ".jsonl")+".context.json", &want)
			pi := session.Pi
			doc, err := session.LoadAs(kit.DiskFixtures(), file, &pi)
			if err != nil {
				t.Logf("load: %v", err)
				require.Empty(t, want.Messages, "pi reads it")
				return
			}
			ctx, problems, err := session.BuildContext(doc, session.AtLast(), nil)
			require.NoError(t, err)
			if differs, ok := piDiffers[name]; ok {
				require.Equal(t, differs.messages, texts(ctx), differs.why)
				require.Equal(t, differs.problem != "", hasProblem(append(problems, doc.Problems()...), differs.problem))
				return
			}
			got := asJSON(t, ctx)
			require.Equal(t, want.Messages, got["messages"])
			require.Equal(t, want.ThinkingLevel, ctx.ThinkingLevel)
			model := ""
			if want.Model != nil {
				model = want.Model["provider"].(string) + "/" + want.Model["modelId"].(string)
			}
			require.Equal(t, model, ctx.Models["default"])
		})
	}
}

// texts returns the text of each message of a context.
func texts(ctx session.Context) []string {
	var out []string
	for _, m := range ctx.Messages {
		text, ok := rawjson.GetString(m, "content")
		rawjson.Elements(rawjson.Get(m, "content"), func(block []byte) bool {
			part, _ := rawjson.GetString(block, "text")
			text, ok = text+part, true
			return true
		})
		if ok {
			out = append(out, text)
		}
	}
	return out
}

func hasProblem(problems []session.Problem, kind session.ProblemKind) bool {
	return slices.ContainsFunc(problems, func(p session.Problem) bool { return p.Kind == kind })
}

// TestOmpContexts compares with the contexts that omp itself built from the same files.
// Proves: X-062 (images), X-095 (compaction-openai-remote), X-128 (images)
func TestOmpContexts(t *testing.T) {
	t.Parallel()
	blobs := session.BlobDir{Fs: kit.DiskFixtures(), Dir: filepath.Join(kit.Fixtures, "omp/agent/blobs")}
	for _, file := range kit.SessionFiles(t, "omp") {
		name := strings.TrimSuffix(filepath.Base(file), ".jsonl")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var want struct {
				Header  map[string]any `json:"header"`
				LeafID  string         `json:"leafId"`
				Context map[string]any `json:"context"`
			}
			kit.ReadJSON(t, strings.TrimSuffix(file, ".jsonl")+".context.json", &want)
			omp := session.Omp
			doc, err := session.LoadAs(kit.DiskFixtures(), file, &omp)
			require.NoError(t, err)
			ctx, _, err := session.BuildContext(doc, session.AtLast(), blobs)
			require.NoError(t, err)
			got := asJSON(t, ctx)
			delete(got, "selectedMCPToolNames")
			delete(got, "hasPersistedMCPToolSelection")
			switch name {
			case "context-notes":
				// The notes are framed in other words than omp's; everything else is equal.
				require.Contains(t, texts(ctx)[0], "\n- step 1 done\n</experimental-context-notes>")
				got["messages"].([]any)[0].(map[string]any)["content"] = want.Context["messages"].([]any)[0].(map[string]any)["content"]
			case "malformed-lines":
				// The second entry of a line that holds two is kept; omp drops it.
				want.LeafID = "b5"
				require.True(t, hasProblem(doc.Problems(), session.ExtraValue))
			}
			require.Equal(t, want.Context, got)
			require.Equal(t, want.LeafID, doc.LeafID(session.AtLast()))
			title, _ := want.Header["title"].(string)
			require.Equal(t, title, doc.Title().Text)
		})
	}
}
