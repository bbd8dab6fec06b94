package session

import (
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
)

// closedFs replaces no file that is open, as Windows.
type closedFs struct {
	afero.Fs
	mu    sync.Mutex
	open  map[string]int // guarded by mu
	fails bool           // every Rename
	late  func()         // is called when a session file was closed; nil afterwards; guarded by mu
}

func (c *closedFs) Open(name string) (afero.File, error) { return c.OpenFile(name, os.O_RDONLY, 0) }

func (c *closedFs) OpenFile(name string, flag int, mode os.FileMode) (afero.File, error) {
	f, err := c.Fs.OpenFile(name, flag, mode)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.open[name]++
	return &closedFile{File: f, done: sync.OnceFunc(func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.open[name]--
		if late := c.late; late != nil && flag == os.O_RDONLY && filepath.Ext(name) == ".jsonl" {
			c.late = nil
			late()
		}
	})}, nil
}

func (c *closedFs) Rename(from, to string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.fails || c.open[from] > 0 || c.open[to] > 0 {
		return &os.LinkError{Op: "rename", Old: from, New: to, Err: os.ErrPermission}
	}
	return c.Fs.Rename(from, to)
}

type closedFile struct {
	afero.File
	done func()
}

func (f *closedFile) Close() error {
	f.done()
	return f.File.Close()
}

// A session is rewritten where no open file can be replaced, although it is open, and stays usable when that fails.
func TestASessionIsRewrittenWhereNoOpenFileIsReplaced(t *testing.T) {
	t.Parallel()
	for _, large := range []bool{false, true} {
		dir := t.TempDir()
		path := filepath.Join(dir, "s.jsonl")
		lines := []string{st.Header("0190000000000001", "/w"), st.User("aaaaaaaa", "", "one"), st.Assistant("bbbbbbbb", "aaaaaaaa", "two")}
		if large { // its file stays open
			lines = append(lines, st.User("cccccccc", "bbbbbbbb", string(make([]byte, 2*smallFile))))
		}
		fs := &closedFs{Fs: afero.NewOsFs(), open: map[string]int{}}
		require.NoError(t, afero.WriteFile(fs, path, []byte(st.File(lines...)), 0o600))
		store := NewStore(StoreConfig{Fs: fs, IndexMax: -1, Now: time.Now})
		l, err := store.Open(path)
		require.NoError(t, err)
		require.True(t, !large || l.doc.src.file != nil)
		rename := func(title string) error {
			_, err := l.SetTitle(Title{Text: title, Source: "user"})
			return err
		}
		first := func() string {
			var text string
			require.NoError(t, l.View(func(d *Document, _ Leaf) error {
				e, err := d.Entry(0)
				text = string(e.Raw)
				return err
			}))
			return text
		}
		before := first()

		store.replacesClosed = false
		require.Error(t, rename("Refused"), "it is open")

		store.replacesClosed = true
		require.NoError(t, rename("New"))
		require.Equal(t, before, first())
		content, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Contains(t, string(content), `"New"`)

		fs.fails = true
		require.Error(t, rename("Newer"))
		require.Equal(t, before, first(), "it is open again")
		fs.fails = false
		require.NoError(t, rename("Newest"))

		// Another program appends when the file was closed.
		fs.mu.Lock()
		fs.late = func() {
			f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0o600)
			require.NoError(t, err)
			_, err = f.WriteString(st.User("dddddddd", "bbbbbbbb", "theirs") + "\n")
			require.NoError(t, err)
			require.NoError(t, f.Close())
		}
		fs.mu.Unlock()
		require.NoError(t, rename("Last"))
		content, err = os.ReadFile(path)
		require.NoError(t, err)
		require.Contains(t, string(content), `"theirs"`)
		require.Contains(t, string(content), `"Last"`)
		require.Nil(t, fs.late)
		require.NoError(t, l.Close())
		require.Zero(t, fs.open[path])
	}
}
