package connect

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/internal/procgroup"
	"github.com/xcsh-ls/xcsh-ls/session/intake"
)

const (
	passwordTime = 5 * time.Second
	mostPassword = 64 << 10 // bytes of output
	pipeWait     = 500 * time.Millisecond
)

// PasswordCommand runs an executable of the user for a password: one path without arguments, of which the first line of output counts. It
// runs in the user's directory, without input, and is ended with everything that it started after five seconds.
type PasswordCommand struct {
	Machine Machine
	Path    string

	limit time.Duration // 0: passwordTime
}

// Password returns the password. The error is of kind denied for an executable that another user or a workspace could have put there,
// else refused; it contains nothing that the executable printed.
func (c PasswordCommand) Password(ctx context.Context) (string, error) {
	if err := c.check(); err != nil {
		return "", err
	}
	limit := c.limit
	if limit == 0 {
		limit = passwordTime
	}
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	cmd := exec.CommandContext(limited, c.Path)
	cmd.Dir = c.Machine.Home
	var out firstLine
	cmd.Stdout, cmd.WaitDelay = &out, pipeWait
	err := procgroup.Run(cmd)
	line, _, _ := strings.Cut(string(out.kept), "\n")
	line = strings.TrimSuffix(line, "\r")
	switch {
	case ctx.Err() != nil:
		return "", fault.New(fault.Cancelled, "The password command %s was cancelled.", c.Path)
	case limited.Err() != nil:
		return "", c.failed("took longer than %g s", limit.Seconds())
	case err != nil && !errors.Is(err, exec.ErrWaitDelay):
		return "", c.failed("failed: %w", err)
	case line == "":
		return "", c.failed("printed no password")
	case len(line) >= mostPassword:
		return "", c.failed("printed a line of more than %d KB", mostPassword>>10)
	}
	return line, nil
}

func (c PasswordCommand) failed(how string, args ...any) error {
	return fault.New(fault.Refused, "The password command %s "+how+". Run it in a terminal to see why.", append([]any{c.Path}, args...)...)
}

// check refuses an executable that is not the user's own. It is called before each run.
func (c PasswordCommand) check() error {
	denied := func(why string) error {
		return fault.New(fault.Denied, "The password command %s is not run: %s.", c.Path, why).With("path", c.Path)
	}
	if !filepath.IsAbs(c.Path) {
		return denied("it must be the absolute path of an executable, without arguments")
	}
	if folder := c.Machine.folderOf(c.Path); folder != "" {
		return denied("it is in the workspace " + folder)
	}
	info, err := c.Machine.Fs.Stat(c.Path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return denied("there is no such file; it must be the path of an executable, without arguments")
	case err != nil:
		return fault.New(fault.IO, "The password command %s cannot be examined: %w.", c.Path, err)
	case !info.Mode().IsRegular():
		return denied("it is not a file")
	case intake.Foreign(info):
		return denied("other users can change it")
	case runtime.GOOS != "windows" && info.Mode()&0o111 == 0:
		return denied("it is not executable")
	}
	for _, dir := range []string{filepath.Dir(c.Path), filepath.Dir(c.Machine.real(c.Path))} {
		if info, err := c.Machine.Fs.Stat(dir); err != nil || intake.Foreign(info) {
			return denied("other users can change its directory")
		}
	}
	return nil
}

// firstLine is a writer that keeps the first line, up to a limit.
type firstLine struct {
	kept []byte
	done bool
}

func (f *firstLine) Write(b []byte) (int, error) {
	n := len(b)
	if !f.done {
		line := b[:min(len(b), mostPassword-len(f.kept))]
		if at := strings.IndexByte(string(line), '\n'); at >= 0 {
			line = line[:at]
			f.done = true
		}
		f.kept = append(f.kept, line...)
		f.done = f.done || len(f.kept) == mostPassword
	}
	return n, nil
}
