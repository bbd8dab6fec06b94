package tool

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/afero"

	"github.com/xcsh-ls/xcsh-ls/agent/sandbox"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/internal/procgroup"
)

const (
	// killAfter is the time between the signal to end and the kill of a command.
	killAfter = 2 * time.Second

	// lingerFor is how long output is still read after a command's shell has ended. Longer
	// than that only something in the background holds it.
	lingerFor = 500 * time.Millisecond

	// leashTime is how much longer than killAfter a leash may take to end the processes.
	leashTime = 5 * time.Second

	// updateEvery is the shortest time between two updates.
	updateEvery = 100 * time.Millisecond
)

// Shell runs command lines, those of a model and those of a user alike. It is safe for concurrent
// use.
type Shell struct {
	options Options
	grace   time.Duration
	settle  time.Duration // see settleTime
}

// NewShell returns a shell.
func NewShell(o Options) Shell {
	return Shell{options: o.withDefaults(), grace: killAfter, settle: settleTime}
}

// ShellSetup is the user's configuration of the commands of a conversation.
type ShellSetup struct {
	Program   string   // absolute; takes -c. "" is the usual shell
	Prefix    string   // lines before each command line
	Variables []string // more variables, as in [os.Environ]
}

// Command is a command line to run.
type Command struct {
	Line    string
	Shell   ShellSetup
	Cwd     string        // absolute
	Timeout time.Duration // 0 means none
	Keep    Keep          // for an output that is too long; nil keeps it in the temporary directory

	// Own is for a command that the user typed: it runs outside the sandbox and sees the user's
	// environment, but for keys of model services.
	Own bool

	// Level is that of any other command.
	Level sandbox.Level
}

// Output is the result of a command.
type Output struct {
	Output         string // standard output and error in order of arrival, the end of it if it is too long
	ExitCode       *int   // nil when it was cancelled or took too long
	Cancelled      bool
	TimedOut       bool
	Background     bool // something it started still held its output
	Truncated      bool
	FullOutputPath string // a file with all of it, "" when Output is all or there is none
	ArtifactID     string // of that file in the session, "" when it is elsewhere
	Truncation     Truncation

	// Blocked are lines of the output of a failed command that tell of the sandbox.
	Blocked []string

	protected
	refused  bool // the user denied to run it with more rights
	timeout  time.Duration
	fixed    bool // the timeout cannot be longer
	lastLine int  // size of the last line, in bytes
}

// Run runs a command until it ends, is cancelled with ctx or takes too long. It has a process group
// of its own, without a terminal: on cancel and timeout the whole group gets a signal to end, and
// is killed two seconds later. Run does not wait for processes that the command leaves running in
// the background; their output is lost. Its input is empty.
//
// update gets the output so far, at most ten times in a second, from another goroutine but never
// after Run returned. It may be nil.
//
// A command that fails is no error. An error means that it was not run.
func (s Shell) Run(ctx context.Context, cmd Command, update func(Output)) (Output, error) {
	if err := checkCwd(cmd.Cwd); err != nil {
		return Output{}, err
	}
	argv, env, policy, err := s.argv(cmd)
	if err != nil {
		return Output{}, err
	}
	out := &capture{fs: s.options.Fs, tool: "bash", keep: cmd.Keep, temp: s.options.TempDir}
	defer out.close()
	p, err := s.start(ctx, argv, env, cmd.Cwd, streams{})
	if err != nil {
		return Output{}, err
	}
	defer p.group.Close()
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
	o.timeout, o.fixed = cmd.Timeout, cmd.Level == sandbox.Strict && cmd.Timeout == strictTimeout
	if !end.cancelled && !end.timedOut {
		o.ExitCode = &end.code
		if sandboxed := !cmd.Own && cmd.Level != sandbox.Outside; sandboxed && end.code != 0 {
			o.Blocked = sandbox.Blocked(policy, cmd.Cwd, o.Output)
		}
	}
	return o, nil
}

func newOutput(c *capture) Output {
	s := c.snapshot()
	return Output{Output: s.text, Truncated: s.cut.Truncated, FullOutputPath: s.path, ArtifactID: s.artifact, Truncation: s.cut, lastLine: s.last}
}

// checkCwd fails for an unusable working directory, which exec would report as an error of the
// program.
func checkCwd(dir string) error {
	info, err := afero.NewOsFs().Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fault.New(fault.NotFound, "The working directory %s no longer exists, so no command can run in it.", dir).With("path", dir)
	case err != nil:
		return ioFault("read", dir, err)
	case !info.IsDir():
		return fault.New(fault.InvalidArgument, "The working directory %s is not a directory.", dir).With("path", dir)
	}
	return nil
}

// argv returns the arguments for a command line, its environment, and the policy of the sandbox.
func (s Shell) argv(cmd Command) (argv, env []string, policy sandbox.Policy, err error) {
	shell := cmp.Or(cmd.Shell.Program, s.program())
	switch {
	case shell == "":
		return nil, nil, policy, fault.New(fault.NotFound, "%s", noShell(runtime.GOOS))
	case cmd.Shell.Program != "" && !filepath.IsAbs(shell):
		return nil, nil, policy, fault.New(fault.InvalidArgument, "The shell must be an absolute path, not %s. It comes from --shell-path or the setting shellPath.", shell)
	case cmd.Shell.Program != "" && !isProgram(shell):
		return nil, nil, policy, fault.New(fault.NotFound, "The shell %s of --shell-path or the setting shellPath cannot be run.", shell)
	}
	line := cmd.Line
	if cmd.Shell.Prefix != "" {
		line = cmd.Shell.Prefix + "\n" + line
	}
	argv = []string{shell, "-c", line}
	if cmd.Own {
		return argv, append(s.options.userEnv(), cmd.Shell.Variables...), policy, nil
	}
	argv, env, policy, err = s.confined(cmd.Cwd, cmd.Level, argv)
	return argv, append(env, cmd.Shell.Variables...), policy, err
}

// isProgram reports whether there is a program at a path.
func isProgram(path string) bool {
	_, err := exec.LookPath(path)
	return err == nil
}

// confined returns the arguments that run a model's program at a level, its environment, and the policy
// of the sandbox.
func (s Shell) confined(cwd string, level sandbox.Level, program []string) (argv, env []string, policy sandbox.Policy, err error) {
	box := s.options.Sandbox
	switch {
	case box != nil:
		var extra []string // for approved commands only
		if level != sandbox.Strict {
			extra = box.Env(cwd)
		}
		env = modelEnv(os.Environ(), extra...)
		argv, policy, err = box.Argv(cwd, level, program)
	case level != sandbox.Outside:
		err = fault.New(fault.Denied, "There is no sandbox, so the command was not run.")
	default:
		argv, env = program, modelEnv(os.Environ())
	}
	if level == sandbox.Strict {
		env = append(env, "GIT_OPTIONAL_LOCKS=0") // git status would write otherwise
	}
	return argv, env, policy, err
}

// program is the path of the shell, "" if there is none.
func (s Shell) program() string {
	if s.options.Shell != "" {
		return s.options.Shell
	}
	return findShell()
}

// Name returns the name of the shell that runs commands, such as "bash"; "" if there is none.
func (s Shell) Name() string {
	if path := s.program(); path != "" {
		return strings.TrimSuffix(filepath.Base(path), ".exe")
	}
	return ""
}

// peekTime is how long a command of Peek may take.
const peekTime = 2 * time.Second

// Peek runs a command line that only reads in the strict sandbox, in the directory dir, for at most two
// seconds. ok is false if it failed or took too long, if its output is too long for a result, or if
// there is no sandbox.
func (s Shell) Peek(ctx context.Context, dir, line string) (output string, ok bool) {
	if s.options.Sandbox == nil {
		return "", false
	}
	out, err := s.Run(ctx, Command{Line: line, Cwd: dir, Timeout: peekTime, Level: sandbox.Strict}, nil)
	if err != nil || out.ExitCode == nil || *out.ExitCode != 0 || out.Truncated {
		return "", false
	}
	return out.Output, true
}

// process is a command that runs.
type process struct {
	cmd    *exec.Cmd
	group  *procgroup.Group
	out    *os.File
	leash  *os.File      // its close ends the processes; nil if there is no leash
	outEnd chan struct{} // closed when out was read to its end, or given up
	exited chan struct{} // closed when the shell itself has ended
}

// streams are the input of a command, nil for none, and its standard error, nil for the same as its output.
type streams struct{ in, errors *os.File }

// start starts a command. It does not end with ctx automatically: wait does that, because more than
// one process has to be ended.
func (s Shell) start(ctx context.Context, argv, env []string, dir string, with streams) (*process, error) {
	if err := ctx.Err(); err != nil {
		return nil, fault.New(fault.Cancelled, "The command was cancelled before it started: %w", err)
	}
	out, in, err := os.Pipe()
	if err != nil {
		return nil, fault.New(fault.IO, "Cannot run a command: %w", err)
	}
	cmd := exec.CommandContext(context.WithoutCancel(ctx), argv[0], argv[1:]...)
	cmd.Dir, cmd.Env = dir, env
	// A file and not a writer, so that Wait waits for the shell and not for processes that have
	// inherited its output.
	cmd.Stdout, cmd.Stderr = in, in
	if with.in != nil {
		cmd.Stdin = with.in
	}
	if with.errors != nil {
		cmd.Stderr = with.errors
	}
	quoteAll(cmd)
	group, err := procgroup.Start(cmd)
	_ = in.Close() // the child has its own
	if err != nil {
		_ = out.Close()
		return nil, fault.New(fault.IO, "Cannot run %s: %w", argv[0], err)
	}
	return &process{cmd: cmd, group: group, out: out, outEnd: make(chan struct{}), exited: make(chan struct{})}, nil
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

// end signals the group to end, and kills the rest of it after a while. All processes have ended
// when the output is closed.
func (p *process) end(grace time.Duration) {
	if p.leash != nil {
		_ = p.leash.Close()
		grace += leashTime
	} else {
		p.group.Terminate()
	}
	late := time.NewTimer(grace)
	defer late.Stop()
	select {
	case <-late.C:
		p.group.Kill()
	case <-p.outEnd:
		select {
		case <-late.C:
			p.group.Kill()
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
	_ = p.out.Close() // releases the reader
	<-p.outEnd
	return ended
}
