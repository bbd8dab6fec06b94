//go:build unix

package connect_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/team/connect"
)

// home is a directory that only the user can write to, with a workspace beside it.
type home struct {
	t   *testing.T
	dir string
	m   connect.Machine
}

func newHome(t *testing.T) home {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	h := home{t: t, dir: dir}
	for _, name := range []string{"home/bin", "work"} {
		require.NoError(t, os.MkdirAll(h.path(name), 0o700))
	}
	h.m = connect.Machine{
		Fs: afero.NewOsFs(), Home: h.path("home"), Folders: []string{h.path("work")}, Getenv: os.Getenv, Real: filepath.EvalSymlinks,
	}
	return h
}

func (h home) path(name string) string { return filepath.Join(h.dir, name) }

// script writes an executable.
func (h home) script(name, body string) string {
	h.t.Helper()
	path := h.path(name)
	// A file that this process has open for writing cannot be run by a child that was forked meanwhile.
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	require.NoError(h.t, os.WriteFile(path, []byte("#!/bin/sh\n"+body+"\n"), 0o700))
	return path
}

func (h home) password(path string) (string, error) {
	return connect.PasswordCommand{Machine: h.m, Path: path}.Password(h.t.Context())
}

func TestTheFirstLineIsThePassword(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	for body, want := range map[string]string{
		"echo one; echo two": "one", "printf 'no newline'": "no newline", `printf ' a b \r\nc'`: " a b ", "cat; echo in": "in", "pwd": h.m.Home,
	} {
		got, err := h.password(h.script("home/bin/pw", body))
		require.NoError(t, err, body)
		require.Equal(t, want, got)
	}
}

// A failure repeats nothing that the command printed.
func TestAPasswordCommandThatFails(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	for body, want := range map[string]string{
		"echo s3cret; echo s3cret >&2; exit 3": "failed: exit status 3",
		"exit 0":                               "printed no password",
		"echo; echo s3cret":                    "printed no password",
		"head -c 70000 /dev/zero | tr '\\0' a": "printed a line of more than 64 KB",
	} {
		path := h.script("home/bin/pw", body)
		_, err := h.password(path)
		require.Equal(t, fault.Refused, fault.KindOf(err), body)
		require.Equal(t, "The password command "+path+" "+want+". Run it in a terminal to see why.", err.Error())
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := connect.PasswordCommand{Machine: h.m, Path: h.script("home/bin/pw", "echo x")}.Password(ctx)
	require.Equal(t, fault.Cancelled, fault.KindOf(err))
}

// A command that hangs is ended with its children, and its output without end is not kept.
func TestAPasswordCommandEnds(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	for _, body := range []string{"sleep 1000", "sleep 1000 & sleep 1000", "yes", "trap '' TERM; while :; do sleep 1; done"} {
		path := h.script("home/bin/pw", body)
		start := time.Now()
		_, err := connect.PasswordCommand{Machine: h.m, Path: path}.WithLimit(300 * time.Millisecond).Password(t.Context())
		require.Equal(t, "The password command "+path+" took longer than 0.3 s. Run it in a terminal to see why.", err.Error(), body)
		require.Less(t, time.Since(start), 30*time.Second)
	}
	// One that leaves a process behind, which holds its output, has printed its password.
	got, err := h.password(h.script("home/bin/pw", "echo x; sleep 20 &"))
	require.NoError(t, err)
	require.Equal(t, "x", got)
}

// Nothing that a workspace or another user could have put there is run.
func TestOnlyTheUsersOwnCommandIsRun(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	inside := h.script("work/pw", "touch "+h.path("ran"))
	require.NoError(t, os.Symlink(inside, h.path("home/bin/link")))
	require.NoError(t, os.Symlink(h.path("work"), h.path("home/dirlink")))
	own := h.script("home/bin/own", "touch "+h.path("ran"))
	require.NoError(t, os.Symlink(own, h.path("work/outlink")))
	plain := h.script("home/bin/plain", "touch "+h.path("ran"))
	require.NoError(t, os.Chmod(plain, 0o600))
	shared := h.script("home/bin/shared", "touch "+h.path("ran"))
	require.NoError(t, os.Chmod(shared, 0o777))
	require.NoError(t, os.Mkdir(h.path("open"), 0o700))
	exposed := h.script("open/pw", "touch "+h.path("ran"))
	require.NoError(t, os.Chmod(h.path("open"), 0o777))
	require.NoError(t, os.Symlink(exposed, h.path("home/bin/exposed")))
	for path, why := range map[string]string{
		inside:                     "it is in the workspace " + h.path("work"),
		h.path("home/bin/link"):    "it is in the workspace " + h.path("work"),
		h.path("home/dirlink/pw"):  "it is in the workspace " + h.path("work"),
		h.path("work/outlink"):     "it is in the workspace " + h.path("work"),
		h.path("home/../work/pw"):  "it is in the workspace " + h.path("work"),
		"pw":                       "it must be the absolute path of an executable, without arguments",
		"./work/pw":                "it must be the absolute path of an executable, without arguments",
		"":                         "it must be the absolute path of an executable, without arguments",
		own + " --argument":        "there is no such file; it must be the path of an executable, without arguments",
		h.path("home/bin"):         "it is not a file",
		plain:                      "it is not executable",
		shared:                     "other users can change it",
		exposed:                    "other users can change its directory",
		h.path("home/bin/exposed"): "other users can change its directory",
	} {
		_, err := h.password(path)
		require.Equal(t, fault.Denied, fault.KindOf(err), "%s: %v", path, err)
		require.Equal(t, "The password command "+path+" is not run: "+why+".", err.Error())
	}
	require.NoFileExists(t, h.path("ran"))
	if strings.HasPrefix(h.dir, h.m.Home) {
		t.Fatal("the workspace is in the home")
	}
}
