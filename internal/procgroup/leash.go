//go:build unix

package procgroup

import (
	"io"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"
)

const (
	// leashGrace is the time between the signal to end and the kill of the processes.
	leashGrace = 2 * time.Second

	// killEvery is the time between two rounds of killing: processes can start others meanwhile.
	killEvery = 20 * time.Millisecond

	// killRounds bounds the rounds.
	killRounds = 500
)

// Leash runs a program as a child of this process until all of its processes have ended, and returns
// the program's exit code. When held ends, so do they: with SIGTERM, and two seconds later with
// SIGKILL. Held is a pipe whose other end belongs to the process that started this one, so that the
// program ends even if that one is killed. On Linux its processes are all descendants, also those in
// groups and sessions of their own; elsewhere those of the process group.
//
// Leash changes how this process handles signals and child processes, so that the caller must do
// nothing else but exit. The program gets the standard output and error of this process, and no
// input.
func Leash(argv []string, held io.Reader) (code int, err error) {
	signals := make(chan os.Signal, 1) // a signal to the group must not end this process first
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	if err := adoptOrphans(); err != nil {
		return 0, err
	}
	cmd := exec.Command(argv[0], argv[1:]...) //nolint:noctx // it ends with held
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	bind(cmd)
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	released := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, held) // every way in which it ends is its end
		close(released)
	}()
	ended := make(chan int, 1)
	go func() { ended <- reap(cmd.Process.Pid) }()
	select {
	case code = <-ended:
	case <-released:
		code = endAll(ended)
	}
	return code, nil
}

// reap waits for all child processes and returns the exit code of the main one, as a shell does.
func reap(main int) (code int) {
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, 0, nil)
		switch {
		case err == syscall.EINTR:
		case err != nil: // none is left
			endGroup()
			return code
		case pid == main && status.Signaled():
			code = 128 + int(status.Signal())
		case pid == main:
			code = status.ExitStatus()
		}
	}
}

// endAll ends the processes and returns the exit code of the main one.
func endAll(ended <-chan int) (code int) {
	signalAll(syscall.SIGTERM)
	late := time.NewTimer(leashGrace)
	defer late.Stop()
	select {
	case code = <-ended:
		return code
	case <-late.C:
	}
	again := time.NewTicker(killEvery)
	defer again.Stop()
	for range killRounds {
		// Stopped first, so that none can start another one while the others are killed.
		signalAll(syscall.SIGSTOP)
		signalAll(syscall.SIGKILL)
		select {
		case code = <-ended:
			return code
		case <-again.C:
		}
	}
	return 128 + int(syscall.SIGKILL) // one in uninterruptible sleep ends later
}
