package session_test

import (
	"errors"
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/session"
)

// syncedFile counts its syncs; the failing one, and no later one, says so, as systems do.
type syncedFile struct {
	afero.File
	mu      sync.Mutex
	syncs   int // guarded by mu
	failing int
}

func (f *syncedFile) Sync() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.syncs++; f.syncs == f.failing {
		return errors.New("EIO")
	}
	return nil
}

func TestAFileIsSyncedWhileItIsWritten(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("0123456789", 100)
	write := map[string]func(w io.Writer) error{
		"in pieces": func(w io.Writer) error {
			for i := range 100 {
				if _, err := io.WriteString(w, text[10*i:10*i+10]); err != nil {
					return err
				}
			}
			return nil
		},
		"from a reader": func(w io.Writer) error { return copied(w, strings.NewReader(text)) },
		"from part of a reader": func(w io.Writer) error {
			return copied(w, io.LimitReader(strings.NewReader(text+"more"), int64(len(text))))
		},
	}
	for name, content := range write {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for failing := 0; ; failing++ {
				fs := afero.NewMemMapFs()
				file, err := fs.Create("/f")
				require.NoError(t, err)
				f := &syncedFile{File: file, failing: failing}
				w, finish := session.SyncAhead(f, 64)
				err = finish(content(w))
				require.NoError(t, f.Close())
				if failing > f.syncs {
					require.NoError(t, err)
					require.Greater(t, failing, 2, "one ahead and the last")
					return
				}
				if failing > 0 {
					require.EqualError(t, err, "EIO", "no failure to sync is lost")
					continue
				}
				require.NoError(t, err)
				got, err := afero.ReadFile(fs, "/f")
				require.NoError(t, err)
				require.Equal(t, text, string(got))
			}
		})
	}
}

func TestAFileThatCameToNothingIsNotSynced(t *testing.T) {
	t.Parallel()
	file, err := afero.NewMemMapFs().Create("/f")
	require.NoError(t, err)
	f := &syncedFile{File: file}
	w, finish := session.SyncAhead(f, 64)
	_, err = io.WriteString(w, "little")
	require.NoError(t, err)
	failure := errors.New("ENOSPC")
	require.ErrorIs(t, finish(failure), failure)
	require.Zero(t, f.syncs)
}

func copied(w io.Writer, r io.Reader) error {
	_, err := io.Copy(w, r)
	return err
}
