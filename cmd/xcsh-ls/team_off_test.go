//go:build !noteam

package main

import (
	"io/fs"
	"os"
	"runtime"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/xcsh-ls/xcsh-ls/lsp"
)

// recordingFs records what is asked of a file system in memory.
type recordingFs struct {
	afero.Fs
	calls []string
}

func (r *recordingFs) Stat(name string) (fs.FileInfo, error) {
	r.calls = append(r.calls, "stat "+name)
	return r.Fs.Stat(name)
}

func (r *recordingFs) Open(name string) (afero.File, error) {
	r.calls = append(r.calls, "open "+name)
	return r.Fs.Open(name)
}

func (r *recordingFs) OpenFile(name string, flag int, perm os.FileMode) (afero.File, error) {
	r.calls = append(r.calls, "open "+name)
	return r.Fs.OpenFile(name, flag, perm)
}

// Without a store there are no goroutines, and nothing is read: only the existence of one file counts.
func TestWithoutATeamNothingIsOpened(t *testing.T) {
	for _, name := range []string{teamURLVariable, teamServiceVariable, "PGSERVICE", "PGHOST"} {
		t.Setenv(name, "")
	}
	disk := &recordingFs{Fs: afero.NewMemMapFs()}
	p := place{fs: disk, own: "/agent/xcsh-ls"}
	before := runtime.NumGoroutine()
	parts := openTeam(p, lsp.Settings{}, nil, zap.NewNop())
	require.Nil(t, parts.team)
	require.Nil(t, parts.shared)
	require.Nil(t, parts.report)
	require.Equal(t, []string{"stat /agent/xcsh-ls/team/team.json"}, disk.calls)
	require.LessOrEqual(t, runtime.NumGoroutine(), before)

	require.NoError(t, afero.WriteFile(disk, "/agent/xcsh-ls/team/team.json", []byte(`{}`), 0o600))
	require.True(t, p.teamSource(lsp.Settings{}, nil).configured())
}
