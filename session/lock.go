package session

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/afero"

	"github.com/xcsh-ls/xcsh-ls/session/fault"
)

// lockOptions is what locks depend on. The zero value is this process on this machine.
type lockOptions struct {
	now     func() time.Time
	wait    func(context.Context, time.Duration) error
	after   func(time.Duration, func()) (stop func() bool)
	alive   func(pid int) bool
	started func(pid int) string // tells processes with one pid apart; "" when unknown
	pid     int
	host    string
	version string // of the program, for whoever meets its lock
	process *lockProcess
}

// thisProcess is what is locked here, by whichever store.
var thisProcess = newLockProcess()

func (o lockOptions) filled() *lockOptions {
	if o.now == nil {
		o.now = time.Now //nolint:forbidigo // the clock of who names none
	}
	if o.wait == nil {
		o.wait = pause
	}
	if o.after == nil {
		o.after = func(d time.Duration, f func()) (stop func() bool) { return time.AfterFunc(d, f).Stop }
	}
	if o.alive == nil {
		o.alive = ProcessAlive
	}
	if o.started == nil {
		o.started = processStarted
	}
	if o.pid == 0 {
		o.pid = os.Getpid()
	}
	if o.host == "" {
		o.host, _ = os.Hostname() // "" is as good a name as any
	}
	if o.process == nil {
		o.process = thisProcess
	}
	return &o
}

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

// lockProcess knows which locks this process holds: a lock file with our pid that is
// not among them was left by an earlier process of that number, or by a removal that
// failed. Tests make several to play several processes.
type lockProcess struct {
	mu    sync.Mutex
	held  map[string]bool  // contents of lock files; guarded by mu
	gates map[string]*gate // by path of the lock file; guarded by mu
	last  int64            // the newest stamp; guarded by mu
}

// gate lets one goroutine at a time through.
type gate struct {
	sync.Mutex
	users int    // who is in it or before it; guarded by lockProcess.mu
	yield func() // makes who is in it leave soon; nil: that one leaves anyway; guarded by lockProcess.mu
}

func newLockProcess() *lockProcess {
	return &lockProcess{held: map[string]bool{}, gates: map[string]*gate{}}
}

func (p *lockProcess) hold(content []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.held[string(content)] = true
}

func (p *lockProcess) drop(content []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.held, string(content))
}

func (p *lockProcess) holds(content []byte) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.held[string(content)]
}

// enter keeps the other goroutines of this process from path until leave is called. One
// that is in there only because it may be back soon is asked to leave.
func (p *lockProcess) enter(path string) (leave func()) {
	p.mu.Lock()
	g := p.gates[path]
	if g == nil {
		g = &gate{}
		p.gates[path] = g
	}
	g.users++
	yield := g.yield
	p.mu.Unlock()
	if yield != nil {
		yield()
	}
	g.Lock()
	return func() {
		p.mu.Lock()
		g.yield = nil
		if g.users--; g.users == 0 {
			delete(p.gates, path)
		}
		p.mu.Unlock()
		g.Unlock()
	}
}

// offer says that who is in the gate of path will leave when yield is called, which may
// happen at any time until it left and a moment after. wanted means that somebody waits
// already, who did not hear of it.
func (p *lockProcess) offer(path string, yield func()) (wanted bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	g := p.gates[path]
	g.yield = yield
	return g.users > 1
}

// millis is the time, or a moment later if this process used that time before.
func (p *lockProcess) millis(now time.Time) int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last = max(now.UnixMilli(), p.last+1)
	return p.last
}

// stamp is the content of a publish lock: whose it is and since when.
func (o *lockOptions) stamp() []byte {
	return fmt.Appendf(nil, "%d:%d\n", o.pid, o.process.millis(o.now()))
}

// stampPID reads the owner off a publish lock.
func stampPID(content []byte) (pid int, ok bool) {
	owner, since, _ := bytes.Cut(bytes.TrimSpace(content), []byte(":"))
	if _, err := strconv.ParseUint(string(since), 10, 63); err != nil {
		return 0, false
	}
	// Zero and negative numbers mean groups of processes to a system.
	n, err := strconv.ParseUint(string(owner), 10, 31)
	return int(n), err == nil && n > 0
}

func (o *lockOptions) judgePublish(content []byte) verdict {
	pid, ok := stampPID(content)
	if !ok {
		return ownerUnknown
	}
	return o.judgePID(pid, content)
}

// judgePID tells whether the process that left content is there. Our own is, so for
// our pid it is a question of whether we remember.
func (o *lockOptions) judgePID(pid int, content []byte) verdict {
	if pid == o.pid && !o.process.holds(content) || pid != o.pid && !o.alive(pid) {
		return ownerGone
	}
	return ownerLives
}

// locker takes the lock under which session files are changed.
type locker struct {
	fs  afero.Fs
	env *lockOptions
}

func newLocker(fs afero.Fs, o lockOptions) *locker { return &locker{fs: fs, env: o.filled()} }

// publish keeps other programs that follow the same protocol, and other goroutines,
// from appending to the session file at path and from replacing it, until unlock is
// called. It is for the length of one write, or of a [burst] of them.
//
// A lock that stays taken for half a second is kind busy, with the owner's pid where
// it is known. A directory that cannot be written is kind readOnly or io, as it would
// be for the write itself. The error of unlock means that the lock file could not be
// removed; what was done under the lock is done. A second unlock only returns what the
// first returned.
//
// Source: the terminal program omp, whose file and content these are; see
// docs/adr/0009-locking.md.
func (l *locker) publish(path string) (unlock func() error, err error) {
	f := lockFile{fs: l.fs, path: publishLock(path), of: path, env: l.env, judge: l.env.judgePublish, patient: true}
	leave := l.env.process.enter(f.path)
	content := l.env.stamp()
	seen, err := f.acquire(content)
	if errors.Is(err, syscall.ENAMETOOLONG) {
		// The session's name leaves no room for that of its lock. So nobody has it.
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
		return f.release(content)
	}), nil
}

// offer is for the holder of the lock of path, who does not mind to be asked for it by
// other goroutines; see [lockProcess.offer].
func (l *locker) offer(path string, yield func()) (wanted bool) {
	return l.env.process.offer(publishLock(path), yield)
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
