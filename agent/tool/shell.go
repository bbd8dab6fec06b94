package tool

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"time"

	"github.com/spf13/afero"

	"github.com/xcsh-ls/xcsh-ls/agent/procgroup"
	"github.com/xcsh-ls/xcsh-ls/session/fault"
)

const (
	// killAfter is how long a command that was told to end may take.
	killAfter = 2 * time.Second

	// lingerFor is how long output is still read after a command's shell has ended. Longer
	// than that only something in the background holds it.
	lingerFor = 500 * time.Millisecond

	// updateEvery is the shortest time between two updates.
	updateEvery = 100 * time.Millisecond
)

// Shell runs command lines, those of a model and those of a person alike. It is safe for
// concurrent use.
type Shell struct {
	options Options
	grace   time.Duration
}

// NewShell returns a shell.
func NewShell(o Options) Shell { return Shell{options: o.withDefaults(), grace: killAfter} }

// Command is a command line to run.
type Command struct {
	Line    string
	Cwd     string        // absolute
	Timeout time.Duration // 0 is none
	Keep    Keep          // for an output that is too long; nil keeps it in the temporary directory
}

// Output is what came of a command.
type Output struct {
	Output         string // standard output and error as they came, the end of it if it is too long
	ExitCode       *int   // nil when it was cancelled or took too long
	Cancelled      bool
	TimedOut       bool
	Background     bool // something it started still held its output
	Truncated      bool
	FullOutputPath string // a file with all of it, "" when Output is all or there is none
	ArtifactID     string // of that file in the session, "" when it is elsewhere
	Truncation     Truncation

	timeout  time.Duration
	lastLine int // size of the last line, in bytes
}

// Run runs a command until it ends, is cancelled with ctx or takes too long. It has a
// process group of its own, without a terminal: on cancel and timeout all of the group
// are told to end, and killed two seconds later. What it leaves running in the background
// is not waited for, and loses its output. Its input is empty.
//
// update is told what has come so far, at most ten times in a second, from another
// goroutine but never after Run returned. It may be nil.
//
// A command that fails is no error. An error means that it was not run.
func (s Shell) Run(ctx context.Context, cmd Command, update func(Output)) (Output, error) {
	if err := s.checkCwd(cmd.Cwd); err != nil {
		return Output{}, err
	}
	argv, err := s.argv(cmd)
	if err != nil {
		return Output{}, err
	}
	out := &capture{fs: s.options.Fs, tool: "bash", keep: cmd.Keep, temp: s.options.TempDir}
	defer out.close()
	p, err := s.start(ctx, argv, cmd.Cwd)
	if err != nil {
		return Output{}, err
	}
	updates := newThrottle(updateEvery, func() {
		if update != nil {
			update(newOutput(out))
		}
	})
	defer updates.stop()
	p.read(func(b []byte) {
		_, _ = out.Write(b) // never fails
		updates.poke()
	})
	end := p.wait(ctx, cmd.Timeout, s.grace)
	out.close()
	updates.stop()
	o := newOutput(out)
	o.Cancelled, o.TimedOut, o.Background = end.cancelled, end.timedOut, end.background
	o.timeout = cmd.Timeout
	if !end.cancelled && !end.timedOut {
		o.ExitCode = &end.code
	}
	return o, nil
}

func newOutput(c *capture) Output {
	s := c.snapshot()
	return Output{Output: s.text, Truncated: s.cut.Truncated, FullOutputPath: s.path, ArtifactID: s.artifact, Truncation: s.cut, lastLine: s.last}
}

// checkCwd words what exec would say about a program.
func (s Shell) checkCwd(dir string) error {
	info, err := afero.NewOsFs().Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fault.New(fault.NotFound, "The working directory %s does not exist any more, so that no command can run in it.", dir).With("path", dir)
	case err != nil:
		return ioFault("read", dir, err)
	case !info.IsDir():
		return fault.New(fault.InvalidArgument, "The working directory %s is not a directory.", dir).With("path", dir)
	}
	return nil
}

// argv is what to run for a command line.
func (s Shell) argv(cmd Command) ([]string, error) {
	shell := s.options.Shell
	if shell == "" {
		for _, name := range []string{"bash", "sh"} {
			if path, err := exec.LookPath(name); err == nil {
				shell = path
				break
			}
		}
	}
	if shell == "" {
		return nil, fault.New(fault.NotFound, "There is no bash on the PATH, so that no commands can be run.")
	}
	argv := []string{shell, "-c", cmd.Line}
	if s.options.Sandbox == nil {
		return argv, nil
	}
	return s.options.Sandbox.argv(cmd.Cwd, s.options.TempDir, argv), nil
}

// process is a command that runs.
type process struct {
	cmd    *exec.Cmd
	out    *os.File
	outEnd chan struct{} // closed when out was read to its end, or given up
	exited chan struct{} // closed when the shell itself has ended
}

// start starts a command. It does not end with ctx by itself: wait sees to that, because
// more than one process has to be ended.
func (s Shell) start(ctx context.Context, argv []string, dir string) (*process, error) {
	if err := ctx.Err(); err != nil {
		return nil, fault.New(fault.Cancelled, "The command was cancelled before it began: %w", err)
	}
	out, in, err := os.Pipe()
	if err != nil {
		return nil, fault.New(fault.IO, "Cannot run a command: %w", err)
	}
	cmd := exec.CommandContext(context.WithoutCancel(ctx), argv[0], argv[1:]...)
	cmd.Dir, cmd.Env = dir, s.options.childEnv()
	// A file and not a writer, so that Wait waits for the shell and not for whoever has
	// inherited its output.
	cmd.Stdout, cmd.Stderr = in, in
	procgroup.Own(cmd)
	err = cmd.Start()
	_ = in.Close() // the child has its own
	if err != nil {
		_ = out.Close()
		return nil, fault.New(fault.IO, "Cannot run %s: %w", argv[0], err)
	}
	return &process{cmd: cmd, out: out, outEnd: make(chan struct{}), exited: make(chan struct{})}, nil
}

// read hands output on until its end.
func (p *process) read(take func([]byte)) {
	go func() {
		defer close(p.outEnd)
		buf := make([]byte, 32<<10)
		for {
			n, err := p.out.Read(buf)
			if n > 0 {
				take(buf[:n])
			}
			if err != nil {
				return
			}
		}
	}()
	go func() {
		defer close(p.exited)
		_ = p.cmd.Wait() // how it ended is in its state
	}()
}

// ending is how a command ended.
type ending struct {
	code                            int
	cancelled, timedOut, background bool
}

func (p *process) wait(ctx context.Context, timeout, grace time.Duration) (e ending) {
	var expired <-chan time.Time
	if timeout > 0 {
		t := time.NewTimer(timeout)
		defer t.Stop()
		expired = t.C
	}
	select {
	case <-p.exited:
	case <-ctx.Done():
		e.cancelled = true
	case <-expired:
		e.timedOut = true
	}
	if e.cancelled || e.timedOut {
		p.end(grace)
	}
	e.background = !p.drain(lingerFor)
	e.code = exitCode(p.cmd.ProcessState)
	return e
}

// end tells the group to end, and kills what is left of it after a while. When nobody
// holds the output any more all have ended.
func (p *process) end(grace time.Duration) {
	procgroup.Terminate(p.cmd.Process)
	late := time.NewTimer(grace)
	defer late.Stop()
	select {
	case <-late.C:
		procgroup.Kill(p.cmd.Process)
	case <-p.outEnd:
		select {
		case <-late.C:
			procgroup.Kill(p.cmd.Process)
		case <-p.exited:
		}
	}
	<-p.exited
}

// drain reads the output to its end, or for a while if something in the background holds
// it, and reports whether it ended.
func (p *process) drain(linger time.Duration) (ended bool) {
	<-p.exited
	late := time.NewTimer(linger)
	defer late.Stop()
	select {
	case <-p.outEnd:
		ended = true
	case <-late.C:
	}
	_ = p.out.Close() // lets the reader go
	<-p.outEnd
	return ended
}
