package agent_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/agent/event"
	"github.com/xcsh-ls/xcsh-ls/agent/hook"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/agent/tool"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/internal/providertest"
	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
	"github.com/xcsh-ls/xcsh-ls/internal/sessiontest/kit"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// author is a hook that adds entries at events, and gives the summary of compactions.
type author struct {
	at         map[hook.Name][]hook.Entry
	compaction *hook.Compaction
	cancel     hook.Name

	mu    sync.Mutex
	add   hook.Add     // guarded by mu, like all below
	errs  []error      // of add
	seen  []hook.Event // the questions, and the notifications of compactions
	first hook.Event   // the start
}

func (a *author) Attach(add hook.Add) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.add = add
}

func (a *author) Before(ctx context.Context, e hook.Event) (hook.Decision, error) {
	a.After(ctx, e)
	return hook.Decision{Cancel: e.Name == a.cancel, By: "author.sh", Compaction: a.compaction}, nil
}

func (a *author) After(ctx context.Context, e hook.Event) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.seen = append(a.seen, e)
	if e.Name == hook.Start {
		a.first = e
	}
	if entries := a.at[e.Name]; entries != nil {
		a.errs = append(a.errs, a.add(ctx, e, "author.sh", entries))
	}
}

// errors returns the errors so far.
func (a *author) errors() []error {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.errs
}

func withAuthor(a *author) option {
	return func(c *agent.Config) { c.Hooks = []hook.Hook{a} }
}

func custom(data string) hook.Entry {
	return hook.Entry{Type: hook.Custom, CustomType: "my-hook", Data: json.RawMessage(data)}
}

func message(content string) hook.Entry {
	return hook.Entry{Type: hook.CustomMessage, CustomType: "my-hook", Content: json.RawMessage(content), Display: true, Details: json.RawMessage(`{"note":"in the details"}`)}
}

// chain returns the entries of a session's file without ids and times, which must be one after the other.
func chain(t *testing.T, fs afero.Fs, path string) (entries []string) {
	t.Helper()
	content, err := afero.ReadFile(fs, path)
	require.NoError(t, err)
	parent := ""
	for i, line := range strings.Split(strings.TrimSuffix(string(content), "\n"), "\n") {
		if i == 0 {
			continue
		}
		id, _ := rawjson.GetString([]byte(line), "id")
		want := `"parentId":null`
		if parent != "" {
			want = fmt.Sprintf(`"parentId":%q`, parent)
		}
		require.Contains(t, line, want)
		at, _ := rawjson.GetString([]byte(line), "timestamp")
		entries = append(entries, strings.Replace(line, fmt.Sprintf(`,"id":%q,%s,"timestamp":%q`, id, want, at), "", 1))
		parent = id
	}
	return entries
}

// A custom_message is part of the conversation in every format, a custom entry and the details are in no
// request.
// Proves: X-031, P-025
func TestEntriesOfHooksAndTheRequests(t *testing.T) {
	t.Parallel()
	for api := range clients {
		t.Run(string(api), func(t *testing.T) {
			t.Parallel()
			a := &author{at: map[hook.Name][]hook.Entry{
				hook.Start:      {custom(`{"state":"for the hook"}`), message(`"Answer in verse."`)},
				hook.BeforeTree: {message(`[{"type":"text","text":"The branch was left."}]`)},
			}}
			s := newScene(t, api, withAuthor(a))
			s.Script("m", providertest.Reply{Text: "One."}, providertest.Reply{Text: "Two."})
			prompt(t, s.live, "hi")
			prompt(t, s.live, "and now?")
			for i, r := range s.Requests() {
				body := string(r.Body)
				require.Equal(t, 1, strings.Count(body, "Answer in verse."), "request %d", i)
				require.Equal(t, provider.RoleUser, r.Messages[0].Role)
				require.Contains(t, r.Messages[0].PlainText(), "Answer in verse.")
				require.NotContains(t, body, "for the hook")
				require.NotContains(t, body, "in the details")
			}
			require.Equal(t, []error{nil}, a.errors())

			entries := chain(t, s.fs, s.live.File())
			require.Equal(t, []string{
				`{"type":"custom","customType":"my-hook","data":{"state":"for the hook"}}`,
				`{"type":"custom_message","customType":"my-hook","content":"Answer in verse.","display":true,"details":{"note":"in the details"},"attribution":"agent"}`,
			}, entries[:2])

			// A new process reads the same.
			first := s.recorded(t)[0]
			_, err := s.live.Branch(t.Context(), firstID(t, s.world, s.live), agent.BranchOptions{})
			require.NoError(t, err)
			require.NotEmpty(t, first)
			file, err := afero.ReadFile(s.fs, s.live.File())
			require.NoError(t, err)
			lines := strings.Split(strings.TrimSpace(string(file)), "\n")[1+len(entries):]
			require.Len(t, lines, 2, "the entry of the hook, and the mark of the new leaf")
			require.Contains(t, lines[0], `"content":[{"type":"text","text":"The branch was left."}]`)
			require.Contains(t, lines[1], `"xcsh-ls.branch"`)
		})
	}
}

// firstID returns the id of the answer that comes first in the session.
func firstID(t *testing.T, w *world, s *agent.Session) (id string) {
	t.Helper()
	content, err := afero.ReadFile(w.fs, s.File())
	require.NoError(t, err)
	for line := range strings.Lines(string(content)) {
		if role, _ := rawjson.GetString([]byte(line), "message", "role"); role == "assistant" {
			id, _ = rawjson.GetString([]byte(line), "id")
			return id
		}
	}
	return ""
}

// Entries in the files of the other programs have their form.
func TestEntriesOfHooksInTheFormOfEachProgram(t *testing.T) {
	t.Parallel()
	for dialect, attribution := range map[session.Dialect]string{session.Xcsh: `,"attribution":"agent"`, session.Pi: "", session.Omp: `,"attribution":"agent"`} {
		t.Run(dialect.String(), func(t *testing.T) {
			t.Parallel()
			fs := afero.NewMemMapFs()
			path := put(t, fs, "a", "0123456789abcdef", "/w")
			before := kit.Content(t, fs, path)
			a := &author{at: map[hook.Name][]hook.Entry{hook.Switch: {custom(`[1.0]`), message(`"a"`)}}}
			w := newWorld(t, fs, withAuthor(a), func(c *agent.Config) {
				c.Store = session.NewStore(session.StoreConfig{Fs: fs, Now: c.Finder.Now, DirFor: c.Finder.DirFor, RootFor: func(string) (session.FileRoot, bool) {
					return session.FileRoot{Dialect: dialect}, true
				}})
			})
			_, err := w.live(t, "/w").Switch(t.Context(), path)
			require.NoError(t, err)
			require.Equal(t, []error{nil}, a.errors())
			after := kit.Content(t, fs, path)
			require.True(t, strings.HasPrefix(after, before), "nothing else was changed")
			require.Equal(t, []string{
				`{"type":"custom","customType":"my-hook","data":[1.0]}`,
				`{"type":"custom_message","customType":"my-hook","content":"a","display":true,"details":{"note":"in the details"}` + attribution + `}`,
			}, chain(t, fs, path)[3:])
			shown := eventsOf[event.MessageEnd](w)
			require.Len(t, shown, 1, "the client shows the message")
			require.Contains(t, string(shown[0].Message), `"role":"custom","customType":"my-hook","content":"a","display":true`)
			require.Contains(t, after, `"id":"`+shown[0].EntryID+`"`)
		})
	}
}

// Nothing comes between a tool call and its result, whenever a hook answers.
func TestEntriesOfHooksWaitForTheEndOfATurn(t *testing.T) {
	t.Parallel()
	a := &author{}
	look := lookTool()
	fs := afero.NewMemMapFs()
	look.Run = func(ctx context.Context, _ tool.Env, _ json.RawMessage) (tool.Result, error) {
		if err := a.add(ctx, a.first, "late.sh", []hook.Entry{custom(`1`), message(`"late"`)}); err != nil {
			return tool.Result{}, err
		}
		return tool.TextResult("seen"), nil
	}
	w := newWorld(t, fs, withAuthor(a), withTools(look), withModel(scripted(
		providertest.Reply{ToolCalls: []providertest.Call{{Name: "look"}}}, providertest.Reply{Text: "Done."},
	)))
	s := w.live(t, "/w")
	prompt(t, s, "hi")
	types := lines(t, fs, s)
	require.Equal(t, []string{"user", "assistant", "toolResult", "assistant", "custom", "custom_message"}, types[len(types)-6:])
	chain(t, fs, s.File())
}

// A hook that answers too late writes to no other session.
func TestEntriesOfHooksBelongToTheirSession(t *testing.T) {
	t.Parallel()
	a := &author{at: map[hook.Name][]hook.Entry{hook.Shutdown: {custom(`1`)}}}
	fs := afero.NewMemMapFs()
	path := put(t, fs, "a", "0123456789abcdef", "/w")
	w := newWorld(t, fs, withAuthor(a))
	s := w.live(t, "/w")
	_, err := s.Switch(t.Context(), path)
	require.NoError(t, err)
	before := kit.Content(t, fs, path)
	err = a.add(t.Context(), a.first, "late.sh", []hook.Entry{custom(`1`)})
	require.True(t, fault.Is(err, fault.Stale), "%v", err)
	require.ErrorContains(t, err, "is no longer open in /w.")
	for _, e := range []hook.Event{{}, {Cwd: "/v", SessionID: "0123456789abcdef"}, {Cwd: "/w", SessionID: "../a"}} {
		require.Error(t, a.add(t.Context(), e, "forged.sh", []hook.Entry{custom(`1`)}))
	}
	require.NoError(t, w.CloseFolder(t.Context(), "/w"))
	require.Len(t, a.errors(), 1)
	require.True(t, fault.Is(a.errors()[0], fault.Stale), "the session has ended: %v", a.errors())
	require.Equal(t, before, kit.Content(t, fs, path))
}

// At each step of the write, the acknowledged lines stay, a failure is reported, and the entries are
// written with the next one that can be.
func TestFaultsWhileEntriesOfHooksAreWritten(t *testing.T) {
	t.Parallel()
	for _, mode := range []st.Mode{st.Once, st.Short, st.Dead} {
		fired := true
		for at := 1; fired; at++ {
			armed := false
			base := afero.NewMemMapFs()
			path := put(t, base, "a", "0123456789abcdef", "/w")
			before := kit.Content(t, base, path)
			faulty := &st.FaultFs{Fs: base, At: at, Mode: mode, On: func(string, string) bool { return armed }}
			a := &author{}
			w := newWorld(t, faulty, withAuthor(a))
			s := w.live(t, "/w")
			_, err := s.Switch(t.Context(), path)
			require.NoError(t, err)
			armed = true
			e := hook.Event{Cwd: "/w", SessionID: "0123456789abcdef"}
			err = a.add(t.Context(), e, "author.sh", []hook.Entry{custom(`"first"`), message(`"second"`)})
			fired = faulty.Fired()
			now := kit.Content(t, base, path)
			require.True(t, strings.HasPrefix(now, before), "mode %d, step %d", mode, at)
			if err == nil {
				require.Contains(t, now, `"first"`)
				require.Contains(t, now, `"second"`)
			}
			require.True(t, fired || err == nil, "mode %d, step %d: %v", mode, at, err)
			armed = false
			_ = base.Remove(filepath.Join(filepath.Dir(path), ".a.jsonl.lock")) // its removal failed; it is stale after a while
			require.NoError(t, a.add(t.Context(), e, "author.sh", []hook.Entry{custom(`"third"`)}))
			all := chain(t, base, path)
			require.Len(t, all, 6, "mode %d, step %d:\n%s", mode, at, strings.Join(all, "\n"))
			for i, want := range []string{`"first"`, `"second"`, `"third"`} {
				require.Contains(t, all[3+i], want)
			}
			require.NoError(t, w.Close(t.Context()))
		}
	}
}

// Entries are on disk when add returns.
func TestALossOfPowerAfterEntriesOfHooks(t *testing.T) {
	t.Parallel()
	power := st.NewPowerFs()
	a := &author{}
	w := newWorld(t, power, withAuthor(a), withModel(scripted(providertest.Reply{Text: "One."})))
	s := w.live(t, t.TempDir())
	prompt(t, s, "hi")
	require.NoError(t, a.add(t.Context(), a.first, "author.sh", []hook.Entry{custom(`"kept"`), message(`"kept, too"`)}))
	kit.EveryLoss(t, power, func(t *testing.T, disk afero.Fs) {
		text := kit.Content(t, disk, s.File())
		require.Contains(t, text, `"data":"kept"`)
		require.Contains(t, text, `"content":"kept, too"`)
	})
}

// Sessions in memory, and sessions without an answer, get no file because of a hook.
func TestEntriesOfHooksMakeNoFile(t *testing.T) {
	t.Parallel()
	a := &author{at: map[hook.Name][]hook.Entry{hook.Start: {custom(`1`), message(`"a"`)}}}
	fs := afero.NewMemMapFs()
	w := newWorld(t, fs, withAuthor(a))
	s := w.live(t, "/w")
	require.Equal(t, []error{nil}, a.errors())
	require.Equal(t, 1, state(t, s).MessageCount)
	_ = afero.Walk(fs, "/", func(path string, info os.FileInfo, _ error) error {
		if info != nil {
			assert.NotEqual(t, ".jsonl", filepath.Ext(path))
		}
		return nil
	})
}
