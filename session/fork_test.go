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

	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/fault"
	"github.com/xcsh-ls/xcsh-ls/session/rawjson"
	st "github.com/xcsh-ls/xcsh-ls/session/sessiontest"
)

// filler is so long that a session with it is not kept in memory.
var filler = strings.Repeat("all work and no play ", 9<<20/21)

// behindHeader is what a file holds behind its header's value.
func behindHeader(t *testing.T, file string) string {
	t.Helper()
	doc, err := session.Parse([]byte(file))
	require.NoError(t, err)
	_, rest, found := strings.Cut(file, string(doc.Header().Raw))
	require.True(t, found)
	return rest
}

// requireAsItsFileReads requires of an opened session that it is what reading its file gives.
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

// forkSources are files with everything that stands in session files, by what is odd
// about them. What the fork has more than the source behind its header is at the end.
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

func TestForkCarriesEveryByteBehindTheHeader(t *testing.T) {
	t.Parallel()
	for name, source := range forkSources() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			st.RunStorage(t, func(t *testing.T, fs afero.Fs) {
				put(t, fs, filed, source.file)
				s := newStore(fs)
				l, err := s.Open(filed)
				require.NoError(t, err)
				fork, err := s.Fork(l)
				require.NoError(t, err)
				from, err := s.ForkFrom(filed, "/else")
				require.NoError(t, err)
				for _, fork := range []*session.Log{fork, from} {
					require.Equal(t, behindHeader(t, source.file)+source.more, behindHeader(t, content(t, fs, fork.Path())))
					require.Equal(t, contextTexts(t, l), contextTexts(t, fork))
					require.Equal(t, l.Title(), fork.Title())
					require.NoError(t, fork.Close())
				}
				require.Equal(t, source.file, content(t, fs, filed))
			})
		})
	}
}

// TestForkOfALargeSessionKnowsWhereItsEntriesAre: its index is that of the source, moved.
func TestForkOfALargeSessionKnowsWhereItsEntriesAre(t *testing.T) {
	t.Parallel()
	all := forkSources()
	for _, name := range []string{"nothing", "a damaged line", "a last line that stops", "pi's names", "a name taken back", "ids of other forms"} {
		source := all[name]
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fs, path := afero.NewOsFs(), filepath.Join(t.TempDir(), filepath.Base(filed)) // bare, so that the system copies
			i := strings.Index(source.file, "\n") + 1
			put(t, fs, path, source.file[:i]+st.User("ffffffff", "", filler)+"\n"+source.file[i:])
			s := storeIn(fs, filepath.Dir(path), nil)
			fork, err := s.ForkFrom(path, "/else")
			require.NoError(t, err)
			require.Equal(t, behindHeader(t, content(t, fs, path))+source.more, behindHeader(t, content(t, fs, fork.Path())))
			requireAsItsFileReads(t, fs, fork)
			mustAppend(t, fork, say("user", "and on"))
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

// TestForkOfALiveSessionHasWhatCameLater: entries of ours and of another program, saved
// and not yet saved.
func TestForkOfALiveSessionHasWhatCameLater(t *testing.T) {
	t.Parallel()
	for _, size := range []string{"small", "large"} {
		t.Run(size, func(t *testing.T) {
			t.Parallel()
			base := afero.NewBasePathFs(afero.NewOsFs(), t.TempDir())
			first := "one"
			if size == "large" {
				first = filler
			}
			put(t, base, filed, st.File(st.Header("0123456789abcdef", "/w"), st.User("aaaaaaaa", "", first), st.Assistant("bbbbbbbb", "aaaaaaaa", "two")))
			fs := &seam{Fs: base}
			s := newStore(fs)
			l := must(s.Open(filed))
			mustAppend(t, l, say("user", "three"))
			put(t, base, filed, content(t, base, filed)+st.File("what is this", st.Assistant("eeeeeeee", l.LeafID(), "four")))
			_, err := l.Refresh()
			require.NoError(t, err)
			fs.openFile = func(name string, _ int) error {
				if name == filed {
					return errors.New("EIO")
				}
				return nil
			}
			_, err = l.Append(say("user", "five"))
			require.Error(t, err)

			fork, err := s.Fork(l)
			require.NoError(t, err)
			require.Equal(t, []string{first, "two", "three", "four", "five"}, contextTexts(t, fork))
			got := behindHeader(t, content(t, base, fork.Path()))
			want := behindHeader(t, content(t, base, filed))
			require.True(t, strings.HasPrefix(got, want), "what is saved is copied, what cannot be read too")
			require.Equal(t, 1, strings.Count(got[len(want):], "\n"))
			requireAsItsFileReads(t, base, fork)
		})
	}
}

// TestForkOfASessionWhoseFileIsNotItsOwn: the conversation that is open is copied, not
// what is at its place by now.
func TestForkOfASessionWhoseFileIsNotItsOwn(t *testing.T) {
	t.Parallel()
	for name, happens := range map[string]func(t *testing.T, fs afero.Fs){
		"deleted":      func(t *testing.T, fs afero.Fs) { require.NoError(t, fs.Remove(filed)) },
		"emptied":      func(t *testing.T, fs afero.Fs) { put(t, fs, filed, "") },
		"written over": func(t *testing.T, fs afero.Fs) { put(t, fs, filed, st.File(st.Header("fedcba9876543210", "/w"))) },
		"a directory": func(t *testing.T, fs afero.Fs) {
			require.NoError(t, errors.Join(fs.Remove(filed), fs.Mkdir(filed, 0o700)))
		},
		"unreadable": func(_ *testing.T, fs afero.Fs) {
			fs.(*seam).open = func(name string) error {
				if name == filed {
					return os.ErrPermission
				}
				return nil
			}
		},
		"replaced": func(t *testing.T, fs afero.Fs) {
			put(t, fs, filed+".new", st.File(st.Header("0123456789abcdef", "/w")))
			require.NoError(t, fs.Rename(filed+".new", filed))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fs := &seam{Fs: afero.NewBasePathFs(afero.NewOsFs(), t.TempDir())}
			put(t, fs, filed, conversation()+"{damaged\n")
			s := newStore(fs)
			l := must(s.Open(filed))
			mustAppend(t, l, say("user", "three"))
			happens(t, fs)
			fork, err := s.Fork(l)
			require.NoError(t, err)
			require.Equal(t, []string{"one", "two", "three"}, contextTexts(t, fork))
			require.Contains(t, content(t, fs, fork.Path()), "{damaged\n")
		})
	}
}

// TestForkOfAHeaderOverSeveralLines: what stands behind such a header on its last line is
// no entry to any program, and would be one behind a header on one line.
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
			put(t, fs, filed, head+st.User("bbbbbbbb", "", "nobody sees this")+rest)
			s := newStore(fs)
			fork, err := s.ForkFrom(filed, "/w")
			require.NoError(t, err)
			require.Equal(t, rest, behindHeader(t, content(t, fs, fork.Path())))
			requireAsItsFileReads(t, fs, fork)

			put(t, fs, filed, head+" and nothing more")
			fork, err = s.ForkFrom(filed, "/w")
			require.NoError(t, err)
			require.Equal(t, "\n", behindHeader(t, content(t, fs, fork.Path())))
		})
	}
}

// TestForkOfASessionOfOmp: its header is the second line, and the only one of the copy.
func TestForkOfASessionOfOmp(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	file := slotLine() + "\n" + conversation() + "{damaged\n"
	put(t, fs, filed, file)
	s := newStore(fs)
	fork, err := s.Fork(must(s.Open(filed)))
	require.NoError(t, err)
	got := content(t, fs, fork.Path())
	require.True(t, strings.HasPrefix(got, `{"type":"session"`))
	require.Equal(t, behindHeader(t, file), behindHeader(t, got))
	requireAsItsFileReads(t, fs, fork)
}

func TestForkOfAnOlderFormatKeepsDamagedLines(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	v1, err := os.ReadFile(filepath.Join(fixtures, "pi/v1-compaction.jsonl"))
	require.NoError(t, err)
	head, rest, _ := strings.Cut(string(v1), "\n")
	put(t, fs, filed, st.File(head, "{damaged")+rest)
	s := newStore(fs)
	fork, err := s.ForkFrom(filed, "/w")
	require.NoError(t, err)
	got := content(t, fs, fork.Path())
	require.True(t, strings.HasPrefix(behindHeader(t, got), "\n{damaged\n"))
	require.Equal(t, "3", string(rawjson.Get([]byte(got), "version")))
	require.Equal(t, strings.Count(string(v1), "\n")+1, strings.Count(got, "\n"))
}

// TestForkBringsTheImagesItWouldNotFind: only lines with images change.
func TestForkBringsTheImagesItWouldNotFind(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	const hash = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824" // of "hello"
	put(t, fs, "/theirs/blobs/"+hash, "hello")
	image := strings.Replace(st.User("cccccccc", "bbbbbbbb", "@"), `"@"`,
		`[{"type":"image","data":"blob:sha256:`+hash+`","mimeType":"image/png"}]`, 1)
	put(t, fs, "/theirs/x.jsonl", conversation()+st.File("{damaged", image, `{ "type":"custom", "id":"dddddddd" }`))
	s := newStore(fs)
	s.RootFor = func(path string) (session.FileRoot, bool) {
		if strings.HasPrefix(path, "/theirs") {
			return session.FileRoot{Dialect: session.Omp, Blobs: "/theirs/blobs"}, true
		}
		return session.FileRoot{Blobs: "/store/blobs"}, true
	}
	fork, err := s.ForkFrom("/theirs/x.jsonl", "/w")
	require.NoError(t, err)
	want := strings.Replace(content(t, fs, "/theirs/x.jsonl"), "blob:sha256:"+hash, "aGVsbG8=", 1)
	require.Equal(t, behindHeader(t, want), behindHeader(t, content(t, fs, fork.Path())))
}

// TestForkOfAFileThatShrinksMeanwhileIsNoFork: half a conversation is none.
func TestForkOfAFileThatShrinksMeanwhileIsNoFork(t *testing.T) {
	t.Parallel()
	fs := &seam{Fs: afero.NewBasePathFs(afero.NewOsFs(), t.TempDir())}
	put(t, fs, filed, st.File(st.Header("0123456789abcdef", "/w"), st.User("aaaaaaaa", "", filler)))
	s := newStore(fs)
	l := must(s.Open(filed))
	fs.openFile = func(name string, _ int) error {
		if strings.HasSuffix(name, ".tmp") {
			put(t, fs.Fs, filed, "short")
		}
		return nil
	}
	_, err := s.Fork(l)
	require.Equal(t, fault.IO, fault.KindOf(err))
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	files, err := afero.ReadDir(fs, storeDir)
	require.NoError(t, err)
	require.Len(t, files, 1)
}

// TestEveryStepOfAForkCanFail: a fork is whole or not there, and the source never changes.
func TestEveryStepOfAForkCanFail(t *testing.T) {
	t.Parallel()
	v1, err := os.ReadFile(filepath.Join(fixtures, "pi/v1-compaction.jsonl"))
	require.NoError(t, err)
	for name, fork := range map[string]func(s *session.Store) (*session.Log, error){
		"live": func(s *session.Store) (*session.Log, error) { return s.Fork(must(s.Open(filed))) },
		"from": func(s *session.Store) (*session.Log, error) { return s.ForkFrom(filed, "/else") },
		"at": func(s *session.Store) (*session.Log, error) {
			l, _, err := s.ForkAt(must(s.Open(filed)), "bbbbbbbb", session.AtIt)
			return l, err
		},
		"older": func(s *session.Store) (*session.Log, error) { return s.ForkFrom("/v1.jsonl", "/else") },
	} {
		for mode, modeName := range []string{"once", "dead", "short"} {
			t.Run(name+" "+modeName, func(t *testing.T) {
				t.Parallel()
				for at := 1; ; at++ {
					base := afero.NewMemMapFs()
					put(t, base, filed, conversation()+`{"torn`)
					put(t, base, "/v1.jsonl", string(v1))
					before, all := content(t, base, filed), fileNames(t, base)
					faulty := &st.FaultFs{Fs: base, At: at, Mode: st.Mode(mode)}
					l, err := fork(newStore(faulty))
					require.Equal(t, before, content(t, base, filed))
					require.Equal(t, string(v1), content(t, base, "/v1.jsonl"))
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
