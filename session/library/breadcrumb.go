package library

import (
	"errors"
	"path/filepath"
	"strings"

	"github.com/spf13/afero"

	"github.com/xcsh-ls/xcsh-ls/internal/durable"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/session/internal/disk"
)

// readBreadcrumb returns the last directory of a terminal and the session file it used
// there. dir is [Places].Terminals. cwd is cleaned. ok is false if there is no breadcrumb,
// it cannot be read, or it is invalid: fewer than two lines. Lines ended by CR LF are
// accepted, and lines after the second, which newer versions of omp write.
func readBreadcrumb(fsys afero.Fs, dir, terminalID string) (cwd, file string, ok bool) {
	name, ok := breadcrumbName(terminalID)
	if !ok {
		return "", "", false
	}
	content, err := afero.ReadFile(fsys, filepath.Join(dir, name))
	if err != nil {
		return "", "", false
	}
	lines := strings.Split(strings.TrimSpace(string(content)), "\n")
	if len(lines) < 2 {
		return "", "", false
	}
	cwd, file = strings.TrimSpace(lines[0]), strings.TrimSpace(lines[1])
	return cleanPath(cwd), file, cwd != "" && file != ""
}

// WriteBreadcrumb records that a terminal uses the session file in cwd. It replaces the
// terminal's breadcrumb atomically and makes dir when it is missing; both are readable by
// their owner only. The session works without, so a caller should log the error and
// continue.
func WriteBreadcrumb(fsys afero.Fs, dir, terminalID, cwd, file string) error {
	name, ok := breadcrumbName(terminalID)
	if !ok || cwd == "" || file == "" || strings.ContainsAny(cwd+file, "\r\n") {
		return fault.New(fault.InvalidArgument, "No breadcrumb can be written for terminal %q.", terminalID).With("field", "terminalId")
	}
	path := filepath.Join(dir, name)
	if err := fsys.MkdirAll(dir, disk.DirMode); err != nil {
		return disk.Fault("write", path, err)
	}
	temp, err := afero.TempFile(fsys, dir, "."+name+".*.tmp") // mode 0600
	if err != nil {
		return disk.Fault("write", path, err)
	}
	_, err = temp.WriteString(cwd + "\n" + file + "\n")
	if err = errors.Join(err, temp.Close()); err == nil {
		err = durable.Rename(fsys, temp.Name(), path)
	}
	if err != nil {
		_ = fsys.Remove(temp.Name()) // best effort; the error that matters is returned
		return disk.Fault("write", path, err)
	}
	return nil
}

// Breadcrumb returns the session file that the terminal last used in cwd, if that file
// still exists. The working directories are compared as paths without resolving symbolic
// links, because the originals do so.
func (f Finder) Breadcrumb(cwd, terminalID string) (file string, ok bool) {
	for _, r := range f.Roots {
		if !r.Own || r.Terminals == "" {
			continue
		}
		at, file, ok := readBreadcrumb(f.Fs, r.Terminals, terminalID)
		if !ok || foldPath(at) != foldPath(cleanPath(cwd)) {
			return "", false
		}
		info, err := f.Fs.Stat(file)
		return file, err == nil && info.Mode().IsRegular()
	}
	return "", false
}

// maxTerminalID is the maximum length of a breadcrumb's name, in bytes, so that it and its
// temporary file fit any file system.
const maxTerminalID = 128

// breadcrumbName makes a file name of a terminal id. Ids of terminals stay as they
// are; separators, control characters and dots that could lead elsewhere become
// dashes. ok is false when there is no id.
//
// Differs: the originals use the id as it is, so that it can name a file anywhere.
func breadcrumbName(id string) (name string, ok bool) {
	name = strings.Map(func(r rune) rune {
		if r == '/' || r == '\\' || r < 0x20 || r == 0x7F || r == ':' && filepath.Separator == '\\' {
			return '-'
		}
		return r
	}, strings.ToValidUTF8(id, "-"))
	name = strings.ReplaceAll(name, "..", "--")
	if strings.HasPrefix(name, ".") {
		name = "-" + name[1:]
	}
	if len(name) > maxTerminalID {
		name = strings.ToValidUTF8(name[:maxTerminalID], "")
	}
	return name, strings.TrimSpace(name) != ""
}
