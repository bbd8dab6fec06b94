package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/agent/loop"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/commands"
	"github.com/xcsh-ls/xcsh-ls/lsp"
	"github.com/xcsh-ls/xcsh-ls/session/fault"
	"github.com/xcsh-ls/xcsh-ls/session/rawjson"
)

func runCommand(f *flags) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "run [flags] PROMPT...",
		Short: "Ask the model once, in the current directory, and print its answer",
		Long: "Asks the model once and prints its answer as it comes; what its tools do goes to standard error.\n" +
			"Nobody can be asked for permission here: tools that change something need --approval auto-edit or yolo.\n" +
			"The exit code is 0 only when the model finished its answer, 2 when the command line is wrong,\n" +
			"3 when the answer is not complete, 130 or 143 after a signal, and 1 when anything else failed.",
		Args: func(_ *cobra.Command, args []string) error {
			if strings.TrimSpace(strings.Join(args, "")) == "" {
				return fault.New(fault.InvalidArgument, "There is nothing to ask: xcsh-ls run [flags] PROMPT...")
			}
			return nil
		},
		RunE: inFolder(f, func(cmd *cobra.Command, env *commands.Env, args []string) error {
			return runPrompt(cmd, env, f.first(), strings.Join(args, " "), asJSON)
		}),
	}
	f.registerStartup(c)
	c.Flags().BoolVar(&asJSON, "json", false, "print every event as one line of JSON")
	return c
}

// runPrompt runs one turn. Signals stop it as a person would, and so does a reader that has
// left; what was answered until then is in the session.
func runPrompt(cmd *cobra.Command, env *commands.Env, first lsp.Startup, prompt string, asJSON bool) (err error) {
	ctx, stop := untilSignal(cmd.Context())
	defer stop()
	defer func() {
		// Not ctx: what was answered is saved after an interrupt, too.
		if closeErr := env.Sessions.Close(context.WithoutCancel(ctx)); err == nil {
			err = closeErr
		}
		if s, ok := errors.AsType[stopped](context.Cause(ctx)); ok && err != nil {
			err = failure{err, s.code()}
		}
	}()
	if err := open(ctx, env, first); err != nil {
		return err
	}
	live, err := env.Sessions.Session(ctx, env.Folders()[0])
	if err == nil {
		err = unwritable(live.File())
	}
	if err != nil {
		return elsewhere(err)
	}
	ignoreBrokenPipe()
	ctx, leave := context.WithCancelCause(ctx)
	defer leave(nil)
	out := output{cmd.OutOrStdout(), leave}
	var p printer = &textPrinter{out: out, err: cmd.ErrOrStderr()}
	if asJSON {
		p = &jsonPrinter{out: out}
	}
	if err := p.header(live); err != nil {
		return err
	}
	cancel := env.Sessions.Subscribe(func(e agent.Event) {
		if run, ok := e.(agent.RunEvent); ok {
			p.event(run.Event)
		}
	})
	turn, err := live.Prompt(ctx, agent.Input{Text: prompt})
	cancel()
	p.end()
	var unread *os.PathError
	switch {
	case errors.As(context.Cause(ctx), &unread):
		return fmt.Errorf("the turn was stopped because its output could not be written: %w", unread.Err)
	case err != nil:
		return err
	case turn.StopReason != provider.StopEnd:
		return failure{fmt.Errorf("the answer is not complete: %s", turn.StopReason), exitIncomplete}
	}
	return nil
}

// untilSignal is ctx until a signal stops the command, which is then its cause. The second
// signal ends the process, should the first not.
func untilSignal(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		select {
		case s := <-signals:
			cancel(stopped{s})
		case <-ctx.Done():
		}
		signal.Stop(signals)
	}()
	return ctx, func() { cancel(nil) }
}

// output is where a turn is printed. Nobody is there to read the rest when it cannot be
// written, so that ends the turn.
type output struct {
	io.Writer
	failed context.CancelCauseFunc
}

func (o output) Write(b []byte) (int, error) {
	n, err := o.Writer.Write(b)
	if err != nil {
		o.failed(err)
	}
	return n, err
}

// printer shows the events of a run. Its methods are not called concurrently.
type printer interface {
	header(s *agent.Session) error
	event(e loop.Event)
	end()
}

// jsonPrinter prints the session's header, then each event, one per line.
type jsonPrinter struct{ out io.Writer }

func (p *jsonPrinter) header(s *agent.Session) error {
	line, err := s.HeaderLine()
	if err == nil {
		_, err = p.out.Write(append(line, '\n'))
	}
	return err
}

func (p *jsonPrinter) event(e loop.Event) {
	enc := json.NewEncoder(p.out)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(e) // output deals with it
}

func (p *jsonPrinter) end() {}

// textPrinter prints the text of the answers, and a line per tool call beside it.
type textPrinter struct {
	out, err io.Writer
	mu       sync.Mutex
	open     bool   // the last line is not ended; guarded by mu
	notSaved string // why the session could not be saved last; guarded by mu
}

func (*textPrinter) header(*agent.Session) error { return nil }

func (p *textPrinter) event(e loop.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch e.Type {
	case loop.MessageDelta:
		if e.Update.Type == "text_delta" {
			fmt.Fprint(p.out, e.Update.Delta)
			p.open = !strings.HasSuffix(e.Update.Delta, "\n")
		}
	case loop.MessageEnd:
		p.endLine()
	case loop.ToolStart:
		fmt.Fprintln(p.err, "→", e.ToolName, brief(e.Args))
	case loop.ToolEnd:
		if e.IsError {
			text, _ := rawjson.GetString(firstBlock(e.Result), "text")
			line, _, _ := strings.Cut(text, "\n")
			fmt.Fprintln(p.err, "✗", e.ToolName+":", line)
		}
	case loop.RetryStart:
		fmt.Fprintf(p.err, "%s Trying again in %d s (%d of %d).\n", e.ErrorMessage, (e.DelayMs+999)/1000, e.Attempt, e.MaxAttempts)
	case loop.NotSaved:
		if e.ErrorMessage != p.notSaved { // it comes with every message
			fmt.Fprintln(p.err, "The session cannot be saved:", e.ErrorMessage)
		}
		p.notSaved = e.ErrorMessage
	case "notice":
		fmt.Fprintln(p.err, e.Text)
	}
}

func (p *textPrinter) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.endLine()
}

// endLine needs mu.
func (p *textPrinter) endLine() {
	if p.open {
		fmt.Fprintln(p.out)
		p.open = false
	}
}

// brief is a tool's arguments in one short line.
func brief(args json.RawMessage) string {
	const most = 120
	text := string(args)
	if n := rawjson.UTF16Len(text); n > most {
		return rawjson.UTF16Prefix(text, most) + "…"
	}
	return text
}

func firstBlock(result json.RawMessage) (block []byte) {
	rawjson.Elements(rawjson.Get(result, "content"), func(b []byte) bool {
		block = b
		return false
	})
	return block
}
