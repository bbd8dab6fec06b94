package artifact

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

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/internal/disk"
)

// Artifact is a file that a tool left beside its session, see [session.ArtifactDir].
type Artifact struct {
	// ID names it within the session: the number before the first dot of its name, as in
	// addresses of the form artifact://3, or else the whole name.
	ID       string
	Name     string
	Tool     string // the tool that wrote it, "" if the name does not contain it
	Bytes    int64
	Modified time.Time
}

// Dir is the artifact directory of a session. It need not exist.
type Dir struct {
	Fs      afero.Fs
	Session string // the session's file, which need not exist; "" for a session in memory
}

// path returns the path of the directory; ok is false for a session in memory.
func (d Dir) path() (path string, ok bool) { return session.ArtifactDir(d.Session) }

// List lists the files that the session's tools left beside it, whichever program they
// belong to: numbered files in the order of their numbers, then the rest by name. Only files
// directly in the directory count; links and hidden files do not. Without a directory the
// list is empty. If the directory is a link, the error is of kind outsideRoot.
func (d Dir) List() ([]Artifact, error) {
	dir, ok := d.path()
	if !ok {
		return nil, nil
	}
	there, err := d.exists(dir)
	if err != nil || !there {
		return nil, err
	}
	files, err := afero.ReadDir(d.Fs, dir)
	if err != nil {
		return nil, disk.Fault("read", dir, err)
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

// exists reports whether there is a directory at dir.
func (d Dir) exists(dir string) (bool, error) {
	info, err := disk.Lstat(d.Fs, dir)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return false, nil
	case err != nil:
		return false, disk.Fault("read", dir, err)
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

// sortArtifacts sorts artifacts. If several have the same number, the first by name keeps it,
// because that is the one that an address finds; the others are identified by their names.
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

// artifactNumber splits a name into its number and the part after the dot. Leading zeros
// are rejected, because no address is written with them.
func artifactNumber(name string) (number int64, rest string, ok bool) {
	digits, rest, dotted := strings.Cut(name, ".")
	if !dotted || len(digits) > maxArtifactDigits || len(digits) > 1 && digits[0] == '0' {
		return 0, "", false
	}
	n, err := strconv.ParseUint(digits, 10, 63)
	return int64(n), rest, err == nil
}
