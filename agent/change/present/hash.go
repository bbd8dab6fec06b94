package present

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
)

// chunk is the number of bytes that are read between two checks of the context.
const chunk = 1 << 20

// hash returns the hash and the size of the rest of a file.
func hash(ctx context.Context, f io.Reader) (sum string, size int64, err error) {
	h := sha256.New()
	for {
		if err := ctx.Err(); err != nil {
			return "", size, err
		}
		n, err := io.CopyN(h, f, chunk)
		size += n
		if errors.Is(err, io.EOF) {
			return hex.EncodeToString(h.Sum(nil)), size, nil
		} else if err != nil {
			return "", size, err
		}
	}
}

// sameFile reports whether two infos describe the same file. It is always true for a file system in memory.
func sameFile(a, b fs.FileInfo) bool {
	if a.Sys() == nil || b.Sys() == nil {
		return b.Mode().IsRegular()
	}
	return os.SameFile(a, b)
}
