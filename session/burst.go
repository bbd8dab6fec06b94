package session

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"runtime"
	"sync"
	"time"

	"github.com/spf13/afero"

	"github.com/xcsh-ls/xcsh-ls/session/fault"
)

// How long one append leaves the lock and the open file to the next. omp asks for the
// lock every 2 ms for 500 ms: it must find it free in that time, whatever we do.
const (
	burstPause   = 20 * time.Millisecond // without an append, after which a burst ends
	burstTurns   = 4                     // so many of them end it in any case
	burstRest    = 8 * time.Millisecond  // for which the lock is then left to others
	burstCompany = time.Second           // for which nobody who wrote to the file too is made to wait for a burst
)

// burst is what one append leaves to the next while they follow each other closely: the
// publish lock, held, and the file, open for appending. Nothing is taken for granted
// because of it. Each append still finds the path naming the open file, at the size
// that we know, before it writes, and again after; see docs/adr/0009-locking.md.
//
// A burst ends when the appends pause, when it has lasted for long enough, when another
// goroutine wants the file, and when the file is not as it was left; then there are none
// for a while, because others who write will want the lock again. It belongs to a
// [Log] but does not refer to it, so that a Log that nobody closed leaves nothing
// behind either. It is safe for concurrent use.
type burst struct {
	store *Store
	path  string
	shut  bool // the file is not kept open, where an open one could not be replaced by others

	mu      sync.Mutex
	hold    *hold     // nil between bursts; guarded by mu, like all below
	rest    time.Time // until when others have their turn
	company time.Time // until when we are not alone with the file
	fault   error     // of closing the file, which may have lost what was written
}

func newBurst(s *Store, path string) *burst {
	return &burst{store: s, path: path, shut: runtime.GOOS == "windows"}
}

// hold is one burst while it lasts.
type hold struct {
	target  string // the file, links resolved
	unlock  func() error
	file    afero.File // nil while it is not open
	info    os.FileInfo
	appends int // this many
	seen    int // at the last turn of the clock
	turns   int
	stop    func() bool
	syncing bool // the file is being synced and is closed when that is done
}

// begin takes the lock and opens the file, which must be the one in known and of the
// given size. errMoved means that it is not.
func (b *burst) begin(known os.FileInfo, size int64) error {
	target, err := b.store.realPath(b.path)
	if errors.Is(err, fs.ErrNotExist) {
		return errMoved
	} else if err != nil {
		return ioFault("write", b.path, err)
	}
	unlock, err := b.store.locks.publish(target)
	if fault.Is(err, fault.NotFound) {
		return errMoved // the directory is gone
	} else if err != nil {
		return err
	}
	h := &hold{target: target, unlock: unlock, stop: func() bool { return false }}
	if err := h.open(b, known, size); err != nil {
		b.store.unlocked(target, unlock())
		return err
	}
	b.hold = h
	if b.store.locks.offer(target, b.giveUp) || b.store.locks.env.now().Before(b.company) {
		h.turns = burstTurns // somebody waits, or may; one append and no more
		return nil
	}
	b.wind(h)
	return nil
}

// open opens the file and looks whether it is the one that is known.
func (h *hold) open(b *burst, known os.FileInfo, size int64) error {
	f, err := b.store.Fs.OpenFile(h.target, os.O_WRONLY|os.O_APPEND, fileMode)
	if errors.Is(err, fs.ErrNotExist) {
		return errMoved
	} else if err != nil {
		return ioFault("write", b.path, err)
	}
	info, err := f.Stat()
	if err != nil {
		err = ioFault("write", b.path, err)
	} else if !sameFile(info, known) || info.Size() != size {
		err = errMoved
	}
	if err != nil {
		_ = f.Close() // nothing was written to it
		return err
	}
	h.file, h.info = f, info
	return nil
}

// wind makes the clock look at the burst after a pause.
func (b *burst) wind(h *hold) {
	h.stop = b.store.locks.env.after(burstPause, func() { b.turn(h) })
}

// turn ends the burst if nothing was appended since the last turn, or if it has lasted
// for long enough.
func (b *burst) turn(h *hold) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.hold != h {
		return
	}
	if h.turns++; h.turns < burstTurns && h.appends > h.seen {
		h.seen = h.appends
		b.wind(h)
		return
	}
	b.end()
	b.rest = b.store.locks.env.now().Add(burstRest)
}

// held returns the burst if the file it has open is the known one.
func (b *burst) held(known os.FileInfo) *hold {
	if b.hold != nil && sameFile(b.hold.info, known) {
		return b.hold
	}
	return nil
}

// end closes the file and gives up the lock. The caller has b.mu.
func (b *burst) end() {
	h := b.hold
	if h == nil {
		return
	}
	b.hold = nil
	h.stop()
	if !h.syncing {
		b.close(h)
	}
	b.store.unlocked(h.target, h.unlock())
}

// close closes the file of a burst. Some file systems say only then that what was
// written is lost; see [burst.failed].
func (b *burst) close(h *hold) {
	if h.file == nil {
		return
	}
	if err := h.file.Close(); err != nil {
		b.fault = ioFault("write", b.path, err)
	}
	h.file = nil
}

// giveUp ends the burst, if there is one.
func (b *burst) giveUp() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.end()
}

// disturbed ends the burst because somebody else changed the file.
func (b *burst) disturbed() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.end()
	b.company = b.store.locks.env.now().Add(burstCompany)
}

// failed returns, once, why what was written in an earlier burst may be lost.
func (b *burst) failed() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	err := b.fault
	b.fault = nil
	return err
}

// await leaves others their turn after a burst that the clock ended.
func (b *burst) await() error {
	b.mu.Lock()
	rest := b.rest
	b.rest = time.Time{}
	b.mu.Unlock()
	if rest.IsZero() {
		return nil
	}
	env := b.store.locks.env
	if left := min(rest.Sub(env.now()), burstRest); left > 0 {
		return env.wait(context.Background(), left)
	}
	return nil
}

// sync makes the file in known durable, with the file that the burst has open. ok is
// false when it has none. The burst may end meanwhile, because a disk can be slow for
// longer than others wait for the lock.
func (b *burst) sync(known os.FileInfo) (ok bool, err error) {
	b.mu.Lock()
	h := b.held(known)
	if h == nil || h.file == nil {
		b.mu.Unlock()
		return false, nil
	}
	h.syncing = true
	b.mu.Unlock()
	err = syncData(h.file)
	b.mu.Lock()
	defer b.mu.Unlock()
	if h.syncing = false; b.hold != h {
		b.close(h)
	}
	return true, ioFaultOrNil("write", b.path, err)
}
