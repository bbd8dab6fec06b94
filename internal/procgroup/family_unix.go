//go:build unix

package procgroup

import (
	"crypto/rand"
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

const (
	// markName is the variable by which orphans are recognised as members of a family.
	markName = "PROCESS_FAMILY"

	// endRounds bounds the rounds of [Family.Kill]; the longest pause between two of them is killEvery.
	endRounds = 200
)

// Family is a running program, its head, with every process that it starts, directly or not, also in groups and
// sessions of their own. Its methods may be called concurrently.
//
// A process is a member if its parent is one, or if it is in the head's session. A process can leave both: it starts a
// session and its parent ends, as does the command of an agent that is killed. On Linux a unique variable in
// its environment shows that it is a member, and everywhere an earlier [Family.Look] has seen it. A process that
// leaves session, parent and environment behind between two looks is a member no more.
type Family struct {
	head *exec.Cmd
	mark string // an assignment in the environment of the members

	mu     sync.Mutex
	seen   map[int]string // the members at the last look, and when they were started; guarded by mu
	reaped bool           // the id of the head can be that of another process; guarded by mu
}

// process is a running process.
type process struct {
	pid, parent, group, session int

	// started tells processes apart that have the same id, one after the other.
	started string
}

// StartFamily starts a program as the head of a family, in a session of its own. If the command has no
// environment, it gets that of this process.
func StartFamily(cmd *exec.Cmd) (*Family, error) {
	f := &Family{head: cmd, mark: markName + "=" + rand.Text(), seen: map[int]string{}}
	if cmd.Env == nil {
		cmd.Env = os.Environ()
	}
	cmd.Env = slices.DeleteFunc(slices.Clone(cmd.Env), func(v string) bool { return strings.HasPrefix(v, markName+"=") })
	cmd.Env = append(cmd.Env, f.mark)
	own(cmd)
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return f, nil
}

// Look remembers who the members are now.
func (f *Family) Look() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.membersLocked(false)
}

// Terminate asks the head, and the members that have not left its group, to end.
func (f *Family) Terminate() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.reaped {
		(&Group{f.head.Process}).Terminate()
	}
}

// Kill ends all members. It returns those that are still there after some seconds: they belong to another
// user, or wait for a device.
func (f *Family) Kill() (left []int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	pause := time.Millisecond
	again := time.NewTimer(0)
	defer again.Stop()
	for range endRounds {
		<-again.C
		left = f.membersLocked(true)
		foreign := slices.DeleteFunc(slices.Clone(left), isOurs)
		if len(foreign) == len(left) {
			return left
		}
		// Stopped first, so that none can start another one while the others are killed.
		for _, s := range []syscall.Signal{syscall.SIGSTOP, syscall.SIGKILL} {
			for _, pid := range left {
				_ = syscall.Kill(pid, s) // the error is that it has ended
			}
		}
		again.Reset(pause)
		pause = min(2*pause, killEvery)
	}
	return left
}

// isOurs reports whether this process may signal another one.
func isOurs(pid int) bool { return !errors.Is(syscall.Kill(pid, 0), syscall.EPERM) }

// Await returns when the head has ended. Other members may live on. It is called once, before Wait.
func (f *Family) Await() {
	if awaitExit(f.head.Process.Pid) {
		return // it has its id until Wait, so that members of its session can be recognised
	}
	_ = f.head.Wait() // the caller gets the result from ProcessState
	f.mu.Lock()
	defer f.mu.Unlock()
	f.reaped = true
}

// Wait releases the head, which has ended. Its result is in the ProcessState of the command.
func (f *Family) Wait() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.reaped {
		_ = f.head.Wait() // as above
		f.reaped = true
	}
}

// membersLocked returns the members that run, the head among them, and remembers them. Orphans are recognised by their
// environment only if all is set, because that takes longer.
func (f *Family) membersLocked(all bool) (pids []int) {
	running := processes()
	children := map[int][]process{}
	var next []process
	for _, p := range running {
		if p.pid == os.Getpid() || p.pid <= 1 {
			continue
		}
		started, seen := f.seen[p.pid]
		if (seen && started == p.started) || f.isNearLocked(p) || (all && hasVariable(p.pid, f.mark)) {
			next = append(next, p)
		}
		children[p.parent] = append(children[p.parent], p)
	}
	f.seen = map[int]string{}
	for len(next) > 0 {
		var below []process
		for _, p := range next {
			if _, ok := f.seen[p.pid]; ok {
				continue
			}
			f.seen[p.pid] = p.started
			pids = append(pids, p.pid)
			below = append(below, children[p.pid]...)
		}
		next = below
	}
	return pids
}

// isNearLocked reports whether a process is the head, or in its session or group.
func (f *Family) isNearLocked(p process) bool {
	head := f.head.Process.Pid
	return !f.reaped && (p.pid == head || p.session == head || p.group == head)
}
