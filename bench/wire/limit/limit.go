// Package limit measures what the machine needs for the least that a command can do: reading a directory and
// the status of its files, reading a file and finding its line ends, copying it, writing and syncing a line. The
// functions use the system calls directly, not tools or libraries that do more than that.
package limit

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"
)

const buffer = 1 << 20

// Lines reads the file at path and counts its newlines, in as many equal parts at a time as given.
func Lines(path string, parts int) (lines int, took time.Duration, err error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, 0, err
	}
	defer f.Close()
	start := time.Now()
	info, err := f.Stat()
	if err != nil {
		return 0, 0, err
	}
	counts, errs := make([]int, parts), make([]error, parts)
	var all sync.WaitGroup
	for i := range parts {
		from, to := info.Size()*int64(i)/int64(parts), info.Size()*int64(i+1)/int64(parts)
		all.Go(func() { counts[i], errs[i] = newlines(io.NewSectionReader(f, from, to-from)) })
	}
	all.Wait()
	took = time.Since(start)
	for _, n := range counts {
		lines += n
	}
	return lines, took, errors.Join(errs...)
}

func newlines(r io.Reader) (n int, err error) {
	b := make([]byte, buffer)
	for {
		k, err := r.Read(b)
		n += bytes.Count(b[:k], []byte{'\n'})
		if errors.Is(err, io.EOF) {
			return n, nil
		}
		if err != nil {
			return n, err
		}
	}
}

// Find reads every file below the roots, as many at a time as given, and counts those that contain word.
func Find(roots []string, word string, threads int) (found int, took time.Duration, err error) {
	start := time.Now()
	paths := make(chan string, 1<<10)
	counts, errs := make([]int, threads), make([]error, threads)
	var all sync.WaitGroup
	for i := range threads {
		all.Go(func() {
			var b []byte
			for path := range paths {
				var err error
				if b, err = contents(path, b); err == nil && bytes.Contains(b, []byte(word)) {
					counts[i]++
				}
				errs[i] = errors.Join(errs[i], err)
			}
		})
	}
	for _, root := range roots {
		err = errors.Join(err, filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				paths <- path
			}
			return err
		}))
	}
	close(paths)
	all.Wait()
	for _, n := range counts {
		found += n
	}
	return found, time.Since(start), errors.Join(err, errors.Join(errs...))
}

// contents reads a file into b, which grows if necessary.
func contents(path string, b []byte) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return b, err
	}
	defer f.Close()
	b = b[:0]
	for {
		if len(b) == cap(b) {
			b = append(b, 0)[:len(b)]
		}
		n, err := f.Read(b[len(b):cap(b)])
		b = b[:len(b)+n]
		if errors.Is(err, io.EOF) {
			return b, nil
		}
		if err != nil {
			return b, err
		}
	}
}

// Copy copies a file to a new one, like cp, and syncs it if sync is set, which cp does not do. The copy is removed.
func Copy(path, to string, sync bool) (took time.Duration, err error) {
	from, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer from.Close()
	start := time.Now()
	f, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return 0, err
	}
	_, err = io.Copy(f, from) // by the kernel, where it can
	if err == nil && sync {
		err = f.Sync()
	}
	err = errors.Join(err, f.Close())
	took = time.Since(start)
	return took, errors.Join(err, os.Remove(to))
}

// Write appends n lines of size bytes to a new file at path, and syncs it after each if sync is set. The file is removed.
func Write(path string, n, size int, sync bool) (took time.Duration, err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return 0, err
	}
	line := append(bytes.Repeat([]byte{'x'}, size-1), '\n')
	start := time.Now()
	for range n {
		if _, err = f.Write(line); err == nil && sync {
			err = f.Sync()
		}
		if err != nil {
			break
		}
	}
	took = time.Since(start)
	return took, errors.Join(err, f.Close(), os.Remove(path))
}
