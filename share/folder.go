package share

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/afero"
	"go.uber.org/zap"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

// folderPrefix begins the names of the directories of all shares.
const folderPrefix = "xcsh-share-"

// thisRun distinguishes this process from an earlier one with the same id.
var thisRun = strings.ToLower(rand.Text()[:10])

// Folders makes a directory for each share.
type Folders struct {
	Fs    afero.Fs
	Temp  string             // where they are made, absolute
	Alive func(pid int) bool // whether a process exists
	Log   *zap.Logger
}

// With calls f with a new directory that no other user can read, and removes it with its
// content when f returns or panics. Before that it removes the directories of processes
// that are gone. The error is that of f, or the reason why there is no directory.
func (d Folders) With(f func(dir string) error) error {
	d.sweep()
	dir := filepath.Join(d.Temp, d.owned(os.Getpid(), thisRun)+strings.ToLower(rand.Text()[:10]))
	if err := d.Fs.Mkdir(dir, 0o700); err != nil {
		return fault.New(fault.IO, "Cannot create a directory for the shared page: %w", err).With("path", dir)
	}
	defer d.remove(dir)
	return f(dir)
}

func (d Folders) remove(dir string) {
	if err := d.Fs.RemoveAll(dir); err != nil {
		d.Log.Warn("the directory of a shared page could not be removed", zap.String("path", dir), zap.Error(err))
	}
}

// owned begins the name of a directory that a process of this machine made. Machines and
// containers can share a temporary directory without seeing each other's processes.
func (d Folders) owned(pid int, run string) string {
	return d.local() + strconv.Itoa(pid) + "-" + run + "-"
}

func (Folders) local() string {
	host, err := os.Hostname()
	if err != nil {
		host = "" // then all whose name is not known count as one
	}
	sum := sha256.Sum256([]byte(host))
	return folderPrefix + hex.EncodeToString(sum[:4]) + "-"
}

// sweep removes the directories of processes of this machine that are gone. Its failures
// do not prevent sharing.
func (d Folders) sweep() {
	temp, err := d.Fs.Open(d.Temp)
	if err != nil {
		return // With returns a better error
	}
	defer temp.Close()
	names, err := temp.Readdirnames(-1)
	if err != nil {
		d.Log.Warn("the temporary directory could not be listed", zap.String("path", d.Temp), zap.Error(err))
	}
	for _, name := range names {
		if rest, ok := strings.CutPrefix(name, d.local()); ok && d.abandoned(rest) {
			d.remove(filepath.Join(d.Temp, name))
		}
	}
}

// abandoned reports whether the process in a directory's name is gone. rest is the name
// after the machine.
func (d Folders) abandoned(rest string) bool {
	id, rest, _ := strings.Cut(rest, "-")
	run, _, ok := strings.Cut(rest, "-")
	pid, err := strconv.Atoi(id)
	if err != nil || !ok {
		return false
	}
	if pid == os.Getpid() {
		return run != thisRun
	}
	return !d.Alive(pid)
}

// maxName is the longest name of a page, in bytes, without its ending.
const maxName = 100

// PageName is the file name of a session's page: a gist shows it. Only letters, digits,
// dots, dashes and underscores of the session's name are kept, because some programs treat
// others as patterns.
func PageName(session string) string {
	name := strings.TrimSuffix(filepath.Base(session), ".jsonl")
	name = strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("._-", r) {
			return r
		}
		return '_'
	}, name)
	name = strings.TrimLeft(name[:min(len(name), maxName)], ".-")
	if name == "" {
		name = "session"
	}
	return name + ".html"
}
