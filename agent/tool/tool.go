package tool

import (
	"context"
	"encoding/json"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
)

// Tool is something a model can do in a working directory. It is safe for concurrent
// use; who may run beside whom is the caller's decision, see Changes.
type Tool struct {
	provider.Tool

	// Changes reports that running the tool can change something, so that it needs
	// permission and must not run beside another tool.
	Changes bool

	// Check validates arguments before anybody is asked for permission. Its error is a
	// sentence for the model. It may rewrite the arguments into the tool's own form.
	Check func(args json.RawMessage) (json.RawMessage, error)

	// Preview says what running would do, to show to the person who is asked for
	// permission. nil when there is nothing to show but the arguments.
	Preview func(ctx context.Context, env Env, args json.RawMessage) (Preview, error)

	// Run does it. An error becomes a result with IsError set whose text is the error's.
	Run func(ctx context.Context, env Env, args json.RawMessage) (Result, error)
}

// Preview is what a tool call would do.
type Preview struct {
	Title string   `json:"title,omitempty"` // one line: "Edit main.go"
	Diff  string   `json:"diff,omitempty"`  // unified, "" when files are not changed
	Paths []string `json:"paths,omitempty"` // absolute; files that would be changed
}

// Env is what a tool works with in one call.
type Env struct {
	Cwd    string // absolute
	CallID string
	Files  Workspace
	Keep   Keep // for outputs that are too long; nil keeps them in the temporary directory

	// Update shows output that comes while the tool runs; each replaces the last. It may
	// be nil. It does not block.
	Update func(Result)
}

// Result is what a tool gives back.
type Result struct {
	Content []provider.Block // text and images, for the model
	Details json.RawMessage  // for the person's screen, in the form of the terminal programs
	IsError bool
}

// TextResult is a result of one text.
func TextResult(s string) Result { return Result{Content: []provider.Block{provider.Text(s)}} }

// Workspace is what tools may do to files. An editor's implementation reads unsaved
// buffers and puts edits on the undo stack. Paths are absolute.
type Workspace interface {
	// ReadFile returns the file's content, that of the unsaved buffer if there is one.
	// A missing file is an error that satisfies errors.Is(err, fs.ErrNotExist).
	ReadFile(ctx context.Context, path string) (File, error)

	// WriteFile replaces the content of the file, which is created with its directories
	// when was.Exists is false. was is what ReadFile returned: when the file is another
	// one by now nothing is written and the error is kind stale. label names the change
	// on the undo stack.
	WriteFile(ctx context.Context, label, path string, was File, content []byte) (Saved, error)
}

// File is a file as it was read.
type File struct {
	Content []byte
	Exists  bool
	Open    bool  // it is open in the editor
	Dirty   bool  // the editor has changes that are not on disk
	Version int64 // of the open document
}

// Saved tells where a write went.
type Saved struct {
	Buffer bool // only into the editor's buffer, which the person saves
}
