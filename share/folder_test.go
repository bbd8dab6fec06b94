//go:build unix

package share_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/session/lock"
	"github.com/xcsh-ls/xcsh-ls/share"
)

// Proves: O-028
func TestFoldersAreAlwaysRemoved(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	fill := func(dir string) {
		require.Equal(t, w.temp, filepath.Dir(dir))
		info, err := os.Stat(dir)
		require.NoError(t, err)
		require.Equal(t, os.ModeDir|0o700, info.Mode())
		w.write(filepath.Join(dir, "page.html"), "x")
	}
	boom := errors.New("boom")
	require.NoError(t, w.folders().With(func(dir string) error { fill(dir); return nil }))
	w.requireEmpty()
	require.ErrorIs(t, w.folders().With(func(dir string) error { fill(dir); return boom }), boom)
	w.requireEmpty()
	require.PanicsWithValue(t, "boom", func() {
		_ = w.folders().With(func(dir string) error { fill(dir); panic("boom") })
	})
	w.requireEmpty()
}

func TestMissingTemporaryDirectory(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.temp = filepath.Join(w.temp, "gone")
	err := w.folders().With(func(string) error { panic("there is none") })
	require.Equal(t, fault.IO, fault.KindOf(err))
	require.Contains(t, err.Error(), w.temp)
}

// The directory of a process that was killed is removed with the next share, and nothing
// else.
// Proves: O-028
func TestLeftoversAreRemoved(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	// A process that has certainly ended.
	gone := exec.CommandContext(t.Context(), "true")
	require.NoError(t, gone.Run())
	alive := os.Getppid()
	require.True(t, lock.Alive(alive))

	var mine string
	require.NoError(t, w.folders().With(func(dir string) error { mine = filepath.Base(dir); return nil }))
	parts := strings.Split(mine, "-") // xcsh-share-MACHINE-PROCESS-RUN-RANDOM
	require.Len(t, parts, 6)
	named := func(machine string, pid int, run string) string {
		return strings.Join([]string{"xcsh", "share", machine, strconv.Itoa(pid), run, "abc"}, "-")
	}
	stays := []string{
		named(parts[2], alive, "other"), named(parts[2], os.Getpid(), parts[4]), named("ffffffff", gone.Process.Pid, "other"),
		"xcsh-share-" + parts[2] + "-notes", "xcsh-share-" + parts[2] + "-1", "something-else",
	}
	for _, name := range append(stays, named(parts[2], gone.Process.Pid, "other"), named(parts[2], os.Getpid(), "earlier")) {
		dir := filepath.Join(w.temp, name)
		require.NoError(t, os.Mkdir(dir, 0o700))
		w.write(filepath.Join(dir, "page.html"), "x")
	}
	require.NoError(t, w.folders().With(func(string) error { return nil }))
	var left []string
	entries, err := os.ReadDir(w.temp)
	require.NoError(t, err)
	for _, e := range entries {
		left = append(left, e.Name())
	}
	require.ElementsMatch(t, stays, left)
}

// Two shares at the same time do not affect each other.
func TestFoldersBesideEachOther(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	require.NoError(t, w.folders().With(func(outer string) error {
		err := w.folders().With(func(inner string) error {
			require.NotEqual(t, outer, inner)
			return nil
		})
		require.DirExists(t, outer)
		return err
	}))
	w.requireEmpty()
}

func TestAFolderThatCannotBeRemovedIsLogged(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := w.folders()
	log, logged := observer.New(zap.WarnLevel)
	d.Fs, d.Log = keeping{d.Fs}, zap.New(log)
	require.NoError(t, d.With(func(string) error { return nil }), "the page is shared all the same")
	require.Equal(t, 1, logged.FilterMessage("the directory of a shared page could not be removed").Len())
}

// keeping is a storage on which nothing can be removed.
type keeping struct{ afero.Fs }

func (keeping) RemoveAll(string) error { return errors.New("no") }

func TestPageNames(t *testing.T) {
	t.Parallel()
	for session, want := range map[string]string{
		"/s/2026-01-01T00-00-00-000Z_0190.jsonl": "2026-01-01T00-00-00-000Z_0190.html",
		"/s/my talk [1]*.jsonl":                  "my_talk__1__.html",
		"/s/-x.jsonl":                            "x.html",
		"/s/.jsonl":                              "session.html",
		"/s/émoji😀.jsonl":                        "_moji_.html",
		"/s/" + strings.Repeat("a", 300):         strings.Repeat("a", 100) + ".html",
	} {
		require.Equal(t, want, share.PageName(session))
	}
}
