package artifact

import (
	"cmp"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/spf13/afero"

	"github.com/xcsh-ls/xcsh-ls/internal/durable"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/session/internal/disk"
)

// File is a new artifact, open for writing.
type File struct {
	afero.File
	ID   string
	Path string

	fs afero.Fs
}

// Close makes the content and the name durable, because an entry of the session is about to name
// the artifact, and closes the file.
func (f *File) Close() error {
	err := errors.Join(f.Sync(), f.File.Close())
	durable.SyncDir(f.fs, filepath.Dir(f.Path))
	return err
}

// artifactTries bounds the attempts to find a number that no other program takes.
const artifactTries = 1000

// Create makes a file for an output of a tool. For a session in memory the error is of kind
// notPersistent. It is safe to call from several processes at once.
//
// Differs: the originals look for the highest number once, of *.log, and then overwrite any
// file with the name: two processes in one session lose outputs. Here no file is ever
// overwritten, and no number is given to two files.
func (d Dir) Create(tool string) (*File, error) {
	dir, ok := d.path()
	if !ok {
		return nil, fault.New(fault.NotPersistent, "The session has no directory for artifacts.")
	}
	if _, err := d.exists(dir); err != nil {
		return nil, err
	}
	if err := durable.MakeDirs(d.Fs, dir, disk.DirMode); err != nil {
		return nil, disk.Fault("create", dir, err)
	}
	for try := range artifactTries {
		used, err := numbersIn(d.Fs, dir)
		if err != nil {
			return nil, disk.Fault("read", dir, err)
		}
		number := highest(used) + 1
		if try > 0 {
			number += rand.N(int64(try) + 1) // so that colliding processes diverge
		}
		f, err := createNumbered(d.Fs, dir, tool, number)
		if f != nil || err != nil {
			return f, err
		}
	}
	return nil, fault.New(fault.Busy, "No number in %s stays free for long enough.", dir).With("path", dir)
}

// createNumbered makes the file with this number, or returns nothing if another file has
// the number.
func createNumbered(fsys afero.Fs, dir, tool string, number int64) (*File, error) {
	path := filepath.Join(dir, strconv.FormatInt(number, 10)+"."+artifactTool(tool)+".log")
	f, err := fsys.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, disk.FileMode)
	if errors.Is(err, fs.ErrExist) {
		return nil, nil
	} else if err != nil {
		return nil, disk.Fault("create", path, err)
	}
	// The file of another tool has a different name. The process that finds one withdraws its
	// own, so that at most one of two files created at the same time remains.
	used, err := numbersIn(fsys, dir)
	if err == nil && used[number] == 1 {
		return &File{File: f, ID: strconv.FormatInt(number, 10), Path: path, fs: fsys}, nil
	}
	_ = f.Close()
	_ = fsys.Remove(path) // best effort: it is empty
	return nil, disk.FaultOrNil("read", dir, err)
}

// numbersIn returns the number of names in dir by the number they begin with.
func numbersIn(fsys afero.Fs, dir string) (map[int64]int, error) {
	d, err := fsys.Open(dir)
	if err != nil {
		return nil, err
	}
	names, err := d.Readdirnames(-1)
	if err = errors.Join(err, d.Close()); err != nil {
		return nil, err
	}
	used := map[int64]int{}
	for _, name := range names {
		if number, _, ok := artifactNumber(name); ok {
			used[number]++
		}
	}
	return used, nil
}

func highest(used map[int64]int) int64 {
	last := int64(-1)
	for number := range used {
		last = max(last, number)
	}
	return last
}

// maxArtifactTool is the maximum length of a tool's name within a file's name.
const maxArtifactTool = 64

// notInFileName matches characters that the names of tools of extensions and servers may
// contain, and file names may not.
var notInFileName = regexp.MustCompile(`[^A-Za-z0-9_-]+`)

// artifactTool is a tool's name as part of a file's name.
func artifactTool(name string) string {
	name = notInFileName.ReplaceAllString(name, "_")
	return cmp.Or(strings.Trim(name[:min(len(name), maxArtifactTool)], "_"), "tool")
}
