package agent_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/agent/approval"
	"github.com/xcsh-ls/xcsh-ls/agent/change"
	"github.com/xcsh-ls/xcsh-ls/agent/change/wire"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
)

// terminal writes the session of a terminal program, which has no records.
type terminal struct {
	t      *testing.T
	fs     afero.Fs
	path   string
	lines  []string
	parent string
	n      int
}

func newTerminal(t *testing.T, fs afero.Fs) *terminal {
	t.Helper()
	path := filepath.Join(root, "sessions/--w--/terminal.jsonl")
	require.NoError(t, fs.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(t, fs.MkdirAll("/w", 0o755))
	return &terminal{t: t, fs: fs, path: path, lines: []string{st.Header("0123456789abcdef", "/w")}}
}

// file writes a file of the folder.
func (p *terminal) file(path, text string) {
	p.t.Helper()
	require.NoError(p.t, p.fs.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(p.t, afero.WriteFile(p.fs, path, []byte(text), 0o644))
}

// prompt adds a prompt and returns its entry.
func (p *terminal) prompt() string {
	p.n++
	id := fmt.Sprintf("user%04d", p.n)
	p.lines = append(p.lines, st.User(id, p.parent, "prompt "+id))
	p.parent = id
	return id
}

func (p *terminal) add(id, message string) {
	p.lines = append(p.lines, fmt.Sprintf(`{"type":"message","id":%q,"parentId":%q,"timestamp":"2026-02-03T04:05:06.000Z","message":%s}`, id, p.parent, message))
	p.parent = id
}

// call adds a call and its result, and returns the entry of the result.
func (p *terminal) call(name string, args, details map[string]any, failed bool) (entry string) {
	p.t.Helper()
	p.n++
	entry = fmt.Sprintf("rslt%04d", p.n)
	encode := func(v any) string {
		raw, err := json.Marshal(v)
		require.NoError(p.t, err)
		return string(raw)
	}
	p.add(fmt.Sprintf("call%04d", p.n), encode(map[string]any{"role": "assistant", "stopReason": "toolUse", "content": []any{
		map[string]any{"type": "text", "text": "I edit."},
		map[string]any{"type": "toolCall", "id": "call-" + entry, "name": name, "arguments": args},
	}}))
	p.add(entry, encode(map[string]any{
		"role": "toolResult", "toolCallId": "call-" + entry, "toolName": name, "content": []any{}, "details": details, "isError": failed,
	}))
	return entry
}

type args = map[string]any

// edit is a call of pi: one replacement.
func (p *terminal) edit(path, old, text string) (entry string) {
	return p.call("edit", args{"path": path, "edits": []any{args{"oldText": old, "newText": text}}}, args{}, false)
}

func (p *terminal) end() { p.add("done0000", st.AssistantMessage("Done.")) }

// open writes the session and makes it live.
func (p *terminal) open(options ...option) (*world, *agent.Session) {
	p.t.Helper()
	require.NoError(p.t, afero.WriteFile(p.fs, p.path, []byte(st.File(p.lines...)), 0o600))
	w := newWorld(p.t, p.fs, append(options, func(c *agent.Config) { c.Changes.Pointers = "/own/rewinds" })...)
	s := w.live(p.t, "/w")
	_, err := s.Switch(p.t.Context(), p.path)
	require.NoError(p.t, err)
	return w, s
}

// Every kind of call that programs made, and the result of undoing it.
func TestKindsOfCallsWithoutRecords(t *testing.T) {
	t.Parallel()
	pair := func(old, text string) args { return args{"oldText": old, "newText": text} }
	patch := args{"diff": "-1 a\n+1 b", "patch": "--- f\n+++ f\n@@ -1,2 +1,2 @@\n-a\n+b\n x\n"}
	for name, c := range map[string]struct {
		tool    string
		args    args
		details args
		now     string
		want    string // "" if the file is a conflict
		reason  string
	}{
		"pi, a patch":                   {"edit", args{"path": "f", "edits": []any{pair("?", "!")}}, patch, "b\nx\n", "a\nx\n", ""},
		"pi, a replacement":             {"edit", args{"path": "/w/f", "edits": []any{pair("a", "b")}}, args{}, "b\nx\n", "a\nx\n", ""},
		"pi, an early version":          {"edit", args{"path": "f", "oldText": "a", "newText": "b"}, args{"diff": "x"}, "b\nx\n", "a\nx\n", ""},
		"pi, several replacements":      {"edit", args{"path": "./f", "edits": []any{pair("a", "b"), pair("x", "y")}}, args{}, "b\ny\n", "a\nx\n", ""},
		"pi, replacements as text":      {"edit", args{"path": "f", "edits": `[{"oldText":"a","newText":"b"}]`}, args{}, "b\nx\n", "a\nx\n", ""},
		"an imported edit":              {"edit", args{"file_path": "f", "old_string": "a", "new_string": "b"}, args{}, "b\nx\n", "a\nx\n", ""},
		"an imported edit of an edit":   {"edit", args{"path": "f", "edits": []any{pair("a", "b"), pair("b", "c")}}, args{}, "c\nx\n", "a\nx\n", ""},
		"omp, a replacement":            {"edit", args{"path": "f", "edits": []any{args{"old_text": "a", "new_text": "b"}}}, args{}, "b\nx\n", "a\nx\n", ""},
		"omp, a path for each":          {"edit", args{"edits": []any{args{"path": "f", "old_text": "a", "new_text": "b"}}}, args{}, "b\nx\n", "a\nx\n", ""},
		"omp, a patch in the result":    {"edit", args{"path": "f", "input": "[f#12AB]\n1:b"}, patch, "b\nx\n", "a\nx\n", ""},
		"omp, a form that is not known": {"edit", args{"path": "f", "input": "[f#12AB]\n1:b"}, args{}, "b\nx\n", "", wire.Missing},
		"omp, a hashline edit":          {"edit", args{"path": "f", "edits": []any{args{"op": "replace", "pos": "1#AB", "lines": []any{"b"}}}}, args{}, "b\nx\n", "", wire.Missing},
		"omp, a move":                   {"edit", args{"path": "f", "edits": []any{args{"old_text": "a", "new_text": "b", "move": "g"}}}, args{}, "b\nx\n", "", wire.Missing},
		"a write":                       {"write", args{"path": "f", "content": "b\n"}, args{}, "b\n", "", wire.Missing},
		"a replacement of nothing":      {"edit", args{"path": "f", "edits": []any{pair("", "b")}}, args{}, "b\nx\n", "", wire.Overlaps},
		"changed since":                 {"edit", args{"path": "f", "edits": []any{pair("a", "b")}}, args{}, "c\nx\n", "", wire.Overlaps},
		"twice there":                   {"edit", args{"path": "f", "edits": []any{pair("a", "b")}}, args{}, "b\nb\n", "", wire.Overlaps},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newTerminal(t, afero.NewMemMapFs())
			p.file("/w/f", c.now)
			prompt := p.prompt()
			entry := p.call(c.tool, c.args, c.details, false)
			p.end()
			w, s := p.open()
			plan, err := s.Rewind(t.Context(), wire.RewindArgs{Before: &prompt})
			require.NoError(t, err)
			require.Len(t, plan.Plan, 1)
			require.Equal(t, "/w/f", plan.Plan[0].Path)
			require.Equal(t, []string{entry}, plan.Plan[0].By)
			require.Equal(t, change.LimitPatch, plan.Limits[0].Kind, "commands are missing")
			if c.reason != "" {
				require.Equal(t, c.reason, plan.Plan[0].Reason)
				require.Empty(t, *plan.PlanToken)
				_, err = s.Rewind(t.Context(), wire.RewindArgs{Before: &prompt, DryRun: new(false)})
				require.Equal(t, fault.Conflict, fault.KindOf(err))
				require.Equal(t, c.now, content(t, w.fs, "/w/f"))
				return
			}
			require.Equal(t, wire.Merge, plan.Plan[0].Action, "it is shown")
			rewindTo(t, s, wire.RewindArgs{Before: &prompt})
			require.Equal(t, c.want, content(t, w.fs, "/w/f"))
			rewindTo(t, s, wire.RewindArgs{Redo: new("")})
			require.Equal(t, c.now, content(t, w.fs, "/w/f"))
		})
	}
}

// Calls that changed nothing here, or whose file is not known, are in no plan.
func TestCallsThatAreNoChanges(t *testing.T) {
	t.Parallel()
	p := newTerminal(t, afero.NewMemMapFs())
	p.file("/w/f", "b\n")
	p.prompt()
	p.call("edit", args{"path": "f", "edits": []any{args{"oldText": "a", "newText": "b"}}}, args{}, true)
	p.call("write", args{"path": "xd://bash", "content": "b\n"}, args{}, false)
	p.call("write", args{"path": "a\x00b", "content": "b\n"}, args{}, false)
	p.call("write", args{"path": "f"}, args{}, false)
	p.call("edit", args{"edits": []any{args{"oldText": "a", "newText": "b"}}}, args{}, false)
	p.call("edit", args{"path": 3, "edits": "no list"}, args{"patch": 7}, false)
	p.call("read", args{"path": "f"}, args{}, false)
	p.end()
	_, s := p.open()
	c, err := s.Changes(t.Context(), wire.ChangesQuery{Since: "session"})
	require.NoError(t, err)
	require.Empty(t, c.Files)
	require.Empty(t, c.Source)
}

func TestRewindOfASessionWithoutRecords(t *testing.T) {
	t.Parallel()
	p := newTerminal(t, afero.NewMemMapFs())
	p.file("/w/a", "A\nb\nC\nmine\n")
	p.file("/w/b", "B\n")
	p.prompt()
	first := p.edit("a", "a\n", "A\n")
	second := p.prompt()
	third := p.edit("a", "c\n", "C\n")
	fourth := p.edit("b", "b", "B")
	p.end()
	w, s := p.open()
	before := content(t, w.fs, p.path)
	ask := func() wire.Changes {
		c, err := s.Changes(t.Context(), wire.ChangesQuery{Since: "session"})
		require.NoError(t, err)
		return c
	}
	was := ask()
	require.Equal(t, []string{first, third}, was.Files[0].Records)
	left, err := s.ChangesSince(second)
	require.NoError(t, err)
	require.Equal(t, 2, left)

	done := rewindTo(t, s, wire.RewindArgs{Before: &second, Conversation: true})
	require.Equal(t, "prompt "+second, done.EditorText)
	require.Equal(t, []string{third, fourth}, done.Records)
	require.Equal(t, "A\nb\nc\nmine\n", content(t, w.fs, "/w/a"))
	require.Equal(t, "b\n", content(t, w.fs, "/w/b"))
	after := content(t, w.fs, p.path)
	require.True(t, strings.HasPrefix(after, before), "the session only grows")
	require.Contains(t, after[len(before):], fmt.Sprintf(`"undoes":[%q,%q]`, third, fourth))
	require.Equal(t, first, parentIn(t, after, done.ID))
	c := ask()
	require.Equal(t, []string{first}, c.Files[0].Records, "what was taken back is not listed")
	require.Equal(t, "patch", c.Source)
	require.True(t, c.Rewinds[0].Redoable)
	_, err = s.Rewind(t.Context(), wire.RewindArgs{Records: []string{third}})
	require.Equal(t, fault.NotFound, fault.KindOf(err), "it is taken back already")

	again, err := w.ChangesOf(t.Context(), p.path, wire.ChangesQuery{Since: "session"})
	require.NoError(t, err)
	require.Equal(t, c.Files, again.Files)
	rewindTo(t, s, wire.RewindArgs{To: new("call0002")})
	require.Equal(t, "a\nb\nc\nmine\n", content(t, w.fs, "/w/a"))
	rewindTo(t, s, wire.RewindArgs{Redo: &done.ID})
	require.Equal(t, "a\nb\nC\nmine\n", content(t, w.fs, "/w/a"))
	require.Equal(t, "B\n", content(t, w.fs, "/w/b"))
	rewindTo(t, s, wire.RewindArgs{Redo: new("")})
	require.Equal(t, "A\nb\nC\nmine\n", content(t, w.fs, "/w/a"))
	now := ask()
	require.Equal(t, was.Files, now.Files)

	require.NoError(t, w.Close(t.Context()))
	next := newWorld(t, w.fs)
	stored, err := next.ChangesOf(t.Context(), p.path, wire.ChangesQuery{Since: "session"})
	require.NoError(t, err)
	require.Equal(t, was.Files, stored.Files, "it outlives the process")
}

func TestSomeChangesOfASessionWithoutRecords(t *testing.T) {
	t.Parallel()
	p := newTerminal(t, afero.NewMemMapFs())
	p.file("/w/a", "A\n1\n2\n3\nB\n")
	p.file("/w/b", "x\n")
	p.file("/w/c", "z\n")
	p.prompt()
	first := p.edit("a", "a", "A")
	p.edit("a", "b", "B")
	both := p.call("edit", args{"edits": []any{
		args{"path": "b", "oldText": "w", "newText": "x"}, args{"path": "c", "oldText": "y", "newText": "z"},
	}}, args{}, false)
	p.end()
	w, s := p.open()
	rewindTo(t, s, wire.RewindArgs{ToolCallID: "call-" + first})
	require.Equal(t, "a\n1\n2\n3\nB\n", content(t, w.fs, "/w/a"))
	rewindTo(t, s, wire.RewindArgs{Redo: new("")})
	rewindTo(t, s, wire.RewindArgs{Records: []string{first}})
	require.Equal(t, "a\n1\n2\n3\nB\n", content(t, w.fs, "/w/a"))
	rewindTo(t, s, wire.RewindArgs{Paths: []string{"a"}})
	require.Equal(t, "a\n1\n2\n3\nb\n", content(t, w.fs, "/w/a"))
	rewindTo(t, s, wire.RewindArgs{Paths: []string{"/w/b"}})
	require.Equal(t, "w\n", content(t, w.fs, "/w/b"))
	require.Equal(t, "z\n", content(t, w.fs, "/w/c"), "the same call changed it, and it was not named")
	plan, err := s.Rewind(t.Context(), wire.RewindArgs{Records: []string{both}})
	require.NoError(t, err)
	require.Len(t, plan.Plan, 1)
	require.Equal(t, "/w/c", plan.Plan[0].Path)

	_, err = s.Rewind(t.Context(), wire.RewindArgs{Hunks: []wire.HunkRef{{Path: "c", Hunk: ""}}})
	require.Equal(t, fault.NotFound, fault.KindOf(err))
	require.ErrorContains(t, err, "without records")
	_, err = s.Rewind(t.Context(), wire.RewindArgs{Paths: []string{"/w/c", "/w/none"}})
	require.Equal(t, fault.InvalidArgument, fault.KindOf(err))
	_, err = s.Rewind(t.Context(), wire.RewindArgs{Paths: []string{"/w/none"}})
	require.Equal(t, fault.NotFound, fault.KindOf(err))
	_, err = s.Keep(t.Context(), wire.KeepArgs{Paths: []string{"/w/c"}})
	require.Equal(t, fault.NotFound, fault.KindOf(err), "such changes are not reviewed")
}

// A plan of calls is stale like any other, and what the user changed elsewhere stays.
func TestAPlanOfCallsThatIsStale(t *testing.T) {
	t.Parallel()
	p := newTerminal(t, afero.NewMemMapFs())
	p.file("/w/a", "b\n")
	prompt := p.prompt()
	p.edit("a", "a", "b")
	p.end()
	w, s := p.open()
	a := wire.RewindArgs{Before: &prompt}
	plan, err := s.Rewind(t.Context(), a)
	require.NoError(t, err)
	p.file("/w/a", "b\nmine\n")
	a.PlanToken = *plan.PlanToken
	_, err = s.Rewind(t.Context(), a)
	require.Equal(t, fault.Stale, fault.KindOf(err))
	f, _ := errors.AsType[*fault.Error](err)
	require.Equal(t, "/w/a", f.Data["path"])
	require.Equal(t, "b\nmine\n", content(t, w.fs, "/w/a"))
	rewindTo(t, s, wire.RewindArgs{Before: &prompt})
	require.Equal(t, "a\nmine\n", content(t, w.fs, "/w/a"))
}

// A session of this program that a terminal program continued, and the other way round.
func TestSessionsWithSomeRecords(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	r := newRecorder(t, fs)
	r.write()
	raw := content(t, fs, r.path)
	p := newTerminal(t, fs)
	p.path, p.lines, p.parent = r.path, strings.Split(strings.TrimSuffix(raw, "\n"), "\n"), "dddddddd"
	prompt := p.prompt()
	p.edit("a", "b\n", "Bee\n")
	p.edit("new", "x", "xx")
	p.edit("other", "o", "0")
	p.end()
	p.file("/w/a", "A\nBee\nc\nd\nE\n")
	p.file("/w/new", "xx\n")
	p.file("/w/other", "0\n")
	w, s := p.open()

	c, err := s.Changes(t.Context(), wire.ChangesQuery{Since: "session"})
	require.NoError(t, err)
	require.Equal(t, []string{"/w/a", "/w/mine", "/w/new", "/w/other"}, paths(c))
	require.Empty(t, c.Source, "there are records")
	require.Equal(t, change.LimitPatch, c.Limits[0].Kind)
	require.False(t, c.Complete)
	require.Equal(t, []string{"rec00001", "rec00003", "rslt0002"}, c.Files[0].Records)
	turn, err := s.Changes(t.Context(), wire.ChangesQuery{})
	require.NoError(t, err)
	require.Equal(t, "patch", turn.Source)
	require.Equal(t, []string{"/w/a", "/w/new", "/w/other"}, paths(turn))

	rewindTo(t, s, wire.RewindArgs{Before: &prompt})
	require.Equal(t, "A\nb\nc\nd\nE\n", content(t, fs, "/w/a"))
	require.Equal(t, "x\n", content(t, fs, "/w/new"))
	require.Equal(t, "o\n", content(t, fs, "/w/other"))
	rewindTo(t, s, wire.RewindArgs{Redo: new("")})
	rewindTo(t, s, wire.RewindArgs{Before: new("aaaaaaaa")})
	require.Equal(t, "a\nb\nc\nd\ne\n", content(t, fs, "/w/a"))
	require.Equal(t, "none", content(t, fs, "/w/new"))
	require.Equal(t, "none", content(t, fs, "/w/mine"))
	rewindTo(t, s, wire.RewindArgs{Redo: new("")})
	require.Equal(t, "A\nBee\nc\nd\nE\n", content(t, fs, "/w/a"))
	require.Equal(t, "xx\n", content(t, fs, "/w/new"))
	rewindTo(t, s, wire.RewindArgs{Before: new("cccccccc"), Except: []string{"/w/new", "/w/other"}})
	require.Equal(t, "A\nb\nc\nd\ne\n", content(t, fs, "/w/a"))
	require.Equal(t, "xx\n", content(t, fs, "/w/new"))
	_, err = s.Rewind(t.Context(), wire.RewindArgs{Paths: []string{"/w/other", "/w/mine"}})
	require.Equal(t, fault.InvalidArgument, fault.KindOf(err), "they need rewinds of two kinds")
	require.NoError(t, w.Close(t.Context()))
}

// Calls of turns with records are known from those. A turn of another program has one for all its calls.
func TestCallsWithRecordsAreNotCountedTwice(t *testing.T) {
	t.Parallel()
	hosted := func(t *testing.T, limits ...string) (*terminal, *agent.Session) {
		t.Helper()
		fs := afero.NewMemMapFs()
		p := newTerminal(t, fs)
		r := newRecorder(t, fs)
		p.file("/w/a", "b\n")
		p.file("/w/c", "d\n")
		prompt := p.prompt()
		p.edit("a", "a", "b")
		p.edit("c", "c", "d")
		after := r.state("b\n")
		data, err := json.Marshal(change.Record{
			V: 1, PromptID: prompt, Tool: "hosted", Root: "file:///w", Limits: limits,
			Changes: []change.Change{{Path: "a", Before: r.state("a\n"), After: &after}},
		})
		require.NoError(t, err)
		p.lines = append(p.lines, fmt.Sprintf(`{"type":"custom","customType":%q,"data":%s,"id":"hosted01","parentId":%q,"timestamp":"2026-02-03T04:05:06.000Z"}`,
			change.Type, data, p.parent))
		p.parent = "hosted01"
		p.end()
		_, s := p.open()
		return p, s
	}
	_, s := hosted(t, change.LimitOutside)
	c, err := s.Changes(t.Context(), wire.ChangesQuery{Since: "session"})
	require.NoError(t, err)
	require.Equal(t, []string{"/w/a"}, paths(c))
	_, s = hosted(t, change.LimitBudget)
	c, err = s.Changes(t.Context(), wire.ChangesQuery{Since: "session"})
	require.NoError(t, err)
	require.Equal(t, []string{"/w/a", "/w/c"}, paths(c), "the look did not see all, but the calls did")
	require.Equal(t, []string{"hosted01"}, c.Files[0].Records)
	require.Equal(t, []string{"rslt0003"}, c.Files[1].Records)
}

// A session file may say anything about any path. It reaches no file that an ordinary rewind does not reach.
func TestAHostileSessionWithoutRecords(t *testing.T) {
	t.Parallel()
	denied := []string{"/w/.git/hooks/pre-commit", "/w/../home/u/.ssh/rc", "~/.bashrc", "/keys/models.json", "../home/u/secret", "/w/sub/../.GIT/config", "/w/.envrc"}
	build := func(t *testing.T) *terminal {
		t.Helper()
		p := newTerminal(t, afero.NewMemMapFs())
		p.prompt()
		for _, path := range append(denied, "plain") {
			p.edit(path, "evil", "good")
			switch {
			case strings.HasPrefix(path, "~"):
				path = "/home/u/.bashrc"
			case !filepath.IsAbs(path):
				path = filepath.Join("/w", path)
			}
			p.file(filepath.Clean(path), "good\n")
		}
		p.end()
		return p
	}
	guard := func(mode approval.Mode) option {
		return func(c *agent.Config) {
			c.Approval, c.Protected = mode, []string{"/keys"}
			c.Sensitive = func(path string) bool { return path == filepath.FromSlash("/home/u/secret") }
		}
	}
	p := build(t)
	w, s := p.open(guard(approval.Ask))
	plan, err := s.Rewind(t.Context(), wire.RewindArgs{Before: new("user0001")})
	require.NoError(t, err)
	require.Equal(t, len(denied), plan.Conflicts, "%+v", plan.Plan)
	var except []string
	for _, x := range plan.Plan {
		if x.Action == wire.Conflict {
			require.Equal(t, wire.Denied, x.Reason, x.Path)
			except = append(except, x.Path)
		}
	}
	c, err := s.Changes(t.Context(), wire.ChangesQuery{Since: "session"})
	require.NoError(t, err)
	for _, f := range c.Files {
		require.Equal(t, f.Path == "/w/plain", f.Rewindable, f.Path)
	}
	for _, path := range except {
		_, err = s.Rewind(t.Context(), wire.RewindArgs{Paths: []string{path}, DryRun: new(false)})
		require.Equal(t, fault.Conflict, fault.KindOf(err), path)
	}
	rewindTo(t, s, wire.RewindArgs{Before: new("user0001"), Except: except})
	require.Equal(t, "evil\n", content(t, w.fs, "/w/plain"))
	for _, path := range except {
		require.Equal(t, "good\n", content(t, w.fs, path))
	}

	_, s = build(t).open(guard(approval.Yolo))
	plan, err = s.Rewind(t.Context(), wire.RewindArgs{Before: new("user0001")})
	require.NoError(t, err)
	require.Equal(t, len(denied)-2, plan.Conflicts, "the folder's own .envrc and the settings are free: %+v", plan.Plan)
}

// A file behind a link is not changed, whatever the link is called.
func TestCallsThroughLinks(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	disk := afero.NewOsFs()
	links, _ := disk.(afero.Symlinker)
	work, out := filepath.Join(dir, "w"), filepath.Join(dir, "out")
	for _, d := range []string{work, out} {
		require.NoError(t, disk.MkdirAll(d, 0o755))
	}
	require.NoError(t, afero.WriteFile(disk, filepath.Join(out, "f"), []byte("good\n"), 0o644))
	for from, to := range map[string]string{filepath.Join(out, "f"): "link", out: "dir"} {
		if err := links.SymlinkIfPossible(from, filepath.Join(work, to)); err != nil {
			t.Skip("links are not possible here")
		}
	}
	p := newTerminal(t, disk)
	p.path = filepath.Join(dir, "sessions", "x.jsonl")
	require.NoError(t, disk.MkdirAll(filepath.Dir(p.path), 0o700))
	p.lines[0] = st.Header("0123456789abcdef", work)
	p.prompt()
	p.edit("link", "evil", "good")
	p.edit("dir/f", "evil", "good")
	p.end()
	require.NoError(t, afero.WriteFile(disk, p.path, []byte(st.File(p.lines...)), 0o600))
	w := newWorld(t, disk)
	c, err := w.ChangesOf(t.Context(), p.path, wire.ChangesQuery{Since: "session"})
	require.NoError(t, err)
	require.Len(t, c.Files, 2)
	for _, f := range c.Files {
		require.False(t, f.Rewindable, f.Path)
		require.Equal(t, wire.Kind, f.Reason, f.Path)
	}
}

// The disk fails at each step of a rewind of calls. Afterwards all files are old or new, and the session says which.
func TestEachFailingStepOfARewindOfCalls(t *testing.T) {
	t.Parallel()
	for n := 1; ; n++ {
		base := afero.NewMemMapFs()
		armed := false
		faulty := &st.FaultFs{Fs: base, At: n, Mode: st.Once, On: func(string, string) bool { return armed }}
		p := newTerminal(t, faulty)
		p.file("/w/a", "A\n")
		p.file("/w/b", "B\n")
		prompt := p.prompt()
		p.edit("a", "a", "A")
		p.edit("b", "b", "B")
		p.end()
		_, s := p.open()
		plan, err := s.Rewind(t.Context(), wire.RewindArgs{Before: &prompt})
		require.NoError(t, err)
		armed = true
		done, err := s.Rewind(t.Context(), wire.RewindArgs{Before: &prompt, PlanToken: *plan.PlanToken})
		fired := faulty.Fired()
		armed = false
		_, endErr := s.Rewind(t.Context(), wire.RewindArgs{Records: []string{"none"}, DryRun: new(false)}) // ends what was interrupted
		require.Equal(t, fault.NotFound, fault.KindOf(endErr), "step %d: %v", n, endErr)
		recorded := strings.Count(content(t, base, p.path), `"undoes"`)
		switch got := content(t, base, "/w/a") + content(t, base, "/w/b"); got {
		case "a\nb\n":
			require.LessOrEqual(t, recorded, 1)
		case "A\nB\n":
			require.Zero(t, recorded, "step %d", n)
			require.Error(t, err, "step %d", n)
		default:
			require.Failf(t, "half", "step %d: %q", n, got)
		}
		if !fired {
			require.True(t, *done.Rewound)
			return
		}
	}
}
