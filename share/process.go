package share

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/internal/procgroup"
)

const (
	// maxOutput is how much of a program's output is kept, of each stream.
	maxOutput = 1 << 20

	// maxLogged is how much of the output is logged.
	maxLogged = 8 << 10

	// lingerFor is how long output is still read after a program has ended. After that only a
	// background process holds it.
	lingerFor = 500 * time.Millisecond
)

// output is the result of a program.
type output struct {
	stdout, stderr string
	cut            bool  // stdout is only its beginning
	failed         error // how it failed, nil for success
}

// run runs a program to its end. The error means that it did not end by itself: it could
// not be started, ctx ended or it took too long.
func (s Sharer) run(ctx context.Context, dir string, argv ...string) (output, error) {
	if ctx.Err() != nil {
		return output{}, s.ended(ctx, argv[0])
	}
	p, err := s.start(ctx, dir, argv)
	if err != nil {
		return output{}, fault.New(fault.IO, "Cannot run %s: %w", argv[0], err).With("path", argv[0])
	}
	var failed error
	select {
	case <-p.exited:
		failed = p.failed
	case <-ctx.Done():
		failed = p.cancel(ctx, s.Grace)
	}
	p.drain(lingerFor)
	out := output{stdout: p.stdout.text(), stderr: p.stderr.text(), cut: p.stdout.cut, failed: failed}
	s.Log.Debug("a program of a share has ended", zap.String("program", argv[0]), zap.Error(failed),
		zap.String("stdout", head(out.stdout, maxLogged)), zap.String("stderr", head(out.stderr, maxLogged)))
	if ctx.Err() != nil && errors.Is(failed, ctx.Err()) {
		return output{}, s.ended(ctx, argv[0])
	}
	return out, nil
}

// ended describes why ctx has ended.
func (s Sharer) ended(ctx context.Context, program string) error {
	if errors.Is(context.Cause(ctx), errLate) {
		return fault.New(fault.IO, "Sharing was stopped because %s did not finish within %s.", filepath.Base(program), s.Limit).With("path", program)
	}
	return cancelled()
}

// process is a program that runs.
type process struct {
	group          *procgroup.Group
	stdout, stderr *stream
	exited         chan struct{} // closed when the program itself has ended
	failed         error         // how it ended; set before exited is closed
}

// start starts a program. It does not end with ctx by itself: run ensures that, because
// more than one process has to be terminated.
func (s Sharer) start(ctx context.Context, dir string, argv []string) (*process, error) {
	stdout, out, err := newStream()
	if err != nil {
		return nil, err
	}
	stderr, errs, err := newStream()
	if err != nil {
		_ = out.Close()
		stdout.giveUp()
		return nil, err
	}
	cmd := exec.CommandContext(context.WithoutCancel(ctx), argv[0], argv[1:]...)
	cmd.Dir, cmd.Env = dir, append(s.Environ(), quietEnv...)
	// Files and not writers, so that Wait waits for the program and not for processes that
	// inherited its output.
	cmd.Stdout, cmd.Stderr = out, errs
	group, err := procgroup.Start(cmd)
	_, _ = out.Close(), errs.Close() // the program has its own
	if err != nil {
		stdout.giveUp()
		stderr.giveUp()
		return nil, err
	}
	p := &process{group: group, stdout: stdout, stderr: stderr, exited: make(chan struct{})}
	go func() {
		defer close(p.exited)
		p.failed = cmd.Wait()
		group.Close()
	}()
	return p, nil
}

// quietEnv keeps programs from waiting for input and from printing colours.
var quietEnv = []string{"GH_PROMPT_DISABLED=1", "GH_NO_UPDATE_NOTIFIER=1", "GH_SPINNER_DISABLED=1", "GIT_TERMINAL_PROMPT=0", "NO_COLOR=1"}

// cancel terminates a program whose context has ended, and returns how it ended. If it
// already ended by itself, its own result is returned.
func (p *process) cancel(ctx context.Context, grace time.Duration) error {
	select {
	case <-p.exited:
		return p.failed
	default:
		p.end(grace)
		return ctx.Err()
	}
}

// end asks the group to terminate, and kills the rest of it when no process holds the
// output any more, or after a while.
func (p *process) end(grace time.Duration) {
	p.group.Terminate()
	late := time.NewTimer(grace)
	defer late.Stop()
	for _, gone := range []<-chan struct{}{p.stdout.end, p.stderr.end, p.exited} {
		select {
		case <-gone:
			continue
		case <-late.C:
		}
		break
	}
	p.group.Kill()
	<-p.exited
}

// drain reads the output to its end, or for a while if a background process holds it.
func (p *process) drain(linger time.Duration) {
	late := time.NewTimer(linger)
	defer late.Stop()
	for _, s := range []*stream{p.stdout, p.stderr} {
		select {
		case <-s.end:
			continue
		case <-late.C:
		}
		break
	}
	p.stdout.giveUp()
	p.stderr.giveUp()
}

// stream is one output of a program.
type stream struct {
	from *os.File
	end  chan struct{} // closed when it was read to its end, or reading was given up

	// Set until end is closed.
	kept []byte
	cut  bool // the output was longer

	closing sync.Once
}

// newStream begins to read an output. in is the program's side of it.
func newStream() (s *stream, in *os.File, err error) {
	from, in, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	s = &stream{from: from, end: make(chan struct{})}
	go s.read()
	return s, in, nil
}

func (s *stream) read() {
	defer close(s.end)
	buf := make([]byte, 32<<10)
	for {
		n, err := s.from.Read(buf)
		room := maxOutput - len(s.kept)
		s.kept = append(s.kept, buf[:min(n, room)]...)
		s.cut = s.cut || n > room
		if err != nil {
			return
		}
	}
}

// giveUp ends the reading.
func (s *stream) giveUp() {
	s.closing.Do(func() { _ = s.from.Close() }) // unblocks the reader
	<-s.end
}

// text is the kept output, after reading has ended.
func (s *stream) text() string { return string(s.kept) }

func head(s string, most int) string { return s[:min(len(s), most)] }
