package session

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"path/filepath"
	"time"

	"github.com/xcsh-ls/xcsh-ls/internal/durable"
	"github.com/xcsh-ls/xcsh-ls/session/internal/disk"
)

// PutBlob stores data under its SHA-256 and returns the hash as hex digits. An existing
// file is compared and gets a new modification time, or is replaced if it is damaged. The
// file gets its name only when it is complete and synced; on an error the existing file is
// unchanged. PutBlob is safe for concurrent use, by other programs too.
//
// Differs: the programs overwrite the file in place every time, so a crash can leave half
// an image under the name of the whole one.
func (b blobDir) PutBlob(data []byte) (hash string, err error) {
	sum := sha256.Sum256(data)
	hash = hex.EncodeToString(sum[:])
	path := filepath.Join(b.Dir, hash)
	if b.holds(path, data) {
		b.renew(path)
		if b.holds(path, data) { // not deleted in the meantime
			return hash, nil
		}
	}
	if err := durable.MakeDirs(b.Fs, b.Dir, disk.DirMode); err != nil {
		return "", disk.Fault("create", b.Dir, err)
	}
	content := func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	}
	err = disk.Replace(b.Fs, path, rand.Text(), disk.FileMode, content, func() error { return nil })
	// On a system that cannot replace a file while it is being read, another writer may
	// have stored the same bytes first.
	if err != nil && !b.holds(path, data) {
		return "", err
	}
	return hash, nil
}

// renew sets an image's modification time to now: an image that no session references for a
// long time is garbage, and the caller is about to reference this one. It is best effort.
func (b blobDir) renew(path string) {
	now := time.Now() //nolint:forbidigo // files have the time of the machine
	_ = b.Fs.Chtimes(path, now, now)
}

// holds reports whether the file at path is data, byte for byte.
func (b blobDir) holds(path string, data []byte) bool {
	// Check before opening: opening a named pipe would wait for a writer.
	info, err := b.Fs.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() != int64(len(data)) {
		return false
	}
	f, err := b.Fs.Open(path)
	if err != nil {
		return false
	}
	same, buf := true, make([]byte, min(len(data), 64<<10))
	for same && len(data) > 0 {
		n, err := io.ReadFull(f, buf[:min(len(buf), len(data))])
		same = err == nil && bytes.Equal(buf[:n], data[:n])
		data = data[n:]
	}
	return f.Close() == nil && same
}
