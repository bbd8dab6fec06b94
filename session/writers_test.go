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

	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
	"github.com/xcsh-ls/xcsh-ls/internal/sessiontest/indexed"
	"github.com/xcsh-ls/xcsh-ls/internal/sessiontest/kit"
	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/library"
)

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

// TestStaleRewriteOrphansOurs: another program rewrites the file from stale memory; the entries appended by this Log
// come back, but their ancestors (written by an earlier Log, or adopted) do not: the whole conversation vanishes from
// the context.
func TestStaleRewriteOrphansOurs(t *testing.T) {
	fs, path := kit.Disk(t)
	require.NoError(t, os.WriteFile(path, []byte(kit.Conversation()), 0o600))
	s := kit.StoreIn(fs, filepath.Dir(path), nil)
	first, err := s.Open(path) // an earlier run of the server
	require.NoError(t, err)
	kit.MustAppend(t, first, kit.Say("user", "three"))
	kit.MustAppend(t, first, kit.Say("assistant", "four"))
	require.NoError(t, first.Close())

	l, err := s.Open(path)
	require.NoError(t, err)
	kit.MustAppend(t, l, kit.Say("user", "five"))
	replaceWith(t, path, kit.Conversation()) // a CLI that loaded at "two" sets a title
	kit.MustAppend(t, l, kit.Say("assistant", "six"))
	require.NoError(t, l.Close())
	require.Equal(t, []string{"one", "two", "three", "four", "five", "six"}, reopenTexts(t, s, path))
}

// TestForeignAppendDuringOursLosesLeaf: a foreign append between sync and the write makes the foreign entry the leaf,
// though our entry is written after it: our entry drops out of the conversation.
func TestForeignAppendDuringOursLosesLeaf(t *testing.T) {
	fs, path := kit.Disk(t)
	require.NoError(t, os.WriteFile(path, []byte(kit.Conversation()), 0o600))
	s := kit.StoreIn(fs, filepath.Dir(path), nil)
	l, err := s.Open(path)
	require.NoError(t, err)
	fired := false
	fs.OnOpenFile = func(name string, flag int) error {
		if name == path && !fired {
			fired = true
			foreign(t, path, st.User("ffffffff", "bbbbbbbb", "foreign"))
		}
		return nil
	}
	x := kit.MustAppend(t, l, kit.Say("user", "X"))
	t.Log("leaf after Append:", l.LeafID(), "want", x)
	kit.MustAppend(t, l, kit.Say("assistant", "answer to X"))
	require.NoError(t, l.Close())
	got := reopenTexts(t, s, path)
	require.Contains(t, got, "X")
}

// TestFailedAppendThenForeign: the same without a race: an append fails (disk full), then a foreign entry is appended.
func TestFailedAppendThenForeign(t *testing.T) {
	fs, path := kit.Disk(t)
	require.NoError(t, os.WriteFile(path, []byte(kit.Conversation()), 0o600))
	s := kit.StoreIn(fs, filepath.Dir(path), nil)
	l, err := s.Open(path)
	require.NoError(t, err)
	fs.OnOpenFile = func(name string, flag int) error { return errors.New("no space") }
	_, err = l.Append(kit.Say("user", "X"))
	require.Error(t, err)
	fs.OnOpenFile = nil
	foreign(t, path, st.User("ffffffff", "bbbbbbbb", "foreign"))
	kit.MustAppend(t, l, kit.Say("assistant", "answer to X"))
	require.NoError(t, l.Close())
	require.Contains(t, reopenTexts(t, s, path), "X")
}

// TestNewerVersionAfterReload: a foreign program upgrades the file to version 4 while it is open here; this Log
// continues to append.
func TestNewerVersionAfterReload(t *testing.T) {
	fs, path := kit.Disk(t)
	require.NoError(t, os.WriteFile(path, []byte(kit.Conversation()), 0o600))
	s := kit.StoreIn(fs, filepath.Dir(path), nil)
	l, err := s.Open(path)
	require.NoError(t, err)
	v4 := strings.Replace(kit.Conversation(), `"version":3`, `"version":4`, 1)
	replaceWith(t, path, v4)
	_, err = l.Append(kit.Say("user", "X"))
	b, _ := os.ReadFile(path)
	require.Equal(t, v4, string(b))
	require.Error(t, err)
}

// TestNewerVersionTitle: the same through SetTitle.
func TestNewerVersionTitle(t *testing.T) {
	fs, path := kit.Disk(t)
	require.NoError(t, os.WriteFile(path, []byte(kit.Conversation()), 0o600))
	l, err := kit.StoreIn(fs, filepath.Dir(path), nil).Open(path)
	require.NoError(t, err)
	v4 := strings.Replace(kit.Conversation(), `"version":3`, `"version":4`, 1)
	replaceWith(t, path, v4)
	_, err = l.SetTitle(session.Title{Text: "t", Source: "user"})
	b, _ := os.ReadFile(path)
	require.Equal(t, v4, string(b))
	require.Error(t, err)
}

// TestCloseDoesNotRetryCreate: Flush and Close do not retry the creation of a new session's file: the conversation is
// lost although the disk works again.
func TestCloseDoesNotRetryCreate(t *testing.T) {
	fs, path := kit.Disk(t)
	s := kit.StoreIn(fs, filepath.Dir(path), nil)
	l, err := s.Create("/w", session.NewOptions{})
	require.NoError(t, err)
	kit.MustAppend(t, l, kit.Say("user", "one"))
	fs.OnMkdir = func(string) error { return errors.New("no space") }
	_, err = l.Append(kit.Say("assistant", "two"))
	require.Error(t, err)
	fs.OnMkdir = nil // there is space again
	require.NoError(t, l.Flush())
	require.NoError(t, l.Close())
	_, err = os.Stat(l.Path())
	require.NoError(t, err)
}

// TestFileComesBack: the file is missing for a moment (network drive, Windows swap through .bak); once it is back,
// nothing is ever written to it again.
func TestFileComesBack(t *testing.T) {
	fs, path := kit.Disk(t)
	require.NoError(t, os.WriteFile(path, []byte(kit.Conversation()), 0o600))
	s := kit.StoreIn(fs, filepath.Dir(path), nil)
	l, err := s.Open(path)
	require.NoError(t, err)
	require.NoError(t, os.Rename(path, path+".bak"))
	fs.OnMkdir = func(string) error { return errors.New("not mounted") }
	_, err = l.Append(kit.Say("user", "X"))
	require.Error(t, err)
	fs.OnMkdir = nil
	require.NoError(t, os.Rename(path+".bak", path))
	_, err = l.Append(kit.Say("assistant", "Y"))
	require.NoError(t, err)
	require.NoError(t, l.Close())
	require.Equal(t, []string{"one", "two", "X", "Y"}, reopenTexts(t, s, path))
}

// TestReviveLosesSlot: an omp session deleted while open is written again without its title slot, and so without its
// title; unreadable lines are lost too.
func TestReviveLosesSlot(t *testing.T) {
	fs, path := kit.Disk(t)
	require.NoError(t, os.WriteFile(path, []byte(kit.SlotLine()+"\n"+kit.Conversation()+"{\"torn\n"), 0o600))
	s := kit.StoreIn(fs, filepath.Dir(path), nil)
	l, err := s.Open(path)
	require.NoError(t, err)
	require.Equal(t, "My title", l.Title().Text)
	require.NoError(t, os.Remove(path))
	kit.MustAppend(t, l, kit.Say("user", "X"))
	require.Equal(t, "My title", l.Title().Text)
	b, _ := os.ReadFile(path)
	require.Contains(t, string(b), `"torn`)
}

// TestCloseErrorDuplicates: a failing close after a write that succeeded (NFS) duplicates the entries.
func TestCloseErrorDuplicates(t *testing.T) {
	fs, path := kit.Disk(t)
	require.NoError(t, os.WriteFile(path, []byte(kit.Conversation()), 0o600))
	s := kit.StoreIn(fs, filepath.Dir(path), nil)
	l, err := s.Open(path)
	require.NoError(t, err)
	fs.Closed = func(string) error { return errors.New("EIO") }
	x, err := l.Append(kit.Say("user", "X"))
	require.Error(t, err)
	fs.Closed = nil
	kit.MustAppend(t, l, kit.Say("assistant", "Y"))
	require.NoError(t, l.Close())
	require.Equal(t, 1, idCounts(t, path)[x])
}

// TestShortWriteDuplicates: a short write of several entries that cannot be undone duplicates the entries that were
// written completely.
func TestShortWriteDuplicates(t *testing.T) {
	fs, path := kit.Disk(t)
	require.NoError(t, os.WriteFile(path, []byte(kit.Conversation()), 0o600))
	s := kit.StoreIn(fs, filepath.Dir(path), nil)
	l, err := s.Open(path)
	require.NoError(t, err)
	fs.OnOpenFile = func(string, int) error { return errors.New("EIO") }
	a, err := l.Append(kit.Say("user", "A"))
	require.Error(t, err)
	fs.OnOpenFile = nil
	fs.Trunc = func(string) error { return errors.New("EIO") }
	fs.Write = func(f afero.File, b []byte) (int, error, bool) {
		n, _ := f.Write(b[:len(b)-10])
		return n, errors.New("EIO"), true
	}
	_, err = l.Append(kit.Say("assistant", "B"))
	require.Error(t, err)
	fs.Trunc, fs.Write = nil, nil
	kit.MustAppend(t, l, kit.Say("user", "C"))
	require.NoError(t, l.Close())
	require.Equal(t, 1, idCounts(t, path)[a])
}

// TestReopenFailsDuplicates: rereading the file just written fails once: all entries are written twice.
func TestReopenFailsDuplicates(t *testing.T) {
	fs, path := kit.Disk(t)
	s := kit.StoreIn(fs, filepath.Dir(path), nil)
	l, err := s.Create("/w", session.NewOptions{})
	require.NoError(t, err)
	a := kit.MustAppend(t, l, kit.Say("user", "A"))
	fs.OnOpen = func(name string) error {
		if name == l.Path() {
			return errors.New("too many open files")
		}
		return nil
	}
	_, err = l.Append(kit.Say("assistant", "B"))
	require.Error(t, err)
	fs.OnOpen = nil
	kit.MustAppend(t, l, kit.Say("user", "C"))
	require.NoError(t, l.Close())
	require.Equal(t, 1, idCounts(t, l.Path())[a])
	require.Equal(t, []string{"A", "B", "C"}, reopenTexts(t, s, l.Path()))
}

// TestForeignBetweenStatAndWrite: a foreign append between our stat and our write is never indexed, and half a line is
// adopted instead.
func TestForeignBetweenStatAndWrite(t *testing.T) {
	fs, path := kit.Disk(t)
	require.NoError(t, os.WriteFile(path, []byte(kit.Conversation()), 0o600))
	s := kit.StoreIn(fs, filepath.Dir(path), nil)
	l, err := s.Open(path)
	require.NoError(t, err)
	fired := false
	fs.Fstat = func(afero.File) error {
		if !fired {
			fired = true
			foreign(t, path, st.User("ffffffff", "bbbbbbbb", "foreign"))
		}
		return nil
	}
	kit.MustAppend(t, l, kit.Say("user", "X"))
	kit.MustAppend(t, l, kit.Say("assistant", "Y"))
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

// requireFast fails if each of five calls takes a second or more. A busy machine makes some calls slow, a quadratic
// algorithm all of them.
func requireFast(t *testing.T, f func()) {
	t.Helper()
	for range 5 {
		start := time.Now()
		f()
		if time.Since(start) < time.Second {
			return
		}
	}
	require.Fail(t, "it takes a second or more")
}

// TestLongTitleHangs: renaming an omp session to a long title takes quadratic time.
func TestLongTitleHangs(t *testing.T) {
	fs, path := kit.Disk(t)
	require.NoError(t, os.WriteFile(path, []byte(kit.SlotLine()+"\n"+kit.Conversation()), 0o600))
	l, err := kit.StoreIn(fs, filepath.Dir(path), nil).Open(path)
	require.NoError(t, err)
	letter := 'a'
	requireFast(t, func() {
		letter++ // the same title again would not be written
		_, err = l.SetTitle(session.Title{Text: strings.Repeat(string(letter), 40_000), Source: "user"})
		require.NoError(t, err)
	})
}

// TestErrSticksAfterRename: after a failed append a rename writes everything, but the session still reports that it
// cannot be saved, and Close fails.
func TestErrSticksAfterRename(t *testing.T) {
	fs, path := kit.Disk(t)
	require.NoError(t, os.WriteFile(path, []byte(kit.Conversation()), 0o600))
	s := kit.StoreIn(fs, filepath.Dir(path), nil)
	l, err := s.Open(path)
	require.NoError(t, err)
	fs.OnOpenFile = func(string, int) error { return errors.New("EIO") }
	_, err = l.Append(kit.Say("user", "X"))
	require.Error(t, err)
	fs.OnOpenFile = nil
	_, err = l.SetTitle(session.Title{Text: "t", Source: "user"})
	require.NoError(t, err)
	require.Equal(t, []string{"one", "two", "X"}, reopenTexts(t, s, path))
	require.NoError(t, l.Err())
	require.NoError(t, l.Close())
}

// TestUsageInf: numbers beyond float64 make the usage infinite, which JSON cannot represent.
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

// TestForkAtLabelKept: a fork at an entry loses the entries that a compaction keeps from a label on.
func TestForkAtLabelKept(t *testing.T) {
	fs, path := kit.Disk(t)
	require.NoError(t, os.WriteFile(path, []byte(st.File(
		st.Header("0123456789abcdef", "/w"),
		st.User("aaaaaaaa", "", "one"), st.Assistant("bbbbbbbb", "aaaaaaaa", "two"),
		`{"type":"label","id":"11111111","parentId":"bbbbbbbb","timestamp":"2026-01-01T00:00:00.000Z","targetId":"aaaaaaaa","label":"here"}`,
		st.User("cccccccc", "11111111", "three"),
		`{"type":"compaction","id":"22222222","parentId":"cccccccc","timestamp":"2026-01-01T00:00:00.000Z","summary":"s","firstKeptEntryId":"11111111","tokensBefore":1}`,
		st.User("dddddddd", "22222222", "four"),
	)), 0o600))
	s := kit.StoreIn(fs, filepath.Dir(path), nil)
	l, err := s.Open(path)
	require.NoError(t, err)
	before := contextTexts(t, l)
	f, _, err := s.ForkAt(l, "dddddddd", session.AtIt)
	require.NoError(t, err)
	require.Equal(t, before, contextTexts(t, f))
}

// TestRulesQuadratic: rules are collected in quadratic time.
func TestRulesQuadratic(t *testing.T) {
	var rules []string
	for i := range 60_000 {
		rules = append(rules, strings.Repeat("r", 8)+string(rune('a'+i%26))+time.Duration(i).String())
	}
	b, _ := json.Marshal(rules)
	doc, err := session.Parse([]byte(st.File(st.Header("0123456789abcdef", "/w"),
		`{"type":"ttsr_injection","id":"aaaaaaaa","parentId":null,"timestamp":"2026-01-01T00:00:00.000Z","injectedRules":`+string(b)+`}`)))
	require.NoError(t, err)
	requireFast(t, func() {
		_, _, err = session.BuildContext(doc, session.AtLast(), nil)
		require.NoError(t, err)
	})
}

// TestMultilineMessage: a message given as indented JSON is written over several lines.
func TestMultilineMessage(t *testing.T) {
	fs, path := kit.Disk(t)
	require.NoError(t, os.WriteFile(path, []byte(kit.Conversation()), 0o600))
	l, err := kit.StoreIn(fs, filepath.Dir(path), nil).Open(path)
	require.NoError(t, err)
	_, err = l.Append(session.DraftMessage(json.RawMessage("{\n \"role\": \"user\",\n \"content\": \"bad \xff\"\n}")))
	b, _ := os.ReadFile(path)
	require.NoError(t, l.Close())
	if err == nil {
		require.Equal(t, 4, strings.Count(string(b), "\n"), "one line per entry")
	}
}

// TestAdoptedTitle: the title set by an entry that another program appended.
func TestAdoptedTitle(t *testing.T) {
	fs, path := kit.Disk(t)
	hdr := `{"type":"session","version":3,"id":"11111111-2222-3333-4444-555555555555","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w"}`
	require.NoError(t, os.WriteFile(path, []byte(st.File(hdr, st.User("aaaaaaaa", "", "one"))), 0o600))
	l, err := kit.StoreIn(fs, filepath.Dir(path), nil).Open(path)
	require.NoError(t, err)
	foreign(t, path, `{"type":"session_info","id":"bbbbbbbb","parentId":"aaaaaaaa","timestamp":"2026-01-01T00:00:00.000Z","name":"Named by pi"}`)
	kit.MustAppend(t, l, kit.Say("user", "X"))
	require.Equal(t, "Named by pi", l.Title().Text)
}

// TestPiTitleIneffective: the title of a pi-looking file with a title in its header is stored where no program reads
// it.
func TestPiTitleIneffective(t *testing.T) {
	fs, path := kit.Disk(t)
	hdr := `{"type":"session","version":3,"id":"11111111-2222-3333-4444-555555555555","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w","title":"old"}`
	require.NoError(t, os.WriteFile(path, []byte(st.File(hdr, st.User("aaaaaaaa", "", "one"))), 0o600))
	s := kit.StoreIn(fs, filepath.Dir(path), nil)
	l, err := s.Open(path)
	require.NoError(t, err)
	_, err = l.SetTitle(session.Title{Text: "new", Source: "user"})
	require.NoError(t, err)
	require.NoError(t, l.Close())
	l, err = s.Open(path)
	require.NoError(t, err)
	require.Equal(t, "new", l.Title().Text)
}

// TestArtifactsIntoThemselves: artifacts of a session beside the directory that the copy goes to are copied into
// themselves.
func TestArtifactsIntoThemselves(t *testing.T) {
	dir := t.TempDir()
	own := filepath.Join(dir, "sessions", "--w--")
	require.NoError(t, os.MkdirAll(own, 0o700))
	for _, name := range []string{"2025-01", "2025-02", "2025-03"} {
		require.NoError(t, os.WriteFile(filepath.Join(own, name+".jsonl"), []byte(kit.Conversation()), 0o600))
	}
	path := filepath.Join(dir, "sessions.jsonl") // a user's concatenation or copy
	require.NoError(t, os.WriteFile(path, []byte(kit.Conversation()), 0o600))
	s := kit.StoreIn(afero.NewOsFs(), own, nil)
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
	require.NoError(t, os.WriteFile(filepath.Join(dir, "b", "x.jsonl"), []byte(kit.Conversation()), 0o600))
	require.NoError(t, os.Symlink("../x.jsonl", filepath.Join(dir, "b", "c", "s.jsonl")))
	victim := strings.Repeat("precious ", 200)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a", "x.jsonl"), []byte(victim), 0o600))
	l, err := kit.StoreIn(afero.NewOsFs(), dir, nil).Open(filepath.Join(dir, "a", "link", "s.jsonl"))
	require.NoError(t, err)
	_, err = l.SetTitle(session.Title{Text: "t", Source: "user"})
	t.Log(err)
	b, _ := os.ReadFile(filepath.Join(dir, "a", "x.jsonl"))
	require.Equal(t, victim, string(b))
}

// TestLeafMovesOnRename: a leaf that the user chose moves when a rename renumbers the entries.
func TestLeafMovesOnRename(t *testing.T) {
	fs, path := kit.Disk(t)
	require.NoError(t, os.WriteFile(path, []byte(kit.Conversation()), 0o600))
	l, err := kit.StoreIn(fs, filepath.Dir(path), nil).Open(path)
	require.NoError(t, err)
	fs.OnOpenFile = func(string, int) error { return errors.New("EIO") }
	x, err := l.Append(kit.Say("user", "X"))
	require.Error(t, err)
	_, err = l.Append(kit.Say("user", "Y"))
	require.Error(t, err)
	fs.OnOpenFile = nil
	require.NoError(t, l.Branch(x))
	foreign(t, path, st.User("ffffffff", "bbbbbbbb", "foreign"))
	_, err = l.SetTitle(session.Title{Text: "t", Source: "user"})
	require.NoError(t, err)
	require.Equal(t, x, l.LeafID())
}

// TestRenameOfDeleted: renaming a session whose file was deleted reports success and writes nothing.
func TestRenameOfDeleted(t *testing.T) {
	fs, path := kit.Disk(t)
	require.NoError(t, os.WriteFile(path, []byte(kit.Conversation()), 0o600))
	l, err := kit.StoreIn(fs, filepath.Dir(path), nil).Open(path)
	require.NoError(t, err)
	require.NoError(t, os.Remove(path))
	changed, err := l.SetTitle(session.Title{Text: "t", Source: "user"})
	if err == nil && changed {
		require.NoError(t, l.Close())
		_, err = os.Stat(path)
		require.NoError(t, err)
	}
}

// TestRefusedBranchMovesLeaf: a rejected branch with summary moves the leaf all the same.
func TestRefusedBranchMovesLeaf(t *testing.T) {
	fs, path := kit.Disk(t)
	require.NoError(t, os.WriteFile(path, []byte(strings.Replace(kit.Conversation(), `"version":3`, `"version":4`, 1)), 0o600))
	l, err := kit.StoreIn(fs, filepath.Dir(path), nil).Open(path)
	require.NoError(t, err)
	_, err = l.BranchWithSummary("aaaaaaaa", "s")
	require.Error(t, err)
	require.Equal(t, "bbbbbbbb", l.LeafID())
}

// TestSalvageKeepsID: salvage of a file whose header is fine keeps its id and names no parent.
func TestSalvageKeepsID(t *testing.T) {
	fs, path := kit.Disk(t)
	require.NoError(t, os.WriteFile(path, []byte(kit.Conversation()+"{torn\n"), 0o600))
	s := kit.StoreIn(fs, filepath.Dir(path), nil)
	_, err := s.Salvage(path, path+"2.jsonl", "/w")
	require.NoError(t, err)
	d, err := s.Load(path + "2.jsonl")
	require.NoError(t, err)
	require.NotEqual(t, "0123456789abcdef", d.Header().ID)
	require.Equal(t, path, d.Header().ParentSession)
}

// TestSalvageV1: salvage of a version 1 file leaves one message of the conversation.
func TestSalvageV1(t *testing.T) {
	fs, path := kit.Disk(t)
	v1 := func(role, text string) string {
		return `{"type":"message","timestamp":"2026-01-01T00:00:00.000Z","message":{"role":"` + role + `","content":"` + text + `"}}`
	}
	require.NoError(t, os.WriteFile(path, []byte(st.File(`{"type":"sess`, v1("user", "one"), v1("user", "two"), v1("user", "three"))), 0o600))
	s := kit.StoreIn(fs, filepath.Dir(path), nil)
	n, err := s.Salvage(path, path+"2.jsonl", "/w")
	require.NoError(t, err)
	require.Equal(t, 3, n)
	require.Equal(t, []string{"one", "two", "three"}, reopenTexts(t, s, path+"2.jsonl"))
}

// TestSalvageDialect: salvage of pi's session is read by xcsh's rules.
func TestSalvageDialect(t *testing.T) {
	fs, path := kit.Disk(t)
	roots := func(string) (session.FileRoot, bool) { return session.FileRoot{}, false }
	body := st.User("aaaaaaaa", "", "secret") + "\n" +
		`{"type":"context_edit","id":"bbbbbbbb","parentId":"aaaaaaaa","timestamp":"2026-01-01T00:00:00.000Z","targetId":"aaaaaaaa","replacement":null}` + "\n" +
		st.User("cccccccc", "bbbbbbbb", "two") + "\n"
	s := kit.StoreIn(fs, filepath.Dir(path), roots)
	require.NoError(t, os.WriteFile(path, []byte(`{"type":"session","version":3,"id":"11111111-2222-3333-4444-555555555555","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w"}`+"\n"+body), 0o600))
	want := reopenTexts(t, s, path)
	require.Equal(t, []string{"two"}, want)
	require.NoError(t, os.WriteFile(path, []byte(`{"type":"session","ver`+"\n"+body), 0o600))
	_, err := s.Salvage(path, path+"2.jsonl", "/w")
	require.NoError(t, err)
	require.Equal(t, want, reopenTexts(t, s, path+"2.jsonl"))
}

// TestHugeVersion: a huge version is treated as version 1.
func TestHugeVersion(t *testing.T) {
	doc, err := session.Parse([]byte(strings.Replace(kit.Conversation(), `"version":3`, `"version":1e400`, 1)))
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
	requireFast(t, func() {
		_, _, err = session.BuildContext(doc, session.AtLast(), session.BlobDir{Fs: afero.NewMemMapFs(), Dir: "/b"})
		require.NoError(t, err)
	})
}

// TestLongLineMemory: one line of 200 MiB makes a listing allocate several times that.
func TestLongLineMemory(t *testing.T) {
	fs, path := kit.Disk(t)
	require.NoError(t, os.WriteFile(path, []byte(kit.Conversation()), 0o600))
	require.NoError(t, os.Truncate(path, 200<<20)) // NUL bytes, as a power loss leaves them
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	_, err := library.Finder{Fs: fs, Now: time.Now}.Describe(path)
	require.NoError(t, err)
	runtime.ReadMemStats(&after)
	t.Log((after.TotalAlloc-before.TotalAlloc)>>20, "MiB allocated,", (after.HeapSys-before.HeapSys)>>20, "MiB more from the system")
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(200<<20))
}

// TestOmpConfigured: omp's configured level defaults to the level.
func TestOmpConfigured(t *testing.T) {
	doc, err := session.Parse([]byte(kit.SlotLine() + "\n" + st.File(st.Header("0123456789abcdef", "/w"),
		`{"type":"thinking_level_change","id":"aaaaaaaa","parentId":null,"timestamp":"2026-01-01T00:00:00.000Z","thinkingLevel":"high"}`)))
	require.NoError(t, err)
	ctx, _, err := session.BuildContext(doc, session.AtLast(), nil)
	require.NoError(t, err)
	require.Equal(t, "high", ctx.ConfiguredThinkingLevel)
}

// TestMigratedElsewhere: two v1 readers: a program that migrated the file draws other ids, and our unsaved entries have
// parents that exist nowhere.
func TestMigratedElsewhere(t *testing.T) {
	fs, path := kit.Disk(t)
	v1 := func(role, text string) string {
		return `{"type":"message","timestamp":"2026-01-01T00:00:00.000Z","message":{"role":"` + role + `","content":"` + text + `"}}`
	}
	require.NoError(t, os.WriteFile(path, []byte(st.File(`{"type":"session","id":"0123456789abcdef","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w"}`, v1("user", "one"), v1("user", "two"))), 0o600))
	s := kit.StoreIn(fs, filepath.Dir(path), nil)
	l, err := s.Open(path)
	require.NoError(t, err)
	kit.MustAppend(t, l, kit.Say("user", "X")) // rewritten with our ids
	replaceWith(t, path, st.File(st.Header("0123456789abcdef", "/w"), st.User("10000001", "", "one"), st.User("10000002", "10000001", "two"), st.User("10000003", "10000002", "cli")))
	kit.MustAppend(t, l, kit.Say("user", "Y"))
	require.NoError(t, l.Close())
	got := reopenTexts(t, s, path)
	require.Contains(t, got, "one", "%v", got)
}

// TestInPlaceRewrite: a file that shrinks and grows again in place (a program overwrites it) is mistaken for one that
// was appended to.
func TestInPlaceRewrite(t *testing.T) {
	fs, path := kit.Disk(t)
	require.NoError(t, os.WriteFile(path, []byte(kit.Conversation()), 0o600))
	s := kit.StoreIn(fs, filepath.Dir(path), nil)
	l, err := s.Open(path)
	require.NoError(t, err)
	// pi rewrites in place: truncate, write; here with an edited first message.
	other := st.File(st.Header("0123456789abcdef", "/w"), st.User("aaaaaaaa", "", "one, edited and longer"), st.Assistant("bbbbbbbb", "aaaaaaaa", "two"), st.User("cccccccc", "bbbbbbbb", "three"))
	require.NoError(t, os.WriteFile(path, []byte(other), 0o600))
	kit.MustAppend(t, l, kit.Say("user", "X"))
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

// TestTwoLogsInterleaved: two servers of this program write at the same time, each through its own Log.
func TestTwoLogsInterleaved(t *testing.T) {
	fs, path := kit.Disk(t)
	require.NoError(t, os.WriteFile(path, []byte(kit.Conversation()), 0o600))
	s := kit.StoreIn(fs, filepath.Dir(path), nil)
	var done sync.WaitGroup
	logs := make([]*session.Log, 2)
	for k := range logs {
		l, err := s.Open(path)
		require.NoError(t, err)
		logs[k] = l
		done.Go(func() {
			for range 300 {
				if _, err := l.Append(kit.Say("user", "x")); err != nil {
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
	fs, path := kit.Disk(t)
	require.NoError(t, os.WriteFile(path, []byte(kit.Conversation()), 0o600))
	s := kit.StoreIn(fs, filepath.Dir(path), nil)
	a, err := s.Open(path)
	require.NoError(t, err)
	b, err := s.Open(path)
	require.NoError(t, err)
	var done sync.WaitGroup
	acked := map[string]bool{}
	done.Go(func() {
		for range 300 {
			if id, err := a.Append(kit.Say("user", "x")); err == nil {
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

// TestAppendToUnlinked: the file is replaced between our check and our write: the entry goes to the old file, which no
// longer has a name, is acknowledged, and Close does not notice.
func TestAppendToUnlinked(t *testing.T) {
	fs, path := kit.Disk(t)
	require.NoError(t, os.WriteFile(path, []byte(kit.Conversation()), 0o600))
	s := kit.StoreIn(fs, filepath.Dir(path), nil)
	l, err := s.Open(path)
	require.NoError(t, err)
	fired := false
	fs.Fstat = func(afero.File) error {
		if !fired {
			fired = true
			replaceWith(t, path, strings.Replace(kit.Conversation(), `"cwd"`, `"title":"t","cwd"`, 1)) // a CLI names the session
		}
		return nil
	}
	kit.MustAppend(t, l, kit.Say("user", "X"))
	require.NoError(t, l.Close())
	require.Contains(t, reopenTexts(t, s, path), "X")
}

// TestRewriteErasesForeignAppend: a foreign append between our last check and our rename is erased.
func TestRewriteErasesForeignAppend(t *testing.T) {
	fs, path := kit.Disk(t)
	require.NoError(t, os.WriteFile(path, []byte(kit.Conversation()), 0o600))
	s := kit.StoreIn(fs, filepath.Dir(path), nil)
	l, err := s.Open(path)
	require.NoError(t, err)
	fs.OnRename = func(string, string) error {
		foreign(t, path, st.User("ffffffff", "bbbbbbbb", "foreign"))
		return nil
	}
	_, err = l.SetTitle(session.Title{Text: "t", Source: "user"})
	require.NoError(t, err)
	fs.OnRename = nil
	require.NoError(t, l.Close())
	require.Contains(t, reopenTexts(t, s, path), "foreign")
}

// TestCloseDoesNotNoticeLoss: Flush and Close do not notice a stale rewrite after our last append.
func TestCloseDoesNotNoticeLoss(t *testing.T) {
	fs, path := kit.Disk(t)
	require.NoError(t, os.WriteFile(path, []byte(kit.Conversation()), 0o600))
	s := kit.StoreIn(fs, filepath.Dir(path), nil)
	l, err := s.Open(path)
	require.NoError(t, err)
	kit.MustAppend(t, l, kit.Say("user", "X"))
	kit.MustAppend(t, l, kit.Say("assistant", "Y"))
	replaceWith(t, path, kit.Conversation()) // a CLI that loaded before names the session
	require.NoError(t, l.Flush())
	require.NoError(t, l.Close())
	require.Equal(t, []string{"one", "two", "X", "Y"}, reopenTexts(t, s, path))
}

// TestAutoReplacesUserTitle: an automatic title replaces the user's title if that was set elsewhere: omp and pi store
// it without changing what sync checks, or after our last line.
func TestAutoReplacesUserTitle(t *testing.T) {
	fs, path := kit.Disk(t)
	auto := strings.Replace(kit.SlotLine(), `"source":"user"`, `"source":"auto"`, 1)
	require.NoError(t, os.WriteFile(path, []byte(auto+"\n"+kit.Conversation()), 0o600))
	l, err := kit.StoreIn(fs, filepath.Dir(path), nil).Open(path)
	require.NoError(t, err)
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	require.NoError(t, err)
	_, err = f.WriteAt([]byte(kit.SlotLine()), 0) // omp: /rename, in place
	require.NoError(t, err)
	require.NoError(t, f.Close())
	changed, err := l.SetTitle(session.Title{Text: "automatic", Source: "auto"})
	require.NoError(t, err)
	require.False(t, changed)
}

// TestEmptied: a session whose file was emptied in place, so that nothing can be read any more, keeps its conversation
// in memory and cannot save it anywhere.
func TestEmptied(t *testing.T) {
	indexed.NeedsContentInMemory(t)
	fs, path := kit.Disk(t)
	require.NoError(t, os.WriteFile(path, []byte(kit.Conversation()), 0o600))
	s := kit.StoreIn(fs, filepath.Dir(path), nil)
	l, err := s.Open(path)
	require.NoError(t, err)
	require.NoError(t, os.Truncate(path, 0)) // power loss, or a rewrite that failed half-way
	_, err = l.Append(kit.Say("user", "X"))
	t.Log(err)
	require.Error(t, err)
	_, err = s.Fork(l) // saved elsewhere
	require.NoError(t, err)
}
