// Package dirwatch reports changes of the files in directories.
//
// On Linux and Windows the system reports them, at the cost of one open file or less for each directory. On macOS and the
// BSDs, package fsnotify opens every file of a directory, of which there are thousands where sessions are, and runs into
// the limit of open files. FSEvents of macOS needs C. So the directories are polled there, see [Watcher.Add].
package dirwatch

import (
	"path/filepath"
	"runtime"
	"slices"

	"github.com/fsnotify/fsnotify"
	"github.com/spf13/afero"
)

// Watcher watches directories.
type Watcher interface {
	// Add watches a directory, which may be missing. Adding it again watches one that was missing before. An event for
	// a file has its path, and one for a directory that appears or disappears that of the directory. A poll reports a change
	// after a second, and later if a look at the directories takes more than 20 ms; see pauseAfter.
	Add(dir string) error

	// Events are the changes, among them some that do not matter. The channel is closed by Close.
	Events() <-chan fsnotify.Event

	// Errors are the problems of watching.
	Errors() <-chan error

	Close() error
}

// New returns a watcher. It polls if poll is set, or if the system can't watch many files. Only a poll uses fsys.
func New(fsys afero.Fs, poll bool) (Watcher, error) {
	if poll || polls(runtime.GOOS) {
		return newPoller(fsys), nil
	}
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, err
	}
	return reported{w}, nil
}

// polls reports whether fsnotify uses kqueue on a system.
func polls(system string) bool {
	return slices.Contains([]string{"darwin", "ios", "dragonfly", "freebsd", "netbsd", "openbsd"}, system)
}

// reported are changes that the system reports.
type reported struct{ watcher *fsnotify.Watcher }

func (r reported) Events() <-chan fsnotify.Event { return r.watcher.Events }
func (r reported) Errors() <-chan error          { return r.watcher.Errors }
func (r reported) Close() error                  { return r.watcher.Close() }

func (r reported) Add(dir string) error {
	// A missing directory cannot be watched; its parent reports when it appears.
	err := r.watcher.Add(dir)
	if parentErr := r.watcher.Add(filepath.Dir(dir)); parentErr == nil {
		return nil
	}
	return err
}
