package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/agent/event"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/commands"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/internal/picker"
	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
	"github.com/xcsh-ls/xcsh-ls/lsp"
	"github.com/xcsh-ls/xcsh-ls/session/library"
	"github.com/xcsh-ls/xcsh-ls/session/visible"
)

func runCommand(f *flags) *cobra.Command {
	var asJSON, raw bool
	var branch, trust string
	c := &cobra.Command{
		Use:   "run [flags] [PROMPT...] [@FILE...] [-]",
		Short: "Send a prompt to a model and print the answer",
		Long: "Send a prompt to a model in the current directory. The answer is streamed to standard output,\n" +
			"everything else to standard error, such as tool calls.\n\n" +
			"If standard input is a file or a pipe, its text is appended to the prompt; \"-\" as the prompt reads\n" +
			"the prompt itself from it. @FILE attaches a text file or an image. After --, all arguments are\n" +
			"words of the prompt.\n\n" +
			"There is no one to approve tool calls: calls that require approval are denied. To let tools\n" +
			"change files, pass --approval auto-edit or yolo.\n\n" +
			"Exit codes: 0 if the answer is complete, 1 for a failure, 2 for an invalid command line, 3 if the\n" +
			"answer is incomplete, and 129, 130 or 143 after a signal.",
		Example: examples(
			"# Ask a question in a new session", "xcsh-ls run --model anthropic/claude-sonnet-4-5 \"why does TestParse fail?\"",
			"# Continue the session and let tools edit files", "xcsh-ls run --continue --approval auto-edit \"fix it\"",
			"# Send the output of a program without saving a session", "git diff | xcsh-ls run --no-session \"review this\"",
			"# Let pi answer, with its own login and models", "xcsh-ls run --engine pi \"why does TestParse fail?\"",
			"# Attach files", "xcsh-ls run \"does the page look like the mockup?\" @page.html @mockup.png",
		),
		RunE: func(cmd *cobra.Command, args []string) error {
			prompt, err := parsePrompt(cmd, args)
			if err != nil {
				return err
			}
			return inFolder(f, func(cmd *cobra.Command, env *commands.Env, _ []string) error {
				out, err := textOutput(cmd, raw)
				if err != nil {
					return err
				}
				return runPrompt(cmd, env, f.first(), turnFlags{f.engine, branch, trust}, prompt, out, asJSON)
			})(cmd, args)
		},
		ValidArgsFunction: completeFiles,
	}
	f.registerStartup(c, "current directory")
	f.registerEngine(c)
	c.Flags().BoolVar(&asJSON, "json", false, "print each event as one line of JSON")
	c.Flags().StringVar(&branch, "branch", "", "go back to `ENTRY` of the session first: before a prompt, or behind any other entry")
	c.Flags().StringVar(&trust, "trust", "", "use the directory's own set-up in this run: `all` or without-servers")
	registerRaw(c, &raw)
	exclusive(c, "json", "raw")
	return c
}

// turnFlags are the flags of run about its turn.
type turnFlags struct{ engine, branch, trust string }

// runPrompt runs one turn. A signal stops it as a user would, and so does a reader that closed the pipe.
// The partial answer is in the session.
func runPrompt(cmd *cobra.Command, env *commands.Env, first lsp.Startup, flags turnFlags, prompt promptArgs, to io.Writer, asJSON bool) (err error) {
	ctx, stop := untilSignal(cmd.Context())
	defer stop()
	startTeam(env.Team)
	defer func() {
		// Not ctx: the answer is saved after an interrupt, too.
		if closeErr := env.Sessions.Close(context.WithoutCancel(ctx)); err == nil {
			err = closeErr
		}
		finishTeam(context.WithoutCancel(ctx), env.Team, cmd.ErrOrStderr())
		if s, ok := errors.AsType[stopped](context.Cause(ctx)); ok && err != nil {
			err = failure{err, s.code()}
		}
	}()
	asks := first.Mode == "resume" && first.Target == ""
	if _, ok := picker.Terminal(); asks && !ok {
		return noTerminal()
	}
	in, err := prompt.input(ctx, cmd, env)
	if err == nil && asks {
		var chosen library.Info
		chosen, err = pickSession(ctx, env)
		first.Target = chosen.Path
	}
	if err == nil {
		err = open(ctx, env, first)
	}
	if err != nil {
		return err
	}
	live, err := env.Sessions.Session(ctx, env.Folders()[0])
	if err == nil {
		err = unwritable(live.File())
	}
	if err != nil {
		return elsewhere(err)
	}
	if flags.engine != "" {
		if _, err := live.SetEngine(ctx, flags.engine); err != nil {
			return engineAdvice(err, live)
		}
	}
	if flags.branch != "" {
		if _, err := live.Branch(ctx, flags.branch, agent.BranchOptions{}); err != nil {
			return noEntry(err, "branch")
		}
	}
	if s, args, ok := commands.SlashIn(ctx, live, prompt.slash()); ok {
		return answerSlash(ctx, cmd, env, live, to, s, args, asJSON)
	}
	if err := answerable(ctx, live); err != nil {
		return err
	}
	if err := useSetup(ctx, cmd, env, live, flags.trust); err != nil {
		return err
	}
	if prompt.expands() {
		if _, err := commands.Expand(ctx, live, &in); err != nil {
			return err
		}
	}
	ignoreBrokenPipe()
	ctx, leave := context.WithCancelCause(ctx)
	defer leave(nil)
	out := output{to, leave}
	var p printer = &textPrinter{text: answerText{out: out, live: stdoutIsTerminal()}, err: cmd.ErrOrStderr(), note: newRetryNote(cmd.ErrOrStderr())}
	if asJSON {
		p = &jsonPrinter{out: out}
	}
	if err := p.header(live); err != nil {
		return err
	}
	if large, ok := live.Large(); ok {
		p.event(large)
	}
	cancel := env.Sessions.Subscribe(func(e agent.Event) {
		if run, ok := e.(agent.RunEvent); ok {
			p.event(run.Event)
			if asked, ok := run.Event.(event.QuestionAsked); ok {
				go cancelQuestion(live, asked.ID) // there is no one to answer it
			}
		}
	})
	turn, err := live.Prompt(ctx, in)
	cancel()
	p.end()
	var unread *os.PathError
	switch {
	case errors.As(context.Cause(ctx), &unread):
		return fault.New(fault.IO, "The turn was stopped because its output couldn't be written: %w.", unread.Err)
	case err != nil:
		return withFlags(rejectedKeyAdvice(modelAdvice(engineAdvice(err, live)), live), live.File() != "")
	case turn.StopReason != provider.StopEnd:
		return failure{fault.New(fault.Provider, "The answer is incomplete: %s.", turn.StopReason), exitIncomplete}
	}
	return nil
}

// withFlags adds the flags for the ways to continue after a service rejected an entry.
func withFlags(err error, saved bool) error {
	f, ok := errors.AsType[*fault.Error](err)
	if !ok {
		return err
	}
	actions, _ := f.Data["actions"].([]event.Action)
	text := ""
	for _, a := range actions {
		entry, _ := a.Arguments["entryId"].(string)
		switch {
		case a.Command == "xcsh.setModel":
			text = " Pass --model PROVIDER/ID" + text + "."
		case a.Command == "xcsh.branch" && saved:
			text = ", or --continue --branch " + visible.Line(entry)
		}
	}
	if text == "" {
		return err
	}
	return fault.New(f.Kind, "%w%s", err, text)
}

// untilSignal returns a context that a signal cancels, with the signal as its cause. A second signal
// ends the process if the first one doesn't.
func untilSignal(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, stopSignals()...)
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

// output is the writer to which a turn is printed. A failed write ends the turn, because no reader is left.
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

// printer prints the events of a run. Its methods are not called concurrently.
type printer interface {
	header(s *agent.Session) error
	event(e event.Event)
	end()
}

// jsonPrinter prints the session's header, then each event, one per line.
type jsonPrinter struct{ out io.Writer }

func (p *jsonPrinter) header(s *agent.Session) error {
	line, err := s.HeaderLine()
	if err == nil {
		_, err = p.out.Write(append(visible.JSON(line), '\n'))
	}
	return err
}

func (p *jsonPrinter) event(e event.Event) {
	var line bytes.Buffer
	enc := json.NewEncoder(&line)
	enc.SetEscapeHTML(false)
	if enc.Encode(e) == nil {
		_, _ = p.out.Write(visible.JSON(line.Bytes())) // output handles the error
	}
}

func (p *jsonPrinter) end() {}

// textPrinter prints the text of the answers, and one line per tool call.
type textPrinter struct {
	err      io.Writer
	mu       sync.Mutex
	text     answerText // guarded by mu
	note     retryNote  // guarded by mu
	notSaved string     // why the last attempt to save the session failed; guarded by mu
}

func (*textPrinter) header(*agent.Session) error { return nil }

func (p *textPrinter) event(e event.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.note.event(e)
	p.text.event(e)
	switch e := e.(type) {
	case event.ToolStart:
		fmt.Fprintln(p.err, "→", visible.Line(e.ToolName), brief(e.Args))
	case event.ToolEnd:
		if e.IsError {
			text, _ := rawjson.GetString(firstBlock(e.Result), "text")
			line, _, _ := strings.Cut(text, "\n")
			fmt.Fprintln(p.err, "✗", visible.Line(e.ToolName)+":", visible.Line(line))
		}
	case event.NotSaved:
		if e.ErrorMessage != p.notSaved { // every message repeats it
			fmt.Fprintln(p.err, "Couldn't save the session:", visible.Line(e.ErrorMessage))
		}
		p.notSaved = e.ErrorMessage
	case event.LargeSession:
		fmt.Fprintln(p.err, e.Text)
	case event.Notice:
		fmt.Fprintln(p.err, visible.Text(e.Text))
	default:
		p.engineEvent(e)
	}
}

func (p *textPrinter) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.note.line.clear()
	p.text.end()
}

// brief returns a tool's arguments in one short line.
func brief(args json.RawMessage) string {
	const most = 120
	text := string(args)
	if n := rawjson.UTF16Len(text); n > most {
		text = rawjson.UTF16Prefix(text, most) + "…"
	}
	return visible.Line(text)
}

func firstBlock(result json.RawMessage) (block []byte) {
	rawjson.Elements(rawjson.Get(result, "content"), func(b []byte) bool {
		block = b
		return false
	})
	return block
}
