package child

import "time"

// Cost is the cost of a command.
type Cost struct {
	Begun time.Time     // when the request was sent; zero for a start
	Wall  time.Duration // from sending the request until the last byte of the answer has arrived
	CPU   time.Duration // of all threads of the server, until it is quiet again; 0 if unknown
	Peak  int64         // the largest resident size of the server in bytes, until it is quiet again; 0 if unknown
	Bytes int64         // of the answer
}

// Measure runs a command and returns what it cost, and the answer without its content unless keep is set.
func (s *Server) Measure(command string, args map[string]any, keep bool) (Answer, Cost, error) {
	pid := s.cmd.Process.Pid
	s.settle()
	resetPeak(pid)
	before, start := processorTime(pid), time.Now()
	r, err := s.request("workspace/executeCommand", params(command, args), keep)
	if err != nil {
		return Answer{}, Cost{}, err
	}
	s.settle()
	return r.Answer, Cost{Begun: start, Wall: r.at.Sub(start), CPU: processorTime(pid) - before, Peak: peakMemory(pid), Bytes: r.Size}, nil
}

// CPU returns the processor time that the server has used since its start; 0 if unknown.
func (s *Server) CPU() time.Duration { return processorTime(s.cmd.Process.Pid) }

// Resident returns the resident size of the server, once it is quiet, in bytes; 0 if unknown.
func (s *Server) Resident() int64 {
	s.settle()
	return memory(s.cmd.Process.Pid, residentSize)
}

// settle waits until the server uses no more processor time than an idle one, for at most a minute.
func (s *Server) settle() { Settle(s.cmd.Process.Pid, s.quiet) }

// Settle waits until a process has used no more processor time than an idle one for some time, at most a minute. 0 does not wait.
func Settle(pid int, quiet time.Duration) {
	if quiet == 0 {
		return
	}
	const step, idle = 5 * time.Millisecond, 200 * time.Microsecond
	begin := time.Now()
	last, since := processorTime(pid), begin
	for time.Since(since) < quiet && time.Since(begin) < time.Minute {
		time.Sleep(step)
		if now := processorTime(pid); now-last > idle {
			last, since = now, time.Now()
		}
	}
}

// The sizes of a process, by their names in Linux.
const (
	residentSize = "VmRSS:"
	largestSize  = "VmHWM:" // since the last resetPeak
)

// peakMemory returns the largest resident size since the last resetPeak in bytes.
func peakMemory(pid int) int64 { return memory(pid, largestSize) }
