package session_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
	"github.com/xcsh-ls/xcsh-ls/internal/sessiontest/kit"
	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/internal/own"
	"github.com/xcsh-ls/xcsh-ls/session/library"
)

func contextTexts(t *testing.T, l *session.Log) []string {
	t.Helper()
	ctx, _, err := l.Context()
	require.NoError(t, err)
	return texts(ctx)
}

// Proves, X-020 (id and parentId), X-021, X-040, X-066, X-067, X-101, X-102, P-003, P-011, P-012, F-06, F-34
func TestNewSessionWaitsForItsFirstAnswer(t *testing.T) {
	t.Parallel()
	st.RunStorage(t, func(t *testing.T, fs afero.Fs) {
		s := kit.NewStore(fs)
		l, err := s.Create("/w", session.NewOptions{})
		require.NoError(t, err)
		first := kit.MustAppend(t, l, kit.Say("user", "one"))
		require.NoError(t, l.Flush())
		_, err = fs.Stat(l.Path())
		require.ErrorIs(t, err, os.ErrNotExist)
		require.False(t, l.OnDisk())

		second := kit.MustAppend(t, l, kit.Say("assistant", "two"))
		require.Contains(t, kit.Content(t, fs, l.Path()), `{"type":"session","version":3,`, "from its first byte on")
		third := kit.MustAppend(t, l, kit.Say("user", "three"))
		require.NoError(t, l.Close())

		lines := strings.Split(strings.TrimSuffix(kit.Content(t, fs, l.Path()), "\n"), "\n")
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

		child, err := s.Create("/child", session.NewOptions{Title: "T", Parent: "the parent"})
		require.NoError(t, err)
		kit.MustAppend(t, child, kit.Say("assistant", "one"))
		require.Regexp(t, `^\{"type":"session","version":3,"id":"[0-9a-f]{16}","title":"T","titleSource":"user","timestamp":"2026-02-03T04:05:06.789Z","cwd":"/child","parentSession":"the parent"\}\n`,
			kit.Content(t, fs, child.Path()))
	})
}

// Proves: X-117, F-30, AB-086
func TestFilesArePrivate(t *testing.T) {
	t.Parallel()
	fs := afero.NewBasePathFs(afero.NewOsFs(), t.TempDir())
	l, err := kit.NewStore(fs).Create("/w", session.NewOptions{})
	require.NoError(t, err)
	kit.MustAppend(t, l, kit.Say("assistant", "x"))
	info, err := fs.Stat(l.Path())
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	info, err = fs.Stat(kit.StoreDir)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o700), info.Mode().Perm())
}

// Proves: X-104, P-006, A-016, F-06
func TestOpenedSessionWritesEveryEntryAtOnce(t *testing.T) {
	t.Parallel()
	st.RunStorage(t, func(t *testing.T, fs afero.Fs) {
		kit.Put(t, fs, kit.Filed, st.Header("0123456789abcdef", "/w")+"\n")
		l, err := kit.NewStore(fs).Open(kit.Filed)
		require.NoError(t, err)
		kit.MustAppend(t, l, kit.Say("user", "one"))
		require.Equal(t, 2, strings.Count(kit.Content(t, fs, kit.Filed), "\n"))
	})
}

// Proves, F-02, F-11 (NUL blocks)
func TestAppendKeepsEveryByteBefore(t *testing.T) {
	t.Parallel()
	for name, tail := range map[string]string{
		"whole file":            kit.Conversation(),
		"no final newline":      strings.TrimSuffix(kit.Conversation(), "\n"),
		"torn last line":        kit.Conversation() + `{"type":"message","id":"cccccccc","parentId":"bbbbbbbb","mess`,
		"torn in a string":      kit.Conversation() + `{"type":"message","id":"cccccccc","x":"ab`,
		"torn behind a bracket": kit.Conversation() + `{"type":"message","content":[`,
		"NUL block at the end":  kit.Conversation() + "\x00\x00\x00\x00",
		"garbage in between":    strings.Replace(kit.Conversation(), "\n", "\nnot json\n\x00\x00\nnull\n", 1),
		"CRLF":                  strings.ReplaceAll(kit.Conversation(), "\n", "\r\n"),
		"byte order mark":       "\uFEFF" + kit.Conversation(),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			st.RunStorage(t, func(t *testing.T, fs afero.Fs) {
				kit.Put(t, fs, kit.Filed, tail)
				l, err := kit.NewStore(fs).Open(kit.Filed)
				require.NoError(t, err)
				require.Equal(t, tail, kit.Content(t, fs, kit.Filed), "opening writes nothing")
				kit.MustAppend(t, l, kit.Say("user", "three"))
				kit.MustAppend(t, l, kit.Say("assistant", "four"))
				require.NoError(t, l.Close())

				after := kit.Content(t, fs, kit.Filed)
				require.True(t, strings.HasPrefix(after, tail), "what was there is still there")
				again, err := kit.NewStore(fs).Open(kit.Filed)
				require.NoError(t, err)
				require.Equal(t, []string{"one", "two", "three", "four"}, contextTexts(t, again))
			})
		})
	}
}

// Proves: X-115, AB-074
func TestForeignLinesAreAdopted(t *testing.T) {
	t.Parallel()
	st.RunStorage(t, func(t *testing.T, fs afero.Fs) {
		kit.Put(t, fs, kit.Filed, kit.Conversation())
		l, err := kit.NewStore(fs).Open(kit.Filed)
		require.NoError(t, err)
		kit.Put(t, fs, kit.Filed, kit.Conversation()+st.User("ffffffff", "bbbbbbbb", "foreign")+"\n")
		id := kit.MustAppend(t, l, kit.Say("assistant", "ours"))
		require.Equal(t, []string{"one", "two", "foreign", "ours"}, contextTexts(t, l))
		require.Contains(t, kit.Content(t, fs, kit.Filed), `"id":"`+id+`","parentId":"ffffffff"`)
	})
}

// Proves: X-115, F-03, AB-073
func TestForeignRewriteIsReadAndOurEntriesComeBack(t *testing.T) {
	t.Parallel()
	fs := afero.NewBasePathFs(afero.NewOsFs(), t.TempDir())
	kit.Put(t, fs, kit.Filed, kit.Conversation())
	l, err := kit.NewStore(fs).Open(kit.Filed)
	require.NoError(t, err)
	ours := kit.MustAppend(t, l, kit.Say("user", "ours"))
	// Another program renames the session, starting from a state without our line.
	rewritten := strings.Replace(kit.Conversation(), `"cwd":"/w"`, `"cwd":"/w","title":"theirs"`, 1)
	kit.Put(t, fs, kit.Filed+".new", rewritten)
	require.NoError(t, fs.Rename(kit.Filed+".new", kit.Filed))

	kit.MustAppend(t, l, kit.Say("assistant", "answer"))
	after := kit.Content(t, fs, kit.Filed)
	require.True(t, strings.HasPrefix(after, rewritten))
	require.Equal(t, 1, strings.Count(after, `"id":"`+ours+`"`))
	require.Equal(t, []string{"one", "two", "ours", "answer"}, contextTexts(t, l))
	require.Equal(t, "theirs", l.Title().Text)

	// The next rewrite also loses an entry of another program, above one of ours.
	kit.Put(t, fs, kit.Filed, kit.Content(t, fs, kit.Filed)+st.User("99999999", l.LeafID(), "foreign")+"\n")
	last := kit.MustAppend(t, l, kit.Say("user", "below it"))
	kit.Put(t, fs, kit.Filed+".new", rewritten)
	require.NoError(t, fs.Rename(kit.Filed+".new", kit.Filed))
	kit.MustAppend(t, l, kit.Say("assistant", "end"))
	require.Equal(t, []string{"one", "two", "ours", "answer", "foreign", "below it", "end"}, contextTexts(t, l))
	require.Equal(t, 1, strings.Count(kit.Content(t, fs, kit.Filed), `"id":"`+last+`"`))
}

// Proves: F-28
func TestDeletedFileIsRecreatedWithItsHeader(t *testing.T) {
	t.Parallel()
	st.RunStorage(t, func(t *testing.T, fs afero.Fs) {
		content := strings.Replace(kit.Conversation(), "\n", "\n{damaged\n", 1)
		kit.Put(t, fs, kit.Filed, content)
		l, err := kit.NewStore(fs).Open(kit.Filed)
		require.NoError(t, err)
		require.NoError(t, fs.Remove(kit.Filed))
		kit.MustAppend(t, l, kit.Say("user", "three"))
		require.True(t, strings.HasPrefix(kit.Content(t, fs, kit.Filed), content), "damaged lines are kept too")
		again, err := kit.NewStore(fs).Open(kit.Filed)
		require.NoError(t, err)
		require.Equal(t, []string{"one", "two", "three"}, contextTexts(t, again))
	})
}

func TestReplacedByAnotherSessionIsRefused(t *testing.T) {
	t.Parallel()
	st.RunStorage(t, func(t *testing.T, fs afero.Fs) {
		kit.Put(t, fs, kit.Filed, kit.Conversation())
		l, err := kit.NewStore(fs).Open(kit.Filed)
		require.NoError(t, err)
		other := st.File(st.Header("fedcba9876543210", "/w"))
		require.NoError(t, fs.Remove(kit.Filed))
		kit.Put(t, fs, kit.Filed, other)
		_, err = l.Append(kit.Say("user", "three"))
		require.Equal(t, fault.Stale, fault.KindOf(err))
		require.Equal(t, other, kit.Content(t, fs, kit.Filed))
		require.Equal(t, []string{"one", "two", "three"}, contextTexts(t, l), "memory keeps it")
	})
}

// Proves, F-01, AB-034, AB-076
func TestOpenNeverChangesAnUnreadableFile(t *testing.T) {
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
				kit.Put(t, fs, kit.Filed, c.content)
				s := kit.NewStore(fs)
				_, err := s.Open(kit.Filed)
				require.Equal(t, fault.Damaged, fault.KindOf(err))
				require.Contains(t, err.Error(), kit.Filed)
				_, err = s.ForkFrom(kit.Filed, "/w")
				require.Equal(t, fault.Damaged, fault.KindOf(err))
				n, err := s.Salvage(kit.Filed, "/out/saved.jsonl", "/w")
				require.NoError(t, err)
				require.Equal(t, c.salvage, n)
				require.Equal(t, c.content, kit.Content(t, fs, kit.Filed))

				saved, err := s.Open("/out/saved.jsonl")
				require.NoError(t, err)
				require.Equal(t, kit.Filed, saved.Header().ParentSession)
				require.Len(t, contextTexts(t, saved), c.salvage)
			})
		})
	}
}

// Proves
func TestOpenMissingAndDirectory(t *testing.T) {
	t.Parallel()
	fs := afero.NewBasePathFs(afero.NewOsFs(), t.TempDir())
	require.NoError(t, fs.MkdirAll(kit.Filed, 0o755))
	s := kit.NewStore(fs)
	_, err := s.Open("/store/missing.jsonl")
	require.Equal(t, fault.NotFound, fault.KindOf(err))
	require.Equal(t, "File not found: /store/missing.jsonl", err.Error())
	_, err = s.Open(kit.Filed)
	require.Equal(t, fault.IO, fault.KindOf(err))
	require.Contains(t, err.Error(), kit.Filed)
}

// Proves: X-059
func TestCreateAtWritesAHeaderToMissingAndEmptyFilesOnly(t *testing.T) {
	t.Parallel()
	st.RunStorage(t, func(t *testing.T, fs afero.Fs) {
		s := kit.NewStore(fs)
		kit.Put(t, fs, "/x/empty.jsonl", "")
		kit.Put(t, fs, "/x/text.jsonl", "hello\n")
		for _, path := range []string{"/x/empty.jsonl", "/x/new/missing.jsonl"} {
			l, err := s.CreateAt(path, "/w")
			require.NoError(t, err)
			require.Equal(t, 1, strings.Count(kit.Content(t, fs, path), "\n"))
			require.Equal(t, "/w", l.Header().Cwd)
		}
		_, err := s.CreateAt("/x/text.jsonl", "/w")
		require.Equal(t, fault.FileExists, fault.KindOf(err))
		require.Equal(t, "hello\n", kit.Content(t, fs, "/x/text.jsonl"))
	})
}

// Proves: X-049, F-27, AB-077
func TestNewerFormatIsReadableNotWritable(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"4", "99"} {
		fs := afero.NewMemMapFs()
		newer := strings.Replace(kit.Conversation(), `"version":3`, `"version":`+version, 1)
		kit.Put(t, fs, kit.Filed, newer)
		l, err := kit.NewStore(fs).Open(kit.Filed)
		require.NoError(t, err)
		require.Equal(t, []string{"one", "two"}, contextTexts(t, l))
		_, err = l.Append(kit.Say("user", "x"))
		require.Equal(t, fault.NewerVersion, fault.KindOf(err))
		_, err = l.SetTitle(session.Title{Text: "x"})
		require.Equal(t, fault.NewerVersion, fault.KindOf(err))
		require.Equal(t, newer, kit.Content(t, fs, kit.Filed))
	}
}

// Proves
func TestBranchMovesTheLeafAndNothingElse(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	kit.Put(t, fs, kit.Filed, kit.Conversation())
	l, err := kit.NewStore(fs).Open(kit.Filed)
	require.NoError(t, err)
	require.Equal(t, "bbbbbbbb", l.LeafID())
	require.NoError(t, l.Branch("aaaaaaaa"))
	require.Equal(t, kit.Conversation(), kit.Content(t, fs, kit.Filed))
	require.Equal(t, []string{"one"}, contextTexts(t, l))
	kit.MustAppend(t, l, kit.Say("assistant", "other"))
	require.Equal(t, []string{"one", "other"}, contextTexts(t, l))

	err = l.Branch("zzz")
	require.Equal(t, fault.NotFound, fault.KindOf(err))
	require.Equal(t, "Entry zzz not found", err.Error())
	_, err = l.SetLabel("zzz", "x")
	require.Equal(t, "Entry zzz not found", err.Error())

	require.NoError(t, l.ResetLeaf())
	require.Empty(t, contextTexts(t, l))
	root := kit.MustAppend(t, l, kit.Say("user", "second root"))
	require.Contains(t, kit.Content(t, fs, kit.Filed), `"id":"`+root+`","parentId":null`)

	id, err := l.BranchWithSummary("aaaaaaaa", "left")
	require.NoError(t, err)
	require.Contains(t, kit.Content(t, fs, kit.Filed), `"type":"branch_summary","id":"`+id+`","parentId":"aaaaaaaa"`)
	id, err = l.BranchWithSummary("", "left all")
	require.NoError(t, err)
	require.Contains(t, kit.Content(t, fs, kit.Filed), `"id":"`+id+`","parentId":null,"timestamp":"2026-02-03T04:05:06.789Z","fromId":"root"`)
}

// TestAnEntryAtAnotherLeafOutlivesTheProcess: the place is where the file continues after it was opened again, also before the
// first entry.
func TestAnEntryAtAnotherLeafOutlivesTheProcess(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		at, parent string
		texts      []string
	}{
		"at an entry":            {"aaaaaaaa", `"aaaaaaaa"`, []string{"one"}},
		"before the first entry": {"", "null", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fs := afero.NewMemMapFs()
			kit.Put(t, fs, kit.Filed, kit.Conversation())
			l, err := kit.NewStore(fs).Open(kit.Filed)
			require.NoError(t, err)
			before := kit.Content(t, fs, kit.Filed)
			_, err = l.AppendAt("zzz", session.DraftCustom("xcsh-ls.branch", []byte(`{}`)))
			require.Equal(t, fault.NotFound, fault.KindOf(err))
			require.Equal(t, before, kit.Content(t, fs, kit.Filed))

			id, err := l.AppendAt(c.at, session.DraftCustom("xcsh-ls.branch", []byte(`{}`)))
			require.NoError(t, err)
			require.Contains(t, kit.Content(t, fs, kit.Filed), `"id":"`+id+`","parentId":`+c.parent)
			require.Equal(t, c.at, l.LeafID(), "the entry itself is not shown")
			require.NoError(t, l.Close())

			again, err := kit.NewStore(fs).Open(kit.Filed)
			require.NoError(t, err)
			require.Equal(t, c.at, again.LeafID())
			require.Equal(t, c.texts, contextTexts(t, again))
		})
	}
}

// TestEntriesOfOthersCanBeNamedAtOnce: an entry that another program has just appended is found in the file, even if
// that was rewritten.
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
					kit.Put(t, fs, kit.Filed, kit.Conversation())
					s := kit.NewStore(fs)
					l, err := s.Open(kit.Filed)
					require.NoError(t, err)
					if anew {
						require.NoError(t, fs.Remove(kit.Filed))
						kit.Put(t, fs, kit.Filed, kit.Conversation())
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

// TestAnEntryThatMayBeInTheFile: if the file cannot be read, it is unknown whether it has an entry. An entry in memory
// can be used as the leaf all the same.
func TestAnEntryThatMayBeInTheFile(t *testing.T) {
	t.Parallel()
	base := afero.NewMemMapFs()
	kit.Put(t, base, kit.Filed, kit.Conversation())
	armed := false
	faulty := &st.FaultFs{Fs: base, At: 1, Mode: st.Dead, Reads: true, On: func(string, string) bool { return armed }}
	l, err := kit.NewStore(faulty).Open(kit.Filed)
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

// TestBranchSummaryHasTheFormOfItsProgram: the new leaf, but in pi's files the old leaf, even if another program has
// just moved it on.
func TestBranchSummaryHasTheFormOfItsProgram(t *testing.T) {
	t.Parallel()
	for dialect, want := range map[session.Dialect][3]string{
		session.Xcsh: {"aaaaaaaa", "root", "aaaaaaaa"},
		session.Omp:  {"aaaaaaaa", "root", "aaaaaaaa"},
		session.Pi:   {"bbbbbbbb", "cccccccc", "root"},
	} {
		t.Run(dialect.String(), func(t *testing.T) {
			t.Parallel()
			fs := afero.NewMemMapFs()
			kit.Put(t, fs, kit.Filed, kit.Conversation())
			s := kit.NewStore(fs)
			s.RootFor = func(string) (session.FileRoot, bool) { return session.FileRoot{Dialect: dialect}, true }
			l, err := s.Open(kit.Filed)
			require.NoError(t, err)
			from := func(to string) string {
				id, err := l.BranchWithSummary(to, "left")
				require.NoError(t, err)
				lines := strings.Split(kit.Content(t, fs, kit.Filed), "\n")
				line := []byte(lines[len(lines)-2])
				require.Equal(t, `"`+id+`"`, string(rawjson.Get(line, "id")))
				from, _ := rawjson.GetString(line, "fromId")
				return from
			}
			require.Equal(t, want[0], from("aaaaaaaa"))
			appendForeign(t, fs, st.User("cccccccc", l.LeafID(), "of another program"))
			require.Equal(t, want[1], from(""))
			require.NoError(t, l.ResetLeaf())
			require.Equal(t, want[2], from("aaaaaaaa"))
		})
	}
}

// Proves: AB-027
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
		"\u202aa\u202eb\u2069c":            "abc",
		"\u2029a\u202fb\u2065c\u206ad":     "a\u202fb\u2065c\u206ad",
	} {
		require.Equal(t, want, session.CleanTitle(text), "%q", text)
	}
}

// Proves, X-215 (in memory and on disk), X-228 (auto never overrides user), A-018, F-15, F-37 (names), AB-007, AB-030
func TestRenameChangesTheHeaderAndAddsATitleForPi(t *testing.T) {
	t.Parallel()
	st.RunStorage(t, func(t *testing.T, fs afero.Fs) {
		odd := `{"zzz":1.0,"type":"future","id":"cccccccc","parentId":"bbbbbbbb","n":12345678901234567890,"s":"\ud800 \u003c","d":1e400}`
		kit.Put(t, fs, kit.Filed, kit.Conversation()+"garbage\n"+odd+"\n"+`{"torn`)
		before := strings.SplitN(kit.Content(t, fs, kit.Filed), "\n", 2)
		l, err := kit.NewStore(fs).Open(kit.Filed)
		require.NoError(t, err)
		changed, err := l.SetTitle(session.Title{Text: " a\x07b\n  c ", Source: "user"})
		require.NoError(t, err)
		require.True(t, changed)
		after := strings.SplitN(kit.Content(t, fs, kit.Filed), "\n", 2)
		added, ok := strings.CutPrefix(after[1], before[1]+"\n")
		require.True(t, ok, "every other byte is as it was")
		require.Regexp(t, `^\{"type":"session_info","id":"[^"]+","parentId":"cccccccc","timestamp":"[^"]+","name":"a b c","inHeader":true\}\n$`, added)
		require.Equal(t, strings.TrimSuffix(before[0], "}")+`,"title":"a b c","titleSource":"user"}`, after[0])

		changed, err = l.SetTitle(session.Title{Text: "auto", Source: "auto"})
		require.NoError(t, err)
		require.False(t, changed, "an automatic name never replaces one given by a person")
		_, err = l.SetTitle(session.Title{Text: " \n"})
		require.Equal(t, fault.InvalidArgument, fault.KindOf(err))

		kit.MustAppend(t, l, kit.Say("user", "more"))
		again, err := kit.NewStore(fs).Open(kit.Filed)
		require.NoError(t, err)
		require.Equal(t, "a b c", again.Title().Text)
		require.Equal(t, []string{"one", "two", "more"}, contextTexts(t, again))
	})
}

// Proves: AB-031
func TestRenameInTheOthersDialects(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	for program, file := range map[string]string{"pi": "sm-linear-tools", "omp": "linear"} {
		original, err := os.ReadFile(filepath.Join(kit.Fixtures, program, file+".jsonl"))
		require.NoError(t, err)
		path := "/" + program + ".jsonl"
		kit.Put(t, fs, path, string(original))
		l, err := kit.NewStore(fs).Open(path)
		require.NoError(t, err)
		_, err = l.SetTitle(session.Title{Text: "Neuer Name ✓", Source: "user"})
		require.NoError(t, err)
		after := kit.Content(t, fs, path)
		again, err := session.Load(fs, path)
		require.NoError(t, err)
		require.Equal(t, "Neuer Name ✓", again.Title().Text)
		if program == "pi" {
			require.True(t, strings.HasPrefix(after, string(original)))
			require.Contains(t, after[len(original):], `"type":"session_info"`)
			require.NotContains(t, after[len(original):], own.TitleInHeader, "the header of pi's files has no title")
			continue
		}
		require.Equal(t, string(original[256:]), after[256:len(original)], "only the slot changes in place")
		require.Equal(t, byte('\n'), after[255])
		require.Contains(t, after[len(original):], `"title":"Neuer Name ✓","source":"user","previousTitle":"My own title"`)
	}
}

// Proves
func TestMigrationIsWrittenByTheFirstAppendOnly(t *testing.T) {
	t.Parallel()
	st.RunStorage(t, func(t *testing.T, fs afero.Fs) {
		original, err := os.ReadFile(filepath.Join(kit.Fixtures, "pi/v1-compaction.jsonl"))
		require.NoError(t, err)
		kit.Put(t, fs, kit.Filed, string(original)+"damaged\n")
		l, err := kit.NewStore(fs).Open(kit.Filed)
		require.NoError(t, err)
		before := contextTexts(t, l)
		require.Equal(t, string(original)+"damaged\n", kit.Content(t, fs, kit.Filed))
		id := kit.MustAppend(t, l, kit.Say("user", "next"))
		after := kit.Content(t, fs, kit.Filed)
		require.Contains(t, after, "\ndamaged\n", "a damaged line is not ours to drop")
		require.Equal(t, "3", string(rawjson.Get([]byte(after), "version")))
		require.Contains(t, after, `"id":"`+id+`"`)
		again, err := kit.NewStore(fs).Open(kit.Filed)
		require.NoError(t, err)
		require.Equal(t, append(before, "next"), contextTexts(t, again))
	})
}

// Proves: O-036, O-037
func TestForkCopiesAndNamesItsParent(t *testing.T) {
	t.Parallel()
	st.RunStorage(t, func(t *testing.T, fs afero.Fs) {
		titled := strings.Replace(kit.Conversation(), `"cwd":"/w"`, `"title":"T","titleSource":"user","cwd":"/w"`, 1)
		kit.Put(t, fs, kit.Filed, titled)
		kit.Put(t, fs, strings.TrimSuffix(kit.Filed, ".jsonl")+"/0.bash.log", "output")
		s := kit.NewStore(fs)
		l, err := s.Open(kit.Filed)
		require.NoError(t, err)
		fork, err := s.Fork(l)
		require.NoError(t, err)
		require.Equal(t, titled, kit.Content(t, fs, kit.Filed))
		require.NotEqual(t, l.Header().ID, fork.Header().ID)
		require.Equal(t, "0123456789abcdef", fork.Header().ParentSession)
		require.Equal(t, "T", fork.Title().Text)
		head, rest, _ := strings.Cut(kit.Content(t, fs, fork.Path()), "\n")
		require.Regexp(t, `"title":"T","titleSource":"user","timestamp":"[^"]+","cwd":"/w","parentSession":"0123456789abcdef"\}$`, head)
		_, want, _ := strings.Cut(titled, "\n")
		added, ok := strings.CutPrefix(rest, want)
		require.True(t, ok, "every line is copied")
		require.Regexp(t, `^\{"type":"session_info",[^\n]*"name":"T","inHeader":true\}\n$`, added)
		require.Equal(t, "output", kit.Content(t, fs, strings.TrimSuffix(fork.Path(), ".jsonl")+"/0.bash.log"))

		_, err = s.Fork(s.Memory("/w", session.NewOptions{}))
		require.Equal(t, fault.NotPersistent, fault.KindOf(err))
		require.Equal(t, "Fork failed (session not persisted or cancelled)", err.Error())
	})
}

// Proves: O-033, O-038
func TestForkBeforeTheFirstAnswerIsWritten(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	s := kit.NewStore(fs)
	l, err := s.Create("/w", session.NewOptions{})
	require.NoError(t, err)
	kit.MustAppend(t, l, kit.Say("user", "one"))
	fork, err := s.Fork(l)
	require.NoError(t, err)
	require.Equal(t, 2, strings.Count(kit.Content(t, fs, fork.Path()), "\n"))
}

// Proves: O-045
func TestForkFromAnOlderFileLeavesTheSourceAlone(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	original, err := os.ReadFile(filepath.Join(kit.Fixtures, "pi/v1-compaction.jsonl"))
	require.NoError(t, err)
	kit.Put(t, fs, "/else/x.jsonl", string(original))
	s := kit.NewStore(fs)
	fork, err := s.ForkFrom("/else/x.jsonl", "/w")
	require.NoError(t, err)
	require.Equal(t, string(original), kit.Content(t, fs, "/else/x.jsonl"))
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
			fs := afero.NewCopyOnWriteFs(afero.NewBasePathFs(afero.NewReadOnlyFs(afero.NewOsFs()), kit.Fixtures), afero.NewMemMapFs())
			foreign := library.Root{Places: library.AgentPlaces("/" + program + "/agent"), Dialect: session.Omp}
			if program == "pi" {
				foreign.Dialect = session.Pi
			}
			foreign.Sessions = "/" + program
			finder := library.Finder{Fs: fs, Home: "/h", Temp: "/tmp", Now: time.Now, Roots: []library.Root{library.OwnRoot(library.AgentPlaces("/h/.xcsh/agent")), foreign}}
			s := session.NewStore(session.StoreConfig{Fs: fs, DirFor: finder.DirFor, RootFor: finder.FileRoot})
			source := "/" + program + "/" + name + ".jsonl"
			before := kit.Content(t, fs, source)
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

			// The copy is renamed in its header, where xcsh reads the title.
			_, err = fork.SetTitle(session.Title{Text: "mine"})
			require.NoError(t, err)
			require.Contains(t, strings.SplitN(kit.Content(t, fs, fork.Path()), "\n", 2)[0], `"title":"mine"`)
			require.Equal(t, before, kit.Content(t, fs, source))
		})
	}
}

// Proves: X-229, P-024
func TestForkAtAnEntryKeepsTheWholePathAndItsLabels(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	labelled := kit.Conversation() +
		st.File(`{"type":"label","id":"11111111","parentId":"bbbbbbbb","timestamp":"2026-01-01T00:00:02.000Z","targetId":"aaaaaaaa","label":"L"}`,
			st.User("cccccccc", "11111111", "three"), st.Assistant("dddddddd", "cccccccc", "four"))
	kit.Put(t, fs, kit.Filed, labelled)
	s := kit.NewStore(fs)
	l, err := s.Open(kit.Filed)
	require.NoError(t, err)

	at, _, err := s.ForkAt(l, "dddddddd", session.AtIt)
	require.NoError(t, err)
	require.Equal(t, []string{"one", "two", "three", "four"}, contextTexts(t, at))
	require.Equal(t, kit.Filed, at.Header().ParentSession)
	require.NoError(t, at.View(func(d *session.Document, _ session.Leaf) error {
		labels, err := d.Labels()
		require.Equal(t, map[string]string{"aaaaaaaa": "L"}, labels)
		require.Equal(t, 5, d.Len(), "four messages and the label")
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
	require.Equal(t, kit.Filed, empty.Header().ParentSession)

	_, _, err = s.ForkAt(l, "dddddddd", session.Before)
	require.Equal(t, "Invalid entry ID for forking", err.Error())
	require.Equal(t, labelled, kit.Content(t, fs, kit.Filed))
}

// Proves: X-099, AB-003
func TestMemorySessionNeverTouchesStorage(t *testing.T) {
	t.Parallel()
	fs := afero.NewReadOnlyFs(afero.NewMemMapFs())
	l := kit.NewStore(fs).Memory("/w", session.NewOptions{Title: "M"})
	kit.MustAppend(t, l, kit.Say("user", "one"))
	kit.MustAppend(t, l, kit.Say("assistant", "two"))
	_, err := l.SetTitle(session.Title{Text: "N"})
	require.NoError(t, err)
	require.Equal(t, "N", l.Title().Text)
	require.Equal(t, []string{"one", "two"}, contextTexts(t, l))
	require.NoError(t, l.Flush())
	require.NoError(t, l.Close())
	require.Empty(t, l.Path())
}

// Proves
func TestConcurrentAppendsAreWholeLinesInOneChain(t *testing.T) {
	t.Parallel()
	st.RunStorage(t, func(t *testing.T, fs afero.Fs) {
		kit.Put(t, fs, kit.Filed, kit.Conversation())
		l, err := kit.NewStore(fs).Open(kit.Filed)
		require.NoError(t, err)
		var wg sync.WaitGroup
		for range 200 {
			wg.Go(func() { _, _ = l.Append(kit.Say("user", "x")) })
		}
		wg.Wait()
		require.NoError(t, l.Close())
		doc, err := session.Load(fs, kit.Filed)
		require.NoError(t, err)
		require.Empty(t, doc.Problems())
		require.Equal(t, 202, doc.Len())
		require.Len(t, doc.PathTo(session.AtLast()), 202)
	})
}

// TestEveryWritePathSurvivesEveryFault fails each step of each operation in turn. Whichever step fails, the file still
// holds everything that was acknowledged, in whole lines, and the next program can read it.
// Proves: X-073, X-106 (flush, dead), X-107, X-108, X-216, A-006, F-11, F-26
func TestEveryWritePathSurvivesEveryFault(t *testing.T) {
	t.Parallel()
	v1, err := os.ReadFile(filepath.Join(kit.Fixtures, "pi/v1-compaction.jsonl"))
	require.NoError(t, err)
	slotted, err := os.ReadFile(filepath.Join(kit.Fixtures, "omp/compaction.jsonl"))
	require.NoError(t, err)
	operations := map[string]struct {
		file string
		run  func(s *session.Store, l *session.Log) error
	}{
		"append": {kit.Conversation(), func(_ *session.Store, l *session.Log) error {
			_, err := l.Append(kit.Say("user", "new"))
			return err
		}},
		"append to a torn file": {kit.Conversation() + `{"torn`, func(_ *session.Store, l *session.Log) error {
			_, err := l.Append(kit.Say("user", "new"))
			return err
		}},
		"flush": {kit.Conversation(), func(_ *session.Store, l *session.Log) error {
			_, _ = l.Append(kit.Say("user", "new"))
			return l.Flush()
		}},
		"migrate": {string(v1), func(_ *session.Store, l *session.Log) error {
			_, err := l.Append(kit.Say("user", "new"))
			return err
		}},
		"rename": {kit.Conversation(), func(_ *session.Store, l *session.Log) error {
			_, err := l.SetTitle(session.Title{Text: "T"})
			return err
		}},
		"rename in the slot": {string(slotted), func(_ *session.Store, l *session.Log) error {
			_, err := l.SetTitle(session.Title{Text: "T"})
			return err
		}},
		"fork": {kit.Conversation(), func(s *session.Store, l *session.Log) error {
			_, err := s.Fork(l)
			return err
		}},
		"create": {kit.Conversation(), func(s *session.Store, _ *session.Log) error {
			fresh, err := s.Create("/w", session.NewOptions{})
			if err == nil {
				_, err = fresh.Append(kit.Say("assistant", "first"))
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

// survives runs one operation with one fault and checks the resulting file. It reports whether the fault was reached.
func survives(t *testing.T, file string, run func(*session.Store, *session.Log) error, at int, mode st.Mode) bool {
	t.Helper()
	base := afero.NewMemMapFs()
	kit.Put(t, base, kit.Filed, file)
	before := loaded(t, base, kit.Filed)
	faulty := &st.FaultFs{Fs: base, At: at, Mode: mode}
	s := kit.NewStore(faulty)
	l, err := s.Open(kit.Filed)
	require.NoError(t, err)
	opErr := run(s, l)
	if !faulty.Fired() {
		require.NoError(t, opErr)
		return false
	}
	if mode != st.Dead {
		require.NoError(t, filepathWalkClean(base), "no temporary file stays behind")
	}
	after := loaded(t, base, kit.Filed)
	require.GreaterOrEqual(t, len(after), len(before))
	require.Equal(t, before, after[:len(before)], "fault %d", at)
	// The next program appends and everything is there. It runs late enough for a lock left by a crash to be stale.
	next, err := kit.NewStoreAt(base, 2, time.Now().Add(time.Hour)).Open(kit.Filed)
	require.NoError(t, err)
	id := kit.MustAppend(t, next, kit.Say("user", "after the fault"))
	require.Contains(t, kit.Content(t, base, kit.Filed), `"id":"`+id+`"`)
	require.Equal(t, append(after, "after the fault"), loaded(t, base, kit.Filed))
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
			return nil // a lock that was released meanwhile
		}
		return err
	})
}

// Proves: X-100, X-110 (improved: a later success clears it), X-216, F-12, AB-085
func TestAFailedWriteIsKeptReportedAndRepeated(t *testing.T) {
	t.Parallel()
	base := afero.NewMemMapFs()
	kit.Put(t, base, kit.Filed, kit.Conversation())
	faulty := &st.FaultFs{Fs: base, At: 1, Mode: st.Short, On: func(op, name string) bool { return op == "write" && name == kit.Filed }}
	l, err := kit.NewStore(faulty).Open(kit.Filed)
	require.NoError(t, err)
	_, err = l.Append(kit.Say("user", "first"))
	require.ErrorIs(t, err, st.ErrInjected)
	require.ErrorIs(t, l.Err(), st.ErrInjected)
	require.Equal(t, []string{"one", "two", "first"}, contextTexts(t, l), "memory keeps it")
	require.Equal(t, kit.Conversation(), kit.Content(t, base, kit.Filed), "half a line is taken back")

	kit.MustAppend(t, l, kit.Say("assistant", "second"))
	require.NoError(t, l.Err())
	require.Equal(t, []string{"one", "two", "first", "second"}, loaded(t, base, kit.Filed))
	require.True(t, bytes.HasSuffix([]byte(kit.Content(t, base, kit.Filed)), []byte("\n")))
}

// An entry that waits for its file has an id before, and keeps it unless another program took it meanwhile.
func TestAnEntryIsNamedBeforeItIsWritten(t *testing.T) {
	t.Parallel()
	s := kit.NewStore(afero.NewMemMapFs())
	l, err := s.Create("/w", session.NewOptions{})
	require.NoError(t, err)
	kit.MustAppend(t, l, kit.Say("assistant", "one"))
	id := l.NewEntryID()
	require.Regexp(t, `^[0-9a-f]{8}$`, id)
	require.False(t, l.IsLent())
	got, err := l.Append(session.DraftCustom("x", nil).Named(id))
	require.NoError(t, err)
	require.Equal(t, id, got)
	require.Contains(t, kit.Content(t, s.Fs, l.Path()), `"id":"`+id+`"`)
	other, err := l.Append(session.DraftCustom("x", nil).Named(id))
	require.NoError(t, err)
	require.NotEqual(t, id, other, "an id names one entry")
}
