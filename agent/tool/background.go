package tool

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/xcsh-ls/xcsh-ls/agent/background"
	"github.com/xcsh-ls/xcsh-ls/agent/sandbox"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

// settleTime is how long a call waits after it has started a background command: one that fails at
// once is reported, or run with more rights, by the call itself.
const settleTime = 2 * time.Second

// Background is the background commands of a live session. It is safe for concurrent use.
type Background struct {
	commands *background.Group
	guard    guard
}

// NewBackground returns an empty list of background commands. changed is called after the list of
// running commands has changed. report gets sentences for the user. Both are called without a lock.
func NewBackground(changed func(), report func(text string)) *Background {
	return &Background{commands: &background.Group{Changed: changed}, guard: guard{report: report, every: compareEvery, turn: make(chan struct{}, 1)}}
}

// Running returns the running commands in the order of their starts.
func (b *Background) Running() []background.Info { return b.commands.Running() }

// Stop ends a command and returns when it has ended. It returns a NotFound error for an unknown
// command.
func (b *Background) Stop(ctx context.Context, id string) error { return b.commands.Stop(ctx, id) }

// StopAll ends all commands and returns when they have ended and their last changes to protected
// files are undone or kept.
func (b *Background) StopAll(ctx context.Context) error {
	if err := b.commands.StopAll(ctx); err != nil {
		return err
	}
	b.guard.close()
	return nil
}

// Notes returns what the model does not know yet about background commands: those that have
// ended, and their changes that were undone.
func (b *Background) Notes() (notes []string) {
	for _, s := range b.commands.Ended() {
		notes = append(notes, "A background command has ended.\n"+stateText(s))
	}
	return append(notes, b.guard.takeNotes()...)
}

// runBackground starts a command in the background, with its permission. A command that fails at once because of
// the sandbox is started again with more rights if the user agrees.
func runBackground(ctx context.Context, shell Shell, line string, env Env) (Result, error) {
	if env.Background == nil {
		return Result{}, fault.New(fault.Denied, "Commands cannot run in the background here.")
	}
	refused := false
	for p := env.Permission; ; {
		s, err := env.Background.start(ctx, shell, Command{Line: line, Shell: env.Shell, Cwd: env.Cwd, Level: p.Level}, p)
		if err != nil {
			return Result{}, err
		}
		if s.Ending == nil {
			return TextResult("Running in the background with the id " + s.ID + ". Use process to read its output or to stop it.\n\n" + outputText(s)), nil
		}
		if len(s.Ending.Blocked) > 0 && p.Widen != nil && !refused {
			wider, err := p.Widen(ctx, s.Ending.Blocked)
			if err == nil {
				p = wider
				continue
			}
			if !fault.Is(err, fault.Denied) {
				return Result{}, err
			}
			refused = true
		}
		r := TextResult(stateText(s) + refusal(refused))
		r.IsError = s.Ending.Stopped || s.Ending.Code != 0
		return r, nil
	}
}

func refusal(refused bool) string {
	if !refused {
		return ""
	}
	return "\n\n[" + notAllowed + "]"
}

// start starts a command and returns its state after a while. If the turn is stopped meanwhile, the
// command is stopped too.
func (b *Background) start(ctx context.Context, shell Shell, cmd Command, p Permission) (background.State, error) {
	if cmd.Level == sandbox.Strict { // the policy never allows it
		return background.State{}, fault.New(fault.Denied, "A background command needs approval.")
	}
	id, err := b.commands.Start(ctx, cmd.Line, func() (background.Run, error) { return b.begin(ctx, shell, cmd, p) })
	if err != nil {
		return background.State{}, err
	}
	s, err := b.commands.Read(ctx, id, shell.settle)
	if err != nil {
		_ = b.commands.Stop(context.WithoutCancel(ctx), id) // the context never ends
	}
	return s, err
}

// begin starts the process of a command.
func (b *Background) begin(ctx context.Context, shell Shell, cmd Command, p Permission) (background.Run, error) {
	if err := checkCwd(cmd.Cwd); err != nil {
		return nil, err
	}
	leave := func() {}
	if p.Level == sandbox.Standard && p.Keep != nil {
		if err := b.guard.enter(cmd.Cwd, p.Keep); err != nil {
			return nil, fault.New(fault.IO, "The command was not run because its changes to protected files could not be detected: %w", err)
		}
		leave = sync.OnceFunc(b.guard.leave)
	}
	proc, policy, err := shell.startHeld(ctx, cmd)
	if err != nil {
		leave()
		return nil, err
	}
	return func(ctx context.Context, out io.Writer) background.Ending {
		defer leave()
		var last lastOutput
		proc.read(func(b []byte) {
			last.add(b)
			_, _ = out.Write(b) // never fails
		})
		end := proc.wait(ctx, 0, shell.grace)
		proc.release()
		e := background.Ending{Code: end.code, Stopped: end.cancelled}
		if !e.Stopped && e.Code != 0 && cmd.Level != sandbox.Outside {
			e.Blocked = sandbox.Blocked(policy, cmd.Cwd, printable(string(last.text)))
		}
		return e
	}, nil
}

// startHeld starts a command with a leash, if there is one.
func (s Shell) startHeld(ctx context.Context, cmd Command) (*process, sandbox.Policy, error) {
	argv, env, policy, err := s.argv(cmd)
	if err != nil {
		return nil, policy, err
	}
	if len(s.options.Leash) == 0 {
		p, err := s.start(ctx, argv, env, cmd.Cwd, streams{})
		return p, policy, err
	}
	held, leash, err := os.Pipe() // closed in all other processes that are started
	if err != nil {
		return nil, policy, fault.New(fault.IO, "Cannot run a command: %w", err)
	}
	p, err := s.start(ctx, slices.Concat(s.options.Leash, argv), env, cmd.Cwd, streams{in: held})
	_ = held.Close() // the child has its own
	if err != nil {
		_ = leash.Close()
		return nil, policy, err
	}
	p.leash = leash
	return p, policy, nil
}

// release ends what is left of a command that has ended.
func (p *process) release() {
	defer p.group.Close()
	if p.leash != nil {
		_ = p.leash.Close()
		if p.cmd.ProcessState.Exited() {
			return // by itself, so nothing is left
		}
	}
	p.group.Kill()
}

// lastOutput is the end of an output. Its zero value is empty.
type lastOutput struct{ text []byte }

// mostLast is the size of the end, in bytes. A command that fails says why last.
const mostLast = 16 << 10

func (l *lastOutput) add(b []byte) {
	l.text = append(l.text, b...)
	if extra := len(l.text) - mostLast; extra > 0 {
		l.text = append(l.text[:0], l.text[extra:]...)
	}
}

// outputText is the output of a command since it was last read.
func outputText(s background.State) string {
	raw := string(s.Output)
	if s.Dropped > 0 {
		raw = lastBytes(raw, len(raw)-headless(raw))
	}
	text, cut := tail(printable(raw))
	if text == "" {
		text = "(no new output)"
	}
	if dropped := s.Dropped + int64(len(raw)-len(text)); cut.Truncated || s.Dropped > 0 {
		text = "[" + sizeText(dropped) + " of older output were dropped]\n" + text
	}
	return text
}

// stateText is the output of a command with a note on its state.
func stateText(s background.State) string {
	note := s.ID + " is running"
	switch e := s.Ending; {
	case e == nil:
	case e.Stopped:
		note = s.ID + " was stopped"
	default:
		note = fmt.Sprintf("%s exited with code %d", s.ID, e.Code)
	}
	line, _ := cutLine(s.Command)
	text := strings.TrimSuffix(outputText(s), "\n") + "\n\n[" + note + ": " + line + "]"
	if s.Ending != nil && s.Ending.Note != "" {
		text += "\n\n" + s.Ending.Note
	}
	if s.Ending != nil && len(s.Ending.Blocked) > 0 {
		text += "\n\n" + Output{Blocked: s.Ending.Blocked}.blockedNote()
	}
	return text
}
