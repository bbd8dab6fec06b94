package agent_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/agent/change"
	"github.com/xcsh-ls/xcsh-ls/agent/change/contents"
	"github.com/xcsh-ls/xcsh-ls/agent/change/wire"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// recorder writes sessions with records.
type recorder struct {
	t     *testing.T
	fs    afero.Fs
	path  string
	store *contents.Store
}

func newRecorder(t *testing.T, fs afero.Fs) *recorder {
	t.Helper()
	path := filepath.Join(root, "sessions/--w--/changed.jsonl")
	dir, ok := session.ArtifactDir(path)
	require.True(t, ok)
	return &recorder{t, fs, path, contents.Open(contents.Options{Fs: fs, Dir: filepath.Join(dir, "changes")})}
}

func (r *recorder) state(content string) change.State {
	if content == "" {
		return change.State{Kind: change.Absent}
	}
	sum, err := r.store.Put([]byte(content))
	require.NoError(r.t, err)
	return change.State{Kind: change.Regular, SHA256: sum, Mode: 0o644, Size: int64(len(content))}
}

// line is an entry with the record of a change from one content to another.
func (r *recorder) line(id, parent, prompt, file, before, after string) string {
	to := r.state(after)
	data, err := json.Marshal(change.Record{
		V: change.Version, PromptID: prompt, ToolCallID: "call-" + id, Tool: "edit", Root: "file:///w",
		Changes: []change.Change{{Path: file, Before: r.state(before), After: &to}},
	})
	require.NoError(r.t, err)
	return fmt.Sprintf(`{"type":"custom","customType":%q,"data":%s,"id":%q,"parentId":%q,"timestamp":"2026-02-03T04:05:06.000Z"}`, change.Type, data, id, parent)
}

// write makes the file of the session: two turns, and a command of the user behind the first.
func (r *recorder) write() {
	require.NoError(r.t, r.fs.MkdirAll(filepath.Dir(r.path), 0o700))
	require.NoError(r.t, r.fs.MkdirAll("/w", 0o755))
	require.NoError(r.t, afero.WriteFile(r.fs, "/w/a", []byte("A\nb\nc\nd\nE\n"), 0o644))
	require.NoError(r.t, afero.WriteFile(r.fs, "/w/new", []byte("x\n"), 0o644))
	require.NoError(r.t, afero.WriteFile(r.fs, "/w/mine", []byte("y\n"), 0o644))
	require.NoError(r.t, afero.WriteFile(r.fs, r.path, []byte(st.File(
		st.Header("0123456789abcdef", "/w"), st.User("aaaaaaaa", "", "one"),
		r.line("rec00001", "aaaaaaaa", "aaaaaaaa", "a", "a\nb\nc\nd\ne\n", "A\nb\nc\nd\ne\n"), st.Assistant("bbbbbbbb", "rec00001", "two"),
		r.line("rec00002", "bbbbbbbb", "", "mine", "", "y\n"), st.User("cccccccc", "rec00002", "three"),
		r.line("rec00003", "cccccccc", "cccccccc", "a", "A\nb\nc\nd\ne\n", "A\nb\nc\nd\nE\n"),
		r.line("rec00004", "rec00003", "cccccccc", "new", "", "x\n"), st.Assistant("dddddddd", "rec00004", "four"),
	)), 0o600))
}

func paths(c wire.Changes) (list []string) {
	for _, f := range c.Files {
		list = append(list, f.Path)
	}
	return list
}

func TestChangesOfTurnsAndSessions(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	r := newRecorder(t, fs)
	r.write()
	before, err := afero.ReadFile(fs, r.path)
	require.NoError(t, err)
	w := newWorld(t, fs)
	ask := func(q wire.ChangesQuery) wire.Changes {
		t.Helper()
		c, err := w.ChangesOf(t.Context(), r.path, q)
		require.NoError(t, err)
		return c
	}
	turn := ask(wire.ChangesQuery{})
	require.Equal(t, "cccccccc", turn.Since)
	require.Equal(t, "cccccccc", turn.PromptID)
	require.Equal(t, []string{"/w/a", "/w/new"}, paths(turn))
	require.Equal(t, wire.Totals{Files: 2, Added: 2, Removed: 1, Pending: 2}, turn.Totals)
	require.Nil(t, turn.Files[0].Hunks)
	require.True(t, turn.Complete)
	require.Equal(t, "0123456789abcdef", turn.SessionID)

	all := ask(wire.ChangesQuery{Since: "session"})
	require.Equal(t, []string{"/w/a", "/w/mine", "/w/new"}, paths(all))
	require.Equal(t, 4, all.Totals.Pending)
	require.Equal(t, []string{"/w/a", "/w/mine", "/w/new"}, paths(ask(wire.ChangesQuery{Since: "aaaaaaaa"})))
	file := ask(wire.ChangesQuery{Path: "/w/a"})
	require.Len(t, file.Files, 1)
	require.Len(t, file.Files[0].Hunks, 1)
	require.Equal(t, "rec00003", file.Files[0].Hunks[0].Record)
	_, err = w.ChangesOf(t.Context(), r.path, wire.ChangesQuery{Since: "none"})
	require.True(t, fault.Is(err, fault.NotFound))
	_, err = w.ChangesOf(t.Context(), r.path, wire.ChangesQuery{Path: "a"})
	require.True(t, fault.Is(err, fault.InvalidArgument))

	side, err := w.ChangeSideOf(t.Context(), r.path, wire.SideQuery{Path: "/w/a", Side: "base"})
	require.NoError(t, err)
	require.Equal(t, "a\nb\nc\nd\ne\n", *side.Text)
	after, err := afero.ReadFile(fs, r.path)
	require.NoError(t, err)
	require.Equal(t, before, after, "reading writes nothing")
}

func TestKeepAppendsOneReview(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	r := newRecorder(t, fs)
	r.write()
	w := newWorld(t, fs)
	s := w.live(t, "/w")
	_, err := s.Switch(t.Context(), r.path)
	require.NoError(t, err)
	c, err := s.Changes(t.Context(), wire.ChangesQuery{Path: "/w/a", Since: "session"})
	require.NoError(t, err)
	require.Len(t, c.Files[0].Hunks, 2)
	hunk := wire.HunkRef{Path: "/w/a", Hunk: c.Files[0].Hunks[0].Hunk}
	kept, err := s.Keep(t.Context(), wire.KeepArgs{Hunks: []wire.HunkRef{hunk}})
	require.NoError(t, err)
	require.Equal(t, wire.Kept{Kept: 1, Pending: 3}, kept)
	_, err = s.Keep(t.Context(), wire.KeepArgs{Hunks: []wire.HunkRef{hunk}})
	require.True(t, fault.Is(err, fault.Stale))
	kept, err = s.Keep(t.Context(), wire.KeepArgs{All: true})
	require.NoError(t, err)
	require.Equal(t, wire.Kept{Kept: 3}, kept)
	kept, err = s.Keep(t.Context(), wire.KeepArgs{All: true})
	require.NoError(t, err)
	require.Equal(t, wire.Kept{}, kept, "nothing is left, and nothing is written")

	live, err := s.Changes(t.Context(), wire.ChangesQuery{Since: "session"})
	require.NoError(t, err)
	require.Zero(t, live.Totals.Pending)
	require.NoError(t, w.Close(t.Context()))
	content, err := afero.ReadFile(fs, r.path)
	require.NoError(t, err)
	require.Contains(t, string(content), `"customType":"xcsh-ls.review"`)
	again := newWorld(t, fs)
	c, err = again.ChangesOf(t.Context(), r.path, wire.ChangesQuery{Since: "session"})
	require.NoError(t, err)
	require.Equal(t, live.Totals, c.Totals, "a review outlives the process")
	require.Equal(t, 3, c.Totals.Files)
}

func TestChangesOfASessionWithoutRecords(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	path := filepath.Join(root, "sessions/--w--/peer.jsonl")
	require.NoError(t, fs.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(t, afero.WriteFile(fs, "/w/a.txt", []byte("one\nzwei\nthree\n"), 0o644))
	call := `{"role":"assistant","content":[{"type":"toolCall","id":"c1","name":"edit","arguments":{"path":"a.txt","edits":[{"oldText":"two","newText":"zwei"}]}},` +
		`{"type":"toolCall","id":"c2","name":"write","arguments":{"path":"/w/b.txt","content":"x\n"}},{"type":"toolCall","id":"c3","name":"bash","arguments":{"command":"ls"}}]}`
	result := func(id, details string) string {
		return fmt.Sprintf(`{"role":"toolResult","toolCallId":%q,"toolName":"edit","content":[],"details":%s,"isError":false}`, id, details)
	}
	entry := func(id, parent, message string) string {
		return fmt.Sprintf(`{"type":"message","id":%q,"parentId":%q,"timestamp":"2026-02-03T04:05:06.000Z","message":%s}`, id, parent, message)
	}
	require.NoError(t, afero.WriteFile(fs, path, []byte(st.File(
		st.Header("0123456789abcdef", "/w"), st.User("aaaaaaaa", "", "one"), entry("bbbbbbbb", "aaaaaaaa", call),
		entry("cccccccc", "bbbbbbbb", result("c1", `{"patch":"--- a.txt\n+++ a.txt\n@@ -1,3 +1,3 @@\n one\n-two\n+zwei\n three\n"}`)),
		entry("dddddddd", "cccccccc", result("c2", `{}`)), entry("eeeeeeee", "dddddddd", result("c3", `{}`)),
	)), 0o600))
	w := newWorld(t, fs)
	c, err := w.ChangesOf(t.Context(), path, wire.ChangesQuery{})
	require.NoError(t, err)
	require.Equal(t, "patch", c.Source)
	require.False(t, c.Complete)
	require.Len(t, c.Limits, 1)
	require.Equal(t, []string{"/w/a.txt", "/w/b.txt"}, paths(c))
	require.True(t, c.Files[0].Rewindable)
	require.False(t, c.Files[1].Rewindable)
	require.Equal(t, wire.Totals{Files: 2, Added: 2, Removed: 1}, c.Totals)
	c, err = w.ChangesOf(t.Context(), path, wire.ChangesQuery{Path: "/w/a.txt"})
	require.NoError(t, err)
	require.Len(t, c.Files, 1)
	require.Equal(t, "@@ -2 +2 @@\n-two\n+zwei\n", c.Files[0].Hunks[0].Text)
}

func TestARewindNeverReachesSomeFiles(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	r := newRecorder(t, fs)
	require.NoError(t, fs.MkdirAll(filepath.Dir(r.path), 0o700))
	lines := []string{st.Header("0123456789abcdef", "/w"), st.User("aaaaaaaa", "", "one")}
	reasons := map[string]string{"/w/.git/hooks/post-commit": "denied", "/home/u/.bashrc": "denied", "/w/ok": "", "/w/key": "denied"}
	for path := range reasons {
		require.NoError(t, afero.WriteFile(fs, path, []byte("x\n"), 0o644))
		lines = append(lines, r.line(fmt.Sprintf("rec%05d", len(lines)), "aaaaaaaa", "aaaaaaaa", path, "evil\n", "x\n"))
	}
	require.NoError(t, afero.WriteFile(fs, r.path, []byte(st.File(lines...)), 0o600))
	w := newWorld(t, fs, func(c *agent.Config) { c.Sensitive = func(path string) bool { return filepath.Base(path) == "key" } })
	c, err := w.ChangesOf(t.Context(), r.path, wire.ChangesQuery{})
	require.NoError(t, err)
	require.Len(t, c.Files, len(reasons))
	for _, f := range c.Files {
		require.Equal(t, reasons[f.Path], f.Reason, f.Path)
		require.Equal(t, f.Reason == "", f.Rewindable)
	}
}

// At each step at which the disk fails, a review is there or not, and says so; afterwards keeping succeeds, and nothing is there twice.
func TestEachFailingStepOfKeep(t *testing.T) {
	t.Parallel()
	for _, mode := range []st.Mode{st.Once, st.Dead, st.Short} {
		for n := 1; ; n++ {
			base := afero.NewMemMapFs()
			r := newRecorder(t, base)
			r.write()
			armed := false
			faulty := &st.FaultFs{Fs: base, At: n, Mode: mode, On: func(string, string) bool { return armed }}
			w := newWorld(t, faulty)
			s := w.live(t, "/w")
			_, err := s.Switch(t.Context(), r.path)
			require.NoError(t, err)
			armed = true
			kept, err := s.Keep(t.Context(), wire.KeepArgs{All: true})
			fired := faulty.Fired()
			armed = false
			c, seeErr := s.Changes(t.Context(), wire.ChangesQuery{Since: "session"})
			require.NoError(t, seeErr)
			if err == nil {
				require.Equal(t, wire.Kept{Kept: 4}, kept, "step %d", n)
				require.Zero(t, c.Totals.Pending, "step %d", n)
			} else {
				require.Equal(t, 4, c.Totals.Pending, "step %d: %v", n, err)
			}
			if mode == st.Dead { // another process goes on
				base = copied(t, base)
				w = newWorld(t, base)
				s = w.live(t, "/w")
				_, err := s.Switch(t.Context(), r.path)
				require.NoError(t, err, "step %d", n)
			}
			_, err = s.Keep(t.Context(), wire.KeepArgs{All: true})
			require.NoError(t, err, "step %d", n)
			require.NoError(t, w.Close(t.Context()), "step %d", n)
			c, err = newWorld(t, base).ChangesOf(t.Context(), r.path, wire.ChangesQuery{Since: "session"})
			require.NoError(t, err)
			require.Zero(t, c.Totals.Pending, "step %d", n)
			require.Equal(t, 1, strings.Count(content(t, base, r.path), `"customType":"xcsh-ls.review"`), "step %d", n)
			if !fired {
				require.Greater(t, n, 2)
				break
			}
		}
	}
}
