package commands_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/commands"
	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
)

// prompt returns a first prompt with text as its content.
func prompt(text string) string {
	content, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return `{"type":"message","id":"aaaaaaaa","parentId":null,"timestamp":"2026-01-01T00:00:01.000Z","message":{"role":"user","content":` + string(content) + `}}`
}

// summaryText joins the lines of a summary.
func summaryText(lines ...string) string { return strings.Join(lines, "\n") }

const (
	resuming = "You are resuming a previous conversation session."
	created  = "Created: 2026-01-01T00:00:00.000Z"
	active   = "Last activity: 2026-01-01T00:00:01.000Z"
)

// The summary of a resumed session is for the user: its title, its dates, the number of messages per
// role on the active branch, and its first prompt. No model sees it.
// Proves: A-012, A-013 (derived, not stored), A-014, AB-005, AB-036, AB-037 (the context is the same)
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
			summaryText(resuming, "Session: "+id1, created, active, "Total messages: 1 (1 from user, 0 from assistant)", "First topic: "+shown, "", "1 earlier message restored"),
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
			"This session has no messages yet.",
			map[string]any{"id": id1, "name": "", "counts": map[string]any{}},
		},
		"without a title it is called by its id": {
			talk(id1),
			summaryText(resuming, "Session: "+id1, created, active, "Total messages: 2 (1 from user, 1 from assistant)", "First topic: one", "", "2 earlier messages restored"),
			map[string]any{"name": "one", "firstTopic": "one", "counts": map[string]any{"user": 1.0, "assistant": 1.0}, "provider": "offline", "model": "demo"},
		},
		"a title and a description": {
			append(append([]string{strings.Replace(st.Header(id1, "/w"), "}", `,"title":"Fix\tit"}`, 1)}, talk(id1)[1:]...),
				`{"type":"custom","customType":"xcsh-ls.description","data":{"text":"The lock,\n  and what it holds"},"id":"dddddddd","parentId":"bbbbbbbb","timestamp":"2026-01-02T00:00:00.000Z"}`),
			summaryText(resuming, "Session: Fix it", created, "Last activity: 2026-01-02T00:00:00.000Z", "Total messages: 2 (1 from user, 1 from assistant)",
				"Description: The lock, and what it holds", "First topic: one", "", "2 earlier messages restored"),
			map[string]any{"name": "Fix it", "title": "Fix it", "description": "The lock,\n  and what it holds", "lastActivity": "2026-01-02T00:00:00.000Z"},
		},
		"no user message": {
			[]string{st.Header(id1, "/w"), st.Assistant("bbbbbbbb", "", "two")},
			summaryText(resuming, "Session: "+id1, created, active, "Total messages: 1 (0 from user, 1 from assistant)", "", "1 earlier message restored"),
			map[string]any{"name": "", "counts": map[string]any{"assistant": 1.0}},
		},
		"other roles count in the sum, other branches do not": {
			append(talk(id1),
				`{"type":"message","id":"cccccccc","parentId":"aaaaaaaa","timestamp":"2026-01-02T00:00:00.000Z","message":{"role":"toolResult","content":[]}}`,
				`{"type":"label","id":"dddddddd","parentId":"cccccccc","timestamp":"2026-01-03T00:00:00.000Z","targetId":"aaaaaaaa","label":"x"}`),
			summaryText(resuming, "Session: "+id1, created, "Last activity: 2026-01-03T00:00:00.000Z", "Total messages: 2 (1 from user, 0 from assistant)", "First topic: one", "", "2 earlier messages restored"),
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
			require.Equal(t, shown, do(t, env, "xcsh.context", nil)["context"], "models do not see it")
			require.Equal(t, st.File(tc.lines...), read(t, fs, file1), "no file contains it")
		})
	}
}

// The summary includes messages that other programs wrote since the last save.
// Proves: AB-039
func TestTheSummaryIsCurrent(t *testing.T) {
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

// The summary is shown without interrupting the user, once per resumed session, unless the user turned
// it off. Exports never contain it.
// Proves: AB-038, AB-040
func TestTheSummaryIsShown(t *testing.T) {
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
		require.NotContains(t, read(t, fs, path), "You are resuming")
	}
	require.NotContains(t, do(t, env, "xcsh.dump", nil)["text"], "You are resuming")
	require.NotContains(t, read(t, fs, file1), "You are resuming")

	write(t, fs, sessions+"/empty.jsonl", st.Header("0190000000000009", "/w"))
	do(t, env, "xcsh.resume", args{"target": "0190000000000009"})
	require.Len(t, said, 2, "there is nothing to summarize")

	env.Tell = nil // showResumeSummary: false
	_, err := commands.Default.Execute(context.WithoutCancel(t.Context()), env, "xcsh.resume", []json.RawMessage{[]byte(`{"target":"` + id1 + `"}`)})
	require.NoError(t, err)
	require.Len(t, said, 2)
}
