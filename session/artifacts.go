package session

import (
	"cmp"
	"errors"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/afero"

	"github.com/xcsh-ls/xcsh-ls/session/fault"
)

// Artifact is a file that a tool left beside its session, see [ArtifactDir].
type Artifact struct {
	// ID names it within the session: the number before the first dot of its name, as in
	// addresses of the form artifact://3, or else the whole name.
	ID       string
	Name     string
	Tool     string // that wrote it, "" when the name does not say
	Bytes    int64
	Modified time.Time
}

// Artifacts lists what the tools of the session at path left beside it, whichever program they
// belong to: what is numbered in the order of the numbers, then the rest by name. Only files
// right in the directory count, no links, and nothing that is hidden. Without a directory there
// are none; one that is a link is kind outsideRoot.
func (s *Store) Artifacts(path string) ([]Artifact, error) {
	dir, ok := ArtifactDir(path)
	if !ok {
		return nil, nil
	}
	there, err := s.artifactDirAt(dir)
	if err != nil || !there {
		return nil, err
	}
	files, err := afero.ReadDir(s.Fs, dir)
	if err != nil {
		return nil, ioFault("read", dir, err)
	}
	var list []Artifact
	for _, f := range files {
		if f.Mode().IsRegular() && !strings.HasPrefix(f.Name(), ".") {
			list = append(list, artifactOf(f))
		}
	}
	sortArtifacts(list)
	return list, nil
}

// artifactDirAt reports whether there is a directory at dir.
func (s *Store) artifactDirAt(dir string) (bool, error) {
	info, err := s.lstat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return false, nil
	case err != nil:
		return false, ioFault("read", dir, err)
	case info.Mode()&fs.ModeSymlink != 0:
		return false, fault.New(fault.OutsideRoot, "%s is a link; artifacts are not looked for behind it.", dir).With("path", dir)
	}
	return info.IsDir(), nil
}

func artifactOf(f fs.FileInfo) Artifact {
	a := Artifact{ID: f.Name(), Name: f.Name(), Bytes: f.Size(), Modified: f.ModTime()}
	number, rest, ok := artifactNumber(f.Name())
	if ok {
		a.ID = strconv.FormatInt(number, 10)
		a.Tool, _ = strings.CutSuffix(rest, ".log")
		if a.Tool == rest {
			a.Tool = ""
		}
	}
	return a
}

// sortArtifacts puts artifacts in order. Of several with one number the first by name has it,
// because that is the one that an address finds; the others are known by their names.
func sortArtifacts(list []Artifact) {
	slices.SortFunc(list, func(a, b Artifact) int {
		x, _, numberedX := artifactNumber(a.Name)
		y, _, numberedY := artifactNumber(b.Name)
		if numberedX != numberedY {
			if numberedX {
				return -1
			}
			return 1
		}
		return cmp.Or(cmp.Compare(x, y), cmp.Compare(a.Name, b.Name))
	})
	for i := len(list) - 1; i > 0; i-- {
		if list[i].ID == list[i-1].ID {
			list[i].ID = list[i].Name
		}
	}
}

// maxArtifactDigits bounds the numbers that count: beyond it JavaScript could not count on.
const maxArtifactDigits = 12

// artifactNumber splits a name into its number and what is behind the dot. A number with
// zeros in front is none, because no address is written so.
func artifactNumber(name string) (number int64, rest string, ok bool) {
	digits, rest, dotted := strings.Cut(name, ".")
	if !dotted || len(digits) > maxArtifactDigits || len(digits) > 1 && digits[0] == '0' {
		return 0, "", false
	}
	n, err := strconv.ParseUint(digits, 10, 63)
	return int64(n), rest, err == nil
}
