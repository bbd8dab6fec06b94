package importer_test

import (
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/internal/sessiontest/kit"
	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/importer"
	"github.com/xcsh-ls/xcsh-ls/session/library"
)

// readCounter counts the bytes that are read.
type readCounter struct {
	afero.Fs
	read atomic.Int64
}

func (c *readCounter) Open(name string) (afero.File, error) {
	f, err := c.Fs.Open(name)
	return countedFile{f, c}, err
}

type countedFile struct {
	afero.File
	fs *readCounter
}

func (f countedFile) Read(b []byte) (int, error) {
	n, err := f.File.Read(b)
	f.fs.read.Add(int64(n))
	return n, err
}

// A session of the folder that comes back is copied byte for byte, regardless of its
// content.
// Proves: P-026
func TestImportOfLinesKeepsEveryByte(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"ordinary":      kit.Chat("0190000000000001", "/w", "one", "two"),
		"no last line":  strings.TrimSuffix(kit.Chat("0190000000000001", "/w", "one"), "\n"),
		"damaged":       kit.Chat("0190000000000001", "/w", "one") + "{torn\n\r\n  [1]\n" + `{"type":"zzz","n":12345678901234567890}` + "\n",
		"odd spelling":  `{ "cwd" : "/w", "id":"0190000000000001" ,"type":"session","version":3,"more":{}}` + "\n" + `{"type":"label"}` + "\n",
		"first version": `{"type":"session","id":"0190000000000001","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w"}` + "\n" + `{"type":"message","message":{"role":"user","content":"x"}}` + "\n",
		"newer version": strings.Replace(kit.Chat("0190000000000001", "/w", "one"), `"version":3`, `"version":9`, 1),
		"omp's title":   kit.SlotLine() + "\n" + kit.Chat("0190000000000001", "/w", "one"),
	} {
		w := newImportWorld(t)
		kit.Put(t, w.fs, "/elsewhere/talk.jsonl", text)
		kit.Put(t, w.fs, "/elsewhere/talk/0.bash.log", "output")
		before := w.state("/elsewhere")
		r := w.take("/w", "/elsewhere/talk.jsonl")
		require.Equal(t, importer.Result{Status: importer.Imported, Session: "0190000000000001", Path: kit.SessionsRoot + "/--w--/talk.jsonl"}, r, name)
		require.Equal(t, strings.TrimSuffix(text, "\n"), strings.TrimSuffix(kit.Content(t, w.fs, r.Path), "\n"), name)
		require.Equal(t, "output", kit.Content(t, w.fs, kit.SessionsRoot+"/--w--/talk/0.bash.log"), name)
		require.Equal(t, r, withStatus(w.take("/w", "/elsewhere/talk.jsonl"), importer.Imported), name)
		require.Equal(t, importer.Skipped, w.take("/w", "/elsewhere/talk.jsonl").Status, name)
		require.Equal(t, before, w.state("/elsewhere"), name)
	}
}

// A session of another folder becomes one of this folder: its header names this folder,
// and nothing else changes.
func TestImportOfLinesFromAnotherFolder(t *testing.T) {
	t.Parallel()
	w := newImportWorld(t)
	kit.Put(t, w.fs, "/elsewhere/talk.jsonl", kit.Chat("0190000000000001", "/x", "one", "two"))
	r := w.take("/w", "/elsewhere/talk.jsonl")
	require.Equal(t, kit.Chat("0190000000000001", "/w", "one", "two"), kit.Content(t, w.fs, r.Path))
	require.Len(t, w.list("/w"), 1)
}

// An existing id is not given twice.
func TestImportOfLinesWhoseIDIsTaken(t *testing.T) {
	t.Parallel()
	w := newImportWorld(t)
	const id = "0190000000000001"
	kit.Put(t, w.fs, "/elsewhere/talk.jsonl", kit.Chat(id, "/w", "one"))
	there := kit.SessionsRoot + "/--w--/" + session.FileName("2026-11-20T10:00:00.000Z", id)

	kit.Put(t, w.fs, there, kit.Chat(id, "/w", "something else"))
	r := w.take("/w", "/elsewhere/talk.jsonl")
	require.Equal(t, importer.Updated, r.Status)
	doc, err := w.store.Load(r.Path)
	require.NoError(t, err)
	require.Equal(t, id, doc.Header().ParentSession)
	require.NotEqual(t, id, r.Session)
	require.Equal(t, r.Session, doc.Header().ID)
	_, body, _ := strings.Cut(kit.Content(t, w.fs, r.Path), "\n")
	_, want, _ := strings.Cut(kit.Chat(id, "/w", "one"), "\n")
	require.Equal(t, want, body)
	require.Equal(t, r.Session, w.take("/w", "/elsewhere/talk.jsonl").Session, "now it is there")

	// The existing session has new entries: it is the same one.
	w = newImportWorld(t)
	kit.Put(t, w.fs, "/elsewhere/talk.jsonl", kit.Chat(id, "/w", "one"))
	kit.Put(t, w.fs, there, kit.Chat(id, "/w", "one", "two"))
	require.Equal(t, importer.Result{Status: importer.Skipped, Session: id, Path: there}, w.take("/w", "/elsewhere/talk.jsonl"))
	require.Equal(t, importer.Skipped, w.take("/w", there).Status, "it is there already")

	// The reverse: the existing file is the older one.
	kit.Put(t, w.fs, "/elsewhere/talk.jsonl", kit.Chat(id, "/w", "one", "two", "three"))
	require.Equal(t, importer.Updated, w.take("/w", "/elsewhere/talk.jsonl").Status)

	// Of another folder's session a copy is made, once.
	w = newImportWorld(t)
	other := kit.SessionsRoot + "/--x--/" + session.FileName("2026-11-20T10:00:00.000Z", id)
	kit.Put(t, w.fs, other, kit.Chat(id, "/x", "one"))
	r = w.take("/w", other)
	require.Equal(t, importer.Imported, r.Status)
	require.NotEqual(t, id, r.Session)
	require.Equal(t, withStatus(r, importer.Skipped), w.take("/w", other))
	require.Len(t, w.list("/w"), 1)
	require.Len(t, w.list("/x"), 1)
}

// A value in a header is not used as the name of a file.
func TestImportOfLinesWithAHostileHeader(t *testing.T) {
	t.Parallel()
	w := newImportWorld(t)
	text := `{"type":"session","version":3,"id":"../../../evil","timestamp":"../../x","cwd":"/w"}` + "\n" + `{"type":"label"}` + "\n"
	kit.Put(t, w.fs, "/elsewhere/.hidden.jsonl", text)
	before := w.state("/elsewhere")
	r := w.take("/w", "/elsewhere/.hidden.jsonl")
	require.Equal(t, kit.SessionsRoot+"/--w--", filepath.Dir(r.Path))
	require.Equal(t, text, kit.Content(t, w.fs, r.Path))
	r = w.take("/v", "/elsewhere/.hidden.jsonl")
	require.Equal(t, kit.SessionsRoot+"/--v--", filepath.Dir(r.Path))
	require.Equal(t, before, w.state("/elsewhere"))
}

// Another program's session is read by that program's rules in any place, and its images
// are copied with it.
func TestImportOfAnotherProgramsSession(t *testing.T) {
	t.Parallel()
	w := newImportWorld(t)
	w.finder.Roots = append(w.finder.Roots, library.Root{Places: library.AgentPlaces("/home/zed/.omp/agent"), Dialect: session.Omp})
	w.store = session.NewStore(session.StoreConfig{Fs: w.fs, Now: w.finder.Now, DirFor: w.finder.DirFor, RootFor: w.finder.FileRoot})
	const sum = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
	kit.Put(t, w.fs, "/home/zed/.omp/agent/blobs/"+sum, "test")
	path := "/home/zed/.omp/agent/sessions/-w/2026-11-20T10-00-00-000Z_talk.jsonl"
	kit.Put(t, w.fs, path, kit.Chat("talk", "/w", "one")+
		`{"type":"message","id":"e9","parentId":"e0","message":{"role":"user","content":[{"type":"image","mimeType":"image/png","data":"blob:sha256:`+sum+`"}]}}`+"\n")
	r := w.take("/w", path)
	require.Equal(t, importer.Imported, r.Status)
	text := kit.Content(t, w.fs, r.Path)
	require.Contains(t, text, `"data":"dGVzdA=="`)
	require.Contains(t, text, `"dialect":"omp"`)
	require.Equal(t, withStatus(r, importer.Skipped), w.take("/w", path))
	doc, err := w.store.Load(r.Path)
	require.NoError(t, err)
	require.Equal(t, session.Omp, doc.Dialect())
}

// Proves: AB-061
func TestImportFiles(t *testing.T) {
	t.Parallel()
	w := newImportWorld(t)
	w.fixtures("typescript")
	kit.Put(t, w.fs, agentBase+"/notes.txt", "x")
	kit.Put(t, w.fs, agentBase+"/.hidden.json", "x")
	kit.Put(t, w.fs, agentBase+"/x.tmp.123-abc.json", "x")
	kit.Put(t, w.fs, agentBase+"/dir.json/x.json", "x")
	files, err := importer.Files(w.finder, agentBase)
	require.NoError(t, err)
	var names []string
	for _, f := range files {
		names = append(names, strings.TrimSuffix(filepath.Base(f.Path), ".json"))
	}
	require.Equal(t, []string{
		"2025-01-04-14-32-15-001-abcd", strings.Repeat("a", 64), "bad-times", "byte-order-mark", "half-characters", "jwt-work", "lying-id", "no-metadata", "odd-content",
	}, names)
	require.Equal(t, "2025-01-04-14-32-15-001-abcd", importer.LastImportable(w.finder, agentBase))
	for _, content := range []string{"../../etc/passwd", "", strings.Repeat("x", 2000), "a\x00b"} {
		kit.Put(t, w.fs, agentBase+"/last_session", content)
		require.Empty(t, importer.LastImportable(w.finder, agentBase), "%q", content)
	}
	kit.Put(t, w.fs, filepath.Dir(agentBase)+"/last_session", "standup\n")
	require.Equal(t, "standup", importer.LastImportable(w.finder, agentBase), "where the older generation has it")
	_, err = importer.Files(w.finder, "/gone")
	require.EqualError(t, err, "Directory not found: /gone")
	_, err = importer.Files(w.finder, agentBase+"/notes.txt")
	require.True(t, fault.Is(err, fault.NotFound))
}

// A link is followed to a target in the directory, and nowhere else.
// Proves: AB-056
func TestImportFilesFollowsNoLinkOut(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "sessions")
	require.NoError(t, os.MkdirAll(dir, 0o755))
	secret := filepath.Join(filepath.Dir(dir), "secret.json")
	for _, path := range []string{secret, filepath.Join(dir, "real.json")} {
		require.NoError(t, os.WriteFile(path, []byte(`{}`), 0o600))
	}
	require.NoError(t, os.Symlink(secret, filepath.Join(dir, "out.json")))
	require.NoError(t, os.Symlink("real.json", filepath.Join(dir, "in.json")))
	require.NoError(t, os.Symlink("gone.json", filepath.Join(dir, "nowhere.json")))
	f := library.Finder{Fs: afero.NewOsFs(), RealPath: filepath.EvalSymlinks}
	files, err := importer.Files(f, dir)
	require.NoError(t, err)
	out := map[string]bool{}
	for _, file := range files {
		out[filepath.Base(file.Path)] = file.LeadsOut
	}
	require.Equal(t, map[string]bool{"real.json": false, "in.json": false, "out.json": true, "nowhere.json": true}, out)
}

func TestAgentBaseDir(t *testing.T) {
	t.Parallel()
	require.Equal(t, agentBase, importer.AgentBaseDir(kit.NewFinder(nil)))
	f := kit.NewFinder(nil)
	f.AgentHome = "/other"
	require.Equal(t, "/other/sessions", importer.AgentBaseDir(f))
}

func TestUpdateFile(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	kit.Put(t, fs, "/d/index.json", "old")
	s := kit.NewStore(fs)
	upper := func(old []byte) ([]byte, error) { return []byte(strings.ToUpper(string(old))), nil }
	require.NoError(t, s.UpdateFile("/d/index.json", upper))
	require.Equal(t, "OLD", kit.Content(t, fs, "/d/index.json"))
	err := s.UpdateFile("/d/index.json", func([]byte) ([]byte, error) { return nil, os.ErrInvalid })
	require.ErrorIs(t, err, os.ErrInvalid)
	err = s.UpdateFile("/d/index.json", func([]byte) ([]byte, error) {
		kit.Put(t, fs, "/d/index.json", "by another")
		return []byte("by us"), nil
	})
	require.True(t, fault.Is(err, fault.Stale), err)
	require.Equal(t, "by another", kit.Content(t, fs, "/d/index.json"))
	require.True(t, fault.Is(s.UpdateFile("/d/gone.json", upper), fault.NotFound))
	require.Error(t, s.UpdateFile("/d", upper))
	names, err := afero.ReadDir(fs, "/d")
	require.NoError(t, err)
	require.Len(t, names, 1, "nothing temporary is left")
}
