package dirlist_test

import (
	"context"
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

	"github.com/xcsh-ls/xcsh-ls/session/internal/dirlist"
	"github.com/xcsh-ls/xcsh-ls/session/internal/disk"
)

func every(string) bool { return true }

// state is what a list needs of a file.
type state struct {
	name   string
	size   int64
	mode   os.FileMode
	mod    time.Time
	stamp  disk.Stamp
	rested bool
}

var now = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

func states(entries []dirlist.Entry) []state {
	all := make([]state, 0, len(entries))
	for _, e := range entries {
		stamp, rested := disk.StampOf(e.Info, now)
		all = append(all, state{e.Name, e.Info.Size(), e.Info.Mode(), e.Info.ModTime(), stamp, rested})
	}
	slices.SortFunc(all, func(a, b state) int { return strings.Compare(a.name, b.name) })
	return all
}

// fill makes a directory with files of every kind.
func fill(t *testing.T, dir string, files int) {
	t.Helper()
	r := rand.New(rand.NewPCG(7, uint64(files)))
	for n := range files {
		path := filepath.Join(dir, fmt.Sprintf("%d.jsonl", n))
		require.NoError(t, os.WriteFile(path, make([]byte, r.IntN(5000)), os.FileMode(0o400+r.IntN(0o400))))
		at := time.Unix(r.Int64N(4e9)-1e9, r.Int64N(1e9))
		require.NoError(t, os.Chtimes(path, at, at))
	}
	require.NoError(t, os.Mkdir(filepath.Join(dir, "a directory.jsonl"), 0o700))
	if runtime.GOOS == "windows" {
		return
	}
	first := filepath.Join(dir, "0.jsonl")
	require.NoError(t, os.Link(first, filepath.Join(dir, "hard link.jsonl")))
	require.NoError(t, os.Symlink(first, filepath.Join(dir, "link.jsonl")))
	require.NoError(t, os.Symlink("/nowhere", filepath.Join(dir, "dangling.jsonl")))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "no UTF-8 or line\n\xff.jsonl"), nil, 0o600))
}

// TestTheFastWayGivesTheSame: the machine's own file system and one that is reached through afero.
func TestTheFastWayGivesTheSame(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	for name, files := range map[string]int{"few": 1, "some": 255, "several chunks": 1000} {
		dir := filepath.Join(top, name)
		require.NoError(t, os.Mkdir(dir, 0o700))
		fill(t, dir, files)
	}
	dirs := []string{"few", "missing", "some", "several chunks", "some/0.jsonl"}
	local, slow := make([]string, len(dirs)), make([]string, len(dirs))
	for i, dir := range dirs {
		local[i], slow[i] = filepath.Join(top, dir), "/"+dir
	}
	based := afero.NewBasePathFs(afero.NewOsFs(), top)
	got, gotFailed := dirlist.Regular(t.Context(), afero.NewOsFs(), local, every)
	want, wantFailed := dirlist.Regular(t.Context(), based, slow, every)
	for i := range dirs {
		require.Equal(t, states(want[i]), states(got[i]), dirs[i])
		require.Equal(t, wantFailed[i] == nil, gotFailed[i] == nil, dirs[i])
	}
	require.ErrorIs(t, gotFailed[1], os.ErrNotExist)
	require.Error(t, gotFailed[4], "it is a file")
	require.GreaterOrEqual(t, len(got[3]), 1000)
	for _, s := range states(got[3]) {
		require.NotContains(t, []string{"a directory.jsonl", "link.jsonl", "dangling.jsonl"}, s.name)
	}
	only, _ := dirlist.Regular(t.Context(), afero.NewOsFs(), local, func(name string) bool { return name == "0.jsonl" })
	require.Len(t, only[0], 1)
	require.Len(t, only[3], 1)
}

// TestFilesThatComeAndGo: a list of a directory that changes meanwhile has every file that stays.
func TestFilesThatComeAndGo(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for n := range 600 {
		require.NoError(t, os.WriteFile(filepath.Join(dir, fmt.Sprint("stays ", n)), nil, 0o600))
	}
	done := make(chan struct{})
	var changing sync.WaitGroup
	changing.Go(func() {
		for n := 0; ; n++ {
			select {
			case <-done:
				return
			default:
			}
			path := filepath.Join(dir, fmt.Sprint("goes ", n%50))
			if n%100 < 50 {
				_ = os.WriteFile(path, nil, 0o600)
			} else {
				_ = os.Remove(path)
			}
		}
	})
	for range 20 {
		files, failed := dirlist.Regular(t.Context(), afero.NewOsFs(), []string{dir}, every)
		require.NoError(t, failed[0])
		stay := 0
		for _, e := range files[0] {
			require.NotNil(t, e.Info)
			if strings.HasPrefix(e.Name, "stays ") {
				stay++
			}
		}
		require.Equal(t, 600, stay)
	}
	close(done)
	changing.Wait()
}

func TestCancelled(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	fill(t, dir, 600)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	files, _ := dirlist.Regular(ctx, afero.NewOsFs(), []string{dir, dir}, every)
	require.Empty(t, slices.Concat(files...))
}
