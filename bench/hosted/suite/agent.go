package suite

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"time"

	"github.com/xcsh-ls/xcsh-ls/bench/wire/child"
)

// agent is pi alone, in its RPC mode.
type agent struct {
	cmd   *exec.Cmd
	in    io.WriteCloser
	quiet time.Duration

	seen   *view
	ends   chan time.Time // the end of a run
	failed chan error     // why nothing more is read, once
	stderr bytes.Buffer   // complete when the agent has ended
}

// agentLimit bounds a prompt of an agent.
const agentLimit = 10 * time.Minute

// openAgent starts an agent. It may still be starting when this returns.
func (r *Runner) openAgent(ctx context.Context, e Engine, root string, reopen bool) (*agent, error) {
	args := append(slices.Clone(e.Argv[1:]), "--mode", "rpc")
	if reopen {
		args = append(args, "--session", sessionOf(root))
	}
	a := &agent{
		cmd: exec.CommandContext(ctx, e.Argv[0], args...), seen: &view{}, quiet: r.Quiet,
		ends: make(chan time.Time, 1), failed: make(chan error, 1),
	}
	a.cmd.Dir, a.cmd.Stderr = workOf(root), &a.stderr
	a.cmd.Env = append(os.Environ(), environment(root)...)
	var err error
	if a.in, err = a.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := a.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := a.cmd.Start(); err != nil {
		return nil, err
	}
	go a.read(bufio.NewReaderSize(out, 1<<20))
	return a, nil
}

// read reads the events of the agent until its output ends.
func (a *agent) read(out *bufio.Reader) {
	for {
		line, err := out.ReadBytes('\n')
		at := time.Now()
		switch {
		case err != nil:
			a.failed <- err
			return
		case bytes.HasPrefix(line, []byte(`{"type":"agent_settled"`)):
			a.ends <- at
		case bytes.Contains(line[:min(len(line), 200)], []byte(`"success":false`)):
			a.failed <- errors.New(string(line))
			_, _ = io.Copy(io.Discard, out) // the agent must be able to end
			return
		default:
			a.seen.see(line, at)
		}
	}
}

func (a *agent) prompt(text string) (turn, error) {
	child.Settle(a.cmd.Process.Pid, a.quiet)
	t, err := a.promptNow(text)
	child.Settle(a.cmd.Process.Pid, a.quiet)
	return t, err
}

// promptNow sends a prompt, also to an agent that is still starting.
func (a *agent) promptNow(text string) (t turn, err error) {
	line, err := json.Marshal(map[string]string{"type": "prompt", "id": "1", "message": text})
	if err != nil {
		return t, err
	}
	t.begun = time.Now()
	if _, err := a.in.Write(append(line, '\n')); err != nil {
		return t, err
	}
	late := time.NewTimer(agentLimit)
	defer late.Stop()
	select {
	case at := <-a.ends:
		t.wall = at.Sub(t.begun)
		return t, a.seen.take(&t)
	case err := <-a.failed:
		a.failed <- err // for close
		return t, fmt.Errorf("the prompt was not answered: %w", err)
	case <-late.C:
		return t, fmt.Errorf("no answer within %v", agentLimit)
	}
}

func (a *agent) resident() int64 { return 0 }

// close ends the agent as the end of its input does.
func (a *agent) close() error {
	err := a.in.Close()
	late := time.AfterFunc(agentLimit, func() { _ = a.cmd.Process.Kill() })
	defer late.Stop()
	if ended := <-a.failed; !errors.Is(ended, io.EOF) {
		err = errors.Join(err, ended)
	}
	if ended := a.cmd.Wait(); ended != nil {
		err = errors.Join(err, fmt.Errorf("%w: %s", ended, a.stderr.String()))
	}
	return err
}
