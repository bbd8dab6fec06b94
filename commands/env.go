package commands

import (
	"context"
	"time"

	"github.com/spf13/afero"
	"go.uber.org/zap"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/agent/engine"
	"github.com/xcsh-ls/xcsh-ls/agent/tool"
	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/library"
)

// Env holds the services that commands use. One Env serves every call of a server; its
// fields are set before the first call and do not change.
type Env struct {
	Sessions  *agent.Manager
	Store     *session.Store
	Finder    library.Finder
	Fs        afero.Fs
	UI        UI
	Workspace tool.Workspace
	Context   EditorContext   // nil if prompts cannot name things in the editor
	Team      Team            // nil if no team store is set up
	Follows   *Follows        // the sessions of the store that the client reads along; nil if it can read none
	PDF       PDFReader       // nil if PDF files cannot be attached
	Folders   func() []string // the workspace folders as absolute paths, in the client's order
	Tell      func(string)    // shows a text without interrupting the user; nil shows nothing
	Pick      bool            // the client has its own pickers for missing arguments (initializationOptions ui.pick)
	Late      bool            // the client takes the rest of a large session's state later (initializationOptions lateValues)
	OpenPages bool            // exported pages are opened by default (initializationOptions export.open)
	Log       *zap.Logger

	// AskTrust asks the question about the set-up of a folder; nil means that UI does.
	AskTrust func(ctx context.Context, q Question) (int, error)

	// After calls f after d, unless stop is called first; nil is [time.AfterFunc].
	After func(d time.Duration, f func()) (stop func() bool)

	// Reading, if set, is called while xcsh.export and xcsh.dump read entries, and xcsh.list files: done of total. It is never
	// called twice at a time.
	Reading func(done, total int)

	// Restricted reports whether the user has not trusted the workspace; nil means that it is
	// trusted. [Table.Execute] then refuses the commands with NeedsTrust.
	Restricted func() bool
}

// Level is the severity of a message.
type Level int

// The levels of a message, in LSP's order.
const (
	LevelError Level = iota + 1
	LevelWarning
	LevelInfo
)

// Question asks the user to choose.
type Question struct {
	Text    string
	Choices []string // shown in this order
}

// Results of [UI.Ask] without a choice. Both are negative.
const (
	Closed  = -1 // the user closed the question
	Unasked = -2 // the user cannot be asked
)

// InputRequest asks the user for a text of any length.
type InputRequest struct {
	Title   string // a short question or request: "New title"
	Hint    string // a sentence with details; may be empty
	Initial string // the initial text

	// Names returns the names with which the text can begin, as in "/name arguments"; nil: none.
	Names func(ctx context.Context) ([]engine.Command, error)
}

// UI is the user interface of the client. Every method returns when the user has answered,
// ctx has ended, or the client does not support it. Do not call it while holding a lock.
// [Headless] is the UI of a program without a user.
type UI interface {
	// Ask returns the index of the choice, or [Closed] or [Unasked].
	Ask(ctx context.Context, q Question) (int, error)
	// Input returns the text that the user entered, without blank lines around it, or "" if the
	// user entered nothing. ok is false if the user cannot be asked.
	Input(ctx context.Context, r InputRequest) (text string, ok bool, err error)
	// Notify shows a message and does not wait for the user.
	Notify(ctx context.Context, level Level, text string)
	// Open shows a file, outside the editor if external is set. It reports whether the client
	// did so.
	Open(ctx context.Context, path string, external bool) bool
	// OpenPage opens an HTML file in a browser if the client can do that, and otherwise does nothing.
	// It reports whether the client did so.
	OpenPage(ctx context.Context, path string) bool
	// OpenURL opens a web page outside the editor. It reports whether the client did so; other
	// clients show the address.
	OpenURL(ctx context.Context, address string) bool
	// Progress starts a progress report. The caller must call End.
	Progress(ctx context.Context, title string) Progress
}

// Progress is the progress report of one long operation.
type Progress interface {
	// Report replaces the message; percent is 0–100, or negative if unknown.
	Report(message string, percent int)
	End(message string)
}

// Headless is the [UI] of a program without a user: it answers no question and discards
// messages.
type Headless struct{}

// Ask returns [Unasked].
func (Headless) Ask(context.Context, Question) (int, error) { return Unasked, nil }

// Input reports that the user cannot be asked.
func (Headless) Input(context.Context, InputRequest) (string, bool, error) { return "", false, nil }

// Notify does nothing.
func (Headless) Notify(context.Context, Level, string) {}

// Open reports that nothing was shown.
func (Headless) Open(context.Context, string, bool) bool { return false }

// OpenPage reports that nothing was shown.
func (Headless) OpenPage(context.Context, string) bool { return false }

// OpenURL reports that nothing was shown.
func (Headless) OpenURL(context.Context, string) bool { return false }

// Progress returns a report that is discarded.
func (Headless) Progress(context.Context, string) Progress { return noProgress{} }

type noProgress struct{}

func (noProgress) Report(string, int) {}
func (noProgress) End(string)         {}

func (env *Env) restricted() bool { return env.Restricted != nil && env.Restricted() }

// resolver returns the resolver of a call.
func (env *Env) resolver() resolver {
	return resolver{
		finder: env.Finder, fs: env.Fs, home: env.Finder.Home,
		folders: env.Folders, sessions: env.Sessions, store: env.Store, lists: env.lists(), ask: env.ask(),
	}
}

func (env *Env) ask() prompter { return prompter{ui: env.UI, clientPicks: env.Pick} }

func (env *Env) lists() lister {
	return lister{finder: env.Finder, store: env.Store, sessions: env.Sessions, team: env.Team}
}

// cwd returns the working directory of a call.
func (env *Env) cwd(ctx context.Context, f Folder) (string, error) {
	return env.resolver().cwd(ctx, f)
}

// live returns the live session of the folder that a call names.
func (env *Env) live(ctx context.Context, f Folder) (*agent.Session, error) {
	cwd, err := env.cwd(ctx, f)
	if err != nil {
		return nil, err
	}
	live, err := env.Sessions.Session(ctx, cwd)
	if err == nil {
		err = waitForRoom(ctx)
	}
	return live, err
}

// withSource calls f with the session that s names; see [resolver.open].
func (env *Env) withSource(ctx context.Context, s Subject, f func(sub subject) error) error {
	r := env.resolver()
	of, err := r.locate(ctx, s)
	if err != nil {
		return err
	}
	if of.live != nil && of.live.Cwd() != of.cwd {
		if err := of.live.Settled(ctx); err != nil { // as in settled, but for another folder
			return err
		}
	}
	return r.open(of, f)
}
