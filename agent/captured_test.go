package agent_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/agent/approval"
	"github.com/xcsh-ls/xcsh-ls/agent/change"
	"github.com/xcsh-ls/xcsh-ls/agent/change/contents"
	"github.com/xcsh-ls/xcsh-ls/agent/event"
	"github.com/xcsh-ls/xcsh-ls/agent/tool"
	"github.com/xcsh-ls/xcsh-ls/internal/providertest"
	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// answerOf returns an answer that calls tools, each given as its name and arguments.
func answerOf(t *testing.T, nameAndArgs ...any) providertest.Reply {
	t.Helper()
	var r providertest.Reply
	for i := 0; i < len(nameAndArgs); i += 2 {
		args, err := json.Marshal(nameAndArgs[i+1])
		require.NoError(t, err)
		r.ToolCalls = append(r.ToolCalls, providertest.Call{Name: nameAndArgs[i].(string), Args: json.RawMessage(args)}) //nolint:forcetypeassert // of this file
	}
	return r
}

type fields map[string]any

// recordsIn are the records of a session file in their order, and the contents that they name.
func recordsIn(t *testing.T, fsys afero.Fs, path string) ([]change.Record, *contents.Store) {
	t.Helper()
	store := contents.Open(contents.Options{Fs: fsys, Dir: filepath.Join(strings.TrimSuffix(path, ".jsonl"), "changes")})
	doc, err := session.NewStore(session.StoreConfig{Fs: fsys}).Load(path)
	require.NoError(t, err)
	require.Empty(t, doc.Problems())
	var records []change.Record
	for i := range doc.Len() {
		e, err := doc.Entry(i)
		require.NoError(t, err)
		if c := e.AsCustom(); e.Type == session.TypeCustom && c.CustomType == change.Type {
			r, err := change.ParseRecord(c.Data, store.Get)
			require.NoError(t, err)
			r.ID, r.Seq = e.ID, i
			records = append(records, *r)
		}
	}
	require.NoError(t, doc.Close())
	return records, store
}

// editing is a session over files whose model makes calls.
func editing(t *testing.T, fsys afero.Fs, cwd string, replies []providertest.Reply, options ...option) (*world, *agent.Session) {
	t.Helper()
	shell := tool.NewShell(tool.Options{})
	base := []option{withModel(scripted(replies...)), withTools(tool.All(tool.Options{Fs: fsys, Home: "/home/u"})...), func(c *agent.Config) {
		c.Workspace, c.Approval, c.Shell = tool.Local{Fs: fsys}, approval.Yolo, &shell
	}}
	w := newWorld(t, fsys, append(base, options...)...)
	return w, w.live(t, cwd)
}

func TestEachWriteIsRecordedAheadWithItsContents(t *testing.T) {
	t.Parallel()
	large := strings.Repeat("a line of a large file\n", 300)
	for name, c := range map[string]struct {
		before  *string // nil: there is no file
		mode    fs.FileMode
		call    string
		args    fields
		after   string
		kind    change.Kind
		notKept bool
	}{
		"new":                {call: "write", args: fields{"content": "new\n"}, after: "new\n", kind: change.Regular},
		"overwritten":        {before: new("old\n"), mode: 0o640, call: "write", args: fields{"content": "new\n"}, after: "new\n", kind: change.Regular},
		"edited":             {before: new("a\nb\nc\n"), mode: 0o644, call: "edit", args: fields{"edits": []fields{{"oldText": "b", "newText": "B"}}}, after: "a\nB\nc\n", kind: change.Regular},
		"executable":         {before: new("#!/bin/sh\n"), mode: 0o755, call: "write", args: fields{"content": "#!/bin/bash\n"}, after: "#!/bin/bash\n", kind: change.Regular},
		"CRLF":               {before: new("a\r\nb\r\n"), mode: 0o644, call: "edit", args: fields{"edits": []fields{{"oldText": "b", "newText": "B"}}}, after: "a\r\nB\r\n", kind: change.Regular},
		"byte order mark":    {before: new("\ufeffa\nb\n"), mode: 0o644, call: "edit", args: fields{"edits": []fields{{"oldText": "b", "newText": "B"}}}, after: "\ufeffa\nB\n", kind: change.Regular},
		"no newline at end":  {before: new("a"), mode: 0o644, call: "write", args: fields{"content": "b"}, after: "b", kind: change.Regular},
		"binary overwritten": {before: new("\x00\xff\xfe\x01"), mode: 0o644, call: "write", args: fields{"content": "text"}, after: "text", kind: change.Regular},
		"large":              {before: &large, mode: 0o644, call: "write", args: fields{"content": large + "more"}, after: large + "more", kind: change.Large, notKept: true},
		"emptied":            {before: new("a"), mode: 0o644, call: "write", args: fields{"content": ""}, after: "", kind: change.Regular},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fsys := afero.NewMemMapFs()
			if c.before != nil {
				require.NoError(t, afero.WriteFile(fsys, "/w/dir/file", []byte(*c.before), c.mode))
				require.NoError(t, fsys.Chmod("/w/dir/file", c.mode))
			}
			c.args["path"] = "dir/file"
			w, s := editing(t, fsys, "/w", []providertest.Reply{answerOf(t, c.call, c.args), {Text: "Done."}}, func(cfg *agent.Config) {
				cfg.Changes.MaxFile = 6000
			})
			prompt(t, s, "go")
			file := s.File()
			require.NoError(t, w.Close(t.Context()))
			got, err := afero.ReadFile(fsys, "/w/dir/file")
			require.NoError(t, err)
			require.Equal(t, c.after, string(got))
			info, err := fsys.Stat("/w/dir/file")
			require.NoError(t, err)

			records, store := recordsIn(t, fsys, file)
			require.NotEmpty(t, records)
			r := records[0]
			require.Equal(t, change.RootURI("/w"), r.Root)
			require.Equal(t, c.call, r.Tool)
			require.NotEmpty(t, r.PromptID)
			require.NotEmpty(t, r.ToolCallID)
			require.Len(t, r.Changes, 1)
			ch := r.Changes[0]
			require.Equal(t, "dir/file", ch.Path)
			require.Empty(t, ch.Via)
			last := records[len(records)-1].Changes[0].After
			require.Equal(t, uint32(info.Mode().Perm()), last.Mode, "the mode is that of the file")
			require.Equal(t, c.kind, last.Kind)
			require.Equal(t, change.Sum([]byte(c.after)), last.SHA256)
			if c.before == nil {
				require.Equal(t, change.State{Kind: change.Absent}, ch.Before)
			} else {
				require.Len(t, records, 1)
				require.Equal(t, change.State{Kind: c.kind, SHA256: change.Sum([]byte(*c.before)), Mode: uint32(c.mode), Size: int64(len(*c.before))}, ch.Before)
			}
			for sha, want := range map[string]*string{ch.Before.SHA256: c.before, last.SHA256: &c.after} {
				if want == nil {
					continue
				}
				content, err := store.Get(sha)
				if c.notKept {
					require.ErrorIs(t, err, contents.ErrMissing)
					require.Contains(t, r.Limits, change.LimitLarge)
					continue
				}
				require.NoError(t, err)
				require.Equal(t, *want, string(content))
			}
		})
	}
}

// A write that changes nothing, a call that fails before it, and reading are not recorded.
func TestWhatChangesNothingIsNotRecorded(t *testing.T) {
	t.Parallel()
	fsys := afero.NewMemMapFs()
	require.NoError(t, afero.WriteFile(fsys, "/w/a", []byte("same\n"), 0o644))
	w, s := editing(t, fsys, "/w", []providertest.Reply{
		answerOf(t, "write", fields{"path": "a", "content": "same\n"}, "read", fields{"path": "a"}, "edit", fields{"path": "a", "edits": []fields{{"oldText": "not there", "newText": "x"}}}),
		{Text: "Done."},
	})
	prompt(t, s, "go")
	file := s.File()
	require.NoError(t, w.Close(t.Context()))
	records, _ := recordsIn(t, fsys, file)
	require.Empty(t, records)
	for _, e := range w.ended() {
		require.Nil(t, e.Changes)
	}
}

// ended are the ends of the runs so far.
func (w *world) ended() (ends []event.AgentEnd) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, e := range w.events {
		if end, ok := isEvent[event.AgentEnd](e); ok {
			ends = append(ends, end)
		}
	}
	return ends
}

// The model's requests are the same with and without records.
func TestRecordsAreInvisibleToTheModel(t *testing.T) {
	t.Parallel()
	requests := func(capture string) (all []string) {
		fsys := afero.NewMemMapFs()
		require.NoError(t, afero.WriteFile(fsys, "/w/a", []byte("1\n"), 0o644))
		m := scripted(answerOf(t, "write", fields{"path": "a", "content": "2\n"}), answerOf(t, "edit", fields{"path": "a", "edits": []fields{{"oldText": "2", "newText": "3"}}}),
			providertest.Reply{Text: "Done."}, providertest.Reply{Text: "Again."})
		w, s := editing(t, fsys, "/w", nil, withModel(m), func(c *agent.Config) { c.Changes.Capture = capture })
		prompt(t, s, "go")
		prompt(t, s, "on")
		records, _ := recordsIn(t, fsys, s.File())
		require.Equal(t, capture == agent.CaptureOff, len(records) == 0)
		require.NoError(t, w.Close(t.Context()))
		for _, r := range m.Requests() {
			raw, err := json.Marshal(r.Messages)
			require.NoError(t, err)
			all = append(all, regexp.MustCompile(`"timestamp":\d+`).ReplaceAllString(string(raw), "")) // of the clock
		}
		return all
	}
	require.Equal(t, requests(agent.CaptureOff), requests(agent.CaptureAll))
}

// stubborn is a workspace whose writes fail.
type stubborn struct{ tool.Local }

func (stubborn) WriteFile(context.Context, string, string, tool.File, []byte) (tool.Saved, error) {
	return tool.Saved{}, fmt.Errorf("the editor refused")
}

func TestAFailedWriteIsVoid(t *testing.T) {
	t.Parallel()
	fsys := afero.NewMemMapFs()
	w, s := editing(t, fsys, "/w", []providertest.Reply{answerOf(t, "write", fields{"path": "a", "content": "x"}), {Text: "Done."}},
		func(c *agent.Config) { c.Workspace = stubborn{tool.Local{Fs: fsys}} })
	prompt(t, s, "go")
	file := s.File()
	require.NoError(t, w.Close(t.Context()))
	records, _ := recordsIn(t, fsys, file)
	require.Len(t, records, 2)
	require.Equal(t, records[0].ID, records[1].Void)
	book := change.NewBook()
	for i := range records {
		book.Add(&records[i])
	}
	require.Empty(t, book.AllPaths(nil))
}

// At each step of a write the machine stops: a file that changed has its record, and the contents to take it back.
// Proves: RW-01, RW-02 (the record)
func TestNoChangeIsWithoutItsRecord(t *testing.T) {
	t.Parallel()
	reached := false
	for at := 1; ; at++ {
		base := afero.NewMemMapFs()
		require.NoError(t, afero.WriteFile(base, "/w/a", []byte("before\n"), 0o644))
		armed := false
		broken := &st.FaultFs{Fs: base, At: at, Mode: st.Dead, On: func(string, string) bool { return armed }}
		w, s := editing(t, broken, "/w", []providertest.Reply{answerOf(t, "write", fields{"path": "a", "content": "after\n"}), {Text: "Done."}})
		w.Subscribe(func(e agent.Event) {
			if _, ok := isEvent[event.ToolStart](e); ok {
				armed = true
			}
		})
		prompt(t, s, "go")
		file := s.File()
		fired := broken.Fired()
		armed = false
		content, err := afero.ReadFile(base, "/w/a")
		require.NoError(t, err)
		if string(content) != "before\n" {
			reached = true
			records, store := recordsIn(t, base, file)
			require.NotEmpty(t, records, "step %d: the file changed without a record", at)
			before, err := store.Get(records[0].Changes[0].Before.SHA256)
			require.NoError(t, err)
			require.Equal(t, "before\n", string(before))
			require.Equal(t, change.Sum(content), records[0].Changes[0].After.SHA256)
		}
		_ = w.Close(t.Context()) // the session may not be saved
		if !fired {
			require.Greater(t, at, 10)
			break
		}
	}
	require.True(t, reached)
}

// A content that can't be kept stops a required change, and else is said once.
// Proves: RW-11
func TestContentsThatCannotBeKept(t *testing.T) {
	t.Parallel()
	for _, required := range []bool{false, true} {
		t.Run(fmt.Sprint(required), func(t *testing.T) {
			t.Parallel()
			fsys := afero.NewMemMapFs()
			require.NoError(t, afero.WriteFile(fsys, "/w/a", []byte("before\n"), 0o644))
			w, s := editing(t, fsys, "/w", []providertest.Reply{
				answerOf(t, "write", fields{"path": "a", "content": "after\n"}), answerOf(t, "write", fields{"path": "a", "content": "later\n"}), {Text: "Done."},
			}, func(c *agent.Config) { c.Changes.MaxSession, c.Changes.Required = 1, required })
			prompt(t, s, "go")
			file := s.File()
			require.NoError(t, w.Close(t.Context()))
			content, err := afero.ReadFile(fsys, "/w/a")
			require.NoError(t, err)
			records, _ := recordsIn(t, fsys, file)
			if required {
				require.Equal(t, "before\n", string(content))
				require.Empty(t, records)
				return
			}
			require.Equal(t, "later\n", string(content))
			require.Len(t, records, 2)
			require.Contains(t, records[0].Limits, change.LimitBudget)
			notices := 0
			for _, e := range w.events {
				if n, ok := isEvent[event.Notice](e); ok && strings.Contains(n.Text, "can't be undone") {
					notices++
				}
			}
			require.Equal(t, 1, notices)
		})
	}
}

// A write through a link is one of its target, and the folder may be reached by a link itself.
func TestAWriteThroughALink(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("links need a privilege")
	}
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "real"), 0o700))
	require.NoError(t, os.Symlink("real", filepath.Join(dir, "w")))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "real", "target"), []byte("before\n"), 0o644))
	require.NoError(t, os.Symlink("target", filepath.Join(dir, "real", "link")))
	sessions := afero.NewMemMapFs()
	w, s := editing(t, sessions, filepath.Join(dir, "w"), []providertest.Reply{answerOf(t, "write", fields{"path": "link", "content": "after\n"}), {Text: "Done."}},
		func(c *agent.Config) {
			disk := afero.NewOsFs()
			c.Tools, c.Workspace, c.Changes.Disk, c.Changes.Temp = tool.All(tool.Options{Fs: disk}), tool.Local{Fs: disk}, disk, filepath.Join(dir, "temp")
		})
	prompt(t, s, "go")
	file := s.File()
	require.NoError(t, w.Close(t.Context()))
	records, _ := recordsIn(t, sessions, file)
	require.Len(t, records, 1)
	require.Equal(t, "target", records[0].Changes[0].Path)
	require.Equal(t, change.Regular, records[0].Changes[0].Before.Kind)
}

// onDisk lets a session change real files.
func onDisk(dir string) option {
	return func(c *agent.Config) {
		disk := afero.NewOsFs()
		shell := tool.NewShell(tool.Options{Fs: disk})
		c.Tools, c.Workspace, c.Shell = tool.All(tool.Options{Fs: disk}), tool.Local{Fs: disk}, &shell
		c.Changes.Disk, c.Changes.Temp = disk, filepath.Join(dir, "temp")
	}
}

func TestWhatACommandDidIsRecorded(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("git"); err != nil || runtime.GOOS == "windows" {
		t.Skip("needs git and a shell")
	}
	dir := t.TempDir()
	folder := filepath.Join(dir, "w")
	require.NoError(t, os.Mkdir(folder, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(folder, "a"), []byte("one\n"), 0o644))
	sessions := afero.NewMemMapFs()
	w, s := editing(t, sessions, folder, []providertest.Reply{
		answerOf(t, "bash", fields{"command": "echo two >> a; echo new > b"}),
		answerOf(t, "bash", fields{"command": "cat a"}),
		answerOf(t, "write", fields{"path": "a", "content": "three\n"}),
		{Text: "Done."},
	}, onDisk(dir))
	prompt(t, s, "go")
	_, err := s.Bash(t.Context(), "rm b", false)
	require.NoError(t, err)
	file := s.File()
	require.NoError(t, w.Close(t.Context()))
	records, store := recordsIn(t, sessions, file)
	require.Len(t, records, 3, "reading is not recorded")
	r := records[0]
	require.Equal(t, "bash", r.Tool)
	require.NotEmpty(t, r.PromptID)
	require.NotEmpty(t, r.ToolCallID)
	require.Equal(t, []string{"a", "b"}, []string{r.Changes[0].Path, r.Changes[1].Path})
	before, err := store.Get(r.Changes[0].Before.SHA256)
	require.NoError(t, err)
	require.Equal(t, "one\n", string(before))
	require.Equal(t, change.Absent, r.Changes[1].Before.Kind)
	require.Equal(t, r.Changes[0].After.SHA256, records[1].Changes[0].Before.SHA256)
	user := records[2]
	require.Equal(t, "bash", user.Tool)
	require.Empty(t, user.PromptID)
	require.Equal(t, change.Absent, user.Changes[0].After.Kind)
	ends := w.ended()
	require.NotNil(t, ends[0].Changes)
	require.Equal(t, 2, ends[0].Changes.Files)
	left, err := afero.Glob(sessions, filepath.Join(strings.TrimSuffix(file, ".jsonl"), "changes", "command-*"))
	require.NoError(t, err)
	require.Empty(t, left, "a command that ended has no journal")
	temp, err := os.ReadDir(filepath.Join(dir, "temp"))
	require.True(t, err != nil || len(temp) == 0, "%v", temp)
}
