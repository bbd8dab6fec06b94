package session_test

import (
	"bytes"
	"errors"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
	"github.com/xcsh-ls/xcsh-ls/internal/sessiontest/kit"
	"github.com/xcsh-ls/xcsh-ls/session"
)

const blobHome = "/agent/blobs"

// dirNames returns the files of a directory, none if it is missing.
func dirNames(t *testing.T, fsys afero.Fs, dir string) []string {
	t.Helper()
	infos, err := afero.ReadDir(fsys, dir)
	if !os.IsNotExist(err) {
		require.NoError(t, err)
	}
	list := []string{}
	for _, info := range infos {
		list = append(list, info.Name())
	}
	return list
}

// Proves
func TestPutBlobStoresBytesUnderTheirHash(t *testing.T) {
	t.Parallel()
	st.RunStorage(t, func(t *testing.T, fsys afero.Fs) {
		dir := session.BlobDir{Fs: fsys, Dir: blobHome}
		for _, data := range [][]byte{pixels(1), pixels(200_000), {}} {
			hash, err := dir.PutBlob(data)
			require.NoError(t, err)
			require.Equal(t, hexSum(data), hash)
			got, err := dir.Blob(hash)
			require.NoError(t, err)
			require.Equal(t, string(data), string(got))
			info, err := fsys.Stat(blobHome + "/" + hash)
			require.NoError(t, err)
			require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
		}
		info, err := fsys.Stat(blobHome)
		require.NoError(t, err)
		require.Equal(t, os.FileMode(0o700), info.Mode().Perm())
		require.Len(t, dirNames(t, fsys, blobHome), 3)
	})
}

func TestPutBlobLeavesAWholeBlobAlone(t *testing.T) {
	t.Parallel()
	st.RunStorage(t, func(t *testing.T, fsys afero.Fs) {
		data := pixels(100_000)
		hash, err := session.BlobDir{Fs: fsys, Dir: blobHome}.PutBlob(data)
		require.NoError(t, err)
		again, err := session.BlobDir{Fs: afero.NewReadOnlyFs(fsys), Dir: blobHome}.PutBlob(data)
		require.NoError(t, err, "nothing is written")
		require.Equal(t, hash, again)
		require.Equal(t, []string{hash}, dirNames(t, fsys, blobHome))
	})
}

// TestPutBlobRenewsAWholeBlob: an old blob that no session references is garbage, so
// PutBlob updates its time.
func TestPutBlobRenewsAWholeBlob(t *testing.T) {
	t.Parallel()
	st.RunStorage(t, func(t *testing.T, fsys afero.Fs) {
		data, blobs := pixels(100), session.BlobDir{Fs: fsys, Dir: blobHome}
		hash, err := blobs.PutBlob(data)
		require.NoError(t, err)
		old := time.Date(2020, 1, 2, 3, 4, 5, 0, time.UTC)
		require.NoError(t, fsys.Chtimes(blobHome+"/"+hash, old, old))
		_, err = blobs.PutBlob(data)
		require.NoError(t, err)
		info, err := fsys.Stat(blobHome + "/" + hash)
		require.NoError(t, err)
		require.True(t, info.ModTime().After(old.AddDate(1, 0, 0)))
	})
}

func TestPutBlobRepairsADamagedBlob(t *testing.T) {
	t.Parallel()
	data := pixels(100_000)
	flipped := pixels(100_000)
	flipped[99_999] ^= 1
	for name, damaged := range map[string][]byte{
		"empty": {}, "torn": data[:4096], "too long": append(pixels(100_000), 0), "the right size but other bytes": flipped,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			st.RunStorage(t, func(t *testing.T, fsys afero.Fs) {
				dir := session.BlobDir{Fs: fsys, Dir: blobHome}
				kit.Put(t, fsys, blobHome+"/"+hexSum(data), string(damaged))
				hash, err := dir.PutBlob(data)
				require.NoError(t, err)
				got, err := dir.Blob(hash)
				require.NoError(t, err)
				require.Equal(t, data, got)
				require.Equal(t, []string{hash}, dirNames(t, fsys, blobHome))
			})
		})
	}
}

func TestPutBlobByManyWritersAtOnce(t *testing.T) {
	t.Parallel()
	st.RunStorage(t, func(t *testing.T, fsys afero.Fs) {
		data := pixels(300_000)
		failed := make([]error, 16)
		var writers sync.WaitGroup
		for i := range failed {
			writers.Go(func() {
				dir := session.BlobDir{Fs: fsys, Dir: blobHome}
				hash, err := dir.PutBlob(data)
				if err == nil {
					_, err = dir.Blob(hash) // never half of it, whichever writer was first
				}
				failed[i] = err
			})
		}
		writers.Wait()
		require.NoError(t, errors.Join(failed...))
		require.Equal(t, []string{hexSum(data)}, dirNames(t, fsys, blobHome))
	})
}

// raced is a file system on which a file in use cannot be replaced, and on which another
// writer is always faster.
type raced struct{ afero.Fs }

func (r raced) Rename(from, to string) error {
	if err := r.Fs.Rename(from, to); err != nil {
		return err
	}
	return &os.LinkError{Op: "rename", Old: from, New: to, Err: os.ErrPermission}
}

func TestPutBlobWhenAnotherWriterWasFaster(t *testing.T) {
	t.Parallel()
	base, data := afero.NewMemMapFs(), pixels(1000)
	hash, err := session.BlobDir{Fs: raced{base}, Dir: blobHome}.PutBlob(data)
	require.NoError(t, err)
	require.Equal(t, []string{hash}, dirNames(t, base, blobHome))
}

func TestPutBlobInAnImpossiblePlace(t *testing.T) {
	t.Parallel()
	data := pixels(10)
	base := afero.NewBasePathFs(afero.NewOsFs(), t.TempDir())
	require.NoError(t, base.MkdirAll(blobHome+"/"+hexSum(data), 0o700))
	_, err := session.BlobDir{Fs: base, Dir: blobHome}.PutBlob(data)
	require.Equal(t, fault.IO, fault.KindOf(err), "a directory has the blob's name")
	require.Equal(t, []string{hexSum(data)}, dirNames(t, base, blobHome))

	_, err = session.BlobDir{Fs: afero.NewReadOnlyFs(base), Dir: "/elsewhere"}.PutBlob(data)
	require.Equal(t, fault.ReadOnly, fault.KindOf(err))
}

// TestPutBlobSurvivesAFaultAtEveryStep: whichever step fails, the file under the blob's
// name is either the whole blob or the previous file.
func TestPutBlobSurvivesAFaultAtEveryStep(t *testing.T) {
	t.Parallel()
	data := pixels(5000)
	for name, before := range map[string][]byte{"absent": nil, "damaged": data[:100], "whole": data} {
		for _, mode := range []st.Mode{st.Once, st.Dead, st.Short} {
			t.Run(name+[]string{" once", " dead", " short"}[mode], func(t *testing.T) {
				t.Parallel()
				at := 1
				for putBlobSurvives(t, before, data, at, mode) {
					at++
				}
				require.Equal(t, name == "whole", at == 2, "a whole blob gets a new time, and is not written again")
			})
		}
	}
}

// putBlobSurvives stores data with one fault and reports whether it was reached.
func putBlobSurvives(t *testing.T, before, data []byte, at int, mode st.Mode) bool {
	t.Helper()
	base, path := afero.NewMemMapFs(), blobHome+"/"+hexSum(data)
	if before != nil {
		kit.Put(t, base, path, string(before))
	}
	faulty := &st.FaultFs{Fs: base, At: at, Mode: mode}
	_, putErr := session.BlobDir{Fs: faulty, Dir: blobHome}.PutBlob(data)
	want := data
	switch whole := bytes.Equal(before, data); {
	case faulty.Fired() && !whole:
		require.ErrorIs(t, putErr, st.ErrInjected)
		want = before
	default:
		require.NoError(t, putErr, "a time is worth no failure")
	}
	got, err := afero.ReadFile(base, path)
	if want == nil {
		require.ErrorIs(t, err, os.ErrNotExist, "fault %d", at)
	} else {
		require.NoError(t, err)
		require.Equal(t, want, got, "fault %d", at)
	}
	if mode != st.Dead {
		require.NoError(t, filepathWalkClean(base), "no temporary file stays behind")
	}
	hash, err := session.BlobDir{Fs: base, Dir: blobHome}.PutBlob(data)
	require.NoError(t, err, "the next try succeeds")
	got, err = session.BlobDir{Fs: base, Dir: blobHome}.Blob(hash)
	require.NoError(t, err)
	require.Equal(t, data, got)
	return faulty.Fired()
}
