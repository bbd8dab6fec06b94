package dirwatch

import (
	"path/filepath"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fsnotify/fsnotify"
	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"
)

// A poll finds what the system would have reported, after a second.
func TestAPollFindsChanges(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		fs := afero.NewMemMapFs()
		dir, a, b := filepath.FromSlash("/s"), filepath.FromSlash("/s/a"), filepath.FromSlash("/s/b")
		w, err := New(fs, true)
		require.NoError(t, err)
		require.NoError(t, w.Add(dir))
		// next returns the events of the next look.
		next := func() map[string]fsnotify.Op {
			found := map[string]fsnotify.Op{}
			<-time.After(shortest)
			synctest.Wait()
			for {
				select {
				case e := <-w.Events():
					found[e.Name] |= e.Op
					synctest.Wait()
				default:
					return found
				}
			}
		}
		write := func(path, content string) {
			t.Helper()
			require.NoError(t, afero.WriteFile(fs, path, []byte(content), 0o600))
		}
		require.Empty(t, next(), "the directory is missing")
		write(a, "1")
		require.Equal(t, map[string]fsnotify.Op{dir: fsnotify.Create, a: fsnotify.Create}, next())
		require.Empty(t, next(), "nothing has changed")
		write(a, "12")
		write(b, "1")
		require.Equal(t, map[string]fsnotify.Op{a: fsnotify.Write, b: fsnotify.Create}, next())
		require.NoError(t, fs.Chtimes(b, time.Now(), time.Now().Add(time.Hour)))
		require.Equal(t, map[string]fsnotify.Op{b: fsnotify.Write}, next(), "of the same size")
		require.NoError(t, w.Add(dir), "again")
		require.NoError(t, fs.Remove(b))
		require.Equal(t, map[string]fsnotify.Op{b: fsnotify.Remove}, next())
		require.NoError(t, fs.RemoveAll(dir))
		require.Equal(t, map[string]fsnotify.Op{dir: fsnotify.Remove, a: fsnotify.Remove}, next())

		write(a, "1") // nobody takes the event before the end
		<-time.After(shortest)
		require.NoError(t, w.Close())
		require.NoError(t, w.Close())
		require.ErrorIs(t, w.Add(dir), fsnotify.ErrClosed)
		_, open := <-w.Events()
		require.False(t, open)
	})
}

// A subscriber that is slow gets one event for each file, and can add directories meanwhile.
func TestChangesWaitForASlowSubscriber(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		fs := afero.NewMemMapFs()
		dir, a := filepath.FromSlash("/s"), filepath.FromSlash("/s/a")
		require.NoError(t, fs.MkdirAll(dir, 0o700))
		w, err := New(fs, true)
		require.NoError(t, err)
		require.NoError(t, w.Add(dir))
		for content := "1"; len(content) < 10; content += "1" {
			require.NoError(t, afero.WriteFile(fs, a, []byte(content), 0o600))
			<-time.After(shortest)
			require.NoError(t, w.Add(filepath.FromSlash("/other")))
		}
		synctest.Wait()
		require.Equal(t, fsnotify.Event{Name: a, Op: fsnotify.Create | fsnotify.Write}, <-w.Events())
		synctest.Wait()
		select {
		case e := <-w.Events():
			require.Fail(t, "a second event", "%v", e)
		default:
		}
		require.NoError(t, w.Close())
	})
}

// A file that replaces another one is new, although its size and time are the same.
func TestAReplacedFileIsNew(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("Windows reports changes itself, and a list has no identities of its files")
	}
	fs, dir := afero.NewOsFs(), t.TempDir()
	p := &poller{fs: fs}
	at := time.Now()
	write := func(name string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, afero.WriteFile(fs, path, []byte("1"), 0o600))
		require.NoError(t, fs.Chtimes(path, at, at))
		return path
	}
	a, b := write("a"), write("b")
	before := p.list(dir)
	require.NoError(t, fs.Rename(b, a))
	require.Equal(t, map[string]fsnotify.Op{a: fsnotify.Create, b: fsnotify.Remove}, changes(dir, before, p.list(dir)))
}

// Polling takes a fiftieth of a processor at most, unless a single look takes more than a second.
func TestPollingIsBounded(t *testing.T) {
	t.Parallel()
	for look, want := range map[time.Duration]time.Duration{
		0: time.Second, time.Millisecond: time.Second, 20 * time.Millisecond: time.Second, 100 * time.Millisecond: 5 * time.Second, time.Second: 50 * time.Second, 10 * time.Second: time.Minute,
	} {
		require.Equal(t, want, pauseAfter(look), look)
	}
}

// fsnotify opens every file of a directory where it uses kqueue.
func TestSystemsThatPoll(t *testing.T) {
	t.Parallel()
	for system, want := range map[string]bool{"linux": false, "windows": false, "darwin": true, "freebsd": true} {
		require.Equal(t, want, polls(system), system)
	}
}
