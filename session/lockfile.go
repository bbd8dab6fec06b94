package session

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

	"github.com/xcsh-ls/xcsh-ls/session/fault"
)

// How long is waited for a lock. The figures are those of the terminal program that
// takes the same publish lock.
const (
	lockRetry     = 2 * time.Millisecond
	lockPatience  = 500 * time.Millisecond
	lockAbandoned = 500 * time.Millisecond // age at which a lock that names nobody is nobody's
	lockTries     = int(lockPatience/lockRetry) + 1

	// maxClaims bounds how many programs may have crashed inside each other's clean-up.
	maxClaims = 4
)

// errLocked says that somebody else has the lock. It never leaves the package.
var errLocked = errors.New("session: locked")

// verdict is what a lock's content tells about its owner.
type verdict int

const (
	ownerLives verdict = iota
	ownerGone
	ownerUnknown // the content names nobody
)

// lockFile is a file that is a lock by existing. Its content says whose it is and is
// different each time it is taken.
//
// Why no two hold it. Only [lockFile.create] makes the file, exclusively, and only two
// remove it: its owner, and a taker who found the owner gone. Takers do so one at a
// time, under a lock of the same kind beside it (the claim), and look again under it:
// from that look to the removal nobody else may change the file, because its owner is
// gone and every other taker needs the claim. A claim whose owner crashed is taken
// over in the same way, under a claim of its own.
//
// The moment between creating the file and writing it is the weak one: a file that
// names nobody for [lockAbandoned] counts as abandoned. A creator that took as long
// therefore does not believe that it holds the lock, whatever it reads in it.
type lockFile struct {
	fs      afero.Fs
	path    string
	of      string // the file that errors name
	env     *lockOptions
	judge   func(content []byte) verdict
	patient bool // wait for a living owner, who will be done soon
	depth   int  // 0, or how often this is a claim of a claim
}

// acquire takes the lock. errLocked means that somebody else keeps it; seen is then
// what the lock holds, if that could be read.
func (f lockFile) acquire(content []byte) (seen []byte, err error) {
	f.env.process.hold(content)
	defer func() {
		if err != nil {
			f.env.process.drop(content)
		}
	}()
	start := f.env.now()
	for range lockTries {
		if err = f.create(content); err == nil {
			return nil, nil
		}
		owner := ownerUnknown
		if errors.Is(err, errLocked) {
			if seen, owner, err = f.meet(content); err == nil {
				continue // it was freed
			}
		}
		hopeless := owner == ownerLives && !f.patient || !errors.Is(err, errLocked) && !fileInUse(err)
		if hopeless || f.env.now().Sub(start) >= lockPatience || f.env.wait(context.Background(), lockRetry) != nil {
			return seen, err
		}
	}
	return seen, cmp.Or(err, errLocked)
}

// create makes the lock file. errLocked means that there is one, or that ours was
// taken for abandoned while we made it.
func (f lockFile) create(content []byte) error {
	began := f.env.now()
	file, err := f.fs.OpenFile(f.path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, fileMode)
	if errors.Is(err, fs.ErrExist) {
		return errLocked
	} else if err != nil {
		return ioFault("lock", f.of, err)
	}
	n, err := file.Write(content)
	if err == nil && n < len(content) {
		err = io.ErrShortWrite
	}
	err = errors.Join(err, file.Close())
	there, readErr := afero.ReadFile(f.fs, f.path)
	slow := f.env.now().Sub(began) >= lockAbandoned
	switch {
	case slow:
		return errLocked // what is there, if it is ours, is taken away under a claim
	case err != nil, readErr != nil && !errors.Is(readErr, fs.ErrNotExist):
		_ = f.fs.Remove(f.path) // best effort; the error that matters is returned
		return ioFault("lock", f.of, cmp.Or(err, readErr))
	case !bytes.Equal(there, content):
		return errLocked
	}
	return nil
}

// meet deals with a lock that is there. No error means that it may be free now.
func (f lockFile) meet(mine []byte) (seen []byte, owner verdict, err error) {
	seen, owner, err = f.look(mine)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, ownerGone, nil
	case errors.Is(err, fs.ErrPermission) && !fileInUse(err):
		return nil, ownerLives, errLocked // another person's, who can be asked
	case err != nil:
		return nil, ownerUnknown, ioFault("lock", f.of, err)
	case owner == ownerGone:
		return seen, owner, f.takeAway(mine)
	}
	return seen, owner, errLocked
}

// look reads the lock and judges whose it is. A lock with mine in it is one that our
// own create did not believe in.
func (f lockFile) look(mine []byte) (content []byte, owner verdict, err error) {
	// Asked before reading: what is blank below was blank at this time or later.
	now := f.env.now()
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
	abandoned := owner == ownerUnknown && now.Sub(info.ModTime()) > lockAbandoned
	if abandoned || mine != nil && bytes.Equal(content, mine) {
		owner = ownerGone
	}
	return content, owner, nil
}

// takeAway removes the lock of an owner who is gone, if that is still what is there.
// errLocked means that it is not, or that another taker is at it.
func (f lockFile) takeAway(mine []byte) (err error) {
	if f.depth == maxClaims {
		return errLocked
	}
	claim := lockFile{fs: f.fs, path: f.path + ".claim", of: f.of, env: f.env, judge: f.env.judgePublish, depth: f.depth + 1}
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
		return ioFault("lock", f.of, err)
	case owner != ownerGone:
		return errLocked
	}
	if err := f.fs.Remove(f.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return ioFault("lock", f.of, err)
	}
	return nil
}

// release gives the lock up. A lock that somebody else took away is kind stale and
// stays as it is.
func (f lockFile) release(content []byte) (err error) {
	defer f.env.process.drop(content)
	for range lockTries {
		var there []byte
		there, err = afero.ReadFile(f.fs, f.path)
		if errors.Is(err, fs.ErrNotExist) || err == nil && !bytes.Equal(there, content) {
			return fault.New(fault.Stale, "The lock of %s was taken away while it was held.", f.of).With("path", f.of)
		}
		if err == nil {
			err = f.fs.Remove(f.path)
		}
		if err == nil {
			return nil
		}
		// Windows removes no file that another program is just reading.
		if !fileInUse(err) || f.env.wait(context.Background(), lockRetry) != nil {
			break
		}
	}
	return ioFault("unlock", f.of, err)
}
