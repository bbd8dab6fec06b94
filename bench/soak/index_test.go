package soak

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/racetest"
	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
	"github.com/xcsh-ls/xcsh-ls/internal/sessiontest/indexed"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// indexStore returns a store that keeps index files beside the session. Its clock is ahead, so that files have rested.
func indexStore(fs afero.Fs, path string) *session.Store {
	return session.NewStore(session.StoreConfig{
		Fs: fs, IndexDir: filepath.Join(filepath.Dir(path), "index"), Now: func() time.Time { return time.Now().Add(time.Minute) },
	})
}

// useIndex opens a session over and over by means of its index files, which it also extends, damages and removes. name is the
// number of times.
func useIndex(path, name string) error {
	defer indexed.Everything()()
	times, err := strconv.Atoi(name)
	if err != nil {
		return err
	}
	r := rand.New(rand.NewPCG(uint64(os.Getpid()), 0))
	store := indexStore(afero.NewOsFs(), path)
	for range times {
		d, err := store.Load(path)
		if err != nil {
			return err
		}
		err = errors.Join(requireEntries(d, r), d.Close())
		if err != nil {
			return err
		}
		if err := harm(r, filepath.Join(filepath.Dir(path), "index")); err != nil {
			return err
		}
	}
	acknowledge("done")
	return nil
}

// requireEntries returns an error if an entry is not its line or can't be found, or if the conversation can't be built.
func requireEntries(d *session.Document, r *rand.Rand) error {
	for i := range d.Len() {
		e, err := d.Entry(i)
		if err != nil {
			return err
		}
		if at, err := d.Index(e.ID); err != nil || at != i || !bytes.Contains(e.Raw, []byte(`"id":"`+e.ID+`"`)) {
			return fmt.Errorf("entry %d is found at %d: %w: %s", i, at, err, e.Raw)
		}
	}
	if _, _, err := session.BuildContext(d, session.AtLast(), nil); err != nil {
		return err
	}
	if d.Len() > 0 {
		_ = d.PathTo(session.At(entryID(d, r.IntN(d.Len()))))
	}
	return nil
}

func entryID(d *session.Document, i int) string {
	e, err := d.Entry(i)
	if err != nil {
		return ""
	}
	return e.ID
}

// harm now and then damages an index file or removes it, as a user does who empties a cache.
func harm(r *rand.Rand, dir string) error {
	found, err := filepath.Glob(filepath.Join(dir, "*.*"))
	if err != nil || len(found) == 0 {
		return err
	}
	path := found[r.IntN(len(found))]
	switch r.IntN(12) {
	case 0:
		_ = os.Remove(path) // another process may have been faster
	case 1:
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return nil //nolint:nilerr // the same
		}
		info, err := f.Stat()
		if err == nil && info.Size() > 0 {
			_, err = f.WriteAt([]byte{byte(r.Uint32())}, r.Int64N(info.Size()))
		}
		return errors.Join(err, f.Close())
	}
	return nil
}

// mostAppended is how many entries are appended, about. Each reading takes longer than the one before it, so that on a slow machine
// a session that grows until the last reading would have millions.
const mostAppended = 1500

// TestSharedIndexFiles lets two processes use, extend, damage and replace the index files of one session while a
// third appends to it.
//
// Invariants: each of them sees every entry where it is, and the index files that are left give the same answers as
// the session itself.
func TestSharedIndexFiles(t *testing.T) {
	racetest.Large(t)
	for round := range rounds(2, 60) {
		path := newSession(t)
		writer := start(t, "append", path, "")
		readers := []*child{start(t, "index", path, "40"), start(t, "index", path, "40")}
		written := make(chan []string)
		go func() {
			var acked []string
			for writer.acks.Scan() {
				if acked = append(acked, writer.acks.Text()); len(acked) == mostAppended {
					_ = writer.Process.Kill() // it is killed below, too
				}
			}
			written <- acked
		}()
		for _, c := range readers {
			require.Equal(t, []string{"done"}, drain(t, c), c.said.String())
		}
		require.NoError(t, writer.Process.Kill())
		acked := <-written
		require.Error(t, writer.Wait(), "the writer was killed")
		requireSame(t, path, acked)
		t.Logf("round %d: %d entries", round, len(acked))
	}
}

// requireSame requires that the index files of a session give what the session itself gives.
func requireSame(t *testing.T, path string, acked []string) {
	t.Helper()
	whole, err := newStore().Load(path)
	require.NoError(t, err)
	requireAll(t, whole, acked)
	// A line without an end, which the writer may have left, has no index file.
	log, err := newStore().Open(path)
	require.NoError(t, err)
	_, err = log.Append(session.DraftMessage(json.RawMessage(st.UserMessage("the end"))))
	require.NoError(t, errors.Join(err, log.Close(), whole.Close()))
	whole, err = newStore().Load(path)
	require.NoError(t, err)
	want := digest(t, whole)
	require.NoError(t, whole.Close())
	defer indexed.Everything()()
	for range 3 {
		d, err := indexStore(afero.NewOsFs(), path).Load(path)
		require.NoError(t, err)
		require.Equal(t, want, digest(t, d))
		require.NoError(t, d.Close())
	}
	require.FileExists(t, onlyIndex(t, path))
}

func onlyIndex(t *testing.T, path string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(filepath.Dir(path), "index", "*.idx"))
	require.NoError(t, err)
	require.Len(t, found, 1)
	return found[0]
}

// digest returns a checksum of the entries of a document, of their order and of the conversation.
func digest(t *testing.T, d *session.Document) string {
	t.Helper()
	h := sha256.New()
	for i := range d.Len() {
		e, err := d.Entry(i)
		require.NoError(t, err)
		_, _ = fmt.Fprintf(h, "%d %s\n", i, e.Raw) // it cannot fail
	}
	ctx, problems, err := session.BuildContext(d, session.AtLast(), nil)
	require.NoError(t, err)
	usage, err := d.Usage()
	require.NoError(t, err)
	text, err := json.Marshal([]any{ctx, problems, usage, d.Problems(), d.Shape(d.Len())})
	require.NoError(t, err)
	h.Write(text)
	return fmt.Sprintf("%x", h.Sum(nil))
}
