package dirwatch

import (
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"
	"github.com/spf13/afero"

	"github.com/xcsh-ls/xcsh-ls/internal/filestat"
)

// The pause after a look at all directories. It is a multiple of the time of the look, so that polling takes at most
// 1/share of one processor, unless a look takes more than a second.
const (
	shortest = time.Second
	longest  = time.Minute
	share    = 50
)

func pauseAfter(look time.Duration) time.Duration { return min(max(share*look, shortest), longest) }

// poller compares the states of files from one look to the next.
type poller struct {
	fs     afero.Fs
	added  chan string
	events chan fsnotify.Event
	close  func()
	closed chan struct{} // closed by close
	ended  chan struct{} // closed when the loop has ended
}

func newPoller(fsys afero.Fs) *poller {
	closed := make(chan struct{})
	p := &poller{
		fs: fsys, added: make(chan string), events: make(chan fsnotify.Event), closed: closed, ended: make(chan struct{}),
		close: sync.OnceFunc(func() { close(closed) }),
	}
	go p.loop()
	return p
}

func (p *poller) Events() <-chan fsnotify.Event { return p.events }
func (p *poller) Errors() <-chan error          { return nil } // a directory that can't be read counts as missing

func (p *poller) Add(dir string) error {
	select {
	case p.added <- filepath.Clean(dir):
		return nil
	case <-p.closed:
		return fsnotify.ErrClosed
	}
}

func (p *poller) Close() error {
	p.close()
	<-p.ended
	return nil
}

func (p *poller) loop() {
	defer close(p.ended)
	defer close(p.events)
	known := map[string]listing{}
	next := time.NewTimer(shortest)
	defer next.Stop()
	found := map[string]fsnotify.Op{} // by path, so that there is at most one event for each file
	for {
		var send chan fsnotify.Event // nil, which blocks, unless something was found
		var first fsnotify.Event
		for path, op := range found {
			send, first = p.events, fsnotify.Event{Name: path, Op: op}
			break
		}
		select {
		case <-p.closed:
			return
		case dir := <-p.added: // also while a subscriber, which may be adding, has not taken an event
			if _, ok := known[dir]; !ok {
				known[dir] = p.list(dir)
			}
		case send <- first:
			delete(found, first.Name)
		case <-next.C:
			begun := time.Now()
			for dir, before := range known {
				known[dir] = p.list(dir)
				for path, op := range changes(dir, before, known[dir]) {
					found[path] |= op
				}
			}
			next.Reset(pauseAfter(time.Since(begun)))
		}
	}
}

// listing is the state of the files in a directory by name; nil if there is no such directory.
type listing map[string]state

// state is the state of a file. The info alone is not enough: in-memory storage returns one that always describes the
// present.
type state struct {
	info os.FileInfo
	size int64
	mod  time.Time
}

func (p *poller) list(dir string) listing {
	infos, err := afero.ReadDir(p.fs, dir)
	if err != nil {
		return nil
	}
	found := listing{}
	for _, info := range infos {
		found[info.Name()] = state{info, info.Size(), info.ModTime()}
	}
	return found
}

// changes returns the differences of two looks at a directory.
func changes(dir string, before, after listing) map[string]fsnotify.Op {
	found := map[string]fsnotify.Op{}
	switch {
	case before == nil && after != nil:
		found[dir] = fsnotify.Create
	case before != nil && after == nil:
		found[dir] = fsnotify.Remove
	}
	for name, now := range after {
		was, existed := before[name]
		switch {
		case !existed, !filestat.Same(was.info, now.info):
			found[filepath.Join(dir, name)] = fsnotify.Create
		case was.size != now.size || !was.mod.Equal(now.mod):
			found[filepath.Join(dir, name)] = fsnotify.Write
		}
	}
	for name := range before {
		if _, exists := after[name]; !exists {
			found[filepath.Join(dir, name)] = fsnotify.Remove
		}
	}
	return found
}
