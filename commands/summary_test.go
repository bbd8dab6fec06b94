package commands_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/commands"
	st "github.com/xcsh-ls/xcsh-ls/session/sessiontest"
)

// prompt is a first prompt with text as its content.
func prompt(text string) string {
	content, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return `{"type":"message","id":"aaaaaaaa","parentId":null,"timestamp":"2026-01-01T00:00:01.000Z","message":{"role":"user","content":` + string(content) + `}}`
}

// told is a summary in lines.
func told(lines ...string) string { return strings.Join(lines, "\n") }

const (
	resuming = "You are resuming a previous conversation session."
	created  = "Created: 2026-01-01T00:00:00.000Z"
	active   = "Last activity: 2026-01-01T00:00:01.000Z"
)

// The summary of a resumed session is for the person: what it is called, when it was used,
// how much was said by whom on the active branch, and how it began. No model sees it.
func TestSummaryOfAResumedSession(t *testing.T) {
	t.Parallel()
	family, flag := "👩\u200d👩\u200d👧", "🇩🇪"
	topic := func(text, shown string) struct {
		lines []string
		text  string
		facts map[string]any
	} {
		return struct {
			lines []string
			text  string
			facts map[string]any
		}{
			[]string{st.Header(id1, "/w"), prompt(text)},
			told(resuming, "Session: "+id1, created, active, "Total messages: 1 (1 from user, 0 from assistant)", "First topic: "+shown, "", "1 earlier message restored"),
			map[string]any{"counts": map[string]any{"user": 1.0}},
		}
	}
	for name, tc := range map[string]struct {
		lines []string
		text  string
		facts map[string]any
	}{
		"a session without messages": {
			[]string{st.Header(id1, "/w")},
			"Nothing was said in this session yet.",
			map[string]any{"id": id1, "name": "", "counts": map[string]any{}},
		},
		"without a title it is called by its id": {
			talk(id1),
			told(resuming, "Session: "+id1, created, active, "Total messages: 2 (1 from user, 1 from assistant)", "First topic: one", "", "2 earlier messages restored"),
			map[string]any{"name": "one", "firstTopic": "one", "counts": map[string]any{"user": 1.0, "assistant": 1.0}, "provider": "offline", "model": "demo"},
		},
		"a title and a description": {
			append(append([]string{strings.Replace(st.Header(id1, "/w"), "}", `,"title":"Fix\tit"}`, 1)}, talk(id1)[1:]...),
				`{"type":"custom","customType":"xcsh-ls.description","data":{"text":"The lock,\n  and what it holds"},"id":"dddddddd","parentId":"bbbbbbbb","timestamp":"2026-01-02T00:00:00.000Z"}`),
			told(resuming, "Session: Fix it", created, "Last activity: 2026-01-02T00:00:00.000Z", "Total messages: 2 (1 from user, 1 from assistant)",
				"Description: The lock, and what it holds", "First topic: one", "", "2 earlier messages restored"),
			map[string]any{"name": "Fix it", "title": "Fix it", "description": "The lock,\n  and what it holds", "lastActivity": "2026-01-02T00:00:00.000Z"},
		},
		"no user message": {
			[]string{st.Header(id1, "/w"), st.Assistant("bbbbbbbb", "", "two")},
			told(resuming, "Session: "+id1, created, active, "Total messages: 1 (0 from user, 1 from assistant)", "", "1 earlier message restored"),
			map[string]any{"name": "", "counts": map[string]any{"assistant": 1.0}},
		},
		"other roles count in the sum, other branches do not": {
			append(talk(id1),
				`{"type":"message","id":"cccccccc","parentId":"aaaaaaaa","timestamp":"2026-01-02T00:00:00.000Z","message":{"role":"toolResult","content":[]}}`,
				`{"type":"label","id":"dddddddd","parentId":"cccccccc","timestamp":"2026-01-03T00:00:00.000Z","targetId":"aaaaaaaa","label":"x"}`),
			told(resuming, "Session: "+id1, created, "Last activity: 2026-01-03T00:00:00.000Z", "Total messages: 2 (1 from user, 0 from assistant)", "First topic: one", "", "2 earlier messages restored"),
			map[string]any{"name": "one", "counts": map[string]any{"user": 1.0, "toolResult": 1.0}},
		},
		"a topic of several lines":          topic(" \n fix\x07 it\r\nand\x1b[31m\u202E that\n", "fix it and [31m that"),
		"a topic that just fits":            topic(strings.Repeat("a", 100), strings.Repeat("a", 100)),
		"a topic that is too long":          topic(strings.Repeat("a", 101), strings.Repeat("a", 100)+"..."),
		"a topic cut before an emoji":       topic(strings.Repeat("a", 99)+"😀", strings.Repeat("a", 99)+"..."),
		"a topic cut before an accent":      topic(strings.Repeat("a", 99)+"e\u0301x", strings.Repeat("a", 99)+"..."),
		"a topic cut within a family":       topic(strings.Repeat("a", 95)+family+"x", strings.Repeat("a", 95)+"..."),
		"a topic cut within a flag":         topic(strings.Repeat("a", 94)+flag+flag, strings.Repeat("a", 94)+flag+"..."),
		"a topic cut before a skin tone":    topic(strings.Repeat("a", 98)+"👍🏽", strings.Repeat("a", 98)+"..."),
		"a topic that is one character":     topic("e"+strings.Repeat("\u0301", 300), "e"+strings.Repeat("\u0301", 99)+"..."),
		"a topic that ends before a blank":  topic(strings.Repeat("a", 99)+" b", strings.Repeat("a", 99)+"..."),
		"a topic behind a lot of blanks":    topic(strings.Repeat(" \n", 2000)+"here", "here"),
		"a topic with a lot of blanks":      topic("a"+strings.Repeat(" \n", 2000)+"b", "a..."),
		"a topic of a hundred thousand \\n": topic("a"+strings.Repeat("\nb", 50_000), "a"+strings.Repeat(" b", 49)+"..."),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fs := afero.NewMemMapFs()
			write(t, fs, file1, tc.lines...)
			env := newEnv(fs)
			shown := do(t, env, "xcsh.context", args{"source": file1})["context"]
			summary, ok := do(t, env, "xcsh.resume", args{"target": file1})["summary"].(map[string]any)
			require.True(t, ok)
			require.Equal(t, tc.text, summary["text"])
			facts, ok := summary["structured"].(map[string]any)
			require.True(t, ok)
			for key, want := range tc.facts {
				require.Equal(t, want, facts[key], key)
			}
			require.Equal(t, shown, do(t, env, "xcsh.context", nil)["context"], "a model never sees it")
			require.Equal(t, st.File(tc.lines...), read(t, fs, file1), "and it is in no file")
		})
	}
}

// What others wrote since the last save is in the summary.
func TestTheSummaryIsOfNow(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	write(t, fs, file1, talk(id1)...)
	env := newEnv(fs)
	do(t, env, "xcsh.resume", args{"target": id1})
	do(t, env, "xcsh.save", args{"title": "Saved"})
	write(t, fs, file1, append(talk(id1), st.User("cccccccc", "bbbbbbbb", "three"))...)
	summary, ok := do(t, env, "xcsh.resume", args{"target": id1})["summary"].(map[string]any)
	require.True(t, ok)
	require.Contains(t, summary["text"], "Total messages: 3 (2 from user, 1 from assistant)")
}

// The summary is told where it does not interrupt, once per resumed session, unless the
// person wants none; it is in no export either way.
func TestTheSummaryIsTold(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	write(t, fs, file1, talk(id1)...)
	require.NoError(t, fs.MkdirAll("/out", 0o700))
	env := newEnv(fs)
	var said []string
	env.Tell = func(text string) { said = append(said, text) }
	summary, ok := do(t, env, "xcsh.resume", args{"target": id1})["summary"].(map[string]any)
	require.True(t, ok)
	require.Equal(t, []string{summary["text"].(string)}, said) //nolint:forcetypeassert // else the test fails too
	do(t, env, "xcsh.continue", nil)
	require.Len(t, said, 2)
	for _, format := range []string{"html", "markdown", "jsonl"} {
		path := "/out/x." + format
		do(t, env, "xcsh.export", args{"path": path, "format": format})
		require.NotContains(t, read(t, fs, path), "resuming")
	}
	require.NotContains(t, do(t, env, "xcsh.dump", nil)["text"], "resuming")
	require.NotContains(t, read(t, fs, file1), "resuming")

	write(t, fs, sessions+"/empty.jsonl", st.Header("0190000000000009", "/w"))
	do(t, env, "xcsh.resume", args{"target": "0190000000000009"})
	require.Len(t, said, 2, "there is nothing to sum up")

	env.Tell = nil // showResumeSummary: false
	_, err := commands.Default.Execute(context.WithoutCancel(t.Context()), env, "xcsh.resume", []json.RawMessage{[]byte(`{"target":"` + id1 + `"}`)})
	require.NoError(t, err)
	require.Len(t, said, 2)
}
