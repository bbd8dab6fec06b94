package procgroup

import (
	"os/exec"
	"slices"
	"sync"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

// endLimit is how long the processes of a job may take to end.
const endLimit = 4 * time.Second

// Family is a running program, its head, with every process that it starts, directly or not: they are in one job
// object. Its methods may be called concurrently.
//
// The end of this process ends the members: it has the only handle of the job, and the system closes it.
type Family struct {
	head *exec.Cmd

	mu      sync.Mutex
	job     windows.Handle // 0 after Wait; guarded by mu
	process windows.Handle // of the head; 0 after Wait; guarded by mu
}

// newJob makes a job object whose processes end when its last handle is closed.
//
// It permits no breakaway: the programs of Cygwin and MSYS2, Git Bash among them, start all of their child processes
// outside of a job that permits it.
func newJob() (windows.Handle, error) {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return 0, err
	}
	limits := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{}
	limits.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
	size := uint32(unsafe.Sizeof(limits))
	_, err = windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation, uintptr(unsafe.Pointer(&limits)), size)
	if err != nil {
		_ = windows.CloseHandle(job)
		return 0, err
	}
	return job, nil
}

// StartFamily starts a program as the head of a family. It runs only after it is in the job.
func StartFamily(cmd *exec.Cmd) (*Family, error) {
	job, err := newJob()
	if err != nil {
		return nil, err
	}
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	// Without a window of its own. Its group keeps Ctrl-C of a console from it.
	cmd.SysProcAttr.CreationFlags |= windows.CREATE_SUSPENDED | windows.CREATE_NO_WINDOW | windows.CREATE_NEW_PROCESS_GROUP
	if err := cmd.Start(); err != nil {
		_ = windows.CloseHandle(job)
		return nil, err
	}
	f := &Family{head: cmd, job: job}
	if err := f.admit(); err != nil {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // the cause is err
		f.release()
		return nil, err
	}
	return f, nil
}

// admit puts the head into the job and lets it run.
func (f *Family) admit() (err error) {
	pid := uint32(f.head.Process.Pid) //nolint:gosec // as the system gave it
	const access = windows.PROCESS_SET_QUOTA | windows.PROCESS_TERMINATE | windows.SYNCHRONIZE
	if f.process, err = windows.OpenProcess(access, false, pid); err != nil {
		return err
	}
	if err = windows.AssignProcessToJobObject(f.job, f.process); err != nil {
		return err
	}
	return resume(pid)
}

// resume lets the threads of a process run that was started suspended.
func resume(pid uint32) error {
	list, err := windows.CreateToolhelp32Snapshot(windows.TH32CS_SNAPTHREAD, 0)
	if err != nil {
		return err
	}
	defer func() { _ = windows.CloseHandle(list) }()
	entry := windows.ThreadEntry32{}
	entry.Size = uint32(unsafe.Sizeof(entry))
	for err = windows.Thread32First(list, &entry); err == nil; err = windows.Thread32Next(list, &entry) {
		if entry.OwnerProcessID != pid {
			continue
		}
		thread, err := windows.OpenThread(windows.THREAD_SUSPEND_RESUME, false, entry.ThreadID)
		if err != nil {
			return err
		}
		_, err = windows.ResumeThread(thread)
		_ = windows.CloseHandle(thread)
		if err != nil {
			return err
		}
	}
	if err == windows.ERROR_NO_MORE_FILES { //nolint:errorlint // the system's own value
		return nil
	}
	return err
}

// Look does nothing: the job knows its processes.
func (f *Family) Look() {}

// Terminate does nothing: this system has no such signal.
func (f *Family) Terminate() {}

// Kill ends all members. It returns those that are still there after some seconds.
func (f *Family) Kill() (remaining []int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.job == 0 {
		return nil
	}
	f.endLocked()
	limit := time.NewTimer(endLimit)
	defer limit.Stop()
	again := time.NewTicker(10 * time.Millisecond)
	defer again.Stop()
	for {
		if remaining = members(f.job); len(remaining) == 0 {
			return nil
		}
		select {
		case <-again.C:
		case <-limit.C:
			return remaining
		}
	}
}

// end begins to end all members.
func (f *Family) end() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.endLocked()
}

func (f *Family) endLocked() {
	const code = 1
	if f.job != 0 {
		_ = windows.TerminateJobObject(f.job, code) // Kill counts the members that are left
	}
}

// members returns the ids of the processes of a job, a number of them.
func members(job windows.Handle) (pids []int) {
	const most = 256
	var list struct { // JOBOBJECT_BASIC_PROCESS_ID_LIST
		assigned, listed uint32
		pids             [most]uintptr
	}
	size := uint32(unsafe.Sizeof(list))
	err := windows.QueryInformationJobObject(job, windows.JobObjectBasicProcessIdList, uintptr(unsafe.Pointer(&list)), size, nil)
	if err != nil && err != windows.ERROR_MORE_DATA { //nolint:errorlint // the system's own value
		return nil
	}
	for _, pid := range list.pids[:min(list.listed, most)] {
		pids = append(pids, int(pid)) //nolint:gosec // process ids are 32 bits
	}
	return pids
}

// Await returns when the head has ended. Other members may live on.
func (f *Family) Await() {
	f.mu.Lock()
	process := f.process
	f.mu.Unlock()
	_, _ = windows.WaitForSingleObject(process, windows.INFINITE) // fails only for what is no handle
}

// Wait releases the head, which has ended, and the job. The result of the head is in the ProcessState of the command.
func (f *Family) Wait() {
	_ = f.head.Wait()
	f.release()
}

func (f *Family) release() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.process != 0 {
		_ = windows.CloseHandle(f.process)
	}
	if f.job != 0 {
		leave(f.job)
	}
	f.process, f.job = 0, 0
}

// left are the jobs whose heads have ended and whose other members may live on, until this process closes the
// handles by its end.
var left struct {
	sync.Mutex
	jobs []windows.Handle // guarded by Mutex
}

// leave keeps a job open as long as it has members, and closes the kept ones that have none any more.
func leave(job windows.Handle) {
	left.Lock()
	defer left.Unlock()
	left.jobs = slices.DeleteFunc(append(left.jobs, job), func(j windows.Handle) bool {
		if len(members(j)) > 0 {
			return false
		}
		_ = windows.CloseHandle(j)
		return true
	})
}
