package main_test

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"io"
	"iter"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/agent/approval"
	"github.com/xcsh-ls/xcsh-ls/agent/hook"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/agent/provider/catalog"
	"github.com/xcsh-ls/xcsh-ls/agent/provider/keyfile"
	"github.com/xcsh-ls/xcsh-ls/agent/provider/offline"
	"github.com/xcsh-ls/xcsh-ls/agent/tool"
	"github.com/xcsh-ls/xcsh-ls/commands"
	"github.com/xcsh-ls/xcsh-ls/history"
	"github.com/xcsh-ls/xcsh-ls/internal/lsptest"
	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
	"github.com/xcsh-ls/xcsh-ls/lsp"
	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/library"
)

// Every file of testdata/conversations is one scenario as messages on the wire. Its header names the
// rule that it covers.
func TestConversations(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../../testdata/conversations/*.txtar")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			t.Parallel()
			lsptest.RunConversation(t, file, memoryServer)
		})
	}
}

// now is fixed so that the files of a conversation are at least an hour old.
func now() time.Time { return time.Date(2000, 1, 1, 2, 0, 0, 0, time.UTC) }

// memoryServer is the server of main over an in-memory file system, on a machine where only ~/.xcsh
// exists, with a fixed clock and sequential ids: the sessions it creates are 0000000000000001, …02,
// their entries 00000001, 00000002, …. The offline demo is the only model that answers without a key; those of
// Anthropic answer with the right one.
func memoryServer(t testing.TB, fs afero.Fs) lsp.Options {
	t.Helper()
	return serverOf(t, fs, blocks{offline.Provider{Now: now}})
}

// serverOf is memoryServer with another provider behind the model offline/demo.
func serverOf(t testing.TB, fs afero.Fs, demo provider.Provider) lsp.Options {
	t.Helper()
	return serverWith(t, fs, demo, zaptest.NewLogger(t), func(*catalog.Catalog) {})
}

// serverWith is serverOf with another log and a changed catalog of models.
func serverWith(t testing.TB, fs afero.Fs, demo provider.Provider, log *zap.Logger, change func(*catalog.Catalog)) lsp.Options {
	t.Helper()
	return lsp.Options{
		Version: "test", Commands: commands.Default, Manifest: commands.Default.Manifest(), Log: log,
		ReviewPause: time.Hour, // as Changes.Every below
		Open: func(_ context.Context, s lsp.Settings, c lsp.Client) (lsp.Backend, error) {
			own := s.AgentDir
			if own == "" {
				own = "/home/u/.xcsh/agent"
			}
			roots := []library.Root{library.OwnRoot(library.AgentPlaces(own))}
			for _, dir := range s.Roots {
				roots = append(roots, library.Root{Places: library.AgentPlaces(dir), Dialect: session.DialectOfAgentDir(dir)})
			}
			finder := library.Finder{Fs: fs, Roots: roots, Home: "/home/u", Temp: "/tmp", Now: now, SessionDir: s.SessionDir}
			store := session.NewStore(session.StoreConfig{
				Fs: fs, DirFor: finder.DirFor, RootFor: finder.FileRoot, Now: now, Random: new(counter), Log: log,
			})
			var hooks []hook.Hook
			if c.Hook != nil {
				hooks = append(hooks, c.Hook)
			}
			options := tool.Options{Fs: fs, Home: "/home/u", TempDir: "/tmp", Ripgrep: "/nowhere/rg"}
			shell := tool.NewShell(options)
			models := &catalog.Catalog{
				Fs: fs, AgentDirs: []string{own}, Getenv: func(string) string { return "" },
				Services: map[provider.API]provider.Provider{provider.Scripted: demo, provider.AnthropicMessages: blocks{keyed{offline.Provider{Now: now}}}},
			}
			if c.Keys != nil {
				models.Kept = c.Keys
			}
			change(models)
			cfg := agent.Config{
				Storage: agent.Storage{
					Store:      store,
					Finder:     finder,
					TerminalID: s.TerminalID,
					InMemory:   s.Persist != nil && !*s.Persist,
					History:    history.Open(history.Config{Unanswered: own + "/xcsh-ls/unanswered", Fs: fs, Now: now, Log: log}),
				},
				Engines: playedEngines(t, fs, s),
				Hooks:   hooks, Log: log,
				Requests: agent.Requests{
					Models:   models,
					Keys:     keyfile.Store{Fs: fs, File: own + "/auth.json"},
					Defaults: agent.Defaults{Model: s.Model, Thinking: provider.Level(s.ThinkingLevel)},
				},
				Toolbox: agent.Toolbox{Todos: true, Subagents: true, Tools: tool.All(options), Shell: &shell, Workspace: c.Workspace(tool.Local{Fs: fs})},
				Permissions: agent.Permissions{
					Approval: approval.Mode(s.Approval),
					Ask:      c.Approve,
					Rules:    &approval.FileMemory{Fs: fs, Path: own + "/xcsh-ls/allowed.json"},
				},
			}
			cfg.Changes.Every = time.Hour // the events would come sooner or later, as fast as the machine is
			if c.EditorDocuments != nil {
				cfg.Documents = c.EditorDocuments(tool.Local{Fs: fs})
			}
			return lsp.Backend{
				Sessions: agent.NewManager(cfg), Store: store, Finder: finder, Fs: fs, Files: cfg.Workspace,
			}, nil
		},
	}
}

// blocks delivers each text of a model in one piece. When a model sends single words, the number of
// pieces that an editor receives depends on timing.
type blocks struct{ provider.Provider }

func (b blocks) Stream(ctx context.Context, req provider.Request) iter.Seq[provider.Event] {
	return func(yield func(provider.Event) bool) {
		var text provider.Event
		for e := range b.Provider.Stream(ctx, req) {
			if e.Kind == provider.TextDelta {
				e.Delta = text.Delta + e.Delta
				text = e
				continue
			}
			if text.Delta != "" && !yield(text) {
				return
			}
			text = provider.Event{}
			if !yield(e) {
				return
			}
		}
	}
}

// counter reads as 0, 1, 2, … in blocks of four bytes.
type counter uint32

var _ io.Reader = new(counter)

func (c *counter) Read(b []byte) (int, error) {
	n := 0
	for ; n+4 <= len(b); n += 4 {
		binary.BigEndian.PutUint32(b[n:], uint32(*c))
		*c++
	}
	return n, nil
}

// The scenarios below need an action between two messages, which a conversation file cannot express.

const sessionFile = "/home/u/.xcsh/agent/sessions/--w--/2026-01-01T00-00-00-000Z_0190000000000001.jsonl"

// put writes a session file whose last line ends in a newline.
func put(t *testing.T, fs afero.Fs, lines ...string) {
	t.Helper()
	require.NoError(t, afero.WriteFile(fs, sessionFile, []byte(st.File(lines...)), 0o600))
}

func talk() []string {
	return []string{st.Header("0190000000000001", "/w"), st.User("aaaaaaaa", "", "one"), st.Assistant("bbbbbbbb", "aaaaaaaa", "two")}
}

// edit starts an editor on folder /w.
func edit(t *testing.T, fs afero.Fs, folders ...string) *lsptest.Editor {
	t.Helper()
	var list []lsptest.Fields
	for _, f := range append([]string{"/w"}, folders...) {
		list = append(list, lsptest.Fields{"uri": lsptest.URI(f), "name": f})
	}
	ed := lsptest.Start(t, memoryServer(t, fs))
	ed.Initialize(lsptest.Fields{"workspaceFolders": list})
	return ed
}

// do runs a command that must succeed and returns its result.
func do(t *testing.T, ed *lsptest.Editor, command string, args lsptest.Fields) json.RawMessage {
	t.Helper()
	result, err := ed.Exec(command, args)
	require.Nil(t, err, command)
	return result
}

func read(t *testing.T, fs afero.Fs) string {
	t.Helper()
	content, err := afero.ReadFile(fs, sessionFile)
	require.NoError(t, err)
	return string(content)
}

// appendForeign appends to the session as another program does.
func appendForeign(t *testing.T, fs afero.Fs, text string) {
	t.Helper()
	require.NoError(t, afero.WriteFile(fs, sessionFile, []byte(read(t, fs)+text), 0o600))
}

// Proves: X-115
func TestLineOfAnotherProgramIsAdopted(t *testing.T) {
	t.Parallel()
	foreign := st.User("cccccccc", "bbbbbbbb", "typed in the terminal") + "\n"
	for command, tc := range map[string]struct {
		args lsptest.Fields
		want func(before string) string
	}{
		"xcsh.label": {
			lsptest.Fields{"entryId": "aaaaaaaa", "label": "x"},
			func(before string) string {
				return before + foreign + `{"type":"label","id":"00000001","parentId":"cccccccc","timestamp":"2000-01-01T02:00:00.000Z","targetId":"aaaaaaaa","label":"x"}` + "\n"
			},
		},
		"xcsh.rename": {
			lsptest.Fields{"title": "New"},
			func(before string) string {
				return strings.Replace(before, `"cwd":"/w"}`, `"cwd":"/w","title":"New","titleSource":"user"}`, 1) + foreign +
					`{"type":"session_info","id":"00000001","parentId":"cccccccc","timestamp":"2000-01-01T02:00:00.000Z","name":"New","inHeader":true}` + "\n"
			},
		},
	} {
		t.Run("before "+command, func(t *testing.T) {
			t.Parallel()
			fs := afero.NewMemMapFs()
			put(t, fs, talk()...)
			before := read(t, fs)
			ed := edit(t, fs)
			do(t, ed, "xcsh.resume", lsptest.Fields{"target": "0190000000000001"})
			appendForeign(t, fs, foreign)
			do(t, ed, command, tc.args)
			require.Equal(t, tc.want(before), read(t, fs))
			require.Contains(t, string(do(t, ed, "xcsh.dump", nil)), "typed in the terminal")
		})
	}
}

// A line that was torn by a crash stays in place, and only that line is lost: later entries begin on a
// line of their own, and a restart shows all of them.
// Proves: AB-075
func TestAppendAfterATornLineLosesNothing(t *testing.T) {
	t.Parallel()
	for name, tail := range map[string]string{
		"a torn last line":          `{"type":"message","id":"cccccccc","par`,
		"a last line without an LF": strings.TrimSuffix(st.User("cccccccc", "bbbbbbbb", "three"), "\n"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fs := afero.NewMemMapFs()
			put(t, fs, talk()...)
			appendForeign(t, fs, tail)
			before := read(t, fs)
			ed := edit(t, fs)
			do(t, ed, "xcsh.resume", lsptest.Fields{"target": "0190000000000001"})
			require.Equal(t, before, read(t, fs), "opening changes nothing")
			do(t, ed, "xcsh.label", lsptest.Fields{"entryId": "aaaaaaaa", "label": "x"})
			do(t, ed, "xcsh.label", lsptest.Fields{"entryId": "bbbbbbbb", "label": "y"})
			shown := do(t, ed, "xcsh.context", nil)
			require.True(t, strings.HasPrefix(read(t, fs), before+"\n{"))
			ed.Shutdown()
			ed.Exit()

			again := edit(t, fs)
			do(t, again, "xcsh.continue", nil)
			requireSameContext(t, shown, do(t, again, "xcsh.context", nil))
			require.Contains(t, string(shown), `"two"`)
		})
	}
}

// All state is in the file: a second server shows the same without access to the first.
// Proves: P-002, A-001, F-35
func TestStateIsDerivedFromTheFileAlone(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	put(t, fs, talk()...)
	first := edit(t, fs)
	do(t, first, "xcsh.resume", lsptest.Fields{"target": "0190000000000001"})
	do(t, first, "xcsh.branch", lsptest.Fields{"entryId": "bbbbbbbb", "summary": "so far"})
	shown := do(t, first, "xcsh.context", nil)

	second := edit(t, fs)
	requireSameContext(t, shown, do(t, second, "xcsh.context", lsptest.Fields{"source": "0190000000000001"}))
}

// requireSameContext compares two results of xcsh.context, except for the problems found while reading:
// a file that is already known is not searched for them again.
func requireSameContext(t *testing.T, want, got json.RawMessage) {
	t.Helper()
	var w, g struct {
		Header, LeafID, Context json.RawMessage
	}
	require.NoError(t, json.Unmarshal(want, &w))
	require.NoError(t, json.Unmarshal(got, &g))
	require.Equal(t, w, g)
}

// Proves: X-181, X-183 (late answer)
func TestCancelledPickerChangesNothing(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	put(t, fs, talk()...)
	ed := edit(t, fs)
	before := do(t, ed, "xcsh.state", nil)
	resume := ed.BeginExec("xcsh.resume", nil)
	question := ed.WaitRequest("window/showMessageRequest")
	resume.Cancel()
	_, err := resume.Wait()
	require.NotNil(t, err)
	require.Equal(t, "cancelled", err.Kind())
	require.Equal(t, -32800, err.Code)
	question.Reply(lsptest.Fields{"title": "one · 1h ago · 00000001"}) // too late
	require.JSONEq(t, string(before), string(do(t, ed, "xcsh.state", nil)))
}

// Proves: O-065
func TestRemovedFolderClosesItsSession(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	put(t, fs, talk()...)
	ed := edit(t, fs, "/v")
	do(t, ed, "xcsh.resume", lsptest.Fields{"cwd": "/w", "target": "0190000000000001"})
	do(t, ed, "xcsh.state", lsptest.Fields{"cwd": "/v"})
	for _, reason := range []string{"start", "resume", "start"} {
		require.Contains(t, string(ed.WaitNotification("xcsh/sessionChanged")), `"reason":"`+reason+`"`)
	}
	ed.Notify("workspace/didChangeWorkspaceFolders", lsptest.Fields{"event": lsptest.Fields{
		"added": []any{}, "removed": []lsptest.Fields{{"uri": lsptest.URI("/w"), "name": "w"}},
	}})
	require.JSONEq(t, `{"cwd":"/w","sessionId":"0190000000000001","seq":2,"reason":"shutdown","previousSessionFile":"`+sessionFile+`"}`,
		string(ed.WaitNotification("xcsh/sessionChanged")))
	require.Contains(t, string(do(t, ed, "xcsh.state", nil)), `"cwd":"/v"`, "the remaining folder")
	do(t, ed, "xcsh.resume", lsptest.Fields{"target": sessionFile})
}

// A switch that cannot be completed leaves the previous session live and usable, with its leaf unchanged.
// Proves, O-060
func TestFailedSwitchIsReportedAndChangesNothing(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	put(t, fs, talk()...)
	ed := edit(t, fs)
	do(t, ed, "xcsh.resume", lsptest.Fields{"target": "0190000000000001"})
	do(t, ed, "xcsh.branch", lsptest.Fields{"entryId": "bbbbbbbb"})
	do(t, ed, "xcsh.branch", lsptest.Fields{"entryId": nil})
	before := do(t, ed, "xcsh.state", nil)
	require.NoError(t, afero.WriteFile(fs, "/w/junk.jsonl", []byte("junk"), 0o600))
	require.NoError(t, fs.MkdirAll("/w/dir.jsonl", 0o700))
	for target, kind := range map[string]string{"junk.jsonl": "damaged", "dir.jsonl": "io", "gone.jsonl": "notFound", "gone": "notFound"} {
		_, err := ed.Exec("xcsh.resume", lsptest.Fields{"target": target})
		require.NotNil(t, err, target)
		require.Equal(t, kind, err.Kind(), target)
		require.NotContains(t, err.Message, "\n", "one sentence")
		require.JSONEq(t, string(before), string(do(t, ed, "xcsh.state", nil)))
	}
	do(t, ed, "xcsh.label", lsptest.Fields{"entryId": "aaaaaaaa", "label": "x"})
	require.Contains(t, read(t, fs), `"customType":"xcsh-ls.branch","data":{"v":1},"id":"00000001","parentId":null,`)
	require.Contains(t, read(t, fs), `"parentId":"00000001","timestamp":"2000-01-01T02:00:00.000Z","targetId":"aaaaaaaa"`)
}
