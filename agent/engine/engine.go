// Package engine defines the engine of a session, which answers in it: the loop of this program, or another program that
// runs as a child process with its own login, extensions and tools. It holds the interface and the types of
// both sides and knows no process and no protocol.
//
// There are two kinds of engines beside our own. A native one, such as pi, keeps the conversation in the session
// file: it writes the file, and this program reads it. A foreign one, such as an ACP agent, keeps its record
// elsewhere: this program writes the session file from its reports.
package engine

import (
	"context"
	"encoding/json"

	"github.com/xcsh-ls/xcsh-ls/agent/event"
	"github.com/xcsh-ls/xcsh-ls/agent/loop"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/agent/tool"
)

// Engine answers in one session at a time. Its methods may be called concurrently, except that Open comes
// first and at most one Run is active. A method that the engine cannot serve returns a Denied error with a
// sentence for the user; see [Can].
//
// After the engine has ended, by Close or by itself, every method returns an error, and [Engine.Done] is closed.
type Engine interface {
	// Can returns the abilities of the engine. It is known after Open.
	Can() Can

	// Open starts the engine on a session. It returns when the engine is ready for a prompt, or an error that names the
	// cause: a Provider error with the class "engine". After an error the engine has ended.
	Open(ctx context.Context, at Place, h Host) (Opened, error)

	// Run sends a prompt and returns when the engine will not continue by itself. The end of ctx aborts the run. Everything
	// that happens is reported to the host before Run returns, but for the events agent_start and agent_end, which
	// are the caller's. A prompt that the engine refused, so that it is not in the conversation, is returned in
	// Unanswered. If the engine ends in the run, Run returns when it has ended.
	Run(ctx context.Context, in Input) loop.Outcome

	// Queue adds a message to the current run. A Stale error reports that no run takes it.
	Queue(ctx context.Context, when loop.When, in Input) error

	// Models lists the models that the engine offers; all of them can be used now.
	Models(ctx context.Context) ([]provider.Info, error)
	SetModel(ctx context.Context, ref provider.Ref) (Choice, error)
	SetThinking(ctx context.Context, level provider.Level) (Choice, error)

	// Compact replaces the older part of the conversation by a summary. It fails with a Busy error during a run.
	Compact(ctx context.Context, instructions string) (Compaction, error)

	// Move makes an entry the leaf, or the parent of a user message, whose text it returns then.
	Move(ctx context.Context, entryID string, s Summary) (Moved, error)

	// Annotate changes the title of the session, or the label of an entry.
	Annotate(ctx context.Context, a Annotation) error

	// Bash runs a shell command of the user and records it. update, which may be nil, is called with all output so far.
	Bash(ctx context.Context, command string, exclude bool, update func(output string)) (message json.RawMessage, err error)

	// Commands lists the commands that a prompt can begin with: "/name arguments".
	Commands(ctx context.Context) ([]Command, error)

	// Reread makes a native engine read its file again, because another program appended to it. The engine must be idle.
	Reread(ctx context.Context) error

	// Done is closed when the engine has ended. Err then returns why: nil after Close.
	Done() <-chan struct{}
	Err() error

	// Close ends the engine and everything that it started, at the latest some seconds later. Its error reports
	// processes that could not be ended.
	Close(ctx context.Context) error
}

// The values of "reason" in the data of an error that tells the user's ways to continue apart.
const (
	ReasonMissing   = "missing"   // the program is not there any more
	ReasonExtension = "extension" // an extension of the user keeps it from starting
	ReasonBreach    = "breach"    // it ran something without permission
)

// Host is the session that an engine answers in. Its methods may be called from any goroutine, but events of a run
// are reported by one, in order. They do not block, except where it is said.
type Host interface {
	// Emit publishes an event. Messages are published with Message only.
	Emit(e event.Event)

	// Message publishes the end of a message, whose start was emitted. For a native engine it first waits until the message
	// is in the session file; for a foreign engine it writes it there. It blocks at most for some seconds.
	Message(ctx context.Context, message json.RawMessage)

	// Leaf reports where the leaf of the engine is, "" for before the first entry.
	Leaf(entryID string)

	// Left reports that the engine has gone to another session by itself, such as by a command of an extension. It is not
	// used any more afterwards.
	Left(path string)

	// Permit asks for permission for a tool call and blocks until the user has answered. The text of its error is for
	// the model.
	Permit(ctx context.Context, c Call) error

	// Read returns the text of a document that is open in the editor; here is false for other files, which the engine
	// reads from disk.
	Read(ctx context.Context, path string) (text string, here bool, err error)

	// Write puts a text into a document that is open in the editor; here is false for other files, which the engine
	// writes to disk. callID is that of the tool call. A text that is not the one that the user was
	// shown is refused with a Stale error.
	Write(ctx context.Context, callID, path, text string) (here bool, err error)

	// Ask asks a question of an extension and blocks until it is answered or ctx ends. An answer that
	// is none is cancelled.
	Ask(ctx context.Context, q event.Question) Answer

	// Queued reports the messages that wait for the run, all of them.
	Queued(steering, followUp []string)
}

// Place is where an engine answers.
type Place struct {
	Cwd  string // absolute; the directory of the process
	File string // the session file, which exists; "" for a new session
	Dir  string // the directory of new session files, absolute
	ID   string // the id of a new session

	Model    string         // of a new session, "provider/id"; "" leaves the choice to the engine
	Thinking provider.Level // of a new session; "" leaves the choice to the engine

	Session string // the engine's own id of the conversation, of an earlier [Opened]; only for a foreign engine

	Trusted bool // code of the workspace may run, such as extensions in its settings
	Plain   bool // without the extensions of the user
	Permit  bool // the engine must ask before its tools change something; otherwise it may be without means to ask
	Files   bool // the editor has open documents

	// MCPServers are those that a client asks for, in the form of the Agent Client Protocol. Only engines that speak it
	// start them.
	MCPServers []json.RawMessage
}

// Opened is an engine that is ready.
type Opened struct {
	File     string // the session file, "" if the engine keeps none; a new one need not exist yet
	Session  string // the engine's own id of the conversation; only of a foreign engine
	LeafID   string // "" before the first entry, or if unknown
	Version  string // of the program
	Model    provider.Ref
	Thinking provider.Level
	Notices  []string // sentences for the user
	Login    []string // the command that logs in, for a terminal; nil if there is none

	// Loose reports that a native engine's messages are reported in another form than the file has them in: an entry
	// is that of a message if role and, for the result of a tool, the id of the call agree.
	Loose bool
}

// Desk is implemented by a [Host] whose files are those of an editor. Engines that read the disk by themselves ask it
// before a prompt.
type Desk interface {
	// Unsaved lists the files with changes that are not on disk, absolute.
	Unsaved(ctx context.Context) []string
}

// Can are the abilities of an engine. A client offers nothing else.
type Can struct {
	Steer      bool `json:"steer"`      // take messages during a run
	Branch     bool `json:"branch"`     // move within the session
	Compact    bool `json:"compact"`    //
	Images     bool `json:"images"`     // take images
	Files      bool `json:"files"`      // read and change open documents with unsaved changes
	Permission bool `json:"permission"` // ask before tools change something
	Models     bool `json:"models"`     // change the model
	Login      bool `json:"login"`      // log in by a command in a terminal
}

// Input is a prompt or a queued message.
type Input struct {
	Text   string
	Images []provider.Block
}

// Choice is the model of a session, and its thinking level.
type Choice struct {
	Model    provider.Ref
	Thinking provider.Level
}

// Summary determines the fate of the branch that a move leaves.
type Summary struct {
	Write        bool   // let the model summarise it
	Instructions string // the focus of the summary; may be empty
}

// Moved is the result of a move.
type Moved struct {
	LeafID string // "" before the first entry
	Text   string // of the user message above which the leaf is
}

// Annotation is one change: Title, or the label of an entry.
type Annotation struct {
	Title   string
	EntryID string // set for a label
	Label   string // "" removes it
}

// Compaction is the result of a compaction.
type Compaction struct {
	Summary          string
	TokensBefore     int
	FirstKeptEntryID string
}

// Command is a command that a prompt can begin with.
type Command struct {
	Name         string `json:"name" jsonschema:"Without the slash."`
	Description  string `json:"description,omitempty"`
	ArgumentHint string `json:"argumentHint,omitempty" jsonschema:"Describes the arguments; absent if unknown, or if there are none."`
	Source       string `json:"source,omitempty" jsonschema:"xcsh for a command of xcsh-ls itself; of an engine: extension, prompt or skill; absent if unknown."`
}

// Answer is the answer to a question. Which member counts depends on the question's method.
type Answer struct {
	Value     string
	Values    []string // of a question that takes several options
	Confirmed bool
	Cancelled bool
}

// Effect is the kind of a tool call, as far as permission is concerned.
type Effect int

// The effects.
const (
	Runs    Effect = iota // it runs a command or something unknown
	Changes               // it changes the file that it names, and nothing else
	Reads                 // it changes nothing
)

// Call is a tool call of an engine that needs permission.
type Call struct {
	ID     string
	Tool   string
	Args   json.RawMessage
	Effect Effect

	// Path is the file of a call that changes one, absolute. Apply returns its new content; its error is for the
	// model. If Apply is nil the change cannot be computed, and the user sees the arguments.
	Path  string
	Apply func(was tool.File) (content []byte, err error)
}
