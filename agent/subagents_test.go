package agent_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/agent/approval"
	"github.com/xcsh-ls/xcsh-ls/agent/event"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/internal/providertest"
	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/library"
)

func withSubagents(c *agent.Config) { c.Subagents = true }

// starting is a call of the tool task. Each task is name, agent, assignment.
func starting(tasks ...[3]string) providertest.Reply {
	list := make([]map[string]string, len(tasks))
	for i, t := range tasks {
		list[i] = map[string]string{"name": t[0], "agent": t[1], "task": t[2]}
	}
	return providertest.Reply{ToolCalls: []providertest.Call{{Name: "task", Args: map[string]any{"context": "shared background", "tasks": list}}}}
}

func uses(tool string, args map[string]any) providertest.Reply {
	return providertest.Reply{ToolCalls: []providertest.Call{{Name: tool, Args: args}}}
}

// delegated is a session whose model starts subagents with the rest of the script.
func delegated(t *testing.T, fs afero.Fs, mode approval.Mode, replies ...providertest.Reply) (*world, *agent.Session, *models, *user) {
	t.Helper()
	m, u := scripted(replies...), &user{answer: approves}
	m.window = 200_000
	w := newWorld(t, fs, withModel(m), withFiles(fs, mode), withSubagents, withUser(u))
	return w, w.live(t, "/w"), m, u
}

// taskResult returns the newest result of a task call in the session's file, and its details.
func taskResult(t *testing.T, fs afero.Fs, s *agent.Session) (text string, details []byte) {
	t.Helper()
	content, err := afero.ReadFile(fs, s.File())
	require.NoError(t, err)
	for line := range strings.Lines(string(content)) {
		message := rawjson.Get([]byte(line), "message")
		if name, _ := rawjson.GetString(message, "toolName"); name != "task" {
			continue
		}
		m, err := provider.DecodeMessage(message)
		require.NoError(t, err)
		text, details = m.PlainText(), m.Details
	}
	return text, details
}

func artifactsOf(s *agent.Session) string { return strings.TrimSuffix(s.File(), ".jsonl") }

// The result of a subagent and its transcript have the form in which oh-my-pi recorded the same work: only ids, times,
// the model and texts of the prompt differ.
func TestASubagentIsRecordedAsOhMyPiDoes(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	require.NoError(t, afero.WriteFile(fs, "/w/README.md", []byte("# Project\n"), 0o600))
	w, s, m, _ := delegated(t, fs, approval.AutoEdit,
		starting([3]string{"Scouty", "task", "look"}),
		uses("read", map[string]any{"path": "README.md"}), uses("yield", map[string]any{"data": "found it"}),
		providertest.Reply{Text: "Done."},
	)
	prompt(t, s, "go")
	require.NoError(t, w.Close(t.Context()))

	text, details := taskResult(t, fs, s)
	require.Regexp(t, `^<task-result id="Scouty" agent="task" status="completed" duration="\d+ms">\n<meta lines="1" size="10B" />\n<output>\n"found it"\n</output>\n</task-result>$`, text)
	want, err := os.ReadFile("testdata/task/details.json")
	require.NoError(t, err)
	require.Equal(t, keys(t, want), keys(t, details), "the members and their order")
	for _, path := range [][]string{{"id"}, {"agent"}, {"agentSource"}, {"task"}, {"assignment"}, {"output"}} {
		first := func(raw []byte) (s string) {
			rawjson.Elements(rawjson.Get(raw, "results"), func(el []byte) bool { s, _ = rawjson.GetString(el, path...); return false })
			return s
		}
		require.Equal(t, first(want), first(details), path)
	}
	output, err := afero.ReadFile(fs, artifactsOf(s)+"/Scouty.md")
	require.NoError(t, err)
	require.Equal(t, `"found it"`, string(output))

	transcript, err := afero.ReadFile(fs, artifactsOf(s)+"/Scouty.jsonl")
	require.NoError(t, err)
	header, _, _ := strings.Cut(string(transcript), "\n")
	parent, _ := rawjson.GetString([]byte(header), "parentSession")
	require.Equal(t, s.File(), parent)
	require.Equal(t, []string{"session", "model_change", "session_init", "user", "assistant", "toolResult", "assistant", "toolResult"}, typesOf(transcript))
	require.Contains(t, string(transcript), `"role":"user","content":[{"type":"text","text":"Complete assignment thoroughly:\n\nlook"}],"attribution":"agent"`)

	requests := m.Requests()
	require.Len(t, requests, 4)
	require.Contains(t, requests[1].System, "shared background")
	require.NotContains(t, toolNames(requests[1].Tools), "task")
	require.NotContains(t, toolNames(requests[1].Tools), "process")
	require.Len(t, requests[1].Messages, 1, "it begins with an empty conversation")
}

// keys returns the names of all members, in order.
func keys(t *testing.T, raw []byte) (names []string) {
	t.Helper()
	dec := json.NewDecoder(strings.NewReader(string(raw)))
	var walk func(prefix string)
	walk = func(prefix string) {
		token, err := dec.Token()
		require.NoError(t, err)
		switch token {
		case json.Delim('{'):
			for dec.More() {
				key, err := dec.Token()
				require.NoError(t, err)
				name := prefix + "." + key.(string)
				names = append(names, name)
				walk(name)
			}
			_, _ = dec.Token()
		case json.Delim('['):
			for dec.More() {
				walk(prefix + "[]")
			}
			_, _ = dec.Token()
		}
	}
	walk("")
	return names
}

func typesOf(content []byte) (out []string) {
	for line := range strings.Lines(string(content)) {
		typ, _ := rawjson.GetString([]byte(line), "type")
		if role, ok := rawjson.GetString([]byte(line), "message", "role"); ok {
			typ = role
		}
		out = append(out, typ)
	}
	return out
}

// Text that is too long for a result is kept, and the model reads it by its address. A repeated name gets a number.
func TestALongOutputIsReadByItsAddress(t *testing.T) {
	t.Parallel()
	fs, long := afero.NewMemMapFs(), strings.Repeat("a long line of text\n", 400)
	w, s, m, _ := delegated(t, fs, approval.AutoEdit,
		starting([3]string{"long one", "scout", "look"}), providertest.Reply{Text: long},
		starting([3]string{"LongOne", "scout", "look"}), providertest.Reply{Text: "short"},
		uses("read", map[string]any{"path": "agent://LongOne", "offset": 399}),
		providertest.Reply{Text: "Done."},
	)
	prompt(t, s, "go")
	text, _ := taskResult(t, fs, s)
	require.Contains(t, text, `<task-result id="LongOne-2"`)
	requests := m.Requests()
	results := requests[len(requests)-1].Messages
	require.Contains(t, results[2].PlainText(), `<preview full-output="agent://LongOne">`)
	require.Less(t, len(results[2].PlainText()), 5500)
	require.Contains(t, results[len(results)-1].PlainText(), "a long line of text")
	require.NoError(t, w.Close(t.Context()))
}

// The user answers one question about the call, and the subagent's own, which name it. An agent that only reads has
// no question and changes nothing, whatever the mode allows.
func TestTheApprovalsOfSubagents(t *testing.T) {
	t.Parallel()
	write := uses("write", map[string]any{"path": "new.txt", "content": "x"})
	for name, test := range map[string]struct {
		mode    approval.Mode
		agent   string
		asked   []string
		written bool
	}{
		"ask":                    {approval.Ask, "task", []string{"task ", "write Scouty"}, true},
		"auto-edit":              {approval.AutoEdit, "task", nil, true},
		"read-only mode":         {approval.ReadOnly, "task", nil, false},
		"an agent that reads":    {approval.Ask, "scout", nil, false},
		"it, if all is allowed":  {approval.Yolo, "explore", nil, false},
		"a writer, if all is ok": {approval.Yolo, "task", nil, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fs := afero.NewMemMapFs()
			w, s, m, u := delegated(t, fs, test.mode, starting([3]string{"Scouty", test.agent, "write"}), write, providertest.Reply{Text: "ok"}, providertest.Reply{Text: "Done."})
			prompt(t, s, "go")
			var asked []string
			for _, a := range u.prompts() {
				asked = append(asked, a.Tool+" "+a.Task)
			}
			require.Equal(t, test.asked, asked)
			require.Equal(t, test.written, exists(t, fs, "/w/new.txt"))
			require.Equal(t, test.written, contains(toolNames(m.Requests()[1].Tools), "write"))
			require.NoError(t, w.Close(t.Context()))
		})
	}
}

func contains(list []string, s string) bool {
	return strings.Contains("\n"+strings.Join(list, "\n")+"\n", "\n"+s+"\n")
}

// In plan mode every subagent only reads, and starting one needs no permission.
func TestSubagentsOnlyReadInPlanMode(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	w, s, m, u := delegated(t, fs, approval.Yolo,
		starting([3]string{"Scouty", "task", "write"}), uses("write", map[string]any{"path": "new.txt", "content": "x"}),
		providertest.Reply{Text: "ok"}, providertest.Reply{Text: "Done."})
	_, err := s.SetMode(t.Context(), agent.PlanMode)
	require.NoError(t, err)
	prompt(t, s, "go")
	require.Empty(t, u.prompts())
	require.False(t, exists(t, fs, "/w/new.txt"))
	require.Contains(t, toolNames(m.Requests()[0].Tools), "task")
	require.NotContains(t, toolNames(m.Requests()[1].Tools), "write")
	require.NoError(t, w.Close(t.Context()))
}

// A subagent starts no others, and the names of tasks never leave the directory of the session.
func TestSubagentsStayOneLevelDeepAndInTheirDirectory(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	w, s, m, _ := delegated(t, fs, approval.Yolo,
		starting([3]string{"../../../../etc/passwd", "task", "nest"}), starting([3]string{"Inner", "task", "deeper"}),
		providertest.Reply{Text: "ok"}, providertest.Reply{Text: "Done."})
	prompt(t, s, "go")
	requests := m.Requests()
	require.Len(t, requests, 4)
	inner := requests[2].Messages
	require.Contains(t, inner[len(inner)-1].PlainText(), "A subagent can't start others.")
	require.True(t, exists(t, fs, filepath.Join(artifactsOf(s), "EtcPasswd.jsonl")))
	require.False(t, exists(t, fs, "/etc"))
	entries, err := afero.ReadDir(fs, filepath.Dir(s.File()))
	require.NoError(t, err)
	require.Len(t, entries, 2, "the session and its directory")
	require.NoError(t, w.Close(t.Context()))
}

// The lists of sessions have no transcripts of subagents, and the totals count a subagent once.
func TestSubagentsAreNotInListsAndCountOnce(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	used := provider.Usage{Input: 1_000_000, Output: 1, TotalTokens: 1_000_001}
	w, s, _, _ := delegated(t, fs, approval.Yolo,
		starting([3]string{"Scouty", "scout", "look"}), providertest.Reply{Text: "ok", Usage: used}, providertest.Reply{Text: "Done."})
	prompt(t, s, "go")
	var stats agent.Stats
	require.NoError(t, s.View(func(d *session.Document, _ session.Leaf) (err error) {
		stats, err = agent.StatsOf(d)
		return err
	}))
	_, details := taskResult(t, fs, s)
	of, ok := rawjson.Float(rawjson.Get(details, "usage", "totalTokens"))
	require.True(t, ok)
	require.InDelta(t, 1_000_001, of, 0)
	require.InDelta(t, 1_000_000, stats.Usage.Input, 10_000)
	finder := library.Finder{Fs: fs, Roots: []library.Root{library.OwnRoot(library.AgentPlaces(root))}, Home: "/home/u", Temp: "/tmp", Now: time.Now}
	list, err := finder.Files(t.Context(), "/w")
	require.NoError(t, err)
	require.Equal(t, []string{s.File()}, list)
	require.Equal(t, []string{s.File()}, finder.AllFiles())
	updates := eventsOf[event.ToolUpdate](w)
	require.NotEmpty(t, updates)
	require.Contains(t, string(updates[0].PartialResult), `"progress":[{"index":0,"id":"Scouty","agent":"scout"`)
	require.NoError(t, w.Close(t.Context()))
}
