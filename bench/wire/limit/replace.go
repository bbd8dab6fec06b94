package limit

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// Replace writes a file as an editor does that loses nothing with the machine: to a temporary one, which is synced and renamed over it,
// with a sync of its directory.
func Replace(path string, content []byte) (took time.Duration, err error) {
	start := time.Now()
	temp := path + ".tmp"
	f, err := os.OpenFile(temp, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return 0, err
	}
	_, err = f.Write(content)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(temp, path)
	}
	if err != nil {
		return 0, err
	}
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return 0, err
	}
	err = errors.Join(dir.Sync(), dir.Close())
	return time.Since(start), err
}

// ReplaceAll writes files as [Replace] does, all at once: each is written and synced beside its place in dir, then all are renamed, and
// the directory is synced once.
func ReplaceAll(dir string, contents [][]byte) (took time.Duration, err error) {
	start := time.Now()
	path := func(i int) string { return filepath.Join(dir, "all"+strconv.Itoa(i)) }
	for i, content := range contents {
		f, err := os.OpenFile(path(i)+".tmp", os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
		if err != nil {
			return 0, err
		}
		_, err = f.Write(content)
		if err == nil {
			err = f.Sync()
		}
		if err = errors.Join(err, f.Close()); err != nil {
			return 0, err
		}
	}
	for i := range contents {
		if err := os.Rename(path(i)+".tmp", path(i)); err != nil {
			return 0, err
		}
	}
	d, err := os.Open(dir)
	if err != nil {
		return 0, err
	}
	err = errors.Join(d.Sync(), d.Close())
	return time.Since(start), err
}
