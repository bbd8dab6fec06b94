package find

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/spf13/afero"

	"github.com/xcsh-ls/xcsh-ls/agent/trust"
)

// maxLinks is how many symbolic links a path may follow.
const maxLinks = 64

// trail is the way to a file.
type trail struct {
	real string   // the file, after all links
	seen []string // the path, each link on the way, and the file
	why  string   // the reason, for users, why the file may not be run; "" if it may
}

// errLinks reports a path that leads nowhere.
var errLinks = errors.New("too many symbolic links")

// trace follows path to a file that can be run, and checks that no one else can change where it leads: each directory
// in which a name on the way is looked up must not be writable for others. Above the program and its links, a
// directory for temporary files counts as safe, because others cannot replace files in there.
func (m Machine) trace(path string) (trail, error) {
	t := trail{seen: []string{path}}
	volume := filepath.VolumeName(path) + string(filepath.Separator)
	at, rest := volume, elements(path[len(filepath.VolumeName(path)):])
	for links := 0; len(rest) > 0; {
		name := rest[0]
		if rest = rest[1:]; name == ".." {
			at = filepath.Dir(at)
			continue
		}
		next := filepath.Join(at, name)
		info, to, err := m.look(next)
		if err != nil {
			return t, err
		}
		m.checkDir(&t, path, at, len(rest) == 0, info)
		if to == "" {
			at = next
			continue
		}
		if links++; links > maxLinks {
			return t, errLinks
		}
		t.seen = append(t.seen, next)
		if filepath.IsAbs(to) {
			at = filepath.VolumeName(to) + string(filepath.Separator)
			to = to[len(filepath.VolumeName(to)):]
		}
		rest = append(elements(to), rest...)
	}
	t.real, t.seen = at, append(t.seen, at)
	info, err := m.Fs.Stat(at)
	switch {
	case err != nil:
		return t, err
	case !info.Mode().IsRegular():
		return t, fs.ErrInvalid
	case m.OS != "windows" && info.Mode().Perm()&0o111 == 0:
		return t, fs.ErrPermission
	}
	m.note(&t, path, at, info)
	return t, nil
}

// look returns a file and, if it is a link, its target.
func (m Machine) look(path string) (info fs.FileInfo, to string, err error) {
	lstat, ok := m.Fs.(afero.Lstater)
	if !ok {
		info, err = m.Fs.Stat(path)
		return info, "", err
	}
	if info, _, err = lstat.LstatIfPossible(path); err != nil || info.Mode()&fs.ModeSymlink == 0 {
		return info, "", err
	}
	reader, ok := m.Fs.(afero.LinkReader)
	if !ok {
		return info, "", nil
	}
	to, err = reader.ReadlinkIfPossible(path)
	return info, to, err
}

// checkDir notes whether others can change which file has a name in the directory dir. last is that it is the
// program or a link in its place; info is the file.
func (m Machine) checkDir(t *trail, path, dir string, last bool, info fs.FileInfo) {
	top, err := m.Fs.Stat(dir)
	if err != nil || m.Writers == nil {
		return
	}
	if !last && top.Mode()&fs.ModeSticky != 0 && m.Writers(info) == "" {
		return
	}
	m.note(t, path, dir, top)
}

// note records who else may write to a file or directory.
func (m Machine) note(t *trail, path, at string, info fs.FileInfo) {
	if m.Writers == nil || t.why != "" {
		return
	}
	if who := m.Writers(info); who != "" {
		t.why = fmt.Sprintf("%s is not run because %s may write to %s.", m.short(path), who, m.short(at))
	}
}

func elements(path string) (names []string) {
	for name := range strings.SplitSeq(filepath.ToSlash(path), "/") {
		if name != "" && name != "." {
			names = append(names, name)
		}
	}
	return names
}

// inside returns the workspace folder that a file is in, or a link on the way to it.
func (m Machine) inside(t trail, folders []string) (folder string, ok bool) {
	gate := trust.Gate{Fs: m.Fs, Home: m.Home, Folders: func() []string { return folders }}
	for _, path := range t.seen {
		if folder, ok := gate.Inside(path); ok {
			return folder, true
		}
	}
	return "", false
}
