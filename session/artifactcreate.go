package session

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

	"github.com/xcsh-ls/xcsh-ls/session/fault"
)

// ArtifactFile is a new artifact, open for writing.
type ArtifactFile struct {
	afero.File
	ID   string
	Path string
}

// artifactTries bounds how often a number is looked for that nobody else takes.
const artifactTries = 1000

// CreateArtifact makes a file for an output of a tool of the session at path, which need not
// be on disk yet. A session in memory is kind notPersistent. It is safe to call from several
// processes at once.
//
// Differs: the originals look for the highest number once, of *.log, and then write over
// whatever has the name: two processes in one session lose outputs. Here no file is ever
// written over, and no number is given to two files.
func (s *Store) CreateArtifact(path, tool string) (*ArtifactFile, error) {
	dir, ok := ArtifactDir(path)
	if !ok {
		return nil, fault.New(fault.NotPersistent, "The session has no directory for artifacts.")
	}
	if _, err := s.artifactDirAt(dir); err != nil {
		return nil, err
	}
	if err := s.Fs.MkdirAll(dir, dirMode); err != nil {
		return nil, ioFault("create", dir, err)
	}
	for try := range artifactTries {
		used, err := s.artifactNumbers(dir)
		if err != nil {
			return nil, ioFault("read", dir, err)
		}
		number := highest(used) + 1
		if try > 0 {
			number += rand.N(int64(try) + 1) // so that those who meet part again
		}
		f, err := s.createArtifact(dir, tool, number)
		if f != nil || err != nil {
			return f, err
		}
	}
	return nil, fault.New(fault.Busy, "No number in %s stays free for long enough.", dir).With("path", dir)
}

// createArtifact makes the file with this number, or nothing when another has the number.
func (s *Store) createArtifact(dir, tool string, number int64) (*ArtifactFile, error) {
	path := filepath.Join(dir, strconv.FormatInt(number, 10)+"."+artifactTool(tool)+".log")
	f, err := s.Fs.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, fileMode)
	if errors.Is(err, fs.ErrExist) {
		return nil, nil
	} else if err != nil {
		return nil, ioFault("create", path, err)
	}
	// Another tool's file has another name. Whoever sees one gives way, so that of two
	// that were made at once at most one stays.
	used, err := s.artifactNumbers(dir)
	if err == nil && used[number] == 1 {
		return &ArtifactFile{File: f, ID: strconv.FormatInt(number, 10), Path: path}, nil
	}
	_ = f.Close()
	_ = s.Fs.Remove(path) // best effort: it is empty
	return nil, ioFaultOrNil("read", dir, err)
}

// artifactNumbers returns how many names in dir begin with each number.
func (s *Store) artifactNumbers(dir string) (map[int64]int, error) {
	d, err := s.Fs.Open(dir)
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

// maxArtifactTool is how much of a tool's name becomes part of a file's name.
const maxArtifactTool = 64

// notInFileName is what tools of extensions and servers may have in their names.
var notInFileName = regexp.MustCompile(`[^A-Za-z0-9_-]+`)

// artifactTool is a tool's name as part of a file's name.
func artifactTool(name string) string {
	name = notInFileName.ReplaceAllString(name, "_")
	return cmp.Or(strings.Trim(name[:min(len(name), maxArtifactTool)], "_"), "tool")
}
