package identity_test

import (
	"crypto/rand"
	"errors"
	"io"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
	"github.com/xcsh-ls/xcsh-ls/session/lock"
	"github.com/xcsh-ls/xcsh-ls/team/identity"
)

const dir = "/a/xcsh-ls/team"

func devices(fsys afero.Fs, at string) identity.Devices {
	return identity.Devices{Fs: fsys, Dir: at, Locks: lock.New(fsys, lock.Options{}), Random: rand.Reader}
}

// around are surroundings with variables NAME=VALUE.
func around(folder string, env ...string) identity.Surroundings {
	return identity.Surroundings{Host: "desk", Folder: folder, Getenv: func(name string) string {
		for _, variable := range env {
			if n, value, _ := strings.Cut(variable, "="); n == name {
				return value
			}
		}
		return ""
	}}
}

func TestADeviceKeepsItsID(t *testing.T) {
	t.Parallel()
	st.RunStorage(t, func(t *testing.T, fsys afero.Fs) {
		at := filepath.Join(t.TempDir(), "agent", "team")
		d := devices(fsys, at)
		first, err := d.Open(around("/w"))
		require.NoError(t, err)
		require.Regexp(t, `^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`, first.ID)
		require.Equal(t, "desk", first.Label)
		info, err := fsys.Stat(filepath.Join(at, "device"))
		require.NoError(t, err)
		if runtime.GOOS != "windows" {
			require.Equal(t, "-rw-------", info.Mode().String())
		}
		require.NoError(t, d.SetLabel("my \x1b[31m laptop"))
		again, err := d.Open(around("/w"))
		require.NoError(t, err)
		require.Equal(t, identity.Device{ID: first.ID, Label: `my \u001b[31m laptop`}, again)
		require.NoError(t, d.SetLabel(""))
		again, err = d.Open(around("/w"))
		require.NoError(t, err)
		require.Equal(t, first, again)
		left, err := afero.ReadDir(fsys, at)
		require.NoError(t, err)
		require.Len(t, left, 1, "neither locks nor temporary files remain")
	})
}

func TestTheLabelOfADevice(t *testing.T) {
	t.Parallel()
	for want, s := range map[string]identity.Surroundings{
		"desk":           around("/workspaces/web"),
		"fluffy-goggles": around("/workspaces/web", "CODESPACE_NAME=fluffy-goggles", "REMOTE_CONTAINERS=true"),
		"web":            around("/workspaces/web", "REMOTE_CONTAINERS=true"),
		"shop":           around(`C:\work\shop`, "DEVCONTAINER=1"),
		`a\u202eb`:       around("/w/a\u202eb", "REMOTE_CONTAINERS=true"),
		strings.Repeat("x", 64): {
			Host: strings.Repeat("x", 100), Getenv: func(string) string { return "" },
		},
		"unnamed device": {Getenv: func(string) string { return "" }},
	} {
		d, err := devices(afero.NewMemMapFs(), dir).Open(s)
		require.NoError(t, err)
		require.Equal(t, want, d.Label)
	}
	fsys := afero.NewMemMapFs()
	write(t, fsys, "/.dockerenv", "")
	d, err := devices(fsys, dir).Open(around("/workspaces/web"))
	require.NoError(t, err)
	require.Equal(t, "web", d.Label)
	d, err = devices(fsys, dir).Open(around("/"))
	require.NoError(t, err)
	require.Equal(t, "desk", d.Label)
}

// A damaged file costs the id and nothing else.
func TestADamagedDeviceIsDrawnAgain(t *testing.T) {
	t.Parallel()
	for _, content := range []string{"", "\n", "x", strings.Repeat("0", 36), strings.Repeat("a", 1<<20), "\x00\xff"} {
		fsys := afero.NewMemMapFs()
		write(t, fsys, dir+"/device", content)
		first, err := devices(fsys, dir).Open(around(""))
		require.NoError(t, err)
		again, err := devices(fsys, dir).Open(around(""))
		require.NoError(t, err)
		require.Equal(t, first, again)
	}
	fsys := afero.NewMemMapFs()
	require.NoError(t, fsys.MkdirAll(dir+"/device", 0o700))
	_, err := devices(fsys, dir).Open(around(""))
	require.Equal(t, fault.IO, fault.KindOf(err))
}

// At each step that can fail there is afterwards the old file, the new one, or none.
func TestADeviceSurvivesFaults(t *testing.T) {
	t.Parallel()
	const id = "3f2504e0-4f89-41d3-9a0c-0305e82c3301"
	for _, mode := range []st.Mode{st.Once, st.Short, st.Dead} {
		for at := 1; ; at++ {
			base := afero.NewMemMapFs()
			write(t, base, dir+"/device", id+"\nold\n")
			fsys := &st.FaultFs{Fs: base, At: at, Mode: mode, Reads: true}
			err := devices(fsys, dir).SetLabel("new")
			fired := fsys.Fired()
			d, after := devices(base, dir).Open(around(""))
			require.NoError(t, after)
			require.Equal(t, id, d.ID)
			require.Contains(t, []string{"old", "new"}, d.Label)
			if err == nil {
				require.Equal(t, "new", d.Label)
			} else {
				require.NotEqual(t, fault.Internal, fault.KindOf(err))
			}
			if !fired {
				require.Greater(t, at, 5)
				break
			}
		}
	}
	_, err := identity.Devices{Fs: afero.NewMemMapFs(), Dir: dir, Locks: lock.New(afero.NewMemMapFs(), lock.Options{}), Random: broken{}}.Open(around(""))
	require.Equal(t, fault.IO, fault.KindOf(err))
}

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, errors.Join(io.ErrUnexpectedEOF, st.ErrInjected) }

// Processes that start at the same time agree on one id.
func TestTheIDIsDrawnOnce(t *testing.T) {
	t.Parallel()
	fsys := afero.NewMemMapFs()
	var group sync.WaitGroup
	ids := make([]string, 8)
	for i := range ids {
		group.Go(func() {
			d, err := devices(fsys, dir).Open(around(""))
			if err == nil {
				ids[i] = d.ID
			}
		})
	}
	group.Wait()
	for _, id := range ids {
		require.NotEmpty(t, id)
		require.Equal(t, ids[0], id)
	}
}
