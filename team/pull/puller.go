package pull

import (
	"context"
	"errors"
	"io/fs"
	"syscall"
	"time"

	"github.com/spf13/afero"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/library"
	"github.com/xcsh-ls/xcsh-ls/team"
	"github.com/xcsh-ls/xcsh-ls/team/shipping"
)

// Config configures a [Puller]. Store, Sessions and Library are required. All files are on the storage of Sessions.
type Config struct {
	Store    team.Store     // after Hello
	Sessions *session.Store // converts old formats and has the locks
	Library  library.Finder // knows the directories of sessions
	Rules    shipping.Rules // by which the sessions of this machine are sent; they matter when a file is compared with the store

	// LockDir is the directory of the locks that let one process at a time write to a hidden file. "" takes no locks.
	LockDir string

	// Free returns the free space for files in a directory, in bytes. ok is false if it is unknown. Nil asks the system, on the
	// real file system only.
	Free func(dir string) (n int64, ok bool)
	// Link gives a file a second name, and fails with fs.ErrExist if the name is taken. Nil makes a hard link, on the real file
	// system only. If there are no links, the name is reserved by an empty file first, which is then replaced.
	Link func(from, to string) error
	// After is time.NewTimer: a channel that receives a value after d, and a function that stops it. Nil is the system's clock.
	After func(d time.Duration) (<-chan time.Time, func() bool)
}

// Puller pulls sessions. It is safe for concurrent use.
type Puller struct {
	Config
	fs afero.Fs
}

// New returns a Puller. It starts nothing.
func New(c Config) *Puller {
	p := &Puller{Config: c, fs: c.Sessions.Fs}
	if p.Free == nil {
		p.Free = p.systemFree
	}
	if p.After == nil {
		p.After = systemAfter
	}
	return p
}

// Progress is called between the round trips of a pull, with the number of bytes of the body that are here and their number in the
// store. A nil Progress is allowed.
type Progress func(done, total int64)

func (f Progress) step(done, total int64) {
	if f != nil {
		f(done, total)
	}
}

func systemAfter(d time.Duration) (<-chan time.Time, func() bool) {
	t := time.NewTimer(d)
	return t.C, t.Stop
}

// wait waits for d or the end of ctx, whose error it returns.
func wait(ctx context.Context, after func(time.Duration) (<-chan time.Time, func() bool), d time.Duration) error {
	c, stop := after(d)
	defer stop()
	select {
	case <-ctx.Done():
		return cancelled(ctx)
	case <-c:
		return nil
	}
}

func cancelled(ctx context.Context) error {
	return fault.New(fault.Cancelled, "The session was not pulled completely: %w. Pull it again to continue.", ctx.Err())
}

// systemFree is Config.Free for the real file system.
func (p *Puller) systemFree(dir string) (int64, bool) {
	if _, ok := p.fs.(*afero.OsFs); !ok {
		return 0, false
	}
	return freeSpace(dir)
}

// diskFault returns the error of a file operation. A *fault.Error stays as it is.
func diskFault(op, path string, err error) error {
	if err == nil {
		return nil
	}
	if f, ok := errors.AsType[*fault.Error](err); ok {
		return f
	}
	kind := fault.IO
	switch {
	case errors.Is(err, syscall.ENOSPC):
		kind = fault.NoSpace
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		kind = fault.ReadOnly
	}
	return fault.New(kind, "Cannot %s %s: %w.", op, path, err).With("path", path)
}
