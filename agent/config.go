package agent

import (
	"context"
	"encoding/json"
	"time"

	"go.uber.org/zap"

	"github.com/xcsh-ls/xcsh-ls/agent/approval"
	"github.com/xcsh-ls/xcsh-ls/agent/change"
	"github.com/xcsh-ls/xcsh-ls/agent/compaction"
	"github.com/xcsh-ls/xcsh-ls/agent/engine"
	"github.com/xcsh-ls/xcsh-ls/agent/hook"
	"github.com/xcsh-ls/xcsh-ls/agent/loop"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/agent/senses"
	"github.com/xcsh-ls/xcsh-ls/agent/setup"
	"github.com/xcsh-ls/xcsh-ls/agent/tool"
	"github.com/xcsh-ls/xcsh-ls/agent/ttsr"
	"github.com/xcsh-ls/xcsh-ls/history"
	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/library"
)

// Config configures a [Manager] and its sessions. Store and Finder are required.
type Config struct {
	Storage
	Requests
	Toolbox
	Permissions
	Engines

	Servers Servers

	Advice Advice // for notices to the user

	Changes ChangeSettings // which changes sessions record

	Shared Shared // nil: sessions are not shared

	Setups     *setup.Finder // finds the set-ups of folders; nil finds nothing
	Restricted func() bool   // reports whether the editor does not trust the workspace; nil: it does

	// SetupProblem is called with each file of a set-up that a turn can't use, in every turn; nil drops it.
	SetupProblem func(p setup.Problem)

	Hooks []hook.Hook
	Log   *zap.Logger
	Now   func() time.Time // nil: the clock of Finder
}

// Storage configures the session files and the prompt history.
type Storage struct {
	Store      *session.Store
	Finder     library.Finder
	TerminalID string         // names the breadcrumb; "" for none
	InMemory   bool           // sessions never get a file
	Watch      bool           // notice external changes of session files; needs the real file system
	Poll       bool           // with Watch: look at the directories at intervals, as on systems that report no changes
	History    *history.Store // records prompts; nil records nothing. Manager.Close closes it
	LargeFile  int64          // size in bytes above which a session is announced as large; 0 is 100 MB
	EarlyFrom  int64          // size in bytes above which [Session.SwitchEarly] shows a session early; 0 is 64 MiB
}

// Requests configures the requests to models. Without Models every prompt fails.
type Requests struct {
	Models   Models
	Keys     Keys // stores API keys; nil stores none
	Defaults Defaults

	Preferences Preferences // nil: there are none
	Remember    bool        // the user's choices become Preferences

	// System returns the system prompt for a set-up and the tools of a conversation.
	System func(ctx context.Context, found *setup.Resolved, tools []provider.Tool) string

	// RecordedSystem returns the system prompt of a session that records one of its own: the rules that
	// always hold, and then that prompt. nil uses none.
	RecordedSystem func(ctx context.Context, cwd, prompt string) string

	// Surroundings returns when and where a conversation takes place, for the end of the system prompt;
	// begins reports that it has no messages yet. It is called once for each conversation. nil adds
	// nothing.
	Surroundings func(ctx context.Context, cwd string, begins bool) string

	// StreamRules returns the rules for the answers of a turn with a set-up. nil: there are none.
	StreamRules func(ctx context.Context, cwd string, found *setup.Resolved) StreamRules

	Retry      loop.Retry
	Compaction compaction.Settings
	Pace       func(ctx context.Context) // waits before each request until the editor keeps up; nil does not wait
}

// StreamRules are rules that stop an answer. Mode is that of rules without one. Home is the directory
// that users know as "~", "" if it is unknown.
type StreamRules struct {
	Rules []*ttsr.Rule
	Mode  ttsr.Mode
	Home  string
}

// Defaults are the settings of a new session. Empty fields leave the choice open.
type Defaults struct {
	Model    string // "provider/id"
	Thinking provider.Level
}

// Toolbox configures the tools of the model and the user's shell commands.
type Toolbox struct {
	Tools     []tool.Tool // the order is part of every request, so it must not change
	Workspace tool.Workspace

	Documents change.Documents // the open documents of the editor, for rewinds; nil: no documents

	Senses *senses.Senses // what the editor knows about code; nil: there is no editor that can be asked

	Todos bool // the model keeps a plan

	// ShellPath is the program that runs the commands of the model and the user, in place of that of the settings of a
	// program; "" means that they hold.
	ShellPath string

	Shell *tool.Shell // runs the user's commands; nil runs none

	Subagents bool // the model can start subagents
}

// Permissions configures which tool calls need approval.
type Permissions struct {
	Approval  approval.Mode          // "" is approval.Ask
	Rules     approval.Memory        // the permanently allowed calls; nil stores none
	Protected []string               // directories in which every change needs approval
	Sandbox   bool                   // the tools can run commands with fewer rights than the user's
	Sensitive func(path string) bool // reports whether the file with this absolute path holds secrets; nil: none does

	// SensitiveNow is Sensitive for many paths at one moment, which costs much less. What it returns is for one goroutine and must not
	// be kept. nil: as Sensitive.
	SensitiveNow func() func(path string) bool

	AgentDirs func(dir string) error // fails for an agent directory whose scripts must not run; nil: all may run
	ShareDirs []string               // agent directories that are searched for a share script, in this order; nil: the first root's

	// SessionPrompts fails, with a sentence for the user, for a session file whose own system prompt must
	// not be used; nil: all may be.
	SessionPrompts func(path string) error

	Ask Asker // asks the user; nil: approvals stay pending until Approve

	CanAsk  func() bool // reports whether a user can be asked questions; nil: no one can be
	AskForm FormAsker   // shows whole questions to the user; nil: the client shows those of events
}

// Engines configures the programs that can answer in place of this program's own loop.
type Engines struct {
	Programs   engine.Catalog        // nil: there are none
	EngineIdle time.Duration         // an engine that was idle for so long is ended until the next prompt; 0 is 15 minutes
	Folders    func() []string       // the workspace folders; a program in one of them is not run. nil: there are none
	Trusted    func(cwd string) bool // reports whether code of the folder, such as its extensions, may run; nil: none may
	MCPServers []json.RawMessage     // see [engine.Place]
}
