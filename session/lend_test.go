package session_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
	"github.com/xcsh-ls/xcsh-ls/internal/sessiontest/kit"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// lentLog returns a session that is lent, whose file another program appends to.
func lentLog(t *testing.T, content string) (l *session.Log, lent *session.Lent, path string) {
	t.Helper()
	fs, path := kit.Disk(t)
	require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
	l, err := kit.StoreIn(fs, filepath.Dir(path), nil).Open(path)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, l.Close()) })
	lent, err = l.Lend("pi")
	require.NoError(t, err)
	return l, lent, path
}

func caught(t *testing.T, lent *session.Lent) (ids []string) {
	t.Helper()
	entries, err := lent.Catch()
	require.NoError(t, err)
	for _, e := range entries {
		ids = append(ids, e.ID)
	}
	return ids
}

func TestALentSessionIsReadAndNotWritten(t *testing.T) {
	t.Parallel()
	l, lent, path := lentLog(t, kit.Conversation())
	require.False(t, lent.Awaited())
	require.Empty(t, caught(t, lent))
	_, err := l.Append(kit.Say("user", "x"))
	require.True(t, fault.Is(err, fault.Busy), err)

	foreign(t, path, st.User("f0000001", "bbbbbbbb", "three"), st.User("f0000002", "f0000001", "four"))
	require.Equal(t, []string{"f0000001", "f0000002"}, caught(t, lent))
	require.Empty(t, caught(t, lent))
	require.Equal(t, "f0000002", l.LeafID())
	require.Equal(t, []string{"one", "two", "three", "four"}, contextTexts(t, l))

	require.NoError(t, lent.Return())
	kit.MustAppend(t, l, kit.Say("user", "five"))
	require.Equal(t, []string{"one", "two", "three", "four", "five"}, contextTexts(t, l))
}

// Two programs append at the same time, each entry with one call, while the session is looked at: all entries are there
// and each is caught once.
func TestTwoProgramsAppendToALentSession(t *testing.T) {
	t.Parallel()
	const each = 500
	l, lent, path := lentLog(t, kit.Conversation())
	var writers sync.WaitGroup
	for w := range 2 {
		writers.Go(func() {
			f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
			if !assert.NoError(t, err) {
				return
			}
			parent := "bbbbbbbb"
			for i := range each {
				id := fmt.Sprintf("%d%07x", w+1, i)
				if _, err := f.WriteString(st.User(id, parent, strings.Repeat("text ", i%50)) + "\n"); !assert.NoError(t, err) {
					return
				}
				parent = id
			}
			assert.NoError(t, f.Close())
		})
	}
	ended := make(chan struct{})
	go func() { writers.Wait(); close(ended) }()
	seen := map[string]int{}
	for done := false; !done; {
		select {
		case <-ended:
			done = true
		default:
		}
		for _, id := range caught(t, lent) {
			seen[id]++
		}
		_ = l.LeafID()
	}
	require.Len(t, seen, 2*each)
	for id, n := range seen {
		require.Equal(t, 1, n, id)
	}
	require.NoError(t, lent.Return())
	require.Len(t, idCounts(t, path), 2*each+2)
	last := l.LeafID()
	require.Contains(t, []string{fmt.Sprintf("1%07x", each-1), fmt.Sprintf("2%07x", each-1)}, last, "the end of one of the branches")
	other, ok := l.ForeignBranch()
	require.True(t, ok, "the other one is reported")
	require.Equal(t, each, other.Entries)
}

// A file that cannot be read for a moment is an error and changes nothing.
func TestALentFileThatCannotBeReadForAMoment(t *testing.T) {
	t.Parallel()
	fs, path := kit.Disk(t)
	require.NoError(t, os.WriteFile(path, []byte(kit.Conversation()), 0o600))
	l, err := kit.StoreIn(fs, filepath.Dir(path), nil).Open(path)
	require.NoError(t, err)
	lent, err := l.Lend("pi")
	require.NoError(t, err)
	foreign(t, path, st.User("f0000001", "bbbbbbbb", "three"))
	refuse := func(string) error { return errors.New("stale file handle") }
	for _, hook := range []*func(string) error{&fs.OnStat, &fs.OnOpen} {
		*hook = refuse
		entries, err := lent.Catch()
		require.Equal(t, fault.IO, fault.KindOf(err), err)
		require.Empty(t, entries)
		require.Equal(t, "bbbbbbbb", l.LeafID())
		*hook = nil
	}
	require.Equal(t, []string{"f0000001"}, caught(t, lent))
	fs.OnStat = refuse
	require.Equal(t, fault.IO, fault.KindOf(lent.Return()))
	fs.OnStat = nil
	kit.MustAppend(t, l, kit.Say("user", "four"))
	require.NoError(t, l.Close())
	require.Equal(t, []string{"one", "two", "three", "four"}, reopenTexts(t, kit.StoreIn(fs, filepath.Dir(path), nil), path))
}

// envLends makes the test binary a server that has lent the session at this path.
const envLends = "XCSH_TEST_LENDS"

func lockingStore(path string) *session.Store {
	return session.NewStore(session.StoreConfig{Fs: afero.NewOsFs(), LockDir: filepath.Join(filepath.Dir(path), "locks")})
}

func TestServerThatLends(t *testing.T) {
	path := os.Getenv(envLends)
	if path == "" {
		t.Skip("it is the other process of TestTwoServersAndALentSession")
	}
	l, err := lockingStore(path).Open(path)
	require.NoError(t, err)
	_, err = l.Lend("pi")
	require.NoError(t, err)
	fmt.Println("lent")
	_, _ = io.Copy(io.Discard, os.Stdin) // until it is killed
}

// While one server has lent a session, another can read it and no more, and learns who has it. The lock falls with its process.
// Proves: EF-27
func TestTwoServersAndALentSession(t *testing.T) {
	t.Parallel()
	_, path := kit.Disk(t)
	require.NoError(t, os.WriteFile(path, []byte(kit.Conversation()), 0o600))
	self, err := os.Executable()
	require.NoError(t, err)
	c := exec.CommandContext(t.Context(), self, "-test.run=^TestServerThatLends$")
	c.Env = append(os.Environ(), envLends+"="+path)
	stdin, err := c.StdinPipe()
	require.NoError(t, err)
	defer stdin.Close()
	out, err := c.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, c.Start())
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "lent\n", line)

	l, err := lockingStore(path).Open(path)
	require.NoError(t, err)
	require.Equal(t, []string{"one", "two"}, contextTexts(t, l))
	_, lendErr := l.Lend("pi")
	_, appendErr := l.Append(kit.Say("user", "x"))
	for _, err := range []error{lendErr, appendErr} {
		var f *fault.Error
		require.ErrorAs(t, err, &f)
		require.Equal(t, fault.Busy, f.Kind)
		require.Equal(t, c.Process.Pid, f.Data["pid"])
	}
	require.NoError(t, c.Process.Kill())
	_ = c.Wait() // it was killed
	lent, err := l.Lend("pi")
	require.NoError(t, err)
	require.NoError(t, lent.Return())
	require.NoError(t, l.Close())
}
