package lsp

import (
	"context"
	"io"
	"time"

	"github.com/spf13/afero"
	"go.uber.org/zap"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/agent/change"
	"github.com/xcsh-ls/xcsh-ls/agent/hook"
	"github.com/xcsh-ls/xcsh-ls/agent/senses"
	"github.com/xcsh-ls/xcsh-ls/agent/tool"
	"github.com/xcsh-ls/xcsh-ls/commands"
	"github.com/xcsh-ls/xcsh-ls/lsp/conn"
	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/library"
	"github.com/xcsh-ls/xcsh-ls/session/lock"
)

// Options configure a server. Only Commands and Open are required.
type Options struct {
	Version  string          // of the server, shown to the client
	Commands *commands.Table // the commands of workspace/executeCommand
	Manifest any             // marshals to experimental.xcsh.commands; nil means none

	// Open makes the backend when the client initializes. An error fails the initialize request, and
	// the client may try again. Open must not call the client, which the protocol forbids until then.
	Open func(ctx context.Context, s Settings, c Client) (Backend, error)

	// Started runs on its own goroutine, with the Env of the commands, once the server may send
	// messages. Commands of the client wait until it returns or asks the user a question, so that
	// the first of them finds the session that the start-up opened. Its context ends when the server
	// stops. Optional.
	Started func(ctx context.Context, env *commands.Env)

	Log *zap.Logger // nil logs nothing

	MaxInFlight int           // requests handled at once; more fail with busy. 0 means 256
	Drain       time.Duration // how long commands may run after shutdown before they are cancelled. 0 means 250 ms
	Grace       time.Duration // how long cancelled commands, then sessions, are waited for. 0 means 2 s

	ParentPoll time.Duration      // how often the client's process is checked. 0 means 2 s
	Alive      func(pid int) bool // whether a process exists; nil asks the operating system

	// ReviewPause is the delay after a change of a document until the pending changes are computed again, and the minimum
	// interval of this. 0 means 300 ms.
	ReviewPause time.Duration

	Clock Clock // nil means the real one

	Temp       afero.Fs // holds large results until they are sent, in its temporary directory; nil means the disk
	FreeMemory func()   // gives memory back to the operating system when the server is idle; nil uses the runtime's
}

// Client gives the backend access to the editor. It is valid until the server has stopped.
type Client struct {
	Documents *Documents // the open documents; filled and changed from initialized on
	Hook      hook.Hook  // asks the client before a change of session; nil unless it opted in

	Advice  agent.Advice              // what the user can do next, if not with the commands of editors
	Warn    func(text string)         // shows a message; it does not block
	Folders func() []string           // returns the workspace folders as they are now
	Pace    func(ctx context.Context) // waits until the editor has read most of the messages

	// Keys are the keys that the client keeps; nil: it keeps none.
	Keys interface {
		Has(provider string) bool
		Key(ctx context.Context, provider string) (string, error)
	}

	Editor         senses.Editor // knows about code
	DiagnosesEdits func() bool   // reports whether results of edits get the new errors of the file

	// Restricted reports whether the user has not trusted the workspace.
	Restricted func() bool

	// RunsExtensions reports whether an engine may run code of the workspace now.
	RunsExtensions func() bool

	Approve   agent.Asker                              // asks the user to approve a tool call
	CanAsk    func() bool                              // reports whether the user can be asked questions; nil: not
	AskForm   agent.FormAsker                          // asks the user whole questions; nil: the client shows those of events
	Workspace func(disk tool.Workspace) tool.Workspace // returns the files with the unsaved text of open documents

	// EditorDocuments returns the open documents for rewinds. They also implement [change.Watcher].
	EditorDocuments func(disk tool.Workspace) change.Documents
}

// Backend holds the services that commands use. The server closes Sessions when it stops.
type Backend struct {
	Sessions *agent.Manager
	Store    *session.Store
	Finder   library.Finder
	Fs       afero.Fs
	Files    tool.Workspace     // the files with unsaved text; nil: prompts take no attachments
	PDF      commands.PDFReader // nil: PDF files cannot be attached
	Team     commands.Team      // nil: no team store is set up

	// InputDir is the directory, on the real disk, of the files in which users write long answers.
	// It is created when needed. "" means the temporary directory.
	InputDir string

	// Live replaces Sessions for the server's own calls, and Reviewer replaces it for changes of files. Only tests set them.
	Live     Live
	Reviewer Reviewer
}

// Live are the methods of the sessions that the server itself calls. [agent.Manager] implements it.
type Live interface {
	Subscribe(f func(agent.Event)) (cancel func())
	CloseFolder(ctx context.Context, cwd string) error
	Close(ctx context.Context) error
}

// Reason is the reason why [Serve] returned.
type Reason string

// The reasons for the end of a server.
const (
	EndExit    Reason = "exit"       // the client sent exit
	EndInput   Reason = "input"      // the input ended
	EndFraming Reason = "framing"    // a message header was invalid
	EndOutput  Reason = "output"     // the client can no longer be written to
	EndParent  Reason = "parent"     // the client's process has ended
	EndContext Reason = "context"    // the caller's context ended
	EndConn    Reason = "connection" // the connection ended by itself, which is a defect
)

// Result is how a server ended.
type Result struct {
	Reason   Reason
	Shutdown bool  // the client had sent shutdown
	Err      error // for EndFraming, EndOutput and EndConn
}

// ExitCode returns the exit code of the process: 0 if the client had sent shutdown, else 1, as the
// protocol requires for exit. The end of the input counts like exit.
func (r Result) ExitCode() int {
	if r.Shutdown {
		return 0
	}
	return 1
}

func (o Options) withDefaults() Options {
	if o.Commands == nil {
		o.Commands = commands.NewTable()
	}
	if o.Log == nil {
		o.Log = zap.NewNop()
	}
	if o.MaxInFlight <= 0 {
		o.MaxInFlight = 256
	}
	if o.Drain <= 0 {
		o.Drain = 250 * time.Millisecond
	}
	if o.Grace <= 0 {
		o.Grace = 2 * time.Second
	}
	if o.ParentPoll <= 0 {
		o.ParentPoll = 2 * time.Second
	}
	if o.ReviewPause <= 0 {
		o.ReviewPause = 300 * time.Millisecond
	}
	if o.Alive == nil {
		o.Alive = lock.Alive
	}
	if o.Clock == nil {
		o.Clock = realClock{}
	}
	return o
}

// Serve speaks the protocol until the client exits, ctx ends or the streams break. It then stops the
// work, closes the sessions, flushes the log, closes in and out, and returns. If a read of in cannot
// be interrupted (a terminal as standard input), the goroutine that reads is left behind; the caller
// is expected to end the process.
//
// Nothing else may use in or out. On Unix a program whose out is its standard output must ignore
// SIGPIPE, or it is killed before the log is flushed.
func Serve(ctx context.Context, in io.ReadCloser, out io.WriteCloser, o Options) Result {
	s := newServer(ctx, o.withDefaults())
	s.conn = conn.New(in, out, s.log, s.exiting)
	// The connection must outlive ctx: a cancelled one can no longer answer.
	s.conn.Go(context.WithoutCancel(ctx), s.handle)

	r := s.wait(ctx)
	s.stop()
	s.settle()
	s.conn.Close(settleTime)
	r.Shutdown = s.state.shutdownSeen()
	s.log.Info("server ended", zap.String("reason", string(r.Reason)), zap.Bool("shutdown", r.Shutdown), zap.Error(r.Err))
	// Sync fails on terminals and pipes, and the error cannot be handled.
	_ = s.log.Sync()
	return r
}

// wait blocks until there is a reason to stop.
func (s *server) wait(ctx context.Context) Result {
	select {
	case <-s.exit:
		return Result{Reason: EndExit}
	case <-s.parentGone:
		return Result{Reason: EndParent}
	case <-s.conn.OutputBroken():
		return Result{Reason: EndOutput, Err: s.conn.OutputErr()}
	case <-ctx.Done():
		return Result{Reason: EndContext}
	case <-s.conn.Done():
		if err := s.conn.OutputErr(); err != nil { // which is why the connection ended
			return Result{Reason: EndOutput, Err: err}
		}
		return Result{Reason: EndConn, Err: s.conn.Err()}
	case <-s.conn.InputEnded():
		return s.waitRead()
	}
}

// waitRead runs when the input has ended. The messages read before are still handled, because one of
// them may be exit. The wait is bounded because initialize delays the messages after it.
func (s *server) waitRead() Result {
	t := time.NewTimer(s.opts.Grace)
	defer t.Stop()
	select {
	case <-s.exit:
		return Result{Reason: EndExit}
	case <-s.conn.InputTaken():
	case <-t.C:
	}
	select {
	case <-s.exit: // select chooses any of two ready cases
		return Result{Reason: EndExit}
	default:
	}
	if err := s.conn.InputErr(); err != nil {
		return Result{Reason: EndFraming, Err: err}
	}
	return Result{Reason: EndInput}
}

// settleTime limits how long the server waits at the end for answers to be written, and for the
// connection to close. Both take long only if the client has stopped reading or a command ignored
// its cancellation.
const settleTime = 500 * time.Millisecond

// settle waits until everything is written.
func (s *server) settle() {
	ctx, cancel := context.WithTimeout(context.Background(), settleTime)
	defer cancel()
	s.conn.Settle(ctx)
	close(s.stopped)
}
