package importer_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io/fs"
	"math/rand"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/internal/racetest"
	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
	"github.com/xcsh-ls/xcsh-ls/internal/sessiontest/kit"
	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/agentbase"
	"github.com/xcsh-ls/xcsh-ls/session/importer"
	"github.com/xcsh-ls/xcsh-ls/session/library"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// agentBase is the directory of agent-base's sessions in tests.
const agentBase = "/home/zed/.agent/sessions"

// importWorld is a store and a finder over files in memory.
type importWorld struct {
	t      *testing.T
	fs     afero.Fs
	store  *session.Store
	finder library.Finder
}

func newImportWorld(t *testing.T) importWorld {
	t.Helper()
	return importWorldOn(t, afero.NewMemMapFs())
}

func importWorldOn(t *testing.T, fs afero.Fs) importWorld {
	t.Helper()
	f := kit.NewFinder(fs)
	store := session.NewStore(session.StoreConfig{
		Fs: fs, Now: f.Now, Random: rand.New(rand.NewSource(1)), DirFor: f.DirFor, RootFor: f.FileRoot,
	})
	return importWorld{t, fs, store, f}
}

// fixtures copies the sessions of one generation to where agent-base keeps them.
func (w importWorld) fixtures(generation string) []string {
	w.t.Helper()
	files, err := filepath.Glob(filepath.Join(kit.Fixtures, "agent-base", generation, "*"))
	require.NoError(w.t, err)
	require.NotEmpty(w.t, files)
	var paths []string
	for _, file := range files {
		content, err := os.ReadFile(file)
		require.NoError(w.t, err)
		path := agentBase + "/" + filepath.Base(file)
		kit.PutSession(w.t, w.fs, path, string(content), time.Hour)
		paths = append(paths, path)
	}
	return paths
}

func (w importWorld) importer(cwd string) *importer.Importer {
	w.t.Helper()
	im, err := importer.New(w.t.Context(), w.store, w.finder, importer.Options{Cwd: cwd, Zone: time.UTC})
	require.NoError(w.t, err)
	return im
}

// take imports one file and requires success.
func (w importWorld) take(cwd, path string) importer.Result {
	w.t.Helper()
	r, err := w.importer(cwd).Import(path)
	require.NoError(w.t, err)
	return r
}

func (w importWorld) list(cwd string) []library.Info {
	w.t.Helper()
	infos, problems, err := w.finder.List(w.t.Context(), cwd, library.ListOptions{})
	require.NoError(w.t, err)
	require.Empty(w.t, problems)
	return infos
}

// state is every file with its bytes and time.
func (w importWorld) state(dir string) map[string]string {
	w.t.Helper()
	all := map[string]string{}
	require.NoError(w.t, afero.Walk(w.fs, dir, func(path string, info fs.FileInfo, err error) error {
		if err == nil && !info.IsDir() {
			all[path] = fmt.Sprint(info.ModTime().UnixNano(), info.Mode(), kit.Content(w.t, w.fs, path))
		}
		return err
	}))
	return all
}

// Every fixture becomes the session that is recorded beside it, healthy in every respect and
// with the same ids each time. The sources stay as they are.
// Proves: AB-057, AB-058, AB-060, AB-062
func TestImportOfEveryFixture(t *testing.T) {
	t.Parallel()
	for _, generation := range []string{"typescript", "python"} {
		w := newImportWorld(t)
		w.fixtures(generation)
		before := w.state(agentBase)
		files, err := importer.Files(w.finder, agentBase)
		require.NoError(t, err)
		require.NotEmpty(t, files)
		im := w.importer("/w")
		for _, file := range files {
			name := strings.TrimSuffix(filepath.Base(file.Path), ".json")
			r, err := im.Import(file.Path)
			require.NoError(t, err, name)
			require.Equal(t, importer.Imported, r.Status, name)
			text := kit.Content(t, w.fs, r.Path)
			recorded := filepath.Join(kit.Fixtures, "agent-base", "golden", name+".golden")
			if *update {
				require.NoError(t, os.MkdirAll(filepath.Dir(recorded), 0o755))
				require.NoError(t, os.WriteFile(recorded, []byte(strings.ReplaceAll(text, r.Session, "SESSION")), 0o644))
			}
			want, err := os.ReadFile(recorded)
			require.NoError(t, err)
			require.Equal(t, string(want), strings.ReplaceAll(text, r.Session, "SESSION"), name)
			requireSound(t, w, r)
		}
		require.Equal(t, before, w.state(agentBase))
		require.Len(t, w.list("/w"), len(files))
		require.Empty(t, w.list("/v"))
	}
}

// requireSound requires that an imported session has no problems, and that its context
// consists of prompts and answers only, by the rules of all three programs.
func requireSound(t *testing.T, w importWorld, r importer.Result) {
	t.Helper()
	for _, dialect := range []session.Dialect{session.Xcsh, session.Pi, session.Omp} {
		root := func(string) (session.FileRoot, bool) { return session.FileRoot{Dialect: dialect}, true }
		doc, err := session.NewStore(session.StoreConfig{Fs: w.fs, RootFor: root}).Load(r.Path)
		require.NoError(t, err)
		require.Empty(t, doc.Problems())
		built, problems, err := session.BuildContext(doc, session.AtLast(), nil)
		require.NoError(t, err)
		require.Empty(t, problems)
		require.NotEmpty(t, built.Messages)
		for _, m := range built.Messages {
			role, _ := rawjson.GetString(m, "role")
			require.Contains(t, []string{"user", "assistant"}, role, dialect)
			if role == "assistant" {
				for _, path := range [][]string{{"usage", "cost", "total"}, {"usage", "totalTokens"}} {
					require.Equal(t, "0", string(rawjson.Get(m, path...)), path)
				}
			}
		}
		last := ""
		for i := range doc.Len() {
			e, err := doc.Entry(i)
			require.NoError(t, err)
			require.Equal(t, last, e.ParentID)
			require.True(t, json.Valid(e.Raw))
			_, ok := session.ParseTime(e.Timestamp)
			require.True(t, ok, e.Timestamp)
			last = e.ID
		}
	}
	doc, err := w.store.Load(r.Path)
	require.NoError(t, err)
	require.Equal(t, session.Xcsh, doc.Dialect())
	require.Equal(t, r.Session, doc.Header().ID)
	info, err := w.fs.Stat(r.Path)
	require.NoError(t, err)
	require.Equal(t, fs.FileMode(0o600), info.Mode().Perm())
}

// An import is done once. A source that changed since becomes a new session that names the
// earlier one; a source that changed back is recognized.
// Proves: AB-059
func TestImportAgain(t *testing.T) {
	t.Parallel()
	w := newImportWorld(t)
	path := agentBase + "/talk.json"
	write := func(text string) {
		kit.Put(t, w.fs, path, `{"messages":[{"role":"user","content":"`+text+`","timestamp":"2025-01-01T00:00:00.000Z"}]}`)
	}
	write("one")
	first := w.take("/w", path)
	require.Equal(t, importer.Imported, first.Status)
	im := w.importer("/w")
	for range 2 {
		again, err := im.Import(path)
		require.NoError(t, err)
		require.Equal(t, importer.Result{Status: importer.Skipped, Session: first.Session, Path: first.Path}, again)
	}
	write("one and two")
	second, err := im.Import(path)
	require.NoError(t, err)
	require.Equal(t, importer.Updated, second.Status)
	require.NotEqual(t, first.Session, second.Session)
	third, err := im.Import(path)
	require.NoError(t, err)
	require.Equal(t, importer.Result{Status: importer.Skipped, Session: second.Session, Path: second.Path}, third)
	doc, err := w.store.Load(second.Path)
	require.NoError(t, err)
	require.Equal(t, first.Session, doc.Header().ParentSession)
	write("three")
	require.Equal(t, importer.Updated, w.take("/w", path).Status)
	write("one")
	require.Equal(t, first.Session, w.take("/w", path).Session)

	// The session's file decides.
	require.NoError(t, w.fs.Remove(first.Path))
	require.Equal(t, importer.Updated, w.take("/w", path).Status)

	// Another folder has imports of its own.
	require.Equal(t, importer.Imported, w.take("/v", path).Status)
	require.Len(t, w.list("/v"), 1)
}

// A copy of an imported session is not an import, and neither is one that continues in a new
// one: the imported session is found although it has a title and more entries by now.
// Proves: AB-059
func TestAnImportIsFoundAmongItsCopies(t *testing.T) {
	t.Parallel()
	w := newImportWorld(t)
	path := agentBase + "/talk.json"
	kit.Put(t, w.fs, path, `{"messages":[{"role":"user","content":"one"}]}`)
	first := w.take("/w", path)
	l, err := w.store.Open(first.Path)
	require.NoError(t, err)
	fork, err := w.store.Fork(l)
	require.NoError(t, err)
	_, err = l.SetTitle(session.Title{Text: strings.Repeat("a long title ", 2000), Source: "user"})
	require.NoError(t, err)
	kit.MustAppend(t, l, kit.Say("user", "more"))
	require.NoError(t, l.Close())
	require.NoError(t, fork.Close())
	require.Equal(t, first, withStatus(w.take("/w", path), importer.Imported))
	require.NoError(t, w.fs.Remove(first.Path))
	require.Equal(t, importer.Imported, w.take("/w", path).Status, "the copy is not what was imported")
}

func withStatus(r importer.Result, s importer.Status) importer.Result {
	r.Status = s
	return r
}

// A dry run returns the same and changes nothing.
func TestImportTrial(t *testing.T) {
	t.Parallel()
	w := newImportWorld(t)
	w.fixtures("typescript")
	jsonl := "/w/other.jsonl"
	kit.Put(t, w.fs, jsonl, kit.Chat("0190000000000001", "/x", "one"))
	w.take("/w", agentBase+"/jwt-work.json")
	before := w.state("/")
	im, err := importer.New(t.Context(), w.store, w.finder, importer.Options{Cwd: "/w", Try: true})
	require.NoError(t, err)
	for path, want := range map[string]importer.Status{
		agentBase + "/jwt-work.json": importer.Skipped, agentBase + "/no-metadata.json": importer.Imported, jsonl: importer.Imported,
	} {
		r, err := im.Import(path)
		require.NoError(t, err)
		require.Equal(t, want, r.Status, path)
		require.Equal(t, want == importer.Skipped, r.Path != "")
	}
	_, err = im.Import(agentBase + "/gone.json")
	require.True(t, fault.Is(err, fault.NotFound))
	require.Equal(t, before, w.state("/"))
}

// The error for each broken file is one sentence, and nothing is created.
// Proves: AB-063
func TestImportOfBrokenFiles(t *testing.T) {
	t.Parallel()
	w := newImportWorld(t)
	paths := w.fixtures("broken")
	require.NoError(t, w.fs.MkdirAll(agentBase+"/dir.json", 0o755))
	huge, err := w.fs.Create(agentBase + "/huge.json")
	require.NoError(t, err)
	require.NoError(t, huge.Truncate(agentbase.MaxFile+1))
	require.NoError(t, huge.Close())
	kit.Put(t, w.fs, "/w/damaged.jsonl", "not a header\n")
	kit.Put(t, w.fs, "/w/empty.jsonl", "")
	before := w.state("/")
	im := w.importer("/w")
	for _, path := range append(paths, agentBase+"/dir.json", agentBase+"/huge.json", agentBase+"/gone.json", "/w/damaged.jsonl", "/w/empty.jsonl", "/w/gone.jsonl") {
		r, err := im.Import(path)
		require.Error(t, err, path)
		kit.RequireSentence(t, err)
		require.Contains(t, err.Error(), path)
		require.Equal(t, importer.Result{}, r)
	}
	_, err = im.Import("/w/gone.jsonl")
	require.EqualError(t, err, "File not found: /w/gone.jsonl")
	_, err = im.Import(agentBase + "/huge.json")
	require.EqualError(t, err, agentBase+"/huge.json has 64 MiB; files above 64 MiB are not read; it was not imported.")
	require.Equal(t, before, w.state("/"))
}

// The session to continue is the one the user worked in last, not the one imported last.
func TestImportKeepsTheTime(t *testing.T) {
	t.Parallel()
	w := newImportWorld(t)
	w.fixtures("typescript")
	r := w.take("/w", agentBase+"/jwt-work.json")
	info, err := w.fs.Stat(r.Path)
	require.NoError(t, err)
	require.Equal(t, "2025-01-04T15:45:30.000Z", session.FormatTime(info.ModTime()))
	kit.Put(t, w.fs, agentBase+"/future.json", `{"metadata":{"lastActivityAt":"2099-01-01T00:00:00.000Z"},"messages":[{"role":"user","content":"x"}]}`)
	r = w.take("/w", agentBase+"/future.json")
	info, err = w.fs.Stat(r.Path)
	require.NoError(t, err)
	require.Equal(t, session.FormatTime(kit.Noon), session.FormatTime(info.ModTime()))
}

// Two of ten thousand messages may get the same beginning of a hash; their ids are still
// different, and the same in every import.
func TestImportedIDsAreDistinctAndRepeat(t *testing.T) {
	t.Parallel()
	racetest.Large(t)
	var messages []string
	for i := range 70_000 { // two of them collide in eight digits, more likely than not
		messages = append(messages, fmt.Sprintf(`{"role":"user","content":"%d"}`, i))
	}
	text := `{"messages":[` + strings.Join(messages, ",") + `]}` // without times
	var bodies [2]string
	for i, cwd := range []string{"/w", "/v"} {
		w := newImportWorld(t)
		kit.Put(t, w.fs, agentBase+"/talk.json", text)
		require.NoError(t, w.fs.Chtimes(agentBase+"/talk.json", kit.Noon, kit.Noon))
		r := w.take(cwd, agentBase+"/talk.json")
		doc, err := w.store.Load(r.Path)
		require.NoError(t, err)
		require.Empty(t, doc.Problems())
		require.Equal(t, len(messages)+2, doc.Len())
		_, bodies[i], _ = strings.Cut(kit.Content(t, w.fs, r.Path), "\n")
	}
	require.Equal(t, bodies[0], bodies[1])
}

// A thousand texts survive the round trip unchanged.
// Proves: AB-068
func TestImportKeepsEveryText(t *testing.T) {
	t.Parallel()
	w := newImportWorld(t)
	r := rand.New(rand.NewSource(2))
	var messages [][]byte
	var want []string
	for i := range 1000 {
		text := []rune{}
		for range r.Intn(100) {
			c := rune(r.Intn(0x11000))
			if c >= 0xD800 && c < 0xE000 {
				c = '😀'
			}
			text = append(text, c)
		}
		want = append(want, string(text))
		messages = append(messages, new(rawjson.Object).String("role", []string{"user", "assistant"}[i%2]).String("content", string(text)).Bytes())
	}
	kit.Put(t, w.fs, agentBase+"/talk.json", `{"messages":`+string(rawjson.Array(messages))+`}`)
	doc, err := w.store.Load(w.take("/w", agentBase+"/talk.json").Path)
	require.NoError(t, err)
	built, _, err := session.BuildContext(doc, session.AtLast(), nil)
	require.NoError(t, err)
	var got []string
	for _, m := range built.Messages {
		got = append(got, session.MessageText(m))
	}
	require.Equal(t, want, got)
}

func TestImportStopsWhenItIsCancelled(t *testing.T) {
	t.Parallel()
	w := newImportWorld(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := importer.New(ctx, w.store, w.finder, importer.Options{Cwd: "/w"})
	require.True(t, fault.Is(err, fault.Cancelled))
	_, err = importer.New(t.Context(), w.store, w.finder, importer.Options{Cwd: "w"})
	require.True(t, fault.Is(err, fault.InvalidArgument))
}

// No fault leaves half a session, a temporary file, or a changed source.
// Proves: AB-071
func TestNoFaultLeavesHalfAnImport(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile(filepath.Join(kit.Fixtures, "agent-base", "typescript", "jwt-work.json"))
	require.NoError(t, err)
	for name, file := range map[string]struct{ path, content string }{
		"conversation": {"/outside/jwt-work.json", string(source)},
		"lines":        {"/outside/2026-01-01T00-00-00-000Z_0190000000000009.jsonl", kit.Chat("0190000000000009", "/x", "one", "two")},
	} {
		run := func(w *kit.Trial) (string, error) {
			kit.Put(w.T, w.Base, file.path, file.content)
			finder := kit.NewFinder(w.Faulty)
			im, err := importer.New(w.T.Context(), w.S, finder, importer.Options{Cwd: "/w", Zone: time.UTC})
			if err != nil {
				return "", err
			}
			r, err := im.Import(file.path)
			require.Equal(w.T, file.content, kit.Content(w.T, w.Base, file.path))
			if err != nil {
				require.Empty(w.T, r.Path)
				return "", err
			}
			require.True(w.T, strings.HasSuffix(kit.Content(w.T, w.Base, r.Path), "\n"))
			return "", nil
		}
		for mode, how := range []string{"once", "dead", "short"} {
			for _, reads := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s %s reads=%v", name, how, reads), func(t *testing.T) {
					t.Parallel()
					at := 1
					for kit.TryOperation(t, kit.NewTrial(t, kit.Conversation(), at, st.Mode(mode), reads), run) {
						require.Less(t, at, 1000, "the import never runs through")
						at++
					}
					require.Greater(t, at, 5, "hardly a step could fail")
				})
			}
		}
	}
}

// Finding existing imports reads only the beginning of each file, however long it is.
func TestImportReadsHeadsOnly(t *testing.T) {
	t.Parallel()
	w := newImportWorld(t)
	const n = 300
	big := strings.Repeat(`{"type":"message","id":"x","parentId":null,"message":{"role":"user","content":"`+strings.Repeat("x", 1000)+`"}}`+"\n", 1000)
	for i := range n {
		id := fmt.Sprintf("%016x", i+1)
		text := kit.Chat(id, "/w", "one")
		if i%100 == 0 {
			text += big
		}
		kit.PutSession(t, w.fs, kit.SessionsRoot+"/--w--/"+session.FileName("2026-01-01T00:00:00.000Z", id), text, time.Hour)
	}
	counting := &readCounter{Fs: w.fs}
	v := importWorldOn(t, counting)
	v.importer("/w")
	require.LessOrEqual(t, counting.read.Load(), int64(n*16<<10))
}
