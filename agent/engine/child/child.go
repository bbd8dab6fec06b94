package child

import (
	"context"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/internal/procgroup"
)

const (
	// lookEvery is the time between two looks at the descendants of a child, while it is active. Those that hide between
	// two looks are recognised on Linux only.
	lookEvery = 5 * time.Second

	// leaveLimit is how long Close waits after a child was killed.
	leaveLimit = 6 * time.Second
)

// Child is a running program. Its methods may be called concurrently.
type Child struct {
	config Config
	cmd    *exec.Cmd
	family *procgroup.Family

	stdin          *os.File
	stdout, stderr *os.File
	lines          chan []byte
	writes         chan write
	errors         tail
	active         chan struct{} // has an element if the child has sent something since the last look

	inputEnd sync.Once
	input    chan struct{} // closed when nothing more can be written
	discard  chan struct{} // closed when the remaining output is of no interest
	exited   chan struct{} // closed when the process has ended, and what it started
	done     chan struct{} // closed after exit is set

	closing, breaking, discarding sync.Once

	exit   Exit  // set before done is closed
	reason error // set before exited is closed, by breaking
}

func newChild(config Config) *Child {
	return &Child{
		config: config,
		lines:  make(chan []byte), writes: make(chan write), active: make(chan struct{}, 1),
		input: make(chan struct{}), discard: make(chan struct{}), exited: make(chan struct{}), done: make(chan struct{}),
	}
}

// run starts what a running child needs. All of it has ended when done is closed.
func (c *Child) run() {
	var reading, all sync.WaitGroup
	reading.Go(c.readLines)
	reading.Go(c.readErrors)
	all.Go(c.writeAll)
	all.Go(c.look)
	go func() {
		c.family.Await()
		left := c.family.Kill()
		c.endInput()
		c.family.Wait()
		close(c.exited)
		c.hurry()
		reading.Wait()
		all.Wait()
		closeAll(c.stdout, c.stderr)
		c.end(left)
	}()
}

// end records how the child ended.
func (c *Child) end(left []int) {
	c.exit = exitOf(c.cmd.ProcessState)
	c.exit.Left = left
	c.breaking.Do(func() {}) // waits for a reason that is being set
	c.exit.Err = c.reason
	c.config.Log.Info("child ended", zap.String("name", c.config.Name), zap.Int("pid", c.cmd.Process.Pid),
		zap.Stringer("exit", c.exit), zap.Error(c.exit.Err), zap.Ints("left", left))
	close(c.done)
}

// look remembers the descendants of an active child, so that they can be ended if it ends by itself.
func (c *Child) look() {
	every := time.NewTicker(lookEvery)
	defer every.Stop()
	for {
		select {
		case <-every.C:
		case <-c.exited:
			return
		}
		select {
		case <-c.active:
			c.family.Look()
		default:
		}
	}
}

// Done is closed when the child has ended with everything that it started, and its output was received. A host that
// does not receive from [Child.Lines] must call [Child.Close].
func (c *Child) Done() <-chan struct{} { return c.done }

// Exit returns how the child ended. It waits for Done.
func (c *Child) Exit() Exit {
	<-c.done
	return c.exit
}

// Pid returns the id of the process.
func (c *Child) Pid() int { return c.cmd.Process.Pid }

// Kill ends the child and everything that it started at once. It does not wait for Done. Its error reports processes
// that could not be ended.
func (c *Child) Kill() error { return c.leftError(c.family.Kill()) }

// Close ends the child: it ends its input, sends SIGTERM after 2 s, and kills it and everything that it started after
// one more second, or at the end of ctx. It returns when the child has ended; its error reports processes that could not be
// ended. Lines that were not received are discarded. Close may be called more than once.
func (c *Child) Close(ctx context.Context) error {
	c.closing.Do(func() {
		c.discardOutput()
		c.endInput()
		go c.insist()
	})
	select {
	case <-c.done:
		return c.leftError(c.exit.Left)
	case <-ctx.Done():
	}
	left := c.family.Kill()
	late := time.NewTimer(leaveLimit)
	defer late.Stop()
	select {
	case <-c.done:
		return c.leftError(c.exit.Left)
	case <-late.C:
		return c.leftError(append(left, c.Pid()))
	}
}

// insist ends a child that does not end with its input.
func (c *Child) insist() {
	for _, step := range []struct {
		grace time.Duration
		end   func()
	}{
		{c.config.InputGrace, c.family.Terminate},
		{c.config.TermGrace, func() { c.family.Kill() }},
	} {
		t := time.NewTimer(step.grace)
		select {
		case <-c.exited:
			t.Stop()
			return
		case <-t.C:
			step.end()
		}
	}
}

// fail ends a child that broke a limit.
func (c *Child) fail(cause error, words string) {
	c.breaking.Do(func() { c.reason = c.broken(cause, words) })
	c.discardOutput()
	c.family.Kill()
}

// endInput closes the input of the child.
func (c *Child) endInput() {
	c.inputEnd.Do(func() {
		close(c.input)
		if runtime.GOOS == "windows" {
			go closeAll(c.stdin) // it waits there for a write that the child does not read
			return
		}
		closeAll(c.stdin)
	})
}

// discardOutput lets the child run to its end without a host that reads.
func (c *Child) discardOutput() { c.discarding.Do(func() { close(c.discard) }) }

// leftError returns the error for processes that could not be ended.
func (c *Child) leftError(left []int) error {
	if len(left) == 0 {
		return nil
	}
	return fault.New(fault.Provider, "%s has ended, but some of its processes have not: %v", c.config.Name, left).With("class", "engine")
}
