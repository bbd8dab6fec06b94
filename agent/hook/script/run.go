package script

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/xcsh-ls/xcsh-ls/agent/environ"
	"github.com/xcsh-ls/xcsh-ls/agent/hook"
	"github.com/xcsh-ls/xcsh-ls/internal/procgroup"
)

const (
	// mostOutput is the size of the part of an executable's output that is kept, in bytes.
	mostOutput = hook.MaxAnswer

	// mostWords is how much of a reason, or of a complaint, is shown, in characters.
	mostWords = 300

	// lingerFor is how long the output of an executable that has ended is still read. Longer than
	// that only something in the background holds it.
	lingerFor = 500 * time.Millisecond
)

// call is an event as executables are called with it.
type call struct {
	event   hook.Event
	payload []byte   // one line of JSON
	pass    []string // names of further variables
}

func (h *Hooks) newCall(e hook.Event) (call, error) {
	var line bytes.Buffer
	enc := json.NewEncoder(&line)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(e); err != nil {
		return call{}, err
	}
	c := call{event: e, payload: line.Bytes()}
	if h.config.PassEnv != nil {
		c.pass = h.config.PassEnv(e.Cwd)
	}
	return c, nil
}

// run runs an executable and returns its standard output, without the space around it. The error
// completes a sentence that begins with its name. dir is the working directory if the workspace
// folder no longer exists.
func (c call) run(ctx context.Context, limit time.Duration, file file, dir string) ([]byte, error) {
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	if isDir(c.event.Cwd) {
		dir = c.event.Cwd
	}
	var out, complaint capped
	var err error
	for {
		cmd := exec.CommandContext(limited, file.path)
		cmd.Dir = dir
		cmd.Env = append(environ.Keep(cmd.Environ(), c.pass...), "XCSH_HOOK_EVENT="+string(c.event.Name)) // Environ has PWD, which follows Dir
		cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(c.payload), &out, &complaint
		cmd.WaitDelay = lingerFor
		// A file that is still being written, or that a process forked meanwhile still holds.
		if err = procgroup.Run(cmd); !isBusy(err) || !pause(limited) {
			break
		}
	}
	switch {
	case ctx.Err() != nil:
		return nil, fmt.Errorf("was cancelled at %s: %w", c.event.Name, context.Cause(ctx))
	case limited.Err() != nil:
		return nil, fmt.Errorf("exceeded the time limit of %g s for %s and was killed", limit.Seconds(), c.event.Name)
	case err != nil && !errors.Is(err, exec.ErrWaitDelay):
		return nil, failure(c.event.Name, err, complaint.kept)
	case out.full:
		return nil, fmt.Errorf("returned more than %d bytes for %s", mostOutput, c.event.Name)
	}
	return bytes.TrimSpace(out.kept), nil
}

// failure returns the error of an executable, with its output.
func failure(event hook.Name, err error, complaint []byte) error {
	if _, ran := errors.AsType[*exec.ExitError](err); !ran {
		return fmt.Errorf("cannot be run for %s: %w", event, err)
	}
	if words := plain(string(complaint)); words != "" {
		return fmt.Errorf("failed at %s (%w): %s", event, err, words)
	}
	return fmt.Errorf("failed at %s (%w)", event, err)
}

// pause waits a moment before another try, and reports whether there is time for it.
func pause(ctx context.Context) bool {
	t := time.NewTimer(20 * time.Millisecond)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

func isDir(path string) bool {
	if path == "" {
		return false
	}
	info, err := fs.Stat(os.DirFS(path), ".")
	return err == nil && info.IsDir()
}

// capped keeps the beginning of its input and discards the rest, so that the writing process does not
// block.
type capped struct {
	kept []byte
	full bool // there was more
}

func (c *capped) Write(b []byte) (int, error) {
	n := min(len(b), mostOutput-len(c.kept))
	c.full = c.full || n < len(b)
	c.kept = append(c.kept, b[:n]...)
	return len(b), nil
}

// plain is a text of an executable as one line that can be shown.
func plain(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return ' '
		}
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
	s = strings.Join(strings.Fields(s), " ")
	if utf8.RuneCountInString(s) > mostWords {
		s = string([]rune(s)[:mostWords-1]) + "…"
	}
	return s
}
