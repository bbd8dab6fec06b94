package change

import (
	"context"
	"errors"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

// Document is an open document of the editor.
type Document struct {
	Path    string // absolute
	Text    string // decoded
	Version int64
	Dirty   bool // it has unsaved changes
}

// DocumentEdit replaces the text of an open document.
type DocumentEdit struct {
	Path    string
	Version int64  // version of the document with the text Was
	Was     string // the edit fails if the document has another text
	Text    string
}

// ErrUnknown is wrapped by the error of an edit that the editor may have applied: the editor did not answer in time, or has not
// reported the change. That error has the kind io.
var ErrUnknown = errors.New("it is not known whether the editor made the change")

// Documents are the open documents of an editor, as used by a rewind. All errors have a kind. Implementations are safe for concurrent
// use, and may also be a [Watcher] or a [Withdrawer].
type Documents interface {
	// Document returns the open document of a path; ok is false if none is open.
	Document(path string) (d Document, ok bool)

	// Edit changes several documents at once, as one undo step if the editor supports it. Either all are changed, or the error has the
	// kind denied with "path" (the editor refused, or can't edit: no document was changed), the kind stale with "path" (a document was
	// closed or changed in the meantime), or wraps [ErrUnknown]. After stale and ErrUnknown the caller must check the documents. Edit
	// returns when the documents have the new texts. Line ends may differ, because the editor chooses them.
	Edit(ctx context.Context, label string, edits []DocumentEdit) error

	// Open opens a file in the editor without moving the focus, and returns when its text is known. The error has the kind denied if
	// the editor can't open it.
	Open(ctx context.Context, path string) (Document, error)

	// Save saves the documents, and returns the paths of those that are still unsaved.
	Save(ctx context.Context, paths []string) (unsaved []string)
}

// Watcher notes which documents the user saves. [Documents] implement it if the editor reports saves. It is safe for concurrent use.
type Watcher interface {
	// Watch starts noting the files that the editor saves. end returns their absolute paths, sorted, and is called once. Saves that
	// this program requested are not noted. Unsaved changes of a document are not noted either, because an editor reports the same
	// when it reloads a file that a command has changed.
	Watch() (end func() []string)
}

// Withdrawer is an editor that may make an edit after the answer to it was given up. [Documents] that are asked to change over a
// connection implement it. It is safe for concurrent use.
type Withdrawer interface {
	// Withdraw says that edits whose Edit ended with [ErrUnknown], and which the documents do not show, are not wanted any more. One that
	// the editor makes all the same is undone when the editor reports it; what the user typed since stays. Withdraw does not wait for it.
	Withdraw(label string, edits []DocumentEdit)
}

// NoDocuments is an editor without open documents, as on the command line.
type NoDocuments struct{}

// Document returns no document.
func (NoDocuments) Document(string) (Document, bool) { return Document{}, false }

// Edit fails: there is no editor.
func (NoDocuments) Edit(context.Context, string, []DocumentEdit) error { return errNoEditor() }

// Open fails: there is no editor.
func (NoDocuments) Open(context.Context, string) (Document, error) { return Document{}, errNoEditor() }

// Save does nothing.
func (NoDocuments) Save(context.Context, []string) []string { return nil }

func errNoEditor() error {
	return fault.New(fault.Denied, "No editor is connected, so open documents can't be changed.")
}
