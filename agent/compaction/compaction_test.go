package compaction_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/compaction"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/session"
)

func raw(format string, args ...any) json.RawMessage {
	return json.RawMessage(fmt.Sprintf(format, args...))
}

// words is a text of n tokens, by the estimate.
func words(n int) string { return strings.Repeat("abcd", n) }

func user(text string) json.RawMessage {
	return raw(`{"role":"user","content":%q,"timestamp":1}`, text)
}

func answer(text string) json.RawMessage {
	return raw(`{"role":"assistant","content":[{"type":"text","text":%q}],"stopReason":"stop","timestamp":2}`, text)
}

func call(name, path string) json.RawMessage {
	return raw(`{"role":"assistant","content":[{"type":"toolCall","id":"c","name":%q,"arguments":{"path":%q}}],"stopReason":"toolUse"}`, name, path)
}

func result(text string) json.RawMessage {
	return raw(`{"role":"toolResult","toolCallId":"c","toolName":"read","content":[{"type":"text","text":%q}],"isError":false}`, text)
}

func TestEstimate(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		message json.RawMessage
		tokens  int
	}{
		"a text, rounded up":       {user("abcde"), 2},
		"UTF-16 units count":       {user("😀😀"), 1},
		"thinking":                 {raw(`{"role":"assistant","content":[{"type":"thinking","thinking":"abcdefgh"}]}`), 2},
		"a call: name, arguments":  {raw(`{"role":"assistant","content":[{"type":"toolCall","name":"read","arguments":{"a":1}}]}`), 3},
		"an image":                 {raw(`{"role":"user","content":[{"type":"image","data":"x"}]}`), 1200},
		"a command and its output": {raw(`{"role":"bashExecution","command":"abcd","output":"abcd"}`), 2},
		"a summary":                {raw(`{"role":"compactionSummary","summary":"abcd"}`), 1},
		"nothing":                  {raw(`{"role":"user"}`), 0},
	} {
		assert.Equal(t, c.tokens, compaction.Estimate(c.message), name)
	}
}

func TestTokens(t *testing.T) {
	t.Parallel()
	counted := func(usage string, at int) json.RawMessage {
		return raw(`{"role":"assistant","content":[],"stopReason":"stop","usage":%s,"timestamp":%d}`, usage, at)
	}
	for name, c := range map[string]struct {
		messages []json.RawMessage
		tokens   int
		fresh    bool
	}{
		"guessed":                        {[]json.RawMessage{user(words(3)), answer(words(4))}, 7, false},
		"counted, with later messages":   {[]json.RawMessage{user(words(99)), counted(`{"totalTokens":500}`, 2), user(words(7))}, 507, true},
		"old files have no total":        {[]json.RawMessage{counted(`{"input":1,"output":2,"cacheRead":3,"cacheWrite":4}`, 2)}, 10, true},
		"a failed answer counts nothing": {[]json.RawMessage{raw(`{"role":"assistant","content":[],"stopReason":"error","usage":{"totalTokens":9}}`), user(words(3))}, 3, false},
		"a count from before a compaction": {[]json.RawMessage{
			raw(`{"role":"compactionSummary","summary":%q,"timestamp":10}`, words(5)), counted(`{"totalTokens":900}`, 2), user(words(3)),
		}, 8, false},
		"a count from after it": {[]json.RawMessage{
			raw(`{"role":"compactionSummary","summary":"x","timestamp":10}`), counted(`{"totalTokens":900}`, 12),
		}, 900, true},
	} {
		tokens, fresh := compaction.Tokens(c.messages)
		assert.Equal(t, c.tokens, tokens, name)
		assert.Equal(t, c.fresh, fresh, name)
	}
}

func TestDue(t *testing.T) {
	t.Parallel()
	assert.False(t, compaction.Settings{}.Due(100_000-16_384, 100_000))
	assert.True(t, compaction.Settings{}.Due(100_001-16_384, 100_000))
	assert.False(t, compaction.Settings{Disabled: true}.Due(100_000, 100_000))
	assert.False(t, compaction.Settings{}.Due(6144, 8192), "a small window is not kept free as a whole")
	assert.True(t, compaction.Settings{}.Due(6145, 8192))
}

func TestSettingsForAWindow(t *testing.T) {
	t.Parallel()
	assert.Equal(t, compaction.Settings{Reserve: 16384, KeepRecent: 20000}, compaction.Settings{}.For(200_000))
	assert.Equal(t, compaction.Settings{Reserve: 2048, KeepRecent: 2048}, compaction.Settings{}.For(8192))
	assert.Equal(t, compaction.Settings{Reserve: 10, KeepRecent: 2}, compaction.Settings{Reserve: 10, KeepRecent: 2}.For(8192))
}

// conversation numbers its messages e0, e1, ….
func conversation(messages ...json.RawMessage) []compaction.Item {
	items := make([]compaction.Item, len(messages))
	for i, m := range messages {
		items[i] = compaction.Item{EntryID: fmt.Sprint("e", i), Message: m}
	}
	return items
}

func plan(t *testing.T, keep int, messages ...json.RawMessage) *compaction.Plan {
	t.Helper()
	p, err := compaction.Prepare(conversation(messages...), session.Entry{}, nil, compaction.Settings{KeepRecent: keep})
	require.NoError(t, err)
	return p
}

// summarise carries out a plan with the given answers and returns its questions and the result.
func summarise(t *testing.T, p *compaction.Plan, focus string, room int, answers ...string) (q []compaction.Question, summary string, details json.RawMessage) {
	t.Helper()
	p.Room = room
	summary, details, err := p.Summarise(focus, func(next compaction.Question) (string, error) {
		require.Less(t, len(q), len(answers), "more questions than answers")
		q = append(q, next)
		return answers[len(q)-1], nil
	})
	require.NoError(t, err)
	require.Len(t, q, len(answers))
	return q, summary, details
}

const ample = 1 << 20 // room for every question of a test

func TestTheCut(t *testing.T) {
	t.Parallel()
	t.Run("at a question", func(t *testing.T) {
		t.Parallel()
		p := plan(t, 5, user(words(9)), answer(words(9)), user(words(2)), answer(words(3)))
		assert.Equal(t, "e2", p.FirstKept)
		q, summary, details := summarise(t, p, "", ample, "S")
		assert.Contains(t, q[0].Prompt, "[User]: "+words(9)+"\n\n[Assistant]: "+words(9)+"\n</conversation>")
		assert.Equal(t, "S", summary)
		assert.JSONEq(t, `{"readFiles":[],"modifiedFiles":[]}`, string(details))
	})
	t.Run("never at a result", func(t *testing.T) {
		t.Parallel()
		p := plan(t, 4, user("old"), answer("old"), user("q"), call("read", "a"), result(words(9)), answer(words(1)))
		assert.Equal(t, "e5", p.FirstKept, "the call of a kept result would be missing")
	})
	t.Run("in the middle of a turn", func(t *testing.T) {
		t.Parallel()
		p := plan(t, 3, user("old"), answer("old"), user("do it"), call("edit", "b.go"), result("ok"), answer(words(4)))
		assert.Equal(t, "e5", p.FirstKept)
		q, summary, details := summarise(t, p, "focus", ample, "HISTORY", "PREFIX")
		assert.Contains(t, q[0].Prompt, "[User]: old")
		assert.NotContains(t, q[0].Prompt, "do it")
		assert.Contains(t, q[0].Prompt, "Additional focus: focus")
		assert.Contains(t, q[1].Prompt, "[User]: do it")
		assert.Contains(t, q[1].Prompt, `[Assistant tool calls]: edit(path="b.go")`)
		assert.Equal(t, "HISTORY\n\n---\n\n**Turn Context (split turn):**\n\nPREFIX\n\n<modified-files>\nb.go\n</modified-files>", summary)
		assert.JSONEq(t, `{"readFiles":[],"modifiedFiles":["b.go"]}`, string(details))
	})
	t.Run("in the only turn", func(t *testing.T) {
		t.Parallel()
		p := plan(t, 3, user("do it"), call("read", "z"), result("x"), call("read", "a"), result("y"), answer(words(4)))
		_, summary, _ := summarise(t, p, "", ample, "PREFIX")
		assert.True(t, strings.HasPrefix(summary, "No prior history.\n\n---"))
		assert.Contains(t, summary, "<read-files>\na\nz\n</read-files>")
	})
}

func TestNothingToCompact(t *testing.T) {
	t.Parallel()
	for want, prepare := range map[string]func() error{
		"Already compacted": func() error {
			_, err := compaction.Prepare(conversation(user("x")), session.Entry{Type: session.TypeCompaction}, nil, compaction.Settings{})
			return err
		},
		"The conversation is still short. There is nothing to compact.": func() error {
			_, err := compaction.Prepare(conversation(user("x"), answer("y")), session.Entry{}, nil, compaction.Settings{})
			return err
		},
	} {
		err := prepare()
		require.True(t, fault.Is(err, fault.InvalidArgument))
		assert.Equal(t, want, err.Error())
	}
	_, err := compaction.Prepare(nil, session.Entry{}, nil, compaction.Settings{})
	require.Error(t, err)
	_, err = compaction.Prepare(conversation(result("only")), session.Entry{}, nil, compaction.Settings{})
	require.Error(t, err)
}

// A second compaction brings the first summary up to date and inherits its files.
func TestTheNextCompaction(t *testing.T) {
	t.Parallel()
	previous := session.Entry{ID: "e0", Type: session.TypeCompaction, Raw: raw(
		`{"type":"compaction","summary":"FIRST","firstKeptEntryId":"x","tokensBefore":1,"details":{"readFiles":["r"],"modifiedFiles":["m"]}}`)}
	items := conversation(raw(`{"role":"compactionSummary","summary":"FIRST"}`), user(words(9)), answer(words(9)), user(words(2)), answer(words(3)))
	p, err := compaction.Prepare(items, session.Entry{}, &previous, compaction.Settings{KeepRecent: 5})
	require.NoError(t, err)
	q, summary, _ := summarise(t, p, "", ample, "SECOND")
	assert.Contains(t, q[0].Prompt, "<previous-summary>\nFIRST\n</previous-summary>")
	before, _, _ := strings.Cut(q[0].Prompt, "</conversation>")
	assert.NotContains(t, before, "FIRST", "the old summary is not summarized again")
	assert.Equal(t, "SECOND\n\n<read-files>\nr\n</read-files>\n\n<modified-files>\nm\n</modified-files>", summary)
}

func TestLongResultsAreCut(t *testing.T) {
	t.Parallel()
	p := plan(t, 1, user("q"), call("read", "a"), result(strings.Repeat("é", 2500)), answer("a"), user(words(3)))
	q, _, _ := summarise(t, p, "", ample, "S")
	assert.Contains(t, q[0].Prompt, "[Tool result]: "+strings.Repeat("é", 2000)+"\n\n[... 500 more characters truncated]")
}

func entry(typ session.Type, format string, args ...any) session.Entry {
	return session.Entry{Type: typ, Raw: raw(format, args...)}
}

func message(m json.RawMessage) session.Entry {
	return entry(session.TypeMessage, `{"type":"message","message":%s}`, m)
}

func TestBranchSummaries(t *testing.T) {
	t.Parallel()
	b := compaction.PrepareBranch([]session.Entry{
		message(user("try this")), message(call("edit", "a.go")), message(result("secret output")), message(answer("tried")),
		entry(session.TypeLabel, `{"type":"label"}`),
		entry(session.TypeBranchSummary, `{"type":"branch_summary","summary":"earlier branch","details":{"modifiedFiles":["old.go"]}}`),
	}, 100_000, compaction.Settings{})
	q, ok := b.Question("")
	require.True(t, ok)
	assert.Contains(t, q.Prompt, "[User]: try this")
	assert.Contains(t, q.Prompt, "earlier branch")
	assert.NotContains(t, q.Prompt, "secret output")
	assert.NotContains(t, q.Prompt, "Critical Context")
	summary, details := b.Summary("TRIED")
	assert.True(t, strings.HasPrefix(summary, "The user explored a different conversation branch before returning here.\nSummary of that exploration:\n\nTRIED"))
	assert.Contains(t, summary, "<modified-files>\na.go\nold.go\n</modified-files>")
	assert.JSONEq(t, `{"readFiles":[],"modifiedFiles":["a.go","old.go"]}`, string(details))

	empty := compaction.PrepareBranch(nil, 100_000, compaction.Settings{})
	_, ok = empty.Question("")
	assert.False(t, ok)
	summary, _ = empty.Summary("")
	assert.Equal(t, "No content to summarize", summary)
}

func TestBranchesThatDoNotFit(t *testing.T) {
	t.Parallel()
	b := compaction.PrepareBranch([]session.Entry{
		message(user("the oldest " + words(50))), message(user("older " + words(50))), message(user("newest " + words(20))),
	}, 100, compaction.Settings{Reserve: 20})
	q, ok := b.Question("")
	require.True(t, ok)
	assert.Contains(t, q.Prompt, "newest")
	assert.Contains(t, q.Prompt, "older")
	assert.NotContains(t, q.Prompt, "the oldest", "the newest go before the older ones")
}

// A conversation of a model with a large window is summarised by one with a small window.
func TestALongConversationIsSummarisedInParts(t *testing.T) {
	t.Parallel()
	p := plan(t, 3, user(words(9)), answer(words(9)), user("long "+strings.Repeat("é", 60)), answer("x"), user("do it"), call("edit", "b.go"), result("ok"), answer(words(4)))
	q, summary, _ := summarise(t, p, "focus", 100, "FIRST", "SECOND", "THIRD", "PREFIX")
	for _, one := range q {
		text, _, _ := strings.Cut(strings.TrimPrefix(one.Prompt, "<conversation>\n"), "\n</conversation>")
		assert.Less(t, len(text), 100+len("\n\n[... 99 more bytes truncated]"))
		assert.True(t, utf8.ValidString(text))
	}
	assert.Contains(t, q[0].Prompt, "[Assistant]: "+words(9))
	assert.NotContains(t, q[0].Prompt, "<previous-summary>")
	assert.Contains(t, q[1].Prompt, "<previous-summary>\nFIRST\n</previous-summary>")
	assert.Contains(t, q[1].Prompt, "more bytes truncated]")
	assert.Contains(t, q[1].Prompt, "Additional focus: focus")
	assert.True(t, strings.HasPrefix(summary, "THIRD\n\n---\n\n**Turn Context (split turn):**\n\nPREFIX"), summary)

	failed := errors.New("no")
	_, _, err := p.Summarise("", func(compaction.Question) (string, error) { return "", failed })
	require.ErrorIs(t, err, failed)
}

// size estimates a request with the messages.
func size(fixed int, messages ...json.RawMessage) int {
	var s compaction.Sizes
	for _, m := range messages {
		s.Add(m)
	}
	return s.Request(fixed)
}

func TestSize(t *testing.T) {
	t.Parallel()
	const fixed = 300
	counted := raw(`{"role":"assistant","content":[],"stopReason":"stop","usage":{"totalTokens":900},"timestamp":2}`)
	image := raw(`{"role":"user","content":[{"type":"image","data":"x"}]}`)
	compacted := raw(`{"role":"compactionSummary","summary":"abcdef","timestamp":10}`)
	assert.Equal(t, 102, size(fixed, user("abcdef")), "the system prompt and the tools count")
	assert.Equal(t, 902, size(fixed, user(words(99)), counted, user("abcdef")), "the count includes them")
	assert.Equal(t, 902, size(fixed, counted, user("漢字")), "a character of Chinese is a token")
	assert.Equal(t, 2400, size(fixed, counted, image))
	assert.Equal(t, 102, size(fixed, compacted, counted), "a count from before a compaction has no meaning")
}

func TestRoom(t *testing.T) {
	t.Parallel()
	assert.Equal(t, (200_000-16_384)/2*3, compaction.Settings{}.Room(200_000))
	assert.Equal(t, (8192-2048)/2*3, compaction.Settings{}.Room(8192))
}
