package agent_test

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/agent/event"
	"github.com/xcsh-ls/xcsh-ls/agent/hook"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/internal/providertest"
	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
	"github.com/xcsh-ls/xcsh-ls/internal/sessiontest/kit"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// putLong writes a conversation that is long enough to be compacted.
func putLong(t *testing.T, fs afero.Fs) (path string) {
	t.Helper()
	path = filepath.Join(root, "sessions/--w--", "a.jsonl")
	long := strings.Repeat("many words ", 10_000)
	require.NoError(t, fs.MkdirAll(filepath.Dir(path), 0o700))
	call := `{"type":"message","id":"eeeeeeee","parentId":"dddddddd","timestamp":"2026-01-01T00:00:01.000Z","message":{"role":"assistant","content":[{"type":"toolCall","id":"c1","name":"look","arguments":{}}],"api":"scripted","provider":"offline","model":"demo","stopReason":"toolUse","timestamp":2}}`
	mark := `{"type":"custom","customType":"tool_execution_start","data":{},"id":"abababab","parentId":"eeeeeeee","timestamp":"2026-01-01T00:00:01.000Z"}`
	result := `{"type":"message","id":"ffffffff","parentId":"abababab","timestamp":"2026-01-01T00:00:01.000Z","message":{"role":"toolResult","toolCallId":"c1","toolName":"look","content":[{"type":"text","text":"seen"}],"isError":false,"timestamp":2}}`
	other := strings.Replace(st.User("99999999", "bbbbbbbb", "elsewhere"), "elsewhere", "on another branch", 1)
	require.NoError(t, afero.WriteFile(fs, path, []byte(st.File(
		st.Header("0123456789abcdef", "/w"), st.User("aaaaaaaa", "", long+"the beginning"), st.Assistant("bbbbbbbb", "aaaaaaaa", "the first answer"), other,
		st.User("cccccccc", "bbbbbbbb", long+"the middle"), st.Assistant("dddddddd", "cccccccc", "the second answer"), call, mark, result,
		st.Assistant("12121212", "ffffffff", "the last answer"),
	)), 0o600))
	return path
}

// A hook's summary replaces the model's, which is not asked for one, in every format.
// Proves: X-027, P-023
func TestAHookReplacesACompaction(t *testing.T) {
	t.Parallel()
	for api := range clients {
		t.Run(string(api), func(t *testing.T) {
			t.Parallel()
			tokens := 4242
			a := &author{compaction: &hook.Compaction{
				By: "author.sh", Summary: "What the hook remembers.", FirstKeptEntryID: "dddddddd", TokensBefore: &tokens, Details: json.RawMessage(`{"by":"hook"}`),
			}}
			s := newScene(t, api, withAuthor(a))
			path := putLong(t, s.fs)
			before := kit.Content(t, s.fs, path)
			_, err := s.live.Switch(t.Context(), path)
			require.NoError(t, err)
			result, err := s.live.Compact(t.Context(), "")
			require.NoError(t, err)
			require.Equal(t, agent.Compaction{Summary: "What the hook remembers.", TokensBefore: 4242, FirstKeptEntryID: "dddddddd"}, result)
			require.Empty(t, s.Requests(), "the model is not asked")
			after := kit.Content(t, s.fs, path)
			require.True(t, strings.HasPrefix(after, before))
			require.Contains(t, after, `"summary":"What the hook remembers.","firstKeptEntryId":"dddddddd","tokensBefore":4242,"details":{"by":"hook"},"fromExtension":true}`)

			question := eventOf(t, a, hook.BeforeCompact)
			require.Equal(t, "manual", question.Reason)
			require.NotEmpty(t, question.FirstKeptEntryID)
			require.Positive(t, question.TokensBefore)
			require.True(t, eventOf(t, a, hook.Compact).FromExtension)
			ends := eventsOf[event.CompactionEnd](s.world)
			require.Len(t, ends, 1)
			require.Empty(t, ends[0].ErrorMessage)

			s.Script("m", providertest.Reply{Text: "Yes."})
			prompt(t, s.live, "go on")
			body := string(s.Requests()[0].Body)
			require.Contains(t, body, "What the hook remembers.")
			require.Contains(t, body, "the second answer")
			require.Contains(t, body, "the last answer")
			require.NotContains(t, body, "the beginning")
			require.NotContains(t, body, "the middle")
		})
	}
}

func eventOf(t *testing.T, a *author, name hook.Name) hook.Event {
	t.Helper()
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, e := range a.seen {
		if e.Name == name {
			return e
		}
	}
	require.FailNow(t, "no event", name)
	return hook.Event{}
}

// The plan fills the gaps of a hook's compaction, and pi's files name its origin as pi does.
func TestAHooksCompactionMayLeaveOutEverythingElse(t *testing.T) {
	t.Parallel()
	for dialect, mark := range map[session.Dialect]string{session.Xcsh: "fromExtension", session.Pi: "fromHook", session.Omp: "fromExtension"} {
		t.Run(dialect.String(), func(t *testing.T) {
			t.Parallel()
			fs := afero.NewMemMapFs()
			a := &author{compaction: &hook.Compaction{Summary: "short"}}
			path := putLong(t, fs)
			w := newWorld(t, fs, withAuthor(a), withModel(scripted()), func(c *agent.Config) {
				c.Store = session.NewStore(session.StoreConfig{Fs: fs, Now: c.Finder.Now, DirFor: c.Finder.DirFor, RootFor: func(string) (session.FileRoot, bool) {
					return session.FileRoot{Dialect: dialect}, true
				}})
			})
			s := w.live(t, "/w")
			_, err := s.Switch(t.Context(), path)
			require.NoError(t, err)
			result, err := s.Compact(t.Context(), "")
			require.NoError(t, err)
			asked := eventOf(t, a, hook.BeforeCompact)
			require.Equal(t, agent.Compaction{Summary: "short", TokensBefore: asked.TokensBefore, FirstKeptEntryID: asked.FirstKeptEntryID}, result)
			all := chainOf(t, kit.Content(t, fs, path))
			require.True(t, strings.HasSuffix(all[len(all)-1], `,"`+mark+`":true}`), all[len(all)-1])
		})
	}
}

// chainOf returns the lines of a file.
func chainOf(t *testing.T, content string) []string {
	t.Helper()
	return strings.Split(strings.TrimSuffix(content, "\n"), "\n")
}

// A hook that would lose the conversation, or leave a result without its call, is refused, and the
// model's own summary is used.
func TestAnInvalidCompactionOfAHookIsNotUsed(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ first, want string }{
		"unknown":             {"00000000", `firstKeptEntryId "00000000" is not an entry of the current branch`},
		"on another branch":   {"99999999", `firstKeptEntryId "99999999" is not an entry of the current branch`},
		"the session":         {"0123456789abcdef", `is not an entry of the current branch`},
		"a path":              {"../../etc/passwd", `is not an entry of the current branch`},
		"control characters":  {"\x1b[2Jaaaaaaaa", `is not an entry of the current branch`},
		"a result":            {"ffffffff", `firstKeptEntryId "ffffffff" would keep the result of a tool call without the call`},
		"the mark of a call":  {"abababab", `firstKeptEntryId "abababab" would keep the result of a tool call without the call`},
		"very long":           {strings.Repeat("a", 1000), `is not an entry of the current branch`},
		"an empty id's words": {" ", `is not an entry of the current branch`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fs := afero.NewMemMapFs()
			a := &author{compaction: &hook.Compaction{By: "author.sh", Summary: "A hostile summary.", FirstKeptEntryID: tc.first}}
			path := putLong(t, fs)
			w := newWorld(t, fs, withAuthor(a), withModel(scripted(providertest.Reply{Text: "The model's summary."}, providertest.Reply{Text: "The model's summary."})))
			s := w.live(t, "/w")
			_, err := s.Switch(t.Context(), path)
			require.NoError(t, err)
			result, err := s.Compact(t.Context(), "")
			require.NoError(t, err)
			require.Contains(t, result.Summary, "The model's summary.")
			after := kit.Content(t, fs, path)
			require.NotContains(t, after, "hostile")
			require.NotContains(t, after, "fromExtension")
			require.False(t, eventOf(t, a, hook.Compact).FromExtension)
			notices := eventsOf[event.Notice](w)
			require.Len(t, notices, 2, "the first is about the model")
			notice := notices[1].Text
			require.True(t, strings.HasPrefix(notice, "The compaction of the hook author.sh was not used: "), notice)
			require.Contains(t, notice, tc.want)
			require.NotContains(t, notice, "\x1b")
			require.Less(t, len(notice), 300)
		})
	}
}

// A refusal is stronger than a summary.
func TestARefusedCompactionUsesNoSummary(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	a := &author{compaction: &hook.Compaction{Summary: "short"}, cancel: hook.BeforeCompact}
	path := putLong(t, fs)
	before := kit.Content(t, fs, path)
	w := newWorld(t, fs, withAuthor(a), withModel(scripted()))
	s := w.live(t, "/w")
	_, err := s.Switch(t.Context(), path)
	require.NoError(t, err)
	_, err = s.Compact(t.Context(), "")
	require.EqualError(t, err, "The hook author.sh cancelled the compaction.")
	added := strings.TrimPrefix(kit.Content(t, fs, path), before)
	require.NotContains(t, added, `"type":"compaction"`)
	require.NotContains(t, added, "short")
}

// At each step of the write of a hook's compaction, everything acknowledged stays; a compaction that is
// reported as done is in the file.
func TestFaultsWhileAHooksCompactionIsWritten(t *testing.T) {
	t.Parallel()
	for _, mode := range []st.Mode{st.Once, st.Short, st.Dead} {
		fired := true
		for at := 1; fired; at++ {
			armed := false
			base := afero.NewMemMapFs()
			path := putLong(t, base)
			faulty := &st.FaultFs{Fs: base, At: at, Mode: mode, On: func(string, string) bool { return armed }}
			a := &author{compaction: &hook.Compaction{Summary: "short"}}
			w := newWorld(t, faulty, withAuthor(a), withModel(scripted()))
			s := w.live(t, "/w")
			_, err := s.Switch(t.Context(), path)
			require.NoError(t, err)
			before := kit.Content(t, base, path)
			armed = true
			_, err = s.Compact(t.Context(), "")
			fired = faulty.Fired()
			now := kit.Content(t, base, path)
			require.True(t, strings.HasPrefix(now, before), "mode %d, step %d", mode, at)
			if err == nil {
				require.Equal(t, 1, strings.Count(now, `"summary":"short"`), "mode %d, step %d", mode, at)
			}
			require.True(t, fired || err == nil, "mode %d, step %d: %v", mode, at, err)
			armed = false
			_ = w.Close(t.Context())
		}
	}
}

// Without a hook's summary nothing is different for the model.
func TestACompactionWithoutAnAnswerIsTheModels(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	path := putLong(t, fs)
	m := scripted(providertest.Reply{Text: "The model's summary."}, providertest.Reply{Text: "The model's summary."})
	w := newWorld(t, fs, withAuthor(&author{}), withModel(m))
	s := w.live(t, "/w")
	_, err := s.Switch(t.Context(), path)
	require.NoError(t, err)
	_, err = s.Compact(t.Context(), "")
	require.NoError(t, err)
	require.NotEmpty(t, m.Requests())
	require.Equal(t, provider.RoleUser, m.Requests()[0].Messages[0].Role)
	require.NotContains(t, kit.Content(t, fs, path), "fromExtension")
}
