package commands_test

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/agent/provider/anthropic"
	"github.com/xcsh-ls/xcsh-ls/commands"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/internal/guard"
	"github.com/xcsh-ls/xcsh-ls/internal/providertest"
	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
	"github.com/xcsh-ls/xcsh-ls/internal/sessiontest/indexed"
	"github.com/xcsh-ls/xcsh-ls/session/library"
)

// agentBaseDir is the directory in which agent-base stores its sessions.
const agentBaseDir = "/home/u/.agent/sessions"

// agentBaseFiles copies agent-base fixtures to the directory in which it stores sessions.
func agentBaseFiles(t *testing.T, fs afero.Fs, pattern string) {
	t.Helper()
	files, err := filepath.Glob("../testdata/sessions/agent-base/" + pattern)
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		content, err := os.ReadFile(file)
		require.NoError(t, err)
		require.NoError(t, fs.MkdirAll(agentBaseDir, 0o755))
		require.NoError(t, afero.WriteFile(fs, agentBaseDir+"/"+filepath.Base(file), content, 0o644))
	}
}

// imported returns the result of xcsh.import.
func imported(t *testing.T, env *commands.Env, a args) commands.ImportResult {
	t.Helper()
	raw, err := run(t.Context(), env, "xcsh.import", a)
	require.NoError(t, err)
	validate(t, resultSchemas(t)["xcsh.import"], raw, "xcsh.import")
	var r commands.ImportResult
	require.NoError(t, json.Unmarshal(raw, &r))
	return r
}

// statuses maps the file names of a result to their status.
func statuses(r commands.ImportResult) map[string]string {
	by := map[string]string{}
	for _, f := range r.Files {
		by[filepath.Base(f.Path)] = string(f.Status)
	}
	return by
}

// Without a source, the import reads agent-base's session directory. Files that are not sessions are
// reported one by one, and the directory is not changed.
// Proves: AB-063, AB-066
func TestImportOfTheDefaultDirectory(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	agentBaseFiles(t, fs, "typescript/*")
	agentBaseFiles(t, fs, "python/standup.json")
	agentBaseFiles(t, fs, "broken/*")
	before := tree(t, fs)
	env := newEnv(fs)
	var changed []string
	defer env.Sessions.Subscribe(func(e agent.Event) {
		if e, ok := e.(agent.SessionsChanged); ok {
			changed = append(changed, e.Cwd)
		}
	})()

	trial := imported(t, env, args{"dryRun": true})
	require.Equal(t, before, tree(t, fs))
	require.Empty(t, changed)
	r := imported(t, env, nil)
	require.Equal(t, []string{"/w"}, changed)
	require.Equal(t, statuses(trial), statuses(r))
	require.Equal(t, "2025-01-04-14-32-15-001-abcd", r.LastSessionID)
	counts := map[string]int{}
	for _, f := range r.Files {
		counts[string(f.Status)]++
		if f.Status == "failed" {
			require.True(t, strings.HasPrefix(f.Reason, f.Path+" "), f.Reason)
			require.True(t, strings.HasSuffix(f.Reason, "; it was not imported."), f.Reason)
			continue
		}
		require.Empty(t, f.Reason)
		require.Equal(t, f.Session, do(t, env, "xcsh.context", args{"source": f.File})["header"].(map[string]any)["id"])
	}
	require.Equal(t, map[string]int{"imported": 10, "failed": 11}, counts)
	for path, content := range before {
		require.Equal(t, content, read(t, fs, path))
	}
	require.Len(t, do(t, env, "xcsh.list", nil)["sessions"], 10)
	require.Empty(t, do(t, env, "xcsh.list", args{"cwd": "/v"})["sessions"])

	again := imported(t, env, nil)
	require.Len(t, changed, 1, "nothing was imported")
	for _, f := range again.Files {
		if f.Status != "failed" {
			require.Equal(t, "skipped", string(f.Status))
			require.Equal(t, "The folder already has this session.", f.Reason)
		}
	}
	require.Len(t, imported(t, env, args{"cwd": "/v"}).Files, 21)
	require.Len(t, do(t, env, "xcsh.list", args{"cwd": "/v"})["sessions"], 10)
}

func TestImportWithoutASource(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	env := newEnv(fs)
	_, err := run(t.Context(), env, "xcsh.import", nil)
	require.Equal(t, agentBaseDir, requireKind(t, fault.NotFound, err).Data["path"])
	require.EqualError(t, err, `Nothing to import: agent-base's directory /home/u/.agent/sessions does not exist. Pass the files or the directory to import.`)
	env.Finder.AgentHome = "/other"
	agentBaseFiles(t, fs, "typescript/jwt-work.json")
	_, err = run(t.Context(), env, "xcsh.import", nil)
	requireKind(t, fault.NotFound, err)
	require.NoError(t, fs.Rename(agentBaseDir, "/other/sessions"))
	require.Equal(t, map[string]string{"jwt-work.json": "imported"}, statuses(imported(t, env, nil)))
}

// Sources can be files, directories, or both. A missing source is reported and does not affect the others.
func TestImportOfNamedSources(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	agentBaseFiles(t, fs, "typescript/jwt-work.json")
	write(t, fs, "/w/sub/talk.jsonl", talk(id1)...)
	write(t, fs, "/home/u/python/a.json", `{"name":"a","thread":{"messages":[{"role":"user","content":"x"}]}}`)
	env := newEnv(fs)
	r := imported(t, env, args{"paths": []string{"file:///home/u/.agent/sessions/jwt-work.json", "sub/talk.jsonl", "gone.json", `"~/python"`}})
	require.Equal(t, map[string]string{"jwt-work.json": "imported", "talk.jsonl": "imported", "gone.json": "failed", "a.json": "imported"}, statuses(r))
	require.Equal(t, "File not found: /w/gone.json", r.Files[2].Reason)
	require.Equal(t, "/home/u/python/a.json", r.Files[3].Path, "in the order of the arguments")
	require.Equal(t, st.File(talk(id1)...), read(t, fs, r.Files[1].File))
	require.Equal(t, sessions, filepath.Dir(r.Files[1].File))
	require.Equal(t, map[string]string{"jwt-work.json": "skipped"}, statuses(imported(t, env, args{"dir": "~/.agent/sessions"})))
	require.Equal(t, map[string]string{"talk.jsonl": "skipped"}, statuses(imported(t, env, args{"dir": "sub/talk.jsonl"})), "typed after the command")
	require.NoError(t, fs.MkdirAll("/w/nothing", 0o700))
	require.Empty(t, imported(t, env, args{"dir": "nothing"}).Files)
	_, err := run(t.Context(), env, "xcsh.import", args{"dir": "/gone"})
	requireKind(t, fault.NotFound, err)
	_, err = run(t.Context(), env, "xcsh.import", args{"paths": []string{"a", "b\x00"}})
	require.Equal(t, "paths.1", requireKind(t, fault.InvalidArgument, err).Data["field"])
}

// An imported session can be resumed in the same call if it is the only one.
// Proves: P-026
func TestImportAndResume(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	write(t, fs, "/w/talk.jsonl", talk(id1)...)
	env := newEnv(fs)
	for range 2 {
		r := imported(t, env, args{"paths": []string{"talk.jsonl"}, "resume": true})
		require.True(t, r.Resumed.Switched)
		require.Equal(t, id1, do(t, env, "xcsh.state", nil)["sessionId"])
		require.Equal(t, r.Files[0].File, do(t, env, "xcsh.state", nil)["file"])
		do(t, env, "xcsh.new", nil)
	}
	write(t, fs, "/w/far.jsonl", strings.ReplaceAll(strings.Join(talk(id2), "\n"), `"cwd":"/w"`, `"cwd":"/far"`))
	r := imported(t, env, args{"paths": []string{"far.jsonl"}})
	h, ok, err := library.ReadHeader(fs, r.Files[0].File)
	require.NoError(t, err)
	require.True(t, ok)
	require.Equal(t, "/w", h.Cwd, "it belongs to the folder from now on")

	_, err = run(t.Context(), env, "xcsh.import", args{"paths": []string{"gone.jsonl"}, "resume": true})
	requireKind(t, fault.NotFound, err)
	require.EqualError(t, err, "File not found: /w/gone.jsonl")
	for _, a := range []args{{"paths": []string{"talk.jsonl", "gone.jsonl"}}, {"paths": []string{"talk.jsonl"}, "dryRun": true}} {
		a["resume"] = true
		_, err := run(t.Context(), env, "xcsh.import", a)
		require.Equal(t, "resume", requireKind(t, fault.InvalidArgument, err).Data["field"])
	}
}

// A symbolic link out of the directory is not followed, even if it is the only file.
// Proves: AB-056
func TestImportDoesNotFollowLinksOutOfTheDirectory(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	env, w := reviewEnv(t, dir)
	secret := `{"messages":[{"role":"user","content":"secret"}]}`
	require.NoError(t, os.WriteFile(filepath.Join(dir, "secret.json"), []byte(secret), 0o600))
	require.NoError(t, os.Mkdir(filepath.Join(dir, "linked"), 0o700))
	require.NoError(t, os.Symlink(filepath.Join(dir, "secret.json"), filepath.Join(dir, "linked", "x.json")))
	r := imported(t, env, args{"dir": filepath.Join(dir, "linked")})
	require.Equal(t, map[string]string{"x.json": "skipped"}, statuses(r))
	require.NotEmpty(t, r.Files[0].Reason)
	_, err := run(t.Context(), env, "xcsh.import", args{"dir": filepath.Join(dir, "linked"), "resume": true})
	requireKind(t, fault.OutsideRoot, err)
	require.Empty(t, do(t, env, "xcsh.list", args{"cwd": w})["sessions"])
}

// asked is a UI that records the progress and cancels the operation after a number of steps.
type asked struct {
	commands.Headless
	cancel   func()
	after    int
	progress []string
	shown    []string
	end      string
}

func (u *asked) Notify(_ context.Context, _ commands.Level, text string) {
	u.shown = append(u.shown, text)
}

func (u *asked) Progress(_ context.Context, title string) commands.Progress {
	u.progress = append(u.progress, title)
	return u
}

func (u *asked) Report(message string, percent int) {
	u.progress = append(u.progress, message)
	if u.after--; u.after == 0 {
		u.cancel()
	}
	if percent < 0 || percent > 100 {
		panic(percent)
	}
}

func (u *asked) End(message string) { u.end = message }

func TestImportReportsProgressAndCanBeCancelled(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	agentBaseFiles(t, fs, "typescript/*")
	env := newEnv(fs)
	ctx, cancel := context.WithCancel(t.Context())
	ui := &asked{cancel: cancel, after: 3}
	env.UI = ui
	_, err := run(ctx, env, "xcsh.import", nil)
	requireKind(t, fault.Cancelled, err)
	require.EqualError(t, err, "The import was cancelled after 3 sessions.")
	require.Equal(t, "3 imported", ui.end)
	require.Len(t, ui.progress, 4)
	require.Empty(t, ui.shown, "the caller shows the error")
	require.Len(t, do(t, env, "xcsh.list", nil)["sessions"], 3, "imported sessions stay")
	ui.after = 0
	imported(t, env, nil)
	require.Equal(t, "6 imported, 3 skipped", ui.end)
	require.Equal(t, []string{"Import from agent-base: 6 imported, 3 skipped."}, ui.shown)
	agentBaseFiles(t, fs, "broken/empty.json")
	imported(t, env, args{"dryRun": true})
	require.Equal(t, "Import from agent-base (dry run): 9 skipped, 1 failed. "+agentBaseDir+"/empty.json is empty; it was not imported.", ui.shown[1])
	imported(t, env, args{"dir": agentBaseDir})
	require.Len(t, ui.shown, 2, "a caller that names a source reads the result")
}

// The first request after an import sends only prompts and answers, in a form that a strict service accepts.
// Proves: AB-064, AB-065
func TestFirstPromptAfterAnImport(t *testing.T) {
	t.Parallel()
	for _, pattern := range []string{
		"typescript/2025-*.json", "typescript/odd-content.json", "typescript/bad-times.json", "python/standup.json", "python/framework.json",
	} {
		fs := afero.NewMemMapFs()
		agentBaseFiles(t, fs, pattern)
		server := providertest.New(t)
		server.Script("strict", providertest.Reply{Text: "fine"})
		env := newEnv(fs, func(c *agent.Config) {
			c.Models = strictModels{server}
			c.Defaults.Model = "fake/strict"
		})
		file := imported(t, env, nil).Files[0]
		do(t, env, "xcsh.resume", args{"target": file.Session})
		do(t, env, "xcsh.setModel", args{"model": "fake/strict"})
		require.Equal(t, "stop", do(t, env, "xcsh.prompt", args{"text": "and now?"})["stopReason"], pattern)
		requests := server.Requests()
		require.Len(t, requests, 1)
		sent, err := json.Marshal(requests[0].Messages)
		require.NoError(t, err)
		for _, secret := range []string{"You are a helpful assistant.", "list_files", "auth.ts", "meanwhile", "log.md", "hello_world", "nothing there", "You are resuming"} {
			require.NotContains(t, string(sent), secret, pattern)
			require.NotContains(t, requests[0].System, secret, pattern)
		}
		for _, m := range requests[0].Messages {
			require.Contains(t, []string{"user", "assistant"}, m.Role, pattern)
		}
		require.Contains(t, string(sent), "and now?")
	}
}

// strictModels provides the one model of a service that rejects malformed conversations.
type strictModels struct{ server *providertest.Server }

func (m strictModels) model() provider.Model {
	return m.server.Model(provider.AnthropicMessages, "strict")
}

func (m strictModels) All(context.Context) []provider.Info { return nil }

func (m strictModels) Find(_ context.Context, ref provider.Ref) (provider.Model, bool) {
	return m.model(), ref.Provider == "fake" && ref.ID == "strict"
}

func (m strictModels) Service(provider.Model) (provider.Provider, error) {
	return anthropic.New(guard.Options{}), nil
}

func (m strictModels) Key(context.Context, provider.Model) (string, error) { return "key", nil }

func (strictModels) CheckKey(provider.Model) error { return nil }

func (strictModels) Sources(context.Context) []provider.Source { return nil }

// An export of an imported session equals the original, except for data that has no place in one of the formats.
// Proves: AB-067, AB-070
func TestExportToAgentBase(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	agentBaseFiles(t, fs, "typescript/2025-*.json")
	require.NoError(t, fs.MkdirAll("/w", 0o700))
	env := newEnv(fs)
	file := imported(t, env, nil).Files[0]
	r := do(t, env, "xcsh.export", args{"source": file.Session, "format": "agentBase"})
	require.Equal(t, "/w/2025-01-04-14-32-15-001-abcd.json", r["path"])
	require.Equal(t, map[string]any{"toolResults": 1.0}, r["losses"])
	require.Contains(t, r["note"], "lists it only after its index is rebuilt")
	s := storedSession(t, fs, "/w/2025-01-04-14-32-15-001-abcd.json")
	require.Equal(t, "2025-01-04-14-32-15-001-abcd", s.Metadata.ID)
	require.Equal(t, "2025-01-04T14:32:15.001Z", s.Metadata.CreatedAt)
	require.Equal(t, "2025-01-04T15:45:30.000Z", s.Metadata.LastActivityAt)
	require.Equal(t, "openai gpt-5-mini", s.Metadata.Provider+" "+s.Metadata.Model)
	require.Equal(t, "system user assistant user assistant", s.roles())
	require.Equal(t, 5, s.Metadata.MessageCount)
	require.Equal(t, "Use a short-lived access token.\n\n```ts\nsign(user)\n```", s.Messages[2].Content)
	info, err := fs.Stat("/w/2025-01-04-14-32-15-001-abcd.json")
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())

	r = do(t, env, "xcsh.export", args{"source": file.Session, "path": "with-tools.json", "includeTool": true})
	require.Equal(t, map[string]any{}, r["losses"])
	s = storedSession(t, fs, "/w/with-tools.json")
	require.Equal(t, "system user tool assistant user assistant", s.roles())
	require.Equal(t, "list_files call_1", s.Messages[2].Name+" "+s.Messages[2].ToolCallID)

	// The exported file can be imported again.
	require.Equal(t, map[string]string{"with-tools.json": "imported"}, statuses(imported(t, env, args{"paths": []string{"with-tools.json"}})))
}

// stored is a session file as agent-base declares it.
type stored struct {
	Metadata struct {
		ID, Name, Description, CreatedAt, LastActivityAt string
		MessageCount                                     int
		FirstMessage, Provider, Model                    string
	}
	Messages []struct {
		Role, Content, Name, ToolCallID, ID, Timestamp string
	}
	ContextSummary string
}

func (s stored) roles() string {
	var roles []string
	for _, m := range s.Messages {
		roles = append(roles, m.Role)
	}
	return strings.Join(roles, " ")
}

func storedSession(t *testing.T, fs afero.Fs, path string) stored {
	t.Helper()
	var s stored
	dec := json.NewDecoder(strings.NewReader(read(t, fs, path)))
	dec.DisallowUnknownFields()
	require.NoError(t, dec.Decode(&s))
	_, err := dec.Token()
	require.ErrorIs(t, err, io.EOF)
	require.Len(t, s.Messages, s.Metadata.MessageCount)
	return s
}

// An export of our own session omits data that agent-base cannot represent, and counts the losses.
func TestExportToAgentBaseCountsItsLosses(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	write(t, fs, file1, append(talk(id1),
		`{"type":"message","id":"cccccccc","parentId":"bbbbbbbb","timestamp":"2026-01-01T00:00:02.000Z","message":{"role":"assistant","content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"a"},{"type":"toolCall","id":"1","name":"ls"},{"type":"text","text":"b"}]}}`,
		`{"type":"message","id":"dddddddd","parentId":"cccccccc","timestamp":"2026-01-01T00:00:03.000Z","message":{"role":"toolResult","toolCallId":"1","toolName":"ls","content":[{"type":"text","text":"x"}]}}`,
		`{"type":"message","id":"eeeeeeee","parentId":"aaaaaaaa","timestamp":"2026-01-01T00:00:04.000Z","message":{"role":"user","content":"another branch"}}`,
		`{"type":"label","id":"ffffffff","parentId":"dddddddd","timestamp":"2026-01-01T00:00:05.000Z","targetId":"aaaaaaaa","label":"x"}`)...)
	require.NoError(t, fs.MkdirAll("/w", 0o700))
	before := read(t, fs, file1)
	r := do(t, newEnv(fs), "xcsh.export", args{"source": id1, "format": "agentBase"})
	require.Equal(t, "/w/session-01900000.json", r["path"])
	require.Equal(t, map[string]any{"thinking": 1.0, "toolCalls": 1.0, "toolResults": 1.0}, r["losses"])
	s := storedSession(t, fs, "/w/session-01900000.json")
	require.Equal(t, "user assistant assistant", s.roles(), "the active branch only")
	require.Equal(t, "cccccccc", s.Messages[2].ID)
	require.Equal(t, "a\nb", s.Messages[2].Content)
	require.Equal(t, "offline demo", s.Metadata.Provider+" "+s.Metadata.Model)
	require.Equal(t, before, read(t, fs, file1))
}

// Proves: AB-070
func TestExportToAgentBaseRedacts(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	write(t, fs, file1, strings.Replace(st.Header(id1, "/w"), "}", `,"title":"password=abc123def456"}`, 1),
		st.User("aaaaaaaa", "", "use password=abc123def456"))
	require.NoError(t, fs.MkdirAll("/w", 0o700))
	r := do(t, newEnv(fs), "xcsh.export", args{"source": id1, "path": "x.json"})
	require.Equal(t, map[string]any{"named": 2.0}, r["redacted"])
	require.NotContains(t, read(t, fs, "/w/x.json"), "abc123def456")
}

// Names that agent-base or a file system would reject are refused before any file is written.
// Proves: AB-069
func TestExportToAgentBaseChecksTheTarget(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	write(t, fs, file1, talk(id1)...)
	write(t, fs, "/w/taken.json", "mine")
	before := tree(t, fs)
	env := newEnv(fs)
	for path, kind := range map[string]fault.Kind{
		"index.json": fault.InvalidArgument, "con.json": fault.InvalidArgument, "a b.json": fault.InvalidArgument, "a..b.json": fault.InvalidArgument,
		"x.txt": fault.InvalidArgument, "é.json": fault.InvalidArgument, "last_session.json": fault.InvalidArgument, ".json": fault.InvalidArgument,
		"taken.json": fault.FileExists, "gone/x.json": fault.NotFound, sessions + "/x.json": fault.OutsideRoot,
	} {
		_, err := run(t.Context(), env, "xcsh.export", args{"source": id1, "path": path, "format": "agentBase"})
		requireKind(t, kind, err)
	}
	require.Equal(t, before, tree(t, fs))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := run(ctx, env, "xcsh.export", args{"source": file1, "path": "x.json"})
	requireKind(t, fault.Cancelled, err)
	require.Equal(t, before, tree(t, fs))
}

// agent-base's index is extended. If the index is not agent-base's, the export still succeeds.
func TestExportToAgentBaseRegisters(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	write(t, fs, file1, talk(id1)...)
	agentBaseFiles(t, fs, "typescript/index.json")
	env := newEnv(fs)
	r := do(t, env, "xcsh.export", args{"source": id1, "path": agentBaseDir + "/back.json", "registerInIndex": true})
	require.NotContains(t, r, "note")
	var index struct {
		Version, UpdatedAt string
		Sessions           map[string]struct{ ID, FirstMessage string }
	}
	require.NoError(t, json.Unmarshal([]byte(read(t, fs, agentBaseDir+"/index.json")), &index))
	require.Equal(t, "2026-02-03T04:05:06.000Z", index.UpdatedAt)
	require.Len(t, index.Sessions, 2)
	require.Equal(t, "one", index.Sessions["back"].FirstMessage)

	for name, content := range map[string]string{"none": "", "junk": "junk", "older": `{"conversations":{}}`} {
		dir := "/w/" + name
		require.NoError(t, fs.MkdirAll(dir, 0o700))
		if content != "" {
			require.NoError(t, afero.WriteFile(fs, dir+"/index.json", []byte(content), 0o600))
		}
		_, err := run(t.Context(), env, "xcsh.export", args{"source": id1, "path": dir + "/back.json", "registerInIndex": true})
		require.Error(t, err)
		require.True(t, strings.HasPrefix(err.Error(), "The session was exported to "+dir+"/back.json but could not be added to the index: "), err)
		storedSession(t, fs, dir+"/back.json")
		if content != "" {
			require.Equal(t, content, read(t, fs, dir+"/index.json"))
		}
	}
}

// No fault leaves a partial export or a partial index.
// Proves: AB-071
func TestExportToAgentBaseUnderFaults(t *testing.T) {
	t.Parallel()
	everyFault(t, func(t *testing.T, fs *st.FaultFs) {
		at := fs.At
		fs.At = 0
		agentBaseFiles(t, fs, "typescript/index.json")
		index := read(t, fs, agentBaseDir+"/index.json")
		*fs = st.FaultFs{Fs: fs.Fs, At: at, Mode: fs.Mode, On: func(_, name string) bool { return !indexed.Owns(name) }}
		_, err := run(t.Context(), newEnv(fs), "xcsh.export", args{"source": id1, "path": agentBaseDir + "/back.json", "registerInIndex": true})
		require.Equal(t, fs.Fired(), err != nil)
		files := tree(t, fs.Fs)
		if now := files[agentBaseDir+"/index.json"]; err != nil {
			require.Equal(t, index, now)
		}
		if _, ok := files[agentBaseDir+"/back.json"]; ok {
			storedSession(t, fs.Fs, agentBaseDir+"/back.json")
		}
		for path := range files {
			require.NotContains(t, path, ".tmp")
		}
	})
}
