package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/agent/change"
	"github.com/xcsh-ls/xcsh-ls/agent/change/wire"
	"github.com/xcsh-ls/xcsh-ls/agent/hook"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/internal/providertest"
	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
)

// openDocuments is an editor with unsaved documents, which it does not save.
type openDocuments struct {
	mu    sync.Mutex
	texts map[string]string // guarded by mu
	clean bool
	fail  error
}

func (o *openDocuments) Document(path string) (change.Document, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	text, ok := o.texts[path]
	return change.Document{Path: path, Text: text, Version: int64(len(text)), Dirty: !o.clean}, ok
}

func (o *openDocuments) Edit(_ context.Context, _ string, edits []change.DocumentEdit) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.fail != nil {
		return o.fail
	}
	for _, e := range edits {
		if o.texts[e.Path] != e.Was {
			return fault.New(fault.Stale, "It changed.").With("path", e.Path)
		}
	}
	for _, e := range edits {
		o.texts[e.Path] = e.Text
	}
	return nil
}

func (o *openDocuments) Open(context.Context, string) (change.Document, error) {
	return change.Document{}, fault.New(fault.Denied, "It opens nothing.")
}

func (o *openDocuments) Save(_ context.Context, paths []string) []string { return paths }

func withDocuments(o *openDocuments) option {
	return func(c *agent.Config) { c.Documents = o }
}

// Proves: RW-29
func TestARewindInAnOpenDocument(t *testing.T) {
	t.Parallel()
	path := filepath.FromSlash("/w/a")
	o := &openDocuments{texts: map[string]string{path: "A\nb\nmine\nc\nd\nE\n"}}
	w, s, _ := rewinding(t, withDocuments(o))
	done := rewindTo(t, s, wire.RewindArgs{Before: new("cccccccc")})
	require.Equal(t, []string{path}, done.Unsaved)
	require.Equal(t, "A\nb\nmine\nc\nd\ne\n", o.texts[path])
	require.Equal(t, "A\nb\nc\nd\nE\n", content(t, w.fs, "/w/a"), "the file is the user's to save")
	require.Equal(t, "none", content(t, w.fs, "/w/new"))
	rewindTo(t, s, wire.RewindArgs{Redo: new(done.ID)})
	require.Equal(t, "A\nb\nmine\nc\nd\nE\n", o.texts[path])
	require.Equal(t, "x\n", content(t, w.fs, "/w/new"))
}

// Proves: RW-30
func TestAnEditorThatRefuses(t *testing.T) {
	t.Parallel()
	path := filepath.FromSlash("/w/a")
	for name, fail := range map[string]error{
		"denied": fault.New(fault.Denied, "The editor refused.").With("path", path),
		"stale":  fault.New(fault.Stale, "It changed.").With("path", path),
		"io":     fmt.Errorf("no answer: %w", change.ErrUnknown),
	} {
		o := &openDocuments{texts: map[string]string{path: "A\nb\nc\nd\nE\n"}, fail: fail}
		w, s, r := rewinding(t, withDocuments(o))
		before := content(t, w.fs, r.path)
		_, err := s.Rewind(t.Context(), wire.RewindArgs{Before: new("cccccccc"), DryRun: new(false)})
		require.Equal(t, fault.Kind(name), fault.KindOf(err), "%v", err)
		require.Equal(t, "x\n", content(t, w.fs, "/w/new"))
		require.Equal(t, before, content(t, w.fs, r.path))
		require.Equal(t, "A\nb\nc\nd\nE\n", o.texts[path])
		c, err := s.Changes(t.Context(), wire.ChangesQuery{})
		require.NoError(t, err)
		require.False(t, c.Interrupted)
	}
}

// An editor can't change permission bits, so those of a file that is open are changed on disk.
// Proves: RW-25 (open)
func TestTheModeOfAnOpenFile(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	r := newRecorder(t, fs)
	was, now := r.state("x\n"), r.state("x\n")
	was.Mode = 0o755
	data, err := json.Marshal(change.Record{V: change.Version, Tool: "bash", Root: "file:///w", Changes: []change.Change{{Path: "run", Before: was, After: &now}}})
	require.NoError(t, err)
	require.NoError(t, fs.MkdirAll("/w", 0o755))
	require.NoError(t, afero.WriteFile(fs, "/w/run", []byte("x\n"), 0o644))
	require.NoError(t, fs.MkdirAll(filepath.Dir(r.path), 0o700))
	require.NoError(t, afero.WriteFile(fs, r.path, []byte(st.File(st.Header("0123456789abcdef", "/w"), st.User("aaaaaaaa", "", "one"),
		fmt.Sprintf(`{"type":"custom","customType":%q,"data":%s,"id":"rec00001","parentId":"aaaaaaaa","timestamp":"2026-02-03T04:05:06.000Z"}`, change.Type, data),
		st.Assistant("bbbbbbbb", "rec00001", "two"))), 0o600))
	o := &openDocuments{clean: true, texts: map[string]string{filepath.FromSlash("/w/run"): "x\n"}}
	s := newWorld(t, fs, withDocuments(o)).live(t, "/w")
	_, err = s.Switch(t.Context(), r.path)
	require.NoError(t, err)
	rewindTo(t, s, wire.RewindArgs{Before: new("aaaaaaaa")})
	info, err := fs.Stat("/w/run")
	require.NoError(t, err)
	require.Equal(t, "-rwxr-xr-x", info.Mode().String())
}

func TestARewindWhileATurnRuns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		hold := make(chan struct{})
		w, s, _ := rewinding(t, withModel(scripted(providertest.Reply{Text: "a long answer", Hold: hold})))
		done := promptInBackground(t, s, "hi")
		synctest.Wait()
		plan, err := s.Rewind(t.Context(), wire.RewindArgs{Before: new("cccccccc")})
		require.NoError(t, err, "a plan changes nothing")
		_, err = s.Rewind(t.Context(), wire.RewindArgs{Before: new("cccccccc"), PlanToken: *plan.PlanToken})
		require.Equal(t, fault.Busy, fault.KindOf(err))
		require.Equal(t, "x\n", content(t, w.fs, "/w/new"))
		close(hold)
		<-done
	})
}

// Hunks are undone one by one, and the model gets one message with the next prompt.
func TestTheModelIsToldOfHunksWithTheNextPrompt(t *testing.T) {
	t.Parallel()
	w, s, r := rewinding(t, withModel(scripted(providertest.Reply{Text: "ok"}, providertest.Reply{Text: "ok"})))
	for range 2 {
		c, err := s.Changes(t.Context(), wire.ChangesQuery{Since: "session", Path: filepath.FromSlash("/w/a")})
		require.NoError(t, err)
		rewindTo(t, s, wire.RewindArgs{Hunks: []wire.HunkRef{{Path: "a", Hunk: c.Files[0].Hunks[0].Hunk}}})
	}
	require.Equal(t, "a\nb\nc\nd\ne\n", content(t, w.fs, "/w/a"))
	require.NotContains(t, content(t, w.fs, r.path), change.RewoundType)
	prompt(t, s, "go on")
	told := content(t, w.fs, r.path)
	require.Equal(t, 1, strings.Count(told, change.RewoundType))
	require.Less(t, strings.Index(told, change.RewoundType), strings.Index(told, `"go on"`))
	prompt(t, s, "and on")
	require.Equal(t, 1, strings.Count(content(t, w.fs, r.path), change.RewoundType), "once")
}

// A program that answers has its own place in the conversation: only files are rewound.
func TestARewindWithAHostedProgram(t *testing.T) {
	t.Parallel()
	w, _ := hostedWorld(t)
	r := newRecorder(t, w.fs)
	r.write()
	s := w.live(t, "/w")
	_, err := s.Switch(t.Context(), r.path)
	require.NoError(t, err)
	a := wire.RewindArgs{Before: new("cccccccc"), Conversation: true, DryRun: new(false)}
	_, err = s.Rewind(t.Context(), a)
	require.Equal(t, fault.Denied, fault.KindOf(err), "%v", err)
	require.ErrorContains(t, err, "then move with xcsh.branch")
	_, err = s.Rewind(t.Context(), wire.RewindArgs{Before: new("cccccccc"), Conversation: true})
	require.Equal(t, fault.Denied, fault.KindOf(err), "no plan that can't be carried out")
	require.Equal(t, "x\n", content(t, w.fs, "/w/new"))
	rewindTo(t, s, wire.RewindArgs{Before: new("cccccccc")})
	require.Equal(t, "none", content(t, w.fs, "/w/new"))
}

// A document that changed between the plan and its execution makes the plan stale, also where both could be merged.
// Proves: RW-08 (a document)
func TestAStalePlanNamesTheDocument(t *testing.T) {
	t.Parallel()
	path := filepath.FromSlash("/w/a")
	for name, text := range map[string]string{
		"other lines": "A\nb\nc\nd\nE\nmine\n", "the same lines": "A\nb\nc\nd\nmine\n", "back": "A\nb\nc\nd\ne\n", "emptied": "",
	} {
		o := &openDocuments{texts: map[string]string{path: "A\nb\nc\nd\nE\n"}}
		w, s, r := rewinding(t, withDocuments(o))
		a := wire.RewindArgs{Before: new("cccccccc")}
		plan, err := s.Rewind(t.Context(), a)
		require.NoError(t, err)
		require.NotEmpty(t, *plan.PlanToken)
		before := content(t, w.fs, r.path)
		o.texts[path] = text
		a.PlanToken = *plan.PlanToken
		_, err = s.Rewind(t.Context(), a)
		require.Equal(t, fault.Stale, fault.KindOf(err), name)
		f, _ := errors.AsType[*fault.Error](err)
		require.Equal(t, path, f.Data["path"], name)
		require.Equal(t, text, o.texts[path], name)
		require.Equal(t, "x\n", content(t, w.fs, "/w/new"), name)
		require.Equal(t, before, content(t, w.fs, r.path), name)
	}
}

// A document that changes behind the check of the plan, here while a hook is asked, makes the rewind stale, and everything stays.
func TestADocumentThatChangesDuringARewind(t *testing.T) {
	t.Parallel()
	path := filepath.FromSlash("/w/a")
	o := &openDocuments{texts: map[string]string{path: "A\nb\nc\nd\nE\n"}}
	h := &typing{o: o, path: path}
	w, s, _ := rewinding(t, withDocuments(o), func(c *agent.Config) { c.Hooks = []hook.Hook{h} })
	a := wire.RewindArgs{Before: new("cccccccc")}
	plan, err := s.Rewind(t.Context(), a)
	require.NoError(t, err)
	a.PlanToken = *plan.PlanToken
	_, err = s.Rewind(t.Context(), a)
	require.Equal(t, fault.Stale, fault.KindOf(err), "%v", err)
	f, _ := errors.AsType[*fault.Error](err)
	require.Equal(t, path, f.Data["path"])
	require.Equal(t, "typed\n", o.texts[path])
	require.Equal(t, "x\n", content(t, w.fs, "/w/new"))
}

// typing is a hook that types into a document before a rewind.
type typing struct {
	o    *openDocuments
	path string
}

func (h *typing) Before(_ context.Context, e hook.Event) (hook.Decision, error) {
	if e.Name == hook.BeforeRewind {
		h.o.mu.Lock()
		defer h.o.mu.Unlock()
		h.o.texts[h.path] = "typed\n"
	}
	return hook.Decision{}, nil
}

func (h *typing) After(context.Context, hook.Event) {}
