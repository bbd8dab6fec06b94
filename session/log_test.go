package session_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/fault"
	"github.com/xcsh-ls/xcsh-ls/session/rawjson"
	st "github.com/xcsh-ls/xcsh-ls/session/sessiontest"
)

const (
	storeDir = "/store/--w--"
	filed    = storeDir + "/2026-01-01T00-00-00-000Z_0123456789abcdef.jsonl"
)

// newStore returns a store whose clock stands and whose ids repeat from run to run.
func newStore(fs afero.Fs) *session.Store { return newStoreWithIDs(fs, 1) }

func newStoreWithIDs(fs afero.Fs, seed int64) *session.Store {
	return newStoreAt(fs, seed, time.Date(2026, 2, 3, 4, 5, 6, 789e6, time.UTC))
}

func newStoreAt(fs afero.Fs, seed int64, at time.Time) *session.Store {
	now := func() time.Time { return at }
	return session.NewStore(session.StoreConfig{
		Fs: fs, Now: now, IDs: session.NewIDs(now, rand.New(rand.NewSource(seed))),
		DirFor: func(string) (string, error) { return storeDir, nil },
	})
}

func put(t *testing.T, fs afero.Fs, path, content string) {
	t.Helper()
	require.NoError(t, fs.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, afero.WriteFile(fs, path, []byte(content), 0o600))
}

func content(t *testing.T, fs afero.Fs, path string) string {
	t.Helper()
	b, err := afero.ReadFile(fs, path)
	require.NoError(t, err)
	return string(b)
}

func say(role, text string) *session.Draft {
	if role == "assistant" {
		return session.DraftMessage(json.RawMessage(st.AssistantMessage(text)))
	}
	return session.DraftMessage(json.RawMessage(st.UserMessage(text)))
}

func mustAppend(t *testing.T, l *session.Log, d *session.Draft) string {
	t.Helper()
	id, err := l.Append(d)
	require.NoError(t, err)
	return id
}

func contextTexts(t *testing.T, l *session.Log) []string {
	t.Helper()
	ctx, _, err := l.Context()
	require.NoError(t, err)
	return texts(ctx)
}

// conversation is a small healthy session.
func conversation() string {
	return st.File(st.Header("0123456789abcdef", "/w"), st.User("aaaaaaaa", "", "one"), st.Assistant("bbbbbbbb", "aaaaaaaa", "two"))
}

func TestNewSessionWaitsForItsFirstAnswer(t *testing.T) {
	t.Parallel()
	st.RunStorage(t, func(t *testing.T, fs afero.Fs) {
		l, err := newStore(fs).Create("/w", session.NewOptions{})
		require.NoError(t, err)
		first := mustAppend(t, l, say("user", "one"))
		require.NoError(t, l.Flush())
		_, err = fs.Stat(l.Path())
		require.ErrorIs(t, err, os.ErrNotExist)
		require.False(t, l.OnDisk())

		second := mustAppend(t, l, say("assistant", "two"))
		third := mustAppend(t, l, say("user", "three"))
		require.NoError(t, l.Close())

		lines := strings.Split(strings.TrimSuffix(content(t, fs, l.Path()), "\n"), "\n")
		require.Len(t, lines, 4)
		require.Regexp(t, `^\{"type":"session","version":3,"id":"[0-9a-f]{16}","timestamp":"2026-02-03T04:05:06.789Z","cwd":"/w"\}$`, lines[0])
		require.Regexp(t, `^/store/--w--/2026-02-03T04-05-06-789Z_[0-9a-f]{16}\.jsonl$`, filepath.ToSlash(l.Path()))
		for i, want := range []struct{ id, parent string }{{first, ""}, {second, first}, {third, second}} {
			id, _ := rawjson.GetString([]byte(lines[i+1]), "id")
			parent, _ := rawjson.GetString([]byte(lines[i+1]), "parentId")
			require.Equal(t, want.id, id)
			require.Equal(t, want.parent, parent)
			require.Regexp(t, `^[0-9a-f]{8}$`, id)
		}
		require.Equal(t, `null`, string(rawjson.Get([]byte(lines[1]), "parentId")))
	})
}

func TestFilesArePrivate(t *testing.T) {
	t.Parallel()
	fs := afero.NewBasePathFs(afero.NewOsFs(), t.TempDir())
	l, err := newStore(fs).Create("/w", session.NewOptions{})
	require.NoError(t, err)
	mustAppend(t, l, say("assistant", "x"))
	info, err := fs.Stat(l.Path())
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	info, err = fs.Stat(storeDir)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o700), info.Mode().Perm())
}

func TestOpenedSessionWritesEveryEntryAtOnce(t *testing.T) {
	t.Parallel()
	st.RunStorage(t, func(t *testing.T, fs afero.Fs) {
		put(t, fs, filed, st.Header("0123456789abcdef", "/w")+"\n")
		l, err := newStore(fs).Open(filed)
		require.NoError(t, err)
		mustAppend(t, l, say("user", "one"))
		require.Equal(t, 2, strings.Count(content(t, fs, filed), "\n"))
	})
}

func TestAppendKeepsEveryByteBefore(t *testing.T) {
	t.Parallel()
	for name, tail := range map[string]string{
		"whole file":            conversation(),
		"no final newline":      strings.TrimSuffix(conversation(), "\n"),
		"torn last line":        conversation() + `{"type":"message","id":"cccccccc","parentId":"bbbbbbbb","mess`,
		"torn in a string":      conversation() + `{"type":"message","id":"cccccccc","x":"ab`,
		"torn behind a bracket": conversation() + `{"type":"message","content":[`,
		"NUL block at the end":  conversation() + "\x00\x00\x00\x00",
		"garbage in between":    strings.Replace(conversation(), "\n", "\nnot json\n\x00\x00\nnull\n", 1),
		"CRLF":                  strings.ReplaceAll(conversation(), "\n", "\r\n"),
		"byte order mark":       "\uFEFF" + conversation(),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			st.RunStorage(t, func(t *testing.T, fs afero.Fs) {
				put(t, fs, filed, tail)
				l, err := newStore(fs).Open(filed)
				require.NoError(t, err)
				require.Equal(t, tail, content(t, fs, filed), "opening writes nothing")
				mustAppend(t, l, say("user", "three"))
				mustAppend(t, l, say("assistant", "four"))
				require.NoError(t, l.Close())

				after := content(t, fs, filed)
				require.True(t, strings.HasPrefix(after, tail), "what was there is still there")
				again, err := newStore(fs).Open(filed)
				require.NoError(t, err)
				require.Equal(t, []string{"one", "two", "three", "four"}, contextTexts(t, again))
			})
		})
	}
}

func TestForeignLinesAreAdopted(t *testing.T) {
	t.Parallel()
	st.RunStorage(t, func(t *testing.T, fs afero.Fs) {
		put(t, fs, filed, conversation())
		l, err := newStore(fs).Open(filed)
		require.NoError(t, err)
		put(t, fs, filed, conversation()+st.User("ffffffff", "bbbbbbbb", "foreign")+"\n")
		id := mustAppend(t, l, say("assistant", "ours"))
		require.Equal(t, []string{"one", "two", "foreign", "ours"}, contextTexts(t, l))
		require.Contains(t, content(t, fs, filed), `"id":"`+id+`","parentId":"ffffffff"`)
	})
}

func TestForeignRewriteIsReadAndOurEntriesComeBack(t *testing.T) {
	t.Parallel()
	fs := afero.NewBasePathFs(afero.NewOsFs(), t.TempDir())
	put(t, fs, filed, conversation())
	l, err := newStore(fs).Open(filed)
	require.NoError(t, err)
	ours := mustAppend(t, l, say("user", "ours"))
	// Another program renames the session from what it knew before our line.
	rewritten := strings.Replace(conversation(), `"cwd":"/w"`, `"cwd":"/w","title":"theirs"`, 1)
	put(t, fs, filed+".new", rewritten)
	require.NoError(t, fs.Rename(filed+".new", filed))

	mustAppend(t, l, say("assistant", "answer"))
	after := content(t, fs, filed)
	require.True(t, strings.HasPrefix(after, rewritten))
	require.Equal(t, 1, strings.Count(after, `"id":"`+ours+`"`))
	require.Equal(t, []string{"one", "two", "ours", "answer"}, contextTexts(t, l))
	require.Equal(t, "theirs", l.Title().Text)
}

func TestDeletedFileIsWrittenAnewWithItsHeader(t *testing.T) {
	t.Parallel()
	st.RunStorage(t, func(t *testing.T, fs afero.Fs) {
		put(t, fs, filed, conversation())
		l, err := newStore(fs).Open(filed)
		require.NoError(t, err)
		require.NoError(t, fs.Remove(filed))
		mustAppend(t, l, say("user", "three"))
		require.True(t, strings.HasPrefix(content(t, fs, filed), conversation()))
		again, err := newStore(fs).Open(filed)
		require.NoError(t, err)
		require.Equal(t, []string{"one", "two", "three"}, contextTexts(t, again))
	})
}

func TestReplacedByAnotherSessionIsRefused(t *testing.T) {
	t.Parallel()
	st.RunStorage(t, func(t *testing.T, fs afero.Fs) {
		put(t, fs, filed, conversation())
		l, err := newStore(fs).Open(filed)
		require.NoError(t, err)
		other := st.File(st.Header("fedcba9876543210", "/w"))
		require.NoError(t, fs.Remove(filed))
		put(t, fs, filed, other)
		_, err = l.Append(say("user", "three"))
		require.Equal(t, fault.Stale, fault.KindOf(err))
		require.Equal(t, other, content(t, fs, filed))
		require.Equal(t, []string{"one", "two", "three"}, contextTexts(t, l), "memory keeps it")
	})
}

func TestOpenNeverChangesWhatItCannotRead(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		content string
		salvage int
	}{
		"text file":            {"hello\nworld\n", 0},
		"torn header":          {`{"type":"session","id":"x","times`, 0},
		"torn header, entries": {`{"type":"session","id":"x","times` + "\n" + st.User("aaaaaaaa", "", "one") + "\n", 1},
		"no header":            {st.User("aaaaaaaa", "", "one") + "\n", 1},
		"late header":          {st.User("aaaaaaaa", "", "one") + "\n" + st.Header("x", "/w") + "\n", 1},
		"numeric id":           {`{"type":"session","id":1}` + "\n", 0},
		"empty":                {"", 0},
		"NULs":                 {"\x00\x00\x00", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			st.RunStorage(t, func(t *testing.T, fs afero.Fs) {
				put(t, fs, filed, c.content)
				s := newStore(fs)
				_, err := s.Open(filed)
				require.Equal(t, fault.Damaged, fault.KindOf(err))
				require.Contains(t, err.Error(), filed)
				_, err = s.ForkFrom(filed, "/w")
				require.Equal(t, fault.Damaged, fault.KindOf(err))
				n, err := s.Salvage(filed, "/out/saved.jsonl", "/w")
				require.NoError(t, err)
				require.Equal(t, c.salvage, n)
				require.Equal(t, c.content, content(t, fs, filed))

				saved, err := s.Open("/out/saved.jsonl")
				require.NoError(t, err)
				require.Equal(t, filed, saved.Header().ParentSession)
				require.Len(t, contextTexts(t, saved), c.salvage)
			})
		})
	}
}

func TestOpenMissingAndDirectory(t *testing.T) {
	t.Parallel()
	fs := afero.NewBasePathFs(afero.NewOsFs(), t.TempDir())
	require.NoError(t, fs.MkdirAll(filed, 0o755))
	s := newStore(fs)
	_, err := s.Open("/store/missing.jsonl")
	require.Equal(t, fault.NotFound, fault.KindOf(err))
	require.Equal(t, "File not found: /store/missing.jsonl", err.Error())
	_, err = s.Open(filed)
	require.Equal(t, fault.IO, fault.KindOf(err))
	require.Contains(t, err.Error(), filed)
}

func TestCreateAtWritesAHeaderToMissingAndEmptyFilesOnly(t *testing.T) {
	t.Parallel()
	st.RunStorage(t, func(t *testing.T, fs afero.Fs) {
		s := newStore(fs)
		put(t, fs, "/x/empty.jsonl", "")
		put(t, fs, "/x/text.jsonl", "hello\n")
		for _, path := range []string{"/x/empty.jsonl", "/x/new/missing.jsonl"} {
			l, err := s.CreateAt(path, "/w")
			require.NoError(t, err)
			require.Equal(t, 1, strings.Count(content(t, fs, path), "\n"))
			require.Equal(t, "/w", l.Header().Cwd)
		}
		_, err := s.CreateAt("/x/text.jsonl", "/w")
		require.Equal(t, fault.FileExists, fault.KindOf(err))
		require.Equal(t, "hello\n", content(t, fs, "/x/text.jsonl"))
	})
}

func TestNewerFormatIsReadableNotWritable(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	newer := strings.Replace(conversation(), `"version":3`, `"version":99`, 1)
	put(t, fs, filed, newer)
	l, err := newStore(fs).Open(filed)
	require.NoError(t, err)
	require.Equal(t, []string{"one", "two"}, contextTexts(t, l))
	_, err = l.Append(say("user", "x"))
	require.Equal(t, fault.NewerVersion, fault.KindOf(err))
	_, err = l.SetTitle(session.Title{Text: "x"})
	require.Equal(t, fault.NewerVersion, fault.KindOf(err))
	require.Equal(t, newer, content(t, fs, filed))
}

func TestBranchMovesTheLeafAndNothingElse(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	put(t, fs, filed, conversation())
	l, err := newStore(fs).Open(filed)
	require.NoError(t, err)
	require.Equal(t, "bbbbbbbb", l.LeafID())
	require.NoError(t, l.Branch("aaaaaaaa"))
	require.Equal(t, conversation(), content(t, fs, filed))
	require.Equal(t, []string{"one"}, contextTexts(t, l))
	mustAppend(t, l, say("assistant", "other"))
	require.Equal(t, []string{"one", "other"}, contextTexts(t, l))

	err = l.Branch("zzz")
	require.Equal(t, fault.NotFound, fault.KindOf(err))
	require.Equal(t, "Entry zzz not found", err.Error())
	_, err = l.SetLabel("zzz", "x")
	require.Equal(t, "Entry zzz not found", err.Error())

	l.ResetLeaf()
	require.Empty(t, contextTexts(t, l))
	root := mustAppend(t, l, say("user", "second root"))
	require.Contains(t, content(t, fs, filed), `"id":"`+root+`","parentId":null`)

	id, err := l.BranchWithSummary("aaaaaaaa", "left")
	require.NoError(t, err)
	require.Contains(t, content(t, fs, filed), `"type":"branch_summary","id":"`+id+`","parentId":"aaaaaaaa"`)
	id, err = l.BranchWithSummary("", "left all")
	require.NoError(t, err)
	require.Contains(t, content(t, fs, filed), `"id":"`+id+`","parentId":null,"timestamp":"2026-02-03T04:05:06.789Z","fromId":"root"`)
}

// TestEntriesOfOthersCanBeNamedAtOnce: an entry that another program appended a moment
// ago is in the file, also when that was written anew.
func TestEntriesOfOthersCanBeNamedAtOnce(t *testing.T) {
	t.Parallel()
	for name, use := range map[string]func(s *session.Store, l *session.Log) error{
		"branch": func(_ *session.Store, l *session.Log) error { return l.Branch("cccccccc") },
		"branch with summary": func(_ *session.Store, l *session.Log) error {
			_, err := l.BranchWithSummary("cccccccc", "left")
			return err
		},
		"label": func(_ *session.Store, l *session.Log) error { _, err := l.SetLabel("cccccccc", "here"); return err },
		"fork": func(s *session.Store, l *session.Log) error {
			fork, _, err := s.ForkAt(l, "cccccccc", session.AtIt)
			if err == nil {
				require.Equal(t, []string{"one", "two", "three"}, contextTexts(t, fork))
			}
			return err
		},
	} {
		for _, anew := range []bool{false, true} {
			t.Run(fmt.Sprint(name, " anew=", anew), func(t *testing.T) {
				t.Parallel()
				st.RunStorage(t, func(t *testing.T, fs afero.Fs) {
					put(t, fs, filed, conversation())
					s := newStore(fs)
					l, err := s.Open(filed)
					require.NoError(t, err)
					if anew {
						require.NoError(t, fs.Remove(filed))
						put(t, fs, filed, conversation())
					}
					appendForeign(t, fs, st.User("cccccccc", "bbbbbbbb", "three"))
					require.NoError(t, use(s, l))
					require.Contains(t, contextTexts(t, l), "three")
					require.NoError(t, l.Close())
				})
			})
		}
	}
}

// TestAnEntryThatMayBeInTheFile: where the file cannot be read nobody knows that an
// entry is not in it. What is in memory can be gone to all the same.
func TestAnEntryThatMayBeInTheFile(t *testing.T) {
	t.Parallel()
	base := afero.NewMemMapFs()
	put(t, base, filed, conversation())
	armed := false
	faulty := &st.FaultFs{Fs: base, At: 1, Mode: st.Dead, Reads: true, On: func(string, string) bool { return armed }}
	l, err := newStore(faulty).Open(filed)
	require.NoError(t, err)
	armed = true
	require.ErrorIs(t, l.Branch("cccccccc"), st.ErrInjected)
	_, err = l.SetLabel("cccccccc", "x")
	require.ErrorIs(t, err, st.ErrInjected)
	_, err = l.BranchWithSummary("cccccccc", "x")
	require.ErrorIs(t, err, st.ErrInjected)
	require.Equal(t, "bbbbbbbb", l.LeafID())
	require.NoError(t, l.Branch("aaaaaaaa"))
	require.Equal(t, "aaaaaaaa", l.LeafID())
}

// TestBranchSummaryNamesWhatItsProgramWould: where the leaf went, but in pi's files the
// leaf that was left, also when another program moved it on a moment ago.
func TestBranchSummaryNamesWhatItsProgramWould(t *testing.T) {
	t.Parallel()
	for dialect, want := range map[session.Dialect][3]string{
		session.Xcsh: {"aaaaaaaa", "root", "aaaaaaaa"},
		session.Omp:  {"aaaaaaaa", "root", "aaaaaaaa"},
		session.Pi:   {"bbbbbbbb", "cccccccc", "root"},
	} {
		t.Run(dialect.String(), func(t *testing.T) {
			t.Parallel()
			fs := afero.NewMemMapFs()
			put(t, fs, filed, conversation())
			s := newStore(fs)
			s.RootFor = func(string) (session.FileRoot, bool) { return session.FileRoot{Dialect: dialect}, true }
			l, err := s.Open(filed)
			require.NoError(t, err)
			from := func(to string) string {
				id, err := l.BranchWithSummary(to, "left")
				require.NoError(t, err)
				lines := strings.Split(content(t, fs, filed), "\n")
				line := []byte(lines[len(lines)-2])
				require.Equal(t, `"`+id+`"`, string(rawjson.Get(line, "id")))
				from, _ := rawjson.GetString(line, "fromId")
				return from
			}
			require.Equal(t, want[0], from("aaaaaaaa"))
			appendForeign(t, fs, st.User("cccccccc", l.LeafID(), "of another program"))
			require.Equal(t, want[1], from(""))
			l.ResetLeaf()
			require.Equal(t, want[2], from("aaaaaaaa"))
		})
	}
}

func TestCleanTitle(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                                 "",
		" a\x07b\n  c ":                    "a b c",
		"\ufeff a \ufeff":                  "a",
		"\u3000\ufeff\u2028a\ufeffb\u00a0": "a\ufeffb",
		"\ufeff":                           "",
		"a\u0085b":                         "a b",
		"\x1b]0;x\x07\u202Eab\u2066c":      "]0;x abc",
	} {
		require.Equal(t, want, session.CleanTitle(text), "%q", text)
	}
}

func TestRenameTouchesTheHeaderLineOnly(t *testing.T) {
	t.Parallel()
	st.RunStorage(t, func(t *testing.T, fs afero.Fs) {
		odd := `{"zzz":1.0,"type":"future","id":"cccccccc","parentId":"bbbbbbbb","n":12345678901234567890,"s":"\ud800 \u003c","d":1e400}`
		put(t, fs, filed, conversation()+"garbage\n"+odd+"\n"+`{"torn`)
		before := strings.SplitN(content(t, fs, filed), "\n", 2)
		l, err := newStore(fs).Open(filed)
		require.NoError(t, err)
		changed, err := l.SetTitle(session.Title{Text: " a\x07b\n  c ", Source: "user"})
		require.NoError(t, err)
		require.True(t, changed)
		after := strings.SplitN(content(t, fs, filed), "\n", 2)
		require.Equal(t, before[1], after[1], "every other byte is as it was")
		require.Equal(t, strings.TrimSuffix(before[0], "}")+`,"title":"a b c","titleSource":"user"}`, after[0])

		changed, err = l.SetTitle(session.Title{Text: "auto", Source: "auto"})
		require.NoError(t, err)
		require.False(t, changed, "an automatic name never replaces one given by a person")
		_, err = l.SetTitle(session.Title{Text: " \n"})
		require.Equal(t, fault.InvalidArgument, fault.KindOf(err))

		mustAppend(t, l, say("user", "more"))
		again, err := newStore(fs).Open(filed)
		require.NoError(t, err)
		require.Equal(t, "a b c", again.Title().Text)
		require.Equal(t, []string{"one", "two", "more"}, contextTexts(t, again))
	})
}

func TestRenameInTheOthersDialects(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	for program, file := range map[string]string{"pi": "sm-linear-tools", "omp": "linear"} {
		original, err := os.ReadFile(filepath.Join(fixtures, program, file+".jsonl"))
		require.NoError(t, err)
		path := "/" + program + ".jsonl"
		put(t, fs, path, string(original))
		l, err := newStore(fs).Open(path)
		require.NoError(t, err)
		_, err = l.SetTitle(session.Title{Text: "Neuer Name ✓", Source: "user"})
		require.NoError(t, err)
		after := content(t, fs, path)
		again, err := session.Load(fs, path)
		require.NoError(t, err)
		require.Equal(t, "Neuer Name ✓", again.Title().Text)
		if program == "pi" {
			require.True(t, strings.HasPrefix(after, string(original)))
			require.Contains(t, after[len(original):], `"type":"session_info"`)
			continue
		}
		require.Equal(t, string(original[256:]), after[256:len(original)], "only the slot changes in place")
		require.Equal(t, byte('\n'), after[255])
		require.Contains(t, after[len(original):], `"title":"Neuer Name ✓","source":"user","previousTitle":"My own title"`)
	}
}

func TestMigrationIsWrittenByTheFirstAppendOnly(t *testing.T) {
	t.Parallel()
	st.RunStorage(t, func(t *testing.T, fs afero.Fs) {
		original, err := os.ReadFile(filepath.Join(fixtures, "pi/v1-compaction.jsonl"))
		require.NoError(t, err)
		put(t, fs, filed, string(original)+"damaged\n")
		l, err := newStore(fs).Open(filed)
		require.NoError(t, err)
		before := contextTexts(t, l)
		require.Equal(t, string(original)+"damaged\n", content(t, fs, filed))
		id := mustAppend(t, l, say("user", "next"))
		after := content(t, fs, filed)
		require.Contains(t, after, "\ndamaged\n", "a damaged line is not ours to drop")
		require.Equal(t, "3", string(rawjson.Get([]byte(after), "version")))
		require.Contains(t, after, `"id":"`+id+`"`)
		again, err := newStore(fs).Open(filed)
		require.NoError(t, err)
		require.Equal(t, append(before, "next"), contextTexts(t, again))
	})
}

func TestForkCopiesAndNamesItsParent(t *testing.T) {
	t.Parallel()
	st.RunStorage(t, func(t *testing.T, fs afero.Fs) {
		titled := strings.Replace(conversation(), `"cwd":"/w"`, `"title":"T","titleSource":"user","cwd":"/w"`, 1)
		put(t, fs, filed, titled)
		put(t, fs, strings.TrimSuffix(filed, ".jsonl")+"/0.bash.log", "output")
		s := newStore(fs)
		l, err := s.Open(filed)
		require.NoError(t, err)
		fork, err := s.Fork(l)
		require.NoError(t, err)
		require.Equal(t, titled, content(t, fs, filed))
		require.NotEqual(t, l.Header().ID, fork.Header().ID)
		require.Equal(t, "0123456789abcdef", fork.Header().ParentSession)
		require.Equal(t, "T", fork.Title().Text)
		head, rest, _ := strings.Cut(content(t, fs, fork.Path()), "\n")
		require.Regexp(t, `"title":"T","titleSource":"user","timestamp":"[^"]+","cwd":"/w","parentSession":"0123456789abcdef"\}$`, head)
		_, want, _ := strings.Cut(titled, "\n")
		require.Equal(t, want, rest)
		require.Equal(t, "output", content(t, fs, strings.TrimSuffix(fork.Path(), ".jsonl")+"/0.bash.log"))

		_, err = s.Fork(s.Memory("/w", session.NewOptions{}))
		require.Equal(t, fault.NotPersistent, fault.KindOf(err))
		require.Equal(t, "Fork failed (session not persisted or cancelled)", err.Error())
	})
}

func TestForkBeforeTheFirstAnswerIsWritten(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	s := newStore(fs)
	l, err := s.Create("/w", session.NewOptions{})
	require.NoError(t, err)
	mustAppend(t, l, say("user", "one"))
	fork, err := s.Fork(l)
	require.NoError(t, err)
	require.Equal(t, 2, strings.Count(content(t, fs, fork.Path()), "\n"))
}

func TestForkFromAnOlderFileLeavesTheSourceAlone(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	original, err := os.ReadFile(filepath.Join(fixtures, "pi/v1-compaction.jsonl"))
	require.NoError(t, err)
	put(t, fs, "/else/x.jsonl", string(original))
	s := newStore(fs)
	fork, err := s.ForkFrom("/else/x.jsonl", "/w")
	require.NoError(t, err)
	require.Equal(t, string(original), content(t, fs, "/else/x.jsonl"))
	require.Equal(t, "/w", fork.Header().Cwd)
	source, err := s.Open("/else/x.jsonl")
	require.NoError(t, err)
	require.Equal(t, contextTexts(t, source), contextTexts(t, fork))
	_, err = s.ForkFrom("/else/missing.jsonl", "/w")
	require.Equal(t, "File not found: /else/missing.jsonl", err.Error())
}

func TestForkOfAnotherProgramsSessionIsOursAndReadsTheSame(t *testing.T) {
	t.Parallel()
	for program, name := range map[string]string{"pi": "sm-context-edit", "omp": "images", "omp reset": "reset-boundary"} {
		program, _, _ = strings.Cut(program, " ")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fs := afero.NewCopyOnWriteFs(afero.NewBasePathFs(afero.NewReadOnlyFs(afero.NewOsFs()), fixtures), afero.NewMemMapFs())
			foreign := session.Root{Places: session.AgentPlaces("/" + program + "/agent"), Dialect: session.Omp}
			if program == "pi" {
				foreign.Dialect = session.Pi
			}
			foreign.Sessions = "/" + program
			finder := session.Finder{Fs: fs, Home: "/h", Temp: "/tmp", Now: time.Now, Roots: []session.Root{session.OwnRoot(session.AgentPlaces("/h/.xcsh/agent")), foreign}}
			s := session.NewStore(session.StoreConfig{Fs: fs, DirFor: finder.DirFor, RootFor: finder.FileRoot})
			source := "/" + program + "/" + name + ".jsonl"
			before := content(t, fs, source)
			l, err := s.Open(source)
			require.NoError(t, err)
			want, problems, err := l.Context()
			require.NoError(t, err)
			require.Empty(t, problems)

			fork, err := s.Fork(l)
			require.NoError(t, err)
			require.Equal(t, "/h/.xcsh/agent/sessions/--home-dev-proj--", filepath.Dir(fork.Path()))
			got, problems, err := fork.Context()
			require.NoError(t, err)
			require.Empty(t, problems)
			require.Equal(t, asJSON(t, want), asJSON(t, got))

			// The copy is ours to name: in the header, where xcsh looks.
			_, err = fork.SetTitle(session.Title{Text: "mine"})
			require.NoError(t, err)
			require.Contains(t, strings.SplitN(content(t, fs, fork.Path()), "\n", 2)[0], `"title":"mine"`)
			require.Equal(t, before, content(t, fs, source))
		})
	}
}

func TestForkAtAnEntryKeepsTheWholePathAndItsLabels(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	labelled := conversation() +
		st.File(`{"type":"label","id":"11111111","parentId":"bbbbbbbb","timestamp":"2026-01-01T00:00:02.000Z","targetId":"aaaaaaaa","label":"L"}`,
			st.User("cccccccc", "11111111", "three"), st.Assistant("dddddddd", "cccccccc", "four"))
	put(t, fs, filed, labelled)
	s := newStore(fs)
	l, err := s.Open(filed)
	require.NoError(t, err)

	at, _, err := s.ForkAt(l, "dddddddd", session.AtIt)
	require.NoError(t, err)
	require.Equal(t, []string{"one", "two", "three", "four"}, contextTexts(t, at))
	require.Equal(t, filed, at.Header().ParentSession)
	require.NoError(t, at.View(func(d *session.Document, _ session.Leaf) error {
		labels, err := d.Labels()
		require.Equal(t, map[string]string{"aaaaaaaa": "L"}, labels)
		return err
	}))

	before, text, err := s.ForkAt(l, "cccccccc", session.Before)
	require.NoError(t, err)
	require.Equal(t, "three", text)
	require.Equal(t, []string{"one", "two"}, contextTexts(t, before))

	empty, text, err := s.ForkAt(l, "aaaaaaaa", session.Before)
	require.NoError(t, err)
	require.Equal(t, "one", text)
	require.Empty(t, contextTexts(t, empty))
	require.False(t, empty.OnDisk())
	require.Equal(t, filed, empty.Header().ParentSession)

	_, _, err = s.ForkAt(l, "dddddddd", session.Before)
	require.Equal(t, "Invalid entry ID for forking", err.Error())
	require.Equal(t, labelled, content(t, fs, filed))
}

func TestMemorySessionNeverTouchesStorage(t *testing.T) {
	t.Parallel()
	fs := afero.NewReadOnlyFs(afero.NewMemMapFs())
	l := newStore(fs).Memory("/w", session.NewOptions{Title: "M"})
	mustAppend(t, l, say("user", "one"))
	mustAppend(t, l, say("assistant", "two"))
	_, err := l.SetTitle(session.Title{Text: "N"})
	require.NoError(t, err)
	require.Equal(t, "N", l.Title().Text)
	require.Equal(t, []string{"one", "two"}, contextTexts(t, l))
	require.NoError(t, l.Flush())
	require.NoError(t, l.Close())
	require.Empty(t, l.Path())
}

func TestConcurrentAppendsAreWholeLinesInOneChain(t *testing.T) {
	t.Parallel()
	st.RunStorage(t, func(t *testing.T, fs afero.Fs) {
		put(t, fs, filed, conversation())
		l, err := newStore(fs).Open(filed)
		require.NoError(t, err)
		var wg sync.WaitGroup
		for range 200 {
			wg.Go(func() { _, _ = l.Append(say("user", "x")) })
		}
		wg.Wait()
		require.NoError(t, l.Close())
		doc, err := session.Load(fs, filed)
		require.NoError(t, err)
		require.Empty(t, doc.Problems())
		require.Equal(t, 202, doc.Len())
		require.Len(t, doc.PathTo(session.AtLast()), 202)
	})
}

// TestEveryWritePathSurvivesEveryFault fails each step of each operation in turn.
// Whatever happens, the file still holds everything that was acknowledged, in whole
// lines, and the next program can read it.
func TestEveryWritePathSurvivesEveryFault(t *testing.T) {
	t.Parallel()
	v1, err := os.ReadFile(filepath.Join(fixtures, "pi/v1-compaction.jsonl"))
	require.NoError(t, err)
	slotted, err := os.ReadFile(filepath.Join(fixtures, "omp/compaction.jsonl"))
	require.NoError(t, err)
	operations := map[string]struct {
		file string
		run  func(s *session.Store, l *session.Log) error
	}{
		"append": {conversation(), func(_ *session.Store, l *session.Log) error {
			_, err := l.Append(say("user", "new"))
			return err
		}},
		"append to a torn file": {conversation() + `{"torn`, func(_ *session.Store, l *session.Log) error {
			_, err := l.Append(say("user", "new"))
			return err
		}},
		"flush": {conversation(), func(_ *session.Store, l *session.Log) error {
			_, _ = l.Append(say("user", "new"))
			return l.Flush()
		}},
		"migrate": {string(v1), func(_ *session.Store, l *session.Log) error {
			_, err := l.Append(say("user", "new"))
			return err
		}},
		"rename": {conversation(), func(_ *session.Store, l *session.Log) error {
			_, err := l.SetTitle(session.Title{Text: "T"})
			return err
		}},
		"rename in the slot": {string(slotted), func(_ *session.Store, l *session.Log) error {
			_, err := l.SetTitle(session.Title{Text: "T"})
			return err
		}},
		"fork": {conversation(), func(s *session.Store, l *session.Log) error {
			_, err := s.Fork(l)
			return err
		}},
		"create": {conversation(), func(s *session.Store, _ *session.Log) error {
			fresh, err := s.Create("/w", session.NewOptions{})
			if err == nil {
				_, err = fresh.Append(say("assistant", "first"))
			}
			return err
		}},
	}
	for name, op := range operations {
		for _, mode := range []st.Mode{st.Once, st.Dead, st.Short} {
			t.Run(name+[]string{" once", " dead", " short"}[mode], func(t *testing.T) {
				t.Parallel()
				for at := 1; ; at++ {
					if !survives(t, op.file, op.run, at, mode) {
						require.Greater(t, at, 1, "no step could fail")
						return
					}
				}
			})
		}
	}
}

// survives runs one operation with one fault and checks what is left. It reports
// whether the fault was reached.
func survives(t *testing.T, file string, run func(*session.Store, *session.Log) error, at int, mode st.Mode) bool {
	t.Helper()
	base := afero.NewMemMapFs()
	put(t, base, filed, file)
	before := loaded(t, base, filed)
	faulty := &st.FaultFs{Fs: base, At: at, Mode: mode}
	s := newStore(faulty)
	l, err := s.Open(filed)
	require.NoError(t, err)
	opErr := run(s, l)
	if !faulty.Fired() {
		require.NoError(t, opErr)
		return false
	}
	if mode != st.Dead {
		require.NoError(t, filepathWalkClean(base), "no temporary file stays behind")
	}
	after := loaded(t, base, filed)
	require.GreaterOrEqual(t, len(after), len(before))
	require.Equal(t, before, after[:len(before)], "fault %d", at)
	// The next program appends and everything is there. It comes when a lock that a
	// crash left behind is old enough to be nobody's.
	next, err := newStoreAt(base, 2, time.Now().Add(time.Hour)).Open(filed)
	require.NoError(t, err)
	id := mustAppend(t, next, say("user", "after the fault"))
	require.Contains(t, content(t, base, filed), `"id":"`+id+`"`)
	require.Equal(t, append(after, "after the fault"), loaded(t, base, filed))
	return true
}

func loaded(t *testing.T, fs afero.Fs, path string) []string {
	t.Helper()
	doc, err := session.Load(fs, path)
	require.NoError(t, err)
	ctx, _, err := session.BuildContext(doc, session.AtLast(), nil)
	require.NoError(t, err)
	return texts(ctx)
}

func filepathWalkClean(fs afero.Fs) error {
	return afero.Walk(fs, "/", func(path string, _ os.FileInfo, err error) error {
		if err == nil && strings.HasSuffix(path, ".tmp") {
			return &os.PathError{Op: "leftover", Path: path, Err: os.ErrExist}
		}
		if errors.Is(err, os.ErrNotExist) {
			return nil // a lock that was given up meanwhile
		}
		return err
	})
}

func TestAFailedWriteIsKeptReportedAndMadeUpFor(t *testing.T) {
	t.Parallel()
	base := afero.NewMemMapFs()
	put(t, base, filed, conversation())
	faulty := &st.FaultFs{Fs: base, At: 1, Mode: st.Short, On: func(op, name string) bool { return op == "write" && name == filed }}
	l, err := newStore(faulty).Open(filed)
	require.NoError(t, err)
	_, err = l.Append(say("user", "first"))
	require.ErrorIs(t, err, st.ErrInjected)
	require.ErrorIs(t, l.Err(), st.ErrInjected)
	require.Equal(t, []string{"one", "two", "first"}, contextTexts(t, l), "memory keeps it")
	require.Equal(t, conversation(), content(t, base, filed), "half a line is taken back")

	mustAppend(t, l, say("assistant", "second"))
	require.NoError(t, l.Err())
	require.Equal(t, []string{"one", "two", "first", "second"}, loaded(t, base, filed))
	require.True(t, bytes.HasSuffix([]byte(content(t, base, filed)), []byte("\n")))
}
