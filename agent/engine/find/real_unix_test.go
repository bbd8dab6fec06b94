//go:build unix

package find

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/engine"
)

// disk is a home directory on the real disk, in which scripts run.
type disk struct {
	t    *testing.T
	home string
	path string // of the environment
}

func newDisk(t *testing.T) *disk {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	d := &disk{t: t, home: filepath.Join(dir, "home"), path: "/usr/bin:/bin"}
	require.NoError(t, os.MkdirAll(d.home, 0o700))
	return d
}

// script writes an executable script. ran is the file that it leaves when it runs.
func (d *disk) script(path, prints string) (ran string) {
	d.t.Helper()
	require.NoError(d.t, os.MkdirAll(filepath.Dir(path), 0o750))
	ran = path + ".ran"
	text := fmt.Sprintf("#!/bin/sh\necho \"$@\" >> '%s'\necho %s\n", ran, prints)
	require.NoError(d.t, os.WriteFile(path, []byte(text), 0o700))
	return ran
}

func (d *disk) catalog() *Catalog {
	m := System()
	m.Home, m.LoginPath = d.home, nil
	m.Getenv = func(name string) string { return map[string]string{"PATH": d.path}[name] }
	return New(Config{Machine: m, Make: every})
}

// pi returns the pi that is found, apart from those that the test machine has.
func (d *disk) pi(folders ...string) (engine.Program, bool) {
	d.t.Helper()
	p, err := d.catalog().Find(d.t.Context(), "pi", folders)
	return p, err == nil && strings.HasPrefix(p.Path, filepath.Dir(d.home))
}

func TestARealProgram(t *testing.T) {
	t.Parallel()
	d := newDisk(t)
	ran := d.script(filepath.Join(d.home, ".local/bin/pi"), "pi version 1.5.2-rc.1")
	p, ok := d.pi()
	require.True(t, ok)
	require.Equal(t, "1.5.2-rc.1", p.Version)
	require.Empty(t, p.Problem)
	content, err := os.ReadFile(ran)
	require.NoError(t, err)
	require.Equal(t, "--version\n", string(content))
}

// Links are followed: one in a good place does not lead into a workspace, nor to a file that others can change.
func TestLinks(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		arrange func(d *disk, bin, work string) (ran string)
		problem string // "" if it is not found at all, "ok" if it is used
	}{
		"into the workspace": {func(d *disk, bin, work string) string {
			require.NoError(d.t, os.Symlink(filepath.Join(work, "pi"), filepath.Join(bin, "pi")))
			return d.script(filepath.Join(work, "pi"), "1.5.2")
		}, ""},
		"through the workspace": {func(d *disk, bin, work string) string {
			require.NoError(d.t, os.Symlink(filepath.Join(work, "pi"), filepath.Join(bin, "pi")))
			require.NoError(d.t, os.Symlink(filepath.Join(d.home, "pi"), filepath.Join(work, "pi")))
			return d.script(filepath.Join(d.home, "pi"), "1.5.2")
		}, ""},
		"through a directory of the workspace": {func(d *disk, bin, work string) string {
			require.NoError(d.t, os.Symlink(filepath.Join(d.home, "real"), filepath.Join(work, "dir")))
			require.NoError(d.t, os.Symlink(filepath.Join(work, "dir", "pi"), filepath.Join(bin, "pi")))
			return d.script(filepath.Join(d.home, "real", "pi"), "1.5.2")
		}, ""},
		"a directory that leads into the workspace": {func(d *disk, bin, work string) string {
			require.NoError(d.t, os.Remove(bin))
			require.NoError(d.t, os.Symlink(work, bin))
			return d.script(filepath.Join(work, "pi"), "1.5.2")
		}, ""},
		"to a directory of everybody": {func(d *disk, bin, _ string) string {
			open := filepath.Join(d.home, "open")
			ran := d.script(filepath.Join(open, "pi"), "1.5.2")
			require.NoError(d.t, os.Chmod(open, 0o777))
			require.NoError(d.t, os.Symlink(filepath.Join(open, "pi"), filepath.Join(bin, "pi")))
			return ran
		}, "~/.local/bin/pi is not run because every user may write to ~/open."},
		"a link in a directory for temporary files": {func(d *disk, bin, _ string) string {
			open := filepath.Join(d.home, "tmp")
			require.NoError(d.t, os.Mkdir(open, 0o700))
			require.NoError(d.t, os.Chmod(open, 0o777|os.ModeSticky))
			require.NoError(d.t, os.Symlink(filepath.Join(open, "pi"), filepath.Join(bin, "pi")))
			require.NoError(d.t, os.Symlink(filepath.Join(d.home, "pi"), filepath.Join(open, "pi")))
			return d.script(filepath.Join(d.home, "pi"), "1.5.2")
		}, "~/.local/bin/pi is not run because every user may write to ~/tmp."},
		"to a good place": {func(d *disk, bin, _ string) string {
			require.NoError(d.t, os.Symlink("../../lib/pi", filepath.Join(bin, "pi")))
			return d.script(filepath.Join(d.home, "lib", "pi"), "1.5.2")
		}, "ok"},
		"in a circle": {func(d *disk, bin, _ string) string {
			require.NoError(d.t, os.Symlink("pi", filepath.Join(bin, "pi")))
			return filepath.Join(bin, "x")
		}, ""},
		"to a directory": {func(d *disk, bin, _ string) string {
			require.NoError(d.t, os.Symlink(d.home, filepath.Join(bin, "pi")))
			return filepath.Join(bin, "x")
		}, ""},
		"to a pipe": {func(d *disk, bin, _ string) string {
			require.NoError(d.t, os.Symlink("/dev/zero", filepath.Join(bin, "pi")))
			return filepath.Join(bin, "x")
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDisk(t)
			bin, work := filepath.Join(d.home, ".local", "bin"), filepath.Join(d.home, "work")
			require.NoError(t, os.MkdirAll(bin, 0o700))
			require.NoError(t, os.MkdirAll(work, 0o700))
			ran := c.arrange(d, bin, work)
			p, ok := d.pi(work)
			require.Equal(t, c.problem != "", ok, p)
			if c.problem == "ok" {
				require.True(t, p.Usable(), p.Problem)
				require.Equal(t, filepath.Join(bin, "pi"), p.Path, "as found, because a shim looks at its name")
				return
			}
			require.NoFileExists(t, ran)
			if ok {
				require.Equal(t, c.problem, p.Problem)
			}
		})
	}
}

// A file that is not executable, or belongs to another user, is none.
func TestOwners(t *testing.T) {
	t.Parallel()
	d := newDisk(t)
	path := filepath.Join(d.home, ".local/bin/pi")
	ran := d.script(path, "1.5.2")
	require.NoError(t, os.Chmod(path, 0o600))
	_, ok := d.pi()
	require.False(t, ok)
	require.NoError(t, os.Chmod(path, 0o700))
	if os.Getuid() != 0 {
		t.Skip("only the administrator can give a file away")
	}
	require.NoError(t, os.Lchown(path, 54321, 0))
	p, ok := d.pi()
	require.True(t, ok)
	require.Equal(t, "~/.local/bin/pi is not run because the user 54321 may write to ~/.local/bin/pi.", p.Problem)
	require.NoFileExists(t, ran)
}

// A group counts as others unless it has no other members.
func TestGroups(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in := files{filepath.Join(dir, "group"), filepath.Join(dir, "passwd")}
	require.NoError(t, os.WriteFile(in.group, []byte("devs:x:7001:alice,root\nnvm:x:7002:root\nempty:x:7003:\nprimary:x:7004:\nbad:x\n"), 0o600))
	require.NoError(t, os.WriteFile(in.passwd, []byte("root:x:0:0:root:/root:/bin/sh\nbob:x:7009:7004:Bob:/home/bob:/bin/sh\n"), 0o600))
	for gid, own := range map[uint32]bool{0: true, 7001: false, 7002: true, 7003: true, 7004: false, 7005: false} {
		require.Equal(t, own, ownGroup(gid, in), gid)
	}
	require.False(t, ownGroup(7003, files{"/gone", "/gone"}))
}

// A program that prints without end, or does not end, costs no more than its time.
func TestProgramsThatDoNotEnd(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		script string
		err    error
		out    string
	}{
		"it prints without end":        {"while :; do echo 1111111111111111111111111111111111111111111111111111111111111111111111111111111111111111; done", errTooMuch, ""},
		"it does not end":              {"sleep 600", context.DeadlineExceeded, ""},
		"it ignores signals":           {"trap '' TERM INT HUP; while :; do sleep 600; done", context.DeadlineExceeded, ""},
		"it waits for input":           {"read x; echo $x 1.2.3", nil, "1.2.3\n"},
		"a child holds the output":     {"sleep 600 & echo 1.2.3", nil, "1.2.3\n"},
		"it asks the terminal":         {"(exec < /dev/tty) 2>/dev/null && echo terminal; echo 1.2.3", nil, "1.2.3\n"},
		"it looks for keys":            {"echo $SECRET_TOKEN 1.2.3", nil, "1.2.3\n"},
		"it fails but prints versions": {"echo 1.2.3; echo 4.5.6 >&2; exit 3", errAny, "1.2.3\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			limit := 30 * time.Second
			if errors.Is(c.err, context.DeadlineExceeded) {
				limit = 500 * time.Millisecond
			}
			out, err := run(t.Context(), Command{Path: "/bin/sh", Args: []string{"-c", c.script}, Dir: "/", Limit: limit})
			if errors.Is(c.err, errAny) {
				require.Error(t, err)
			} else {
				require.ErrorIs(t, err, c.err)
			}
			require.Equal(t, c.out, strings.TrimLeft(out, " "))
		})
	}
}

var errAny = errors.New("any")

// The login shell's PATH is found between whatever the files of the shell print.
func TestTheLoginShell(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		profile string
		want    []string
	}{
		"an ordinary one":             {`PATH=/opt/x/bin:/usr/bin:relative::/bin`, []string{"/opt/x/bin", "/usr/bin", "/bin"}},
		"it prints":                   {"echo welcome; printf '\\033[2Jno newline'; PATH=/a:/usr/bin:/bin", []string{"/a", "/usr/bin", "/bin"}},
		"it prints a PATH of its own": {"echo xcsh-ls-0123456789abcdef; echo /evil; echo xcsh-ls-0123456789abcdef; PATH=/a:/usr/bin:/bin", []string{"/a", "/usr/bin", "/bin"}},
		"it fails":                    {"exit 1", nil},
		"it becomes another program":  {"exec cat", nil},
		"it prints without end":       {"while :; do echo xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx; done", nil},
		"it starts something":         {"sleep 600 & PATH=/a:/usr/bin:/bin", []string{"/a", "/usr/bin", "/bin"}},
		"it reads":                    {"read answer; PATH=/a:/usr/bin:/bin", []string{"/a", "/usr/bin", "/bin"}},
		"it has no PATH":              {"unset PATH", nil},
		"it is broken":                {"PATH=/a:/usr/bin:/bin\nif then fi (", []string{"/a", "/usr/bin", "/bin"}},
		"it traces":                   {"set -x; PATH=/a:/usr/bin:/bin", []string{"/a", "/usr/bin", "/bin"}},
		"it has a very long PATH":     {"PATH=/usr/bin:/bin:$(printf '/%0300000d' 1)", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home := t.TempDir()
			require.NoError(t, os.WriteFile(filepath.Join(home, ".bash_profile"), []byte(c.profile+"\n"), 0o600))
			bash := "/bin/bash"
			if _, err := os.Stat(bash); err != nil {
				t.Skip("there is no bash")
			}
			inHome := func(ctx context.Context, c Command) (string, error) {
				c.Env = append(c.Env, "HOME="+home, "PATH=/usr/bin:/bin")
				c.Limit = 20 * time.Second // of a loaded machine
				return run(ctx, c)
			}
			require.Equal(t, c.want, loginPath(t.Context(), inHome, bash, home))
		})
	}
	require.Nil(t, loginPath(t.Context(), run, "/gone/shell", "/"))
	slow := func(_ context.Context, c Command) (string, error) {
		require.Equal(t, 3*time.Second, c.Limit)
		return "", context.DeadlineExceeded
	}
	require.Nil(t, loginPath(t.Context(), slow, "/bin/sh", "/"))
}

// With another home directory than the account's own, the login shell is not asked.
func TestAnotherHomeHasNoLoginShell(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	t.Setenv("SHELL", "/bin/sh")
	t.Setenv("XCSH_LS_NO_DETECT", "")
	require.Nil(t, System().LoginPath)
	require.False(t, ownHome(""))
}

// A version is stored in a file that only the user can read.
func TestStoredVersions(t *testing.T) {
	t.Parallel()
	d := newDisk(t)
	ran := d.script(filepath.Join(d.home, ".local/bin/pi"), "1.5.2")
	cfg := Config{Machine: d.catalog().Machine, Cache: filepath.Join(d.home, "cache/engines.json")}
	for range 2 {
		p, err := New(cfg).Find(t.Context(), "pi", nil)
		require.NoError(t, err)
		require.Equal(t, "1.5.2", p.Version)
	}
	content, err := os.ReadFile(ran)
	require.NoError(t, err)
	require.Equal(t, "--version\n", string(content), "it ran once")
	info, err := os.Stat(cfg.Cache)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	require.NoError(t, afero.NewOsFs().Remove(cfg.Cache))
}
