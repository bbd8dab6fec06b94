package contents_test

import (
	"bytes"
	"compress/flate"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/change"
	"github.com/xcsh-ls/xcsh-ls/agent/change/contents"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
)

var dir = filepath.FromSlash("/s/session/changes")

// random is a content that does not compress.
func random(t *testing.T, size int) []byte {
	t.Helper()
	b := make([]byte, size)
	_, err := rand.Read(b)
	require.NoError(t, err)
	return b
}

// files are the paths below the directory, with their sizes.
func files(t *testing.T, fsys afero.Fs, dir string) map[string]int64 {
	t.Helper()
	found := map[string]int64{}
	err := afero.Walk(fsys, dir, func(path string, info fs.FileInfo, err error) error {
		if err == nil && !info.IsDir() {
			found[filepath.ToSlash(path)] = info.Size()
		}
		return err
	})
	if !errors.Is(err, fs.ErrNotExist) {
		require.NoError(t, err)
	}
	return found
}

func TestWhatIsPutIsFound(t *testing.T) {
	t.Parallel()
	st.RunStorage(t, func(t *testing.T, fsys afero.Fs) {
		s := contents.Open(contents.Options{Fs: fsys, Dir: dir})
		require.Empty(t, files(t, fsys, dir), "opening touches nothing")
		for _, content := range [][]byte{nil, []byte("a"), []byte("line\r\nline\x00\xff"), random(t, 100_000), bytes.Repeat([]byte("long "), 100_000)} {
			sha, err := s.Put(content)
			require.NoError(t, err)
			require.Equal(t, change.Sum(content), sha)
			require.True(t, s.Has(sha))
			for _, reader := range []*contents.Store{s, contents.Open(contents.Options{Fs: fsys, Dir: dir})} {
				got, err := reader.Get(sha)
				require.NoError(t, err)
				require.True(t, bytes.Equal(content, got))
			}
			require.Contains(t, files(t, fsys, dir), "/s/session/changes/"+sha[:2]+"/"+sha)
		}
		names, err := s.Names()
		require.NoError(t, err)
		require.Len(t, names, 5)
		n, size, err := s.Size()
		require.NoError(t, err)
		require.Equal(t, 5, n)
		require.Less(t, size, int64(110_000), "it is compressed")
	})
}

func TestOnlyTheOwnerCanReadContents(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("no permission bits")
	}
	fsys, root := afero.NewOsFs(), t.TempDir()
	s := contents.Open(contents.Options{Fs: fsys, Dir: filepath.Join(root, "session", "changes")})
	_, err := s.Put([]byte("secret"))
	require.NoError(t, err)
	require.NoError(t, afero.Walk(fsys, filepath.Join(root, "session"), func(path string, info fs.FileInfo, err error) error {
		require.NoError(t, err)
		require.Zero(t, info.Mode().Perm()&0o077, path)
		return nil
	}))
}

// At each step of a put something fails: the content is kept, or there is an error and nothing is left; another put works.
func TestEachStepOfAPutCanFail(t *testing.T) {
	t.Parallel()
	content := random(t, 5000)
	for _, mode := range []st.Mode{st.Once, st.Short, st.Dead} {
		for _, reads := range []bool{false, true} {
			for at := 1; ; at++ {
				base := afero.NewMemMapFs()
				broken := &st.FaultFs{Fs: base, At: at, Mode: mode, Reads: reads}
				s := contents.Open(contents.Options{Fs: broken, Dir: dir})
				sha, err := s.Put(content)
				require.Equal(t, change.Sum(content), sha, "the name is known even so")
				there := files(t, base, dir)
				if err != nil {
					require.ErrorIs(t, err, st.ErrInjected)
					require.Equal(t, fault.IO, fault.KindOf(err))
				} else {
					require.Contains(t, there, "/s/session/changes/"+sha[:2]+"/"+sha)
				}
				if mode != st.Dead {
					for path := range there {
						require.NotContains(t, path, ".tmp", "step %d", at)
					}
					_, err = s.Put(content)
					require.NoError(t, err, "step %d", at)
				}
				if got, err := contents.Open(contents.Options{Fs: base, Dir: dir}).Get(sha); err == nil {
					require.Equal(t, content, got)
				} else {
					require.Equal(t, st.Dead, mode)
					require.ErrorIs(t, err, contents.ErrMissing, "never a half: step %d", at)
				}
				if !broken.Fired() {
					require.Greater(t, at, 4)
					break
				}
			}
		}
	}
}

func TestManyWritersAtOnce(t *testing.T) {
	t.Parallel()
	st.RunStorage(t, func(t *testing.T, fsys afero.Fs) {
		var all [][]byte
		for range 20 {
			all = append(all, random(t, 2000))
		}
		stores := []*contents.Store{contents.Open(contents.Options{Fs: fsys, Dir: dir}), contents.Open(contents.Options{Fs: fsys, Dir: dir})}
		var wg sync.WaitGroup
		errs := make(chan error, 1000)
		for i := range 6 {
			wg.Go(func() {
				s := stores[i%2]
				for _, content := range all {
					sha, err := s.Put(content)
					errs <- err
					got, err := s.Get(sha)
					errs <- err
					if !bytes.Equal(got, content) {
						errs <- errors.New("another content")
					}
				}
			})
		}
		wg.Wait()
		close(errs)
		for err := range errs {
			require.NoError(t, err)
		}
		require.Len(t, files(t, fsys, dir), len(all), "nothing temporary is left")
	})
}

func TestMissingAndDamagedContents(t *testing.T) {
	t.Parallel()
	bomb := func() []byte {
		var b bytes.Buffer
		w, err := flate.NewWriter(&b, flate.BestSpeed)
		require.NoError(t, err)
		zeros := make([]byte, 1<<20)
		for range 65 {
			_, err = w.Write(zeros)
			require.NoError(t, err)
		}
		require.NoError(t, w.Close())
		return b.Bytes()
	}()
	content := random(t, 3000)
	sha := change.Sum(content)
	for name, harm := range map[string]func(t *testing.T, fsys afero.Fs, path string){
		"empty": func(t *testing.T, fsys afero.Fs, path string) {
			require.NoError(t, afero.WriteFile(fsys, path, nil, 0o600))
		},
		"other": func(t *testing.T, fsys afero.Fs, path string) {
			require.NoError(t, afero.WriteFile(fsys, path, []byte("x"), 0o600))
		},
		"bomb": func(t *testing.T, fsys afero.Fs, path string) {
			require.NoError(t, afero.WriteFile(fsys, path, bomb, 0o600))
		},
		"directory": func(t *testing.T, fsys afero.Fs, path string) {
			require.NoError(t, fsys.Remove(path))
			require.NoError(t, fsys.Mkdir(path, 0o700))
		},
		"cut": func(t *testing.T, fsys afero.Fs, path string) {
			b, err := afero.ReadFile(fsys, path)
			require.NoError(t, err)
			require.NoError(t, afero.WriteFile(fsys, path, b[:len(b)-100], 0o600))
		},
		"flipped": func(t *testing.T, fsys afero.Fs, path string) {
			b, err := afero.ReadFile(fsys, path)
			require.NoError(t, err)
			b[len(b)/2] ^= 1
			require.NoError(t, afero.WriteFile(fsys, path, b, 0o600))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fsys := afero.NewMemMapFs()
			s := contents.Open(contents.Options{Fs: fsys, Dir: dir})
			_, err := s.Put(content)
			require.NoError(t, err)
			harm(t, fsys, filepath.Join(dir, sha[:2], sha))
			_, err = s.Get(sha)
			require.ErrorIs(t, err, contents.ErrDamaged)
			require.Equal(t, fault.Damaged, fault.KindOf(err))
			if name == "directory" {
				return
			}
			next := contents.Open(contents.Options{Fs: fsys, Dir: dir})
			_, err = next.Put(content)
			require.NoError(t, err, "a damaged content is replaced when it is there again")
			got, err := next.Get(sha)
			require.NoError(t, err)
			require.Equal(t, content, got)
		})
	}
	s := contents.Open(contents.Options{Fs: afero.NewMemMapFs(), Dir: dir})
	_, err := s.Get(sha)
	require.ErrorIs(t, err, contents.ErrMissing)
	require.False(t, s.Has(sha))
}

// A content that is known and was removed by another program is written again.
func TestARemovedContentIsWrittenAgain(t *testing.T) {
	t.Parallel()
	fsys := afero.NewMemMapFs()
	s := contents.Open(contents.Options{Fs: fsys, Dir: dir})
	sha, err := s.Put([]byte("x"))
	require.NoError(t, err)
	require.NoError(t, fsys.RemoveAll(dir))
	_, err = s.Put([]byte("x"))
	require.NoError(t, err)
	require.True(t, s.Has(sha))
}

func TestHostileNames(t *testing.T) {
	t.Parallel()
	fsys := afero.NewMemMapFs()
	require.NoError(t, afero.WriteFile(fsys, "/s/session/secret", []byte("x"), 0o600))
	s := contents.Open(contents.Options{Fs: fsys, Dir: dir})
	for _, name := range []string{
		"", "a", "../../secret", "/etc/passwd", strings.Repeat("A", 64), strings.Repeat("a", 63), strings.Repeat("a", 65),
		strings.Repeat("a", 62) + "/.", "..\x00" + strings.Repeat("a", 61), strings.Repeat("../", 21) + "x", strings.Repeat("é", 32),
	} {
		_, err := s.Get(name)
		require.ErrorIs(t, err, contents.ErrMissing, "%q", name)
		require.False(t, s.Has(name))
		require.NotContains(t, err.Error(), "\x00")
	}
}

func TestALinkIsRefused(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("links need a privilege")
	}
	content := []byte("content")
	sha := change.Sum(content)
	for _, where := range []string{"session", "session/changes", "session/changes/" + sha[:2]} {
		t.Run(where, func(t *testing.T) {
			t.Parallel()
			fsys, root := afero.NewOsFs(), t.TempDir()
			elsewhere := filepath.Join(root, "elsewhere")
			require.NoError(t, fsys.MkdirAll(elsewhere, 0o700))
			link := filepath.Join(root, filepath.FromSlash(where))
			require.NoError(t, fsys.MkdirAll(filepath.Dir(link), 0o700))
			require.NoError(t, os.Symlink(elsewhere, link))
			s := contents.Open(contents.Options{Fs: fsys, Dir: filepath.Join(root, "session", "changes")})
			_, err := s.Put(content)
			require.Equal(t, fault.OutsideRoot, fault.KindOf(err))
			_, err = s.Get(sha)
			require.Equal(t, fault.OutsideRoot, fault.KindOf(err))
			require.False(t, s.Has(sha))
			require.Empty(t, files(t, fsys, elsewhere))
		})
	}
	t.Run("a content", func(t *testing.T) {
		t.Parallel()
		fsys, root := afero.NewOsFs(), t.TempDir()
		s := contents.Open(contents.Options{Fs: fsys, Dir: filepath.Join(root, "changes")})
		_, err := s.Put(content)
		require.NoError(t, err)
		path := filepath.Join(root, "changes", sha[:2], sha)
		require.NoError(t, os.Rename(path, filepath.Join(root, "moved")))
		require.NoError(t, os.Symlink(filepath.Join(root, "moved"), path))
		_, err = s.Get(sha)
		require.ErrorIs(t, err, contents.ErrDamaged)
		_, err = s.Put(content)
		require.NoError(t, err)
		info, err := os.Lstat(path)
		require.NoError(t, err)
		require.True(t, info.Mode().IsRegular(), "the link is replaced, not written through")
	})
}

func TestTheBudget(t *testing.T) {
	t.Parallel()
	fsys := afero.NewMemMapFs()
	s := contents.Open(contents.Options{Fs: fsys, Dir: dir, MaxSession: 10_000})
	first := random(t, 6000)
	_, err := s.Put(first)
	require.NoError(t, err)
	_, err = s.Put(random(t, 6000))
	require.ErrorIs(t, err, contents.ErrBudget)
	require.Equal(t, fault.NoSpace, fault.KindOf(err))
	_, err = s.Put(first)
	require.NoError(t, err, "what is kept costs nothing")
	_, err = s.Put([]byte("small"))
	require.NoError(t, err)
	next := contents.Open(contents.Options{Fs: fsys, Dir: dir, MaxSession: 10_000})
	_, err = next.Put(random(t, 6000))
	require.ErrorIs(t, err, contents.ErrBudget, "what was there before counts")
}

func TestAStoreInMemory(t *testing.T) {
	t.Parallel()
	s := contents.Open(contents.Options{MaxSession: 8 << 20}) // below that of memory, which takes long to fill
	require.Empty(t, s.Dir())
	big := random(t, 5<<19)
	for i := range 3 {
		big[0] = byte(i)
		_, err := s.Put(big)
		require.NoError(t, err)
	}
	big[0] = 9
	_, err := s.Put(big)
	require.ErrorIs(t, err, contents.ErrBudget)
	big[0] = 1
	got, err := s.Get(change.Sum(big))
	require.NoError(t, err)
	require.True(t, bytes.Equal(big, got))
}

func TestASessionInMemoryGetsAFile(t *testing.T) {
	t.Parallel()
	for at := 0; ; at++ {
		base := afero.NewMemMapFs()
		broken := &st.FaultFs{Fs: base, At: at, Mode: st.Once}
		s := contents.Open(contents.Options{})
		var names []string
		for i := range 3 {
			sha, err := s.Put(fmt.Appendf(nil, "content %d", i))
			require.NoError(t, err)
			names = append(names, sha)
		}
		err := s.Settle(broken, dir, 0)
		for _, sha := range names {
			_, gone := s.Get(sha)
			require.NoError(t, gone, "step %d", at)
		}
		if err != nil {
			require.ErrorIs(t, err, st.ErrInjected)
			require.Empty(t, s.Dir())
			require.NoError(t, s.Settle(base, dir, 0))
		}
		require.Equal(t, dir, s.Dir())
		require.Len(t, files(t, base, dir), 3)
		require.NoError(t, s.Settle(base, "/elsewhere", 0), "it has a place")
		require.Equal(t, dir, s.Dir())
		if at > 0 && !broken.Fired() {
			break
		}
	}
}

func TestStates(t *testing.T) {
	t.Parallel()
	s := contents.Open(contents.Options{MaxFile: 10, Exclude: []string{".env*", "private/*.txt", "vendored/", "["}})
	state := func(path string, mode fs.FileMode, content string) change.State {
		got, err := s.StateWith(filepath.FromSlash(path), mode, []byte(content))
		require.NoError(t, err)
		return got
	}
	sum := func(s string) string { return change.Sum([]byte(s)) }
	require.Equal(t, change.State{Kind: change.Regular, SHA256: sum("a"), Mode: 0o755, Size: 1}, state("/p/a", 0o755, "a"))
	require.Equal(t, change.State{Kind: change.Link, SHA256: sum("target/that/is/long"), Size: 19}, state("/p/a", fs.ModeSymlink|0o777, "target/that/is/long"))
	require.Equal(t, change.State{Kind: change.Special}, state("/p/a", fs.ModeDir|0o755, ""))
	require.Equal(t, change.State{Kind: change.Large, SHA256: sum("more than ten"), Mode: 0o644, Size: 13}, state("/p/a", 0o644, "more than ten"))
	require.False(t, s.Has(sum("more than ten")))
	require.True(t, s.Has(sum("a")))
	require.True(t, s.Has(sum("target/that/is/long")))
	for path, excluded := range map[string]bool{
		"/p/.env": true, "/p/.env.local": true, "/p/env": false, "/p/private/a.txt": true, "/q/p/private/a.txt": true, "/p/private/a.go": false,
		"/p/vendored/x/y": true, "/p/notvendored/x": false, "/p/private/deep/a.txt": false, "/.env": true,
	} {
		require.Equal(t, excluded, s.Excluded(filepath.FromSlash(path)), path)
	}
	require.Equal(t, change.Large, state("/p/.env", 0o600, "k").Kind)
	require.False(t, s.Has(sum("k")))
	absent, err := s.StateOf("/p/a", nil, nil)
	require.NoError(t, err)
	require.Equal(t, change.State{Kind: change.Absent}, absent)
}
