package disk_test

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/session/internal/disk"
)

// recordingFs notes what happens to files whose name ends in ".tmp", and renames. The operation named
// fails fails.
type recordingFs struct {
	afero.Fs
	fails string
	did   []string
}

var errRecorded = errors.New("failed")

func (r *recordingFs) note(operation string) error {
	r.did = append(r.did, operation)
	if operation == r.fails {
		return errRecorded
	}
	return nil
}

func (r *recordingFs) OpenFile(name string, flag int, mode fs.FileMode) (afero.File, error) {
	f, err := r.Fs.OpenFile(name, flag, mode)
	if err != nil || !strings.HasSuffix(name, ".tmp") {
		return f, err
	}
	if err := r.note("create"); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &recordingFile{f, r}, nil
}

func (r *recordingFs) Rename(from, to string) error {
	if err := r.note("rename"); err != nil {
		return err
	}
	return r.Fs.Rename(from, to)
}

func (r *recordingFs) Remove(name string) error {
	r.did = append(r.did, "remove")
	return r.Fs.Remove(name)
}

type recordingFile struct {
	afero.File
	to *recordingFs
}

func (f *recordingFile) Write(b []byte) (int, error) {
	if err := f.to.note("write"); err != nil {
		return 0, err
	}
	return f.File.Write(b)
}

func (f *recordingFile) Sync() error {
	return errors.Join(f.File.Sync(), f.to.note("sync"))
}

func (f *recordingFile) Close() error {
	return errors.Join(f.File.Close(), f.to.note("close"))
}

// TestReplaceWritesSyncsClosesAndRenames observes a rewrite, which is the same for all operations that
// replace a session file, and lets each of its steps fail: then the old file stays and the temporary one goes.
// Proves
func TestReplaceWritesSyncsClosesAndRenames(t *testing.T) {
	t.Parallel()
	steps := []string{"create", "write", "sync", "close", "check", "rename"}
	for i, failing := range append(steps, "") {
		t.Run("fails "+failing, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			path := filepath.Join(dir, "a.jsonl")
			require.NoError(t, os.WriteFile(path, []byte("old"), 0o600))
			r := &recordingFs{Fs: afero.NewOsFs(), fails: failing}
			err := disk.Replace(r, path, "1", 0o600, func(w io.Writer) error {
				_, err := io.WriteString(w, "new")
				return err
			}, func() error {
				content, err := os.ReadFile(filepath.Join(dir, ".a.jsonl.1.tmp"))
				require.NoError(t, err)
				require.Equal(t, "new", string(content), "the temporary file is complete, beside the other")
				return r.note("check")
			})
			entries, readErr := os.ReadDir(dir)
			require.NoError(t, readErr)
			content, readErr := os.ReadFile(path)
			require.NoError(t, readErr)
			if failing == "" {
				require.NoError(t, err)
				require.Equal(t, steps, r.did)
				require.Equal(t, "new", string(content))
				require.Len(t, entries, 1)
				return
			}
			require.ErrorIs(t, err, errRecorded)
			require.Equal(t, "old", string(content))
			require.NotContains(t, r.did[:i], "rename")
			if failing != "create" { // then it belongs to another process
				require.Len(t, entries, 1)
			}
		})
	}
}
