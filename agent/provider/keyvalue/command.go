package keyvalue

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/xcsh-ls/xcsh-ls/internal/procgroup"
)

const (
	timeLimit    = 10 * time.Second // of a command
	keepFailures = time.Minute
	maxOutput    = 16 << 10 // bytes
	pipeWait     = time.Second
)

// Commands runs the commands that print keys. It keeps their outputs until the process ends, and their failures for a
// minute. It is safe for concurrent use. Dir must be set.
type Commands struct {
	Dir string   // where they run: not a project, whose files they might use
	Env []string // nil: that of this process

	Limit time.Duration    // of a run; 0 is 10 s
	Now   func() time.Time // nil: the clock

	mu   sync.Mutex
	runs map[string]*run // by command; guarded by mu
}

// run is a command that runs or has ended.
type run struct {
	done chan struct{} // closed at its end; the other fields are set before

	output string
	err    error
	at     time.Time
}

// Output returns what a command prints, without space around it. Calls for a running command wait for it. The error
// completes "the command failed: " and contains nothing that the command printed.
func (c *Commands) Output(ctx context.Context, command string) (string, error) {
	r := c.start(command)
	select {
	case <-r.done:
		return r.output, r.err
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// Known returns the result of an earlier [Commands.Output] that holds now. It runs nothing.
func (c *Commands) Known(command string) (output string, known bool, err error) {
	c.mu.Lock()
	r := c.validLocked(command)
	c.mu.Unlock()
	if r == nil {
		return "", false, nil
	}
	select {
	case <-r.done:
		return r.output, true, r.err
	default:
		return "", false, nil
	}
}

// validLocked returns the run whose result holds or is awaited, nil if there is none.
func (c *Commands) validLocked(command string) *run {
	r := c.runs[command]
	if r == nil {
		return nil
	}
	select {
	case <-r.done:
		if r.err != nil && c.now().Sub(r.at) >= keepFailures {
			return nil
		}
	default:
	}
	return r
}

func (c *Commands) now() time.Time {
	if c.Now != nil {
		return c.Now()
	}
	return time.Now()
}

// start runs a command unless its result is known.
func (c *Commands) start(command string) *run {
	c.mu.Lock()
	defer c.mu.Unlock()
	if r := c.validLocked(command); r != nil {
		return r
	}
	if c.runs == nil {
		c.runs = map[string]*run{}
	}
	r := &run{done: make(chan struct{})}
	c.runs[command] = r
	go func() {
		r.output, r.err = c.run(command)
		r.at = c.now()
		close(r.done)
	}()
	return r
}

// run runs a command. Its standard error is dropped: it may contain secrets.
func (c *Commands) run(command string) (string, error) {
	limit := c.Limit
	if limit == 0 {
		limit = timeLimit
	}
	cmd := shell(command)
	cmd.Dir, cmd.Env = c.Dir, c.Env
	var out bytes.Buffer
	cmd.Stdout = &capped{to: &out, left: maxOutput}
	cmd.WaitDelay = pipeWait // a process in the background may keep the output open
	family, err := procgroup.StartFamily(cmd)
	if err != nil {
		return "", errors.New("it could not be started")
	}
	ended := make(chan struct{})
	go func() { family.Await(); close(ended) }()
	late := time.NewTimer(limit)
	defer late.Stop()
	inTime := true
	select {
	case <-ended:
	case <-late.C:
		inTime = false
	}
	if !inTime { // what a command leaves in the background otherwise is meant to stay, such as an agent with passphrases
		family.Kill()
		<-ended
	}
	family.Wait()
	switch {
	case !inTime:
		return "", fmt.Errorf("it did not end within %s", limit)
	case cmd.ProcessState != nil && !cmd.ProcessState.Success():
		return "", errors.New(cmd.ProcessState.String())
	case out.Len() > maxOutput:
		return "", errors.New("it printed too much")
	}
	key := strings.TrimSpace(out.String())
	if key == "" {
		return "", errors.New("it printed nothing")
	}
	return key, nil
}

// capped writes up to a number of bytes, and one more to show that there were more. It drops the rest.
type capped struct {
	to   io.Writer
	left int
}

func (c *capped) Write(p []byte) (int, error) {
	if n := min(len(p), c.left+1); n > 0 {
		_, _ = c.to.Write(p[:n]) // a buffer takes everything
		c.left -= n
	}
	return len(p), nil
}
