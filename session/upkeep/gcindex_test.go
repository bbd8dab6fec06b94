package upkeep_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/internal/indexfile"
	"github.com/xcsh-ls/xcsh-ls/session/library"
	"github.com/xcsh-ls/xcsh-ls/session/upkeep"
)

// shelf is a directory of index files on disk.
type shelf struct {
	*testing.T
	top, dir string
	fs       afero.Fs
}

func newShelf(t *testing.T) *shelf {
	t.Helper()
	s := &shelf{T: t, top: t.TempDir(), fs: afero.NewOsFs()}
	s.dir = filepath.Join(s.top, "agent", "cache", "index")
	require.NoError(t, os.MkdirAll(s.dir, 0o700))
	return s
}

// put writes a file that was changed a while ago.
func (s *shelf) put(path, content string, ago time.Duration) string {
	s.Helper()
	require.NoError(s, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(s, os.WriteFile(path, []byte(content), 0o600))
	return s.age(path, ago)
}

func (s *shelf) age(path string, ago time.Duration) string {
	s.Helper()
	at := time.Now().Add(-ago)
	require.NoError(s, os.Chtimes(path, at, at))
	return path
}

// index writes a file with facts about a session under a name.
func (s *shelf) index(name, about string) string {
	s.Helper()
	var e indexfile.Encoder
	e.Text(about)
	e.Text("more facts")
	d := indexfile.Dir{Fs: s.fs, Path: s.dir, Max: 1 << 30, Now: time.Now}
	require.NoError(s, d.Write(name, e.Bytes))
	return s.age(filepath.Join(s.dir, name), 2*time.Hour)
}

// find returns the garbage of the shelf.
func (s *shelf) find() *upkeep.Garbage {
	s.Helper()
	agent := filepath.Join(s.top, "agent")
	f := library.Finder{
		Fs: s.fs, Home: s.top, Now: time.Now, RealPath: filepath.EvalSymlinks, CacheDir: filepath.Dir(s.dir), IndexDir: s.dir,
		Roots: []library.Root{library.OwnRoot(library.AgentPlaces(agent))},
	}
	store := session.NewStore(session.StoreConfig{Fs: s.fs, DirFor: f.DirFor, RealPath: filepath.EvalSymlinks})
	g, err := upkeep.FindGarbage(s.Context(), store, f, upkeep.GCOptions{})
	require.NoError(s, err)
	return g
}

func pathsOf(items []upkeep.GCItem) (paths []string) {
	for _, i := range items {
		paths = append(paths, i.Path)
	}
	return paths
}

// TestIndexFilesOfMissingSessionsAreGarbage: and what else no reader would use. Everything else in the directory stays as it is,
// whatever it is called and wherever it leads.
// Proves: AB-012
func TestIndexFilesOfMissingSessionsAreGarbage(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	session := func(name string) string { return filepath.Join(s.top, "agent", "sessions", "--w--", name+".jsonl") }
	there := s.put(session("there"), "{}\n", 0)
	name := indexfile.Name
	kept := []string{
		s.index(name(there)+".idx", there),
		s.index(name(there)+".ext", there),
		s.put(filepath.Join(s.dir, name("newer")+".idx"), "xcsh-ls index 999\n and more", 2*time.Hour),
		s.put(filepath.Join(s.dir, name("foreign")+".idx"), "somebody's own index", 2*time.Hour),
		s.put(filepath.Join(s.dir, name("nothing")+".ext"), "", 2*time.Hour),
		s.put(filepath.Join(s.dir, "README.md"), "mine", 2*time.Hour),
		s.put(filepath.Join(s.dir, "notes.idx"), "xcsh-ls index 1\n", 2*time.Hour),
		s.put(filepath.Join(s.dir, strings.ToUpper(name("upper"))+".idx"), "xcsh-ls index 1\n", 2*time.Hour),
		s.put(filepath.Join(s.dir, name("backup")+".idx~"), "xcsh-ls index 1\n", 2*time.Hour),
		s.put(filepath.Join(s.dir, name("x")+".idx.notanumber.tmp"), "half", 2*time.Hour),
		s.put(filepath.Join(s.dir, name("young")+".idx.123.tmp"), "half", time.Minute),
		s.put(filepath.Join(s.dir, name("a directory")+".idx", "inside.txt"), "mine", 2*time.Hour),
	}
	gone := []string{
		s.index(name(session("gone"))+".idx", session("gone")),
		s.index(name(session("gone"))+".ext", session("gone")),
		s.index(name("another")+".idx", there), // of another name
		s.index(name("/\n../..")+".idx", "/\n../.."),
		s.put(filepath.Join(s.dir, name("older")+".idx"), "xcsh-ls index 1\nrest", 2*time.Hour),
		s.put(filepath.Join(s.dir, name("cut")+".idx"), "xcsh-ls index 2\n", 2*time.Hour),
	}
	young := s.index(name("just gone")+".idx", "just gone")
	s.age(young, time.Minute)
	kept = append(kept, young)
	gone = append(gone, s.put(filepath.Join(s.dir, name("crash")+".idx.123.tmp"), "half", 2*time.Hour))

	target := s.put(filepath.Join(s.top, "elsewhere", "thesis.txt"), "xcsh-ls index 1\nmine", 2*time.Hour)
	link := filepath.Join(s.dir, name("link")+".idx")
	if err := os.Symlink(target, link); err == nil {
		kept = append(kept, target, link)
	}

	g := s.find()
	require.ElementsMatch(t, gone, pathsOf(g.Indexes))
	require.Empty(t, g.Leftovers)
	require.False(t, g.Empty())
	for _, path := range gone {
		require.FileExists(t, path, "nothing is removed yet")
	}
	again := s.age(gone[0], time.Second) // written again after it was found
	r, err := g.Remove(t.Context())
	require.NoError(t, err)
	require.Empty(t, r.Failed)
	require.Equal(t, []string{again}, r.Kept)
	require.Len(t, r.Removed, len(gone)-1)
	require.Empty(t, r.Into, "nothing is kept in the trash")
	for _, path := range gone[1:] {
		require.NoFileExists(t, path)
	}
	for _, path := range kept {
		_, err := os.Lstat(path)
		require.NoError(t, err, path)
	}
	content, err := os.ReadFile(target)
	require.NoError(t, err)
	require.Equal(t, "xcsh-ls index 1\nmine", string(content))
}

// TestALinkInPlaceOfTheIndexDirectory: what it leads to is neither looked at nor removed.
func TestALinkInPlaceOfTheIndexDirectory(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	path := s.index(indexfile.Name("/gone")+".idx", "/gone")
	require.Equal(t, []string{path}, pathsOf(s.find().Indexes))
	elsewhere := filepath.Join(s.top, "elsewhere")
	require.NoError(t, os.Rename(s.dir, elsewhere))
	if err := os.Symlink(elsewhere, s.dir); err != nil {
		t.Skip("no symbolic links here:", err)
	}
	require.Empty(t, s.find().Indexes)
	require.NoError(t, os.Remove(s.dir))
	require.Empty(t, s.find().Indexes, "there is no directory")
}
