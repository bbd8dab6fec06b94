package session

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"path/filepath"
	"time"
)

// PutBlob stores data under its SHA-256 and returns that as hex digits. What is there
// already is compared and gets a new time, or is replaced when it is damaged. The file gets
// its name only when it is complete and synced; on an error it is as it was before.
// It is safe for concurrent use, by other programs too.
//
// Differs: the programs overwrite the file in place every time, so that a crash can
// leave half an image under the name of the whole one.
func (b BlobDir) PutBlob(data []byte) (hash string, err error) {
	sum := sha256.Sum256(data)
	hash = hex.EncodeToString(sum[:])
	path := filepath.Join(b.Dir, hash)
	if b.holds(path, data) {
		b.renew(path)
		if b.holds(path, data) { // nobody took it away just before
			return hash, nil
		}
	}
	if err := b.Fs.MkdirAll(b.Dir, dirMode); err != nil {
		return "", ioFault("create", b.Dir, err)
	}
	content := func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	}
	err = replaceFile(b.Fs, path, rand.Text(), fileMode, content, func() error { return nil })
	// Where a file that is being read cannot be replaced, another writer of the same
	// bytes may have been first.
	if err != nil && !b.holds(path, data) {
		return "", err
	}
	return hash, nil
}

// renew gives an image the time of now, because one that nobody names for long is garbage,
// and whoever stores this one names it in a moment. It is best effort.
func (b BlobDir) renew(path string) {
	now := time.Now() //nolint:forbidigo // files have the time of the machine
	_ = b.Fs.Chtimes(path, now, now)
}

// holds reports whether the file at path is data, byte for byte.
func (b BlobDir) holds(path string, data []byte) bool {
	// Asked before opening: opening a named pipe would wait for a writer.
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
