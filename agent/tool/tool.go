package tool

import (
	"context"
	"encoding/json"
	"io/fs"
	"time"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/agent/sandbox"
	"github.com/xcsh-ls/xcsh-ls/agent/web"
)

// Tool is something a model can do in a working directory. It is safe for concurrent use; the
// caller decides which tools run in parallel, see Changes.
type Tool struct {
	provider.Tool

	// Changes reports whether running the tool can change something, so that it needs permission
	// and must not run beside another tool.
	Changes bool

	// Alone reports that the tool must not run beside another one, although it changes nothing that needs permission: its calls
	// have an order.
	Alone bool

	// Reads reports whether a call with checked arguments only reads, although the tool can change something. nil: none
	// does.
	Reads func(args json.RawMessage) bool

	// Edits reports that the changes of the tool are edits of the files that its preview names, so that they are
	// permitted like those of edit and write.
	Edits bool

	// Digest is the digest of a user's executable that the tool runs, see package manifest. Approvals
	// are bound to it. "" for the tools of this program.
	Digest string

	// Remote is the origin of a tool of an MCP server, nil for other tools.
	Remote *Remote

	// Check validates arguments before any permission prompt. Its error is a sentence for the
	// model. It may rewrite the arguments into the tool's own form.
	Check func(args json.RawMessage) (json.RawMessage, error)

	// Preview describes the effect of a run, to show to the user in the permission prompt. nil if
	// there is nothing to show but the arguments.
	Preview func(ctx context.Context, env Env, args json.RawMessage) (Preview, error)

	// Limit returns the time limit of a call with checked arguments, see RunWithin. nil is two
	// minutes. 0 is for a tool that ends without a limit and may ask the user meanwhile.
	Limit func(args json.RawMessage) time.Duration

	// Around is called before a call, outside of its time limit, and ended after it, also if it was abandoned. The context names the call.
	// It may be nil.
	Around func(ctx context.Context, env Env, args json.RawMessage) (ended func())

	// Run executes the call. An error becomes a result with IsError set whose text is the error's.
	Run func(ctx context.Context, env Env, args json.RawMessage) (Result, error)
}

// Remote is the origin of a tool of an MCP server.
type Remote struct {
	Server   string `json:"server"`             // the name of the server
	Tool     string `json:"tool"`               // the server's name of the tool
	File     string `json:"file,omitempty"`     // that defines the server
	ReadOnly bool   `json:"readOnly,omitempty"` // the server says that the tool only reads, which is no promise

	// Digest is that of the program or address of the server. Approvals are bound to it.
	Digest string `json:"-"`
}

// Changing reports whether a call with unchecked arguments can change something. A call with invalid arguments, which
// is not made, counts as one that can.
func (t Tool) Changing(args json.RawMessage) bool {
	if !t.Changes || t.Reads == nil {
		return t.Changes
	}
	if t.Check != nil {
		var err error
		if args, err = t.Check(args); err != nil {
			return true
		}
	}
	return !t.Reads(args)
}

// Preview is the expected effect of a tool call.
type Preview struct {
	Title string   `json:"title,omitempty"` // one line: "Edit main.go"
	Diff  string   `json:"diff,omitempty"`  // unified, "" when files are not changed
	Paths []string `json:"paths,omitempty"` // absolute; files that would be changed

	// Target is the single file that would be changed, with links resolved; "" if that is not known.
	Target string `json:"-"`

	// Base is the [Sum] of the content before the change of a single file. It is absent if the user
	// cannot change the proposed text.
	Base string `json:"base,omitempty"`
}

// Env is the environment of one call of a tool.
type Env struct {
	Cwd    string // absolute
	CallID string
	Files  Workspace
	Keep   Keep // for outputs that are too long; nil keeps them in the temporary directory

	// Resource returns the path of the file behind an address such as artifact://3, which the
	// named tool reads or writes. nil is for a session without such files.
	Resource func(tool, address string, write bool) (path string, err error)

	// Reach asks for permission to read from a web site, for the call with this id. nil allows none.
	Reach func(ctx context.Context, call string, site web.Site) error

	// Shell is how the commands of the conversation are run.
	Shell ShellSetup

	// Background keeps the commands that continue after their call. nil allows none.
	Background *Background

	// Permission is the permission of the call. Only tools that change something have one.
	Permission Permission

	// Update shows output that arrives while the tool runs; each replaces the last. It may be nil.
	// It does not block.
	Update func(Result)

	// Touched is called with the absolute path of each file that the call reads or changes, and of each
	// directory that it lists or searches. It may be nil.
	Touched func(path string)

	// Abandoned is called for a call of a tool that did not stop. It may
	// be nil.
	Abandoned func(tool string)
}

// Permission determines how a call may be made.
type Permission struct {
	Level sandbox.Level // for commands

	// Revision is the text that the user approved instead of the proposed one; nil for the latter.
	Revision *Revision

	// Widen asks the user to run a command again with more rights, because the sandbox denied it
	// access; blocked describes the denials. An error means no. nil is no, too.
	Widen func(ctx context.Context, blocked []string) (Permission, error)

	// Keep asks the user whether changes that a command made to protected files of its folder
	// stay; paths are absolute. An error means no. nil does not look for such changes.
	Keep func(ctx context.Context, paths []string) error
}

// Result is the result of a tool call.
type Result struct {
	Content []provider.Block // text and images, for the model
	Details json.RawMessage  // for the user's screen, in the form of the terminal programs
	IsError bool
}

// TextResult is a result of one text.
func TextResult(s string) Result { return Result{Content: []provider.Block{provider.Text(s)}} }

// Workspace is the access of tools to files. An editor's implementation reads unsaved buffers and
// puts edits on the undo stack. Paths are absolute.
type Workspace interface {
	// ReadFile returns the file's content, that of the unsaved buffer if there is one.
	// A missing file is an error that satisfies errors.Is(err, fs.ErrNotExist).
	ReadFile(ctx context.Context, path string) (File, error)

	// WriteFile replaces the content of the file, which is created with its directories if
	// was.Exists is false. was is the result of ReadFile: if the file has changed since, nothing is
	// written and the error is a Stale error. label names the change on the undo stack.
	WriteFile(ctx context.Context, label, path string, was File, content []byte) (Saved, error)
}

type creatingKey struct{}

// Creating reports whether a file is read only because it will be written as a whole, so that a missing one is the usual case.
func Creating(ctx context.Context) bool { return ctx.Value(creatingKey{}) != nil }

// File is the state of a file when it was read.
type File struct {
	Content []byte
	Exists  bool
	Open    bool  // it is open in the editor
	Dirty   bool  // the editor has changes that are not on disk
	Version int64 // of the open document

	Info fs.FileInfo // of the file on disk that was read; nil for another source
}

// Saved reports the destination of a write.
type Saved struct {
	Buffer bool // only into the editor's buffer, which the user saves
}
