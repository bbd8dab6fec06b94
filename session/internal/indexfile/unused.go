package indexfile

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/spf13/afero"

	"github.com/xcsh-ls/xcsh-ls/session/internal/disk"
)

// Names of the files that this package writes. Others in the directory are not ours: they neither count nor go.
var (
	ownName  = regexp.MustCompile(`^[0-9a-f]{32}\.(idx|ext)$`)
	tempName = regexp.MustCompile(`^[0-9a-f]{32}\.(idx|ext)\.[0-9]+\.tmp$`)
)

func isTemp(f os.FileInfo) bool { return f.Mode().IsRegular() && tempName.MatchString(f.Name()) }

func isOwn(f os.FileInfo) bool { return f.Mode().IsRegular() && ownName.MatchString(f.Name()) }

// Unused returns the files that no reader would use: those that are damaged, of an older version, or not of a session
// for which exists reports true, and unfinished ones. A file of a newer version is left to that version.
// It follows no links and opens nothing but files with the names that this package gives.
func (d Dir) Unused(exists func(session string) bool) ([]os.FileInfo, error) {
	at, err := disk.Lstat(d.Fs, d.Path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !at.IsDir() {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	files, err := afero.ReadDir(d.Fs, d.Path)
	if err != nil {
		return nil, err
	}
	var unused []os.FileInfo
	for _, f := range files {
		if isTemp(f) || isOwn(f) && d.isUnused(f.Name(), exists) {
			unused = append(unused, f)
		}
	}
	return unused, nil
}

func (d Dir) isUnused(name string, exists func(session string) bool) bool {
	f, err := d.Fs.Open(filepath.Join(d.Path, name))
	if err != nil {
		return false
	}
	defer f.Close()
	start := make([]byte, len(magic))
	if _, err := f.ReadAt(start, 0); err != nil && !errors.Is(err, io.EOF) {
		return false // it may be readable some other time
	}
	if string(start) != magic {
		return isOlder(string(start))
	}
	x, err := read(f)
	if err != nil {
		return true
	}
	facts := Decoder{Rest: x.Facts}
	session := facts.Text()
	base, _, _ := strings.Cut(name, ".")
	return facts.Bad || Name(session) != base || !exists(session)
}

// isOlder reports whether a file begins as those of an older version of this package do.
func isOlder(start string) bool {
	version, _ := strings.CutSuffix(magic, "\n")
	name, current := version[:strings.LastIndexByte(version, ' ')+1], version[strings.LastIndexByte(version, ' ')+1:]
	line, _, ended := strings.Cut(start, "\n")
	number, ours := strings.CutPrefix(line, name)
	n, err := strconv.Atoi(number)
	now, _ := strconv.Atoi(current)
	return ours && ended && err == nil && n < now
}
