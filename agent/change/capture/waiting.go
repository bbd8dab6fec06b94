package capture

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/afero"

	"github.com/xcsh-ls/xcsh-ls/agent/change/disk"
	"github.com/xcsh-ls/xcsh-ls/internal/durable"
)

// waitingName is the name of the file in the directory of contents.
const waitingName = "waiting.jsonl"

// maxWaiting is the maximum number of bytes that are read from the file.
const maxWaiting = 64 << 20

// Entry is a record that could not be appended to its session file yet.
type Entry struct {
	ID   string          `json:"id"` // of the entry that it becomes
	Data json.RawMessage `json:"data"`
}

// Waiting is the file of the records that are made while another program holds the session file: one record per line, each synced.
// It has one writer at a time, the holder of the session's write lock.
type Waiting struct {
	Fs  afero.Fs
	Dir string // of the contents
}

func (w Waiting) path() string { return filepath.Join(w.Dir, waitingName) }

// Add adds a record.
func (w Waiting) Add(e Entry) (err error) {
	if err := w.check(); err != nil {
		return err
	}
	line, err := encode(e)
	if err != nil {
		return err
	}
	if err := durable.MakeDirs(w.Fs, w.Dir, 0o700); err != nil {
		return disk.Fault("create", w.Dir, err)
	}
	f, err := w.Fs.OpenFile(w.path(), os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return disk.Fault("write", w.path(), err)
	}
	// Do not append to a line that a crash has cut off.
	if info, err := f.Stat(); err == nil && info.Size() > 0 {
		last := make([]byte, 1)
		if _, err := f.ReadAt(last, info.Size()-1); err == nil && last[0] != '\n' {
			line = append([]byte("\n"), line...)
		}
	}
	_, err = f.Write(append(line, '\n'))
	if err == nil {
		err = f.Sync()
	}
	err = errors.Join(err, f.Close())
	durable.SyncDir(w.Fs, w.Dir)
	return disk.Fault("write", w.path(), err)
}

// Read returns the records in order. It skips invalid lines, which only a crash leaves.
func (w Waiting) Read() (entries []Entry, err error) {
	if err := w.check(); err != nil {
		return nil, err
	}
	f, err := w.Fs.Open(w.path())
	if disk.NotThere(err) {
		return nil, nil
	} else if err != nil {
		return nil, disk.Fault("read", w.path(), err)
	}
	defer func() { _ = f.Close() }()
	lines := bufio.NewReader(io.LimitReader(f, maxWaiting))
	for {
		line, err := lines.ReadBytes('\n')
		var e Entry
		if json.Unmarshal(bytes.TrimSpace(line), &e) == nil && len(e.Data) > 0 {
			if !validID(e.ID) {
				e.ID = ""
			}
			entries = append(entries, e)
		}
		if errors.Is(err, io.EOF) {
			return entries, nil
		} else if err != nil {
			return entries, disk.Fault("read", w.path(), err)
		}
	}
}

// validID reports whether an id has the form of the entry ids that this program generates.
func validID(id string) bool {
	return len(id) == 8 && strings.Trim(id, "0123456789abcdef") == ""
}

// Clear removes the file, after its records were appended to the session.
func (w Waiting) Clear() error {
	err := w.Fs.Remove(w.path())
	if disk.NotThere(err) {
		return nil
	}
	durable.SyncDir(w.Fs, w.Dir)
	return disk.Fault("remove", w.path(), err)
}

// check returns an error if the path of the file is a link.
func (w Waiting) check() error {
	for _, path := range []string{filepath.Dir(w.Dir), w.Dir, w.path()} {
		info, err := disk.Lstat(w.Fs, path)
		if err == nil && info.Mode()&fs.ModeSymlink != 0 {
			return disk.IsLink(path)
		}
	}
	return nil
}

// Size returns the length of the file in bytes, 0 if there is none.
func (w Waiting) Size() int64 {
	info, err := disk.Lstat(w.Fs, w.path())
	if err != nil {
		return 0
	}
	return info.Size()
}
