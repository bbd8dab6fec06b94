package session_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
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

// recording is a context that one of the programs built from a session.
type recording struct {
	name string // the program and the name of the session
	file string // "" for one of xcsh's vectors
	want recordedContext
}

type recordedContext struct {
	LeafID        *string           `json:"leafId"`
	Header        map[string]any    `json:"header"`  // omp
	Context       map[string]any    `json:"context"` // xcsh and omp
	Entries       []json.RawMessage `json:"entries"` // xcsh
	Messages      []any             `json:"messages"`
	ThinkingLevel string            `json:"thinkingLevel"`
	Model         map[string]any    `json:"model"`
}

// contextDiffers names the recordings that deliberately are not rebuilt as the program did it, the
// texts that a client gets instead, and the words of docs/differences.md that say so.
var contextDiffers = map[string]struct {
	why     string // Differs: …
	texts   []string
	problem session.ProblemKind
	row     string
}{
	"pi/odd-bom": {
		"pi refuses a file with a byte order mark; everything that can be read is read",
		[]string{"one", "two"},
		session.ByteOrderMark, "pi refuses a file that begins with a byte order mark",
	},
	"pi/odd-no-message-field": {
		"pi throws on a message entry without a message; it is passed over",
		[]string{"one"},
		"", "a message without content",
	},
	"pi/odd-cycle": {
		"pi never returns from a circle of parents; the path ends there and says so",
		[]string{"one", "two"},
		session.ParentCycle, "Entries that name each other as parents hang the program",
	},
	"omp/context-notes": {
		"the notes are framed in other words than omp's; everything else is equal",
		nil, "", "omp puts instructions to its model around the notes",
	},
	"omp/malformed-lines": {
		"the second entry of a line that holds two is kept; omp drops it, so that the leaf is another one",
		nil, session.ExtraValue, "If two values are on one line",
	},
}

// recordings returns every recorded context.
func recordings(t *testing.T) (all []recording) {
	t.Helper()
	var vectors []struct {
		recordedContext
		Name string `json:"name"`
	}
	kit.ReadJSON(t, filepath.Join(kit.Fixtures, "xcsh/build-context.json"), &vectors)
	for _, v := range vectors {
		all = append(all, recording{name: "xcsh/" + v.Name, want: v.recordedContext})
	}
	for _, program := range []string{"pi", "omp"} {
		found, err := filepath.Glob(filepath.Join(kit.Fixtures, program, "*.context.json"))
		require.NoError(t, err)
		for _, path := range found {
			file := strings.TrimSuffix(path, ".context.json") + ".jsonl"
			r := recording{name: program + "/" + strings.TrimSuffix(filepath.Base(file), ".jsonl"), file: file}
			kit.ReadJSON(t, path, &r.want)
			all = append(all, r)
		}
	}
	return all
}

// TestEveryRecordedContextIsRebuilt compares with the contexts that xcsh, pi and omp themselves built
// from the same sessions. Every one is equal, or one of [contextDiffers].
// Proves, X-026 (reading; null thinking), X-027 (compaction), X-030 (custom and custom_message), X-031 (custom and custom_message), X-034 (state entries), X-035 (state entries), X-036 (state entries), X-037 (loading; state entries), X-065 (duplicate ids), X-077, X-078, X-079, X-080, X-081, X-082, X-083, X-084 (state entries), X-085, X-086, X-087, X-088 (branch summary, empty branch summary), X-089, X-090, X-091, X-092 (firstKept missing/compaction/other branch), X-093 (second compaction …), X-094, X-095 (remote history, compaction-openai-remote), X-096 (state entries, compaction), X-097, P-013, P-014, P-021 (branch summary, sm-branch-summary-root), P-025 (custom and custom_message)
// Proves: X-045, X-064 (odd-cycle*), P-004, P-005 (sm-model-thinking), A-021 (as-tools), F-20 (odd-cycle), AB-034
// Proves: X-062 (images), X-128 (images)
func TestEveryRecordedContextIsRebuilt(t *testing.T) {
	t.Parallel()
	all := recordings(t)
	rows, err := os.ReadFile("../docs/differences.md")
	require.NoError(t, err)
	equal, refused, differ := 0, 0, 0
	for _, r := range all {
		t.Run(r.name, func(t *testing.T) {
			program, _, _ := strings.Cut(r.name, "/")
			rebuild := map[string]func(*testing.T, recording) (session.Context, *session.Document, []session.Problem){
				"xcsh": rebuildVector, "pi": rebuildFile(session.Pi), "omp": rebuildFile(session.Omp),
			}[program]
			ctx, doc, problems := rebuild(t, r)
			differs, listed := contextDiffers[r.name]
			switch {
			case doc == nil:
				require.Empty(t, r.want.Messages, "the program reads it")
				refused++
				return
			case listed:
				require.Contains(t, string(rows), differs.row, "no row of docs/differences.md says: %s", differs.why)
				require.Equal(t, differs.problem != "", hasProblem(append(problems, doc.Problems()...), differs.problem))
				differ++
			default:
				equal++
			}
			if differs.texts != nil {
				require.Equal(t, differs.texts, texts(ctx), differs.why)
				return
			}
			requireRecorded(t, program, r, ctx, doc)
		})
	}
	t.Logf("%d recorded contexts: %d equal, %d refused by the program and by us, %d listed exceptions", len(all), equal, refused, differ)
	require.Equal(t, len(contextDiffers), differ, "an exception has no recording")
	require.Len(t, all, equal+refused+differ)
	require.GreaterOrEqual(t, equal, 100)
}

// rebuildVector builds the context of one of xcsh's vectors.
func rebuildVector(t *testing.T, r recording) (session.Context, *session.Document, []session.Problem) {
	t.Helper()
	lines := [][]byte{[]byte(`{"type":"session","version":3,"id":"0123456789abcdef","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w"}`)}
	for _, e := range r.want.Entries {
		var line bytes.Buffer
		require.NoError(t, json.Compact(&line, e))
		lines = append(lines, line.Bytes())
	}
	doc, err := session.Parse(append(bytes.Join(lines, []byte("\n")), '\n'))
	require.NoError(t, err)
	leaf := session.AtRoot()
	if id := r.want.LeafID; id != nil {
		leaf = session.At(*id)
		if *id == "(undefined)" {
			leaf = session.AtLast()
		}
	}
	ctx, problems, err := session.BuildContext(doc, leaf, nil)
	require.NoError(t, err)
	return ctx, doc, problems
}

// rebuildFile builds the context of a recorded file by the rules of a program. The document is nil if
// the file cannot be read.
func rebuildFile(dialect session.Dialect) func(*testing.T, recording) (session.Context, *session.Document, []session.Problem) {
	return func(t *testing.T, r recording) (session.Context, *session.Document, []session.Problem) {
		t.Helper()
		doc, err := session.LoadAs(kit.DiskFixtures(), r.file, &dialect)
		if err != nil {
			return session.Context{}, nil, nil
		}
		var blobs session.BlobSource
		if dialect == session.Omp {
			blobs = session.BlobDir{Fs: kit.DiskFixtures(), Dir: filepath.Join(kit.Fixtures, "omp/agent/blobs")}
		}
		ctx, problems, err := session.BuildContext(doc, session.AtLast(), blobs)
		require.NoError(t, err)
		return ctx, doc, problems
	}
}

// requireRecorded requires that a context is what the program recorded.
func requireRecorded(t *testing.T, program string, r recording, ctx session.Context, doc *session.Document) {
	t.Helper()
	got := asJSON(t, ctx)
	require.Len(t, ctx.EntryIDs, len(ctx.Messages))
	switch program {
	case "xcsh":
		require.Equal(t, r.want.Context, got)
	case "pi":
		require.Equal(t, r.want.Messages, got["messages"])
		require.Equal(t, r.want.ThinkingLevel, ctx.ThinkingLevel)
		model := ""
		if r.want.Model != nil {
			model = r.want.Model["provider"].(string) + "/" + r.want.Model["modelId"].(string)
		}
		require.Equal(t, model, ctx.Models["default"])
	case "omp":
		delete(got, "selectedMCPToolNames")
		delete(got, "hasPersistedMCPToolSelection")
		leaf := *r.want.LeafID
		switch r.name {
		case "omp/context-notes":
			require.Contains(t, texts(ctx)[0], "\n- step 1 done\n</experimental-context-notes>")
			got["messages"].([]any)[0].(map[string]any)["content"] = r.want.Context["messages"].([]any)[0].(map[string]any)["content"]
		case "omp/malformed-lines":
			leaf = "b5"
		}
		require.Equal(t, r.want.Context, got)
		require.Equal(t, leaf, doc.LeafID(session.AtLast()))
		title, _ := r.want.Header["title"].(string)
		require.Equal(t, title, doc.Title().Text)
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

// TestOmpRebuildsAnthropicsCompaction: the recorded sessions have no compaction by Anthropic's
// service. Its payload and the time at which the history counts as changed are omp's.
// Proves: X-095 (remote history)
func TestOmpRebuildsAnthropicsCompaction(t *testing.T) {
	t.Parallel()
	at := func(second int) string { return fmt.Sprintf("2026-01-01T00:00:%02d.000Z", second) }
	user := func(id, parent string, second int) string {
		return `{"type":"message","id":"` + id + `","parentId":` + parent + `,"timestamp":"` + at(second) + `","message":{"role":"user","content":"` + id + `","timestamp":1}}`
	}
	build := func(kept, native string) session.Context {
		omp := session.Omp
		doc := parse(t, st.Header("01a1f87d-6abc-7705-94f4-66b493a87dbc", "/w"), user("a1", "null", 1), user("a2", `"a1"`, 2), user("a3", `"a2"`, 3),
			`{"type":"compaction","id":"c","parentId":"a3","timestamp":"`+at(4)+`","summary":"words","firstKeptEntryId":"`+kept+`","providerReplayThroughEntryId":"a1","tokensBefore":7,"preserveData":{"anthropicCompaction":`+native+`}}`,
			user("a4", `"c"`, 5), `{"type":"model_usage","id":"u","parentId":"a4","timestamp":"`+at(6)+`"}`)
		require.Equal(t, omp, doc.Dialect())
		ctx, _, err := session.BuildContext(doc, session.AtLast(), nil)
		require.NoError(t, err)
		return ctx
	}
	const native = `{"provider":"anthropic","content":"native","encryptedContent":"zzz","filesText":"","model":"m","usedTokens":1}`
	const first = 1767225600000 // at(0)
	for name, c := range map[string]struct {
		kept, native string
		payload      string
		rewriteAt    int64
		texts        string
	}{
		"kept":              {"a3", native, `{"type":"anthropicCompaction","provider":"anthropic","content":"native","encryptedContent":"zzz"}`, first + 3000 - 1, "a3 a4"},
		"kept from a place": {"", native, `{"type":"anthropicCompaction","provider":"anthropic","content":"native","encryptedContent":"zzz"}`, first + 2000 - 1, "a2 a3 a4"},
		"nothing kept":      {"zz", native, `{"type":"anthropicCompaction","provider":"anthropic","content":"native","encryptedContent":"zzz"}`, first + 5000 - 1, "a4"},
		"without content":   {"a3", `{"provider":"anthropic","encryptedContent":"zzz"}`, "", 0, "a3 a4"},
		"of another shape":  {"", `{"provider":7,"content":["x"]}`, "", 0, "a4"},
		"with files":        {"a3", `{"provider":"p","content":"x","filesText":"<files>"}`, `{"type":"anthropicCompaction","provider":"p","content":"x","filesText":"<files>"}`, first + 3000 - 1, "a3 a4"},
	} {
		ctx := build(c.kept, c.native)
		summary := ctx.Messages[0]
		payload := rawjson.Get(summary, "providerPayload")
		if c.payload == "" {
			require.Nil(t, payload, name)
			require.Nil(t, rawjson.Get(summary, "historyRewriteAt"), name)
		} else {
			require.JSONEq(t, c.payload, string(payload), name)
			require.Equal(t, fmt.Sprint(c.rewriteAt), string(rawjson.Get(summary, "historyRewriteAt")), name)
		}
		require.Equal(t, c.texts, strings.Join(texts(ctx), " "), name)
	}
}
