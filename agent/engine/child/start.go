package child

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"go.uber.org/zap"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/internal/procgroup"
)

// busyTries is how often a program is started that is still being written, with busyPause between two tries.
const (
	busyTries = 50
	busyPause = 20 * time.Millisecond
)

// Start starts a program. It returns an error that wraps [fs.ErrNotExist] if there is no such program, and
// otherwise the system's reason why it does not run. ctx is that of the start only; use [Child.Close] or
// [Child.Kill] to end the child.
func Start(ctx context.Context, config Config) (*Child, error) {
	config = config.withDefaults()
	if err := check(config); err != nil {
		return nil, err
	}
	for range busyTries {
		c, err := start(ctx, config)
		if !isBusy(err) {
			return c, err
		}
		if err := pause(ctx); err != nil {
			return nil, err
		}
	}
	return start(ctx, config)
}

// check fails for a program that cannot be run, where the system would give a reason that misleads.
func check(config Config) error {
	if !filepath.IsAbs(config.Path) {
		return fault.New(fault.InvalidArgument, "The path of %s is not absolute: %s", config.Name, config.Path)
	}
	if info, err := stat(config.Dir); err != nil || !info.IsDir() {
		return fault.New(fault.NotFound, "The folder %s does not exist, so %s cannot run there", config.Dir, config.Name)
	}
	return nil
}

// start starts the program once.
func start(ctx context.Context, config Config) (*Child, error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	c := newChild(config)
	cmd := exec.CommandContext(context.WithoutCancel(ctx), config.Path, config.Args...)
	cmd.Env, cmd.Dir = append([]string{}, config.Env...), config.Dir // never nil, which would be the environment of this process
	theirs, err := c.connect(cmd)
	defer closeAll(theirs...)
	if err != nil {
		return nil, fmt.Errorf("cannot start %s: %w", config.Name, err)
	}
	if c.family, err = procgroup.StartFamily(cmd); err != nil {
		closeAll(c.stdin, c.stdout, c.stderr)
		return nil, refused(config, err)
	}
	c.cmd = cmd
	c.config.Log.Info("child started", zap.String("name", config.Name), zap.Int("pid", cmd.Process.Pid))
	c.run()
	return c, nil
}

// connect makes the pipes of a program, and returns the program's ends. Without an os.File, a process that holds an
// end could keep Wait from returning.
func (c *Child) connect(cmd *exec.Cmd) (theirs []*os.File, err error) {
	var in, out, errs *os.File
	if in, c.stdin, err = os.Pipe(); err == nil {
		if c.stdout, out, err = os.Pipe(); err == nil {
			c.stderr, errs, err = os.Pipe()
		}
	}
	theirs = []*os.File{in, out, errs}
	if err != nil {
		closeAll(c.stdin, c.stdout)
		return theirs, err
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = in, out, errs
	return theirs, nil
}

// refused returns the error of a program that the system did not start.
func refused(config Config, err error) error {
	_, missing := stat(config.Path)
	if errors.Is(err, exec.ErrNotFound) && errors.Is(missing, fs.ErrNotExist) {
		err = missing // Windows looks for a file with another ending, and finds none either
	} else if errors.Is(err, fs.ErrNotExist) && missing == nil {
		// The system names the script, and not the program in its first line that is missing.
		return fault.New(fault.Provider, "cannot start %s: the interpreter in the first line of %s does not exist", config.Name, config.Path).With("class", "engine")
	}
	return (&fault.Error{
		Kind: fault.Provider, Message: fault.OneLine(fmt.Sprintf("cannot start %s: %v", config.Name, err)), Err: err,
	}).With("class", "engine")
}

// stat describes a file of this machine, which the system runs or not.
func stat(path string) (fs.FileInfo, error) {
	return os.Stat(path) //nolint:forbidigo // programs are started from the machine's own disk
}

// pause waits a moment before another try.
func pause(ctx context.Context) error {
	t := time.NewTimer(busyPause)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func closeAll(files ...*os.File) {
	for _, f := range files {
		if f != nil {
			_ = f.Close() // a pipe; nothing is written by closing it
		}
	}
}
