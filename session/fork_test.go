package session_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
	"github.com/xcsh-ls/xcsh-ls/internal/sessiontest/indexed"
	"github.com/xcsh-ls/xcsh-ls/internal/sessiontest/kit"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// filler is so long that a session that contains it is not kept in memory.
var filler = strings.Repeat("all work and no play ", 9<<20/21)

// behindHeader returns the content of a file after its header's value.
func behindHeader(t *testing.T, file string) string {
	t.Helper()
	doc, err := session.Parse([]byte(file))
	require.NoError(t, err)
	_, rest, found := strings.Cut(file, string(doc.Header().Raw))
	require.True(t, found)
	return rest
}

// requireAsItsFileReads requires that an opened session equals the result of loading its
// file.
func requireAsItsFileReads(t *testing.T, fs afero.Fs, l *session.Log) {
	t.Helper()
	want, err := session.Load(fs, l.Path())
	require.NoError(t, err)
	defer want.Close()
	require.NoError(t, l.View(func(got *session.Document, _ session.Leaf) error {
		require.Equal(t, want.Header(), got.Header())
		require.Equal(t, want.Title(), got.Title())
		require.Equal(t, want.Dialect(), got.Dialect())
		require.Equal(t, want.Size(), got.Size())
		require.Equal(t, want.Path(), got.Path())
		require.Equal(t, want.Problems(), got.Problems())
		require.Equal(t, want.Len(), got.Len())
		for i := range want.Len() {
			w, err := want.Entry(i)
			require.NoError(t, err)
			g, err := got.Entry(i)
			require.NoError(t, err)
			require.Equal(t, string(w.Raw), string(g.Raw))
			w.Raw, g.Raw = nil, nil
			require.Equal(t, w, g)
			require.Equal(t, want.Parent(i), got.Parent(i))
			at, err := got.Index(w.ID)
			require.NoError(t, err)
			require.Equal(t, i, at)
		}
		return nil
	}))
}

// forkSources are files with every kind of content that session files have, keyed by their
// peculiarity. more is the content that a fork has in addition to the source's content
// after the header.
func forkSources() map[string]struct{ file, more string } {
	head, user, answer := st.Header("0123456789abcdef", "/w"), st.User("aaaaaaaa", "", "one"), st.Assistant("bbbbbbbb", "aaaaaaaa", "two")
	unknown := `{"type":"from the future","id":"cccccccc","parentId":"bbbbbbbb","x":[1, 2]}`
	return map[string]struct{ file, more string }{
		"nothing":                     {file: st.File(head, user, answer)},
		"a type that nobody knows":    {file: st.File(head, user, answer, unknown)},
		"a damaged line":              {file: st.File(head, user, `{"type":"message","id":`, "\x00\x00", answer)},
		"a second header":             {file: st.File(head, user, st.Header("fedcba9876543210", "/else"), answer)},
		"values that are no entries":  {file: st.File(head, user, `42`, `{}`, answer)},
		"carriage returns":            {file: strings.ReplaceAll(st.File(head, user, answer), "\n", "\r\n")},
		"empty lines":                 {file: st.File(head, "", user, " ", answer)},
		"two entries on a line":       {file: st.File(head, user+answer)},
		"an entry behind the header":  {file: st.File(head+user, answer)},
		"an entry over several lines": {file: st.File(head, strings.Replace(user, `,"timestamp"`, ",\n\"timestamp\"", 1), answer)},
		"a last line that stops":      {file: st.File(head, user, answer) + `{"type":"mess`, more: "\n"},
		"no newline at the end":       {file: strings.TrimSuffix(st.File(head, user, answer), "\n"), more: "\n"},
		"nothing but a header":        {file: head, more: "\n"},
		"one id twice":                {file: st.File(head, user, answer, answer)},
		"entries without ids":         {file: st.File(head, user, answer, `{"type":"custom","customType":"x"}`)},
		"pi's names":                  {file: st.File(head, user, `{"type":"session_info","id":"dddddddd","parentId":"aaaaaaaa","name":"N"}`, answer)},
		"a name taken back":           {file: st.File(head, user, `{"type":"session_info","id":"dddddddd","parentId":"aaaaaaaa","name":""}`, answer)},
		"ids of other forms":          {file: st.File(head, st.User("the first", "", "one"), st.Assistant("AAAAAAAA", "the first", "two"))},
	}
}

// Proves: X-038, O-037
func TestForkCarriesEveryByteBehindTheHeader(t *testing.T) {
	t.Parallel()
	for name, source := range forkSources() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			st.RunStorage(t, func(t *testing.T, fs afero.Fs) {
				kit.Put(t, fs, kit.Filed, source.file)
				s := kit.NewStore(fs)
				l, err := s.Open(kit.Filed)
				require.NoError(t, err)
				fork, err := s.Fork(l)
				require.NoError(t, err)
				from, err := s.ForkFrom(kit.Filed, "/else")
				require.NoError(t, err)
				for _, fork := range []*session.Log{fork, from} {
					require.Equal(t, behindHeader(t, source.file)+source.more, behindHeader(t, kit.Content(t, fs, fork.Path())))
					require.Equal(t, contextTexts(t, l), contextTexts(t, fork))
					require.Equal(t, l.Title(), fork.Title())
					require.NoError(t, fork.Close())
				}
				require.Equal(t, source.file, kit.Content(t, fs, kit.Filed))
			})
		})
	}
}

// TestForkOfALargeSessionKnowsWhereItsEntriesAre: its index is that of the source, with
// shifted offsets.
func TestForkOfALargeSessionKnowsWhereItsEntriesAre(t *testing.T) {
	t.Parallel()
	all := forkSources()
	for _, name := range []string{"nothing", "a damaged line", "a last line that stops", "pi's names", "a name taken back", "ids of other forms"} {
		source := all[name]
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fs, path := afero.NewOsFs(), filepath.Join(t.TempDir(), filepath.Base(kit.Filed)) // bare, so that the system copies
			i := strings.Index(source.file, "\n") + 1
			kit.Put(t, fs, path, source.file[:i]+st.User("ffffffff", "", filler)+"\n"+source.file[i:])
			s := kit.StoreIn(fs, filepath.Dir(path), nil)
			fork, err := s.ForkFrom(path, "/else")
			require.NoError(t, err)
			require.Equal(t, behindHeader(t, kit.Content(t, fs, path))+source.more, behindHeader(t, kit.Content(t, fs, fork.Path())))
			requireAsItsFileReads(t, fs, fork)
			kit.MustAppend(t, fork, kit.Say("user", "and on"))
			require.NoError(t, fork.Close())
			requireAsItsFileReads(t, fs, must(s.Open(fork.Path())))
		})
	}
}

func must(l *session.Log, err error) *session.Log {
	if err != nil {
		panic(err)
	}
	return l
}

// TestForkOfALiveSessionHasLaterEntries: entries of this process and of another program,
// saved and unsaved.
// Proves: O-033
func TestForkOfALiveSessionHasLaterEntries(t *testing.T) {
	t.Parallel()
	for _, size := range []string{"small", "large"} {
		t.Run(size, func(t *testing.T) {
			t.Parallel()
			base := afero.NewBasePathFs(afero.NewOsFs(), t.TempDir())
			first := "one"
			if size == "large" {
				first = filler
			}
			kit.Put(t, base, kit.Filed, st.File(st.Header("0123456789abcdef", "/w"), st.User("aaaaaaaa", "", first), st.Assistant("bbbbbbbb", "aaaaaaaa", "two")))
			fs := &kit.Seam{Fs: base}
			s := kit.NewStore(fs)
			l := must(s.Open(kit.Filed))
			kit.MustAppend(t, l, kit.Say("user", "three"))
			kit.Put(t, base, kit.Filed, kit.Content(t, base, kit.Filed)+st.File("what is this", st.Assistant("eeeeeeee", l.LeafID(), "four")))
			_, err := l.Refresh()
			require.NoError(t, err)
			fs.OnOpenFile = func(name string, _ int) error {
				if name == kit.Filed {
					return errors.New("EIO")
				}
				return nil
			}
			_, err = l.Append(kit.Say("user", "five"))
			require.Error(t, err)

			fork, err := s.Fork(l)
			require.NoError(t, err)
			require.Equal(t, []string{first, "two", "three", "four", "five"}, contextTexts(t, fork))
			got := behindHeader(t, kit.Content(t, base, fork.Path()))
			want := behindHeader(t, kit.Content(t, base, kit.Filed))
			require.True(t, strings.HasPrefix(got, want), "what is saved is copied, what cannot be read too")
			require.Equal(t, 1, strings.Count(got[len(want):], "\n"))
			requireAsItsFileReads(t, base, fork)
		})
	}
}

// TestForkOfASessionWhoseFileIsNotItsOwn: the fork copies the open conversation, not the
// file that has replaced it.
func TestForkOfASessionWhoseFileIsNotItsOwn(t *testing.T) {
	t.Parallel()
	for name, happens := range map[string]func(t *testing.T, fs afero.Fs){
		"deleted": func(t *testing.T, fs afero.Fs) { require.NoError(t, fs.Remove(kit.Filed)) },
		"emptied": func(t *testing.T, fs afero.Fs) { kit.Put(t, fs, kit.Filed, "") },
		"written over": func(t *testing.T, fs afero.Fs) {
			kit.Put(t, fs, kit.Filed, st.File(st.Header("fedcba9876543210", "/w")))
		},
		"a directory": func(t *testing.T, fs afero.Fs) {
			require.NoError(t, errors.Join(fs.Remove(kit.Filed), fs.Mkdir(kit.Filed, 0o700)))
		},
		"unreadable": func(_ *testing.T, fs afero.Fs) {
			fs.(*kit.Seam).OnOpen = func(name string) error {
				if name == kit.Filed {
					return os.ErrPermission
				}
				return nil
			}
		},
		"replaced": func(t *testing.T, fs afero.Fs) {
			kit.Put(t, fs, kit.Filed+".new", st.File(st.Header("0123456789abcdef", "/w")))
			require.NoError(t, fs.Rename(kit.Filed+".new", kit.Filed))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if name == "emptied" || name == "written over" {
				indexed.NeedsContentInMemory(t)
			}
			fs := &kit.Seam{Fs: afero.NewBasePathFs(afero.NewOsFs(), t.TempDir())}
			kit.Put(t, fs, kit.Filed, kit.Conversation()+"{damaged\n")
			s := kit.NewStore(fs)
			l := must(s.Open(kit.Filed))
			kit.MustAppend(t, l, kit.Say("user", "three"))
			happens(t, fs)
			fork, err := s.Fork(l)
			require.NoError(t, err)
			require.Equal(t, []string{"one", "two", "three"}, contextTexts(t, fork))
			require.Contains(t, kit.Content(t, fs, fork.Path()), "{damaged\n")
		})
	}
}

// TestForkOfAHeaderOverSeveralLines: a value after such a header on its last line is not an
// entry to any program, but would be one after a header on one line.
func TestForkOfAHeaderOverSeveralLines(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"small", "large"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fs := afero.NewMemMapFs()
			head := strings.Replace(st.Header("0123456789abcdef", "/w"), `,"cwd"`, ",\n\"cwd\"", 1)
			rest := "\n" + st.File(st.User("aaaaaaaa", "", "one"))
			if name == "large" {
				rest += st.File(st.User("cccccccc", "aaaaaaaa", filler))
			}
			kit.Put(t, fs, kit.Filed, head+st.User("bbbbbbbb", "", "nobody sees this")+rest)
			s := kit.NewStore(fs)
			fork, err := s.ForkFrom(kit.Filed, "/w")
			require.NoError(t, err)
			require.Equal(t, rest, behindHeader(t, kit.Content(t, fs, fork.Path())))
			requireAsItsFileReads(t, fs, fork)

			kit.Put(t, fs, kit.Filed, head+" and nothing more")
			fork, err = s.ForkFrom(kit.Filed, "/w")
			require.NoError(t, err)
			require.Equal(t, "\n", behindHeader(t, kit.Content(t, fs, fork.Path())))
		})
	}
}

// TestForkOfASessionOfOmp: its header is the second line, and the copy has no title slot
// before it.
func TestForkOfASessionOfOmp(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	file := kit.SlotLine() + "\n" + kit.Conversation() + "{damaged\n"
	kit.Put(t, fs, kit.Filed, file)
	s := kit.NewStore(fs)
	fork, err := s.Fork(must(s.Open(kit.Filed)))
	require.NoError(t, err)
	got := kit.Content(t, fs, fork.Path())
	require.True(t, strings.HasPrefix(got, `{"type":"session"`))
	require.Equal(t, behindHeader(t, file), behindHeader(t, got))
	requireAsItsFileReads(t, fs, fork)
}

// Proves: O-045
func TestForkOfAnOlderFormatKeepsDamagedLines(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	v1, err := os.ReadFile(filepath.Join(kit.Fixtures, "pi/v1-compaction.jsonl"))
	require.NoError(t, err)
	head, rest, _ := strings.Cut(string(v1), "\n")
	kit.Put(t, fs, kit.Filed, st.File(head, "{damaged")+rest)
	s := kit.NewStore(fs)
	fork, err := s.ForkFrom(kit.Filed, "/w")
	require.NoError(t, err)
	got := kit.Content(t, fs, fork.Path())
	require.True(t, strings.HasPrefix(behindHeader(t, got), "\n{damaged\n"))
	require.Equal(t, "3", string(rawjson.Get([]byte(got), "version")))
	require.Equal(t, strings.Count(string(v1), "\n")+1, strings.Count(got, "\n"))
}

// TestForkBringsTheImagesItWouldNotFind: only lines with images change.
// Proves: X-131
func TestForkBringsTheImagesItWouldNotFind(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	const hash = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824" // of "hello"
	kit.Put(t, fs, "/theirs/blobs/"+hash, "hello")
	image := strings.Replace(st.User("cccccccc", "bbbbbbbb", "@"), `"@"`,
		`[{"type":"image","data":"blob:sha256:`+hash+`","mimeType":"image/png"}]`, 1)
	kit.Put(t, fs, "/theirs/x.jsonl", kit.Conversation()+st.File("{damaged", image, `{ "type":"custom", "id":"dddddddd" }`))
	s := kit.NewStore(fs)
	s.RootFor = func(path string) (session.FileRoot, bool) {
		if strings.HasPrefix(path, "/theirs") {
			return session.FileRoot{Dialect: session.Omp, Blobs: "/theirs/blobs"}, true
		}
		return session.FileRoot{Blobs: "/store/blobs"}, true
	}
	fork, err := s.ForkFrom("/theirs/x.jsonl", "/w")
	require.NoError(t, err)
	want := strings.Replace(kit.Content(t, fs, "/theirs/x.jsonl"), "blob:sha256:"+hash, "aGVsbG8=", 1)
	require.Equal(t, behindHeader(t, want), behindHeader(t, kit.Content(t, fs, fork.Path())))
}

// TestForkOfAFileThatShrinksMeanwhileIsNoFork: half a conversation is not returned as a
// fork.
func TestForkOfAFileThatShrinksMeanwhileIsNoFork(t *testing.T) {
	t.Parallel()
	fs := &kit.Seam{Fs: afero.NewBasePathFs(afero.NewOsFs(), t.TempDir())}
	kit.Put(t, fs, kit.Filed, st.File(st.Header("0123456789abcdef", "/w"), st.User("aaaaaaaa", "", filler)))
	s := kit.NewStore(fs)
	l := must(s.Open(kit.Filed))
	fs.OnOpenFile = func(name string, _ int) error {
		if strings.HasSuffix(name, ".tmp") {
			kit.Put(t, fs.Fs, kit.Filed, "short")
		}
		return nil
	}
	_, err := s.Fork(l)
	require.Equal(t, fault.IO, fault.KindOf(err))
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	files, err := afero.ReadDir(fs, kit.StoreDir)
	require.NoError(t, err)
	require.Len(t, files, 1)
}

// TestEveryStepOfAForkCanFail: a fork is complete or does not exist, and the source never
// changes.
// Proves: O-045
func TestEveryStepOfAForkCanFail(t *testing.T) {
	t.Parallel()
	v1, err := os.ReadFile(filepath.Join(kit.Fixtures, "pi/v1-compaction.jsonl"))
	require.NoError(t, err)
	for name, fork := range map[string]func(s *session.Store) (*session.Log, error){
		"live": func(s *session.Store) (*session.Log, error) { return s.Fork(must(s.Open(kit.Filed))) },
		"from": func(s *session.Store) (*session.Log, error) { return s.ForkFrom(kit.Filed, "/else") },
		"at": func(s *session.Store) (*session.Log, error) {
			l, _, err := s.ForkAt(must(s.Open(kit.Filed)), "bbbbbbbb", session.AtIt)
			return l, err
		},
		"older": func(s *session.Store) (*session.Log, error) { return s.ForkFrom("/v1.jsonl", "/else") },
	} {
		for mode, modeName := range []string{"once", "dead", "short"} {
			t.Run(name+" "+modeName, func(t *testing.T) {
				t.Parallel()
				for at := 1; ; at++ {
					base := afero.NewMemMapFs()
					kit.Put(t, base, kit.Filed, kit.Conversation()+`{"torn`)
					kit.Put(t, base, "/v1.jsonl", string(v1))
					before, all := kit.Content(t, base, kit.Filed), fileNames(t, base)
					faulty := &st.FaultFs{Fs: base, At: at, Mode: st.Mode(mode)}
					l, err := fork(kit.NewStore(faulty))
					require.Equal(t, before, kit.Content(t, base, kit.Filed))
					require.Equal(t, string(v1), kit.Content(t, base, "/v1.jsonl"))
					if err == nil {
						requireAsItsFileReads(t, base, l)
						require.NotEmpty(t, contextTexts(t, l))
					}
					if !faulty.Fired() {
						require.NoError(t, err)
						require.Greater(t, at, 4, "more steps than these can fail")
						return
					}
					if err != nil && st.Mode(mode) != st.Dead {
						require.Equal(t, all, fileNames(t, base), "fault %d", at)
					}
				}
			})
		}
	}
}

func fileNames(t *testing.T, fs afero.Fs) (names []string) {
	t.Helper()
	require.NoError(t, afero.Walk(fs, "/", func(path string, info os.FileInfo, err error) error {
		if err == nil && !info.IsDir() {
			names = append(names, path)
		}
		return err
	}))
	return names
}
