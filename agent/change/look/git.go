package look

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"
)

// maxList is the maximum output of git in bytes.
const maxList = 256 << 20

// errNoRepository is returned if a folder is not in a git work tree, or git is not installed.
var errNoRepository = errors.New("no git work tree")

func isNoRepository(err error) bool { return errors.Is(err, errNoRepository) }

// git starts git. With a [private] repository, git reads none of the settings of the user's repository.
type git struct {
	dir string   // the working directory
	env []string // git's variables are removed
	own *private // nil: the repository of dir; only for commands that start no program with any settings
}

// ownSettings override the settings of a repository.
var ownSettings = []string{"core.fsmonitor=false", "core.untrackedCache=false", "core.quotePath=false", "submodule.recurse=false", "core.alternateRefsCommand="}

// command returns a command that only reads and starts no program that a repository names. Missing objects are not fetched.
func (g git) command(ctx context.Context, args ...string) *exec.Cmd {
	all := []string{"--no-pager"}
	for _, s := range ownSettings {
		all = append(all, "-c", s)
	}
	cmd := exec.CommandContext(ctx, "git", append(all, args...)...)
	cmd.Dir = g.dir
	cmd.WaitDelay = time.Second
	for _, v := range g.env {
		if !strings.HasPrefix(v, "GIT_") {
			cmd.Env = append(cmd.Env, v)
		}
	}
	cmd.Env = append(cmd.Env, "GIT_OPTIONAL_LOCKS=0", "GIT_ALLOW_PROTOCOL=none", "GIT_NO_LAZY_FETCH=1", "GIT_TERMINAL_PROMPT=0",
		"GIT_NO_REPLACE_OBJECTS=1", "LC_ALL=C")
	if g.own != nil {
		cmd.Env = append(cmd.Env, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_DIR="+g.own.Dir, "GIT_WORK_TREE="+g.dir,
			"GIT_OBJECT_DIRECTORY="+g.own.Objects)
	}
	return cmd
}

// read returns git's output.
func (g git) read(ctx context.Context, args ...string) ([]byte, error) {
	cmd := g.command(ctx, args...)
	var out, problem bytes.Buffer
	cmd.Stdout, cmd.Stderr = &limited{&out, maxList}, &limited{&problem, 64 << 10}
	if err := cmd.Run(); err != nil {
		if errors.Is(err, exec.ErrNotFound) || errors.Is(err, exec.ErrDot) {
			return nil, errNoRepository
		}
		return out.Bytes(), fmt.Errorf("git %s: %w: %s", args[0], err, bytes.TrimSpace(problem.Bytes()))
	}
	return out.Bytes(), nil
}

// names returns git's output, split at NULs.
func (g git) names(ctx context.Context, args ...string) ([]string, error) {
	out, err := g.read(ctx, args...)
	if err != nil || len(out) == 0 {
		return nil, err
	}
	return strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00"), nil
}

// exitedWith reports whether git exited with a code.
func exitedWith(err error, code int) bool {
	exit, ok := errors.AsType[*exec.ExitError](err)
	return ok && exit.ExitCode() == code
}

// limited is a buffer that fails beyond a number of bytes.
type limited struct {
	to   io.Writer
	left int
}

func (l *limited) Write(b []byte) (int, error) {
	if l.left -= len(b); l.left < 0 {
		return 0, errors.New("git printed too much")
	}
	return l.to.Write(b)
}
