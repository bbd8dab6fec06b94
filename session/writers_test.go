package session_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/session"
	st "github.com/xcsh-ls/xcsh-ls/session/sessiontest"
)

// seam calls out at single operations on a file system; a nil func does nothing.
type seam struct {
	afero.Fs
	open     func(name string) error           // Open, for reading
	stat     func(name string) error           // Stat by path
	openFile func(name string, flag int) error // OpenFile
	mkdir    func(name string) error           // MkdirAll
	rename   func(from, to string) error       // Rename
	fstat    func(f afero.File) error          // after File.Stat of a file opened for writing
	closed   func(name string) error           // after File.Close of a file opened for writing
	write    func(f afero.File, b []byte) (int, error, bool)
	trunc    func(name string) error
}

func (s *seam) LstatIfPossible(n string) (os.FileInfo, bool, error) {
	i, err := os.Lstat(n)
	return i, true, err
}
func (s *seam) ReadlinkIfPossible(n string) (string, error) { return os.Readlink(n) }
func (s *seam) Open(n string) (afero.File, error) {
	if s.open != nil {
		if err := s.open(n); err != nil {
			return nil, &os.PathError{Op: "open", Path: n, Err: err}
		}
	}
	return s.Fs.Open(n)
}

func (s *seam) Stat(n string) (os.FileInfo, error) {
	if s.stat != nil {
		if err := s.stat(n); err != nil {
			return nil, &os.PathError{Op: "stat", Path: n, Err: err}
		}
	}
	return s.Fs.Stat(n)
}

func (s *seam) MkdirAll(n string, p os.FileMode) error {
	if s.mkdir != nil {
		if err := s.mkdir(n); err != nil {
			return &os.PathError{Op: "mkdir", Path: n, Err: err}
		}
	}
	return s.Fs.MkdirAll(n, p)
}

func (s *seam) Rename(a, b string) error {
	if s.rename != nil {
		if err := s.rename(a, b); err != nil {
			return err
		}
	}
	return s.Fs.Rename(a, b)
}

func (s *seam) OpenFile(n string, flag int, p os.FileMode) (afero.File, error) {
	if s.openFile != nil {
		if err := s.openFile(n, flag); err != nil {
			return nil, &os.PathError{Op: "open", Path: n, Err: err}
		}
	}
	f, err := s.Fs.OpenFile(n, flag, p)
	if err != nil {
		return nil, err
	}
	return &seamFile{File: f, s: s}, nil
}

type seamFile struct {
	afero.File
	s *seam
}

func (f *seamFile) Stat() (os.FileInfo, error) {
	i, err := f.File.Stat()
	if err == nil && f.s.fstat != nil {
		if err := f.s.fstat(f.File); err != nil {
			return nil, err
		}
	}
	return i, err
}

func (f *seamFile) Close() error {
	err := f.File.Close()
	if err == nil && f.s.closed != nil {
		err = f.s.closed(f.Name())
	}
	return err
}

func (f *seamFile) Write(b []byte) (int, error) {
	if f.s.write != nil {
		if n, err, done := f.s.write(f.File, b); done {
			return n, err
		}
	}
	return f.File.Write(b)
}

func (f *seamFile) Truncate(n int64) error {
	if f.s.trunc != nil {
		if err := f.s.trunc(f.Name()); err != nil {
			return err
		}
	}
	return f.File.Truncate(n)
}

func disk(t *testing.T) (*seam, string) {
	dir := t.TempDir()
	return &seam{Fs: afero.NewOsFs()}, filepath.Join(dir, "2026-01-01T00-00-00-000Z_0123456789abcdef.jsonl")
}

func storeIn(fs afero.Fs, dir string, roots func(string) (session.FileRoot, bool)) *session.Store {
	return session.NewStore(session.StoreConfig{
		Fs: fs, DirFor: func(string) (string, error) { return dir, nil }, RootFor: roots, AfterFunc: never,
	})
}

// never is a clock that stands, so that nothing happens behind a test's back.
func never(time.Duration, func()) (stop func() bool) { return func() bool { return true } }

func foreign(t *testing.T, path string, lines ...string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	require.NoError(t, err)
	_, err = f.WriteString(strings.Join(lines, "\n") + "\n")
	require.NoError(t, err)
	require.NoError(t, f.Close())
}

func replaceWith(t *testing.T, path, content string) {
	t.Helper()
	require.NoError(t, os.WriteFile(path+".other", []byte(content), 0o600))
	require.NoError(t, os.Rename(path+".other", path))
}

func reopenTexts(t *testing.T, s *session.Store, path string) []string {
	t.Helper()
	l, err := s.Open(path)
	require.NoError(t, err)
	defer l.Close()
	return contextTexts(t, l)
}

func idCounts(t *testing.T, path string) map[string]int {
	t.Helper()
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	n := map[string]int{}
	for line := range strings.SplitSeq(string(b), "\n") {
		var e struct{ ID, Type string }
		if json.Unmarshal([]byte(line), &e) == nil && e.Type != "session" && e.ID != "" {
			n[e.ID]++
		}
	}
	return n
}

// TestStaleRewriteOrphansOurs: another program rewrites the file from stale memory; the entries we appended in
// this Log come back, but the ones they hang on (written by an earlier Log, or adopted)
// do not: the whole conversation vanishes from the context.
func TestStaleRewriteOrphansOurs(t *testing.T) {
	fs, path := disk(t)
	require.NoError(t, os.WriteFile(path, []byte(conversation()), 0o600))
	s := storeIn(fs, filepath.Dir(path), nil)
	first, err := s.Open(path) // an earlier run of the server
	require.NoError(t, err)
	mustAppend(t, first, say("user", "three"))
	mustAppend(t, first, say("assistant", "four"))
	require.NoError(t, first.Close())

	l, err := s.Open(path)
	require.NoError(t, err)
	mustAppend(t, l, say("user", "five"))
	replaceWith(t, path, conversation()) // a CLI that loaded at "two" sets a title
	mustAppend(t, l, say("assistant", "six"))
	require.NoError(t, l.Close())
	require.Equal(t, []string{"one", "two", "three", "four", "five", "six"}, reopenTexts(t, s, path))
}

// TestForeignAppendDuringOursLosesLeaf: a foreign append between sync and the write makes the foreign entry the leaf,
// though ours is written behind it: our entry drops out of the conversation.
func TestForeignAppendDuringOursLosesLeaf(t *testing.T) {
	fs, path := disk(t)
	require.NoError(t, os.WriteFile(path, []byte(conversation()), 0o600))
	s := storeIn(fs, filepath.Dir(path), nil)
	l, err := s.Open(path)
	require.NoError(t, err)
	fired := false
	fs.openFile = func(name string, flag int) error {
		if name == path && !fired {
			fired = true
			foreign(t, path, st.User("ffffffff", "bbbbbbbb", "foreign"))
		}
		return nil
	}
	x := mustAppend(t, l, say("user", "X"))
	t.Log("leaf after Append:", l.LeafID(), "want", x)
	mustAppend(t, l, say("assistant", "answer to X"))
	require.NoError(t, l.Close())
	got := reopenTexts(t, s, path)
	require.Contains(t, got, "X")
}

// TestFailedAppendThenForeign: the same without any race: an append failed (disk full), a foreign entry came.
func TestFailedAppendThenForeign(t *testing.T) {
	fs, path := disk(t)
	require.NoError(t, os.WriteFile(path, []byte(conversation()), 0o600))
	s := storeIn(fs, filepath.Dir(path), nil)
	l, err := s.Open(path)
	require.NoError(t, err)
	fs.openFile = func(name string, flag int) error { return errors.New("no space") }
	_, err = l.Append(say("user", "X"))
	require.Error(t, err)
	fs.openFile = nil
	foreign(t, path, st.User("ffffffff", "bbbbbbbb", "foreign"))
	mustAppend(t, l, say("assistant", "answer to X"))
	require.NoError(t, l.Close())
	require.Contains(t, reopenTexts(t, s, path), "X")
}

// TestNewerVersionAfterReload: a foreign program upgrades the file to version 4 while we have it open; we go on
// appending.
func TestNewerVersionAfterReload(t *testing.T) {
	fs, path := disk(t)
	require.NoError(t, os.WriteFile(path, []byte(conversation()), 0o600))
	s := storeIn(fs, filepath.Dir(path), nil)
	l, err := s.Open(path)
	require.NoError(t, err)
	v4 := strings.Replace(conversation(), `"version":3`, `"version":4`, 1)
	replaceWith(t, path, v4)
	_, err = l.Append(say("user", "X"))
	b, _ := os.ReadFile(path)
	require.Equal(t, v4, string(b))
	require.Error(t, err)
}

// TestNewerVersionTitle: the same through SetTitle.
func TestNewerVersionTitle(t *testing.T) {
	fs, path := disk(t)
	require.NoError(t, os.WriteFile(path, []byte(conversation()), 0o600))
	l, err := storeIn(fs, filepath.Dir(path), nil).Open(path)
	require.NoError(t, err)
	v4 := strings.Replace(conversation(), `"version":3`, `"version":4`, 1)
	replaceWith(t, path, v4)
	_, err = l.SetTitle(session.Title{Text: "t", Source: "user"})
	b, _ := os.ReadFile(path)
	require.Equal(t, v4, string(b))
	require.Error(t, err)
}

// TestCloseDoesNotRetryCreate: a new session whose first file could not be made is not retried by Flush or
// Close: the conversation is lost although the disk works again.
func TestCloseDoesNotRetryCreate(t *testing.T) {
	fs, path := disk(t)
	s := storeIn(fs, filepath.Dir(path), nil)
	l, err := s.Create("/w", session.NewOptions{})
	require.NoError(t, err)
	mustAppend(t, l, say("user", "one"))
	fs.mkdir = func(string) error { return errors.New("no space") }
	_, err = l.Append(say("assistant", "two"))
	require.Error(t, err)
	fs.mkdir = nil // there is space again
	require.NoError(t, l.Flush())
	require.NoError(t, l.Close())
	_, err = os.Stat(l.Path())
	require.NoError(t, err)
}

// TestFileComesBack: the file is away for a moment (network drive, Windows swap through .bak); once it
// is back nothing is ever written to it again.
func TestFileComesBack(t *testing.T) {
	fs, path := disk(t)
	require.NoError(t, os.WriteFile(path, []byte(conversation()), 0o600))
	s := storeIn(fs, filepath.Dir(path), nil)
	l, err := s.Open(path)
	require.NoError(t, err)
	require.NoError(t, os.Rename(path, path+".bak"))
	fs.mkdir = func(string) error { return errors.New("not mounted") }
	_, err = l.Append(say("user", "X"))
	require.Error(t, err)
	fs.mkdir = nil
	require.NoError(t, os.Rename(path+".bak", path))
	_, err = l.Append(say("assistant", "Y"))
	require.NoError(t, err)
	require.NoError(t, l.Close())
	require.Equal(t, []string{"one", "two", "X", "Y"}, reopenTexts(t, s, path))
}

const slot = `{"type":"title","v":1,"title":"My title","source":"user","updatedAt":"2026-01-01T00:00:00.000Z","pad":"`

func slotLine() string { return slot + strings.Repeat(" ", 255-len(slot)-2) + `"}` }

// TestReviveLosesSlot: an omp session deleted while open comes back without its title slot, and
// so without its title; unreadable lines are lost too.
func TestReviveLosesSlot(t *testing.T) {
	fs, path := disk(t)
	require.NoError(t, os.WriteFile(path, []byte(slotLine()+"\n"+conversation()+"{\"torn\n"), 0o600))
	s := storeIn(fs, filepath.Dir(path), nil)
	l, err := s.Open(path)
	require.NoError(t, err)
	require.Equal(t, "My title", l.Title().Text)
	require.NoError(t, os.Remove(path))
	mustAppend(t, l, say("user", "X"))
	require.Equal(t, "My title", l.Title().Text)
	b, _ := os.ReadFile(path)
	require.Contains(t, string(b), `"torn`)
}

// TestCloseErrorDuplicates: a failing close after a write that succeeded (NFS) duplicates the entries.
func TestCloseErrorDuplicates(t *testing.T) {
	fs, path := disk(t)
	require.NoError(t, os.WriteFile(path, []byte(conversation()), 0o600))
	s := storeIn(fs, filepath.Dir(path), nil)
	l, err := s.Open(path)
	require.NoError(t, err)
	fs.closed = func(string) error { return errors.New("EIO") }
	x, err := l.Append(say("user", "X"))
	require.Error(t, err)
	fs.closed = nil
	mustAppend(t, l, say("assistant", "Y"))
	require.NoError(t, l.Close())
	require.Equal(t, 1, idCounts(t, path)[x])
}

// TestShortWriteDuplicates: a short write of several entries that cannot be taken back duplicates those
// that were written whole.
func TestShortWriteDuplicates(t *testing.T) {
	fs, path := disk(t)
	require.NoError(t, os.WriteFile(path, []byte(conversation()), 0o600))
	s := storeIn(fs, filepath.Dir(path), nil)
	l, err := s.Open(path)
	require.NoError(t, err)
	fs.openFile = func(string, int) error { return errors.New("EIO") }
	a, err := l.Append(say("user", "A"))
	require.Error(t, err)
	fs.openFile = nil
	fs.trunc = func(string) error { return errors.New("EIO") }
	fs.write = func(f afero.File, b []byte) (int, error, bool) {
		n, _ := f.Write(b[:len(b)-10])
		return n, errors.New("EIO"), true
	}
	_, err = l.Append(say("assistant", "B"))
	require.Error(t, err)
	fs.trunc, fs.write = nil, nil
	mustAppend(t, l, say("user", "C"))
	require.NoError(t, l.Close())
	require.Equal(t, 1, idCounts(t, path)[a])
}

// TestReopenFailsDuplicates: reading back what was just written fails once: all entries are written twice.
func TestReopenFailsDuplicates(t *testing.T) {
	fs, path := disk(t)
	s := storeIn(fs, filepath.Dir(path), nil)
	l, err := s.Create("/w", session.NewOptions{})
	require.NoError(t, err)
	a := mustAppend(t, l, say("user", "A"))
	fs.open = func(name string) error {
		if name == l.Path() {
			return errors.New("too many open files")
		}
		return nil
	}
	_, err = l.Append(say("assistant", "B"))
	require.Error(t, err)
	fs.open = nil
	mustAppend(t, l, say("user", "C"))
	require.NoError(t, l.Close())
	require.Equal(t, 1, idCounts(t, l.Path())[a])
	require.Equal(t, []string{"A", "B", "C"}, reopenTexts(t, s, l.Path()))
}

// TestForeignBetweenStatAndWrite: a foreign append between our stat and our write is never indexed, and what is
// adopted instead is half of a line.
func TestForeignBetweenStatAndWrite(t *testing.T) {
	fs, path := disk(t)
	require.NoError(t, os.WriteFile(path, []byte(conversation()), 0o600))
	s := storeIn(fs, filepath.Dir(path), nil)
	l, err := s.Open(path)
	require.NoError(t, err)
	fired := false
	fs.fstat = func(afero.File) error {
		if !fired {
			fired = true
			foreign(t, path, st.User("ffffffff", "bbbbbbbb", "foreign"))
		}
		return nil
	}
	mustAppend(t, l, say("user", "X"))
	mustAppend(t, l, say("assistant", "Y"))
	require.NoError(t, l.View(func(d *session.Document, _ session.Leaf) error {
		for _, p := range d.Problems() {
			t.Log(p)
		}
		_, err := d.Index("ffffffff")
		require.NoError(t, err)
		require.Empty(t, d.Problems())
		return nil
	}))
}

// TestLongTitleHangs: renaming an omp session to a long title takes quadratic time.
func TestLongTitleHangs(t *testing.T) {
	fs, path := disk(t)
	require.NoError(t, os.WriteFile(path, []byte(slotLine()+"\n"+conversation()), 0o600))
	l, err := storeIn(fs, filepath.Dir(path), nil).Open(path)
	require.NoError(t, err)
	start := time.Now()
	_, err = l.SetTitle(session.Title{Text: strings.Repeat("x", 40_000), Source: "user"})
	require.NoError(t, err)
	t.Log(time.Since(start))
	require.Less(t, time.Since(start), time.Second)
}

// TestErrSticksAfterRename: after a failed append a rename writes everything, but the session goes on
// saying that it cannot be saved, and Close fails.
func TestErrSticksAfterRename(t *testing.T) {
	fs, path := disk(t)
	require.NoError(t, os.WriteFile(path, []byte(conversation()), 0o600))
	s := storeIn(fs, filepath.Dir(path), nil)
	l, err := s.Open(path)
	require.NoError(t, err)
	fs.openFile = func(string, int) error { return errors.New("EIO") }
	_, err = l.Append(say("user", "X"))
	require.Error(t, err)
	fs.openFile = nil
	_, err = l.SetTitle(session.Title{Text: "t", Source: "user"})
	require.NoError(t, err)
	require.Equal(t, []string{"one", "two", "X"}, reopenTexts(t, s, path))
	require.NoError(t, l.Err())
	require.NoError(t, l.Close())
}

// TestUsageInf: numbers beyond float64 make the usage infinite, which no JSON can carry.
func TestUsageInf(t *testing.T) {
	line := st.Assistant("bbbbbbbb", "aaaaaaaa", "two")
	i := strings.Index(line, `"usage":`)
	if i < 0 {
		line = strings.Replace(line, `"role":"assistant"`, `"role":"assistant","usage":{"input":1e400}`, 1)
	} else {
		line = strings.Replace(line, `"usage":{`, `"usage":{"cacheRead":1e400,`, 1)
		line = strings.Replace(line, `"role":"assistant"`, `"role":"assistant"`, 1)
	}
	t.Log(line)
	doc, err := session.Parse([]byte(st.File(st.Header("0123456789abcdef", "/w"), st.User("aaaaaaaa", "", "one"),
		`{"type":"message","id":"cccccccc","parentId":"aaaaaaaa","timestamp":"2026-01-01T00:00:00.000Z","message":{"role":"assistant","content":[],"usage":{"input":1e400,"cost":{"total":1e308}}}}`)))
	require.NoError(t, err)
	u, err := doc.Usage()
	require.NoError(t, err)
	_, err = json.Marshal(u)
	require.NoError(t, err)
}

// TestForkAtLabelKept: a fork at an entry loses what a compaction keeps when that starts at a label.
func TestForkAtLabelKept(t *testing.T) {
	fs, path := disk(t)
	require.NoError(t, os.WriteFile(path, []byte(st.File(
		st.Header("0123456789abcdef", "/w"),
		st.User("aaaaaaaa", "", "one"), st.Assistant("bbbbbbbb", "aaaaaaaa", "two"),
		`{"type":"label","id":"11111111","parentId":"bbbbbbbb","timestamp":"2026-01-01T00:00:00.000Z","targetId":"aaaaaaaa","label":"here"}`,
		st.User("cccccccc", "11111111", "three"),
		`{"type":"compaction","id":"22222222","parentId":"cccccccc","timestamp":"2026-01-01T00:00:00.000Z","summary":"s","firstKeptEntryId":"11111111","tokensBefore":1}`,
		st.User("dddddddd", "22222222", "four"),
	)), 0o600))
	s := storeIn(fs, filepath.Dir(path), nil)
	l, err := s.Open(path)
	require.NoError(t, err)
	before := contextTexts(t, l)
	f, _, err := s.ForkAt(l, "dddddddd", session.AtIt)
	require.NoError(t, err)
	require.Equal(t, before, contextTexts(t, f))
}

// TestRulesQuadratic: rules are gathered in quadratic time.
func TestRulesQuadratic(t *testing.T) {
	var rules []string
	for i := range 60_000 {
		rules = append(rules, strings.Repeat("r", 8)+string(rune('a'+i%26))+time.Duration(i).String())
	}
	b, _ := json.Marshal(rules)
	doc, err := session.Parse([]byte(st.File(st.Header("0123456789abcdef", "/w"),
		`{"type":"ttsr_injection","id":"aaaaaaaa","parentId":null,"timestamp":"2026-01-01T00:00:00.000Z","injectedRules":`+string(b)+`}`)))
	require.NoError(t, err)
	start := time.Now()
	_, _, err = session.BuildContext(doc, session.AtLast(), nil)
	require.NoError(t, err)
	t.Log(len(b), "bytes", time.Since(start))
	require.Less(t, time.Since(start), time.Second)
}

// TestMultilineMessage: a message given as indented JSON is written over several lines.
func TestMultilineMessage(t *testing.T) {
	fs, path := disk(t)
	require.NoError(t, os.WriteFile(path, []byte(conversation()), 0o600))
	l, err := storeIn(fs, filepath.Dir(path), nil).Open(path)
	require.NoError(t, err)
	_, err = l.Append(session.DraftMessage(json.RawMessage("{\n \"role\": \"user\",\n \"content\": \"bad \xff\"\n}")))
	b, _ := os.ReadFile(path)
	require.NoError(t, l.Close())
	if err == nil {
		require.Equal(t, 4, strings.Count(string(b), "\n"), "one line per entry")
	}
}

// TestAdoptedTitle: the title and what another program appended.
func TestAdoptedTitle(t *testing.T) {
	fs, path := disk(t)
	hdr := `{"type":"session","version":3,"id":"11111111-2222-3333-4444-555555555555","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w"}`
	require.NoError(t, os.WriteFile(path, []byte(st.File(hdr, st.User("aaaaaaaa", "", "one"))), 0o600))
	l, err := storeIn(fs, filepath.Dir(path), nil).Open(path)
	require.NoError(t, err)
	foreign(t, path, `{"type":"session_info","id":"bbbbbbbb","parentId":"aaaaaaaa","timestamp":"2026-01-01T00:00:00.000Z","name":"Named by pi"}`)
	mustAppend(t, l, say("user", "X"))
	require.Equal(t, "Named by pi", l.Title().Text)
}

// TestPiTitleIneffective: the title of a pi-looking file with a title in its header is stored where nobody reads it.
func TestPiTitleIneffective(t *testing.T) {
	fs, path := disk(t)
	hdr := `{"type":"session","version":3,"id":"11111111-2222-3333-4444-555555555555","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w","title":"old"}`
	require.NoError(t, os.WriteFile(path, []byte(st.File(hdr, st.User("aaaaaaaa", "", "one"))), 0o600))
	s := storeIn(fs, filepath.Dir(path), nil)
	l, err := s.Open(path)
	require.NoError(t, err)
	_, err = l.SetTitle(session.Title{Text: "new", Source: "user"})
	require.NoError(t, err)
	require.NoError(t, l.Close())
	l, err = s.Open(path)
	require.NoError(t, err)
	require.Equal(t, "new", l.Title().Text)
}

// TestArtifactsIntoThemselves: artifacts of a session beside the directory that the copy goes to are copied
// into themselves.
func TestArtifactsIntoThemselves(t *testing.T) {
	dir := t.TempDir()
	own := filepath.Join(dir, "sessions", "--w--")
	require.NoError(t, os.MkdirAll(own, 0o700))
	for _, name := range []string{"2025-01", "2025-02", "2025-03"} {
		require.NoError(t, os.WriteFile(filepath.Join(own, name+".jsonl"), []byte(conversation()), 0o600))
	}
	path := filepath.Join(dir, "sessions.jsonl") // somebody's concatenation or copy
	require.NoError(t, os.WriteFile(path, []byte(conversation()), 0o600))
	s := storeIn(afero.NewOsFs(), own, nil)
	l, err := s.ForkFrom(path, "/w")
	require.NoError(t, err)
	require.NoError(t, l.Close())
	files := 0
	require.NoError(t, filepath.Walk(dir, func(_ string, i os.FileInfo, err error) error {
		if err == nil && i.Mode().IsRegular() {
			files++
		}
		return nil
	}))
	t.Log(files, "files")
	require.LessOrEqual(t, files, 9)
}

// TestRealTarget: a rewrite through a link with .. below a linked directory replaces another file.
func TestRealTarget(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "b", "c"), 0o700))
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "a"), 0o700))
	require.NoError(t, os.Symlink(filepath.Join(dir, "b", "c"), filepath.Join(dir, "a", "link")))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "b", "x.jsonl"), []byte(conversation()), 0o600))
	require.NoError(t, os.Symlink("../x.jsonl", filepath.Join(dir, "b", "c", "s.jsonl")))
	victim := strings.Repeat("precious ", 200)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a", "x.jsonl"), []byte(victim), 0o600))
	l, err := storeIn(afero.NewOsFs(), dir, nil).Open(filepath.Join(dir, "a", "link", "s.jsonl"))
	require.NoError(t, err)
	_, err = l.SetTitle(session.Title{Text: "t", Source: "user"})
	t.Log(err)
	b, _ := os.ReadFile(filepath.Join(dir, "a", "x.jsonl"))
	require.Equal(t, victim, string(b))
}

// TestLeafMovesOnRename: a leaf chosen by a person moves when a rename renumbers the entries.
func TestLeafMovesOnRename(t *testing.T) {
	fs, path := disk(t)
	require.NoError(t, os.WriteFile(path, []byte(conversation()), 0o600))
	l, err := storeIn(fs, filepath.Dir(path), nil).Open(path)
	require.NoError(t, err)
	fs.openFile = func(string, int) error { return errors.New("EIO") }
	x, err := l.Append(say("user", "X"))
	require.Error(t, err)
	_, err = l.Append(say("user", "Y"))
	require.Error(t, err)
	fs.openFile = nil
	require.NoError(t, l.Branch(x))
	foreign(t, path, st.User("ffffffff", "bbbbbbbb", "foreign"))
	_, err = l.SetTitle(session.Title{Text: "t", Source: "user"})
	require.NoError(t, err)
	require.Equal(t, x, l.LeafID())
}

// TestRenameOfDeleted: renaming a session whose file was deleted reports success and writes nothing.
func TestRenameOfDeleted(t *testing.T) {
	fs, path := disk(t)
	require.NoError(t, os.WriteFile(path, []byte(conversation()), 0o600))
	l, err := storeIn(fs, filepath.Dir(path), nil).Open(path)
	require.NoError(t, err)
	require.NoError(t, os.Remove(path))
	changed, err := l.SetTitle(session.Title{Text: "t", Source: "user"})
	if err == nil && changed {
		require.NoError(t, l.Close())
		_, err = os.Stat(path)
		require.NoError(t, err)
	}
}

// TestRefusedBranchMovesLeaf: a refused branch with summary moves the leaf all the same.
func TestRefusedBranchMovesLeaf(t *testing.T) {
	fs, path := disk(t)
	require.NoError(t, os.WriteFile(path, []byte(strings.Replace(conversation(), `"version":3`, `"version":4`, 1)), 0o600))
	l, err := storeIn(fs, filepath.Dir(path), nil).Open(path)
	require.NoError(t, err)
	_, err = l.BranchWithSummary("aaaaaaaa", "s")
	require.Error(t, err)
	require.Equal(t, "bbbbbbbb", l.LeafID())
}

// TestSalvageKeepsID: salvage of a file whose header is fine keeps its id and names no parent.
func TestSalvageKeepsID(t *testing.T) {
	fs, path := disk(t)
	require.NoError(t, os.WriteFile(path, []byte(conversation()+"{torn\n"), 0o600))
	s := storeIn(fs, filepath.Dir(path), nil)
	_, err := s.Salvage(path, path+"2.jsonl", "/w")
	require.NoError(t, err)
	d, err := s.Load(path + "2.jsonl")
	require.NoError(t, err)
	require.NotEqual(t, "0123456789abcdef", d.Header().ID)
	require.Equal(t, path, d.Header().ParentSession)
}

// TestSalvageV1: salvage of a version 1 file leaves one message of the conversation.
func TestSalvageV1(t *testing.T) {
	fs, path := disk(t)
	v1 := func(role, text string) string {
		return `{"type":"message","timestamp":"2026-01-01T00:00:00.000Z","message":{"role":"` + role + `","content":"` + text + `"}}`
	}
	require.NoError(t, os.WriteFile(path, []byte(st.File(`{"type":"sess`, v1("user", "one"), v1("user", "two"), v1("user", "three"))), 0o600))
	s := storeIn(fs, filepath.Dir(path), nil)
	n, err := s.Salvage(path, path+"2.jsonl", "/w")
	require.NoError(t, err)
	require.Equal(t, 3, n)
	require.Equal(t, []string{"one", "two", "three"}, reopenTexts(t, s, path+"2.jsonl"))
}

// TestSalvageDialect: salvage of pi's session is read by xcsh's rules.
func TestSalvageDialect(t *testing.T) {
	fs, path := disk(t)
	roots := func(string) (session.FileRoot, bool) { return session.FileRoot{}, false }
	body := st.User("aaaaaaaa", "", "secret") + "\n" +
		`{"type":"context_edit","id":"bbbbbbbb","parentId":"aaaaaaaa","timestamp":"2026-01-01T00:00:00.000Z","targetId":"aaaaaaaa","replacement":null}` + "\n" +
		st.User("cccccccc", "bbbbbbbb", "two") + "\n"
	s := storeIn(fs, filepath.Dir(path), roots)
	require.NoError(t, os.WriteFile(path, []byte(`{"type":"session","version":3,"id":"11111111-2222-3333-4444-555555555555","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w"}`+"\n"+body), 0o600))
	want := reopenTexts(t, s, path)
	require.Equal(t, []string{"two"}, want)
	require.NoError(t, os.WriteFile(path, []byte(`{"type":"session","ver`+"\n"+body), 0o600))
	_, err := s.Salvage(path, path+"2.jsonl", "/w")
	require.NoError(t, err)
	require.Equal(t, want, reopenTexts(t, s, path+"2.jsonl"))
}

// TestHugeVersion: a huge version is taken for version 1.
func TestHugeVersion(t *testing.T) {
	doc, err := session.Parse([]byte(strings.Replace(conversation(), `"version":3`, `"version":1e400`, 1)))
	require.NoError(t, err)
	require.Greater(t, doc.Header().Version, 3)
}

// TestReplayMetadata: replay metadata that xcsh strips on load is shown to the model.
func TestReplayMetadata(t *testing.T) {
	doc, err := session.Parse([]byte(st.File(st.Header("0123456789abcdef", "/w"), st.User("aaaaaaaa", "", "one"),
		`{"type":"message","id":"bbbbbbbb","parentId":"aaaaaaaa","timestamp":"2026-01-01T00:00:00.000Z","message":{"role":"assistant","content":[{"type":"thinking","thinking":"t","thinkingSignature":"sig"},{"type":"text","text":"two"}],"provider":"openai","model":"m","providerPayload":{"type":"openaiResponsesHistory","provider":"openai","items":[]}}}`)))
	require.NoError(t, err)
	ctx, _, err := session.BuildContext(doc, session.AtLast(), nil)
	require.NoError(t, err)
	require.NotContains(t, string(ctx.Messages[1]), "providerPayload")
	require.NotContains(t, string(ctx.Messages[1]), "thinkingSignature")
}

// TestImagesQuadratic: image references are resolved in quadratic time.
func TestImagesQuadratic(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"type":"message","id":"aaaaaaaa","parentId":null,"timestamp":"2026-01-01T00:00:00.000Z","message":{"role":"user"`)
	for range 8_000 {
		b.WriteString(`,"data":"blob:sha256:` + strings.Repeat("a", 64) + `"`)
	}
	b.WriteString("}}")
	doc, err := session.Parse([]byte(st.File(st.Header("0123456789abcdef", "/w"), b.String())))
	require.NoError(t, err)
	start := time.Now()
	_, _, err = session.BuildContext(doc, session.AtLast(), session.BlobDir{Fs: afero.NewMemMapFs(), Dir: "/b"})
	require.NoError(t, err)
	t.Log(b.Len(), "bytes", time.Since(start))
	require.Less(t, time.Since(start), time.Second)
}

// TestLongLineMemory: one line of 200 MiB makes a listing allocate several times that.
func TestLongLineMemory(t *testing.T) {
	fs, path := disk(t)
	require.NoError(t, os.WriteFile(path, []byte(conversation()), 0o600))
	require.NoError(t, os.Truncate(path, 200<<20)) // NUL bytes, as a power loss leaves them
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	_, err := session.Describe(fs, path, session.Root{}, time.Now())
	require.NoError(t, err)
	runtime.ReadMemStats(&after)
	t.Log((after.TotalAlloc-before.TotalAlloc)>>20, "MiB allocated,", (after.HeapSys-before.HeapSys)>>20, "MiB more from the system")
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(200<<20))
}

// TestOmpConfigured: omp's configured level defaults to the level.
func TestOmpConfigured(t *testing.T) {
	doc, err := session.Parse([]byte(slotLine() + "\n" + st.File(st.Header("0123456789abcdef", "/w"),
		`{"type":"thinking_level_change","id":"aaaaaaaa","parentId":null,"timestamp":"2026-01-01T00:00:00.000Z","thinkingLevel":"high"}`)))
	require.NoError(t, err)
	ctx, _, err := session.BuildContext(doc, session.AtLast(), nil)
	require.NoError(t, err)
	require.Equal(t, "high", ctx.ConfiguredThinkingLevel)
}

// TestMigratedElsewhere: two v1 readers: a program that brought the file up to date draws other ids, and
// what we could not save hangs on ids that exist nowhere.
func TestMigratedElsewhere(t *testing.T) {
	fs, path := disk(t)
	v1 := func(role, text string) string {
		return `{"type":"message","timestamp":"2026-01-01T00:00:00.000Z","message":{"role":"` + role + `","content":"` + text + `"}}`
	}
	require.NoError(t, os.WriteFile(path, []byte(st.File(`{"type":"session","id":"0123456789abcdef","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w"}`, v1("user", "one"), v1("user", "two"))), 0o600))
	s := storeIn(fs, filepath.Dir(path), nil)
	l, err := s.Open(path)
	require.NoError(t, err)
	mustAppend(t, l, say("user", "X")) // rewritten with our ids
	replaceWith(t, path, st.File(st.Header("0123456789abcdef", "/w"), st.User("10000001", "", "one"), st.User("10000002", "10000001", "two"), st.User("10000003", "10000002", "cli")))
	mustAppend(t, l, say("user", "Y"))
	require.NoError(t, l.Close())
	got := reopenTexts(t, s, path)
	require.Contains(t, got, "one", "%v", got)
}

// TestInPlaceRewrite: a file that shrinks and grows again in place (a program that writes over it) is
// taken for one that was appended to.
func TestInPlaceRewrite(t *testing.T) {
	fs, path := disk(t)
	require.NoError(t, os.WriteFile(path, []byte(conversation()), 0o600))
	s := storeIn(fs, filepath.Dir(path), nil)
	l, err := s.Open(path)
	require.NoError(t, err)
	// pi rewrites in place: truncate, write; here with an edited first message.
	other := st.File(st.Header("0123456789abcdef", "/w"), st.User("aaaaaaaa", "", "one, edited and longer"), st.Assistant("bbbbbbbb", "aaaaaaaa", "two"), st.User("cccccccc", "bbbbbbbb", "three"))
	require.NoError(t, os.WriteFile(path, []byte(other), 0o600))
	mustAppend(t, l, say("user", "X"))
	require.Equal(t, reopenTexts(t, s, path), contextTexts(t, l))
}

// TestFusedV1Index: a session of a version before 2 whose reader counts two values of one line.
func TestFusedV1Index(t *testing.T) {
	msg := func(text string) string {
		return `{"type":"message","timestamp":"2026-01-01T00:00:00.000Z","message":{"role":"user","content":"` + text + `"}}`
	}
	doc, err := session.Parse([]byte(st.File(`{"type":"session","id":"0123456789abcdef","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w"}`,
		msg("1")+msg("1b"), msg("2"), msg("3"), `{"type":"compaction","timestamp":"2026-01-01T00:00:00.000Z","summary":"s","firstKeptEntryIndex":3}`)))
	require.NoError(t, err)
	ctx, _, err := session.BuildContext(doc, session.AtLast(), nil)
	require.NoError(t, err)
	require.Equal(t, []string{"3"}, texts(ctx)) // xcsh: header 0, 1, 2, 3
}

// TestTwoLogsInterleaved: what two of our own servers write at the same time, each through its own Log.
func TestTwoLogsInterleaved(t *testing.T) {
	fs, path := disk(t)
	require.NoError(t, os.WriteFile(path, []byte(conversation()), 0o600))
	s := storeIn(fs, filepath.Dir(path), nil)
	var done sync.WaitGroup
	logs := make([]*session.Log, 2)
	for k := range logs {
		l, err := s.Open(path)
		require.NoError(t, err)
		logs[k] = l
		done.Go(func() {
			for range 300 {
				if _, err := l.Append(say("user", "x")); err != nil {
					t.Error(err)
				}
			}
		})
	}
	done.Wait()
	for _, l := range logs {
		require.NoError(t, l.Close())
	}
	for id, n := range idCounts(t, path) {
		require.Equal(t, 1, n, id)
	}
	require.Len(t, idCounts(t, path), 602)
	onDisk, err := s.Load(path)
	require.NoError(t, err)
	require.Empty(t, onDisk.Problems())
	for k, l := range logs {
		require.NoError(t, l.View(func(d *session.Document, _ session.Leaf) error {
			t.Log("log", k, "knows", d.Len(), "problems", len(d.Problems()))
			if len(d.Problems()) > 0 {
				t.Error("false problem:", d.Problems()[0])
			}
			return nil
		}))
	}
}

// TestAppendAgainstRename: one writer appends, the other renames.
func TestAppendAgainstRename(t *testing.T) {
	fs, path := disk(t)
	require.NoError(t, os.WriteFile(path, []byte(conversation()), 0o600))
	s := storeIn(fs, filepath.Dir(path), nil)
	a, err := s.Open(path)
	require.NoError(t, err)
	b, err := s.Open(path)
	require.NoError(t, err)
	var done sync.WaitGroup
	acked := map[string]bool{}
	done.Go(func() {
		for range 300 {
			if id, err := a.Append(say("user", "x")); err == nil {
				acked[id] = true
			}
		}
	})
	done.Go(func() {
		for i := range 100 {
			_, _ = b.SetTitle(session.Title{Text: strings.Repeat("t", i+1), Source: "user"})
		}
	})
	done.Wait()
	require.NoError(t, errors.Join(a.Close(), b.Close()))
	n := idCounts(t, path)
	lost, twice := 0, 0
	for id := range acked {
		if n[id] == 0 {
			lost++
		}
		if n[id] > 1 {
			twice++
		}
	}
	t.Log(len(acked), "acknowledged,", lost, "lost,", twice, "twice")
	require.Zero(t, lost+twice)
}

// TestAppendToUnlinked: the file is replaced between our look at it and our write: the entry goes to the
// old file, which has no name any more, is acknowledged, and Close does not notice.
func TestAppendToUnlinked(t *testing.T) {
	fs, path := disk(t)
	require.NoError(t, os.WriteFile(path, []byte(conversation()), 0o600))
	s := storeIn(fs, filepath.Dir(path), nil)
	l, err := s.Open(path)
	require.NoError(t, err)
	fired := false
	fs.fstat = func(afero.File) error {
		if !fired {
			fired = true
			replaceWith(t, path, strings.Replace(conversation(), `"cwd"`, `"title":"t","cwd"`, 1)) // a CLI names the session
		}
		return nil
	}
	mustAppend(t, l, say("user", "X"))
	require.NoError(t, l.Close())
	require.Contains(t, reopenTexts(t, s, path), "X")
}

// TestRewriteErasesForeignAppend: what another program appends between our last look and our rename is erased.
func TestRewriteErasesForeignAppend(t *testing.T) {
	fs, path := disk(t)
	require.NoError(t, os.WriteFile(path, []byte(conversation()), 0o600))
	s := storeIn(fs, filepath.Dir(path), nil)
	l, err := s.Open(path)
	require.NoError(t, err)
	fs.rename = func(string, string) error {
		foreign(t, path, st.User("ffffffff", "bbbbbbbb", "foreign"))
		return nil
	}
	_, err = l.SetTitle(session.Title{Text: "t", Source: "user"})
	require.NoError(t, err)
	fs.rename = nil
	require.NoError(t, l.Close())
	require.Contains(t, reopenTexts(t, s, path), "foreign")
}

// TestCloseDoesNotNoticeLoss: a stale rewrite behind our last append is not noticed by Flush or Close.
func TestCloseDoesNotNoticeLoss(t *testing.T) {
	fs, path := disk(t)
	require.NoError(t, os.WriteFile(path, []byte(conversation()), 0o600))
	s := storeIn(fs, filepath.Dir(path), nil)
	l, err := s.Open(path)
	require.NoError(t, err)
	mustAppend(t, l, say("user", "X"))
	mustAppend(t, l, say("assistant", "Y"))
	replaceWith(t, path, conversation()) // a CLI that loaded before names the session
	require.NoError(t, l.Flush())
	require.NoError(t, l.Close())
	require.Equal(t, []string{"one", "two", "X", "Y"}, reopenTexts(t, s, path))
}

// TestAutoReplacesUserTitle: a user's name is replaced by an automatic one when the name was given elsewhere:
// omp and pi store it without changing what sync looks at, or behind our last line.
func TestAutoReplacesUserTitle(t *testing.T) {
	fs, path := disk(t)
	auto := strings.Replace(slotLine(), `"source":"user"`, `"source":"auto"`, 1)
	require.NoError(t, os.WriteFile(path, []byte(auto+"\n"+conversation()), 0o600))
	l, err := storeIn(fs, filepath.Dir(path), nil).Open(path)
	require.NoError(t, err)
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	require.NoError(t, err)
	_, err = f.WriteAt([]byte(slotLine()), 0) // omp: /rename, in place
	require.NoError(t, err)
	require.NoError(t, f.Close())
	changed, err := l.SetTitle(session.Title{Text: "automatic", Source: "auto"})
	require.NoError(t, err)
	require.False(t, changed)
}

// TestEmptied: a session in which nothing can be read any more because it was emptied in place
// keeps its conversation in memory and cannot save it anywhere.
func TestEmptied(t *testing.T) {
	fs, path := disk(t)
	require.NoError(t, os.WriteFile(path, []byte(conversation()), 0o600))
	s := storeIn(fs, filepath.Dir(path), nil)
	l, err := s.Open(path)
	require.NoError(t, err)
	require.NoError(t, os.Truncate(path, 0)) // power loss, or a rewrite that failed half-way
	_, err = l.Append(say("user", "X"))
	t.Log(err)
	require.Error(t, err)
	_, err = s.Fork(l) // saved elsewhere
	require.NoError(t, err)
}
