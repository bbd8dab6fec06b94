package lock

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/spf13/afero"

	"github.com/xcsh-ls/xcsh-ls/internal/durable"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/session/internal/disk"
)

// Timeouts and intervals of a lock. The figures are those of the terminal program that
// takes the same publish lock.
const (
	Retry     = 2 * time.Millisecond
	patience  = 500 * time.Millisecond
	abandoned = 500 * time.Millisecond // age at which a lock without an owner's name counts as abandoned
	tries     = int(patience/Retry) + 1

	// maxClaims bounds how many programs may have crashed inside each other's clean-up.
	maxClaims = 4
)

// errLocked means that another process has the lock. It never leaves the package.
var errLocked = errors.New("session: locked")

// verdict is the state of the owner, as judged by a lock's content.
type verdict int

const (
	ownerLives verdict = iota
	ownerGone
	ownerUnknown // the content names no owner
)

// file is a file that is a lock by existing. Its content identifies the owner and is
// different each time it is taken.
//
// Why no two processes hold it. Only [file.create] makes the file, exclusively, and only
// two parties remove it: its owner, and a taker that found the owner gone. Takers do so
// one at a time, under a lock of the same kind beside it (the claim), and check again
// under it: between that check and the removal no other process can change the file,
// because its owner is gone and every other taker needs the claim. A claim whose owner
// crashed is taken over in the same way, under a claim of its own.
//
// The weak point is the moment between creating the file and writing it: a file without an
// owner's name counts as abandoned after [abandoned]. A creator that took as long
// therefore assumes that it does not hold the lock, whatever the file contains.
type file struct {
	fs      afero.Fs
	path    string
	of      string // the file that errors name
	env     *Options
	judge   func(content []byte) verdict
	patient bool // wait for a living owner, which will finish soon
	depth   int  // 0, or how often this is a claim of a claim

	spare *spare       // what the lock can be made of; nil: nothing
	spent *fs.FileInfo // set to the lock if it was; not nil if spare is not
}

// acquire takes the lock. errLocked means that another process keeps it; seen is then the
// lock's content, if that could be read.
func (f file) acquire(content []byte) (seen []byte, err error) {
	f.env.Process.hold(content)
	defer func() {
		if err != nil {
			f.env.Process.drop(content)
		}
	}()
	start := f.env.Now()
	for range tries {
		if err = f.create(content); err == nil {
			return nil, nil
		}
		owner := ownerUnknown
		if errors.Is(err, errLocked) {
			if seen, owner, err = f.meet(content); err == nil {
				continue // it was freed
			}
		}
		hopeless := owner == ownerLives && !f.patient || !errors.Is(err, errLocked) && !durable.InUse(err)
		if hopeless || f.env.Now().Sub(start) >= patience || f.env.Wait(context.Background(), Retry) != nil {
			return seen, err
		}
	}
	return seen, cmp.Or(err, errLocked)
}

// create makes the lock file. errLocked means that it exists, or that ours was considered
// abandoned while we made it.
func (f file) create(content []byte) error {
	if made, ok, err := f.spare.put(f, content); ok {
		*f.spent = made
		return err
	}
	began := f.env.Now()
	file, err := f.fs.OpenFile(f.path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, disk.FileMode)
	if errors.Is(err, fs.ErrExist) {
		return errLocked
	} else if err != nil {
		return disk.Fault("lock", f.of, err)
	}
	n, err := file.Write(content)
	if err == nil && n < len(content) {
		err = io.ErrShortWrite
	}
	err = errors.Join(err, file.Close())
	there, readErr := afero.ReadFile(f.fs, f.path)
	slow := f.env.Now().Sub(began) >= abandoned
	switch {
	case slow:
		return errLocked // if the file is ours, it is removed under a claim
	case err != nil, readErr != nil && !errors.Is(readErr, fs.ErrNotExist):
		_ = f.fs.Remove(f.path) // best effort; the error that matters is returned
		return disk.Fault("lock", f.of, cmp.Or(err, readErr))
	case !bytes.Equal(there, content):
		return errLocked
	}
	return nil
}

// meet handles an existing lock. No error means that it may be free now.
func (f file) meet(mine []byte) (seen []byte, owner verdict, err error) {
	seen, owner, err = f.look(mine)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, ownerGone, nil
	case errors.Is(err, fs.ErrPermission) && !durable.InUse(err):
		return nil, ownerLives, errLocked // of another user, whom one can ask
	case err != nil:
		return nil, ownerUnknown, disk.Fault("lock", f.of, err)
	case owner == ownerGone:
		return seen, owner, f.takeAway(mine)
	}
	return seen, owner, errLocked
}

// look reads the lock and judges its owner. A lock with the content mine is one that this
// process's create gave up.
func (f file) look(mine []byte) (content []byte, owner verdict, err error) {
	// The clock is read before the file: a file that is blank below was blank at this time or
	// later.
	now := f.env.Now()
	file, err := f.fs.Open(f.path)
	if err != nil {
		return nil, ownerUnknown, err
	}
	info, err := file.Stat()
	if err == nil {
		content, err = io.ReadAll(file)
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return nil, ownerUnknown, err
	}
	owner = f.judge(content)
	abandoned := owner == ownerUnknown && now.Sub(info.ModTime()) > abandoned
	if abandoned || mine != nil && bytes.Equal(content, mine) {
		owner = ownerGone
	}
	return content, owner, nil
}

// takeAway removes the lock of an owner that is gone, if the file is still the same.
// errLocked means that it is not, or that another taker is removing it.
func (f file) takeAway(mine []byte) (err error) {
	if f.depth == maxClaims {
		return errLocked
	}
	claim := file{fs: f.fs, path: f.path + ".claim", of: f.of, env: f.env, judge: f.env.judgePublish, depth: f.depth + 1}
	stamp := f.env.stamp()
	if _, err := claim.acquire(stamp); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, claim.release(stamp)) }()
	_, owner, err := f.look(mine)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return disk.Fault("lock", f.of, err)
	case owner != ownerGone:
		return errLocked
	}
	if err := f.fs.Remove(f.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return disk.Fault("lock", f.of, err)
	}
	return nil
}

// release gives the lock up. A lock that another process removed is kept as it is, and the
// error is of kind stale.
func (f file) release(content []byte) (err error) {
	defer f.env.Process.drop(content)
	for range tries {
		var there []byte
		there, err = afero.ReadFile(f.fs, f.path)
		if errors.Is(err, fs.ErrNotExist) || err == nil && !bytes.Equal(there, content) {
			return fault.New(fault.Stale, "The lock of %s was removed while it was held.", f.of).With("path", f.of)
		}
		if err == nil {
			err = f.fs.Remove(f.path)
		}
		if err == nil {
			return nil
		}
		// Windows removes no file that another program is just reading.
		if !durable.InUse(err) || f.env.Wait(context.Background(), Retry) != nil {
			break
		}
	}
	return disk.Fault("unlock", f.of, err)
}
