package session_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/rawjson"
)

const fixtures = "../testdata/sessions"

// diskFixtures is the real file system, read-only: a reader that wrote would fail.
func diskFixtures() afero.Fs { return afero.NewReadOnlyFs(afero.NewOsFs()) }

func readJSON(t *testing.T, path string, into any) {
	t.Helper()
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(b, into), path)
}

// sessionFiles returns the session files of one program's fixtures.
func sessionFiles(t *testing.T, program string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(fixtures, program, "*.jsonl"))
	require.NoError(t, err)
	var sessions []string
	for _, f := range files {
		if !strings.HasSuffix(f, ".migrated.jsonl") {
			sessions = append(sessions, f)
		}
	}
	require.NotEmpty(t, sessions)
	return sessions
}

// asJSON marshals a context the way it goes over the wire and reads it back, so that
// a comparison sees what a client sees.
func asJSON(t *testing.T, v any) map[string]any {
	t.Helper()
	b, err := json.Marshal(v)
	require.NoError(t, err)
	var m map[string]any
	require.NoError(t, json.Unmarshal(b, &m))
	return m
}

// TestXcshContextVectors compares with what xcsh itself built.
func TestXcshContextVectors(t *testing.T) {
	t.Parallel()
	var cases []struct {
		Name    string            `json:"name"`
		LeafID  *string           `json:"leafId"`
		Entries []json.RawMessage `json:"entries"`
		Context map[string]any    `json:"context"`
	}
	readJSON(t, filepath.Join(fixtures, "xcsh/build-context.json"), &cases)
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

// piDiffers names the fixtures whose context is deliberately not pi's, why, and what
// a client sees instead.
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

// TestPiContexts compares with what pi itself built from the same files.
func TestPiContexts(t *testing.T) {
	t.Parallel()
	for _, file := range sessionFiles(t, "pi") {
		name := strings.TrimSuffix(filepath.Base(file), ".jsonl")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var want struct {
				Messages      []any          `json:"messages"`
				ThinkingLevel string         `json:"thinkingLevel"`
				Model         map[string]any `json:"model"`
				ContextError  string         `json:"contextError"`
			}
			readJSON(t, strings.TrimSuffix(file, ".jsonl")+".context.json", &want)
			pi := session.Pi
			doc, err := session.LoadAs(diskFixtures(), file, &pi)
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

// TestOmpContexts compares with what omp itself built from the same files.
func TestOmpContexts(t *testing.T) {
	t.Parallel()
	blobs := session.BlobDir{Fs: diskFixtures(), Dir: filepath.Join(fixtures, "omp/agent/blobs")}
	for _, file := range sessionFiles(t, "omp") {
		name := strings.TrimSuffix(filepath.Base(file), ".jsonl")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var want struct {
				Header  map[string]any `json:"header"`
				LeafID  string         `json:"leafId"`
				Context map[string]any `json:"context"`
			}
			readJSON(t, strings.TrimSuffix(file, ".jsonl")+".context.json", &want)
			omp := session.Omp
			doc, err := session.LoadAs(diskFixtures(), file, &omp)
			require.NoError(t, err)
			ctx, _, err := session.BuildContext(doc, session.AtLast(), blobs)
			require.NoError(t, err)
			got := asJSON(t, ctx)
			delete(got, "selectedMCPToolNames")
			delete(got, "hasPersistedMCPToolSelection")
			switch name {
			case "context-notes":
				// The notes are framed in our words; all the rest is equal.
				require.Contains(t, texts(ctx)[0], "\n- step 1 done\n</experimental-context-notes>")
				got["messages"].([]any)[0].(map[string]any)["content"] = want.Context["messages"].([]any)[0].(map[string]any)["content"]
			case "malformed-lines":
				// The second entry of a line that holds two is kept, where omp drops it.
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
