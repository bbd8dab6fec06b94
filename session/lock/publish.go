package lock

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/afero"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

// Options are the properties that locks depend on. The zero value is this process on this
// machine.
type Options struct {
	Now     func() time.Time
	Wait    func(context.Context, time.Duration) error
	Alive   func(pid int) bool
	started func(pid int) string    // distinguishes processes with the same pid; "" when unknown
	born    func(pid int) time.Time // when a process was started, by the clock; zero when unknown
	PID     int
	host    string
	version string // of the program, for other processes that find its lock
	Process *Process

	link func(from, to string) error // gives a file a second name; nil: os.Link where it works
}

// thisProcess holds the locks of this process, of all stores.
var thisProcess = &Process{}

func (o Options) filled() *Options {
	if o.Now == nil {
		o.Now = time.Now //nolint:forbidigo // the clock of who names none
	}
	if o.Wait == nil {
		o.Wait = pause
	}
	if o.Alive == nil {
		o.Alive = Alive
	}
	if o.started == nil {
		o.started = processStarted
	}
	if o.born == nil {
		o.born = processBorn
	}
	if o.PID == 0 {
		o.PID = os.Getpid()
	}
	if o.host == "" {
		o.host, _ = os.Hostname() // "" is as good a name as any
	}
	if o.Process == nil {
		o.Process = thisProcess
	}
	return &o
}

// Started distinguishes a process from others that had its pid before or get it later. It is "" where the system does not
// report it, and where there is no such process.
func Started(pid int) string { return processStarted(pid) }

// pause waits for d or the end of ctx, whichever comes first.
func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Process records which locks this process holds: a lock file with our pid that is not
// among them was left by an earlier process of that number, or by a removal that failed.
// Tests make several to simulate several processes. The zero value holds no locks.
type Process struct {
	mu    sync.Mutex
	held  map[string]bool  // contents of lock files; guarded by mu
	gates map[string]*gate // by path of the lock file; guarded by mu
	last  int64            // the newest stamp; guarded by mu
}

// gate lets one goroutine at a time through.
type gate struct {
	sync.Mutex
	users int // goroutines that hold the gate or wait for it; guarded by Process.mu
}

func (p *Process) hold(content []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.held == nil {
		p.held = map[string]bool{}
	}
	p.held[string(content)] = true
}

func (p *Process) drop(content []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.held, string(content))
}

func (p *Process) holds(content []byte) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.held[string(content)]
}

// enter keeps the other goroutines of this process away from path until leave is called.
func (p *Process) enter(path string) (leave func()) {
	p.mu.Lock()
	g := p.gates[path]
	if g == nil {
		if p.gates == nil {
			p.gates = map[string]*gate{}
		}
		g = &gate{}
		p.gates[path] = g
	}
	g.users++
	p.mu.Unlock()
	g.Lock()
	return func() {
		p.mu.Lock()
		if g.users--; g.users == 0 {
			delete(p.gates, path)
		}
		p.mu.Unlock()
		g.Unlock()
	}
}

// millis is the time, or a moment later if this process used that time before.
func (p *Process) millis(now time.Time) int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last = max(now.UnixMilli(), p.last+1)
	return p.last
}

// stamp is the content of a publish lock: its owner and its time.
func (o *Options) stamp() []byte {
	return fmt.Appendf(nil, "%d:%d\n", o.PID, o.Process.millis(o.Now()))
}

// stampPID reads the owner off a publish lock.
func stampPID(content []byte) (pid int, ok bool) {
	pid, _, ok = stampOf(content)
	return pid, ok
}

// stampOf reads a publish lock: its owner and its time.
func stampOf(content []byte) (pid int, since time.Time, ok bool) {
	owner, at, _ := bytes.Cut(bytes.TrimSpace(content), []byte(":"))
	millis, err := strconv.ParseInt(string(at), 10, 64)
	if err != nil || millis < 0 {
		return 0, since, false
	}
	// Zero and negative numbers mean groups of processes to a system.
	n, err := strconv.ParseUint(string(owner), 10, 31)
	return int(n), time.UnixMilli(millis), err == nil && n > 0
}

// bornLater is how much later than a lock a process must have been started to be another one than its owner. It is much more
// than the errors of the times, and than the time for which a lock is held, so that an owner keeps its lock if the clock was set back
// after its start.
const bornLater = 10 * time.Second

// oldest is the earliest time that a lock can have. A smaller number is no time in milliseconds.
var oldest = time.UnixMilli(1e12) // in 2001

// reused reports whether the process that has the pid of a lock's owner is another one: it was started after the lock was
// taken. The lock names no process but by the pid, because that is its format in omp.
func (o *Options) reused(pid int, since time.Time) bool {
	if since.Before(oldest) {
		return false
	}
	born := o.born(pid)
	return !born.IsZero() && !born.After(o.Now()) && born.Sub(since) > bornLater
}

func (o *Options) judgePublish(content []byte) verdict {
	pid, since, ok := stampOf(content)
	switch {
	case !ok:
		return ownerUnknown
	case pid != o.PID && o.reused(pid, since):
		return ownerGone
	}
	return o.judgePID(pid, content)
}

// judgePID judges whether the process that wrote content still exists. This process does,
// so for its own pid the lock must also be one that it remembers taking.
func (o *Options) judgePID(pid int, content []byte) verdict {
	if pid == o.PID && !o.Process.holds(content) || pid != o.PID && !o.Alive(pid) {
		return ownerGone
	}
	return ownerLives
}

// Locker takes the lock under which session files are changed.
type Locker struct {
	fs    afero.Fs
	env   *Options
	spare *spare
}

// New returns a locker for files on fs. Zero options get their defaults.
func New(fs afero.Fs, o Options) *Locker { return &Locker{fs: fs, env: o.filled(), spare: &spare{}} }

// Publish keeps other programs that follow the same protocol, and other goroutines,
// from appending to the session file at path and from replacing it, until unlock is
// called. It is for the length of one write.
//
// It fails with `busy` if the lock stays taken for half a second, with the owner's
// pid where it is known. For an unwritable directory it is of kind readOnly or io, as it
// would be for the write itself. The error of unlock means that the lock file could not be
// removed; changes made under the lock are complete. A second unlock only returns the
// result of the first.
//
// Source: the terminal program omp, whose file and content these are; see
// docs/adr/0009-locking.md.
func (l *Locker) Publish(path string) (unlock func() error, err error) {
	var spent fs.FileInfo
	f := file{fs: l.fs, path: publishLock(path), of: path, env: l.env, judge: l.env.judgePublish, patient: true, spare: l.spare, spent: &spent}
	leave := l.env.Process.enter(f.path)
	content := l.env.stamp()
	seen, err := f.acquire(content)
	if errors.Is(err, syscall.ENAMETOOLONG) {
		// The session's name is so long that the name of its lock does not fit. So no process can
		// have it.
		return sync.OnceValue(func() error { leave(); return nil }), nil
	}
	if err != nil {
		leave()
		if errors.Is(err, errLocked) {
			err = publishBusy(path, seen)
		}
		return nil, err
	}
	return sync.OnceValue(func() error {
		defer leave()
		if spent != nil {
			return l.spare.release(f, content, spent)
		}
		return f.release(content)
	}), nil
}

// Wait waits for d or the end of ctx, whichever comes first.
func (l *Locker) Wait(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return nil
	}
	return l.env.Wait(ctx, d)
}

// Writer reports whether a process is writing to the session file at path, and its pid,
// which is 0 if the lock does not name it. It changes nothing on disk.
func (l *Locker) Writer(path string) (pid int, writing bool) {
	f := file{fs: l.fs, path: publishLock(path), of: path, env: l.env, judge: l.env.judgePublish}
	content, owner, err := f.look(nil)
	if err != nil || owner == ownerGone {
		return 0, false
	}
	if n, ok := stampPID(content); ok {
		pid = n
	}
	return pid, true
}

func publishLock(path string) string {
	return filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+".lock")
}

func publishBusy(path string, seen []byte) error {
	pid, ok := stampPID(seen)
	if !ok {
		return fault.New(fault.Busy, "%s is being written by another program; nothing was written.", path).With("path", path)
	}
	return fault.New(fault.Busy, "%s is being written by another program (pid %d); nothing was written.", path, pid).
		With("path", path).With("pid", pid)
}
