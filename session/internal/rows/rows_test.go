package rows_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
	"github.com/xcsh-ls/xcsh-ls/session/internal/disk"
	"github.com/xcsh-ls/xcsh-ls/session/internal/rows"
)

const (
	place = "/home/agent/cache/rows"
	long  = 400 // bytes of a text: with two hundred rows a file is not small
)

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// world is files with rows, and the newest facts of each.
type world struct {
	fs   afero.Fs
	want map[string]map[string]rows.Facts
}

func newWorld(t testing.TB, fs afero.Fs) *world {
	t.Helper()
	require.NoError(t, fs.MkdirAll("/home/agent", 0o700))
	return &world{fs, map[string]map[string]rows.Facts{}}
}

// facts makes the facts of a file that depend on n.
func facts(dir, name string, n int) rows.Facts {
	return rows.Facts{
		Dir: dir, Name: name, Key: uint64(n) << 40, Flags: uint16(n % (2 * rows.MaxFlag)), Group: fmt.Sprint("/work/", n%3),
		Stamp: disk.Stamp{Size: int64(n), Mtime: -int64(n), Ctime: int64(n) << 32, Inode: ^uint64(n)},
		Text:  []byte(strings.Repeat(fmt.Sprintf("%s %d ", name, n), n%5) + strings.Repeat("x", long)),
	}
}

// save stores new facts, in directories that are listed whole and keep their other rows.
func (w *world) save(t testing.TB, dirs []string, fresh ...rows.Facts) {
	t.Helper()
	u := rows.Update{Listed: dirs, New: fresh, Now: noon}
	f := rows.Open(w.fs, place)
	for _, n := range fresh {
		require.NoError(t, w.fs.MkdirAll(n.Dir, 0o700))
		if w.want[n.Dir] == nil {
			w.want[n.Dir] = map[string]rows.Facts{}
		}
		w.want[n.Dir][n.Name] = n
	}
	for _, dir := range dirs {
		for name := range w.want[dir] {
			isNew := slices.ContainsFunc(fresh, func(n rows.Facts) bool { return n.Dir == dir && n.Name == name })
			if r := f.Dir(dir).Find(name); r.Found() && !isNew {
				u.Kept = append(u.Kept, r)
			}
		}
	}
	require.NoError(t, f.Save(u))
}

// check requires that the file has exactly the wanted rows. Half of the time all texts are read at once.
func (w *world) check(t testing.TB) {
	t.Helper()
	f := rows.Open(w.fs, place)
	defer f.Close()
	n := 0
	for dir, files := range w.want {
		for name, want := range files {
			if n++; n == 20 {
				f.Preload(1000)
			}
			requireRow(t, f, f.Dir(dir).Find(name), want)
		}
		require.False(t, f.Dir(dir).Find("another").Found())
	}
	require.False(t, f.Dir("/elsewhere").Find("a").Found())
}

func requireRow(t testing.TB, f *rows.File, r rows.Row, want rows.Facts) {
	t.Helper()
	require.True(t, r.Found(), "%s in %s", want.Name, want.Dir)
	require.Equal(t, want.Stamp, r.Stamp())
	require.Equal(t, want.Key, r.Key())
	require.Equal(t, want.Flags, r.Flags())
	require.Equal(t, want.Group, r.Group())
	text, ok := f.Text(r)
	require.True(t, ok)
	require.Equal(t, string(want.Text), text)
}

// big stores two hundred rows in two directories.
func (w *world) big(t testing.TB) {
	t.Helper()
	var fresh []rows.Facts
	for n := range 200 {
		fresh = append(fresh, facts(fmt.Sprint("/d", n%2), fmt.Sprintf("file %d", n), n))
	}
	w.save(t, []string{"/d0", "/d1"}, fresh...)
}

func (w *world) content(t testing.TB) []byte {
	t.Helper()
	content, err := afero.ReadFile(w.fs, place)
	require.NoError(t, err)
	return content
}

// TestRowsAreWhatWasStored compares random additions with a map.
func TestRowsAreWhatWasStored(t *testing.T) {
	t.Parallel()
	for seed := range uint64(4) {
		r := rand.New(rand.NewPCG(seed, 1))
		w := newWorld(t, afero.NewMemMapFs())
		for range 60 {
			var fresh []rows.Facts
			for range r.IntN(4 + 60/(1+r.IntN(30))) {
				one := facts(fmt.Sprint("/d", r.IntN(4)), fmt.Sprint(r.IntN(300)), r.IntN(5000))
				if !slices.ContainsFunc(fresh, func(f rows.Facts) bool { return f.Dir == one.Dir && f.Name == one.Name }) {
					fresh = append(fresh, one)
				}
			}
			w.save(t, []string{"/d0", "/d1", "/d2", "/d3"}[:r.IntN(5)], fresh...)
			w.check(t)
		}
	}
}

// TestAnAdditionLeavesTheRestOfTheFile: a row more is a few hundred bytes more.
func TestAnAdditionLeavesTheRestOfTheFile(t *testing.T) {
	t.Parallel()
	w := newWorld(t, afero.NewMemMapFs())
	w.big(t)
	before := w.content(t)
	for n := range 10 {
		one := facts("/d1", "file 1", 1000+n)
		w.save(t, []string{"/d1"}, one)
		after := w.content(t)
		require.True(t, bytes.HasPrefix(after, before), "nothing else is written")
		require.Less(t, len(after)-len(before), len(one.Text)+200)
		before = after
		w.check(t)
	}
}

// TestManyAdditionsAreFolded: the file does not grow without bounds, and what is overridden goes.
func TestManyAdditionsAreFolded(t *testing.T) {
	t.Parallel()
	w := newWorld(t, afero.NewMemMapFs())
	w.big(t)
	size, folded := len(w.content(t)), false
	for n := range 400 {
		before := w.content(t)
		w.save(t, []string{"/d1"}, facts("/d1", "file 1", n))
		after := w.content(t)
		folded = folded || !bytes.HasPrefix(after, before)
		require.Less(t, len(after), 2*size+64<<10)
	}
	require.True(t, folded)
	w.check(t)
}

// TestRowsOfNoUseGo: after many files have gone, the whole file is written again without them.
func TestRowsOfNoUseGo(t *testing.T) {
	t.Parallel()
	w := newWorld(t, afero.NewMemMapFs())
	w.big(t)
	for name := range w.want["/d0"] {
		if name != "file 0" {
			delete(w.want["/d0"], name)
		}
	}
	w.save(t, []string{"/d0"}, facts("/d0", "file 0", 7))
	w.check(t)
	f := rows.Open(w.fs, place)
	defer f.Close()
	require.False(t, f.Dir("/d0").Find("file 2").Found())
	require.True(t, f.Dir("/d1").Find("file 1").Found(), "of a directory that was not listed")
}

// TestADirectoryThatIsGoneIsForgotten when the whole file is written again, and one that was not listed stays.
func TestADirectoryThatIsGoneIsForgotten(t *testing.T) {
	t.Parallel()
	w := newWorld(t, afero.NewMemMapFs())
	w.save(t, nil, facts("/a", "1", 1), facts("/b", "2", 2), facts("/c", "3", 3))
	require.NoError(t, w.fs.RemoveAll("/b"))
	delete(w.want, "/b")
	w.save(t, []string{"/c"}, facts("/c", "4", 4))
	w.check(t)
	f := rows.Open(w.fs, place)
	defer f.Close()
	require.ElementsMatch(t, []string{"/a", "/c"}, f.Dirs())
}

// damaged is a file with a base and two additions.
func damaged(t testing.TB) (*world, []byte) {
	t.Helper()
	w := newWorld(t, afero.NewMemMapFs())
	w.big(t)
	w.save(t, []string{"/d1"}, facts("/d1", "file 1", 1000))
	w.save(t, []string{"/d1", "/d0"}, facts("/d1", "file 1", 1001), facts("/d0", "new", 1002))
	return w, w.content(t)
}

// TestDamage: of a damaged file, every row that is found is one that was stored, and the next
// addition repairs it.
func TestDamage(t *testing.T) {
	t.Parallel()
	w, good := damaged(t)
	for at := 0; at < len(good); at++ {
		switch { // the file has a hundred thousand bytes
		case at > len(good)-2000:
			at += 10
		case at > 40:
			at += 1000
		}
		flipped := slices.Clone(good)
		at = min(at, len(good)-1)
		flipped[at] ^= 1 << (at % 8)
		for _, bad := range [][]byte{flipped, good[:at], slices.Concat(good[:at], good[min(len(good), at+64):])} {
			require.NoError(t, afero.WriteFile(w.fs, place, bad, 0o600))
			requireTrueRows(t, w)
		}
	}
	// An addition behind an incomplete one could not be found.
	require.NoError(t, afero.WriteFile(w.fs, place, good[:len(good)-1], 0o600))
	one := facts("/d1", "file 3", 2000)
	w.save(t, []string{"/d1"}, one)
	f := rows.Open(w.fs, place)
	defer f.Close()
	requireRow(t, f, f.Dir("/d1").Find("file 3"), one)
}

// requireTrueRows requires that every row which is found was stored once, or has no text.
func requireTrueRows(t testing.TB, w *world) {
	t.Helper()
	f := rows.Open(w.fs, place)
	defer f.Close()
	for dir, files := range w.want {
		for name := range files {
			r := f.Dir(dir).Find(name)
			if !r.Found() {
				continue
			}
			n := int(r.Stamp().Size)
			want := facts(dir, name, n)
			require.Equal(t, want.Stamp, r.Stamp())
			require.Equal(t, want.Key, r.Key())
			require.Equal(t, want.Group, r.Group())
			if text, ok := f.Text(r); ok {
				require.Equal(t, string(want.Text), text)
			}
		}
	}
}

// TestForeignFiles: files that are not of this version have no rows, and are replaced.
func TestForeignFiles(t *testing.T) {
	t.Parallel()
	_, good := damaged(t)
	for _, content := range []string{
		"", "x", "xcsh-ls list 3\n", "xcsh-ls list 2\n" + string(good[15:]), "xcsh-ls list 4\n" + string(good[15:]),
		strings.Repeat("\xff", 1000), string(good[15:]), strings.Repeat("\x00", 1000),
	} {
		w := newWorld(t, afero.NewMemMapFs())
		require.NoError(t, afero.WriteFile(w.fs, place, []byte(content), 0o600))
		f := rows.Open(w.fs, place)
		require.Empty(t, f.Dirs())
		require.False(t, f.Dir("/d0").Find("file 0").Found())
		f.Close()
		w.save(t, nil, facts("/d0", "file 0", 1))
		w.check(t)
	}
	for head, want := range map[string]bool{"xcsh-ls list 2\n": true, "xcsh-ls list 3\n": false, "xcsh-ls list 4\n": false, "list 2\n": false, "": false} {
		fs := afero.NewMemMapFs()
		require.NoError(t, afero.WriteFile(fs, place, []byte(head), 0o600))
		require.Equal(t, want, rows.Outdated(fs, place), head)
	}
}

// TestAFileOfANewerVersionIsNotAddedTo: another program may have replaced the file since it was read.
func TestAFileOfANewerVersionIsNotAddedTo(t *testing.T) {
	t.Parallel()
	w, good := damaged(t)
	f := rows.Open(w.fs, place)
	newer := []byte(strings.Replace(string(good), "list 3", "list 4", 1))
	require.NoError(t, afero.WriteFile(w.fs, place, newer, 0o600))
	kept := make([]rows.Row, 0, 100)
	for name := range w.want["/d1"] {
		kept = append(kept, f.Dir("/d1").Find(name))
	}
	require.Error(t, f.Save(rows.Update{Listed: []string{"/d1"}, Kept: kept, New: []rows.Facts{facts("/d1", "x", 1)}, Now: noon}))
	require.Equal(t, newer, w.content(t))
}

// TestFailingWrites: after a failure at any step the file is readable, has no wrong row, and no other
// file is left behind.
func TestFailingWrites(t *testing.T) {
	t.Parallel()
	for _, mode := range []sessiontest.Mode{sessiontest.Once, sessiontest.Short, sessiontest.Dead} {
		for _, fresh := range []int{1, 100} { // added, and the whole file written again
			for at := 1; ; at++ {
				memory := afero.NewMemMapFs()
				w := newWorld(t, memory)
				w.big(t)
				faulty := &sessiontest.FaultFs{Fs: memory, At: at, Mode: mode}
				u := rows.Update{Listed: []string{"/d0"}, Now: noon}
				f := rows.Open(faulty, place)
				for n := range 100 {
					if one := facts("/d0", fmt.Sprintf("file %d", 2*n), 3000+n); n < fresh {
						u.New = append(u.New, one)
					} else {
						u.Kept = append(u.Kept, f.Dir("/d0").Find(one.Name))
					}
				}
				err := f.Save(u)
				if !faulty.Fired() {
					require.NoError(t, err)
					require.Greater(t, at, 2, "opening and writing at least")
					break
				}
				requireTrueRows(t, w)
				entries, err := afero.ReadDir(memory, filepath.Dir(place))
				require.NoError(t, err)
				if mode != sessiontest.Dead {
					require.Len(t, entries, 1, "step %d", at)
				}
				w.save(t, []string{"/d0", "/d1"}, facts("/d0", "file 0", 4000))
				requireTrueRows(t, w)
				f = rows.Open(memory, place)
				requireRow(t, f, f.Dir("/d0").Find("file 0"), facts("/d0", "file 0", 4000))
				requireRow(t, f, f.Dir("/d1").Find("file 1"), facts("/d1", "file 1", 1))
				f.Close()
			}
		}
	}
}

// TestManyWriters: programs that add and rewrite at the same time leave a file whose rows are true.
func TestManyWriters(t *testing.T) {
	t.Parallel()
	w := newWorld(t, afero.NewBasePathFs(afero.NewOsFs(), t.TempDir()))
	w.big(t)
	var writers sync.WaitGroup
	for writer := range 6 {
		writers.Go(func() {
			for n := range 25 {
				f := rows.Open(w.fs, place)
				dir := fmt.Sprint("/d", writer%2)
				u := rows.Update{Now: noon, New: []rows.Facts{facts(dir, fmt.Sprintf("file %d", writer), 5000+n)}}
				if n%9 == 8 {
					u.Listed = []string{dir} // without rows to keep: the whole file is written again
				}
				requireTrueRows(t, &world{w.fs, map[string]map[string]rows.Facts{dir: {"file 0": {}, "file 1": {}, fmt.Sprintf("file %d", writer): {}}}})
				if err := f.Save(u); err != nil && runtime.GOOS != "windows" {
					t.Error(err)
				}
			}
		})
	}
	writers.Wait()
	requireTrueRows(t, w)
	info, err := w.fs.Stat(place)
	require.NoError(t, err)
	if runtime.GOOS != "windows" {
		require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	}
}

// TestTextsAreReadConcurrently: afero's files in memory have one position.
func TestTextsAreReadConcurrently(t *testing.T) {
	t.Parallel()
	w := newWorld(t, afero.NewMemMapFs())
	w.big(t)
	f := rows.Open(w.fs, place)
	defer f.Close()
	var readers sync.WaitGroup
	for range 8 {
		readers.Go(func() {
			for n := range 200 {
				want := facts(fmt.Sprint("/d", n%2), fmt.Sprintf("file %d", n), n)
				if text, ok := f.Text(f.Dir(want.Dir).Find(want.Name)); !ok || text != string(want.Text) {
					t.Error(n)
				}
			}
		})
	}
	readers.Wait()
}

// TestHash: the hash does not depend on the run, and similar names are spread.
func TestHash(t *testing.T) {
	t.Parallel()
	require.Equal(t, uint64(0x9915da858ddc0360), rows.Hash("2026-01-01T00-00-00-000Z_x.jsonl"), "it is stored")
	seen := map[uint64]string{}
	for n := range 20_000 {
		for _, name := range []string{fmt.Sprint(n), fmt.Sprintf("%d\x00", n), fmt.Sprintf("2026-01-01T00-00-00-%d.jsonl", n)} {
			require.Empty(t, seen[rows.Hash(name)], name)
			seen[rows.Hash(name)] = name
		}
	}
}

// FuzzOpen: no file breaks a reader.
func FuzzOpen(f *testing.F) {
	w, good := damaged(f)
	f.Add(good)
	f.Add(good[:len(good)-100])
	f.Add([]byte("xcsh-ls list 3\nROWS\x00\x00\x00\x00\x05\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\xff\xff\xff\xff\x7f"))
	f.Fuzz(func(t *testing.T, content []byte) {
		require.NoError(t, afero.WriteFile(w.fs, place, content, 0o600))
		requireTrueRows(t, w)
		f := rows.Open(w.fs, place)
		require.NoError(t, f.Save(rows.Update{Listed: []string{"/d0"}, New: []rows.Facts{facts("/d0", "file 0", 9)}, Now: noon}))
		f = rows.Open(w.fs, place)
		defer f.Close()
		requireRow(t, f, f.Dir("/d0").Find("file 0"), facts("/d0", "file 0", 9))
	})
}
